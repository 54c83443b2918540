"""The app: its life from the first frame to the last line, screens, theme and global keys."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work

from amplifier_tui.paths import user_state_dir
from amplifier_tui.ui.app import pace
from amplifier_tui.ui.app.main_screen import (
    MID,
    WIDE,
    MainScreen,
    PaneName,
    PanesChanged,
    StopRequested,
)
from amplifier_tui.ui.app.messages import AppMessages
from amplifier_tui.ui.app.preferences import Preferences
from amplifier_tui.ui.app.themes import (
    DEFAULT_ROLES,
    DEFAULT_THEME,
    Roles,
    ThemeError,
    check_roles,
    find_theme,
)
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.prompt.history import History
from amplifier_tui.ui.prompt.prompt_input import PromptInput
from amplifier_tui.ui.terminal import leave
from amplifier_tui.ui.terminal.guard import TerminalGuard, handle_signals
from amplifier_tui.ui.terminal.leave import Farewell
from amplifier_tui.ui.terminal.strips import let_strips_go

if TYPE_CHECKING:
    from textual.filter import LineFilter

    from amplifier_tui.host.client import OpenRequest, SessionClient

    Connect = Callable[[], tuple[SessionClient, OpenRequest]]

_log = logging.getLogger(__name__)

QUIT_WINDOW = 2.0
"""Seconds in which a second ctrl+c quits."""
OPENING_PATIENCE = 1.0
"""Seconds for which what can wait leaves the interpreter to the session that is opening."""
CLOSE_TIMEOUT = 5.0
"""Seconds the session may take to close before the program ends without it."""

_SCREEN_MODULES = (
    "amplifier_tui.ui.state.session",
    "amplifier_tui.ui.transcript.view",
    "amplifier_tui.ui.widgets.status_bar",
    "amplifier_tui.ui.panes.context.pane",
    "amplifier_tui.ui.panes.modules.pane",
    "amplifier_tui.ui.panes.events.pane",
    "amplifier_tui.ui.session.link",
    "amplifier_tui.ui.app.start_up",
)
"""What the first frame does without."""


class AmplifierApp(AppMessages, inherit_bindings=False):
    """The program on screen.

    Args:
        connect: Makes the client and says what to open. Called in a thread once the first frame
            is out: it may import what it likes.
        cwd: The user's working directory.
        theme: Theme for this run; the remembered one when empty.
        preferences: What is remembered of the user.
        guard: Gives the terminal back when the program dies.
    """

    TITLE = "amplifier-tui"
    ENABLE_COMMAND_PALETTE = False
    # Textual does not load the CSS_PATH of a default screen.
    CSS_PATH = Path(__file__).with_name("main_screen.tcss")

    def __init__(
        self,
        connect: Connect,
        *,
        cwd: Path | None = None,
        theme: str = "",
        preferences: Preferences | None = None,
        guard: TerminalGuard | None = None,
    ) -> None:
        let_strips_go()
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [
            (0, "-narrow"),
            (MID, "-mid"),
            (120, "-roomy"),
            (WIDE, "-wide"),
        ]
        self.VERTICAL_BREAKPOINTS = [(0, "-tiny"), (20, "-tall")]
        self.cwd = cwd if cwd is not None else Path.cwd()
        self.preferences = preferences if preferences is not None else Preferences()
        self.keymap = Keymap()
        self.themes = {}
        self.theme_errors = []
        self.history = History(user_state_dir() / "history.jsonl")
        self.main = MainScreen(self.history)
        self.ready = asyncio.Event()
        """Set when the session was asked for and every pane is mounted."""
        self._connect = connect
        self._guard = guard if guard is not None else TerminalGuard()
        self._remove_signals: Callable[[], None] = lambda: None
        self.early: list[tuple[str, bool]] = []
        self._problems: list[str] = [self.preferences.error] if self.preferences.error else []
        self._quit_asked = float("-inf")
        self._leaving = False
        self._palette: LineFilter | None = None
        if self.console.color_system == "256":
            from amplifier_tui.ui.terminal.color_depth import Palette256

            self._palette = Palette256()
        self._closed_in_order = False
        self._first_theme(theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters every drawn line goes through."""
        filters = super().get_line_filters()
        return filters if self._palette is None else [*filters, self._palette]

    def get_default_screen(self) -> MainScreen:
        """Return the main screen."""
        return self.main

    # --- start -----------------------------------------------------------------------------

    def _first_theme(self, wanted: str) -> None:
        """Take the theme of the first frame; the remembered colours spare reading YAML."""
        name = wanted or self.preferences.theme or DEFAULT_THEME
        roles: Roles | None = None
        try:
            if name == self.preferences.theme and self.preferences.palette is not None:
                roles = check_roles(self.preferences.palette, str(self.preferences.path))
            elif name != DEFAULT_THEME:
                roles = find_theme(name)
        except ThemeError as error:
            self._problems.append(str(error))
        roles = roles or DEFAULT_ROLES
        self.add_theme(roles)
        self.theme = roles["name"]

    def on_mount(self) -> None:
        """Wait for the first frame, then do the rest."""
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            self._remove_signals = handle_signals(loop, self._signalled, self._guard)
        self.call_after_refresh(self._first_frame_drawn)

    def _first_frame_drawn(self) -> None:
        # The thread that writes the frame to the terminal needs the interpreter for a moment,
        # which imports would take.
        self.set_timer(0.01, self._start_up)

    @work
    async def _start_up(self) -> None:
        # The engine has the longer way: it sets out first. Imports hold the interpreter, not the
        # loop: keys are taken meanwhile.
        opening = asyncio.create_task(self._open_session())
        for name in _SCREEN_MODULES:
            await asyncio.to_thread(import_module, name)
        from amplifier_tui.ui.app.start_up import load_keys, load_themes
        from amplifier_tui.ui.session.link import SessionLink
        from amplifier_tui.ui.state.session import SessionState

        self.state = SessionState()
        self.main.shown = _remembered_panes(self.preferences, self.cwd, self.main.shown)
        await self.main.furnish(self.state, self.cwd)
        try:
            self.client = await opening
        except Exception as error:
            self.say(f"The session engine cannot start: {error}", "error")
            leave.write_report(error)
        else:
            self.link = SessionLink(self, self.client, self.state)
            early, self.early = self.early, []
            self.link.follow(early)
        await load_keys(self)
        if self.link is not None:
            await self.link.wait_until_open(OPENING_PATIENCE)
        await load_themes(self)
        for problem in self._problems:
            self.say(problem, "warning")
        pace.settle()
        self.ready.set()

    async def _open_session(self) -> SessionClient:
        client, request = await asyncio.to_thread(self._connect)
        client.open(request)
        return client

    # --- the user --------------------------------------------------------------------------

    @on(PromptInput.Submitted)
    async def _submitted(self, event: PromptInput.Submitted) -> None:
        event.stop()
        text = event.text
        if event.store:
            self.run_worker(self._store(text), group="history")
        await self.send(text, queue=event.queue)

    async def _store(self, text: str) -> None:
        try:
            await asyncio.to_thread(self.history.store, text, str(self.cwd))
        except OSError as error:
            self.say(f"The prompt history is not kept: {error}", "warning")

    @on(StopRequested)
    def _stop_requested(self) -> None:
        if self.link is not None:
            self.link.stop()

    @on(PanesChanged)
    def _panes_changed(self) -> None:
        names = sorted(self.main.shown)
        try:
            self.preferences.set_panes(str(self.cwd), [str(name) for name in names])
        except OSError as error:
            self.say(f"The panes are not remembered: {error}", "warning")

    # --- end -------------------------------------------------------------------------------

    @on(PromptInput.QuitWanted)
    def _quit_wanted(self) -> None:
        now = time.monotonic()
        if now - self._quit_asked <= QUIT_WINDOW:
            self.action_leave()
        else:
            self._quit_asked = now
            self.say("The same key again quits.")

    def action_leave(self) -> None:
        """Close the session and end; asked again, end at once."""
        if self._leaving:
            self.exit(Farewell())
        else:
            self._leaving = True
            self.say("Closing the session…")
            self._leave("")

    async def action_quit(self) -> None:
        """Quit as the user would; Textual's own way to ask for it."""
        self.action_leave()

    def _signalled(self, name: str) -> None:
        self._leaving = True
        self._leave(f"Ended by {name}.")

    @work
    async def _leave(self, problem: str) -> None:
        farewell = Farewell()
        if self.link is not None:
            farewell = await self.link.close(CLOSE_TIMEOUT)
            self._closed_in_order = True
        problems = " ".join(part for part in (problem, farewell.problem) if part)
        self.exit(Farewell(farewell.last_answer, farewell.resume_command, problems))

    def on_unmount(self) -> None:
        """Let the signals be what they were."""
        self._remove_signals()

    def _fatal_error(self) -> None:
        """End after a fault of the program: a report in a file instead of values on the screen."""
        error = sys.exc_info()[1] or self._exception or RuntimeError("unknown fault")
        self.exit(return_code=1, message=leave.crash_words(error, leave.write_report(error)))

    def release(self, timeout: float) -> None:
        """Close the session if the app ended without doing so; called after `run`.

        Args:
            timeout: Seconds to wait for the last rows to reach the disk.
        """
        if self.client is not None and not self._closed_in_order:
            try:
                self.client.close().result(timeout)
            except Exception:
                _log.exception("The session did not close after the screen had ended")


def _remembered_panes(preferences: Preferences, cwd: Path, default: set[PaneName]) -> set[PaneName]:
    names = preferences.panes(str(cwd))
    return default if names is None else {name for name in default if name in names}
