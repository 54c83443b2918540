"""Telling who cancels: somebody this task, or somebody only himself."""

from __future__ import annotations

import asyncio


def cancel_requests() -> int:
    """Return how often the running task was asked to cancel; 0 outside of a task."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return 0
    return task.cancelling() if task is not None else 0


def is_genuine_cancellation(baseline: int) -> bool:
    """Tell a cancellation of this task from a ``CancelledError`` somebody raised by hand.

    Args:
        baseline: :func:`cancel_requests` from before the call that raised. A task that is already
            being cancelled may still tidy up, so only new requests count.
    """
    return cancel_requests() > baseline
