"""Finding stored sessions on this machine."""

from collections.abc import Iterator
from pathlib import Path

from amplifier_tui.foundation.paths import get_amplifier_home
from amplifier_tui.foundation.session.store import METADATA_FILENAME, TRANSCRIPT_FILENAME

_FILES = (TRANSCRIPT_FILENAME, METADATA_FILENAME)


def find_sessions(home: Path | None = None) -> Iterator[Path]:
    """Yield the folders of all sessions of an Amplifier home, whatever the project."""
    for folder in sorted(((home or get_amplifier_home()) / "projects").glob("*/sessions/*")):
        if any((folder / name).is_file() for name in _FILES):
            yield folder


def find_session(session_id: str, home: Path | None = None) -> Path:
    """Return the folder of a session by its id, or the beginning of it.

    Raises:
        FileNotFoundError: There is no such session.
        ValueError: Several begin that way; the message names them.
    """
    found = [folder for folder in find_sessions(home) if folder.name.startswith(session_id)]
    exact = [folder for folder in found if folder.name == session_id]
    if not session_id or not found:
        raise FileNotFoundError(f"There is no session {session_id!r}")
    if len(exact or found) > 1:
        listed = ", ".join(folder.name for folder in found[:5])
        raise ValueError(f"Several sessions begin with {session_id!r}: {listed}")
    return (exact or found)[0]
