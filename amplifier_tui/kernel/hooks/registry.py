"""The hook registry: telling handlers of an event, and what comes of their answers (spec 000).

Handlers get private, JSON-native copies of the event data. What they answer is weighed in the
order deny > ask_user > inject_context > modify > continue, and an answer nobody can read counts
as a denial.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, Final

from amplifier_tui.base.python import as_error
from amplifier_tui.base.text import shortened
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import (
    CORRELATED_EVENTS,
    REQUEST_ID_FIELD,
    resolve_request_id,
)
from amplifier_tui.kernel.hooks.event_data import EventData, as_dict
from amplifier_tui.kernel.hooks.handler_run import Unfinished, emitting_task, start_handler
from amplifier_tui.kernel.hooks.registrations import Registration, Registrations
from amplifier_tui.kernel.hooks.results import (
    INVALID_RESPONSE,
    WANTED,
    InvalidHookResponseError,
    injections_of,
    merge_injections,
    misspelt,
    raised_text,
    read_result,
    without_effect,
)
from amplifier_tui.kernel.hooks.trace import (
    Conclude,
    EmitReport,
    HandlerHold,
    HoldObserver,
    HookAnswers,
    HookMessage,
    NoteDenial,
    Observer,
    ShowMessage,
)
from amplifier_tui.kernel.models.hook_result import HookResult, changed, continue_with
from amplifier_tui.kernel.mounting.changes import add_shared, drop_shared
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.errors import with_place

logger = logging.getLogger(__name__)

_SAID: Final = 300
"""Characters of what a handler raised that are told with its place."""
_NO_REASON: Final = "The hook '{}' denied this and gave no reason."


class HookRegistry(Registrations):
    """Registers handlers for events and emits events to them."""

    SESSION_START: ClassVar[str] = events.SESSION_START
    SESSION_END: ClassVar[str] = events.SESSION_END
    PROMPT_SUBMIT: ClassVar[str] = events.PROMPT_SUBMIT
    TOOL_PRE: ClassVar[str] = events.TOOL_PRE
    TOOL_POST: ClassVar[str] = events.TOOL_POST
    CONTEXT_PRE_COMPACT: ClassVar[str] = events.CONTEXT_PRE_COMPACT
    ORCHESTRATOR_COMPLETE: ClassVar[str] = events.ORCHESTRATOR_COMPLETE
    USER_NOTIFICATION: ClassVar[str] = events.USER_NOTIFICATION

    def __init__(self) -> None:
        super().__init__()
        self._defaults: dict[str, Any] = {}
        self._observers: list[Observer] = []
        self._hold_observers: list[HoldObserver] = []
        self._concluding: dict[str, tuple[str, Conclude]] = {}
        self._denials: dict[str, NoteDenial] = {}
        self._show: ShowMessage | None = None
        self._announced: set[str] = set()

    def set_default_fields(self, **defaults: Any) -> None:
        """Replace the fields every emit adds to its data; the emitter's own fields win."""
        self._defaults = defaults

    def observe(self, callback: Observer) -> Callable[[], None]:
        """Call ``callback`` with a :class:`HookTrace` once per emit, after the handlers ran.

        It runs synchronously in the emitting task, also for emits nobody handles. What it raises is
        logged and disturbs nobody.

        Returns:
            A function that stops the observation.
        """
        if inspect.iscoroutinefunction(callback):
            raise TypeError("An observer is called synchronously: pass a plain function")
        # An object of its own per call, so that each stop ends one observation only.
        observer = partial(callback)
        add_shared(self._observers, observer)
        return partial(drop_shared, self._observers, observer)

    def observe_holds(self, callback: HoldObserver) -> Callable[[], None]:
        """Call ``callback`` with a :class:`HandlerHold` when a handler waits for over a second.

        And once more when that one has ended. A handler that blocks its thread is not seen.

        Returns:
            A function that stops the observation.
        """
        add_shared(self._hold_observers, callback)
        return partial(drop_shared, self._hold_observers, callback)

    def conclude(self, event: str, conclude: Conclude, name: str) -> None:
        """Have the host settle what the handlers of ``event`` answered, unless one denied.

        It runs after all of them, whatever their priority, and cannot be unregistered.

        Args:
            event: Exact name of the event.
            conclude: Gets the answers and returns the result of the emit. When it raises, the
                result is a denial.
            name: Name for logs and traces.
        """
        self._concluding[event] = (name, conclude)

    def note_denials(self, event: str, note: NoteDenial) -> None:
        """Have the host told of what a handler of ``event`` denied, before the emit returns it."""
        self._denials[event] = note

    def announced(self, event: str) -> Callable[[], None]:
        """Have the next emit of ``event`` reach nobody: the host has emitted it already.

        That emit returns "continue" with its data. What is returned here takes the wish back.
        """
        self._announced.add(event)
        return partial(self._announced.discard, event)

    def show_messages(self, show: ShowMessage) -> None:
        """Have the host show what handlers tell the user, whatever becomes of their answers.

        What is shown is no longer in the result of the emit, so nobody shows it again. Without a
        host, `process_hook_result` shows the message of the result it is given (spec 002).
        """
        self._show = show

    def _shown(self, answer: HookResult, event: str, entry: Registration) -> HookResult:
        """Show an answer's message, and return the answer without it."""
        if self._show is None or not answer.user_message:
            return answer
        source = answer.user_message_source or ""
        text, level = answer.user_message, answer.user_message_level
        message = HookMessage(text, level, source, entry.name, event, entry.module)
        try:
            self._show(message)
        except Exception:
            logger.exception("A message of '%s' could not be shown", entry.name)
        return changed(answer, user_message=None)

    def emit(self, event: str, data: Any = None) -> Coroutine[Any, Any, HookResult]:
        """Tell the handlers of ``event``, one after the other.

        Args:
            event: Name of the event.
            data: A dict, or a model with ``model_dump``. It is never changed.

        Returns:
            Coroutine of the result. Its action is "continue" also after handlers modified the
            data: read ``data`` of the result.

        Raises:
            ValueError: The data is circular or far too big.
            asyncio.CancelledError: The emitting task was cancelled.
        """
        # Not a coroutine function: the id belongs into the caller's context, also when the caller
        # makes a task of the coroutine.
        if event in CORRELATED_EVENTS:
            data = _correlated(event, as_dict(data))
        if event in self._announced:
            return self._repeat(event, data)
        return self._emit(event, data)

    def _held(self, event: str, data: dict[str, Any], entry: Registration, held: bool) -> None:
        hold = HandlerHold(event, data, entry.name, entry.module, over=not held)
        for observer in tuple(self._hold_observers):
            try:
                observer(hold)
            except Exception:
                logger.exception("It could not be told that '%s' takes long", entry.name)

    async def _repeat(self, event: str, given: Any) -> HookResult:
        self._announced.discard(event)
        return continue_with(None if given is None else as_dict(given))

    async def _emit(self, event: str, given: Any) -> HookResult:
        entries = self._by_event.get(event, ())
        concluding = self._concluding.get(event)
        report = EmitReport(tuple(self._observers), event) if self._observers else None
        if not entries and concluding is None:
            data = given if given is None or type(given) is dict else as_dict(given)
            result = continue_with(data)
            if report is not None:
                _tell(report, self._observable(event, data), result)
            return result
        try:
            current = EventData(self._completed(given))
        except ValueError as error:
            if report is not None:
                report.fail("kernel", str(error))
                _tell(report, self._completed({"error": str(error)}), continue_with(None))
            raise
        emitted = current.data
        emit_began = perf_counter() if concluding is not None else 0.0
        task = emitting_task()
        question: HookResult | None = None
        asker = ""
        failed: list[tuple[str, str]] = []
        changes: list[tuple[str, dict[str, Any], Any]] = []
        injections: list[tuple[HookResult, str]] = []
        for entry in entries:
            began = perf_counter() if report is not None else 0.0
            problem: str | None = None
            try:
                reply = start_handler(entry.handler, event, current.lend(), task)
                if type(reply) is Unfinished:
                    if self._hold_observers:
                        reply.held = partial(self._held, event, emitted, entry)
                    reply = await reply
                answer = read_result(reply)
            except InvalidHookResponseError as error:
                problem, answer = _denied(entry, event, error)
            except BaseException as raised:
                failure = _failure(entry, raised)
                if failure is None:
                    if report is not None:
                        ended = f"ended by {type(raised).__name__}"
                        report.fail(entry.name, ended, began, entry.module)
                        _tell(report, emitted, continue_with(None))
                    raise
                # A long message must not hide the place behind it.
                said = shortened(f"{type(failure).__name__}: {raised_text(failure)}", _SAID)
                problem, answer = with_place(said, failure), None
                failed.append((entry.whose, problem))
                _log_failure(entry, event, failure)
            if report is not None:
                lacking = without_effect(answer, event, current.data)
                if problem is None and (wrong := lacking or misspelt(reply)):
                    where = place_of(entry.handler)
                    problem = f"{wrong} ({where})" if where else wrong
                report.add(entry.name, began, answer, problem, entry.module)
            if answer is not None and answer.user_message:
                answer = self._shown(answer, event, entry)
            if answer is None or answer.action == "continue":
                continue
            if answer.action == "deny":
                result = answer
                if not answer.reason:
                    result = changed(answer, reason=_NO_REASON.format(entry.whose))
                if (note := self._denials.get(event)) is not None:
                    told = (event, current.copy(), result, entry.whose, tuple(failed))
                    await _noted(note, HookAnswers(*told, emitted, tuple(changes), emit_began))
                break
            if answer.action == "modify":
                if answer.data is not None:
                    current = EventData(answer.data)
                    changes.append((entry.whose, current.data, entry.handler))
            elif answer.action == "ask_user":
                question, asker = (question, asker) if question else (answer, entry.whose)
            elif injections_of(answer, event, entry.name):
                injections.append((answer, entry.name))
        else:
            if question is not None:
                result = question
            elif injections:
                result = merge_injections(injections, event)
            else:
                result = continue_with(current.data)
            if current.data is not emitted:
                # What is asked about, or injected beside, is the call as it was changed.
                result = changed(result, data=current.data)
            if concluding is not None:
                told = (event, current.copy(), result, asker, tuple(failed))
                made = (emitted, tuple(changes))
                answers = HookAnswers(*told, *made, began=emit_began)
                result = await _concluded(*concluding, answers, report)
        if report is not None:
            _tell(report, emitted, result)
        return result

    async def emit_and_collect(
        self, event: str, data: Any = None, timeout: float | None = 1.0
    ) -> list[dict[str, Any]]:
        """Ask the handlers of ``event`` for data; actions have no meaning here.

        Args:
            event: Name of the event.
            data: A dict, or a model with ``model_dump``. Defaults and timestamp are not added.
            timeout: Seconds each handler has; None for as long as it takes. One that is late or
                fails is logged and left out.

        Returns:
            The ``data`` of every result that has any, in the order of the handlers.

        Raises:
            ValueError: The data is circular or far too big.
        """
        entries = self._by_event.get(event)
        if not entries:
            return []
        payload = EventData(as_dict(data))
        collected: list[dict[str, Any]] = []
        for entry in entries:
            answer = await _ask_in_time(entry, event, payload.lend(), timeout)
            if answer is None:
                continue
            self._shown(answer, event, entry)
            if isinstance(answer.data, dict):
                collected.append(answer.data)
        return collected

    def _completed(self, given: Any) -> dict[str, Any]:
        fields: dict[str, Any] = {**self._defaults, **as_dict(given)}
        fields["timestamp"] = datetime.now(UTC).isoformat()
        return fields

    def _observable(self, event: str, data: Any) -> dict[str, Any]:
        try:
            return EventData(self._completed(data)).data
        except ValueError as error:
            # Nobody handles it, so nobody but the observer would have minded.
            logger.warning("The data of '%s' can't be shown: %s", event, error)
            return self._completed({"error": str(error)})


