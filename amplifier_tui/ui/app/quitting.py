"""How the program ends: asked for twice, in order, by a signal, or without the session's answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.ui.terminal.leave import Farewell

if TYPE_CHECKING:
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.session.link import SessionLink

_log = logging.getLogger(__name__)

QUIT_WINDOW = 2.0
"""Seconds in which a second ctrl+c quits."""
QUIT_HINT = "The same key again quits."
SAVE_TIMEOUT = 1.0
"""Seconds the disk may take for what of a session is not saved yet, before it is closed."""
CLOSE_TIMEOUT = 5.0
"""Seconds the session may take to close before the program ends without it."""


class Quitting:
    """Ends one app and closes its session."""

    def __init__(self, app: SessionApp) -> None:
        self._app = app
        self._asked = float("-inf")
        self._leaving = False
        self._closed_in_order = False

    def quit_if_asked_twice(self) -> None:
        """Quit when the same was asked just before; else say that it takes two."""
        now = time.monotonic()
        if now - self._asked <= QUIT_WINDOW:
            self.quit()
        else:
            self._asked = now
            self._app.say(QUIT_HINT)
            self._app.main.set_timer(QUIT_WINDOW, partial(self._app.main.unsay, QUIT_HINT))

    def quit(self) -> None:
        """Close the session and end, unless it works and the user says no; asked again, at once."""
        work = self._app.tabs.work() if self._app.tabs is not None else []
        if self._leaving:
            self._app.exit(Farewell(problem=self._unsaved()))
        elif work:
            from amplifier_tui.ui.dialogs.questions import Confirm

            question = running_words(work, "Quitting")
            self._app.ask(
                Confirm(question, "Quit", stays=True), lambda yes: self._save() if yes else None
            )
        else:
            self._save()

    def quit_by_signal(self, name: str) -> None:
        """Close the session and end, whatever works; what is open is offered at the next start."""
        if self._app.tabs is not None and not self._leaving:
            for link in self._app.tabs.links:
                link.tab.client.keep_left_open()
        self._leave(f"Ended by {name}.")

    def release(self, timeout: float) -> None:
        """Close the session in so many seconds if the app ended without; called after `run`."""
        if self._closed_in_order:
            return
        tabs, client = self._app.tabs, self._app.client
        clients = [link.tab.client for link in tabs.links] if tabs is not None else [client]
        for closing in [each.close() for each in clients if each is not None]:
            try:
                closing.result(timeout)
            except Exception:
                _log.exception("A session did not close after the screen had ended")

    def _unsaved(self) -> str:
        """Say what is lost by not waiting for the sessions to close; empty where nothing is."""
        links = self._app.tabs.links if self._app.tabs is not None else ()
        saved = all(link.tab.state.facts.saved for link in links)
        return "" if saved else "Not waited for: what the disk did not take by now is lost."

    def _save(self) -> None:
        if self._app.tabs is None:
            self._close()
        else:
            close_saved(self._app, self._app.tabs.links, "Quit", self._close)

    def _close(self) -> None:
        several = self._app.tabs is not None and len(self._app.tabs.links) > 1
        self._app.say("Closing the sessions…" if several else "Closing the session…")
        self._leave("")

    def _leave(self, problem: str) -> None:
        self._leaving = True
        # Called by the worker: an app that ends before that leaves nothing unawaited.
        end: Callable[[], object] = partial(self._end, problem)
        self._app.run_worker(end)

    async def _end(self, problem: str) -> None:
        farewell = Farewell()
        if self._app.tabs is not None:
            farewell = await self._app.tabs.close_all(CLOSE_TIMEOUT)
            self._closed_in_order = True
        problems = " ".join(part for part in (problem, farewell.problem) if part)
        self._app.exit(farewell._replace(problem=problems))


def close_saved(
    app: SessionApp, links: Sequence[SessionLink], doing: str, close: Callable[[], object]
) -> None:
    """Close sessions, at once if they are on disk; else the user tries again, or loses the rest.

    Args:
        doing: What closes them, such as `Quit`.
        close: Closes them.
    """
    tabs = app.tabs
    if tabs is None or all(link.tab.state.facts.saved for link in links):
        close()
        return

    def save() -> None:
        # Called by the worker, as in `Quitting._leave`.
        work: Callable[[], object] = again
        app.run_worker(work)

    async def again() -> None:
        unsaved = await tabs.save_again(links, SAVE_TIMEOUT)
        if not unsaved:
            close()
            return
        from amplifier_tui.ui.dialogs.questions import Unsaved

        app.ask(Unsaved("\n".join(unsaved), doing), answered)

    def answered(answer: str | None) -> None:
        if answer == "lose":
            close()
        elif answer == "again":
            save()

    save()


def leave_saved(app: SessionApp, leave: Callable[[], object]) -> None:
    """Open another session in the place of the one on screen, as `close_saved` closes it."""
    close_saved(app, [app.link] if app.link is not None else [], "Go on", leave)


def running_words(work: list[str], doing: str) -> str:
    """Return the question before what runs is stopped; `doing` says what stops it."""
    if len(work) == 1:
        return f"{work[0]} is running. {doing} stops it; what it did so far is kept."
    listed = "\n".join(work)
    return f"These are running:\n{listed}\n{doing} stops them; what they did so far is kept."
