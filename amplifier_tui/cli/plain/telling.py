"""What happens in a session, said in lines: answers, tool calls, sub-agents, notices."""

import json
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from amplifier_tui.base.messages.sub_sessions import exit_words
from amplifier_tui.base.text import one_line, reveal, with_remedy
from amplifier_tui.cli.plain.lines import StreamedAnswer
from amplifier_tui.cli.waiting_modules import WaitingModules
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    BlockDelta,
    BlockEnded,
    BlockStarted,
    Compacted,
    HostEvent,
    ImagesAdded,
    LaneClosed,
    LaneOpened,
    Notice,
    OpeningReported,
    QuestionsAsked,
    QuestionsResolved,
    SessionHeld,
    ShellEnded,
    ShellProgress,
    TerminalWanted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.images.showing import image_line

STOPPING: Final = "Stopping after this step. The same again stops at once."
_LONG: Final = 3.0
"""Seconds after which it is said that a tool runs."""
_LONGEST: Final = 1_000
_HEADS: Final = {"warning": "Warning: ", "error": "Error: "}
_SUBJECTS: Final = ("command", "file_path", "path", "pattern", "query", "url", "task", "agent")


class EventTeller:
    """Says what happens, each thing once.

    Args:
        say: Writes a line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._answers: dict[str, StreamedAnswer] = {}
        self._commands: dict[str, StreamedAnswer] = {}
        self._tools: dict[str, tuple[ToolStarted, float]] = {}
        self._mounting = WaitingModules()
        self._asked: set[str] = set()
        """The questions that wait for an answer."""
        self._agents: dict[str, str] = {}
        self._retold: dict[str, str] = {}
        self.refused = False
        """Whether nothing of others counts as nobody can be asked, which is said already."""

    def tell(self, event: HostEvent) -> None:
        """Say what an event tells; most tell nothing."""
        if words := self._mounting.see(event):
            self._say(f"{words}.")
        match event:
            case Notice():
                source = event.source.removeprefix("hook:")
                said = f"{_HEADS.get(event.level, '')}{one_line(event.text, _LONGEST)}"
                self._say(f"{said} ({source})" if source else said)
            case OpeningReported():
                for item in event.items:
                    if not (self.refused and item.kind == "refused"):
                        said = f"{item.kind}: {item.what}: {with_remedy(item.why, item.remedy)}"
                        self._say(one_line(reveal(said), _LONGEST))
            case Compacted():
                self._say("The conversation was compacted.")
            case LaneOpened():
                self._agents[event.lane] = one_line(event.name, 60)
                name = self._agents[event.lane]
                self._say(f"Agent {name} works: {one_line(event.instruction, 200)}")
            case LaneClosed():
                self._say(f"Agent {self._agents.get(event.lane, '')} has ended: {event.status}.")
            case BlockStarted() | BlockDelta() | BlockEnded() if event.agent == MAIN_LANE:
                self._stream(event)
            case ToolStarted():
                self._tools[event.call_id] = (event, monotonic())
            case ApprovalRequested() | QuestionsAsked():
                self._asked.add(event.request_id)
            case ApprovalResolved() | QuestionsResolved():
                self._asked.discard(event.request_id)
                # A call that was asked about has not run so far.
                now = monotonic()
                self._tools = {
                    key: (call, max(since, now)) for key, (call, since) in self._tools.items()
                }
            case ToolEnded():
                self._tool_ended(event)
            case ShellProgress():
                answer = self._commands.setdefault(event.command_id, StreamedAnswer(self._quote))
                answer.more(event.text)
            case ShellEnded():
                self._shell_ended(event)
            case TerminalWanted():
                command = one_line(event.command, 200)
                self._say(f"{command}: it needs a terminal of its own; it was not run.")
            case ImagesAdded():
                if event.files:
                    self._say(f"with {one_line(', '.join(event.files), 200)}")
                for card in event.images:
                    self._say(image_line(card))
            case TurnEnded():
                self._answers.clear()
                self._tools.clear()
                self._asked.clear()

    def say_what_takes_long(self) -> None:
        """Say, once, what is mounted or runs for some time."""
        for words in self._mounting.late():
            self._say(f"{words}.")
        if self._asked:
            # Also one that was answered just now: its call runs once that has arrived.
            return
        now = monotonic()
        for key, (call, since) in self._tools.items():
            if now - since >= _LONG:
                self._say(f"{self._named(call)}: still runs")
                self._tools[key] = (call, float("inf"))

    def keep(self, event: HostEvent) -> None:
        """Keep the last prompt and answer of what is retold of a stored session."""
        if isinstance(event, TurnStarted):
            self._retold = {"You wrote": event.prompt}
        elif isinstance(event, BlockEnded) and event.kind == "text" and event.agent == MAIN_LANE:
            self._retold["The answer was"] = event.text

    def forget(self) -> None:
        """Say nothing of what was kept: its session does not open."""
        self._retold = {}

    def retell(self) -> None:
        """Say what was kept."""
        for head, text in self._retold.items():
            self._say(f"{head}: {text}")
        self._retold = {}

    def _stream(self, event: BlockStarted | BlockDelta | BlockEnded) -> None:
        key = event.block_id
        if isinstance(event, BlockDelta):
            if key in self._answers:
                self._answers[key].more(event.text)
        elif event.kind != "text":
            return
        elif isinstance(event, BlockStarted):
            self._answers[key] = StreamedAnswer(self._say)
        elif not event.discarded:
            self._answers.setdefault(key, StreamedAnswer(self._say)).end(event.text)
        elif self._answers.pop(key, None) is not None:
            self._say("The answer was cut off and begins again.")

    def _quote(self, line: str) -> None:
        self._say(f"| {line}")

    def _shell_ended(self, event: ShellEnded) -> None:
        printed = self._commands.pop(event.command_id, None)
        if printed is not None:
            # The whole may have its middle left out; what streamed was said.
            printed.finish()
        else:
            for line in event.output.splitlines():
                self._quote(line)
        state = "stopped" if event.stopped else exit_words(event.exit_code)
        self._say(f"Command {one_line(event.command, 200)}: {one_line(event.error) or state}")

    def _tool_ended(self, event: ToolEnded) -> None:
        if event.ok:
            state = event.summary or "done"
        elif event.denied:
            state = f"refused: {event.error}"
        else:
            state = "stopped" if event.interrupted else f"failed: {event.error}"
        started, _ = self._tools.pop(event.call_id, (None, 0.0))
        what = self._named(started) if started is not None else f"Tool {event.tool}"
        self._say(one_line(f"{what}: {state}", 400))

    def _named(self, call: ToolStarted) -> str:
        agent = self._agents.get(call.agent, "")
        kind = f"{agent}, tool" if agent else "Tool"
        return f"{kind} {one_line(call.tool, 100)} {_subject(call.arguments)}".rstrip()


def held_words(event: SessionHeld) -> str:
    """Return what is said of a session that another window has."""
    owner = f" (process {event.owner})" if event.owner else ""
    where = "has let the session go." if event.free else f"has the session open{owner}."
    close = "" if event.free else "Close it there, then "
    return f"Another window {where} {close}/resume {event.session_id} opens it here."


def _subject(arguments: dict[str, Any]) -> str:
    """Return what a call is about, in a few words."""
    asked = arguments.get("questions")
    if isinstance(asked, list) and all(isinstance(each, dict) for each in asked):
        return one_line(" · ".join(str(each.get("question") or "") for each in asked), 120)
    first = next((arguments[name] for name in _SUBJECTS if arguments.get(name)), arguments)
    text = first if isinstance(first, str) else json.dumps(first, ensure_ascii=False, default=str)
    return one_line(text, 120) if first else ""
