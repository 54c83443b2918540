"""The user's own commands as conversation entries, and the agent's that a resume found ended."""

from amplifier_tui.base.messages.sub_sessions import exit_words
from amplifier_tui.base.text import one_line
from amplifier_tui.host import events
from amplifier_tui.ui.state.conversation.entries import EntryList, NoteEntry, ShellEntry, ToolState
from amplifier_tui.ui.state.conversation.tool_lines import OUTPUT_LIMIT
from amplifier_tui.ui.state.section import Handlers, assign, on


class ShellLines(Handlers):
    """Keeps one `ShellEntry` per command."""

    def __init__(self, entries: EntryList) -> None:
        self._entries = entries
        self._commands: dict[str, ShellEntry] = {}
        self._told_of: set[str] = set()
        """Jobs of the agent's whose end the conversation tells."""

    @on(events.ShellStarted)
    def _started(self, event: events.ShellStarted) -> None:
        if event.command_id not in self._commands:
            self._add(event)

    @on(events.ShellProgress)
    def _printed(self, event: events.ShellProgress) -> None:
        entry = self._commands.get(event.command_id)
        if entry is not None and entry.state == "running":
            entry.output_size += len(event.text)
            entry.output = (entry.output + event.text)[-OUTPUT_LIMIT:]
            self._entries.update(entry)

    @on(events.ShellEnded)
    def _ended(self, event: events.ShellEnded) -> None:
        entry = self._commands.get(event.command_id) or self._add(event)
        self._tell(
            entry,
            state=_state(event),
            output=event.output,
            # Whatever the middle was left out of says so itself; bytes are no characters.
            output_size=len(event.output),
            error=one_line(event.error),
            summary=_summary(event),
            duration_ms=event.duration_ms,
        )

    @on(events.ShellWaiting)
    def _waiting(self, event: events.ShellWaiting) -> None:
        for command_id, entry in self._commands.items():
            self._tell(entry, waits=command_id in event.command_ids)

    @on(events.Notice, main=True)
    def _ended_before(self, event: events.Notice) -> None:
        if event.source == "jobs":
            self._told_of.add(event.text.partition(" ")[0])

    @on(events.JobChanged, live=True, main=True)
    def _found_ended(self, event: events.JobChanged) -> None:
        name = one_line(event.job_id, 12)
        # The model, and with it the module, may not have heard what the user was told.
        if event.earlier and name not in self._told_of:
            text = f"{name} {one_line(event.state, 40)}: {one_line(event.command, 200)}"
            self._entries.add(NoteEntry(key="note", text=text, level="warning"))

    def settle(self) -> None:
        """Mark what will not end any more as stopped."""
        for entry in self._commands.values():
            if entry.state == "running":
                self._tell(entry, state="interrupted")

    def _add(self, event: events.ShellStarted | events.ShellEnded) -> ShellEntry:
        entry = self._commands[event.command_id] = ShellEntry(
            key=f"shell:{event.command_id}",
            tool="!" if event.told else "!!",
            told=event.told,
            arguments={"command": event.command},
            started=event.at,
        )
        self._entries.add(entry)
        return entry

    def _tell(self, entry: ShellEntry, **values: object) -> None:
        if assign(entry, **values):
            self._entries.update(entry)


def _state(event: events.ShellEnded) -> ToolState:
    if event.stopped:
        return "interrupted"
    return "failed" if event.error or event.exit_code else "ok"


def _summary(event: events.ShellEnded) -> str:
    words = []
    if event.in_terminal:
        words.append("in the terminal")
    if event.exit_code and not event.stopped:
        words.append(exit_words(event.exit_code))
    if event.left_running:
        words.append("goes on in the background")
    return " · ".join(words)
