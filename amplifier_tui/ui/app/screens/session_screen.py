"""A screen with a session on it: its conversation, the prompt, the status bar."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.screens.conversation_screen import ConversationScreen
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.prompt.history import History
from amplifier_tui.ui.prompt.prompt import (
    BEHIND,
    IN_AGENTS,
    IN_PANE,
    PromptArea,
    PromptNotes,
    early_rows,
    held_rows,
    in_conversation,
    job_rows,
    left_rows,
    shell_rows,
    waiting_rows,
)

if TYPE_CHECKING:
    from amplifier_tui.host.events import Level, NoticeEnd
    from amplifier_tui.ui.panes.agents import AgentStrip
    from amplifier_tui.ui.state.conversation.entries import EntryChange
    from amplifier_tui.ui.state.session import SessionState
    from amplifier_tui.ui.widgets.status_bar import StatusBar


class SessionScreen(ConversationScreen):
    """Draws the state of the session that is shown, and says what the prompt is for."""

    def __init__(self, history: History) -> None:
        super().__init__(id="main")
        self.prompt = PromptArea(history)
        self._notes = PromptNotes()
        self.status: StatusBar | None = None
        self.agents: AgentStrip | None = None
        self._state: SessionState | None = None
        self.keymap = Keymap()
        self.left_open = ""
        """What was open when the program ended, until the user goes on; empty for nothing."""
        self.queue_way = ""
        """How to see the queue, in the keys in force."""

    def watch_focused(self) -> None:
        """Say in the prompt where keys go: letters are commands outside of it."""
        focused = self.focused
        if focused is None or focused is self.prompt.input:
            self.prompt.stand_aside("")
        elif focused is self.conversation:
            hints = self.conversation.hints()
            self.prompt.stand_aside(in_conversation(hints, stops=self.stops()))
        elif focused is self.agents:
            self.prompt.stand_aside(IN_AGENTS)
        elif self.focused_pane() is not None:
            self.prompt.stand_aside(IN_PANE)
        else:
            self.prompt.stand_aside(BEHIND)

    def on_cursor_moved(self) -> None:
        """Offer the keys of the entry that the cursor is on."""
        self.watch_focused()

    def stops(self) -> bool:
        """Whether `esc` stops something while keys go to the conversation."""
        state = self._state
        if state is None or state.moment is not None or self.agent_view is not None:
            return False
        activity = state.activity
        return activity.stops or bool(activity.slow_opening(time()) and not activity.blocker)

    def focused_pane(self) -> str | None:
        """Return the pane that has the focus; a screen without panes has none."""
        return None

    def show(self, changes: list[EntryChange]) -> None:
        """Draw the state; each widget looks at its own version and does nothing in vain."""
        state = self._state
        if state is None:
            return
        self._show_panes(state)
        if self.transcript is None or self.status is None:
            return
        if changes:
            self.transcript.apply(changes)
            if self.agent_view is not None and self.agent_view.is_mounted:
                self.agent_view.apply(changes)
        if self.focused is self.conversation:
            self.watch_focused()
        self.status.update_from(state)
        if self.agents is not None:
            self.agents.update_from(state)
        self._show_prompt(state)

    def _show_panes(self, state: SessionState) -> None:
        """Draw the state in the panes."""

    def _show_prompt(self, state: SessionState) -> None:
        """Say whom the prompt speaks to, and what waits to be heard there."""
        if self.agent_view is not None:
            agent = state.lanes.by_lane.get(self.agent_view.lane)
            if agent is not None:
                self.prompt.set_agent(agent.name, works=agent.running)
                told = waiting_rows((), agent.told, "")
                self._notes.show_rows([*told, *shell_rows(self.prompt.input.text)])
                return
            self.action_main()
        activity = state.activity
        held = state.facts.held
        self.prompt.set_turn(
            activity.running,
            activity.stop,
            command=bool(activity.commands),
            change=bool(activity.changing),
            summary=activity.compacting,
            blocked=bool(activity.blocker),
            read_only=held is not None and not held.free,
            absent=state.facts.absent,
        )
        self.prompt.input.queued = len(state.queue.items)
        left = ""
        if activity.blocker:
            left = f"waits for {one_line(activity.blocker)}   "
        elif state.queue.held:
            # With a draft enter sends that one.
            sends = not activity.running and not self.prompt.input.text
            left = "enter sends it   " if sends else ""
        elif state.trust.pending is not None:
            left = "goes when the question is answered   "
        hint = f"{left}{self.queue_way} lists"
        waiting = waiting_rows(state.queue.items, state.queue.steering, hint)
        jobs = job_rows(state.jobs.running, self.keymap.way_to("jobs.show"))
        waiting = [*early_rows(state.queue.early), *waiting]
        told = held_rows(held, self.keymap.way_to("session.take_over"))
        told = [*left_rows(self.left_open), *told]
        self._notes.show_rows([*told, *jobs, *waiting, *shell_rows(self.prompt.input.text)])

    def say_left_open(self, words: str) -> None:
        """Say what was open when the program ended, until the user goes on; empty takes it away.

        In the status bar what the session says next would take its place.
        """
        self.left_open = words
        if words and self._state is not None:
            from amplifier_tui.host.events import Notice

            # For the history of notices alone.
            self._state.apply([Notice(session_id="", level="warning", text=words, replayed=True)])
        self.show([])

    def open_agent(self, lane: str) -> None:
        """Show the conversation of an agent in the place of the main one."""
        from amplifier_tui.ui.transcript.agent_view import AgentView

        if self.transcript is None or self._state is None:
            return
        self._remove_agent()
        images = self.transcript.images
        self.agent_view = AgentView(lane, self._state, self.keymap.way_to, images)
        self.transcript.display = False
        self.query_one("#stage").mount(self.agent_view)
        self.prompt.input.focus()
        self.show([])

    def action_main(self) -> None:
        """Show the main conversation again."""
        if not self.leave_agent():
            self.say("The main conversation is on screen.")

    def leave_agent(self) -> bool:
        """Show the main conversation; False when it is on screen."""
        if self.agent_view is None or self.transcript is None:
            return False
        self._remove_agent()
        self.transcript.display = True
        self.prompt.input.focus()
        self.show([])
        return True

    def _remove_agent(self) -> None:
        self.close_find()
        if self.agent_view is not None:
            self.agent_view.remove()
            self.agent_view = None

    def say(self, text: str, level: Level = "info", until: NoticeEnd = "") -> None:
        """Show a line in the status bar and keep it in the notice history."""
        if self._state is not None:
            from amplifier_tui.host.events import Notice

            notice = Notice(session_id="", level=level, text=text, until=until)
            self.show(self._state.apply([notice]))

    def unsay(self, text: str) -> None:
        """Take a line off the status bar that is true no more."""
        notices = self._state.notices if self._state is not None else None
        shown = notices.newest if notices is not None else None
        if notices is None or shown is None:
            return
        from amplifier_tui.base.text import without_marks

        if shown.notice.text == without_marks(text):
            notices.dismiss()
            self.show([])

    def take_refusal_off(self) -> None:
        """Take off the status bar what was wrong with the command before: another one is run."""
        notices = self._state.notices if self._state is not None else None
        shown = notices.newest if notices is not None else None
        if notices is not None and shown and shown.answers_user and shown.notice.level != "info":
            notices.dismiss()
            self.show([])

    def use_keymap(self, keymap: Keymap) -> None:
        """Take these keys, and show them where keys are named."""
        self.keymap = keymap
        self.queue_way = keymap.way_to("turn.queue")
        self.prompt.use_keymap(keymap)
        if self.status is not None:
            self.status.notices_key = keymap.way_to("view.notices")
        if self.transcript is not None:
            self.transcript.use_keys(keymap.way_to)
        if self.agents is not None:
            self.agents.keys = keymap.way_to
