"""Mounting one module that a session can do without.

A module that fails leaves nothing half mounted behind: the mount points and handlers are as they
were. The failure is logged and announced as ``module:load_failed``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from amplifier_tui.kernel import events
from amplifier_tui.kernel._cancel_requests import cancel_requests, is_genuine_cancellation
from amplifier_tui.kernel._loader_errors import ModuleValidationError, module_failure_reason
from amplifier_tui.kernel._mount_window import MountWindow
from amplifier_tui.kernel._returned_module import POINTS, is_module_of

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

logger = logging.getLogger(__name__)

OptionalKind = Literal["provider", "tool", "hook"]
Kind = Literal["orchestrator", "context", "provider", "tool", "hook"]
ReadyQueue = list[tuple[str, Any]]


def safe_exception_str(error: BaseException) -> str:
    """Return an exception's text; its ``repr`` if the text can't be decoded."""
    try:
        return str(error)
    except UnicodeDecodeError:
        return repr(error)


class ModuleDeclinedError(ValueError):
    """A module's mount ran and mounted nothing: it has nothing to offer here."""


class ModuleCancelledError(Exception):
    """A module raised ``CancelledError`` though nobody cancelled the session's task."""


@contextmanager
def contained(doing: str) -> Iterator[None]:
    """Make ordinary errors of what a module must not raise, so that it costs only the module.

    Args:
        doing: What the module does meanwhile, for the message.

    Raises:
        ModuleCancelledError: It raised ``CancelledError`` by itself. A cancellation of the running
            task gets through.
        RuntimeError: It raised ``SystemExit``.
    """
    baseline = cancel_requests()
    try:
        yield
    except asyncio.CancelledError as error:
        if is_genuine_cancellation(baseline):
            raise
        raise ModuleCancelledError(f"the module raised CancelledError while {doing}") from error
    except SystemExit as error:
        raise RuntimeError(f"the module tried to end the program (exit {error.code})") from error


async def load_and_mount(
    coordinator: ModuleCoordinator,
    loader: Any,
    kind: Kind,
    spec: dict[str, Any],
    ready: ReadyQueue,
) -> None:
    """Load a module, mount it, and note its cleanup and its ``on_session_ready``.

    Args:
        coordinator: Where to mount it.
        loader: Who loads it.
        kind: Kind of the module.
        spec: ``{module, source, config}`` of the mount plan.
        ready: Where to put ``on_session_ready``; only a mount that succeeds gets there.

    Raises:
        Exception: What loading or mounting raised.
    """
    with contained("mounting"):
        mount = await loader.load(
            spec["module"],
            spec.get("config") or {},
            source_hint=spec.get("source"),
            coordinator=coordinator,
        )
        point = POINTS.get(kind)
        earlier = coordinator.get_mounted(point) if point else {}
        returned = await mount(coordinator)
    if point and is_module_of(kind, returned):
        # Spec 000: what mount returns is registered automatically, if it did not do that itself.
        if not _differ(coordinator.get_mounted(point), earlier):
            await coordinator.mount(point, returned)
    elif returned:
        coordinator.register_cleanup(returned)
    queued = getattr(mount, "__on_session_ready__", None)
    if isinstance(queued, tuple):
        ready.append(queued)


def _differ(mounted: dict[str, Any], earlier: dict[str, Any]) -> bool:
    return mounted.keys() != earlier.keys() or any(
        module is not earlier[name] for name, module in mounted.items()
    )


async def mount_optional(
    coordinator: ModuleCoordinator,
    loader: Any,
    kind: OptionalKind,
    spec: dict[str, Any],
    ready: ReadyQueue,
) -> None:
    """Load and mount a module; if that fails, undo it, announce it and go on.

    Args:
        coordinator: Where to mount it.
        loader: Who loads it.
        kind: Kind of the module.
        spec: ``{module, source, config}`` of the mount plan.
        ready: Where to put its ``on_session_ready``.
    """
    failure: Exception | None = None
    with MountWindow(coordinator) as window:
        try:
            await load_and_mount(coordinator, loader, kind, spec, ready)
        except Exception as error:
            window.restore()
            failure = error
        else:
            window.warn_of_replaced(spec["module"])
    if failure is not None:
        await announce_failure(coordinator, kind, spec, failure)


async def announce_failure(
    coordinator: ModuleCoordinator, kind: OptionalKind, spec: dict[str, Any], error: Exception
) -> None:
    """Log a failed module and emit ``module:load_failed``.

    Args:
        coordinator: Whose hooks to tell.
        kind: Kind of the module.
        spec: Its entry in the mount plan.
        error: What it failed with.
    """
    text = safe_exception_str(error)
    logger.warning(
        "Failed to load %s '%s': %s",
        kind,
        spec["module"],
        text,
        # These two say it all.
        exc_info=None if isinstance(error, ModuleDeclinedError | ModuleValidationError) else error,
    )
    data = {
        "module_type": kind,
        "module_id": spec["module"],
        "error": text,
        "reason_code": module_failure_reason(error),
    }
    if spec.get("instance_id"):
        data["instance_id"] = spec["instance_id"]
    await coordinator.hooks.emit(events.MODULE_LOAD_FAILED, data)