def _tell(report: EmitReport, data: dict[str, Any], result: HookResult) -> None:
    trace = report.trace(data, result)
    for observer in report.observers:
        try:
            observer(trace)
        except (Exception, asyncio.CancelledError):
            logger.exception("An observer of the hooks failed on '%s'", trace.event)


async def _concluded(
    name: str, conclude: Conclude, answers: HookAnswers, report: EmitReport | None
) -> HookResult:
    began = perf_counter()
    problem: str | None = None
    try:
        result = await conclude(answers)
    except Exception as error:
        logger.exception("'%s' could not settle '%s'; denied", name, answers.event)
        problem = f"{type(error).__name__}: {error}"
        result = HookResult(action="deny", reason=f"It could not be judged ({problem}).")
    if report is not None:
        # What a handler injected and it lets stand, it has not said.
        stands = result.action == answers.result.action == "inject_context"
        report.add(name, began, None if stands else result, problem)
    return result


async def _noted(note: NoteDenial, answers: HookAnswers) -> None:
    try:
        await note(answers)
    except Exception:
        logger.exception("That '%s' was denied could not be noted", answers.event)


def _denied(
    entry: Registration, event: str, error: InvalidHookResponseError
) -> tuple[str, HookResult]:
    """Return what is wrong with an answer, for who looks after the module, and the denial."""
    logger.error(
        "SECURITY: hook handler '%s' gave an invalid response to '%s' (%s). "
        "Denied, because it can't be told what the handler meant.",
        entry.name,
        event,
        error,
    )
    # Its author reads this where the call was denied.
    where = place_of(entry.handler)
    said = f"{entry.name}{f' at {where}' if where else ''}: {error}"
    problem = f"{INVALID_RESPONSE}: {error}{f' ({where})' if where else ''}. {WANTED}"
    return problem, HookResult(action="deny", reason=f"{INVALID_RESPONSE} ({said}). {WANTED}")


