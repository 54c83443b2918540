"""The only place that turns the kernel's events into those a screen understands.

One observer per hook registry sees every emit: the event, its data, what each handler answered.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.host.events import (
    MAIN_LANE,
    Compacted,
    HandlerHolds,
    ProviderRetrying,
    SteerApplied,
    TodoChanged,
    TurnStatus,
    UsageChanged,
)
from amplifier_tui.host.messages import (
    INTERRUPTED,
    is_steering,
    metadata_of,
    text_of,
    typed_prompt,
)
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.shell.jobs import EVENTS as JOB_EVENTS
from amplifier_tui.host.shell.jobs import tell_job
from amplifier_tui.host.stream.blocks import Blocks
from amplifier_tui.host.stream.handler_failures import HandlerFailures
from amplifier_tui.host.stream.lanes import Lanes
from amplifier_tui.host.stream.notices import DECLINED, ENDS, LINES, line_of, retry_facts
from amplifier_tui.host.stream.results import (
    data_after,
    is_todo_tool,
    module_that,
    prompt_change,
    read_plan,
    result_of,
)
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.stream.tools import Tools
from amplifier_tui.host.stream.traces import Traces
from amplifier_tui.host.stream.usage import UsageMeter
from amplifier_tui.host.turns.abandoned import is_abandoned
from amplifier_tui.kernel.correlation import is_aside
from amplifier_tui.kernel.hooks import HandlerHold, HookRegistry, HookTrace
from amplifier_tui.kernel.hooks.results import NOTHING_LEFT

logger = logging.getLogger(__name__)

Data = Mapping[str, Any]

_WORDS: Final = ("llm:stream_", "content_block:", "thinking:")
"""Beginnings of the events that carry what a model says."""
_CALL: Final = ("tool_name", "tool_input")
"""What makes a call another one when a hook changes it."""
_COMPACTED: Final = (
    "messages_removed",
    "messages_truncated",
    "user_messages_stubbed",
    "messages_summarized",
)
_SPAWNED: Final = (
    "delegate:agent_spawned",
    "delegate:agent_resumed",
    "task:agent_spawned",
    "task:spawned",
)
_ENDED: Final = (
    "delegate:agent_completed",
    "delegate:error",
    "task:agent_completed",
    "task:completed",
)
_STATUS: Final[dict[str, TurnStatus]] = {
    "success": "success",
    "completed": "success",
    "incomplete": "incomplete",
    "cancelled": "cancelled",
    "error": "error",
}
_NO_REASON: Final = "no reason was given"
Route = Callable[[str, Data], None]
Declined = Callable[[str, str, str], None]


class Normalizer:
    """Follows the hooks of a session and of its sub-agents."""

    def __init__(self, sender: Sender, workspace: Path, facts: ModuleFacts) -> None:
        self.blocks = Blocks(sender)
        self.tools = Tools(sender, workspace, facts.module_of_tool)
        self.usage = UsageMeter()
        self.lanes = Lanes(sender, self.usage, self._lane_over)
        self.status: TurnStatus | None = None
        """How the orchestrator said the turn ended; None while it did not."""
        self.declined = False
        """The model declined to give the last answer of the turn."""
        self._denied = self._judged = ""
        self._heard = False
        self.on_declined: Declined = lambda *_: None
        """Told of `module:load_failed`: module id, instance and error."""
        self.on_usage: Callable[[], None] = lambda: None
        """Told when the usage of the main lane has changed."""
        self.asked: Mapping[str, str] = {}
        """By lane, the provider that its last request went to."""
        self._sender = sender
        self._traces = Traces(sender, HandlerFailures(sender, facts))
        self._requests = Counter[tuple[str, bool]]()
        self._responses = Counter[tuple[str, bool]]()
        self._broken: set[str] = set()
        self._answered = False
        """A row of this turn holds words of the model."""
        self._routes = self._all_routes()

    def observe(self, hooks: HookRegistry, lane: str = MAIN_LANE) -> Callable[[], None]:
        """Follow a registry; returns what ends it."""

        def observer(trace: HookTrace) -> None:
            self._take(trace, lane)

        stops = (hooks.observe(observer), hooks.observe_holds(partial(self._held, lane)))

        def stop() -> None:
            for each in stops:
                each()

        return stop

    def _held(self, lane: str, hold: HandlerHold) -> None:
        tool = str(hold.data.get("tool_name") or "")
        self._sender.send(
            HandlerHolds(
                **self._sender.stamp(lane),
                event=hold.event,
                handler=hold.name,
                module=hold.module,
                tool=tool if hold.event == "tool:pre" else "",
                call_id=self.tools.id_of(lane, hold.data) if hold.event == "tool:pre" else "",
                over=hold.over,
            )
        )

    def _take(self, trace: HookTrace, lane: str) -> None:
        try:
            self._traces.take(trace, lane)
            if is_abandoned():
                return
            route = self._routes.get(trace.event)
            if is_aside() and trace.event.startswith(_WORDS):
                route = None
            if route is not None:
                route(lane, data_after(trace))
            if trace.event == "tool:pre":
                self._tool_pre(lane, trace)
            elif trace.event == "tool:post":
                self._tool_post(lane, trace)
            elif trace.event == "prompt:submit":
                self._prompt_submitted(lane, trace)
            elif trace.event == "provider:request" and lane == MAIN_LANE and not is_aside():
                # Not every orchestrator says it at the end.
                denied = trace.result.action == "deny"
                self._judged = (trace.result.reason or _NO_REASON) if denied else ""
        except Exception as error:
            logger.exception("The event %s could not be shown", trace.event)
            if trace.event not in self._broken:
                self._broken.add(trace.event)
                self._sender.notice(
                    "warning", f"An event could not be shown ({trace.event}): {error}"
                )

    def close(self) -> None:
        """Write what waits."""
        self._traces.close()

    def row_added(self, row: Row) -> None:
        """A row of the main lane is on disk."""
        self._sender.row_added(row)
        match row.get("role"):
            case "assistant":
                self._answered = self._answered or bool(text_of(row.get("content")).strip())
                self.blocks.row_added(interrupted=metadata_of(row).get(INTERRUPTED) is True)
                self.tools.asked_for(row)
            case "tool":
                self.tools.row_added(row)
            case "user" if is_steering(row):
                text = self._sender.redactor.text(typed_prompt(row))
                self._sender.send(SteerApplied(**self._sender.stamp(), text=text))
            case _:
                pass
        self._sender.images_added(row)

    @property
    def denied(self) -> str:
        """Why the last request of the turn did not go to the model: a hook refused it."""
        # A loop that does not say so may have asked for more than it needed.
        ended = self.status == "incomplete" or not self._heard
        return self._denied or (self._judged if ended else "")

    def turn_begins(self) -> None:
        """A prompt is about to run."""
        self.status, self._answered, self.declined = None, False, False
        self._denied, self._judged, self._heard = "", "", False
        self.usage.turn_begins()
        self.blocks.turn_begins()

    def returned(self, answer: str) -> bool:
        """Show what the orchestrator only returned; whether the answer is in no row of the turn."""
        self.blocks.returned(answer, stored=self._answered)
        return bool(answer.strip()) and not self._answered

    def turn_over(self, status: TurnStatus) -> None:
        """Nothing more comes of this turn: end what is open."""
        self.lanes.close_all(status)
        self._lane_over(MAIN_LANE, status)

    def _lane_over(self, lane: str, status: TurnStatus) -> None:
        self.blocks.turn_over(lane, interrupted=status != "success")
        self.tools.turn_over(lane)

    def _all_routes(self) -> dict[str, Route]:
        blocks, tools, lanes = self.blocks, self.tools, self.lanes
        return {
            "execution:start": lambda lane, _: self._step(lane),
            "provider:request": lambda lane, _: self._step(lane),
            "llm:request": self._request_sent,
            "llm:response": self._request_answered,
            "provider:response": self._responded,
            "llm:stream_block_start": blocks.stream_start,
            "llm:stream_block_delta": blocks.stream_delta,
            "llm:stream_block_end": blocks.stream_end,
            "llm:stream_aborted": self._aborted,
            "content_block:delta": blocks.content_delta,
            "thinking:delta": blocks.content_delta,
            "content_block:end": self._content_end,
            "provider:retry": self._retrying,
            "tool:error": tools.error,
            "tool:progress": tools.progress,
            "context:compaction": self._compacted,
            "session:fork": self._forked,
            "orchestrator:complete": self._complete,
            "module:load_failed": self._load_failed,
            "delegate:agent_cancelled": lanes.cancelled,
            **{event: partial(tell_job, self._sender, event) for event in JOB_EVENTS},
            **dict.fromkeys(_SPAWNED, lanes.spawned),
            **dict.fromkeys(_ENDED, lanes.ended),
            **{event: partial(self._say, event) for event in LINES},
            "provider:error": self._failed,
        }

    def _say(self, event: str, lane: str, data: Data) -> None:
        if event == "provider:error" and is_aside():
            # Who asked on the side says what that means for the user.
            return
        if event == "provider:error" and lane in self.asked:
            data = {**data, "provider": self.asked[lane]}
        line = line_of(event, data)
        if line is not None:
            self._sender.notice(*line, lane, ENDS.get(event, ""))

    def _failed(self, lane: str, data: Data) -> None:
        self._attempt_failed(lane, data)
        self._say("provider:error", lane, data)

    def _attempt_failed(self, lane: str, data: Data) -> None:
        if is_aside():
            if self.usage.aside_answered(data):
                self.tell_usage()
        elif self.usage.attempt_failed(lane, data):
            self._usage_changed(lane)

    def _retrying(self, lane: str, data: Data) -> None:
        self._attempt_failed(lane, data)
        if is_aside(optional=True):
            # Nobody waits for it, and there is no turn that would end what is said of it.
            return
        redact = self._sender.redactor.text
        facts = retry_facts(data)
        facts["problem"] = redact(facts["problem"])
        self._sender.send(ProviderRetrying(**self._sender.stamp(lane), **facts))

    def _step(self, lane: str) -> None:
        self.blocks.step_begins(lane)
        self.usage.step_begins(lane)

    def _aborted(self, lane: str, data: Data) -> None:
        if self.blocks.stream_aborted(lane, data):
            self._say("llm:stream_aborted", lane, data)

    def _content_end(self, lane: str, data: Data) -> None:
        self.blocks.content_end(lane, data)
        self._step_answered(lane, data)

    def requests(self, lane: str) -> int:
        """Return how often `llm:request` came, of the conversation of a lane or aside of it."""
        return self._requests[lane, is_aside()]

    def responses(self, lane: str) -> int:
        """Return how often `llm:response` came, of the conversation of a lane or aside of it."""
        return self._responses[lane, is_aside()]

    def count_response(self, lane: str, data: Data) -> None:
        """Count what an answer used, of which `data` says what `llm:response` does."""
        if data.get("status") == "cancelled":
            # It is no answer: how full the window is, and how long answers are, it does not tell.
            self._attempt_failed(lane, data)
        elif is_aside():
            if self.usage.aside_answered(data):
                self.tell_usage()
        elif self.usage.request_answered(lane, data):
            self._usage_changed(lane)

    def _request_sent(self, lane: str, _: Data) -> None:
        self._requests[lane, is_aside()] += 1

    def _request_answered(self, lane: str, data: Data) -> None:
        self._responses[lane, is_aside()] += 1
        if not is_aside():
            self._finished(lane, data)
        self.count_response(lane, data)

    def _responded(self, lane: str, data: Data) -> None:
        self._step_answered(lane, data)
        self._finished(lane, data)
        if lane != MAIN_LANE or not self.declined:
            # The end of the turn says it of the session's own model.
            self._say("provider:response", lane, data)

    def _finished(self, lane: str, data: Data) -> None:
        if lane != MAIN_LANE:
            return
        # It was asked all the same.
        self._judged, self._heard = "", True
        if (reason := data.get("finish_reason")) is not None:
            self.declined = reason in DECLINED

    def _step_answered(self, lane: str, data: Data) -> None:
        if self.usage.step_answered(lane, data):
            self._usage_changed(lane)

    def _usage_changed(self, lane: str) -> None:
        self.tell_usage()
        if lane == MAIN_LANE:
            self.on_usage()
        else:
            self.lanes.used(lane)

    def tell_usage(self) -> None:
        """Send what the session used so far."""
        self._sender.send(
            UsageChanged(
                **self._sender.stamp(),
                session=self.usage.session.as_usage(),
                turn=self.usage.turn.as_usage(),
                provider=self.usage.provider,
                model=self.usage.model,
            )
        )

    def _prompt_submitted(self, lane: str, trace: HookTrace) -> None:
        # The user's row has his own words.
        module = module_that("modify", trace)
        if module and (change := prompt_change(trace)):
            text = f"Hook {module} changed the prompt: the model reads other words"
            self._sender.notice("info", text, "prompt", lane, detail=change)

    def _tool_pre(self, lane: str, trace: HookTrace) -> None:
        data = data_after(trace)
        changed = any(data.get(name) != trace.data.get(name) for name in _CALL)
        self.tools.pre(lane, data, module_that("modify", trace) if changed else "")
        if trace.result.action == "deny":
            # Not every orchestrator says so; the row of the result then ends the call.
            reason = trace.result.reason or ""
            self.tools.refused(lane, trace.data, reason, module_that("deny", trace))

    def _tool_post(self, lane: str, trace: HookTrace) -> None:
        # A hook may leave out what it does not change.
        data, given = {**trace.data, **data_after(trace)}, result_of(trace.data)
        if trace.result.action == "deny":
            reason = trace.result.reason or _NO_REASON
            self.tools.withheld(lane, data, reason, module_that("deny", trace))
        elif result_of(data) is None and given is not None:
            self.tools.withheld(lane, data, NOTHING_LEFT, module_that("modify", trace))
        else:
            changed = result_of(data) != given
            self.tools.post(lane, data, module_that("modify", trace) if changed else "")
        if lane == MAIN_LANE and is_todo_tool(str(data.get("tool_name") or "")):
            items = read_plan(data.get("tool_input"), result_of(data))
            if items is not None:
                self._sender.send(TodoChanged(**self._sender.stamp(), items=items))

    def _compacted(self, lane: str, data: Data) -> None:
        redact = self._sender.redactor.text
        rows = sum(_number(data, key) for key in _COMPACTED)
        level = data.get("strategy_level", data.get("strategy", ""))
        strategy = f"level {level}" if isinstance(level, int) else str(level or "")
        if _number(data, "messages_summarized"):
            strategy = "summary"
        elif data.get("reason") == "forced":
            strategy = "rule"
        self._sender.send(
            Compacted(
                **self._sender.stamp(lane),
                before_tokens=_number(data, "before_tokens"),
                after_tokens=_number(data, "after_tokens"),
                rows=rows,
                left_out=_number(data, "messages_removed"),
                strategy=strategy,
                summary=redact(str(data.get("summary") or "")),
                replaced=tuple(redact(str(line)) for line in data.get("replaced") or ()),
            )
        )

    def _forked(self, lane: str, data: Data) -> None:
        # The child says it of itself, in its own lane, which whoever spawned it has opened; the
        # parent's own registry gets it from loops that emit it there.
        if lane == MAIN_LANE:
            self.lanes.spawned(lane, data)

    def _complete(self, lane: str, data: Data) -> None:
        if lane != MAIN_LANE or data.get("goal_final") is False:
            return
        self.status = _STATUS.get(str(data.get("status")), self.status)
        denied = data.get("denied")
        self._denied = denied if isinstance(denied, str) else ""

    def _load_failed(self, lane: str, data: Data) -> None:
        if lane == MAIN_LANE:
            self.on_declined(
                str(data.get("module_id") or ""),
                str(data.get("instance_id") or ""),
                str(data.get("error") or ""),
            )


def _number(data: Data, key: str) -> int:
    value = data.get(key)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
