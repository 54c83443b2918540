"""Calling what modules registered, so that a failure or a cancellation of theirs stays theirs.

Also what can be told of a function without calling it.

A ``CancelledError`` means two things: somebody cancelled the running task, which must get through,
or the called function raised it by itself, which is an ordinary failure. Only the number of
requests the task has received tells them apart.
"""

import asyncio
import inspect
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from amplifier_tui.base.python import awaited, signature_of, without_exit

logger = logging.getLogger(__name__)


def cancel_requests() -> int:
    """Return how often the running task was asked to cancel; 0 outside of a task."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return 0
    return task.cancelling() if task is not None else 0


def is_genuine_cancellation(baseline: int) -> bool:
    """Tell a cancellation of this task from a ``CancelledError`` somebody raised by hand.

    ``baseline`` is :func:`cancel_requests` from before the call that raised: a task that is being
    cancelled already may still tidy up.
    """
    return cancel_requests() > baseline


class ModuleCancelledError(Exception):
    """A module raised ``CancelledError`` though nobody cancelled the session's task."""


@contextmanager
def contained(doing: str) -> Iterator[None]:
    """Turn a module's own ``CancelledError`` and ``SystemExit`` into ordinary errors.

    A cancellation of the running task gets through. The message says what the module was doing.
    """
    baseline = cancel_requests()
    try:
        with without_exit():
            yield
    except asyncio.CancelledError as error:
        if is_genuine_cancellation(baseline):
            raise
        raise ModuleCancelledError(f"the module raised CancelledError while {doing}") from error


async def collect_contributions(
    channels: dict[str, list[dict[str, Any]]], channel: str
) -> list[Any]:
    """Return what every contributor (``name``, ``callback``) of a channel gives, without None.

    A contributor that fails is logged and left out; one that raises ``CancelledError`` by itself
    ends the collection with what is there.
    """
    collected: list[Any] = []
    baseline = cancel_requests()
    for contributor in tuple(channels.get(channel, ())):
        name = contributor["name"]
        try:
            offered = await awaited(contributor["callback"]())
        except asyncio.CancelledError:
            if is_genuine_cancellation(baseline):
                raise
            logger.warning(
                "Contributor '%s' to '%s' was cancelled; its successors were not asked",
                name,
                channel,
            )
            break
        except Exception as error:
            logger.warning("Contributor '%s' to '%s' failed: %s", name, channel, error)
            continue
        if offered is not None:
            collected.append(offered)
    return collected


_ROUNDS: Final = 8


async def run_cleanups(functions: list[Any], failures: list[tuple[Any, Exception]]) -> None:
    """Run the functions, last one first, and empty the list.

    Functions registered meanwhile run too, unless they keep coming. Ordinary exceptions are
    logged; ``failures`` gets each with its function. The first other one is raised after
    all functions ran.
    """
    fatal: BaseException | None = None
    for _ in range(_ROUNDS):
        batch = functions[::-1]
        functions.clear()
        for function in batch:
            if not callable(function):
                continue
            try:
                await awaited(function())
            except Exception as error:
                logger.error("Error during cleanup: %s", error, exc_info=error)
                failures.append((function, error))
            except BaseException as error:
                logger.warning("Cleanup was interrupted by %s; going on", type(error).__name__)
                fatal = fatal or error
        if not functions:
            break
    else:
        logger.warning("%d cleanup functions were registered too late to run", len(functions))
        functions.clear()
    if fatal is not None:
        raise fatal


MANY: Final = 1_000
"""How many positional arguments ``*args`` counts as."""


def is_async(function: Any) -> bool:
    """Tell whether calling a function, method or callable object gives a coroutine."""
    while isinstance(function, partial):
        function = function.func
    candidates: list[Any] = [function, inspect.unwrap(function)]
    if callable(function):
        candidates.append(function.__call__)
    return any(inspect.iscoroutinefunction(candidate) for candidate in candidates)


def positional_parameters(function: Any) -> int:
    """Return how many positional arguments a function accepts; :data:`MANY` if it is not known."""
    try:
        parameters = signature_of(function).parameters.values()
    except (TypeError, ValueError):
        return MANY
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return MANY
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in positional for kind in kinds)


def missing_keywords(function: Any, names: tuple[str, ...]) -> list[str]:
    """Return those of the names a function does not accept as keyword arguments."""
    try:
        parameters = signature_of(function).parameters
    except (TypeError, ValueError):
        return []
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return []
    return [
        name
        for name in names
        if name not in parameters
        or parameters[name].kind
        in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    ]


def needed_beyond(function: Any, count: int, names: tuple[str, ...] = ()) -> list[str]:
    """Return the parameters that a caller who gives ``count`` arguments leaves without a value.

    Args:
        count: How many are given by position.
        names: Those given by keyword.
    """
    try:
        parameters = list(signature_of(function).parameters.values())
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [each for each in parameters if each.default is each.empty and each.kind not in kinds]
    by_position = [each for each in parameters if each.kind is not each.KEYWORD_ONLY][:count]
    return [each.name for each in needed if each not in by_position and each.name not in names]
