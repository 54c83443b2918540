"""What a project's sources resolved to: `<project>/.amplifier/bundle.lock`.

With a lock, a branch means the commit it meant when the lock was written, and a download must
have the content it had. The file is JSON, sorted, meant to be committed.
"""

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from amplifier_tui.base.files import read_regular, write_atomic
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.exceptions import BundleLoadError
from amplifier_tui.foundation.io import unreadable
from amplifier_tui.foundation.paths import is_full_commit, redact_uri, without_fragment

VERSION = 1


@dataclass(frozen=True, slots=True)
class LockEntry:
    """What a source resolved to: the commit of a git source, or the SHA-256 of a download."""

    commit: str = ""
    sha256: str = ""


@dataclass
class LockFile:
    """The lock of one project: entries by URI without fragment and credentials."""

    path: Path
    sources: dict[str, LockEntry] = field(default_factory=dict)

    @classmethod
    def for_project(cls, project: Path) -> "LockFile":
        """Read a project's lock; empty without one. Raises `BundleLoadError` for a broken file."""
        lock = cls(project / ".amplifier" / "bundle.lock")
        try:
            lock.sources = _entries(json.loads(read_regular(lock.path).decode()))
        except FileNotFoundError:
            return lock
        except (OSError, UnicodeDecodeError) as error:
            raise BundleLoadError(unreadable(error), path=lock.path) from error
        except json.JSONDecodeError as error:
            raise _broken(lock.path, f"Not JSON: {error.msg}", error.lineno) from error
        except (ValueError, RecursionError) as error:
            raise _broken(lock.path, str(error)) from error
        return lock

    def entry(self, uri: str) -> LockEntry | None:
        """Return what a URI is locked to, or None."""
        return self.sources.get(_key(uri))

    def replace(self, resolved: Mapping[str, LockEntry]) -> None:
        """Take what sources resolved to as the whole new content; `save` writes it."""
        self.sources = {_key(uri): entry for uri, entry in resolved.items()}

    def save(self) -> None:
        """Write the file atomically; raises `OSError`."""
        sources = {
            uri: {"commit": entry.commit} if entry.commit else {"sha256": entry.sha256}
            for uri, entry in sorted(self.sources.items())
        }
        text = json.dumps({"version": VERSION, "sources": sources}, indent=2, ensure_ascii=False)
        write_atomic(self.path, text + "\n", durable=True, links="follow")


def _key(uri: str) -> str:
    return redact_uri(without_fragment(uri))


def _entries(data: Any) -> dict[str, LockEntry]:
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError(f"Expected a lock file of version {VERSION}")
    sources = data.get("sources")
    if not isinstance(sources, dict):
        raise ValueError("'sources' must be a mapping")
    entries: dict[str, LockEntry] = {}
    for uri, value in sources.items():
        commit = value.get("commit", "") if isinstance(value, dict) else None
        sha256 = value.get("sha256", "") if isinstance(value, dict) else None
        if not (isinstance(commit, str) and isinstance(sha256, str) and (commit or sha256)):
            raise ValueError(f"{uri!r} needs a 'commit' or a 'sha256'")
        if commit and not is_full_commit(commit):
            raise ValueError(f"{uri!r} is locked to {commit!r}, which is not a full commit")
        entries[uri] = LockEntry(commit, sha256)
    return entries


def _broken(path: Path, message: str, line: int | None = None) -> BundleLoadError:
    return BundleLoadError(
        message, path=path, line=line, remedy="Restore the file, or delete it and lock again."
    )
