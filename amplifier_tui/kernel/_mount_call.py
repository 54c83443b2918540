"""Calling a module's mount, for as long as can be waited for."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Final

from amplifier_tui.kernel._loader_errors import BrokenModuleError

MOUNT_SECONDS: Final = 120.0
"""Seconds a mount may wait for something: starting a server takes long, for ever is a mistake."""


async def call_mount(
    mount: Callable[..., Any],
    coordinator: Any,
    config: dict[str, Any],
    module_id: str,
    seconds: float | None = None,
) -> Any:
    """Call ``mount(coordinator, config)`` and return what it returns.

    Args:
        mount: The module's function, async or not.
        coordinator: Where to mount.
        config: The module's configuration.
        module_id: Whose mount it is, for messages.
        seconds: How long to wait; None for :data:`MOUNT_SECONDS`.

    Raises:
        ModuleLoadError: It was still waiting after that (also a ValueError).
        Exception: What it raised.
    """
    limit = MOUNT_SECONDS if seconds is None else seconds
    clock = asyncio.timeout(limit)
    try:
        async with clock:
            outcome = mount(coordinator, config)
            return await outcome if inspect.isawaitable(outcome) else outcome
    except TimeoutError as error:
        if not clock.expired():
            raise
        raise BrokenModuleError(
            f"Module '{module_id}' did not finish mounting within {limit:g} s: its mount waits for "
            "something. Long work belongs into on_session_ready or a task of its own."
        ) from error
