"""What is in a folder, and which name was probably meant."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Final

from amplifier_tui.modules.tool_filesystem.problems import FileProblem, from_os_error

_MAX_ENTRIES: Final = 500


def list_folder(path: Path) -> str:
    """Return the entries of a folder, folders first, one a line.

    Raises:
        FileProblem: It can't be read.
    """
    try:
        with os.scandir(path) as found:
            entries = [(not entry.is_dir(), entry.name, _line(entry)) for entry in found]
    except OSError as error:
        raise from_os_error(error, "list", path) from error
    entries.sort(key=lambda entry: (entry[0], entry[1].casefold()))
    lines = [line for _, _, line in entries[:_MAX_ENTRIES]]
    if len(entries) > _MAX_ENTRIES:
        lines.append(f"[… {len(entries) - _MAX_ENTRIES} more entries]")
    return "\n".join(lines) or "(The folder is empty.)"


def _line(entry: os.DirEntry[str]) -> str:
    # A name is data: it may hold line ends or characters that can't be encoded.
    name = entry.name.encode("utf-8", "replace").decode()
    name = "".join(character if character.isprintable() else "?" for character in name)
    if entry.is_symlink():
        return f"{name} (link)"
    if entry.is_dir(follow_symlinks=False):
        return f"{name}/"
    try:
        return f"{name}  {entry.stat(follow_symlinks=False).st_size} bytes"
    except OSError:
        return name


def missing(path: Path, shown: str) -> FileProblem:
    """Return the problem of a file that is not there, with names that are close.

    Args:
        path: The file.
        shown: How to name it.
    """
    close: list[str] = []
    try:
        names = os.listdir(path.parent)[:5_000]
    except OSError:
        names = []
    if names:
        close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return FileProblem(f"There is no file {shown}.{hint}", "not_found")
