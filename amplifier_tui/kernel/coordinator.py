"""What the modules of a session share: mount points, hooks, capabilities (spec 002)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

from amplifier_tui.kernel.cancellation import CancellationToken
from amplifier_tui.kernel.events import CLEANUP_FAILED
from amplifier_tui.kernel.hooks import HookRegistry, dispatch
from amplifier_tui.kernel.mounting.callbacks import collect_contributions, run_cleanups
from amplifier_tui.kernel.mounting.changes import add_shared, note_change, open_notes, put_back
from amplifier_tui.kernel.mounting.errors import place_of_error
from amplifier_tui.kernel.mounting.mounted import MountedModule

logger = logging.getLogger(__name__)

_SINGLE: Final = frozenset({"orchestrator", "context", "module-source-resolver"})
# Points that exist once something is mounted there.
_ON_DEMAND: Final = frozenset({"agents"})
# Spec 000 and 001 mount these two as mount("session", module, name=...).
_SESSION_ALIASES: Final = frozenset({"orchestrator", "context"})
_NOTHING: Final = object()


class ModuleCoordinator:
    """The hub of one session.

    Modules may set attributes of their own on it.

    Attributes:
        mounted_modules: What each module brought along, in the order they were mounted.
        asked_capabilities: Whether what was asked for was offered, by name.

    Args:
        session: The session: an object with ``session_id``, ``parent_id`` and ``config``; None
            stands for a session without id and configuration.
        approval_system: Who answers ``ask_user``; without one, such questions are denied.
        display_system: Who shows ``user_message``; without one, messages are logged.
    """

    def __init__(
        self,
        session: Any = None,
        approval_system: Any = None,
        display_system: Any = None,
    ) -> None:
        self._session = session
        self._hooks = HookRegistry()
        self._cancellation = CancellationToken()
        self._channels: dict[str, list[dict[str, Any]]] = {}
        self._capabilities: dict[str, Any] = {}
        self.asked_capabilities: dict[str, bool] = {}
        self._shared: list[list[Any]] = [self._hooks._observers, self._cancellation._callbacks]
        self._cleanup_fns: list[Callable[..., Any]] = []
        self._current_turn_injections = 0
        self.mount_points: dict[str, Any] = {
            "orchestrator": None,
            "providers": {},
            "tools": {},
            "context": None,
            "hooks": self._hooks,
            "module-source-resolver": None,
        }
        self.mounted_modules: list[MountedModule] = []
        self.loader: Any = None
        self.approval_system = approval_system
        self.display_system = display_system
        self.session_state: dict[str, Any] = {}
        if approval_system is None or display_system is None:
            logger.debug("Coordinator without approval or display system: asking is denying")

    @property
    def session(self) -> Any:
        """The session, for spawning children."""
        return self._session

    def _set_session(self, session: Any) -> None:
        self._session = session

    @property
    def session_id(self) -> str:
        """Id of the session; empty without one."""
        found: str = getattr(self._session, "session_id", "")
        return found

    @property
    def parent_id(self) -> str | None:
        """Id of the parent session of a child session."""
        found: str | None = getattr(self._session, "parent_id", None)
        return found

    @property
    def config(self) -> Any:
        """The session's configuration: its own object, not a copy."""
        config = getattr(self._session, "config", None)
        return {} if config is None else config

    @property
    def hooks(self) -> HookRegistry:
        """Where to register for events and emit them."""
        return self._hooks

    @property
    def cancellation(self) -> CancellationToken:
        """Says whether the session was asked to stop."""
        return self._cancellation

    @property
    def channels(self) -> dict[str, list[dict[str, Any]]]:
        """Contributors, ``{"name", "callback"}`` each, by channel."""
        return self._channels

    @property
    def _cleanup_functions(self) -> list[Callable[..., Any]]:
        return self._cleanup_fns

    @property
    def injection_budget_per_turn(self) -> int | None:
        """Tokens hooks may inject per turn before they are warned of; None for no limit."""
        return self._session_limit("injection_budget_per_turn")

    @property
    def injection_size_limit(self) -> int | None:
        """Characters one injection may have; None for no limit."""
        return self._session_limit("injection_size_limit")

    def _session_limit(self, name: str) -> int | None:
        config = self.config
        if hasattr(config, "model_dump") and not isinstance(config, dict):
            config = config.model_dump()
        section = config.get("session") if isinstance(config, dict) else None
        limit = section.get(name) if isinstance(section, dict) else None
        return int(limit) if isinstance(limit, int | float) else None

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None:
        """Mount a module.

        Args:
            mount_point: "orchestrator", "context" or "module-source-resolver", which hold one
                module; "providers", "tools" or "agents", which hold many. "session" with the name
                "orchestrator" or "context" means the mount point of that name.
            module: The module.
            name: Name among many; defaults to ``module.name``. An earlier one of that name goes.

        Raises:
            ValueError: There is no such mount point, the name is missing, or it is "hooks".
            TypeError: The name is not a string.
        """
        if mount_point in _ON_DEMAND:
            self.mount_points.setdefault(mount_point, {})
        mount_point = self._resolved(mount_point, name)
        if mount_point == "hooks":
            raise ValueError("Hooks should be registered directly with the HookRegistry")
        if mount_point in _SINGLE:
            if self.mount_points.get(mount_point) is not None:
                logger.warning("Replacing existing %s", mount_point)
            self._put(self.mount_points, mount_point, module)
        else:
            name = getattr(module, "name", None) if name is None else name
            if name is None or name == "":
                raise ValueError(f"Name required for {mount_point}")
            if not isinstance(name, str):
                raise TypeError(
                    f"Name of a module in {mount_point} must be a string, not {type(name).__name__}"
                )
            self._put(self.mount_points[mount_point], name, module)
        logger.debug("Mounted %s at %s (%s)", type(module).__name__, mount_point, name)

    async def unmount(self, mount_point: str, name: str | None = None) -> None:
        """Take a module off its mount point; handlers of "hooks" unregister themselves.

        Raises:
            ValueError: There is no such mount point, the name is missing, or nothing is mounted
                under it.
        """
        mount_point = self._resolved(mount_point, name)
        if mount_point == "hooks":
            return
        if mount_point in _SINGLE:
            self._put(self.mount_points, mount_point, None)
        else:
            if not name:
                raise ValueError(f"Name required to unmount from {mount_point}")
            mounted = self.mount_points[mount_point]
            if name not in mounted:
                raise ValueError(
                    f"Nothing named '{name}' is mounted in {mount_point}; "
                    f"mounted are: {', '.join(mounted) or 'none'}"
                )
            self._put(mounted, name, _NOTHING)
        logger.debug("Unmounted %s (%s)", mount_point, name)

    def get(self, mount_point: str, name: str | None = None) -> Any:
        """Return what is mounted, or None; for many without a name, the live dict of them.

        Raises `ValueError` if there is no such mount point.
        """
        point = self._resolved(mount_point, name)
        mounted = self.mount_points[point]
        if name is None or point in _SINGLE or point == "hooks":
            return mounted
        return mounted.get(name)

    def _put(self, place: dict[str, Any], name: str, value: Any) -> None:
        if value is _NOTHING:
            place.pop(name, None)
        else:
            place[name] = value
        if open_notes:
            note_change(self, lambda: self._put(place, name, value), value)

    def _contribute_again(self, channel: str, contributor: dict[str, Any]) -> None:
        put_back(self._channels.setdefault(channel, []), contributor)

    def _lists(self) -> Iterator[list[Any]]:
        """Yield the lists that modules add to."""
        yield self._shared
        yield from self._shared
        yield from self._channels.values()

    def _resolved(self, mount_point: str, name: str | None) -> str:
        if mount_point in self.mount_points:
            return mount_point
        if mount_point == "session" and name in _SESSION_ALIASES and name is not None:
            return name
        raise ValueError(f"Unknown mount point: {mount_point}")

    def get_mounted(self, mount_point: str) -> dict[str, Any]:
        """Return the mounted modules of a mount point by name (a copy)."""
        mounted = self.get(mount_point)
        if isinstance(mounted, dict):
            return dict(mounted)
        return {} if mounted is None else {mount_point: mounted}

    def register_capability(self, name: str, value: Any) -> None:
        """Offer something to the other modules under a dotted name; None withdraws it.

        The last registration counts.
        """
        self._put(self._capabilities, name, value)
        logger.debug("Registered capability: %s", name)

    def get_capability(self, name: str) -> Any:
        """Return what is offered under ``name``, or None."""
        value = self._capabilities.get(name)
        self.asked_capabilities[name] = value is not None
        return value

    def register_contributor(self, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Add to what :meth:`collect_contributions` asks.

        Args:
            channel: Dotted name, e.g. "observability.events".
            name: Name of the contributing module, for the log. Duplicates are fine.
            callback: Sync or async function without arguments; None from it means nothing to add.
        """
        contributor = {"name": name, "callback": callback}
        self._channels.setdefault(channel, []).append(contributor)
        if open_notes:
            note_change(self, lambda: self._contribute_again(channel, contributor), contributor)

    def share_list(self, rows: list[Any]) -> None:
        """Have what a module adds to a list go with it, as what it registers here does.

        For whatever keeps a list of its own that modules add to, such as the context providers.
        """
        add_shared(self._shared, rows)

    async def collect_contributions(self, channel: str) -> list[Any]:
        """Return what every contributor of a channel gives; those that fail are logged."""
        return await collect_contributions(self._channels, channel)

    process_hook_result = dispatch.process_hook_result

    async def request_cancel(self, immediate: bool = False) -> None:
        """Ask the session to stop; ``immediate`` does not wait for running tools.

        It only sets the token: the orchestrator says so with ``cancel:requested``, and runs the
        callbacks, when it sees it.
        """
        if immediate:
            self._cancellation.request_immediate()
        else:
            self._cancellation.request_graceful()

    def reset_turn(self) -> None:
        """Start the turn's injection budget anew."""
        self._current_turn_injections = 0

    def register_cleanup(self, cleanup_fn: Any) -> None:
        """Run a function when the session ends, last one first. What is not callable is ignored."""
        if callable(cleanup_fn):
            self._cleanup_fns.append(cleanup_fn)

    async def cleanup(self) -> None:
        """Run the registered cleanup functions, each one once.

        Raises:
            BaseException: The first ``CancelledError``, ``KeyboardInterrupt`` or ``SystemExit`` of
                one, after all of them ran. Ordinary exceptions are logged, and announced as
                ``cleanup:failed``.
        """
        await self._run_cleanups(self._cleanup_fns, self.mounted_modules)

    async def _run_cleanups(self, functions: list[Any], modules: list[MountedModule]) -> None:
        """Run cleanup functions, and announce those that fail with the module that they are of."""
        owners = {id(each): module.key for module in modules for each in module.cleanups}
        failures: list[tuple[Any, Exception]] = []
        try:
            await run_cleanups(functions, failures)
        finally:
            for function, error in failures:
                data = {
                    "cleanup": getattr(function, "__qualname__", repr(function)),
                    "error": f"{type(error).__name__}: {error}",
                    "module": owners.get(id(function), ""),
                    "place": place_of_error(error),
                }
                await self._hooks.emit(CLEANUP_FAILED, data)

    def to_dict(self) -> dict[str, Any]:
        """Return what is mounted and registered, by name."""
        return {
            "tools": list(self.mount_points.get("tools") or ()),
            "providers": list(self.mount_points.get("providers") or ()),
            "has_orchestrator": self.mount_points.get("orchestrator") is not None,
            "has_context": self.mount_points.get("context") is not None,
            "capabilities": list(self._capabilities),
            "has_approval_provider": self.approval_system is not None,
            "has_display_service": self.display_system is not None,
        }
