"""Which sessions this user has pinned: a file of this program's own, so that no other minds it."""

import logging
from pathlib import Path

from amplifier_tui.base.files import locked
from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.paths import user_state_dir

logger = logging.getLogger(__name__)


def pinned() -> frozenset[str]:
    """Return the ids of the pinned sessions; none where they can't be read."""
    path = _path()
    try:
        return frozenset(_ids(path))
    except (OSError, ValueError) as error:
        logger.warning("%s can't be read: %s", path, error)
        return frozenset()


def pin(session_id: str, *, on: bool) -> None:
    """Pin a session, or pin it no more; what another window pins meanwhile stays.

    Raises:
        OSError: It can't be written; it is as it was.
        ValueError: The file can't be read; it is as it was.
    """
    path = _path()
    with locked(path, timeout=1.0):
        kept = [each for each in _ids(path) if each != session_id]
        write_object(path, {"sessions": [*kept, session_id] if on else kept}, mode=0o600)


def _path() -> Path:
    return user_state_dir() / "pinned.json"


def _ids(path: Path) -> list[str]:
    listed = read_object(path).get("sessions")
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
