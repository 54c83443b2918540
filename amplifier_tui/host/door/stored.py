"""What a front end does with stored sessions, open or not."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from amplifier_tui.foundation.trust.gate import TrustCallback
from amplifier_tui.host.client import (
    ImportedCard,
    ImportedText,
    OpenRequest,
    SearchFound,
    SessionCard,
    SessionDetails,
    SessionList,
)
from amplifier_tui.host.door.commands.holder import NO_SESSION
from amplifier_tui.host.door.opener import SessionOpener
from amplifier_tui.host.events import HostEvent
from amplifier_tui.host.session.carrying import fork_stored
from amplifier_tui.host.store.bin import delete_session, restore
from amplifier_tui.host.store.listing.changes import set_tags, set_title
from amplifier_tui.host.store.listing.pins import pin
from amplifier_tui.host.store.search.background import SessionSearch
from amplifier_tui.host.store.sessions import (
    SessionBusyError,
    SessionNotFoundError,
    card_of,
    stored_at,
)
from amplifier_tui.host.store.turns.prompts import NoSuchTurnError
from amplifier_tui.host.stored_cards import PAGE

logger = logging.getLogger(__name__)

_REST: Final = 20.0
"""Seconds after the start before what is new is indexed unasked, and between two looks whether
something else is going on."""
_FAILURES: Final = (OSError, ValueError, SessionBusyError, SessionNotFoundError, NoSuchTurnError)


class StoredCommands(SessionOpener):
    """Lists, searches and changes stored sessions; see `SessionClient`.

    Args:
        put: Takes events on their way up.
        trust: Answers for what a project or a stranger brings; None asks the user.
        window: Whether its sessions are offered again after a crash, and what is stored is indexed
            while nothing else is to be done.
        place: Their place among those of the window, for the order in which they are offered.
    """

    def __init__(
        self,
        put: Callable[[HostEvent], None],
        trust: TrustCallback | None = None,
        *,
        window: bool = False,
        place: int = 0,
    ) -> None:
        super().__init__(put, trust, window=window, place=place)
        self._search = SessionSearch()
        self._loop = asyncio.get_running_loop()
        self._resting: asyncio.TimerHandle | None = None
        if window:
            self._index_later()

    async def sessions(
        self, typed: str = "", *, here: bool = True, most: int = PAGE
    ) -> SessionList:
        return await self._search.list(typed, self._cwd, here=here, most=most)

    async def session_details(self, key: str) -> SessionDetails:
        from amplifier_tui.host.store.listing.details import details_of
        from amplifier_tui.host.store.listing.listing import indexed_agents

        try:
            return await asyncio.to_thread(lambda: details_of(stored_at(key), indexed_agents))
        except _FAILURES as error:
            raise RuntimeError(str(error)) from error

    async def title_session(self, key: str, title: str) -> str:
        return await self._change(lambda: set_title(stored_at(key), title, self._warn))

    async def tag_session(
        self, key: str, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()
    ) -> str:
        return await self._change(lambda: set_tags(stored_at(key), add, remove, self._warn))

    async def pin_session(self, key: str, *, on: bool) -> str:
        return await self._change(lambda: pin(stored_at(key).name, on=on))

    async def delete_session(self, key: str) -> str:
        shown = self._live or self._viewed
        if shown is not None and key.endswith(f"/{shown.session_id}"):
            return "This session is open: open another one first."
        await self._closings()
        return await self._change(lambda: delete_session(stored_at(key)))

    async def restore_session(self, key: str) -> str:
        return await self._change(lambda: restore(key))

    async def fork(self, before_turn: int | None = None) -> None:
        """Open a copy of the session, whole or up to a turn; the session itself stays stored."""
        live, viewed = self._live, self._viewed
        if viewed is not None:
            try:
                copied = await asyncio.to_thread(fork_stored, viewed.folder, before_turn)
            except (NoSuchTurnError, OSError) as error:
                self._not_copied(error)
            else:
                await self.open(OpenRequest(cwd=viewed.request.cwd, resume=copied.name))
        elif live is None:
            self._refuse("no_session", NO_SESSION, "Choose a bundle or resume a session.")
        elif work := live.work:
            self._refuse("busy", f"{work} is running", "Stop it, or wait for its end, then fork.")
        else:
            mode = live.gating.gate.mode
            request = OpenRequest(cwd=self._cwd, bundle=live.reference, mode=mode)
            await self.open(request, partial(live.forked, before_turn))

    async def copy_session(self, key: str, cwd: Path | None = None) -> None:
        if self._is_busy():
            return
        try:
            known = await asyncio.to_thread(lambda: cwd or _folder_of(stored_at(key)))
            copied = await asyncio.to_thread(lambda: fork_stored(stored_at(key), None, cwd))
        except _FAILURES as error:
            self._refuse("copy", f"The session can't be copied: {error}", "Nothing has changed.")
            return
        await self.open(OpenRequest(cwd=known, resume=copied.name))

    async def imported(self, *, here: bool = False) -> tuple[ImportedCard, ...]:
        from amplifier_tui.host.store.imported.reading import list_imported

        return await asyncio.to_thread(list_imported, self._cwd if here else None)

    async def read_imported(self, key: str) -> ImportedText:
        from amplifier_tui.host.store.imported.reading import find_imported
        from amplifier_tui.host.store.imported.showing import imported_text

        try:
            return await asyncio.to_thread(lambda: imported_text(find_imported(key)))
        except _FAILURES as error:
            raise RuntimeError(str(error)) from error

    async def fork_imported(self, key: str) -> None:
        from amplifier_tui.host.store.imported.forking import NothingToForkError, fork_imported
        from amplifier_tui.host.store.imported.reading import find_imported

        cwd = self._cwd
        if self._is_busy():
            return
        try:
            copied = await asyncio.to_thread(lambda: fork_imported(find_imported(key), cwd))
        except (*_FAILURES, NothingToForkError) as error:
            self._refuse("copy", f"The session can't be forked: {error}", "Nothing has changed.")
            return
        await self.open(OpenRequest(cwd=cwd, resume=copied.name))

    async def _change(self, change: Callable[[], object]) -> str:
        try:
            await asyncio.to_thread(change)
        except _FAILURES as error:
            return str(error)
        self._search.changed()
        return ""

    def _warn(self, text: str) -> None:
        """Pass on, from a thread, what was wrong with a session's metadata."""
        self._loop.call_soon_threadsafe(partial(self._say, "warning", text, "store"))

    async def search(self, typed: str, *, here: bool = False) -> SearchFound:
        return await self._search.search(typed, self._cwd if here else None)

    def _index_later(self) -> None:
        self._resting = self._loop.call_later(_REST, self._index_at_rest)

    def _index_at_rest(self) -> None:
        """Index what is new, unless a session opens or works just now."""
        if self._live is None or self._live.turns.running:
            self._index_later()
        else:
            self._search.begin()

    async def _end_search(self) -> None:
        """Index no more."""
        if self._resting is not None:
            self._resting.cancel()
        await self._search.close()

    async def left_open(self) -> tuple[SessionCard, ...]:
        return await asyncio.to_thread(self._windows.left) if self._windows is not None else ()

    async def keep_left_open(self) -> None:
        if self._windows is not None:
            self._windows.stays = True

    async def dismiss_left_open(self, session_ids: tuple[str, ...]) -> None:
        if self._windows is not None:
            await asyncio.to_thread(self._windows.dismiss, session_ids)


def _folder_of(session: Path) -> Path:
    """Return the folder that a stored session is of.

    Raises:
        ValueError: It is not known.
    """
    if not (cwd := card_of(session, 0.0).cwd):
        raise ValueError("its folder is not known; choose one to work in")
    return Path(cwd)
