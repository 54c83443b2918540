"""The tool calls of one answer: run side by side where that is safe, answered in their order."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from threading import current_thread, main_thread
from typing import Any, Final
from uuid import uuid4

from pydantic import ValidationError

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import INTERRUPTED
from amplifier_tui.base.text import with_remedy
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import tool_call
from amplifier_tui.kernel.hooks.results import NOTHING_LEFT, RESULT_KEYS, WITHHELD
from amplifier_tui.kernel.message_models import ToolCall
from amplifier_tui.kernel.models import ToolResult, interrupted_result
from amplifier_tui.kernel.mounting.errors import with_place
from amplifier_tui.modules._loop.effects import effect, waits_for
from amplifier_tui.modules._loop.hook_emitter import HookEmitter
from amplifier_tui.modules._loop.requests import Row, tool_row
from amplifier_tui.modules._loop.stop import StopSign, being_cancelled
from amplifier_tui.modules._shared.tool import failed

logger = logging.getLogger(__name__)

STOP_GRACE: Final = 0.7
"""Seconds running tools get to end when the turn is cancelled."""

NOT_RUN: Final = "The turn was stopped before it ran."


@dataclass(slots=True)
class ToolBatch:
    """Runs the calls of one answer."""

    calls: Sequence[ToolCall]
    tools: Mapping[str, Any]
    emitter: HookEmitter
    stop: StopSign
    _group: str = field(default_factory=lambda: str(uuid4()))
    _rows: dict[int, Row] = field(default_factory=dict)
    _started: set[int] = field(default_factory=set)
    _interrupted: set[int] = field(default_factory=set)

    @property
    def unfinished(self) -> list[str]:
        """Ids of the calls without a result, or with a part of one."""
        return [
            call.id
            for place, call in enumerate(self.calls)
            if place not in self._rows or place in self._interrupted
        ]

    async def run(self) -> None:
        """Run every call; they end together. Cancelled, they get `STOP_GRACE` seconds to end.

        A call that may change files waits for those before it that change or read some, and what
        reads or changes files waits for it: it finds what the model wrote them for.
        """
        effects = [effect(call) for call in self.calls]
        tasks: list[asyncio.Task[None]] = []
        for place, call in enumerate(self.calls):
            before = [
                task
                for task, earlier in zip(tasks, effects, strict=False)
                if waits_for(effects[place], earlier)
            ]
            run = self._run_one(place, call, before)
            tasks.append(asyncio.create_task(run, name=f"tool:{call.name}"))
        try:
            ended, _ = await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            _, left = await asyncio.wait(tasks, timeout=STOP_GRACE)
            for task in left:
                logger.warning(
                    "%s does not stop; it is left to itself and its result is dropped",
                    task.get_name(),
                )
            raise
        for task in ended:
            if not task.cancelled() and (error := task.exception()) is not None:
                logger.error("%s could not be reported", task.get_name(), exc_info=error)

    async def close(self, why: str = NOT_RUN) -> list[Row]:
        """Return a row for every call, in their order; `why` tells of those that did not start."""
        for place, call in enumerate(self.calls):
            if place in self._rows:
                continue
            if place in self._started:
                result = failed(INTERRUPTED, "interrupted")
            else:
                result = await self._fail(call, why, "stopped")
            self._rows[place] = tool_row(call, result, "interrupted")
        return [self._rows[place] for place in range(len(self.calls))]

    async def _run_one(
        self, place: int, call: ToolCall, before: Sequence[asyncio.Task[None]]
    ) -> None:
        with tool_call(call.id):
            if before:
                await asyncio.wait(before)
            try:
                if before and self.stop.up:
                    result, mark = await self._fail(call, NOT_RUN, "stopped"), "interrupted"
                else:
                    result, mark = await self._outcome(place, call)
            except asyncio.CancelledError:
                if place in self._started:
                    await self._fail(call, INTERRUPTED, "interrupted")
                raise
            self._rows[place] = tool_row(call, result, *([mark] if mark else []))

    async def _outcome(self, place: int, call: ToolCall) -> tuple[ToolResult, str]:
        """Return what came of a call, and the mark of its row; empty for none."""
        try:
            problem = getattr(call, "arguments_error", None)
            if problem:
                return await self._fail(call, str(problem), "invalid_arguments"), ""
            tool = self.tools.get(call.name)
            if tool is None:
                known = ", ".join(self.tools) or "none"
                message = f"There is no tool named '{call.name}'. Available tools: {known}."
                return await self._fail(call, message, "unknown_tool"), ""
            data = self._data(call, call.arguments)
            verdict = await self.emitter.emit(events.TOOL_PRE, data, call.name, defer=True)
            if self.stop.up:
                # Before the verdict: a question that the stop has withdrawn was not denied.
                return await self._fail(call, NOT_RUN, "stopped"), "interrupted"
            if verdict.denied is not None:
                message = with_remedy(verdict.denied, "The tool was not run.", "\n")
                return await self._fail(call, message, "denied", denied=True), "denied"
            renamed = verdict.data.get("tool_name")
            if renamed != call.name:
                # A hook made another call of it: that one was decided about.
                tool = self.tools.get(str(renamed))
                if tool is None:
                    message = f"A hook changed this call to '{renamed}', which is no tool here."
                    return await self._fail(call, message, "unknown_tool"), ""
            given = verdict.data.get("tool_input")
            arguments = given if isinstance(given, dict) else call.arguments
            self._started.add(place)
            mark = ""
            try:
                result = await self._execute(tool, call, arguments)
            except asyncio.CancelledError as stopped:
                part = interrupted_result(stopped)
                if part is None:
                    raise
                # All of the batch was cancelled: what came of this one is kept like any result.
                self._interrupted.add(place)
                result, mark = _interrupted(part), "interrupted"
            return await self._after(call, arguments, result), mark
        except Exception as error:
            logger.warning("Tool '%s' failed", call.name, exc_info=error)
            said = f"{type(error).__name__}: {error}"
            if not str(tool.__class__.__module__).startswith("amplifier_tui."):
                said = with_place(said, error)
            message = f"{call.name} failed: {said}"
            return await self._fail(call, message, type(error).__name__), ""

    async def _execute(self, tool: Any, call: ToolCall, arguments: dict[str, Any]) -> ToolResult:
        token = self.stop.token
        if token is not None:
            token.register_tool_start(call.id, call.name)
        try:
            return as_tool_result(await tool.execute(arguments))
        except asyncio.CancelledError as error:
            if being_cancelled():
                raise
            raise RuntimeError("the tool cancelled itself") from error
        except SystemExit as error:
            raise RuntimeError(f"the tool tried to end the program (exit {error.code})") from error
        except KeyboardInterrupt as error:
            if current_thread() is main_thread():
                # The user's own comes there, and only there.
                raise
            raise RuntimeError("the tool raised KeyboardInterrupt") from error
        finally:
            if token is not None:
                token.register_tool_complete(call.id)

    async def _after(
        self, call: ToolCall, arguments: dict[str, Any], result: ToolResult
    ) -> ToolResult:
        sent = result.safe_hook_presentation()
        data = self._data(call, arguments) | dict.fromkeys(RESULT_KEYS, sent)
        verdict = await self.emitter.emit(events.TOOL_POST, data, call.name, defer=True)
        if verdict.denied is not None:
            return failed(WITHHELD.format(verdict.denied), "withheld")
        return after_hooks(result, sent, verdict.data)

    async def _fail(
        self, call: ToolCall, message: str, kind: str, *, denied: bool = False
    ) -> ToolResult:
        data: dict[str, Any] = self._data(call, call.arguments)
        data["error"] = {"type": kind, "msg": message}
        if denied:
            data["denied"] = True
        await self.emitter.emit(events.TOOL_ERROR, data, call.name, defer=True)
        return failed(message, kind)

    def _data(self, call: ToolCall, arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            "tool_name": call.name,
            "tool_call_id": call.id,
            "tool_input": arguments,
            "parallel_group_id": self._group,
        }


def _interrupted(result: ToolResult) -> ToolResult:
    """Return what came of a call that was stopped, with the word that it was."""
    output = f"{result.get_serialized_output()}\n[{INTERRUPTED}]"
    error = {"type": "interrupted", "message": INTERRUPTED}
    return ToolResult(success=False, output=output, error=error, content=result.content)


def as_tool_result(value: Any) -> ToolResult:
    """Return what a tool returned as a `ToolResult`; what is none becomes its output."""
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("success"), bool):
        fields = dict(value)
    elif isinstance(getattr(value, "success", None), bool):
        fields = {name: getattr(value, name, None) for name in ("success", "output", "error")}
        fields["content"] = getattr(value, "content", None)
    else:
        return ToolResult(output=value)
    try:
        return ToolResult.model_validate(fields)
    except ValidationError:
        return ToolResult(success=fields["success"], output=fields.get("output"))


def after_hooks(result: ToolResult, sent: dict[str, Any], data: Mapping[str, Any]) -> ToolResult:
    """Return the result as hooks left it.

    Args:
        result: What the tool returned.
        sent: How it was shown to the hooks, under every key of `RESULT_KEYS`.
        data: The event data after the hooks.
    """
    for key in RESULT_KEYS:
        value = data.get(key, sent)
        if value != sent:
            return _changed(result, sent, value)
    return result


def _changed(result: ToolResult, sent: dict[str, Any], value: Any) -> ToolResult:
    if value is None:
        # It may have meant to hide it, and "Success" would say what nobody knows.
        return failed(WITHHELD.format(NOTHING_LEFT), "withheld")
    if not isinstance(value, Mapping) or not {"success", "output"} & value.keys():
        return ToolResult(success=result.success, output=value, error=result.error)
    fields = {"success": result.success, **value}
    if fields.get("content") == sent.get("content"):
        # Hooks saw a line of text in place of each image; the images themselves are unchanged.
        fields["content"] = result.content
    changed = as_tool_result(fields)
    emptied = changed.output is None and result.output is not None
    if emptied and changed.success and not changed.content:
        changed.output = "A hook left nothing of the output."
    return changed