async def _ask_in_time(
    entry: Registration, event: str, data: dict[str, Any], limit: float | None
) -> HookResult | None:
    try:
        async with asyncio.timeout(limit) as clock:
            reply = start_handler(entry.handler, event, data, emitting_task())
            return read_result(await reply if type(reply) is Unfinished else reply)
    except TimeoutError as problem:
        if clock.expired():
            logger.warning(
                "Hook handler '%s' did not answer '%s' within %s s", entry.name, event, limit
            )
        else:
            _log_failure(entry, event, problem)
    except BaseException as raised:
        failure = _failure(entry, raised)
        if failure is None:
            raise
        _log_failure(entry, event, failure)
    return None


def _failure(entry: Registration, raised: BaseException) -> Exception | None:
    """Return what a handler raised, where that is its own failure; None for what gets through.

    A module does not end the program, as where it is mounted. The program's own handlers may.
    """
    if isinstance(raised, SystemExit) and entry.module:
        return as_error(raised)
    return raised if isinstance(raised, Exception) else None


def _log_failure(entry: Registration, event: str, problem: Exception) -> None:
    logger.error(
        "Hook handler '%s' failed on '%s': %s", entry.name, event, problem, exc_info=problem
    )


def _correlated(event: str, fields: dict[str, Any]) -> dict[str, Any]:
    supplied = fields.get(REQUEST_ID_FIELD)
    request_id = resolve_request_id(event, str(supplied) if supplied else None)
    if request_id is None or request_id == supplied:
        return fields
    return {**fields, REQUEST_ID_FIELD: request_id}
