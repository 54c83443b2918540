"""All sessions of the window: which is shown, opening one beside another, closing one."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amplifier_tui.ui.app import pace
from amplifier_tui.ui.session.approvals import ApprovalDialogs
from amplifier_tui.ui.session.keyboard import Keyboard
from amplifier_tui.ui.session.link import SessionLink
from amplifier_tui.ui.session.tabs.tab import SessionTab
from amplifier_tui.ui.state.open_sessions import name_of
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.terminal import guard
from amplifier_tui.ui.terminal.leave import Farewell
from amplifier_tui.ui.widgets.messages import DraftSetAside, UnsentChanged

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from textual.timer import Timer

    from amplifier_tui.host.client import OpenRequest, SessionClient
    from amplifier_tui.ui.app.screens.main_screen import MainScreen

_log = logging.getLogger(__name__)

MOST: Final = 9
"""Sessions of a window: each has a digit, and an engine thread of its own."""
DRAFT_DELAY: Final = 1.0
"""Seconds after which a draft that changes is stored."""
LONG_DRAFT: Final = 20_000
"""Characters that make it a second later: looking for secrets in a long text takes its time."""


class SessionTabs:
    """Shows one of several sessions; the others work on unseen.

    Args:
        client: That of the first session, which was asked for already.
        state: What the screen shows of it.
        early: What was sent before it is open, each with whether it is to be queued.
        send: Sends a text of the user as if it was sent now.
        comes: Called with the one that is shown from now on.
    """

    def __init__(
        self,
        screen: MainScreen,
        client: SessionClient,
        state: SessionState,
        early: list[tuple[str, bool]],
        send: Callable[..., Awaitable[None]],
        comes: Callable[[SessionLink], None],
    ) -> None:
        self._screen = screen
        self._send = send
        self._comes = comes
        self._keyboard = Keyboard(self._screen)
        self.approvals = ApprovalDialogs(self._screen, self._keyboard, self._shown_first)
        self.links: list[SessionLink] = []
        self._title = ""
        self._draft_timer: Timer | None = None
        self._unsent: tuple[tuple[str, str], ...] = ()
        """The drafts that no session keeps, as they are on disk."""
        tab = SessionTab(self._screen, client, state)
        tab.shown, tab.view = True, self._screen.transcript
        self._shown = self._add(tab, early, look_back=True)
        comes(self._shown)
        self._watch(self._shown)
        self._shown.follow()

    @property
    def shown(self) -> SessionLink:
        """The session on screen."""
        return self._shown

    def open_beside(self, request: OpenRequest, *, show: bool = True) -> bool:
        """Open a session beside the others; False where there are as many as there can be."""
        link = self.add_beside()
        if link is not None:
            link.tab.client.open(request)
            if show:
                self.show(link)
        return link is not None

    def add_beside(self) -> SessionLink | None:
        """Return a session that is still to be opened; None where no more can be open."""
        if len(self.links) >= MOST:
            close = self._screen.keymap.way_to("session.close")
            self._screen.say(f"{MOST} sessions are open, which is all there can be: {close}.")
            return None
        client = self._shown.tab.client.beside()
        link = self._add(SessionTab(self._screen, client, SessionState()), [])
        link.follow()
        self.changed()
        return link

    def show(self, link: SessionLink) -> None:
        """Bring a session to the screen; what was written for the one before stays with it."""
        before = self._shown
        if link is before:
            return
        tab, prompt = link.tab, self._screen.prompt
        with self._screen.app.batch_update():
            before.tab.shown = False
            before.tab.draft = prompt.input.swap(tab.draft)
            before.keep_draft(before.tab.draft.whole)
            self._shown = link
            first = tab.view is None
            tab.view = self._screen.show_session(tab.state, tab.view)
            self._comes(link)
            if first:
                self._watch(link)
            if tab.state.facts.cwd:
                prompt.set_root(Path(tab.state.facts.cwd))
            tab.come_forward()
            self._screen.show([])
        tab.do_what_waited()
        link.shown()
        self.changed()

    def step(self, step: int) -> bool:
        """Show the next session, or the one so many further; False where there is one only."""
        at = self.links.index(self._shown)
        self.show(self.links[(at + step) % len(self.links)])
        return len(self.links) > 1

    def show_waiting(self) -> bool:
        """Show the next session that waits for the user, and what it waits for.

        Returns:
            False where no other session waits.
        """
        at = self.links.index(self._shown)
        others = [*self.links[at + 1 :], *self.links[:at]]
        found = next((link for link in others if link.tab.look.status == "waits"), None)
        if found is not None:
            self.show(found)
            self._show_question(found)
        return found is not None

    def find(self, session_id: str) -> SessionLink | None:
        """Return the one that has a stored session open, by its id or the beginning of it."""
        ids = {link: link.tab.state.facts.session_id for link in self.links}
        fitting = [link for link, known in ids.items() if known.startswith(session_id)]
        exact = next((link for link in fitting if ids[link] == session_id), None)
        return exact or (fitting[0] if len(fitting) == 1 else None)

    async def close(self, link: SessionLink, timeout: float) -> None:
        """Close one of several sessions, in so many seconds at most, and show its neighbour."""
        at = self.links.index(link)
        self.links.remove(link)
        words, draft = "Closed.", link.tab.written
        if draft.strip():
            stays = link.keeps_drafts
            words = f"Closed; its draft {'stays with it' if stays else 'is in the history'}."
            if not stays:
                self._screen.prompt.input.past.add(draft)
                self._screen.post_message(DraftSetAside(draft))
        if link is self._shown:
            self.show(self.links[min(at, len(self.links) - 1)])
        if link.tab.view is not None:
            link.tab.view.remove()
        self.changed()
        farewell = await link.close(timeout, draft)
        again = f" {farewell.resume_command} opens it again." if farewell.resume_command else ""
        ends = f" {farewell.ends}." if farewell.ends else ""
        self._screen.say(f"{words}{again}{ends} {farewell.problem}".rstrip())
        self._screen.app.set_timer(0.5, pace.session_changed)

    async def close_all(self, timeout: float) -> Farewell:
        """Close every session, all at once, and say what there is to say."""
        first = self._shown
        links = (first, *(link for link in self.links if link is not first))
        drafts = {link: link.tab.written for link in links}
        lost = [link for link in links if drafts[link].strip() and not link.keeps_drafts]
        ended = await asyncio.gather(*(link.close(timeout, drafts[link]) for link in links))
        await asyncio.to_thread(self._store, [(drafts[each], each) for each in lost])
        last, rest = ended[0], ended[1:]
        problems = " ".join(each.problem for each in ended if each.problem)
        also = tuple(each.resume_command for each in rest if each.resume_command)
        # Sessions of one folder say the same.
        aside = ". ".join(dict.fromkeys(each.aside for each in ended if each.aside))
        return last._replace(problem=problems, also=also, aside=aside)

    async def save_again(self, links: Iterable[SessionLink], timeout: float) -> list[str]:
        """Have what waits for the disk written; returns what it does not take, one line each.

        A session that does not answer in so many seconds says nothing: closing it tries again.
        """
        waiting = [link for link in links if not link.tab.state.facts.saved]
        asked = [asyncio.wrap_future(link.tab.client.save_again()) for link in waiting]
        if not asked:
            return []
        await asyncio.wait(asked, timeout=timeout)
        said = [each.result() if each.done() and not each.exception() else "" for each in asked]
        several = len(self.links) > 1
        told = [(link.tab.look.name, words) for link, words in zip(waiting, said, strict=True)]
        return [f"{name}: {words}" if several else words for name, words in told if words]

    def draft_changed(self) -> None:
        """Store the draft of the session on screen: soon, or at once when it was sent or cleared.

        So it outlives a program that is killed.
        """
        draft = self._screen.prompt.input.draft
        if not draft:
            self._keep_draft()
        elif self._draft_timer is None:
            delay = DRAFT_DELAY + len(draft) / LONG_DRAFT
            self._draft_timer = self._screen.set_timer(delay, self._keep_draft)

    def _keep_draft(self) -> None:
        timer, self._draft_timer = self._draft_timer, None
        if timer is not None:
            timer.stop()
        self._shown.keep_draft(self._shown.tab.written)
        self._keep_unsent()

    def _keep_unsent(self) -> None:
        """Have the drafts on disk that no session keeps, as of one in which nothing was said."""
        links = [link for link in self.links if not link.keeps_drafts]
        drafts = [(link.tab.written, link.tab.state.facts.cwd) for link in links]
        unsent = tuple(draft for draft in drafts if draft[0].strip())
        if unsent != self._unsent:
            self._unsent = unsent
            self._screen.post_message(UnsentChanged(unsent))

    def _store(self, drafts: list[tuple[str, SessionLink]]) -> None:
        """Put what no session keeps into the history of prompts. Blocking."""
        for draft, link in drafts:
            try:
                self._screen.prompt.input.past.store(draft, link.tab.state.facts.cwd)
            except OSError as error:
                _log.warning("A draft is not kept: %s", error)
        self._screen.prompt.input.past.unsent.keep((), ends=True)

    def work(self) -> list[str]:
        """Return what runs, one line each, named where there is more than one session."""
        several = len(self.links) > 1
        found = ((link.tab, work) for link in self.links for work in link.tab.state.work)
        return [f"{tab.look.name}: {work}" if several else work for tab, work in found]

    def show_what_waits(self) -> bool:
        """Show what waits for the user, first in the session on screen; False when nothing does."""
        # In the order of the strip, which says what comes.
        links = sorted(self.links, key=lambda link: link is not self._shown)
        if self._show_dialog(links[0]) or any(link.trust.show() for link in links[1:]):
            return True
        if self.approvals.queue.show() or any(link.questions.show() for link in links[1:]):
            return True
        # A limit is answered in the conversation.
        at_limit = next((link for link in links if link.tab.state.usage.at_limit), None)
        if at_limit is not None:
            self.show(at_limit)
            self._screen.action_bottom()
        return at_limit is not None

    def _show_question(self, link: SessionLink) -> None:
        """Show what the session on screen waits for."""
        if not self._show_dialog(link) and link.tab.state.usage.at_limit:
            # That is answered in the conversation.
            self._screen.action_bottom()

    def _show_dialog(self, link: SessionLink) -> bool:
        return link.trust.show() or self.approvals.queue.show(link.tab) or link.questions.show()

    def changed(self) -> None:
        """Show what the sessions do, and ask what they want to ask."""
        self.approvals.sync()
        self._keep_unsent()
        self._tell()

    def _tell(self) -> None:
        looks = [link.tab.look for link in self.links]
        if self._screen.sessions is not None:
            self._screen.sessions.show_sessions(looks)
        glyph = "! " if any(look.status == "waits" for look in looks) else ""
        state = self._shown.tab.state
        running = "◐ " if state.activity.running else ""
        title = f"{glyph or running}{name_of(state, 60)}"
        if title != self._title:
            self._title = title
            guard.set_title(self._screen.app, title)

    def _shown_first(self) -> list[SessionTab]:
        shown = self._shown.tab
        return [shown, *(link.tab for link in self.links if link.tab is not shown)]

    def _add(
        self, tab: SessionTab, early: list[tuple[str, bool]], *, look_back: bool = False
    ) -> SessionLink:
        link = SessionLink(
            *(tab, self._keyboard, self._send, early, self.approvals, self._tell),
            look_back=look_back,
        )
        self.links.append(link)
        return link

    def _watch(self, link: SessionLink) -> None:
        view = link.tab.view
        if view is not None:
            self._screen.watch(view, "scroll_y", link.earlier.scrolled, init=False)
