"""Mounting one module; providers may have several instances of one.

A module the session can do without leaves nothing half mounted behind when it fails: the mount
points and handlers are as they were. The failure is logged and announced as
``module:load_failed``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import events
from amplifier_tui.kernel.mounting.callbacks import contained
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.errors import (
    BrokenModuleError,
    ModuleValidationError,
    SourceUnavailableError,
    exception_text,
    module_failure_reason,
    reason_text,
    with_place,
)
from amplifier_tui.kernel.mounting.mounted import Kind, MountedModule
from amplifier_tui.kernel.mounting.packages.finding import (
    TYPE_TO_MOUNT_POINT,
    check_kind,
    package_of,
)
from amplifier_tui.kernel.mounting.window import MountWindow

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

logger = logging.getLogger(__name__)


METHODS: Final = {
    "orchestrator": ("execute",),
    "context": ("add_message", "get_messages_for_request", "get_messages", "set_messages", "clear"),
    "provider": ("get_info", "list_models", "complete", "parse_tool_calls"),
    "tool": ("execute",),
}
"""The methods that the contract of a kind has; hooks are no objects that mount."""

_NAMED: Final = frozenset({"provider", "tool"})


def is_module_of(kind: str, returned: Any) -> bool:
    """Tell whether what ``mount`` returned is a module of a kind, and so no cleanup function.

    The methods must be its class's: a mock has every attribute, and is a cleanup function all the
    same.
    """
    if kind not in METHODS or returned is None:
        return False
    if kind in _NAMED and not isinstance(getattr(returned, "name", None), str):
        return False
    return all(hasattr(type(returned), method) for method in METHODS[kind])


MOUNT_SECONDS: Final = 120.0
"""Seconds a mount may wait for something: starting a server takes long, for ever is a mistake."""


async def call_mount(
    mount: Callable[..., Any],
    coordinator: Any,
    config: dict[str, Any],
    module_id: str,
    seconds: float | None = None,
) -> Any:
    """Await ``mount(coordinator, config)``; returns what it returns and raises what it raises.

    After so many seconds (None for :data:`MOUNT_SECONDS`) it raises `ModuleLoadError`, and
    `ModuleValidationError` when it is not async and returns nothing.
    """
    limit = MOUNT_SECONDS if seconds is None else seconds
    clock = asyncio.timeout(limit)
    try:
        async with clock:
            called = mount(coordinator, config)
            outcome = await awaited(called)
    except TimeoutError as error:
        if not clock.expired():
            raise
        raise BrokenModuleError(
            f"Module '{module_id}' did not finish mounting within {limit:g} s: its mount waits for "
            "something. Long work belongs into on_session_ready or a task of its own."
        ) from error
    if called is None:
        # What it called and did not wait for has mounted nothing.
        place = place_of(mount)
        reason = (
            f"mount() should be async{f' ({place})' if place else ''}. "
            "Define it as: async def mount(coordinator, config)"
        )
        raise ModuleValidationError(
            f"Module '{module_id}': {reason}", reason_code="invalid_entry_point", reason=reason
        )
    return outcome


OptionalKind = Literal["provider", "tool", "hook"]
ReadyQueue = list[tuple[str, Any]]


class ModuleDeclinedError(ValueError):
    """A module's mount ran and mounted nothing: it has nothing to offer here."""


async def mount_module(
    coordinator: ModuleCoordinator,
    loader: Any,
    kind: Kind,
    spec: dict[str, Any],
    ready: ReadyQueue,
) -> MountedModule:
    """Load a module, mount it, and note what it brought along; a failure is undone and raised.

    ``spec`` is ``{module, source, config}`` of the mount plan; ``ready`` gets the
    ``on_session_ready`` of a mount that succeeds.
    """
    queued = len(ready)
    with MountWindow(coordinator) as window:
        try:
            if kind == "provider":
                await _call(coordinator, BEFORE_LOAD, spec)
            package = await _load_and_mount(coordinator, loader, kind, spec, ready)
            if kind == "provider":
                _settle_name(coordinator, spec, window.points["providers"])
            window.warn_of_replaced(spec["module"])
        except BaseException:
            window.restore()
            del ready[queued:]
            raise
        module = MountedModule(kind, spec, package)
        window.give(module)
    coordinator.mounted_modules.append(module)
    return module


