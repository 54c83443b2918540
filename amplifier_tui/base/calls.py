"""Calling functions that may be async or not."""

import inspect
from typing import Any


async def awaited(outcome: Any) -> Any:
    """Return what a function returned; if that can be awaited, what comes of it."""
    return await outcome if inspect.isawaitable(outcome) else outcome
