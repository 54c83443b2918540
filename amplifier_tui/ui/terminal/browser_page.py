"""The page in a browser that shows this program, where `amplifier-tui serve` has started it."""

import os
from collections.abc import MutableMapping
from typing import Final, Self

PAGE_VARIABLE: Final = "AMPLIFIER_TUI_PAGE"
"""Environment variable with the descriptor to which addresses for the page are written."""


class BrowserPage:
    """The user's browser, which may run on another machine."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def take(cls, environ: MutableMapping[str, str]) -> Self | None:
        """Return the page, or None in a terminal; programs started later are not told of it."""
        handle = environ.pop(PAGE_VARIABLE, "")
        if not handle.isdecimal():
            return None
        try:
            os.set_inheritable(int(handle), False)
        except OSError:
            # The variable is left over from elsewhere.
            return None
        return cls(int(handle))

    def open(self, url: str) -> None:
        """Have an address opened in a tab of its own; the ends of lines in it do not count.

        Raises:
            OSError: The server has ended.
        """
        # A link of a model may have anything in it.
        address = url.strip().replace("\n", "")
        os.write(self._handle, f"{address}\n".encode("utf-8", "replace"))
