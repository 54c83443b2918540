"""What the parts of the screen ask for.

Handlers are found by name, so that the widgets need not be imported before the first frame.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on, work
from textual.widgets import Input

from amplifier_tui.ui.app.context_actions import ContextActions
from amplifier_tui.ui.prompt.prompt import Prompt
from amplifier_tui.ui.prompt.prompt_input import PromptInput

if TYPE_CHECKING:
    from amplifier_tui.ui.dialogs.event_sheet import EventSheet
    from amplifier_tui.ui.widgets.messages import (
        CompactRequested,
        CopyRequested,
        InspectRequested,
    )
    from amplifier_tui.ui.widgets.status_bar import StatusBar
    from amplifier_tui.ui.widgets.transcript_messages import (
        ActionWanted,
        ForkRequested,
        LinkClicked,
        RetryRequested,
    )
    from amplifier_tui.ui.widgets.transcript_messages import CopyRequested as CopyTextRequested

_PANES = {"context": "context", "cost": "context", "model": "modules"}


class AppMessages(ContextActions):
    """Turns messages into actions."""

    # --- typing ----------------------------------------------------------------------------

    @on(Prompt.Draft)
    @on(Input.Changed)
    def _typing(self) -> None:
        if self.link is not None:
            self.link.desk.typed()
            self.link.dialogs.user_is_here()

    @on(PromptInput.HelpWanted)
    def _help_wanted(self) -> None:
        self.action_help()

    @on(PromptInput.LeaderWanted)
    def _leader_wanted(self) -> None:
        self.action_leader()

    @on(PromptInput.ChordKey)
    def _chord_key(self, event: PromptInput.ChordKey) -> None:
        from amplifier_tui.ui.dialogs.leader import LeaderPopup

        if isinstance(self.screen, LeaderPopup):
            self.screen.take(event.key)

    @on(PromptInput.HistoryWanted)
    def _history_wanted(self) -> None:
        self.action_search_history()

    @on(PromptInput.TakeBackWanted)
    def _take_back_wanted(self) -> None:
        self.action_unqueue()

    # --- clicks ----------------------------------------------------------------------------

    def on_app_focus(self) -> None:
        """The terminal came to the front."""
        if self.link is not None:
            self.link.dialogs.terminal_focused()

    def on_click(self) -> None:
        """A click has been dealt with."""
        if self.link is not None:
            self.link.dialogs.user_is_here()

    def on_key(self) -> None:
        """A key was pressed."""
        if self.link is not None:
            self.link.dialogs.user_is_here()

    async def on_status_bar_segment_clicked(self, event: StatusBar.SegmentClicked) -> None:
        """Open what belongs to a segment of the status bar."""
        name = event.name
        if name in _PANES:
            self.main.action_pane(_PANES[name])
        elif name == "approvals":
            self.action_approvals()
        elif name == "queue":
            self.action_unqueue()
        elif name == "bundle":
            self.action_bundles()
        elif name == "notice":
            self.action_notices()
        elif name == "help":
            self.action_help()
        elif name == "activity":
            self.action_plan()

    # --- transcript and panes --------------------------------------------------------------

    def on_copy_requested(self, event: CopyRequested | CopyTextRequested) -> None:
        """Put what a pane or the transcript shows on the clipboard."""
        self.copy(event.text, getattr(event, "what", "text"))

    def on_retry_requested(self, event: RetryRequested) -> None:
        """Go on with a prompt that failed."""
        self.retry(event.entry, event.without)

    def on_fork_requested(self, event: ForkRequested) -> None:
        """Go on from before a prompt."""
        self.fork(event.entry)

    async def on_action_wanted(self, event: ActionWanted) -> None:
        """Do what an entry offers."""
        await self.run_by_id(event.action)

    def on_compact_requested(self, event: CompactRequested) -> None:
        """Show what compacting would do."""
        self.compact(instruct=event.instruct)

    def on_link_clicked(self, event: LinkClicked) -> None:
        """Ask whether to open an address: it is data from the model."""
        from amplifier_tui.ui.dialogs.open_link import OpenLink

        url = event.url

        def chosen(what: str | None) -> None:
            if what == "open":
                self.open_url(url)
            elif what == "copy":
                self.copy(url, "address")

        self.push_screen(OpenLink(url), chosen)

    def on_inspect_requested(self, event: InspectRequested) -> None:
        """Show an event of the log."""
        if self.state is None or self.client is None:
            return
        found = self.state.log.find(event.seq)
        if found is None:
            self.say("That event has left memory; it is in events.jsonl.")
            return
        from amplifier_tui.ui.dialogs.event_sheet import EventSheet

        sheet = EventSheet(found)
        self.push_screen(sheet)
        if found.size > len(found.data):
            self._load_payload(sheet, event.seq)

    @work(group="payload", exclusive=True)
    async def _load_payload(self, sheet: EventSheet, seq: int) -> None:
        if self.client is None:
            return
        try:
            payload = await asyncio.wrap_future(self.client.payload(seq))
        except Exception as error:
            from amplifier_tui.base.text import one_line

            # Whatever the disk said: the part in memory stays on screen.
            self.say(f"The whole payload cannot be read: {one_line(str(error))}", "warning")
        else:
            sheet.set_payload(payload)
