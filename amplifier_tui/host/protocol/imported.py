"""Sessions of other programs."""

from concurrent.futures import Future
from typing import Protocol

from amplifier_tui.host.imported_cards import ImportedCard, ImportedText


class ImportedClient(Protocol):
    """Lists and reads what other programs stored, and never writes there."""

    def imported(self, *, here: bool = False) -> "Future[tuple[ImportedCard, ...]]":
        """List the sessions of other programs, the newest first; none where that is switched off.

        Args:
            here: Only those that worked in the working directory.
        """

    def read_imported(self, key: str) -> "Future[ImportedText]":
        """Return a session of another program as a text.

        The future raises `RuntimeError`, with one sentence, where it is gone or can't be read.
        """

    def fork_imported(self, key: str) -> None:
        """Copy a session of another program into one of this folder, and open that.

        Leads to `SessionOpened`, or to `Failed` with the session left open.
        """
