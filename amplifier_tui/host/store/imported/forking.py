"""A session of another program, copied into one of ours."""

from pathlib import Path
from uuid import uuid4

from amplifier_tui.host.messages import is_from_hook
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.imported.origins import ImportedFile
from amplifier_tui.host.store.imported.reading import imported_card, imported_rows
from amplifier_tui.host.store.metadata import now
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.paths import sessions_dir


class NothingToForkError(Exception):
    """Nothing was said in the session."""


def fork_imported(file: ImportedFile, cwd: Path) -> Path:
    """Copy a conversation into a new session of a folder; blocking. Secrets stay behind.

    Args:
        cwd: The folder it is to work in. What the transcript says of that is not trusted.

    Returns:
        The folder of the new session, which takes whatever bundle it is opened with.

    Raises:
        NothingToForkError: There is nothing in it.
        OSError: It can't be read, or the new one not be written.
    """
    troubles: list[OSError | None] = []
    card = imported_card(file, Redactor())
    store = SessionStore(sessions_dir(cwd) / str(uuid4()), Redactor(), troubles.append)
    store.open()
    try:
        rows = list(imported_rows(file))
        if not rows:
            raise NothingToForkError(f"Nothing was said in {card.key}")
        store.add_rows(rows)
        new = store.metadata
        turns = sum(row.get("role") == "user" and not is_from_hook(row) for row in rows)
        new.name, new.turn_count, new.updated = card.title, turns, now()
        new.working_dir = new.project_dir = str(cwd)
        new.other |= {"imported_from": card.key, "forked_at": now()}
    except BaseException:
        store.discard()
        raise
    store.close()
    if troubles and troubles[-1] is not None:
        raise troubles[-1]
    return store.folder
