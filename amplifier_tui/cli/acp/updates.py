"""A session's events as the updates an editor is sent."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

from acp import helpers, schema

from amplifier_tui.base.text import StreamCleaner, clean, one_line, with_remedy
from amplifier_tui.cli.acp.calls import (
    LONGEST,
    Content,
    change_of,
    kind_of,
    places_of,
    text_of,
    title_of,
)
from amplifier_tui.foundation.trust.review import ALLOW_IT
from amplifier_tui.host.events import (
    MAIN_LANE,
    BlockDelta,
    BlockEnded,
    BlockStarted,
    BudgetChanged,
    CommandCard,
    CommandsChanged,
    Failed,
    HostEvent,
    LaneClosed,
    LaneOpened,
    ModeChanged,
    Notice,
    OpeningReported,
    ProviderRetrying,
    SteerApplied,
    TitleChanged,
    TodoChanged,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnStarted,
    UsageChanged,
)

Update = Any
"""One of the classes of `acp.schema` that `session/update` takes."""

OWN_COMMANDS: Final = {
    "compact": (
        "Make the conversation smaller, with a summary where instructions are given",
        "how",
    ),
    "undo": ("Take back the last turn, its words and its changes of files", ""),
    "redo": ("Bring back what was taken back last", ""),
    "rename": ("Give the session a title", "title"),
}
"""What `EditorSession` does by itself: description, and what may follow the name."""
ASKED_ELSEWHERE: Final = "Run `amplifier-tui` in this folder to be asked."
"""What helps where something was refused: an editor asks nothing about trust."""
_LANE_LINES: Final = 20
_RESULTS: Final = 16


class Updates:
    """Makes updates; knows what an editor was sent of a block and of a call.

    Attributes:
        cwd: The session's working directory.
        untrusting: What is refused is told of elsewhere.
    """

    def __init__(self) -> None:
        self.cwd = ""
        self.untrusting = False
        self._kinds: dict[str, str] = {}
        self._sent: dict[str, str] = {}
        self._cleaners: dict[str, StreamCleaner] = {}
        self._lanes: dict[str, tuple[str, str, deque[str]]] = {}
        self._output: dict[str, str] = {}
        self._results: dict[str, list[Content]] = {}
        """What the calls that ended last were shown with: an update replaces it."""
        self._started: set[str] = set()
        self._terminals: dict[str, str] = {}
        self._cost: str | None = None

    def of(self, event: HostEvent) -> list[Update]:
        """Return the updates for one event."""
        if event.agent != MAIN_LANE:
            return self._of_agent(event)
        match event:
            case TurnStarted():
                # Nothing more comes of the blocks of the turn before.
                for known in (self._kinds, self._sent, self._cleaners, self._output):
                    known.clear()
                self._started.clear()
                self._terminals.clear()
                if not event.replayed:
                    return []
                return [helpers.update_user_message_text(clean(event.prompt))]
            case SteerApplied():
                return [helpers.update_user_message_text(clean(event.text))]
            case BlockStarted() | BlockDelta() | BlockEnded():
                return self._of_block(event)
            case ToolStarted() | ToolProgress() | ToolEnded():
                return self._of_call(event)
            case LaneOpened():
                self._lanes[event.lane] = (event.call_id, event.name, deque(maxlen=_LANE_LINES))
            case LaneClosed():
                self._lanes.pop(event.lane, None)
            case TodoChanged():
                return [_plan(event)]
            case ModeChanged():
                return [helpers.update_current_mode(event.mode)]
            case TitleChanged():
                title = one_line(event.title)
                return [schema.SessionInfoUpdate(session_update="session_info_update", title=title)]
            case UsageChanged():
                # A part of what was spent would be taken for all of it.
                self._cost = None if event.session.unpriced_tokens else event.session.cost
            case BudgetChanged() if event.window:
                return [self._usage(event)]
            case CommandsChanged():
                return [commands(event.commands)]
            case OpeningReported():
                return [_aside(text) for text in self._left_out(event)]
            case _:
                return [_aside(text) for text in _said(event)]
        return []

    def _left_out(self, event: OpeningReported) -> list[str]:
        return [
            f"Left out: {one_line(f'{item.what}: {with_remedy(item.why, helps(item.remedy))}')}"
            for item in event.items
            if not (self.untrusting and item.remedy == ALLOW_IT)
        ]

    def terminal(self, call_id: str, terminal_id: str) -> list[Update]:
        """Return the updates that show a terminal in a call; it may not have been told yet."""
        self._terminals[call_id] = terminal_id
        shown = self._terminal_of(call_id)
        return [_progress(call_id, content=shown)] if call_id in self._started else []

    def _terminal_of(self, call_id: str) -> list[Content]:
        terminal_id = self._terminals.get(call_id)
        if terminal_id is None:
            return []
        return [schema.TerminalToolCallContent(type="terminal", terminal_id=terminal_id)]

    def _of_block(self, event: BlockStarted | BlockDelta | BlockEnded) -> list[Update]:
        block = event.block_id
        match event:
            case BlockStarted():
                self._kinds[block] = event.kind
                self._cleaners[block] = StreamCleaner()
                text = ""
            case BlockDelta():
                cleaner = self._cleaners.get(block)
                text = cleaner.feed(event.text) if cleaner is not None else ""
                self._sent[block] = self._sent.get(block, "") + text
            case BlockEnded():
                self._kinds[block] = event.kind
                self._cleaners.pop(block, None)
                sent, whole = self._sent.get(block, ""), clean(event.text)
                # What was sent stays with the editor; only what is missing can follow.
                missing = not event.discarded and whole.startswith(sent)
                text = whole[len(sent) :] if missing else ""
                self._sent[block] = sent + text
        kind = self._kinds.get(block)
        if not text or kind not in ("text", "thinking"):
            return []
        chunk = (
            helpers.update_agent_message_text(text)
            if kind == "text"
            else helpers.update_agent_thought_text(text)
        )
        chunk.message_id = block
        return [chunk]

    def _of_call(self, event: ToolStarted | ToolProgress | ToolEnded) -> list[Update]:
        match event:
            case ToolStarted():
                self._started.add(event.call_id)
                return [
                    schema.ToolCallStart(
                        session_update="tool_call",
                        tool_call_id=event.call_id,
                        title=title_of(event.tool, event.arguments),
                        kind=kind_of(event.tool),
                        status="in_progress",
                        content=[
                            *change_of(event.tool, event.arguments, self.cwd),
                            *self._terminal_of(event.call_id),
                        ],
                        locations=places_of(event.tool, event.arguments, self.cwd),
                        raw_input=event.arguments,
                    )
                ]
            case ToolProgress():
                output = (self._output.get(event.call_id, "") + event.text)[-LONGEST:]
                self._output[event.call_id] = output
                return [_progress(event.call_id, content=text_of(output, code=True))]
        self._output.pop(event.call_id, None)
        self._results.pop(event.call_id, None)
        update = _progress(event.call_id, status="completed" if event.ok else "failed")
        terminal = self._terminal_of(event.call_id)
        # Some models give a later call the same id.
        self._terminals.pop(event.call_id, None)
        self._started.discard(event.call_id)
        if not event.ok:
            update.content = [*terminal, *text_of(event.error or event.output)]
        elif kind_of(event.tool) != "edit" and not terminal:
            update.content = text_of(event.output, code=kind_of(event.tool) == "execute")
        self._results[event.call_id] = update.content or []
        if len(self._results) > _RESULTS:
            del self._results[next(iter(self._results))]
        return [update]

    def result_of(self, call_id: str) -> Sequence[Content]:
        """Return what a call that ended lately was shown with."""
        return tuple(self._results.get(call_id, ()))

    def _of_agent(self, event: HostEvent) -> list[Update]:
        """Show what a sub-agent does in the call that asked for it."""
        if isinstance(event, LaneOpened):
            parent = self._lanes.get(event.parent)
            if parent is not None:
                self._lanes[event.lane] = (parent[0], event.name, parent[2])
        call, name, lines = self._lanes.get(event.agent, ("", "", deque[str]()))
        match event:
            case ToolStarted() if call:
                lines.append(f"{name}: {title_of(event.tool, event.arguments)}")
            case Notice(level="warning" | "error") if call:
                lines.append(f"{name}: {one_line(event.text)}")
            case _:
                return []
        return [_progress(call, content=text_of("\n".join(lines)))]

    def _usage(self, event: BudgetChanged) -> Update:
        cost = self._cost
        return schema.UsageUpdate(
            session_update="usage_update",
            used=event.total,
            size=event.window,
            cost=schema.Cost(amount=float(cost), currency="USD") if cost else None,
        )


def with_images(
    call_id: str, result: Sequence[Content], blocks: Sequence[schema.ImageContentBlock]
) -> list[Update]:
    """Return the updates that show images, with the result of their call; else with the prompt."""
    if not call_id:
        return [helpers.update_user_message(block) for block in blocks]
    shown = [*result, *map(helpers.tool_content, blocks)]
    return [_progress(call_id, content=shown)] if blocks else []


def helps(remedy: str) -> str:
    """Return what the user of an editor can do: it has no `/trust`."""
    return remedy.replace(ALLOW_IT, f"{ASKED_ELSEWHERE} There, /trust asks again.")


def commands(cards: Iterable[CommandCard]) -> Update:
    """Return the update with the commands a prompt may begin with."""
    found = [_command(name, *about) for name, about in OWN_COMMANDS.items()]
    names = set(OWN_COMMANDS)
    for card in cards:
        name = f"{card.group}:{card.name}" if card.name in names else card.name
        if name not in names:
            names.add(name)
            found.append(_command(name, card.description, card.takes))
    return helpers.update_available_commands(found)


def _command(name: str, description: str, takes: str) -> schema.AvailableCommand:
    hint = schema.UnstructuredCommandInput(hint=one_line(takes))
    return schema.AvailableCommand(
        name=name,
        description=one_line(description) or name,
        input=schema.AvailableCommandInput(root=hint) if takes else None,
    )


def _plan(event: TodoChanged) -> Update:
    entries = [
        schema.PlanEntry(content=one_line(item.content), priority="medium", status=item.status)
        for item in event.items
    ]
    return schema.AgentPlanUpdate(session_update="plan", entries=entries)


def _progress(call_id: str, **fields: Any) -> schema.ToolCallProgress:
    return schema.ToolCallProgress(
        session_update="tool_call_update", tool_call_id=call_id, **fields
    )


def _aside(text: str) -> Update:
    return helpers.update_agent_thought_text(f"{text}\n\n")


def _said(event: HostEvent) -> list[str]:
    """Return, in lines, what the user should know beside the conversation."""
    match event:
        case Notice(level="warning" | "error"):
            # The path that it may end with is read whole.
            return [f"{event.level}: {one_line(event.text, 1_000)}"]
        case ProviderRetrying():
            return [f"{one_line(event.problem)}. Trying again in {event.delay:.0f} s"]
        case Failed(replayed=True):
            return [one_line(with_remedy(event.message, event.remedy))]
    return []
