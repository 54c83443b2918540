"""What the agent answers to a request: a script, followed from the conversation alone."""

import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import shortened
from amplifier_tui.kernel.message_models import ChatRequest, Message, TextBlock
from amplifier_tui.modules.provider_mock.script import (
    AgentScript,
    Branch,
    CallOutcome,
    Failure,
    OutputCondition,
    Scenario,
    ScriptStep,
)

_DENIED: Final = re.compile(
    r"^\s*(?:denied by hook:\s*)?"
    r"(?:user denied:\s*|approval timeout\b|hooks-approval:|plan mode:|the rule \S+ denies)",
    re.I,
)
_PREFIX: Final = re.compile(r"^\s*(?:denied by hook:\s*)?(?:user denied:\s*)?", re.I)
_QUESTION: Final = re.compile(r"^\w+ wants to ")
"""Without a reason of the user's, a denial repeats the question."""

_GAP: Final = re.compile(r"\{\{(prompt|turn|n|output(?::\d+)?|tail|reason|file)\}\}")
_LONGEST: Final = 2_000
_TAIL_LINES: Final = 6
_NOTHING: Final = (
    "My script has no scenario for this turn. Add one without `when` to the end of it, or start a "
    "new session."
)


@dataclass(frozen=True)
class CallResult:
    """What a tool answered."""

    text: str
    outcome: CallOutcome

    @property
    def reason(self) -> str:
        """Why it was denied, as the answer says it."""
        first = self.text.strip().partition("\n")[0]
        # The loop ends it as a sentence; it is quoted within one here.
        reason = _PREFIX.sub("", first).strip().removesuffix(".")
        return "no reason given" if not reason or _QUESTION.match(reason) else reason


@dataclass
class Seen:
    """A conversation, as far as it matters to a script.

    Attributes:
        turn: How often the user spoke.
        prompt: What they said last.
        before: What they said the time before.
        rounds: The results of each answer with tool calls since then.
        tools: Names of the tools on offer.
    """

    turn: int = 0
    prompt: str = ""
    before: str = ""
    rounds: list[list[CallResult]] = field(default_factory=list)
    tools: frozenset[str] = frozenset()


def look_at(request: ChatRequest) -> Seen:
    """Read a request."""
    seen = Seen(tools=frozenset(tool.name for tool in request.tools or ()))
    own = [i for i, m in enumerate(request.messages) if m.role == "user" and _is_users_own(m)]
    if own:
        seen.turn = len(own)
        texts = [text_of(request.messages[index].content) for index in own[-2:]]
        seen.prompt, seen.before = texts[-1], texts[0] if len(texts) > 1 else ""
    for message in request.messages[own[-1] if own else 0 :]:
        if message.role == "assistant" and _has_calls(message):
            seen.rounds.append([])
        elif message.role == "tool" and seen.rounds:
            seen.rounds[-1].append(_result(message))
    return seen


def text_of(content: str | Sequence[Any]) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))


def _is_users_own(message: Message) -> bool:
    metadata = message.metadata or {}
    return not metadata.get("source") and not metadata.get("ephemeral")


def _has_calls(message: Message) -> bool:
    if (message.model_extra or {}).get("tool_calls"):
        return True
    return not isinstance(message.content, str) and any(
        block.type == "tool_call" for block in message.content
    )


def _result(message: Message) -> CallResult:
    metadata = message.metadata or {}
    text = text_of(message.content)
    if metadata.get("denied") or _DENIED.match(text):
        return CallResult(text, "denied")
    return CallResult(text, "failed" if metadata.get("is_error") else "ok")


@dataclass(frozen=True)
class ScriptedAnswer:
    """One answer, ready to be streamed.

    Attributes:
        thinking: What the model thinks.
        text: What it says.
        calls: Tools and their arguments; a text stands for arguments that are not JSON.
        delay: Seconds before the first word.
        error: What to fail with after the words.
    """

    thinking: str = ""
    text: str = ""
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    delay: float = 0.0
    error: Failure | None = None


def answer(script: AgentScript, seen: Seen) -> ScriptedAnswer:
    """Return the answer to a conversation."""
    scenario = script.scenario(seen.turn, seen.prompt, seen.tools, seen.before)
    if scenario is None:
        return ScriptedAnswer(text=_NOTHING)
    step = _current_step(scenario, seen.rounds)
    filler = Filler(seen)
    return ScriptedAnswer(
        thinking=filler.text(step.thinking).strip(),
        text="".join(filler.text(step.say, n) for n in range(1, step.repeat + 1)).rstrip(),
        calls=tuple((call.tool, filler.data(call.input)) for call in step.calls),
        delay=step.delay,
        error=step.error,
    )


def _current_step(scenario: Scenario, rounds: Sequence[Sequence[CallResult]]) -> ScriptStep:
    step = scenario.first
    for results in rounds:
        if not step.calls:
            break  # The calls are those of another script, or of another model.
        step = scenario.steps[_following(step.branches, results)]
    return step


def _following(branches: Sequence[Branch], results: Sequence[CallResult]) -> str:
    reached = _outcome(results)
    for branch in branches:
        match branch.condition:
            case None:
                return branch.go
            case OutputCondition(output=wanted):
                if any(wanted.search(result.text) for result in results):
                    return branch.go
            case outcome if outcome == reached:
                return branch.go
    return branches[-1].go


def _outcome(results: Sequence[CallResult]) -> CallOutcome:
    outcomes = [result.outcome for result in results]
    if "denied" in outcomes:
        return "denied"
    return "failed" if "failed" in outcomes else "ok"


class Filler:
    """Fills in what is known at one step."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._results: Sequence[CallResult] = seen.rounds[-1] if seen.rounds else ()

    def text(self, text: str, n: int = 1) -> str:
        """Return a text with its gaps filled; what is no gap stays as it is."""
        return _GAP.sub(lambda gap: self._value(gap.group(1), n), text)

    def data(self, value: Any) -> Any:
        """Return arguments with the gaps of their texts filled."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.data(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.data(item) for item in value]
        return value

    def _value(self, name: str, n: int) -> str:
        match name:
            case "prompt":
                return shortened(" ".join(self._seen.prompt.split()), 120)
            case "turn":
                return str(self._seen.turn)
            case "n":
                return str(n)
            case "tail":
                return "\n".join(self._output(-1).rstrip().splitlines()[-_TAIL_LINES:])
            case "reason":
                denied = (result for result in self._results if result.outcome == "denied")
                found = next(denied, None)
                return shortened(found.reason, 200) if found is not None else "no reason given"
            case "file":
                return _first_file(self._output(0))
        place = int(name.partition(":")[2] or 1) - 1
        return shortened(self._output(place), _LONGEST)

    def _output(self, place: int) -> str:
        try:
            return self._results[place].text
        except IndexError:
            return ""


def _first_file(listing: str) -> str:
    """The first entry of a folder's listing that is a file."""
    for line in listing.splitlines():
        name, gap, size = line.rpartition("  ")
        if gap and size.endswith("bytes"):
            return name
    return "README.md"
