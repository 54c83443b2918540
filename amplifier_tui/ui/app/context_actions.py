"""The actions about what the model knows: compacting, memories, forks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.ui.app.session_app import AppActions

if TYPE_CHECKING:
    from amplifier_tui.ui.dialogs.compaction import CompactChoice
    from amplifier_tui.ui.state.conversation.entries import UserEntry

_EVERYWHERE = "--everywhere"
_MEMORY_SIZE = 4_000


class ContextActions(AppActions):
    """Adds them to the actions of the app."""

    # --- compaction ------------------------------------------------------------------------

    def action_compact(self, instructions: str = "") -> None:
        """Show what compacting would do, and do it when the user says so."""
        self.compact(instructions, instruct=bool(instructions))

    def compact(self, instructions: str = "", *, instruct: bool = False) -> None:
        """Open the compaction dialog.

        Args:
            instructions: What stands in the line for the summary's instructions.
            instruct: Begin in that line.
        """
        ready = self._in_session()
        if ready is None:
            return
        client, state = ready
        from amplifier_tui.ui.dialogs.compaction import CompactionSheet

        def chosen(choice: CompactChoice | None) -> None:
            if choice is not None and self.link is not None:
                self.link.compact(choice.instructions)

        self.push_screen(
            CompactionSheet(
                client.compaction,
                lambda: state.activity.running,
                instructions=instructions,
                instruct=instruct,
            ),
            chosen,
        )

    # --- memories --------------------------------------------------------------------------

    def action_remember(self, text: str = "") -> None:
        """Store a memory; without a text, ask for it."""
        ready = self._in_session()
        if ready is None:
            return
        client = ready[0]
        first, _, rest = text.strip().partition(" ")
        everywhere = first == _EVERYWHERE
        said = rest.strip() if everywhere else text.strip()

        def written(line: str | None) -> None:
            if line:
                client.remember(line, everywhere=everywhere)

        if said:
            written(said)
            return
        from amplifier_tui.ui.dialogs.ask_line import AskLine

        label = "Remember everywhere" if everywhere else "Remember for this project"
        self.push_screen(AskLine(label, limit=_MEMORY_SIZE), written)

    def action_memories(self) -> None:
        """Show what was remembered."""
        ready = self._in_session()
        if ready is None:
            return
        client = ready[0]
        from amplifier_tui.ui.dialogs.memories import MemoryList

        memories = MemoryList(client.memories, client.forget)

        def chosen(memory_id: str | None) -> None:
            if memory_id is not None:
                self.copy(memories.text_of(memory_id), "memory")

        self.push_screen(memories, chosen)

    def action_forget(self, memory_id: str = "") -> None:
        """Delete a memory by its number; without one, show them."""
        ready = self._in_session()
        if ready is None:
            return
        number = memory_id.strip().removeprefix("#")
        if not number:
            self.action_memories()
        elif number.isdecimal() and number.isascii():
            ready[0].forget(int(number))
        else:
            self.say("A memory is named by its number: /memories shows them.", "warning")

    # --- forks -----------------------------------------------------------------------------

    def action_fork(self) -> None:
        """Copy the conversation into a new session and open that."""
        self.fork(None)

    def fork(self, before: UserEntry | None) -> None:
        """Copy the conversation, or what came before a prompt, into a new session.

        Args:
            before: The prompt, which goes into the draft; None copies all.
        """
        if self._in_session() is not None and self.link is not None:
            self.link.forks.begin(before)
