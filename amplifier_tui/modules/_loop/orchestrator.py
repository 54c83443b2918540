"""The base of the agent loops: their settings, and `execute` of spec 001."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, ClassVar

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.utils.stream import STREAM_BLOCK_DELTA
from amplifier_tui.modules._loop.hook_emitter import HookEmitter
from amplifier_tui.modules._loop.requests import RequestMaker, choose_provider
from amplifier_tui.modules._loop.stop import StopSign, observe
from amplifier_tui.modules._loop.turn import OWN_EVENTS, Status, Turn


class LoopSettings(ModuleSettings):
    """What a bundle may say about a loop.

    Attributes:
        default_provider: Name of the provider to use, if it is mounted.
        max_iterations: Requests to the model per turn; -1 or 0 for no limit.
    """

    default_provider: str | None = None
    max_iterations: int = Field(100, description="a whole number, -1 for no limit")

    @property
    def limit(self) -> int | None:
        """Requests to the model per turn; None for no limit."""
        return self.max_iterations if self.max_iterations > 0 else None


class LoopOrchestrator:
    """Runs the agent loop (spec 001).

    Attributes:
        settings: The loop's settings; their ``module`` is its name.
        turn: What runs one turn.
        streams: Whether the model is asked to answer piece by piece.
        own_events: What it emits beside the standard events, without its name and the colon.
    """

    settings: ClassVar[type[LoopSettings]]
    turn: ClassVar[type[Turn]] = Turn
    streams: ClassVar[bool] = False
    own_events: ClassVar[tuple[str, ...]] = OWN_EVENTS

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self._settings = self.settings.read(config)
        self._requests = RequestMaker()

    @property
    def name(self) -> str:
        """The module id."""
        return self.settings.module

    async def mount(self, coordinator: ModuleCoordinator) -> None:
        """Become the session's orchestrator and announce the events that are not standard."""
        await coordinator.mount("orchestrator", self)
        own = [f"{self.name}:{event}" for event in self.own_events]
        coordinator.register_contributor("observability.events", self.name, lambda: own)

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: Any,
        **kwargs: Any,
    ) -> str:
        """Run one turn.

        Args:
            prompt: What the user said; empty to go on without saying anything.
            context: The conversation.
            providers: Mounted providers by name.
            tools: Mounted tools by name.
            hooks: Where the turn's events are emitted.
            **kwargs: ``coordinator`` comes this way; without one, hooks can't ask the user.
                ``request_options`` may name the ``provider`` of this turn.

        Returns:
            The final answer. After a graceful stop, the last words before it.

        Raises:
            RuntimeError: No provider is mounted, or not the one named in ``request_options``.
            Exception: What the provider raised, as it is.
            asyncio.CancelledError: The turn was cancelled.
        """
        coordinator = kwargs.get("coordinator")
        options = kwargs.get("request_options") or {}
        emitter = HookEmitter(self.name, hooks, context, coordinator)
        stop = StopSign(coordinator, emitter)
        turn = self.turn(
            choose=partial(
                choose_provider,
                providers,
                self._settings.default_provider,
                coordinator,
                options.get("provider"),
            ),
            providers=providers,
            context=context,
            tools=tools,
            hooks=hooks,
            emitter=emitter,
            stop=stop,
            requests=self._requests,
            messages=_shared_messages(coordinator, context),
            limit=self._settings.limit,
            stream=self.streams,
            whole=_wants_everything(coordinator),
        )
        try:
            await emitter.emit(events.EXECUTION_START, {"prompt": prompt})
            answer = await turn.run(prompt)
            await stop.seen(turn.steps)
            if prompt.strip():
                data = {"prompt": prompt, "response": answer}
                await emitter.emit(events.PROMPT_COMPLETE, data)
        except asyncio.CancelledError:
            try:
                await stop.seen(turn.steps)
            finally:
                await _finish(emitter, turn.steps, "cancelled")
            raise
        except (Exception, SystemExit):
            await _finish(emitter, turn.steps, "error")
            raise
        await _finish(emitter, turn.steps, turn.status, answer, turn.denied)
        return answer

    async def stream(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: Any,
        **kwargs: Any,
    ) -> AsyncIterator[str]:
        """Run one turn and yield the model's words as they arrive, those between tools included.

        Closing the iterator cancels the turn. Arguments and errors are those of :meth:`execute`.
        """
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        words = _Words(pieces)
        end = observe(hooks, words.listen)
        turn = asyncio.create_task(self.execute(prompt, context, providers, tools, hooks, **kwargs))
        turn.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            answer = await turn
            if answer and not words.any:
                yield answer
        finally:
            end()
            if not turn.done():
                turn.cancel()
                await asyncio.wait([turn])


def _wants_everything(coordinator: Any | None) -> bool:
    """Whether events should hold what fills a log: ``session.raw``, or nobody to keep a log."""
    if coordinator is None:
        return True
    config = getattr(coordinator, "config", None)
    session = config.get("session") if isinstance(config, Mapping) else None
    return isinstance(session, Mapping) and session.get("raw") is True


def _shared_messages(coordinator: Any | None, context: Any) -> Any | None:
    """How to get a request's messages without a copy of each, where the context has a way."""
    if coordinator is None or coordinator.get("context") is not context:
        return None
    return coordinator.get_capability("context.messages")


async def _finish(
    emitter: HookEmitter, steps: int, status: Status, answer: str = "", denied: str = ""
) -> None:
    ended = "completed" if status in ("success", "incomplete") else status
    data = {"orchestrator": emitter.orchestrator, "turn_count": steps, "status": status}
    if denied:
        # Else nobody could tell it from a limit.
        data["denied"] = denied
    try:
        await emitter.emit(events.ORCHESTRATOR_COMPLETE, data)
    except asyncio.CancelledError:
        ended = "cancelled"
        raise
    finally:
        response = answer if ended == "completed" else ""
        await emitter.emit(events.EXECUTION_END, {"response": response, "status": ended})


class _Words:
    """The words of a turn: as they stream, or whole from a provider that does not stream."""

    def __init__(self, pieces: asyncio.Queue[str | None]) -> None:
        self._pieces = pieces
        self._streamed = False
        self.any = False

    def listen(self, event: str, data: dict[str, Any]) -> None:
        """Take one event."""
        if event == events.PROVIDER_REQUEST:
            self._streamed = False
        elif event == STREAM_BLOCK_DELTA and data.get("block_type") == "text":
            self._streamed = True
            self._put(data.get("text"))
        elif event == events.CONTENT_BLOCK_END and not self._streamed:
            block = data.get("block")
            if isinstance(block, dict) and block.get("type") == "text":
                self._put(block.get("text"))

    def _put(self, text: Any) -> None:
        if isinstance(text, str) and text:
            self.any = True
            self._pieces.put_nowait(text)
