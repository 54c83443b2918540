"""Mounting the providers of a plan, several instances of one module among them."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING, Any

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.kernel.mounting.mount import (
    ModuleDeclinedError,
    ReadyQueue,
    announce_failure,
    load_and_mount,
)
from amplifier_tui.kernel.mounting.window import MountWindow

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

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


async def mount_provider(
    coordinator: ModuleCoordinator, loader: Any, spec: dict[str, Any], ready: ReadyQueue
) -> None:
    """Load and mount a provider; if that fails, undo it, announce it and go on.

    Raises:
        Exception: Only what the capability ``provider.load_failure`` raises, to abort.
    """
    queued = len(ready)
    failure: Exception | None = None
    with MountWindow(coordinator) as window:
        try:
            await _call(coordinator, BEFORE_LOAD, spec)
            await load_and_mount(coordinator, loader, "provider", spec, ready)
            _settle_name(coordinator, spec, window.points["providers"])
            window.warn_of_replaced(spec["module"])
        except Exception as error:
            window.restore()
            failure = error
    if failure is not None:
        del ready[queued:]
        await announce_failure(coordinator, "provider", spec, failure)
        await _call(coordinator, LOAD_FAILURE, spec, failure)


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
    outcome = function(coordinator, copy_plain(spec), *details)
    if inspect.isawaitable(outcome):
        await outcome
