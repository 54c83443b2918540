"""The app: its life from the first frame to the last line, and who answers which message."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on, work

from amplifier_tui.ui.app import appearance
from amplifier_tui.ui.app.actions import (
    agents,
    context,
    model,
    modules,
    permissions,
    program,
    reading,
    session,
    setup,
    shell,
    turn,
    view,
)
from amplifier_tui.ui.app.actions.sessions import beside, stored, worktree
from amplifier_tui.ui.app.newline_hint import NewlineHint
from amplifier_tui.ui.app.quitting import Quitting
from amplifier_tui.ui.app.screens.main_screen import (
    MID,
    WIDE,
    MainScreen,
    PanesChanged,
    StopRequested,
)
from amplifier_tui.ui.app.session_app import SessionApp
from amplifier_tui.ui.app.starting import start_up
from amplifier_tui.ui.prompt.prompt import PromptArea
from amplifier_tui.ui.prompt.prompt_input import PromptInput
from amplifier_tui.ui.terminal import leave
from amplifier_tui.ui.terminal.guard import TerminalGuard, end_on_interrupt, handle_signals
from amplifier_tui.ui.terminal.textual_costs import (
    Overlay,
    fill_strips_late,
    keep_single_timers,
    lay_out_once,
    let_strips_go,
    write_to_the_end,
)

if TYPE_CHECKING:
    from textual.filter import LineFilter

    from amplifier_tui.ui.app.starting import Connect
    from amplifier_tui.ui.terminal.background import BackgroundTold
    from amplifier_tui.ui.terminal.shift_enter import KeysTold
    from amplifier_tui.ui.widgets.messages import (
        ActionWanted,
        CompactRequested,
        CopyRequested,
        DetailsRequested,
        DraftSetAside,
        EventsRequested,
        ExportRequested,
        ForkRequested,
        ImageRequested,
        InspectRequested,
        LinkClicked,
        ModelChosen,
        MomentRequested,
        RetryRequested,
        RewindRequested,
        TerminalNeeded,
        UnsentChanged,
    )


class AmplifierApp(SessionApp, inherit_bindings=False):
    """The program on screen.

    Args:
        connect: Makes the client and says what to open; called in a thread after the first frame.
        cwd: The user's working directory.
        theme: Theme for this run; the remembered one when empty.
        guard: Gives the terminal back when the program dies.
    """

    TITLE = "amplifier-tui"
    ENABLE_COMMAND_PALETTE = False
    # Textual does not load the CSS_PATH of a default screen.
    CSS_PATH = Path(__file__).parent / "screens" / "main_screen.tcss"

    def __init__(
        self,
        connect: Connect,
        *,
        cwd: Path | None = None,
        theme: str = "",
        guard: TerminalGuard | None = None,
    ) -> None:
        let_strips_go()
        fill_strips_late()
        lay_out_once()
        keep_single_timers()
        write_to_the_end()
        super().__init__(cwd if cwd is not None else Path.cwd())
        columns = [(0, "-narrow"), (MID, "-mid"), (120, "-roomy"), (WIDE, "-wide")]
        self.HORIZONTAL_BREAKPOINTS = columns
        self.VERTICAL_BREAKPOINTS = [(0, "-tiny"), (20, "-tall")]
        self.ready = asyncio.Event()
        """Set when the session was asked for and every pane is mounted."""
        self._connect = connect
        self._guard = guard if guard is not None else TerminalGuard()
        self._remove_signals: Callable[[], None] = lambda: None
        self._problems: list[str] = [self.preferences.error] if self.preferences.error else []
        self.quitting = Quitting(self)
        self.newline_hint = NewlineHint(self)
        self._problems += filter(None, [appearance.first_theme(self, theme)])
        self._strength, self._palette = appearance.line_filters(self)

    action_bundles = session.bundles
    action_sessions = stored.sessions
    action_search = stored.search
    action_left_open = stored.left_open
    action_imported = stored.imported
    action_new_session = session.new_session
    action_session_beside = beside.open_beside
    action_worktree = worktree.worktree
    action_resume_beside = stored.resume_beside
    action_show_session = beside.show
    action_next_session = beside.step
    action_waiting_session = beside.show_waiting
    action_close_session = beside.close
    action_demo = session.demo
    action_take_over = session.take_over
    action_rename = session.rename
    action_fork = session.fork
    action_rewind = turn.rewind
    action_undo = turn.undo
    action_redo = turn.redo
    action_show_diff = view.show_diff
    action_show_image = view.show_image
    action_images = view.images
    action_find = reading.find
    action_top = reading.top
    action_seek = reading.seek
    action_last_answer = reading.last_answer
    action_copy_code = reading.copy_code
    action_page_entry = reading.page_entry
    action_whole = reading.whole
    action_open_entry = reading.open_entry
    action_report = session.report
    action_export = session.export
    action_retry = turn.retry_last
    action_retry_without = turn.retry_without
    action_unqueue = turn.unqueue
    action_queue = turn.queue
    action_send_queued = turn.send_queued
    action_shell = shell.run
    action_shell_quietly = shell.run_quietly
    action_terminal = shell.in_terminal
    action_withhold = shell.withhold
    action_approvals = turn.approvals
    action_next_mode = turn.next_mode
    action_mode = turn.mode
    action_permissions = permissions.show
    action_explain = permissions.explain
    action_audit = permissions.audit
    action_do_plan = turn.do_plan
    action_do_edits = turn.do_plan_with_edits
    action_dismiss_plan = turn.dismiss_plan
    action_paste_key = setup.paste_key
    action_use_local = setup.use_local
    action_limit = model.limit
    action_limit_once = model.limit_once
    action_limit_raise = model.limit_raise
    action_model = model.choose
    action_model_back = model.back
    action_effort = model.effort
    action_ask_trust_again = session.ask_trust_again
    action_compact = session.compact
    action_remember = session.remember
    action_memories = session.memories
    action_mcp_servers = modules.mcp_servers
    action_skills = turn.skills
    action_jobs = shell.jobs
    action_set_aside = shell.set_aside
    action_stop_job = shell.stop_job
    action_forget = session.forget
    action_mount_module = modules.mount
    action_unmount_module = modules.unmount
    action_reload_module = modules.reload
    action_switch_module = modules.switch
    action_configure_module = modules.configure
    action_context = context.item
    action_items = context.items
    action_agents = agents.show
    action_tell_agent = agents.tell
    action_stop_agent = agents.stop
    action_copy_answer = view.copy_answer
    action_plan = view.plan
    action_notices = view.notices
    action_leader = program.leader
    action_palette = program.palette
    action_help = program.help
    action_search_history = program.search_history
    action_editor = program.editor
    action_suspend = program.suspend
    action_notifications = program.notify_manner
    action_themes = appearance.themes
    action_motion = appearance.motion

    # What Textual does after an unhandled exception.
    _fatal_error = leave.end_with_report

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters every drawn line goes through."""
        return [*self._strength, *super().get_line_filters(), *self._palette]

    def get_default_screen(self) -> MainScreen:
        """Return the main screen."""
        return self.main

    def on_mount(self) -> None:
        """Wait for the first frame, then do the rest."""
        if not self.is_headless:
            self._remove_signals = handle_signals(self, self.quitting.quit_by_signal, self._guard)
        self.call_after_refresh(self._first_frame_drawn)

    def _first_frame_drawn(self) -> None:
        appearance.follow_terminal(self)
        self.newline_hint.ask()
        # The thread that writes the frame to the terminal needs the interpreter for a moment,
        # which imports would take.
        self.set_timer(0.01, self._start_up)

    @work
    async def _start_up(self) -> None:
        await start_up(self, self._connect, self._problems)
        self.ready.set()

    @on(PromptInput.Submitted)
    async def _submitted(self, event: PromptInput.Submitted) -> None:
        event.stop()
        text = event.text
        if event.store:
            self.store_prompt(text)
        await turn.send(self, text, queue=event.queue)
        self.newline_hint.sent(text)

    @on(PromptArea.Draft)
    def _draft_changed(self) -> None:
        if self.tabs is not None:
            self.tabs.draft_changed()

    @on(StopRequested)
    def _stop_requested(self) -> None:
        if self.link is not None:
            self.link.stop()

    @on(PanesChanged)
    def _panes_changed(self) -> None:
        names = sorted(self.main.shown)
        self.write("The panes are not remembered", self.preferences.set_panes, str(self.cwd), names)

    @on(PromptInput.ChordKey)
    def _chord_key(self, event: PromptInput.ChordKey) -> None:
        from amplifier_tui.ui.dialogs.modules.leader import LeaderPopup

        if isinstance(self.screen, LeaderPopup):
            self.screen.take(event.key)

    @on(PromptInput.NothingToUndo)
    def _nothing_to_undo(self) -> None:
        program.nothing_to_undo(self)

    @on(PromptInput.LeftOut)
    def _left_out(self, event: PromptInput.LeftOut) -> None:
        program.left_out(self, event.kinds)

    def on_app_focus(self) -> None:
        """The terminal came to the front."""
        if self.link is not None:
            self.link.keyboard.terminal_focused()

    @on(events.Click)
    def _user_is_here(self) -> None:
        if self.link is not None:
            self.link.keyboard.user_is_here()

    async def on_event(self, event: events.Event) -> None:
        """Let a question that is open hear keys first, in the order in which they arrive.

        What comes before a dialog is there, as on a slow line, waits for it.
        """
        if self.key_order.waits(event):
            return
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            # Without the kitty protocol it comes with its letter, which fields would take.
            event.character = None if self.keymap.binds(event.key) else event.character
        if isinstance(event, events.Paste) and not isinstance(self.focused, PromptInput):
            # The prompt does so itself, and says what it leaves out.
            from amplifier_tui.base.text import written

            event.text = written(event.text)
        if isinstance(event, (events.InputEvent, events.Paste)):
            # Also one that no widget wanted: the dialog may have opened while they were asked.
            while isinstance(self.screen, Overlay) and await self.screen.comes():
                pass
        if (
            isinstance(event, (events.Key, events.Paste))
            and not event.is_forwarded
            and self.link is not None
            and self.link.keyboard.take(event)
        ):
            return
        first = self.key_order.begins(event)
        await super().on_event(event)
        if first is not None and event.is_forwarded:
            self.key_order.went(event, first)
        else:
            await self.key_order.heard(event)

    # Messages are found by name, so that the widgets need not be imported before the first frame.

    def _on_background_told(self, event: BackgroundTold) -> None:
        appearance.fit(self, event.light)

    def _on_keys_told(self, event: KeysTold) -> None:
        self.newline_hint.told(event.apart)

    def _on_reports_offered(self) -> None:
        appearance.take_reports(self)

    def _on_copy_requested(self, event: CopyRequested) -> None:
        self.copy(event.text, event.what)

    def _on_retry_requested(self, event: RetryRequested) -> None:
        turn.retry(self, event.entry, event.without)

    def _on_fork_requested(self, event: ForkRequested) -> None:
        session.fork(self, event.entry)

    def _on_rewind_requested(self, event: RewindRequested) -> None:
        turn.rewind_at(self, event.entry)

    async def _on_action_wanted(self, event: ActionWanted) -> None:
        await self.run_by_id(event.action, event.argument)

    def _on_details_requested(self, event: DetailsRequested) -> None:
        modules.describe(self, event.key)

    def _on_terminal_needed(self, event: TerminalNeeded) -> None:
        shell.give_terminal(self, event.event)

    def _on_draft_set_aside(self, event: DraftSetAside) -> None:
        self.store_prompt(event.text)

    def _on_unsent_changed(self, event: UnsentChanged) -> None:
        self.write("The draft is not kept", self.history.unsent.keep, event.drafts)

    def _on_model_chosen(self, event: ModelChosen) -> None:
        model.remember(self, event.bundle, event.event)

    def _on_compact_requested(self, event: CompactRequested) -> None:
        session.compact(self, instruct=event.instruct)

    def _on_link_clicked(self, event: LinkClicked) -> None:
        view.open_link(self, event.url)

    def _on_moment_requested(self, event: MomentRequested) -> None:
        view.show_moment(self, event.seq, past=event.past)

    def _on_events_requested(self, event: EventsRequested) -> None:
        view.show_events(self, event.entry)

    def _on_export_requested(self, event: ExportRequested) -> None:
        if event.entry is not None:
            session.export_from(self, event.entry)
        else:
            session.export_events(self, event.events)

    def _on_image_requested(self, event: ImageRequested) -> None:
        view.show_image(self, event.entry)

    def _on_inspect_requested(self, event: InspectRequested) -> None:
        view.inspect(self, event.seq)

    def action_quit_if_asked_twice(self) -> None:
        """Quit when the same was asked just before; else say that it takes two."""
        self.quitting.quit_if_asked_twice()

    def action_leave(self) -> None:
        """Close the session and end."""
        self.quitting.quit()

    async def action_quit(self) -> None:
        """Quit as the user would; Textual's own way to ask for it."""
        self.quitting.quit()

    def last_words(self) -> str:
        """Return what is printed when the screen has ended; empty when there is nothing to say."""
        farewell = self.return_value
        size = shutil.get_terminal_size()
        return leave.farewell_text(farewell, *size) if farewell is not None else ""

    async def on_unmount(self) -> None:
        """Let the signals be what they were, and wait for what is being written."""
        self._remove_signals()
        if not self.is_headless:
            end_on_interrupt(self._guard, self.last_words)
        await asyncio.to_thread(self.writer.shutdown)
