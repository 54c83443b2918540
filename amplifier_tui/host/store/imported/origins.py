"""Whose sessions are read, and which files hold them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, Final

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.settings.settings import Scope, SettingsFiles, load_settings
from amplifier_tui.host.imported_cards import OriginName
from amplifier_tui.paths import amplifier_home

SETTING: Final = "import"
"""In the user's `settings.yaml`: `off` reads no session of another program."""

_SUFFIX: Final = ".jsonl"
_CODEX_FILE: Final = "rollout-"
_ID_LENGTH: Final = 36
"""Characters of a UUID, which a Codex file's name ends with."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A transcript of another program."""

    origin: OriginName
    path: Path
    updated: float

    @property
    def key(self) -> str:
        """See `ImportedCard`."""
        name = self.path.stem
        return f"{self.origin}:{name[-_ID_LENGTH:] if self.origin == 'codex' else name}"


def is_switched_on() -> bool:
    """Whether the user lets sessions of other programs be read; a project can't say so."""
    settings = load_settings(SettingsFiles(amplifier_home()))
    value: Any = settings.by_scope.get(Scope.GLOBAL, {}).get(SETTING)
    # YAML takes an unquoted `off` for false. What means nothing reads nothing.
    return value in (None, True, "on")


def imported_files() -> list[ImportedFile]:
    """Return the transcripts of other programs, the newest first; none where they have no folder.

    Nothing else of those programs is read, and nothing is written there.
    """
    if not is_switched_on():
        return []
    found = [*_claude_code(), *_codex()]
    return sorted(found, key=lambda file: (file.updated, file.key), reverse=True)


def is_transcript(path: Path) -> bool:
    """Whether a path in the index is such a file; sessions of ours are folders."""
    return path.suffix == _SUFFIX


def file_at(path: Path) -> ImportedFile:
    """Return the transcript at a path.

    Raises:
        OSError: It is gone.
    """
    origin: OriginName = "codex" if path.name.startswith(_CODEX_FILE) else "claude-code"
    return ImportedFile(origin, path, path.stat().st_mtime)


def _claude_code() -> Iterator[ImportedFile]:
    """Yield `projects/<folder>/<id>.jsonl`; what sub-agents said is in files `agent-….jsonl`."""
    home = _home("CLAUDE_CONFIG_DIR", ".claude")
    for project in _folders(home / "projects"):
        for file in _files("claude-code", project):
            if not file.path.name.startswith("agent-"):
                yield file


def _codex() -> Iterator[ImportedFile]:
    """Yield `sessions/<year>/<month>/<day>/rollout-….jsonl`."""
    home = _home("CODEX_HOME", ".codex")
    for year in _folders(home / "sessions"):
        for month in _folders(year):
            for day in _folders(month):
                for file in _files("codex", day):
                    if file.path.name.startswith(_CODEX_FILE):
                        yield file


def _home(variable: str, usual: str) -> Path:
    given = os.environ.get(variable)
    return Path(os.path.expanduser(given)) if given else user_home() / usual


def _folders(path: Path) -> list[Path]:
    return [Path(entry.path) for entry in _entries(path) if _status(entry, S_ISDIR) is not None]


def _files(origin: OriginName, folder: Path) -> Iterator[ImportedFile]:
    for entry in _entries(folder):
        if entry.name.endswith(_SUFFIX):
            status = _status(entry, S_ISREG)
            if status is not None:
                yield ImportedFile(origin, Path(entry.path), status.st_mtime)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        # Not there, which is usual, or closed to the user.
        return []


def _status(entry: os.DirEntry[str], kind: Callable[[int], bool]) -> os.stat_result | None:
    """Return what is known of an entry; None where it is of another kind, or gone by now."""
    try:
        status = entry.stat()
    except OSError:
        return None
    return status if kind(status.st_mode) else None
