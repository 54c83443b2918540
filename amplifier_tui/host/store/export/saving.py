"""Writes a session to a file of the user's: all of it, or nothing."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import BinaryIO

from amplifier_tui.base.files import replacing
from amplifier_tui.host.cards import ExportedFile
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.requests import ExportRequest
from amplifier_tui.host.store.export.conversation import (
    ExportError,
    StoredSession,
    Write,
    Written,
    write_conversation,
)
from amplifier_tui.host.store.export.events import write_event_log
from amplifier_tui.host.store.export.masking import Masking


def write_export(
    session: StoredSession, request: ExportRequest, masking: Masking, write: Write
) -> Written:
    """Write what is asked for, whatever its form; errors as of the two it may be."""
    if request.form in ("jsonl", "csv"):
        return write_event_log(session.folder, request, masking, write)
    return write_conversation(session, request, masking, write)


def save_export(
    session: StoredSession,
    request: ExportRequest,
    redactor: Redactor,
    cwd: Path,
    given_up: Callable[[], bool] = lambda: False,
) -> ExportedFile:
    """Write an export to its file, readable by the user alone; blocking.

    Args:
        redactor: Knows the secrets of the session.
        cwd: What the file's path is relative to.
        given_up: Asked while it is written; whether nobody wants it any more.
    """
    try:
        path = (cwd / Path(request.path).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        return ExportedFile(path=request.path, problem=f"There is no such place: {error}")
    masking = Masking(redactor)
    try:
        with ExitStack() as opened:

            @cache
            def file() -> BinaryIO:
                # Not before there is something to write: folders on the way are made for it.
                new = not request.replace
                return opened.enter_context(
                    replacing(path, mode=0o600, durable=True, links="follow", new=new)
                )

            def write(text: str) -> None:
                if given_up():
                    raise ExportError("it was given up")
                file().write(text.encode())

            written = write_export(session, request, masking, write)
            file()
    except OSError as error:
        if isinstance(error, FileExistsError) and error.filename == str(path):
            return ExportedFile(path=str(path), exists=True, problem="The file is there already")
        problem = f"Nothing was written: {error.strerror or error}"
        return ExportedFile(path=str(path), problem=problem)
    except (ExportError, ValueError) as error:
        return ExportedFile(path=str(path), problem=f"Nothing was written: {error}")
    return ExportedFile(
        path=str(path),
        count=written.count,
        secrets=masking.count,
        unreadable=written.unreadable,
    )
