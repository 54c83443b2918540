"""Whether an orchestrator does what hooks say about its tool calls: it is run to see that."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import field
from functools import partial
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel import events
from amplifier_tui.kernel.message_models import ChatResponse, TextBlock, ToolCall, Usage
from amplifier_tui.kernel.models import HookResult, ProviderInfo, ToolResult
from amplifier_tui.kernel.mounting.callbacks import missing_keywords
from amplifier_tui.kernel.mounting.contents import checked_answer, place_of
from amplifier_tui.kernel.mounting.errors import WrongAnswerError, named_text, place_of_error
from amplifier_tui.kernel.mounting.trial import TrialCoordinator
from amplifier_tui.kernel.validation.base import Severity, ValidationResult
from amplifier_tui.kernel.validation.trials import SECONDS, within

_TOOL: Final = "trial_tool"
_GIVEN: Final = {"text": "as the model wrote it"}
_CHANGED: Final = {"text": "as a hook changed it"}
_PROMPT: Final = "Call the tool."
_LAST: Final = "Done."
"""What the model says last."""
_ADD: Final = "Write: await context.add_message("

_NEEDED: Final = {
    events.EXECUTION_START: ("prompt", "hooks that wait for a turn to begin are not called"),
    events.PROVIDER_REQUEST: ("provider", "no hook can deny a request, or add to it"),
    events.PROVIDER_RESPONSE: ("provider, response, usage", "no tokens are counted"),
    events.TOOL_POST: (
        "tool_name, tool_call_id, tool_input, tool_result",
        "hooks on results are not called",
    ),
    events.CONTENT_BLOCK_START: ("block_type, block_index", "hooks on it are not called"),
    events.CONTENT_BLOCK_END: ("block_index, block", "what is said before a call is not shown"),
    events.ORCHESTRATOR_COMPLETE: (
        "orchestrator, turn_count, status",
        "hooks that wait for it, such as one that names the session, are not called",
    ),
    events.EXECUTION_END: ("response, status", "hooks that wait for a turn to end are not called"),
}
"""What a loop emits: the fields, and what comes of it where it does not."""

Handler = Callable[[str, dict[str, Any]], Awaitable[HookResult]]


@dataclass
class _Trial:
    """One run: the model calls a tool once, a hook has its say, a person denies what is asked.

    With `talks` the model calls nothing.
    """

    talks: bool = False

    executed: list[dict[str, Any]] = field(default_factory=list)
    asked: int = 0
    requests: int = 0
    messages: list[dict[str, Any]] = field(default_factory=list)
    answer: Any = None
    seen: set[str] = field(default_factory=set)

    # The provider.
    name: str = "trial"

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id=self.name, display_name=self.name)

    async def list_models(self) -> list[Any]:
        return []

    async def complete(self, request: Any, **kwargs: Any) -> ChatResponse:
        self.requests += 1
        # A model answers later: a loop without an end can be stopped meanwhile.
        await asyncio.sleep(0)
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
        if self.requests > 1 or self.talks:
            text = TextBlock(text=_LAST)
            return ChatResponse(content=[text], usage=usage, finish_reason="stop")
        call = ToolCall(id="call-1", name=_TOOL, arguments=dict(_GIVEN))
        return ChatResponse(content=[], tool_calls=[call], usage=usage, finish_reason="tool_calls")

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return response.tool_calls or []

    # The tool.
    @property
    def tool(self) -> "_TrialTool":
        return _TrialTool(self)

    # The context.
    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def get_messages(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        return list(self.messages)

    get_messages_for_request = get_messages

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages[:] = messages

    async def clear(self) -> None:
        self.messages.clear()

    def has(self, role: str, text: str) -> bool:
        rows = (row for row in self.messages if row.get("role") == role)
        return any(text in str(row.get("content")) for row in rows)

    # Who is asked.
    async def request_approval(self, *args: Any, **kwargs: Any) -> str:
        self.asked += 1
        return "Deny"


@dataclass
class _TrialTool:
    trial: _Trial
    name: str = _TOOL
    description: str = "Does nothing, for a trial."
    input_schema: dict[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {"text": {"type": "string"}}}
    )

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.trial.executed.append(dict(input))
        return ToolResult(output="done")


async def check_obedience(
    result: ValidationResult, orchestrator: Any, coordinator: TrialCoordinator
) -> None:
    """Add what it does with answers of hooks (``hooks_...``) and whether it keeps the model's.

    And ``orchestrator_answer`` where what it returns is wrong, ``orchestrator_prompt`` where it
    keeps no prompt.

    Args:
        result: Gets the checks.
        orchestrator: As it was mounted.
        coordinator: Where it was mounted.
    """
    free = await _run(result, orchestrator, coordinator, None)
    if free is None:
        return
    try:
        checked_answer(orchestrator, free.answer)
    except WrongAnswerError as error:
        remedy = "Return what the model said last, empty where it said nothing"
        result.fail("orchestrator_answer", f"Orchestrator.{error}", remedy, where=error.place)
    where = place_of(orchestrator.execute)
    _check_events(result, free, where)
    if free.requests and not free.has("user", _PROMPT):
        problem = "It does not add the prompt to the context: the model never reads it"
        remedy = f'{_ADD}{{"role": "user", "content": prompt}}), before the first request'
        result.fail("orchestrator_prompt", problem, remedy, "warning", where)
    if free.requests > 1:
        _check_context(result, free, where)
    if not free.executed:
        # A loop that only talks is asked once, and then there were no words to keep.
        talk = await _run(result, orchestrator, coordinator, None, talks=True)
        if talk is not None and free.requests == talk.requests == 1:
            _check_context(result, talk, where)
        found = "The orchestrator called no tool, so what hooks say of calls could not be tried"
        result.succeed("hooks_deny", found, "warning")
        return

    say = partial(_say, result, where=where)

    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="for a trial")

    async def ask(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="ask_user", approval_prompt="May it?")

    async def modify(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": dict(_CHANGED)})

    trial = await _run(result, orchestrator, coordinator, deny)
    if trial is not None:
        say(
            "hooks_deny",
            "" if not trial.executed else "It runs a tool although a hook denied the call",
            'Look at the result of hooks.emit("tool:pre", ...); "deny" means: do not execute',
        )
    trial = await _run(result, orchestrator, coordinator, ask)
    if trial is not None:
        problem = "It runs a tool although the user denied the call" if trial.executed else ""
        if not trial.asked:
            problem = 'It does not ask the user when a hook answers "ask_user"'
        say(
            "hooks_ask",
            problem,
            "Pass the result to coordinator.process_hook_result(), and go by what that returns",
        )
    trial = await _run(result, orchestrator, coordinator, modify)
    if trial is not None:
        changed = all(given.items() >= _CHANGED.items() for given in trial.executed)
        say(
            "hooks_modify",
            "" if changed else "It runs a tool with other arguments than a hook changed them to",
            'Execute the tool with result.data["tool_input"]',
        )

    async def modify_result(event: str, data: dict[str, Any]) -> HookResult:
        changed = {"success": True, "output": _CHANGED["text"]}
        return HookResult(action="modify", data={**data, "tool_result": changed, "result": changed})

    trial = await _run(result, orchestrator, coordinator, modify_result, events.TOOL_POST)
    if trial is not None and events.TOOL_POST in trial.seen:
        given = any(_CHANGED["text"] in str(row) for row in trial.messages)
        problem = "" if given else "The model gets another result than a hook changed it to"
        remedy = 'Add what result.data["tool_result"] of hooks.emit("tool:post", ...) says'
        if not any(row.get("role") == "tool" for row in trial.messages) and not given:
            problem = "It adds no row for the result of a call: the model never reads it"
            remedy = 'Add {"role": "tool", "tool_call_id": ..., "content": ...} to the context'
        say(
            "hooks_modify_result",
            problem,
            remedy,
            "warning",
        )
    trial = await _run(result, orchestrator, coordinator, deny, events.PROVIDER_REQUEST)
    if trial is not None and events.PROVIDER_REQUEST in trial.seen:
        say(
            "hooks_deny_request",
            "It asks the model although a hook denied the request" if trial.requests else "",
            'Look at the result of hooks.emit("provider:request", ...) before the request',
            "warning",
        )


def _check_events(result: ValidationResult, trial: _Trial, where: str) -> None:
    """Add ``orchestrator_events``: whether it says what it does, for hooks and the screen."""
    name = "orchestrator_events"
    needless = set() if trial.executed else {events.TOOL_POST}
    if not trial.requests:
        needless = _NEEDED.keys() - {events.EXECUTION_START, events.EXECUTION_END}
    missing = _NEEDED.keys() - needless - trial.seen
    for event, (fields, lost) in _NEEDED.items():
        if event in missing:
            remedy = f'Write: await hooks.emit("{event}", ...), with {fields}'
            result.fail(name, f"It never emits {event}: {lost}", remedy, "warning", where)
    if not missing:
        result.succeed(name, "It emits the events of a turn")


def _check_context(result: ValidationResult, trial: _Trial, where: str) -> None:
    """Add ``orchestrator_context``: whether the context was given what the model said last."""
    name = "orchestrator_context"
    if trial.has("assistant", _LAST):
        result.succeed(name, "It adds the model's answers to the context")
        return
    problem = "It adds no answer of the model to the context: the next turn knows nothing of it"
    remedy = f'{_ADD}{{"role": "assistant", "content": ...}})'
    result.fail(name, problem, remedy, "warning", where)


def _say(
    result: ValidationResult,
    name: str,
    problem: str,
    remedy: str,
    severity: Severity = "error",
    *,
    where: str,
) -> None:
    if problem:
        result.fail(name, problem, remedy, severity, where)
    else:
        what = name.removeprefix("hooks_").replace("_", " of a ")
        result.succeed(name, f"It does what hooks say: {what}")


async def _run(
    result: ValidationResult,
    orchestrator: Any,
    coordinator: TrialCoordinator,
    handler: Any,
    event: str = events.TOOL_PRE,
    *,
    talks: bool = False,
) -> _Trial | None:
    trial = _Trial(talks)
    coordinator.approval_system = trial
    coordinator.mount_points["context"] = trial
    tools, providers = {_TOOL: trial.tool}, {trial.name: trial}
    coordinator.mount_points["tools"] = tools
    coordinator.mount_points["providers"] = providers
    stop = None
    unheard = coordinator.hooks.observe(lambda trace: trial.seen.add(trace.event))
    if handler is not None:
        stop = coordinator.hooks.register(event, handler, name="trial")
    takes_it = not missing_keywords(orchestrator.execute, ("coordinator",))
    extra = {"coordinator": coordinator} if takes_it else {}
    try:
        execution = orchestrator.execute(
            prompt=_PROMPT,
            context=trial,
            providers=providers,
            tools=tools,
            hooks=coordinator.hooks,
            **extra,
        )
        trial.answer = await within(execution, SECONDS)
    except TimeoutError:
        problem = f"Orchestrator.execute() did not end within {SECONDS:g} s"
        remedy = "End the turn where the model calls no tool, and after max_iterations requests"
        result.fail("orchestrator_answer", problem, remedy, where=place_of(orchestrator.execute))
        return None
    except Exception as error:
        result.fail(
            "hooks_deny",
            f"It could not be run to see whether it does what hooks say: {named_text(error)}",
            "Correct that line; the model of the trial calls a tool, and then answers with a text",
            "warning",
            place_of_error(error),
        )
        return None
    finally:
        unheard()
        if stop is not None:
            stop()
    return trial
