"""Text files through the session's client, where it offers that, and on disk elsewhere.

The client gets UTF-8 text below its own root; other files are read and written on disk. What can't
be read or written is a `ToolProblem`.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from amplifier_tui.base.capabilities.client_files import ClientFiles
from amplifier_tui.base.files import write_together
from amplifier_tui.base.opened.folders import spot_of
from amplifier_tui.modules._shared.text_file import (
    MAX_TEXT_BYTES,
    UNREADABLE,
    TextFile,
    load,
    require_writable,
    save,
)
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules._shared.workspace import from_os_error

logger = logging.getLogger(__name__)


async def load_unsaved(
    client: ClientFiles | None, path: Path, *, to_change: bool = False
) -> TextFile | None:
    """Return a file as the client has it; None where it has what is on disk, or is not asked.

    Args:
        path: The file, without links.
        to_change: The text is going to be changed, so the client must take it back.
    """
    if client is None or not client.reads or not path.is_relative_to(client.root):
        return None
    try:
        disk = await asyncio.to_thread(_load_existing, path)
    except ToolProblem as problem:
        if problem.kind in (*UNREADABLE, "is_folder", "not_a_file"):
            return None
        raise
    if disk is not None and not _is_utf8(disk):
        return None
    try:
        text = await client.read(path)
    except OSError as error:
        if disk is None:
            # Clients name a file that is not there in many ways, and the disk has none either.
            return None
        raise from_os_error(error, "read", path) from error
    found = await asyncio.to_thread(_as_on_disk, text, disk)
    if found is None:
        return None
    if len(text) > MAX_TEXT_BYTES:
        raise ToolProblem(f"{path} has too much text in the editor.", "too_large")
    if to_change and not client.writes:
        raise ToolProblem(
            f"{path} has changes in the editor that are not saved, and the editor takes no text. "
            "Ask the user to save it first.",
            "unsaved",
        )
    return found


def _load_existing(path: Path) -> TextFile | None:
    return load(path) if path.exists() else None


def _is_utf8(file: TextFile) -> bool:
    """Whether a file can be sent as text and is the same when it comes back."""
    try:
        file.text.encode()
    except UnicodeEncodeError:
        return False
    return file.encoding == "utf-8"


def _as_on_disk(text: str, disk: TextFile | None) -> TextFile | None:
    """Return a client's text with the line ends and mark of the file; None for the same text."""
    text = text.removeprefix("\ufeff")
    if text.replace("\r\n", "\n") == (disk.text.replace("\r\n", "\n") if disk else ""):
        return None
    if disk is not None and disk.newline == "\r\n" and "\r" not in text:
        text = text.replace("\n", "\r\n")
    return replace(disk or TextFile(), text=text)


def _takes(client: ClientFiles | None, path: Path, file: TextFile) -> bool:
    return (
        client is not None
        and client.writes
        and path.is_relative_to(client.root)
        and _is_utf8(file)
        and len(file.text) <= MAX_TEXT_BYTES
    )


async def save_text(client: ClientFiles | None, path: Path, file: TextFile) -> None:
    """Replace a file's text in the client, or on disk where the client does not take it."""
    if client is None or not _takes(client, path, file):
        await asyncio.to_thread(save, path, file.to_bytes())
        return
    await asyncio.to_thread(require_writable, path)
    try:
        await client.write(path, file.text)
    except OSError as error:
        raise from_os_error(error, "write", path) from error


async def save_together(
    client: ClientFiles | None,
    before: Mapping[Path, TextFile | None],
    after: Mapping[Path, TextFile | None],
    modes: Mapping[Path, int],
) -> None:
    """Change several files, or none where one can't be changed; None is no file.

    Files that go, and those that come with permissions of their own, are changed on disk.

    Raises:
        OSError: A file on disk can't be changed.
    """
    sent: dict[Path, TextFile] = {
        path: file
        for path, file in after.items()
        if file is not None
        and _takes(client, path, file)
        and (before[path] is not None or path not in modes)
    }
    contents = {
        path: file.to_bytes() if file else None for path, file in after.items() if path not in sent
    }
    done: list[Path] = []
    try:
        for path, file in sent.items():
            done.append(path)
            await save_text(client, path, file)
        await asyncio.to_thread(write_together, contents, modes=modes, durable=True)
    except (ToolProblem, OSError) as error:
        stay = [
            str(path)
            for path in done
            if not await _taken_back(client, path, before[path], sent[path])
        ]
        if stay:
            raise ToolProblem(
                f"{error} These can't be put back: {', '.join(stay)}.", "os_error"
            ) from error
        raise


async def _taken_back(
    client: ClientFiles | None, path: Path, before: TextFile | None, sent: TextFile
) -> bool:
    """Put a file back to what it was; whether that was possible."""
    try:
        if before is None:
            await asyncio.to_thread(_remove, path, sent)
        else:
            await save_text(client, path, before)
    except (ToolProblem, OSError) as error:
        logger.warning("%s is not put back: %s", path, error)
        return False
    return True


def _remove(path: Path, sent: TextFile) -> None:
    """Remove a file that was made, unless somebody else wrote it."""
    if path.exists() and load(path) == sent:
        with spot_of(path) as spot:
            os.unlink(spot.name, dir_fd=spot.folder)
