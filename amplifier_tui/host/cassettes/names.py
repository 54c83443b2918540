"""What differs from one run to the next: folders, ids, times; and what stands for them."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.messages.sub_sessions import SUB_SESSION_ID
from amplifier_tui.host.redaction import REDACTED

_STANDS: Final = re.compile(r"\{\{(?:[a-z]+|agent:[^{}\s]{1,300})\}\}")
_VOLATILE: Final = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"), "{{date}}"),
    (re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b(?= \{\{date)"), "{{day}}"),
    (re.compile(r"(?<=\{\{date\}\}) ?(?:Z\b|[+-]\d\d:?\d\d\b)"), ""),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b"), "{{time}}"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds|min)\b"), "{{duration}}"),
    # What a model is told of the repository, line by line.
    (re.compile(r"^Git: branch [^\n]*(?:\n  [^\n]*)*", re.M), "{{git}}"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "{{uuid}}"),
    # Hooks name the kind of secret they take out. Who takes it out of the log does not, and the
    # hook can't tell it any more from what is left.
    (re.compile(r"\[REDACTED:[\w-]+\]"), REDACTED),
)


def texts_changed(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with every text in it changed, names too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)): texts_changed(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [texts_changed(item, change) for item in value]
    return value


class RunNames:
    """The names of one run, hidden in what is recorded and put in where it is played.

    Args:
        places: Folders and ids by what stands for them, such as `workspace`.
        hidden_as: What stands for them in what is recorded, where it is that of another one.
    """

    def __init__(
        self, places: Mapping[str, str | Path], hidden_as: Mapping[str, str] | None = None
    ) -> None:
        others = {
            f"{{{{{name}}}}}": f"{{{{{stands}}}}}" for name, stands in (hidden_as or {}).items()
        }
        self._known = {f"{{{{{name}}}}}": str(value) for name, value in places.items()}
        self._agents: dict[str, str] = {}
        longest = sorted(self._known.items(), key=lambda item: -len(item[1]))
        # Shorter ones would be found in too much.
        self._hidden = [
            (re.compile(re.escape(value) + r"(?![\w-])"), others.get(stands, stands))
            for stands, value in longest
            if len(value) > 3
        ]

    def agent(self, session_id: str, run: str) -> None:
        """Take note of the session of an agent's run; later runs of it go by the first."""
        self._agents.setdefault(session_id, f"{{{{agent:{run}}}}}")

    def hidden(self, text: str) -> str:
        """Return a text that is the same in every run."""
        for pattern, stands in self._hidden:
            text = pattern.sub(stands, text)
        return SUB_SESSION_ID.sub(lambda found: self._agents.get(found[0], found[0]), text)

    def put_in(self, text: str) -> str:
        """Return a text of a cassette with the names of this run."""
        if "{{" not in text:
            return text
        known = {**self._known, **{stands: found for found, stands in self._agents.items()}}
        return _STANDS.sub(lambda found: known.get(found[0], found[0]), text)


def run_names(
    working_dir: str, project_dir: str, folder: Path, *, in_copy: bool = False
) -> RunNames:
    """Return the names of a run.

    Args:
        folder: Where its session is stored.
        in_copy: It works in a copy of its project, or in what stands for it: they are one place.
    """
    return RunNames(
        {
            "workspace": working_dir,
            "project": project_dir if project_dir != working_dir else "",
            "folder": folder,
            "session": folder.name,
            "home": user_home(),
        },
        {"project": "workspace"} if in_copy else None,
    )


def steady(text: str) -> str:
    """Return a text without what differs from run to run, and without the kinds of secrets."""
    for pattern, stands in _VOLATILE:
        text = pattern.sub(stands, text)
    return text


def digest(texts: Iterable[str]) -> str:
    """Return a short digest of texts, the same whenever they are said."""
    found = hashlib.sha256()
    for text in texts:
        found.update(steady(text).encode("utf-8", "backslashreplace"))
        found.update(b"\0")
    return found.hexdigest()[:12]
