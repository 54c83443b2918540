"""The main screen: where the conversation, the panes, the prompt and the status bar are."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.signal import Signal
from textual.widgets import Static

from amplifier_tui.ui.app.screens.rail import Rail
from amplifier_tui.ui.app.screens.session_screen import SessionScreen
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.panes.table import BY_NAME, PANES, ShowsState
from amplifier_tui.ui.prompt.history import History

if TYPE_CHECKING:
    from textual.widget import Widget

    from amplifier_tui.ui.state.session import SessionState
    from amplifier_tui.ui.transcript.view import TranscriptView
    from amplifier_tui.ui.widgets.messages import PromptOffered
    from amplifier_tui.ui.widgets.question_strip import QuestionStrip
    from amplifier_tui.ui.widgets.session_strip import SessionStrip

MID = 100
"""Columns from which a rail of panes stands beside the conversation."""
TWICE = 1.0
"""Seconds in which a second esc is one with the first."""
LOW = 40
"""Rows of the screen below which the events have too few beside the other panes."""
WIDE = 160
"""Columns from which a pane may have a column of its own."""
IN_THE_WAY = "A dialog is open: esc closes it."
"""What is said of a key that leads elsewhere, while a dialog is open."""


class StopRequested(Message):
    """The user wants the running turn stopped."""


class PanesChanged(Message):
    """Other panes are shown than before."""


class MainScreen(SessionScreen):
    """Lays out and routes keys. The first frame has the prompt alone; `furnish` mounts the rest."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen")
    AUTO_FOCUS = "#prompt-input"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.foot_changed = Signal[None](self, "foot-changed")
        """Told when the rows below a dialog become more or fewer."""
        self.strip: QuestionStrip | None = None
        self.sessions: SessionStrip | None = None
        self.shown = set(BY_NAME)
        self._panes: dict[str, Widget] = {}
        self._drawer: str | None = None
        self._wide = False
        self._escaped_at = float("-inf")

    def compose(self) -> ComposeResult:
        """Make the first frame: as few widgets as look like the whole."""
        yield Horizontal(id="body")
        yield self.prompt
        yield Static(" ", id="status-place")

    async def furnish(self, state: SessionState, root: Path) -> None:
        """Mount everything else and show the state in it."""
        from amplifier_tui.ui.panes.agents import AgentStrip
        from amplifier_tui.ui.prompt.completion import Completer
        from amplifier_tui.ui.prompt.completion_popup import CompletionPopup
        from amplifier_tui.ui.transcript.view import TranscriptView
        from amplifier_tui.ui.widgets.question_strip import QuestionStrip
        from amplifier_tui.ui.widgets.session_strip import SessionStrip
        from amplifier_tui.ui.widgets.status_bar import StatusBar

        self._state = state
        self.transcript = TranscriptView()
        self.status = StatusBar()
        self.strip = QuestionStrip()
        self.sessions = SessionStrip()
        self.agents = AgentStrip()
        popup = CompletionPopup()
        stage = Vertical(self.transcript, id="stage")
        # With its class from the start: to style all panes a second time takes 10 ms.
        shown = "-shown" if self.visible_panes() else ""
        own, right = Rail(id="own"), Rail(id="right", classes=shown)
        self._panes = {row.name: row.make() for row in PANES}
        self._wide = self.app.size.width >= WIDE
        async with self.batch():
            await self.query_one("#status-place").remove()
            await self.mount(self.status, after=self.prompt)
            await self.mount(self.sessions, before=0)
            await self.mount(popup, self.agents, self.strip, self._notes, before=self.prompt)
            await self.query_one("#body").mount(stage, own, right)
            await right.mount(*self._panes.values())
            if self._wide:
                await self._move_columns()
            self._arrange()
        self.prompt.complete_with(
            Completer(
                self.prompt.input,
                popup,
                root,
                lambda: None if self._state is None else self._state.commands,
            )
        )

    def show_session(self, state: SessionState, view: TranscriptView | None) -> TranscriptView:
        """Show another session, and its conversation, which is made the first time.

        Returns:
            What draws the conversation.
        """
        from amplifier_tui.ui.transcript.view import TranscriptView

        self._remove_agent()
        if self.transcript is not None:
            self.transcript.display = False
        if view is None:
            view = TranscriptView()
            view.use_keys(self.keymap.way_to)
            self.query_one("#stage").mount(view)
        view.display = True
        self._state, self.transcript = state, view
        if not self._is_beside():
            self.prompt.input.focus()
        return view

    def leave_conversation(self) -> None:
        """Give the keys to the prompt where the conversation has them: it is another one."""
        if self.focused is self.conversation:
            self.prompt.input.focus()

    def _show_panes(self, state: SessionState) -> None:
        for pane in self._panes.values():
            if pane.display and pane.parent is not None:
                cast("ShowsState", pane).update_from(state)

    def open_agent(self, lane: str) -> None:
        """Show the conversation of an agent in the place of the main one."""
        if self._drawer is not None:
            self._close_drawer()
        super().open_agent(lane)

    @property
    def narrow(self) -> bool:
        """Whether there is no room for a rail: a pane opens as a drawer."""
        return self.app.size.width < MID

    def visible_panes(self) -> list[str]:
        """Return the panes on screen, in the order of F6."""
        if self._drawer is not None:
            return [self._drawer]
        return [] if self.narrow else [name for name in BY_NAME if name in self.shown]

    def _arrange(self) -> None:
        """Show each pane and rail that should be on screen, hide the others."""
        visible = self.visible_panes()
        for name, pane in self._panes.items():
            pane.display = name in visible
        for rail in self.query("Rail"):
            holds = [pane for pane in self._panes.values() if pane.parent is rail and pane.display]
            rail.set_class(bool(holds), "-shown")
            rail.set_class(bool(holds) and self._drawer is not None, "-drawer")
        self._give_room()
        if self._state is not None:
            self.show([])

    def watch_focused(self) -> None:
        """Say where keys go, and make room there."""
        super().watch_focused()
        self._give_room()

    def _give_room(self) -> None:
        """On a low screen, have the other panes leave rows to the events while keys go there."""
        reads = self.app.size.height < LOW and self.focused_pane() == "events"
        self.query("Rail").set_class(reads, "-for-events")

    def _on_prompt_area_resized(self) -> None:
        self.foot_changed.publish(None)

    def on_screen_suspend(self) -> None:
        """A dialog opens over it."""
        self._stand_behind(True)

    def on_screen_resume(self) -> None:
        """It is in front again."""
        self.unsay(IN_THE_WAY)
        self._stand_behind(False)

    def _stand_behind(self, behind: bool) -> None:
        self.prompt.stand_behind(behind)
        if self.status is not None:
            self.status.stand_behind(behind)

    async def on_resize(self) -> None:
        """Give panes their own column where there are three, or take it back.

        The focus stays in its pane; of one for which there is no more room the prompt takes it.
        """
        if not self._panes:
            return
        held = self.focused_pane()
        wide = self.app.size.width >= WIDE
        if wide != self._wide:
            self._wide = wide
            await self._move_columns()
        self._arrange()
        if held is not None and held not in self.visible_panes():
            self.prompt.input.focus()
        elif held is not None and self.focused_pane() != held:
            self._panes[held].focus()

    async def _move_columns(self) -> None:
        """Put a fresh pane into the rail each belongs to: panes are views of the state."""
        for at, row in enumerate(PANES):
            if not row.own_column:
                continue
            old = self._panes[row.name]
            pane = self._panes[row.name] = row.make()
            await old.remove()
            above = self._panes[PANES[at - 1].name] if at and not self._wide else None
            await self.query_one("#own" if self._wide else "#right").mount(pane, after=above)

    def focused_pane(self) -> str | None:
        """Return the pane that has the focus, or holds what has it."""
        around = self.focused.ancestors_with_self if self.focused is not None else []
        return next((name for name, pane in self._panes.items() if pane in around), None)

    def action_pane(self, name: str) -> None:
        """Show and focus a pane; when it has the focus already, hide it."""
        if name not in self._panes:
            return
        hide = self.focused_pane() == name
        if hide and self._drawer is None:
            self.shown.discard(name)
        elif not hide:
            self.shown.add(name)
        if self.narrow or self._drawer is not None:
            self._drawer = None if hide else name
        self._arrange()
        (self.prompt.input if hide else self._panes[name]).focus()
        self.post_message(PanesChanged())

    def action_zoom(self) -> None:
        """Give the focused pane the whole body, or put it back."""
        if self._drawer is not None:
            self._close_drawer()
        elif (name := self.focused_pane()) is not None:
            self._drawer = name
            self._arrange()
        else:
            keys = ", ".join(self.keymap.way_to(f"pane.{each}") for each in BY_NAME)
            self.say(f"Go to a pane first: {keys}.")

    def _close_drawer(self) -> None:
        name, self._drawer = self._drawer, None
        self._arrange()
        if self.narrow or name is None:
            self.prompt.input.focus()
        else:
            self._panes[name].focus()

    def uncover(self) -> None:
        """Close the pane that covers the conversation, if one does."""
        if self._drawer is not None:
            self._close_drawer()

    def action_cycle(self, step: int) -> None:
        """Give the focus to the next or previous part of the screen."""
        stops: list[Widget] = [self.prompt.input]
        if self.conversation is not None and self._drawer is None:
            stops.append(self.conversation)
        if self.agents is not None and self.agents.display:
            stops.append(self.agents)
        stops += [self._panes[name] for name in self.visible_panes()]
        pane = self.focused_pane()
        here = self._panes[pane] if pane is not None else self.focused
        at = stops.index(here) if here in stops else 0
        stops[(at + step) % len(stops)].focus()

    def show_entry(self, key: str) -> bool:
        """Show an entry of the conversation, and let it hear the keys; False when it is gone."""
        view = self._come_to_conversation()
        if view is None:
            return False
        view.focus()
        return view.show_entry(key)

    def point_out(self, key: str) -> bool:
        """Show and mark an entry, unfolded, while the prompt has the keys; False when it is gone.

        Who opened something to go on with it writes next.
        """
        view = self._come_to_conversation()
        if view is None:
            return False
        self.prompt.input.focus()
        view.unfold_entry(key)
        return view.point_out(key)

    def _come_to_conversation(self) -> TranscriptView | None:
        """Close what covers the main conversation, and return it."""
        if self.transcript is not None:
            self.uncover()
            if self.agent_view is not None:
                self.action_main()
        return self.transcript

    def show_pane(self, name: str) -> Widget:
        """Show and focus a pane, also when it has the focus."""
        if self.focused_pane() != name:
            self.action_pane(name)
        return self._panes[name]

    def pane(self, name: str) -> Widget:
        """Return a pane, shown or not."""
        return self._panes[name]

    @property
    def foot_rows(self) -> int:
        """Rows of the prompt, of what is noted above it and of the status bar."""
        foot = [self.prompt, self._notes, *([self.status] if self.status is not None else [])]
        return sum(widget.outer_size.height for widget in foot if widget.display)

    def cover(self, rows: int) -> None:
        """A dialog hides rows at the foot of the body: keep the end of the conversation in view."""
        hidden = rows if rows < self.size.height - self.foot_rows else 0
        self.query_one("#stage").styles.padding = (0, 0, hidden, 0)

    def action_copy_text(self) -> None:
        """Mean with Textual's own ctrl+c, heard outside of the prompt, what it means in it."""
        # Within the prompt: what is sent from in here would get no further than this screen.
        field = self.prompt.input
        field.call_next(field.run_action, "copy_clear_or_quit")

    def action_escape(self) -> None:
        """One meaning at a time: close what is open, go back to the prompt, stop the turn."""
        if self.prompt.close_popup() or self.close_find():
            self.prompt.input.focus()
            return
        if self._state is not None and self._state.moment is not None:
            self._state.look_at(None)
            self.show([])
        elif self._drawer is not None:
            self._close_drawer()
        elif self._is_beside() or self._state is None:
            self.prompt.input.focus()
        elif self.agent_view is not None:
            self.action_main()
        elif self.stops() or self._state.activity.blocker:
            self.post_message(StopRequested())
            # Who stops it from a row of the conversation writes next.
            self.prompt.input.focus()
        elif self.focused is self.prompt.input:
            self._state.notices.dismiss()
            if self.conversation is not None:
                self.conversation.stop_pointing()
            self.show([])
            self._escaped()
        else:
            self.prompt.input.focus()

    def _escaped(self) -> None:
        """Twice on an empty prompt goes back to an earlier one."""
        twice = monotonic() - self._escaped_at < TWICE
        self._escaped_at = float("-inf") if twice else monotonic()
        if twice and not self.prompt.input.text:
            from amplifier_tui.ui.widgets.messages import ActionWanted

            self.post_message(ActionWanted("session.rewind"))

    def _is_beside(self) -> bool:
        """Whether a pane or the list of agents has the focus."""
        in_agents = self.agents is not None and self.agents.has_focus
        return in_agents or self.focused_pane() is not None

    def action_stop(self) -> None:
        """Stop the running turn, whatever has the focus."""
        self.post_message(StopRequested())

    def _on_prompt_offered(self, event: PromptOffered) -> None:
        event.stop()
        self.prompt.restore(event.text)
        self.prompt.input.focus()

    def _on_prompt_area_look_changed(self) -> None:
        self.show([])

    def _on_completion_popup_clicked(self) -> None:
        self.prompt.accept_clicked()
        self.prompt.input.focus()
