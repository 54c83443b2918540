"""Mounting everything a plan names, in order."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal

from amplifier_tui.kernel import events
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.mounting.callbacks import contained
from amplifier_tui.kernel.mounting.errors import exception_text
from amplifier_tui.kernel.mounting.mount import (
    OptionalKind,
    ReadyQueue,
    check_instances,
    load_and_mount,
    mount_optional,
)
from amplifier_tui.kernel.utils.truncate import redact_secrets, without_cycles

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

logger = logging.getLogger(__name__)


async def initialize_session(
    config: dict[str, Any],
    coordinator: ModuleCoordinator,
    session_id: str,
    parent_id: str | None = None,
) -> None:
    """Mount orchestrator, context, providers, tools and hooks, and say that they are ready.

    A session with a ``parent_id`` announces itself with ``session:fork``.

    Raises:
        RuntimeError: The orchestrator or the context can't be loaded.
        ValueError: Providers of one module can't be told apart.
    """
    loader = coordinator.loader
    if loader is None:
        loader = coordinator.loader = ModuleLoader(coordinator=coordinator)
    ready: ReadyQueue = []
    await _mount_required(config, coordinator, loader, "orchestrator", "orchestrator", ready)
    await _mount_required(config, coordinator, loader, "context", "context manager", ready)
    providers = _entries(config, "providers")
    check_instances(providers)
    sections: tuple[tuple[OptionalKind, list[dict[str, Any]]], ...] = (
        ("provider", providers),
        ("tool", _entries(config, "tools")),
        ("hook", _entries(config, "hooks")),
    )
    for kind, specs in sections:
        for spec in specs:
            await mount_optional(coordinator, loader, kind, spec, ready)
    await _announce_ready(coordinator, [*ready, *_queued(loader)])
    if parent_id:
        await _announce_fork(config, coordinator, session_id, parent_id)


async def _mount_required(
    config: dict[str, Any],
    coordinator: ModuleCoordinator,
    loader: Any,
    part: Literal["orchestrator", "context"],
    title: str,
    ready: ReadyQueue,
) -> None:
    spec = _required_spec(config, part)
    try:
        await load_and_mount(coordinator, loader, part, spec, ready)
    except Exception as error:
        text = exception_text(error)
        logger.error("Failed to load %s '%s': %s", part, spec["module"], text)
        raise RuntimeError(f"Cannot initialize without {title}: {text}") from error


def _required_spec(config: dict[str, Any], part: str) -> dict[str, Any]:
    section = config["session"]
    named = section[part]
    settings = config.get(part)
    default = settings.get("config") if isinstance(settings, dict) else None
    if isinstance(named, dict):
        return {"source": None, "config": default, **named}
    return {"module": named, "source": section.get(f"{part}_source"), "config": default}


def _entries(config: dict[str, Any], section: str) -> list[dict[str, Any]]:
    entries = config.get(section) or []
    if not isinstance(entries, list | tuple):
        logger.warning("'%s' of the mount plan must be a list; ignored", section)
        return []
    found = []
    for entry in entries:
        spec = {"module": entry} if isinstance(entry, str) else entry
        if isinstance(spec, dict) and spec.get("module"):
            found.append(spec)
        else:
            logger.warning("An entry of '%s' in the mount plan names no module; skipped", section)
    return found


def _queued(loader: Any) -> ReadyQueue:
    # Filled by whoever mounts through the loader itself.
    if not isinstance(loader, ModuleLoader):
        return []
    queued: ReadyQueue = [*loader.get_on_session_ready_queue()]
    loader.clear_on_session_ready_queue()
    return queued


async def _announce_ready(coordinator: ModuleCoordinator, ready: ReadyQueue) -> None:
    for module_id, on_session_ready in ready:
        try:
            with contained("getting ready"):
                await on_session_ready(coordinator)
        except Exception as error:
            text = exception_text(error)
            logger.warning("on_session_ready of '%s' failed: %s", module_id, text, exc_info=error)
            await coordinator.hooks.emit(
                events.MODULE_ON_SESSION_READY_FAILED, {"module_id": module_id, "error": text}
            )


async def _announce_fork(
    config: dict[str, Any], coordinator: ModuleCoordinator, session_id: str, parent_id: str
) -> None:
    data: dict[str, Any] = {"parent": parent_id, "session_id": session_id}
    section = config["session"]
    if section.get("metadata"):
        data["metadata"] = without_cycles(section["metadata"])
    if section.get("raw"):
        data["raw"] = redact_secrets(config)
    await coordinator.hooks.emit(events.SESSION_FORK, data)
