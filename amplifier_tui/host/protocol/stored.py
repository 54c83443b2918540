"""Sessions that are stored: listed, searched, named, deleted, copied; other programs' too."""

from concurrent.futures import Future
from pathlib import Path
from typing import Protocol

from amplifier_tui.host.imported_cards import ImportedCard, ImportedText
from amplifier_tui.host.stored_cards import SearchFound, SessionCard, SessionDetails, SessionList


class StoredClient(Protocol):
    """Finds sessions and changes what is stored of them; `key` is that of a `SessionCard`.

    What other programs stored is only read.

    Where a future gives a text, that says in a sentence why nothing changed; empty where it did.
    """

    def sessions(
        self, typed: str = "", *, here: bool = True, most: int = 100
    ) -> "Future[SessionList]":
        """List stored sessions, pinned ones first, then the newest.

        Args:
            typed: Words that must all be there, anywhere in title, description, tags, first
                prompt, bundle, folder, branch or id; `bundle:`, `model:`, `tag:`, `folder:` and
                `branch:` look at that alone; `before:` and `after:` take a date (`2026-03-31`,
                `yesterday`) or an age (`7d`), `cost:` dollars (`>2`). What it can't make sense of
                is left out and said in `SessionList.problem`.
            here: Only those of the working directory.
            most: Cards, at most.
        """

    def session_details(self, key: str) -> "Future[SessionDetails]":
        """Describe a session, with its last exchange.

        The future raises `RuntimeError`, with one sentence, when it is not there.
        """

    def title_session(self, key: str, title: str) -> "Future[str]":
        """Give a session a title; an empty one takes it away."""

    def tag_session(
        self, key: str, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()
    ) -> "Future[str]":
        """Give a session tags, and take others away."""

    def pin_session(self, key: str, *, on: bool) -> "Future[str]":
        """List a session before the others, or no more."""

    def delete_session(self, key: str) -> "Future[str]":
        """Put a session and its sub-agents into the bin; one that is open stays."""

    def restore_session(self, key: str) -> "Future[str]":
        """Take a session that was deleted out of the bin."""

    def copy_session(self, key: str, cwd: Path | None = None) -> None:
        """Copy a stored session into a new one and open that; the one copied stays as it is.

        Leads to `SessionOpened`, or to `Failed` with the session that ran before untouched.

        Args:
            cwd: The folder that the new one is of and works in; None for that of the copied one.
        """

    def take_over(self) -> None:
        """Open the session that is shown read-only, now that no other window has it open.

        Leads to `SessionOpened`; while another window still has it, to `SessionHeld` again. A
        prompt that is sent takes the session over, too.
        """

    def search(self, typed: str, *, here: bool = False) -> "Future[SearchFound]":
        """Look for words in all stored sessions, and index what is new, in a process of its own.

        `SearchFound.indexing` says that it still runs: asked again, more may be found.

        Args:
            typed: All of these words; the last may be the beginning of one, words in quotation
                marks stand together. Without a word nothing is found.
            here: Only in sessions of the working directory.
        """

    def left_open(self) -> "Future[tuple[SessionCard, ...]]":
        """List the sessions that were open in windows that were killed or ended from outside.

        The last window comes first; those of a window are in the order in which it had them.
        `SessionCard.cwd` is the folder to open each in. One that is open by now is not listed.
        """

    def dismiss_left_open(self, session_ids: tuple[str, ...]) -> None:
        """List sessions no more as left open; they stay stored."""

    def keep_left_open(self) -> None:
        """Have the session listed as left open once it is closed: a signal ends the program."""

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
