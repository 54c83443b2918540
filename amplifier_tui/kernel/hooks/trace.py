"""What observers of the hook registry, and whoever concludes an event, are told of each emit."""

from collections.abc import Awaitable, Callable
from time import perf_counter, time
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.hooks.results import stops_nothing
from amplifier_tui.kernel.models.hook_result import HookResult


@dataclass(frozen=True, slots=True)
class HandlerTrace:
    """One handler's part in an emit.

    Attributes:
        verdict: The action it answered with, or ``"error"``; so where it stops nothing.
        ms: Milliseconds it took.
        error: What went wrong, with the place in its code: it raised, or its answer was no hook
            result.
        reason: The reason it gave.
        module: Key of the module it is of; empty where it is of none.
    """

    name: str
    verdict: str
    ms: float
    error: str | None = None
    reason: str | None = None
    module: str = ""


@dataclass(frozen=True, slots=True)
class HookTrace:
    """One emit, after its handlers ran.

    Attributes:
        data: The data as the handlers saw it, defaults and timestamp included. Read it at once:
            values in it belong to the emitter, who may change them later.
        result: What the emit returned.
        handlers: The handlers that ran, in order.
        ms: Milliseconds of the whole emit.
        started: When it started, in Unix time.
    """

    event: str
    data: dict[str, Any]
    result: HookResult
    handlers: tuple[HandlerTrace, ...]
    ms: float
    started: float


Observer = Callable[[HookTrace], object]


@dataclass(frozen=True, slots=True)
class HandlerHold:
    """A handler that takes long, and holds up what waits for the emit.

    Attributes:
        data: The event's data as the first handler got it; not to be changed.
        module: Key of the module it is of; empty where it is of none.
        over: It has ended.
    """

    event: str
    data: dict[str, Any]
    name: str
    module: str
    over: bool


HoldObserver = Callable[[HandlerHold], object]


@dataclass(frozen=True, slots=True)
class HookMessage:
    """What a handler wants the user to read (its ``user_message``).

    Attributes:
        source: Who speaks, in the handler's own words; empty where it does not say.
        handler: The handler's name.
        module: Key of the module it is of; empty where it is of none.
    """

    text: str
    level: Literal["info", "warning", "error"]
    source: str
    handler: str
    event: str
    module: str = ""


ShowMessage = Callable[[HookMessage], object]


@dataclass(frozen=True, slots=True)
class HookAnswers:
    """What the handlers of an event answered, for whoever concludes it or notes a denial.

    Attributes:
        data: The event's data as the handlers left it; a private copy.
        result: What the emit would return.
        asker: Whose question or denial `result` is, as `Registration.whose` names it; else empty.
        failed: Whose handlers raised, each with what and where.
        given: The data as the first handler got it; not to be changed.
        changes: Whose handlers changed the data, each with what it made of it, which is not to be
            changed, and the handler.
        began: When the emit began, on the clock of `perf_counter`.
    """

    event: str
    data: dict[str, Any]
    result: HookResult
    asker: str
    failed: tuple[tuple[str, str], ...]
    given: dict[str, Any]
    changes: tuple[tuple[str, dict[str, Any], Any], ...]
    began: float


Conclude = Callable[[HookAnswers], Awaitable[HookResult]]
NoteDenial = Callable[[HookAnswers], Awaitable[None]]


class EmitReport:
    """Collects what the observers are told about one emit."""

    __slots__ = ("_began", "_event", "_started", "_traces", "observers")

    def __init__(self, observers: tuple[Observer, ...], event: str) -> None:
        self.observers = observers
        self._event = event
        self._traces: list[HandlerTrace] = []
        self._started = time()
        self._began = perf_counter()

    def add(
        self,
        name: str,
        began: float,
        answer: HookResult | None,
        error: str | None = None,
        module: str = "",
    ) -> None:
        """Note one handler's part; an error without an answer is a handler that raised."""
        ms = (perf_counter() - began) * 1000
        if answer is None:
            verdict, reason = "continue" if error is None else "error", None
        else:
            stops = not stops_nothing(answer, self._event)
            verdict, reason = answer.action if stops else "error", answer.reason
        self._traces.append(HandlerTrace(name, verdict, ms, error, reason, module))

    def fail(self, name: str, problem: str, began: float | None = None, module: str = "") -> None:
        """Note that the emit came to no result, and whose fault that is."""
        self.add(name, self._began if began is None else began, None, problem, module)

    def trace(self, data: dict[str, Any], result: HookResult) -> HookTrace:
        """Return what the observers are told."""
        ms = (perf_counter() - self._began) * 1000
        return HookTrace(self._event, data, result, tuple(self._traces), ms, self._started)
