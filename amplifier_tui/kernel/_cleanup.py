"""Tidying up: every function runs, whatever the others do (spec 002, cleanup)."""

from __future__ import annotations

import inspect
import logging
from typing import Any, Final

logger = logging.getLogger(__name__)

_ROUNDS: Final = 8


CLEANUP_FAILED: Final = "cleanup:failed"
"""Event ``{cleanup, error}`` for each function that failed, after all of them ran."""


async def run_cleanups(functions: list[Any], failures: list[tuple[str, Exception]]) -> None:
    """Run the functions, last one first, and empty the list.

    Functions registered meanwhile run too, unless they keep coming.

    Args:
        functions: Sync or async functions without arguments; what is not callable is skipped.
        failures: Gets the name of each function that raised, and what.

    Raises:
        BaseException: The first ``CancelledError``, ``KeyboardInterrupt`` or ``SystemExit``, after
            all functions ran. Ordinary exceptions are logged.
    """
    fatal: BaseException | None = None
    for _ in range(_ROUNDS):
        batch = functions[::-1]
        functions.clear()
        for function in batch:
            if not callable(function):
                continue
            try:
                outcome = function()
                if inspect.isawaitable(outcome):
                    await outcome
            except Exception as error:
                logger.error("Error during cleanup: %s", error, exc_info=error)
                failures.append((getattr(function, "__qualname__", repr(function)), error))
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
