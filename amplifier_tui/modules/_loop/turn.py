"""One turn: ask the model, run its tools, until it has nothing left to do."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks.results import prompt_left
from amplifier_tui.kernel.llm_errors import AbortError
from amplifier_tui.kernel.message_models import ChatRequest, ToolCall
from amplifier_tui.kernel.mounting.callbacks import missing_keywords
from amplifier_tui.kernel.mounting.contents import checked_messages
from amplifier_tui.kernel.utils.tool_calls import response_tool_calls
from amplifier_tui.modules._loop.hook_emitter import HookEmitter, Verdict, plain
from amplifier_tui.modules._loop.requests import (
    RequestMaker,
    Row,
    answered_by,
    answering,
    assistant_row,
    block_rows,
    find_provider,
    model_of,
    not_mounted,
    text_of,
    told_apart,
    tool_specs,
    usage_data,
)
from amplifier_tui.modules._loop.stop import PartialAnswer, StopSign, being_cancelled
from amplifier_tui.modules._loop.tool_batch import NOT_RUN, ToolBatch

LIMIT_REACHED: Final = "limit_reached"
INTERRUPTED: Final = "interrupted"
OWN_EVENTS: Final = (LIMIT_REACHED, INTERRUPTED)
"""What every loop emits beside the standard events, after its module id and a colon."""

Status = Literal["success", "incomplete", "cancelled", "error"]

_CUT_OFF: Final = ("length", "max_tokens", "context_length")
_TURN_FAILED: Final = "The turn failed before it ran."


@dataclass(slots=True)
class Turn:
    """The state of one turn.

    Attributes:
        choose: Returns name and provider of the turn; raises `RuntimeError` where there is none.
        providers: Mounted providers by name, from which hooks may choose another for a request.
        tools: Mounted tools by name; read anew for each step.
        hooks: Where the provider's stream can be followed.
        messages: Returns the messages for a request, not to be changed; None to ask the context
            for copies.
        limit: Most requests to the model; None for any number.
        stream: Whether answers should arrive piece by piece.
        whole: Whether ``provider:request`` carries the messages. Every request holds the whole
            conversation once more, so a log of them grows with its square.
        steps: Requests to the model so far.
        status: How the turn ended; "error" until it did.
        denied: Why the prompt or a request was refused; empty where none was.
        provider_name: Who answers the current step, which the user may have chosen.
        provider: Whom it asks, as it is mounted.
        offered: The tools of the current step.
        said: Whether the context was given a prompt.
    """

    choose: Callable[[], tuple[str, Any]]
    providers: Mapping[str, Any]
    context: Any
    tools: Mapping[str, Any]
    hooks: Any
    emitter: HookEmitter
    stop: StopSign
    requests: RequestMaker
    messages: Callable[..., Awaitable[list[Row]]] | None
    limit: int | None
    stream: bool
    whole: bool
    steps: int = 0
    status: Status = "error"
    denied: str = ""
    provider_name: str = ""
    provider: Any = None
    offered: Mapping[str, Any] = field(default_factory=dict)
    said: bool = False

    async def run(self, prompt: str) -> str:
        """Run the turn and return the last words of the model.

        Args:
            prompt: What the user said. An empty one adds nothing to the conversation: the model
                goes on from where it stands.

        Raises:
            RuntimeError: There is no provider to ask.
            asyncio.CancelledError: The turn was cancelled. The conversation is complete: every
                tool call has a result, and a partial answer is kept, marked as interrupted.
        """
        usual = self.choose()
        if prompt.strip():
            verdict = await self.emitter.emit(events.PROMPT_SUBMIT, {"prompt": prompt})
            if verdict.denied is not None:
                self.status, self.denied = "incomplete", verdict.denied
                return f"The prompt was denied: {verdict.denied}"
            prompt = prompt_left(prompt, verdict.data)
        if prompt.strip():
            await self.context.add_message({"role": "user", "content": prompt})
            self.said = True
        spoken = ""
        while True:
            if await self.stop.seen(self.steps):
                self.status = "cancelled"
                return spoken
            if self.limit is not None and self.steps >= self.limit:
                return await self._limit_reached(self.limit)
            self.steps += 1
            self.provider_name, self.provider = answering(usual)
            self.offered = self.tools
            request = await self._next_request()
            if isinstance(request, str):
                self.denied = request
                return await self._say(f"The request to the model was denied: {request}")
            blocks, calls, finish = await self._answer(request)
            spoken = text_of(blocks) or spoken
            if not calls and not await self.go_on(text_of(blocks)):
                self.status = "incomplete" if finish in _CUT_OFF else "success"
                return text_of(blocks)

    async def begin_step(self) -> str | None:
        """Prepare a step before its request is made; return why it must not be, if so."""
        return None

    async def go_on(self, answer: str) -> bool:
        """Return whether the model is asked again although it calls no tool.

        Args:
            answer: What it said last.
        """
        return False

    def route(self, data: Mapping[str, Any]) -> str | None:
        """Let the current step ask the ``provider`` of `data`; return why it can't, if so."""
        name = data.get("provider")
        if name is None or name == self.provider_name:
            return None
        found = find_provider(self.providers, name)
        if found is None:
            # Never another one in its place: whoever chose it may have had reasons of privacy.
            return f"A hook chose another provider. {not_mounted(self.providers, name)}"
        self.provider_name, self.provider = answering(found)
        return None

    async def _next_request(self) -> ChatRequest | str:
        """The request of the next step, or why a hook denies it."""
        denied = await self.begin_step()
        if denied is not None:
            return denied
        rows = await self._rows()
        data: dict[str, Any] = {
            "provider": self.provider_name,
            "model": model_of(self.provider),
            "iteration": self.steps,
            "message_count": len(rows),
        }
        if self.whole:
            data["messages"] = [dict(row) for row in rows]
        before = (self.emitter.stored, self.provider_name)
        verdict = await self.emitter.emit(events.PROVIDER_REQUEST, data, self.provider_name)
        denied = verdict.denied if verdict.denied is not None else self.route(verdict.data)
        if denied is not None:
            return denied
        if (self.emitter.stored, self.provider_name) != before:
            rows = await self._rows()
        return self.requests.make(
            rows,
            self.emitter.take_ephemeral(),
            tool_specs(self.offered),
            shared=self.messages is not None,
            stream=self.stream,
        )

    async def _rows(self) -> list[Row]:
        ask = self.messages or self.context.get_messages_for_request
        # The specs call it without arguments, too: a context may know of none.
        known = not missing_keywords(ask, ("provider",))
        given = {"provider": self.provider} if known else {}
        rows: list[Row] = checked_messages(ask, await ask(**given), some=self.said)
        return rows

    async def _answer(self, request: ChatRequest) -> tuple[list[Row], list[ToolCall], Any]:
        """Ask the model, store its answer and the results of its tool calls."""
        response = await self._complete(request)
        blocks = block_rows(getattr(response, "content", None))
        calls = told_apart(_calls(self.provider, response), blocks)
        usage = usage_data(getattr(response, "usage", None))
        finish = getattr(response, "finish_reason", None)
        batch = ToolBatch(calls, self.offered, self.emitter, self.stop)
        why, stored = NOT_RUN, False
        try:
            await self._report(blocks, calls, usage, finish)
            stored = True
            await self._store(blocks, calls)
            await self._show(blocks, usage)
            if calls and not await self.stop.seen(self.steps):
                await batch.run()
        except Exception:
            why = _TURN_FAILED
            raise
        finally:
            # Whatever happened: what the model said is in the conversation, and every call of it
            # has a result.
            if not stored:
                await self._store(blocks, calls)
            await self._close(batch, why)
        return blocks, calls, finish

    async def _store(self, blocks: list[Row], calls: list[ToolCall]) -> None:
        if blocks or calls:
            await self.context.add_message(assistant_row(blocks, calls))

    async def _close(self, batch: ToolBatch, why: str) -> None:
        unfinished = batch.unfinished
        for row in await batch.close(why):
            await self.context.add_message(row)
        await self.emitter.settle()
        if unfinished:
            await self.own_event(INTERRUPTED, {"tool_call_ids": unfinished})

    async def _report(
        self,
        blocks: list[Row],
        calls: list[ToolCall],
        usage: dict[str, Any] | None,
        finish: Any,
    ) -> None:
        name, model = answered_by(self.provider, self.provider_name)
        data = {
            "provider": name,
            "model": model,
            "iteration": self.steps,
            "response": {"content": blocks, "tool_calls": _dumped(calls)},
            "usage": usage,
            "finish_reason": finish,
        }
        await self.emitter.emit(events.PROVIDER_RESPONSE, plain(data), name)

    async def _complete(self, request: ChatRequest) -> Any:
        with PartialAnswer(self.hooks) as partial:
            try:
                return await self.provider.complete(request)
            except asyncio.CancelledError as error:
                if not being_cancelled():
                    failed = AbortError("The provider cancelled its own request")
                    await self._provider_failed(failed)
                    raise failed from error
                if partial.texts:
                    await self._keep_partial(partial.texts)
                raise
            except Exception as error:
                await self._provider_failed(error)
                raise

    async def _provider_failed(self, error: Exception) -> None:
        name, model = answered_by(self.provider, self.provider_name)
        data = {
            "provider": name,
            "model": model,
            "iteration": self.steps,
            "error": {"type": type(error).__name__, "msg": str(error)},
            "retryable": bool(getattr(error, "retryable", False)),
            "retry_after": getattr(error, "retry_after", None),
            "usage": usage_data(getattr(error, "usage", None)),
        }
        data = plain(data) | {"status_code": getattr(error, "status_code", None)}
        await self.emitter.emit(events.PROVIDER_ERROR, data, name)

    async def _keep_partial(self, texts: list[str]) -> None:
        row = assistant_row([{"type": "text", "text": text} for text in texts], [])
        row["metadata"] = {"interrupted": True}
        await self.context.add_message(row)
        await self.own_event(INTERRUPTED, {"partial_chars": sum(map(len, texts))})

    async def own_event(self, event: str, data: dict[str, Any]) -> Verdict:
        """Emit an event of the loop itself, whose name begins with the loop's."""
        return await self.emitter.emit(f"{self.emitter.orchestrator}:{event}", data)

    async def _show(self, blocks: list[Row], usage: dict[str, Any] | None) -> None:
        """Emit every block of an answer; the last one carries the usage."""
        total = len(blocks)
        for index, block in enumerate(blocks):
            place = {"block_index": index, "total_blocks": total}
            await self.emitter.emit(
                events.CONTENT_BLOCK_START, {"block_type": block.get("type"), **place}
            )
            counted = {"usage": usage} if usage is not None and index == total - 1 else {}
            await self.emitter.emit(events.CONTENT_BLOCK_END, {**place, "block": block, **counted})

    async def _limit_reached(self, limit: int) -> str:
        await self.own_event(LIMIT_REACHED, {"max_iterations": limit, "turn_count": self.steps})
        return await self._say(
            f"Stopped after {limit} steps, the limit of one turn (`max_iterations`). "
            "The work may be unfinished: say “continue” to go on."
        )

    async def _say(self, text: str) -> str:
        """End the turn with words of the loop itself."""
        self.status = "incomplete"
        blocks: list[Row] = [{"type": "text", "text": text}]
        row = assistant_row(blocks, [])
        row["metadata"] = {"source": self.emitter.orchestrator}
        await self.context.add_message(row)
        await self._show(blocks, None)
        return text


def _calls(provider: Any, response: Any) -> list[ToolCall]:
    calls = provider.parse_tool_calls(response)
    if not isinstance(calls, list | tuple):
        # Stand-ins of tests answer anything.
        return response_tool_calls(response) if hasattr(response, "content") else []
    return list(calls)


def _dumped(calls: list[ToolCall]) -> list[dict[str, Any]]:
    return [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
