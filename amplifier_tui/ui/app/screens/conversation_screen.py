"""A screen with a conversation on it, which is scrolled while the prompt has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.ui.terminal.textual_costs import SettledScreen

if TYPE_CHECKING:
    from amplifier_tui.ui.transcript.agent_view import AgentView
    from amplifier_tui.ui.transcript.entries.scene import WayTo
    from amplifier_tui.ui.transcript.find_bar import FindBar
    from amplifier_tui.ui.transcript.searched_view import SearchedView
    from amplifier_tui.ui.transcript.view import TranscriptView


class ConversationScreen(SettledScreen[None]):
    """Knows which conversation is on screen, once there is one."""

    transcript: TranscriptView | None = None
    agent_view: AgentView | None = None
    """The conversation of an agent, while it is in the place of the main one."""

    find_bar: FindBar | None = None
    """The line in which one writes what to find, while it is open."""

    @property
    def conversation(self) -> TranscriptView | None:
        """The conversation on screen: the main one, or an agent's."""
        return self.agent_view.transcript if self.agent_view is not None else self.transcript

    def open_find(self, words: str, keys: WayTo) -> None:
        """Ask what to find in the conversation on screen, or look for other words in it."""
        from amplifier_tui.ui.transcript.find_bar import FindBar

        if self.find_bar is not None:
            self.find_bar.begin(words)
        elif self.conversation is not None:
            self.find_bar = FindBar(self.conversation, words, keys)
            self.query_one("#stage").mount(self.find_bar)

    def close_find(self) -> bool:
        """End the search; False when there is none."""
        if self.find_bar is None:
            return False
        self.find_bar.end()
        self.find_bar = None
        return True

    def on_searched_view_found(self, event: SearchedView.Found) -> None:
        """Say how much was found."""
        if self.find_bar is not None and self.find_bar.is_mounted:
            self.find_bar.show_place(event.place)

    def action_page_up(self) -> None:
        """Scroll the conversation up by a page."""
        if self.conversation is not None:
            self.conversation.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll the conversation down by a page."""
        if self.conversation is not None:
            self.conversation.scroll_page_down(animate=False)

    def action_bottom(self) -> None:
        """Scroll to the newest message and follow what comes."""
        if self.conversation is not None:
            self.conversation.stop_pointing()
            self.conversation.follow = True
            self.conversation.scroll_end(animate=False)

    def action_expand(self) -> None:
        """Expand the details of all tool calls, or collapse them."""
        if self.conversation is not None:
            self.conversation.toggle_all()
