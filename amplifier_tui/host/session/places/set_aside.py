"""What was moved aside, as a command in the sandbox may have made it, for the user."""

import asyncio
import os
import stat
from pathlib import Path
from time import time
from typing import Final

from amplifier_tui.base.commands.set_aside import SetAside, list_set_aside, put_back
from amplifier_tui.base.files import open_regular
from amplifier_tui.base.text import one_line, printable
from amplifier_tui.host.client import SetAsideCard
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.paths import user_state_dir

_MOST_SHOWN: Final = 20_000
"""Bytes of a file that are shown."""
_MOST_NAMES: Final = 200
_MOST_NAMED: Final = 3
_LONGEST: Final = 200


def aside_folder() -> Path:
    """Return the folder that keeps what was moved aside, of all sessions."""
    return user_state_dir() / "aside"


class SetAsideFiles:
    """What was moved aside in one workspace.

    Args:
        workspace: The folder that the session works in.
        redactor: Masks secrets in what is shown.
    """

    def __init__(self, workspace: Path, redactor: Redactor) -> None:
        self._workspace = workspace.resolve()
        self._redactor = redactor
        self._since = time()

    async def list(self) -> tuple[SetAsideCard, ...]:
        """Return what is still there, the newest first.

        Raises:
            OSError: The list can't be read.
        """
        return await asyncio.to_thread(self._cards)

    async def put_back(self, key: str) -> str:
        """Move something back to where it was; return why that is not possible, else nothing."""
        return await asyncio.to_thread(self._put_back, key)

    def left(self) -> str:
        """Say what was moved aside since the session was opened, and is still there. Blocking."""
        try:
            items = list_set_aside(aside_folder(), self._workspace, self._since)
        except OSError:
            return ""
        names = list(dict.fromkeys(map(self._name, items)))
        if not names:
            return ""
        listed, more = ", ".join(names[:_MOST_NAMED]), len(names) - _MOST_NAMED
        listed += f" and {more} more" if more > 0 else ""
        came = "it came" if len(names) == 1 else "they came"
        return f"Moved aside, as {came} while a command ran in the sandbox: {listed}"

    def _items(self) -> dict[str, SetAside]:
        found = list_set_aside(aside_folder(), self._workspace)
        return {str(item.kept): item for item in found}

    def _cards(self) -> tuple[SetAsideCard, ...]:
        return tuple(
            SetAsideCard(key=key, name=self._name(item), at=item.at, text=self._text(item.kept))
            for key, item in self._items().items()
        )

    def _put_back(self, key: str) -> str:
        item = self._items().get(key)
        if item is None:
            return "It is not there any more"
        name = self._name(item)
        try:
            put_back(item)
        except FileExistsError:
            return f"There is another {name} by now: move that away first"
        except OSError as error:
            return f"{name} can't be put back: {error.strerror or error}"
        return ""

    def _name(self, item: SetAside) -> str:
        return one_line(printable(str(item.place.relative_to(self._workspace))), _LONGEST)

    def _text(self, kept: Path) -> str:
        """Return what is in a file, where a link leads, or the names in a folder."""
        try:
            mode = kept.lstat().st_mode
            if stat.S_ISLNK(mode):
                return f"A link to {printable(os.readlink(kept))}"
            if stat.S_ISDIR(mode):
                return self._names(kept)
            with open_regular(kept, follow_links=False) as file:
                data = file.read(_MOST_SHOWN + 1)
        except OSError as error:
            return f"It can't be read: {error.strerror or error}"
        text = data[:_MOST_SHOWN].decode("utf-8", "replace")
        cut = "\n…" if len(data) > _MOST_SHOWN else ""
        return self._redactor.text(text) + cut

    def _names(self, folder: Path) -> str:
        names = sorted(
            str(Path(at, name).relative_to(folder))
            for at, _, files in os.walk(folder)
            for name in files
        )
        more = len(names) - _MOST_NAMES
        end = [f"… and {more} more"] if more > 0 else []
        return "\n".join(["A folder with", *map(printable, names[:_MOST_NAMES]), *end])
