"""Actions about what the model knows: compacting and memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.ui.app.session_app import in_open_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.dialogs.compaction import CompactChoice
    from amplifier_tui.ui.state.session import SessionState

_EVERYWHERE = "--everywhere"
_MEMORY_SIZE = 4_000


@in_open_session
def compact(
    app: SessionApp,
    client: SessionClient,
    state: SessionState,
    instructions: str = "",
    *,
    instruct: bool = False,
) -> None:
    """Show what compacting would do, and do it when the user says so.

    Args:
        instructions: What stands in the line for the summary's instructions.
        instruct: Begin in that line; so it does where there are instructions.
    """
    from amplifier_tui.ui.dialogs.compaction import CompactionSheet

    def chosen(choice: CompactChoice) -> None:
        if app.link is not None:
            app.link.compact(choice.instructions)

    sheet = CompactionSheet(
        client.compaction,
        lambda: state.activity.running,
        instructions=instructions,
        instruct=instruct or bool(instructions),
    )
    app.ask(sheet, chosen)


@in_open_session
def remember(app: SessionApp, client: SessionClient, state: SessionState, text: str = "") -> None:
    """Store a memory; without a text, ask for it."""
    first, _, rest = text.strip().partition(" ")
    everywhere = first == _EVERYWHERE
    said = rest.strip() if everywhere else text.strip()

    def written(line: str) -> None:
        client.remember(line, everywhere=everywhere)

    if said:
        written(said)
        return
    from amplifier_tui.ui.dialogs.questions import AskLine

    label = "Remember everywhere" if everywhere else "Remember for this project"
    app.ask(AskLine(label, limit=_MEMORY_SIZE), written)


@in_open_session
def memories(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Show what was remembered."""
    from amplifier_tui.ui.dialogs.memories import MemoryList

    memories = MemoryList(client.memories, client.forget)
    app.ask(memories, lambda memory_id: app.copy(memories.text_of(memory_id), "memory"))


@in_open_session
def forget(
    app: SessionApp, client: SessionClient, state: SessionState, memory_id: str = ""
) -> None:
    """Delete a memory by its number; without one, show them."""
    number = memory_id.strip().removeprefix("#")
    if not number:
        memories(app)
    elif number.isdecimal() and number.isascii():
        client.forget(int(number))
    else:
        app.say("A memory is named by its number: /memories shows them.", "warning")
