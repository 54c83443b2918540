"""The app as its actions see it: screen, client, session, and what is remembered of the user."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, ParamSpec, TypeVar

from textual.app import App

from amplifier_tui.base.text import encodable, one_line
from amplifier_tui.paths import user_state_dir
from amplifier_tui.ui.app.key_order import KeyOrder
from amplifier_tui.ui.app.mode_steps import ModeSteps
from amplifier_tui.ui.app.preferences import Preferences
from amplifier_tui.ui.app.screens.main_screen import MainScreen
from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.prompt.history import History
from amplifier_tui.ui.terminal.leave import Farewell

if TYPE_CHECKING:
    from amplifier_tui.host.client import OpenRequest, SessionClient
    from amplifier_tui.host.events import Level, Mode, NoticeEnd
    from amplifier_tui.ui.app.themes import Roles
    from amplifier_tui.ui.dialogs.parts.sheet import Sheet
    from amplifier_tui.ui.keys.keymap import Keymap
    from amplifier_tui.ui.session.link import SessionLink
    from amplifier_tui.ui.session.tabs.tabs import SessionTabs
    from amplifier_tui.ui.state.session import SessionState
    from amplifier_tui.ui.terminal.browser_page import BrowserPage

P = ParamSpec("P")
T = TypeVar("T")


TERMINAL_TAKES: Final = 74_994
"""Characters of a copy that terminals take at least, where they take any (OSC 52)."""


class SessionApp(App[Farewell]):
    """What actions work on; `AmplifierApp` adds the life of the program."""

    def __init__(self, cwd: Path) -> None:
        super().__init__()
        self.cwd = cwd
        """The user's working directory."""
        self.preferences = Preferences()
        self.history = History(user_state_dir() / "history.jsonl")
        self.main = MainScreen(self.history)
        self.themes: dict[str, Roles] = {}
        """By name; filled after the first frame."""
        self.theme_errors: list[str] = []
        self.fits_terminal = False
        """The theme follows the terminal's background."""
        self.state: SessionState | None = None
        """What the screen shows; None until the first frame is out."""
        self.client: SessionClient | None = None
        """None until it is connected."""
        self.asked: OpenRequest | None = None
        """What the program was started with; None until it is connected."""
        self.link: SessionLink | None = None
        """Joins client and state; None until both are there."""
        self.tabs: SessionTabs | None = None
        """All sessions of the window: client, state and link are of the one that is shown."""
        self.early: list[tuple[str, bool]] = []
        """What was sent before a session is open, each with whether it is to be queued."""
        self.key_order = KeyOrder(self, self.on_event, lambda: self.main.find_bar)
        self.page: BrowserPage | None = None
        """What shows the program in place of a terminal."""
        self.mode_steps = ModeSteps(self.set_timer, self.say, lambda text: self.main.unsay(text))
        self._copies_natively = False
        self.writer = ThreadPoolExecutor(1, "remember")
        """The one thread of `write`."""

    @property
    def first_mode(self) -> Mode | Literal[""]:
        """The mode that the program was started with; empty for what the bundle says."""
        return self.asked.mode if self.asked is not None else ""

    @property
    def keymap(self) -> Keymap:
        """The keys in force."""
        return self.main.keymap

    def watch_app_focus(self, focus: bool) -> None:
        """Focus what a screen begins with that came while another window was in front.

        Textual leaves such a screen without: keys would go nowhere, also later.
        """
        screen = self.screen
        wanted = self.AUTO_FOCUS if screen.AUTO_FOCUS is None else screen.AUTO_FOCUS
        if focus and screen.focused is None and wanted:
            found = (widget for widget in screen.query(wanted) if widget.focusable)
            screen.set_focus(next(found, None), scroll_visible=False)

    def take_session(self, link: SessionLink) -> None:
        """Have actions work on a session of the window: the one that is shown."""
        self.link, self.client, self.state = link, link.tab.client, link.tab.state
        self.draw_images()

    @property
    def why_no_images(self) -> str:
        """Why images are shown as text; empty where they are drawn."""
        from amplifier_tui.ui.images.showing import why_text

        return why_text(os.environ, self.console.color_system, self.preferences.images)

    def draw_images(self) -> None:
        """Have the session that is shown draw images, or not."""
        if self.link is not None:
            fetch = None if self.why_no_images else self.link.tab.client.image
            for view in filter(None, (self.link.tab.view, self.main.conversation)):
                view.use_images(fetch)

    def say(self, text: str, level: Level = "info", until: NoticeEnd = "") -> None:
        """Show a line in the status bar and keep it in the notice history; see `Notice`."""
        self.main.say(text, level, until)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Give the terminal away, and take it back also where what had it fails.

        Textual's would leave it with nobody: neither the shell's nor drawn on. A ctrl+c that does
        not reach what has it, as it has just ended, would end this program without a word.
        """
        failed: BaseException | None = None
        with _no_interrupt(), super().suspend():
            try:
                yield
            except BaseException as error:
                failed = error
        if failed is not None:
            raise failed

    def ask(
        self, dialog: Sheet[T], then: Callable[[T], Any], about: SessionState | None = None
    ) -> None:
        """Open a dialog; `then` gets its answer, and nothing where it was closed without one.

        A key that was pressed twice opens it once.

        Args:
            about: The session that is decided about: another one in its place gets no answer.
        """
        if type(self.screen) is type(dialog):
            return

        def answered(answer: T | None) -> Any:
            return then(answer) if answer is not None else None

        if about is not None:
            dialog.be_about(about)
        self.push_screen(dialog, answered)

    def write(
        self, failed: str, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Have one thread write, in order; the app ends after the last. `failed` heads an error."""
        self.run_worker(self.written(self.writer.submit(call, *args, **kwargs), failed))

    def store_prompt(self, text: str) -> None:
        """Keep a prompt, or a draft, in the history on disk."""
        self.write("The prompt history is not kept", self.history.store, text, str(self.cwd))

    async def written(self, writing: Future[Any], failed: str) -> bool:
        """Wait until `writer` has written; returns whether it could, and says why not."""
        try:
            # The end of the app cancels this, but not what is still to be written.
            await asyncio.shield(asyncio.wrap_future(writing))
        except (OSError, ValueError) as error:  # the latter for a path that can be none
            reason = getattr(error, "strerror", None) or error
            self.say(f"{failed}: {one_line(str(reason))}", "warning")
            return False
        return True

    async def run_by_id(self, action_id: str, argument: str = "") -> None:
        """Run an action of the table, as a chord, the palette or a slash command does."""
        action = BY_ID[action_id]
        namespace, _, name = action.run.rpartition(".")
        node = self.main if namespace == "screen" else self
        if argument and action.takes:
            getattr(node, f"action_{name}")(argument)
        else:
            await self.run_action(name, default_namespace=node)

    def copy(self, text: str, what: str) -> None:
        """Put text on the clipboard and say so."""
        self.copy_to_clipboard(text)
        said = f"Copied the {what}, {len(text):,} character{'' if len(text) == 1 else 's'}."
        if len(text) > TERMINAL_TAKES and not self._copies_natively:
            said += f" Many terminals take no more than {TERMINAL_TAKES:,}."
        self.say(said)

    def open_url(self, url: str, *, new_tab: bool = True) -> None:
        """Open an address in the user's browser."""
        if self.page is None:
            super().open_url(url, new_tab=new_tab)
            return
        try:
            self.page.open(url)
        except OSError as error:
            self.say(f"The page can't open it: {error.strerror}.", "warning")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy by the terminal's own way, and by every other one there is."""
        text = encodable(text)
        super().copy_to_clipboard(text)
        self._copies_natively = False
        if self.is_headless or self.page is not None:
            # The clipboard of this machine need not be the user's.
            return
        from amplifier_tui.ui.terminal import clipboard, guard

        guard.write(self, clipboard.handed_on(text, os.environ))
        command = clipboard.native_command(os.environ)
        self._copies_natively = command is not None
        if command is not None:
            self.run_worker(asyncio.to_thread(clipboard.copy_natively, command, text))
        if os.environ.get("TMUX"):
            self.run_worker(asyncio.to_thread(clipboard.copy_to_tmux, text))


@contextmanager
def _no_interrupt() -> Iterator[None]:
    # Not ignored: what is started meanwhile would ignore it, too.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def in_session(
    act: Callable[Concatenate[SessionApp, SessionClient, SessionState, P], None],
    needs_open: bool = False,
) -> Callable[Concatenate[SessionApp, P], None]:
    """Give an action client and state; before they are there the bell rings instead."""

    @wraps(act)
    def action(app: SessionApp, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if app.client is None or app.state is None:
            app.bell()
        elif needs_open and not app.state.facts.opened:
            say_none(app, app.state)
        else:
            act(app, app.client, app.state, *args, **kwargs)

    return action


def say_none(app: SessionApp, state: SessionState) -> None:
    """Say that no session is open, and what opens one."""
    from amplifier_tui.ui.session.link import why_none

    app.say(why_none(state, app.keymap), "warning", "opened")


def in_open_session(
    act: Callable[Concatenate[SessionApp, SessionClient, SessionState, P], None],
) -> Callable[Concatenate[SessionApp, P], None]:
    """Do what `in_session` does, but only while a session is open; else say that none is."""
    return in_session(act, needs_open=True)
