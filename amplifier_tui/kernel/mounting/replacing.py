"""Taking a module out of a running session, and putting another one in its place."""

import asyncio
import logging
from functools import partial
from typing import Any, Final

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.mounting.callbacks import run_cleanups
from amplifier_tui.kernel.mounting.changes import drop_shared, put_back
from amplifier_tui.kernel.mounting.mount import ReadyQueue, announce_ready, mount_module
from amplifier_tui.kernel.mounting.mounted import MountedModule
from amplifier_tui.kernel.mounting.packages.finding import package_of

logger = logging.getLogger(__name__)

_NAMED: Final = ("providers", "tools")
_NOTHING: Final = object()


async def unmount_module(coordinator: ModuleCoordinator, module: MountedModule) -> None:
    """Run a module's cleanup, and take whatever it mounted or registered out of the session."""
    await _clean_up(coordinator, module)
    _take_out(coordinator, module)
    coordinator.mounted_modules.remove(module)


async def replace_module(
    coordinator: ModuleCoordinator, loader: Any, module: MountedModule, spec: dict[str, Any]
) -> MountedModule:
    """Mount a module once more, in its own place; whatever it had is gone then.

    Args:
        spec: Its entry in the mount plan, as it is now.

    Returns:
        What it has mounted and registered this time.

    Raises:
        Exception: Why it can't be loaded or mounted; the one that was there stays, untouched.
    """
    order = {point: list(coordinator.get_mounted(point)) for point in _NAMED}
    lists = [(rows, list(rows)) for rows in coordinator._lists()]
    ready: ReadyQueue = []
    _take_out(coordinator, module)
    before = list(coordinator._cleanup_fns)
    try:
        fresh = await mount_module(coordinator, loader, module.kind, spec, ready)
    except BaseException:
        known = {id(function) for function in before}
        left = [each for each in coordinator._cleanup_fns if id(each) not in known]
        coordinator._cleanup_fns[:] = before
        _put_in(coordinator, module)
        _put_in_order(coordinator, order)
        _keep_places(lists, module, module)
        await run_cleanups(left, [])
        raise
    modules = coordinator.mounted_modules
    modules.remove(fresh)
    modules[modules.index(module)] = fresh
    # It may take away by name what is the new one's by now; that is put back.
    await _clean_up(coordinator, module)
    numbers = {(event, entry.name): entry.number for event, entry in module.handlers}
    for event, entry in fresh.handlers:
        # Among handlers of equal priority it runs where it ran before.
        entry.number = numbers.get((event, entry.name), entry.number)
    _put_in(coordinator, fresh)
    _put_in_order(coordinator, order)
    _keep_places(lists, module, fresh)
    await announce_ready(coordinator, ready)
    return fresh


async def _clean_up(coordinator: ModuleCoordinator, module: MountedModule) -> None:
    own = {id(function) for function in module.cleanups}
    functions = coordinator._cleanup_fns
    functions[:] = (function for function in functions if id(function) not in own)
    try:
        await coordinator._run_cleanups(module.cleanups, [module])
    except asyncio.CancelledError:
        # Half of it is done: there is no way back, and what comes next does not wait.
        logger.warning("The cleanup of '%s' was stopped", module.module_id)


def _take_out(coordinator: ModuleCoordinator, module: MountedModule) -> None:
    """Take out what is still the module's, and what its code put there after it was mounted."""
    points = coordinator.mount_points
    if _has_own_package(coordinator, module):
        _note_what_came_later(coordinator, module)
    for (point, name), mounted in module.points.items():
        live = points.get(point)
        if not name and live is mounted:
            points[point] = None
        elif name and isinstance(live, dict) and live.get(name) is mounted:
            del live[name]
    _give_back(coordinator, module)
    for event, entry in module.handlers:
        coordinator.hooks._remove(event, entry)
    for name, value in module.capabilities.items():
        if coordinator._capabilities.get(name, _NOTHING) is value:
            del coordinator._capabilities[name]
    for rows, thing in module.listed:
        drop_shared(rows, thing)


def _give_back(coordinator: ModuleCoordinator, module: MountedModule) -> None:
    """Put back what another module had mounted under a name that this one had taken."""
    for place in module.points:
        point, name = place
        live = coordinator.mount_points.get(point)
        if not name or not isinstance(live, dict) or name in live:
            continue
        for other in reversed(coordinator.mounted_modules):
            if other is not module and place in other.points:
                live[name] = other.points[place]
                # What is put in may be stood for.
                other.points[place] = live[name]
                break


def _has_own_package(coordinator: ModuleCoordinator, module: MountedModule) -> bool:
    others = (each for each in coordinator.mounted_modules if each is not module)
    return bool(module.package) and all(each.package != module.package for each in others)


def _note_what_came_later(coordinator: ModuleCoordinator, module: MountedModule) -> None:
    known = {id(entry) for _, entry in module.handlers}
    module.handlers += [
        (event, entry)
        for event, entry in coordinator.hooks._all()
        if id(entry) not in known and package_of(entry.handler) == module.package
    ]
    for point in _NAMED:
        for name, mounted in coordinator.get_mounted(point).items():
            if package_of(mounted.__class__) == module.package:
                module.points[point, name] = mounted
    module.capabilities.update(
        (name, value)
        for name, value in coordinator._capabilities.items()
        if package_of(value) == module.package
    )
    listed = {(id(rows), id(thing)) for rows, thing in module.listed}
    module.listed += [
        (rows, thing)
        for rows in coordinator._lists()
        for thing in rows
        if (id(rows), id(thing)) not in listed and package_of(_code_of(thing)) == module.package
    ]


def _code_of(listed: Any) -> Any:
    """Return what of a thing in a list tells whose it is."""
    code = listed.get("callback") if isinstance(listed, dict) else listed
    return code.func if isinstance(code, partial) else code


def _put_in(coordinator: ModuleCoordinator, module: MountedModule) -> None:
    """Put in what of the module is not there."""
    for (point, name), mounted in module.points.items():
        place = coordinator.mount_points[point] if name else coordinator.mount_points
        if place.get(name or point) is not mounted:
            place[name or point] = mounted
            module.points[point, name] = place[name or point]
    for event, entry in module.handlers:
        coordinator.hooks._add(event, entry)
    coordinator._capabilities.update(module.capabilities)
    for rows, thing in module.listed:
        put_back(rows, thing)
    there = {id(function) for function in coordinator._cleanup_fns}
    coordinator._cleanup_fns += [each for each in module.cleanups if id(each) not in there]


def _put_in_order(coordinator: ModuleCoordinator, order: dict[str, list[str]]) -> None:
    """Order what is mounted as it was; requests to a model begin alike then, and stay cached."""
    for point, names in order.items():
        live = coordinator.mount_points[point]
        mounted = dict(live)
        live.clear()
        live.update({name: mounted.pop(name) for name in names if name in mounted})
        live.update(mounted)


def _keep_places(
    lists: list[tuple[list[Any], list[Any]]], module: MountedModule, fresh: MountedModule
) -> None:
    """Move what ``fresh`` added to lists to where ``module`` had been in them."""
    for rows, before in lists:
        old = {id(thing) for listed, thing in module.listed if listed is rows}
        new = [thing for listed, thing in fresh.listed if listed is rows]
        place = next((at for at, thing in enumerate(before) if id(thing) in old), None)
        if new and place is not None:
            moved = {id(thing) for thing in new}
            others = [thing for thing in rows if id(thing) not in moved]
            rows[:] = [*others[:place], *new, *others[place:]]