async def _load_and_mount(
    coordinator: ModuleCoordinator,
    loader: Any,
    kind: Kind,
    spec: dict[str, Any],
    ready: ReadyQueue,
) -> str:
    """Load and mount a module; returns the package of its code."""
    config = spec.get("config")
    if not isinstance(config, dict | None):
        raise BrokenModuleError(f"'config' must be a dict, got {type(config).__name__}")
    with contained("mounting"):
        mount = await loader.load(
            spec["module"],
            config or {},
            source_hint=spec.get("source"),
            coordinator=coordinator,
        )
        check_kind(spec["module"], kind, mount)
        point = TYPE_TO_MOUNT_POINT[kind] if kind in METHODS else None
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
    return package_of(getattr(mount, "__mount__", None))


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

    Raises only what the capability ``provider.load_failure`` raises, to abort.
    """
    try:
        await mount_module(coordinator, loader, kind, spec, ready)
    except Exception as error:
        await _announce_failure(coordinator, kind, spec, error)
        if kind == "provider":
            await _call(coordinator, LOAD_FAILURE, spec, error)


async def _announce_failure(
    coordinator: ModuleCoordinator, kind: OptionalKind, spec: dict[str, Any], error: Exception
) -> None:
    text = exception_text(error)
    says_it_all = ModuleDeclinedError | ModuleValidationError | SourceUnavailableError
    logger.warning(
        "Failed to load %s '%s': %s",
        kind,
        spec["module"],
        text,
        exc_info=None if isinstance(error, says_it_all) else error,
    )
    data = {
        "module_type": kind,
        "module_id": spec["module"],
        "error": text,
        "problem": with_place(reason_text(error), error),
        "reason_code": module_failure_reason(error),
    }
    if spec.get("instance_id"):
        data["instance_id"] = spec["instance_id"]
    await coordinator.hooks.emit(events.MODULE_LOAD_FAILED, data)


async def announce_ready(coordinator: ModuleCoordinator, ready: ReadyQueue) -> None:
    """Call the ``on_session_ready`` of modules; what they register there is theirs as well."""
    for module_id, on_session_ready in ready:
        with MountWindow(coordinator) as window:
            try:
                with contained("getting ready"):
                    await on_session_ready(coordinator)
            except Exception as error:
                text = exception_text(error)
                logger.warning(
                    "on_session_ready of '%s' failed: %s", module_id, text, exc_info=error
                )
                await coordinator.hooks.emit(
                    events.MODULE_ON_SESSION_READY_FAILED, {"module_id": module_id, "error": text}
                )
            own = [each for each in coordinator.mounted_modules if each.module_id == module_id]
            if own:
                window.give(own[-1])


BEFORE_LOAD = "provider.before_load"
LOAD_FAILURE = "provider.load_failure"


def check_instances(specs: list[dict[str, Any]]) -> None:
    """Raise ``ValueError`` if several entries of one module can't be told apart."""
    unnamed = Counter(spec["module"] for spec in specs if not spec.get("instance_id"))
    for module_id, count in unnamed.items():
        if count > 1:
            raise ValueError(
                "Multi-instance providers require explicit 'instance_id' on each additional entry. "
                f"Found {count} entries for module '{module_id}' without instance_id "
                "(at most 1 allowed as the default instance)."
            )


def _settle_name(
    coordinator: ModuleCoordinator, spec: dict[str, Any], earlier: dict[str, Any]
) -> None:
    mounted: dict[str, Any] = coordinator.get("providers")
    fresh = [name for name in mounted if mounted[name] is not earlier.get(name)]
    if not fresh:
        raise ModuleDeclinedError("Provider mount did not install a new provider instance")
    instance_id = spec.get("instance_id")
    if not instance_id or instance_id in fresh:
        return
    default = spec["module"].removeprefix("provider-")
    own_name = default if default in fresh else fresh[0]
    provider = mounted[own_name]
    if own_name in earlier:
        mounted[own_name] = earlier[own_name]
    else:
        del mounted[own_name]
    mounted[instance_id] = provider


async def _call(
    coordinator: ModuleCoordinator, capability: str, spec: dict[str, Any], *details: Any
) -> None:
    function = coordinator.get_capability(capability)
    if function is None:
        return
    await awaited(function(coordinator, copy_plain(spec), *details))
