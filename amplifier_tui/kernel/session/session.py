"""A session: one mount plan, mounted and run (spec 002, child sessions)."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final, Literal, Self
from uuid import uuid4
from weakref import WeakSet

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.models import SessionStatus
from amplifier_tui.kernel.mounting.callbacks import missing_keywords
from amplifier_tui.kernel.mounting.errors import exception_text
from amplifier_tui.kernel.mounting.mount import (
    ModuleDeclinedError,
    OptionalKind,
    ReadyQueue,
    announce_ready,
    check_instances,
    mount_module,
    mount_optional,
)
from amplifier_tui.kernel.utils.truncate import redact_secrets, without_cycles

logger = logging.getLogger(__name__)


_SESSION_CONFIG: Final = "session:config"

# A child may share its parent's loader: the last session to end tidies it up.
_running: WeakSet[AmplifierSession] = WeakSet()
_running_lock = Lock()


class AmplifierSession:
    """One session: construct it with a mount plan, initialize, execute prompts, clean up.

    ``async with session`` initializes and cleans up.

    Args:
        config: The mount plan; kept as it is, not copied.
        loader: Who loads modules; defaults to a loader of its own.
        session_id: Defaults to a random one.
        parent_id: Id of the session this is a child of.
        approval_system: Who answers hooks that ask the user.
        display_system: Who shows messages of hooks.
        is_resumed: Whether the session continues an earlier one; it then starts with
            ``session:resume``.

    Raises:
        ValueError: The plan is empty, or names no orchestrator or no context.
        TypeError: The plan is not a dict.
    """

    def __init__(
        self,
        config: dict[str, Any],
        loader: Any = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        approval_system: Any = None,
        display_system: Any = None,
        is_resumed: bool = False,
    ) -> None:
        _check_plan(config)
        self.config = config
        self.session_id = session_id or str(uuid4())
        self.parent_id = parent_id
        self.is_resumed = is_resumed
        self.status = SessionStatus(session_id=self.session_id)
        self.coordinator = ModuleCoordinator(self, approval_system, display_system)
        self.coordinator.hooks.set_default_fields(
            session_id=self.session_id, parent_id=self.parent_id
        )
        self.loader = loader if loader is not None else ModuleLoader(self.coordinator)
        self.coordinator.loader = self.loader
        self._initialized = False
        self._started = False
        self._initializing = asyncio.Lock()

    @property
    def initialized(self) -> bool:
        """Whether the modules are mounted and the session is not cleaned up yet."""
        return self._initialized

    async def initialize(self) -> None:
        """Load and mount the modules; a second call does nothing.

        Raises:
            RuntimeError: The orchestrator or the context can't be loaded. Other modules that fail
                are logged, announced as ``module:load_failed``, and left out.
            ValueError: The providers of the plan contradict each other.
        """
        async with self._initializing:
            if not self._initialized:
                await initialize_session(
                    self.config, self.coordinator, self.session_id, self.parent_id
                )
                self._initialized = True
                with _running_lock:
                    _running.add(self)

    async def execute(self, prompt: str) -> str:
        """Run one turn, and return the orchestrator's answer.

        Raises:
            RuntimeError: The session is not initialized, or something needed is not mounted.
            BaseException: Whatever the orchestrator raised, as it is.
        """
        if not self._initialized:
            raise RuntimeError("Session not initialized. Call initialize() first.")
        if not self._started:
            self._started = True
            await _announce_start(self)
        modules = _required_modules(self.coordinator)
        self._enter("running")
        token = self.coordinator.cancellation
        try:
            answer = await _run_orchestrator(self.coordinator, modules, prompt)
        except BaseException as error:
            cancelled = token.is_cancelled or isinstance(error, asyncio.CancelledError)
            self._enter("cancelled" if cancelled else "failed", error)
            if not cancelled:
                logger.error("Execution failed: %s", exception_text(error))
            if token.is_cancelled:
                await _announce_cancelled(self, error)
            raise
        if token.is_cancelled:
            self._enter("cancelled")
            await _announce_cancelled(self)
        else:
            self._enter("completed")
        return answer

    def _enter(
        self,
        status: Literal["running", "completed", "failed", "cancelled"],
        error: BaseException | None = None,
    ) -> None:
        self.status.status = status
        self.status.last_activity = datetime.now(UTC)
        if error is not None:
            self.status.last_error = {"message": exception_text(error)}

    async def cleanup(self) -> None:
        """End the session: ``session:end``, the cleanup functions, the loader; once.

        Raises:
            BaseException: Only a cancellation, ``KeyboardInterrupt`` or ``SystemExit``, after
                everything ran. Ordinary exceptions of cleanup functions are logged.
        """
        was_initialized, self._initialized = self._initialized, False
        with _running_lock:
            _running.discard(self)
            shares_loader = any(other.loader is self.loader for other in _running)
        try:
            if was_initialized:
                await self._announce_end()
        finally:
            try:
                await self.coordinator.cleanup()
            finally:
                if not shares_loader:
                    await self._clean_loader()

    async def _announce_end(self) -> None:
        self.status.ended_at = datetime.now(UTC)
        if self.status.status == "running":
            self.status.status = "completed"
        try:
            await self.coordinator.hooks.emit(
                events.SESSION_END, {"session_id": self.session_id, "status": self.status.status}
            )
        except Exception:
            logger.exception("session:end could not be emitted")

    async def _clean_loader(self) -> None:
        clean = getattr(self.loader, "cleanup", None)
        if clean is None:
            return
        try:
            await awaited(clean())
        except Exception as error:
            logger.error("Error during cleanup: %s", error, exc_info=error)

    def _merge_configs(self, base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
        """Return ``base`` with ``overlay`` laid over it, dicts merged all the way down."""
        merged = dict(base)
        for key, value in overlay.items():
            below = merged.get(key)
            if isinstance(below, dict) and isinstance(value, dict):
                merged[key] = self._merge_configs(below, value)
            else:
                merged[key] = value
        return merged

    async def __aenter__(self) -> Self:
        try:
            await self.initialize()
        except BaseException:
            # What is mounted already has to be tidied up, and __aexit__ will not come.
            await self.cleanup()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.cleanup()


def _check_plan(config: Any) -> None:
    if not config:
        raise ValueError("Configuration is required")
    if not isinstance(config, dict):
        raise TypeError(f"Configuration must be a dict, not {type(config).__name__}")
    section = config.get("session")
    for part in ("orchestrator", "context"):
        if not isinstance(section, dict) or not section.get(part):
            raise ValueError(f"Configuration must specify session.{part}")


async def _announce_start(session: AmplifierSession) -> None:
    """Emit ``session:start`` or ``session:resume``, and the plan if the session is raw."""
    hooks, section = session.coordinator.hooks, session.config["session"]
    data: dict[str, Any] = {"session_id": session.session_id, "parent_id": session.parent_id}
    if section.get("metadata"):
        data["metadata"] = without_cycles(section["metadata"])
    await hooks.emit(events.SESSION_RESUME if session.is_resumed else events.SESSION_START, data)
    if section.get("raw"):
        await hooks.emit(
            _SESSION_CONFIG,
            {"session_id": session.session_id, "raw": redact_secrets(session.config)},
        )


async def _announce_cancelled(
    session: AmplifierSession, error: BaseException | None = None
) -> None:
    """Emit ``cancel:completed``, with what the turn ended with if it was an exception."""
    data: dict[str, Any] = {"was_immediate": session.coordinator.cancellation.is_immediate}
    if error is not None:
        data["error"] = exception_text(error)
    await session.coordinator.hooks.emit(events.CANCEL_COMPLETED, data)


def _required_modules(coordinator: ModuleCoordinator) -> dict[str, Any]:
    """Return orchestrator, context, providers and tools; ``RuntimeError`` if one is missing."""
    points = ("orchestrator", "context", "providers", "tools")
    modules = {point: coordinator.get(point) for point in points}
    if modules["orchestrator"] is None:
        raise RuntimeError("No orchestrator module mounted")
    if modules["context"] is None:
        raise RuntimeError("No context manager mounted")
    if not modules["providers"]:
        raise RuntimeError("No providers mounted")
    return modules


async def _run_orchestrator(
    coordinator: ModuleCoordinator, modules: dict[str, Any], prompt: str
) -> str:
    """Let the orchestrator run the turn; spec 000 orchestrators take no ``coordinator``."""
    execute = modules["orchestrator"].execute
    takes_it = not missing_keywords(execute, ("coordinator",))
    extra = {"coordinator": coordinator} if takes_it else {}
    answer: str = await execute(
        prompt=prompt,
        context=modules["context"],
        providers=modules["providers"],
        tools=modules["tools"],
        hooks=coordinator.hooks,
        **extra,
    )
    return answer


async def initialize_session(
    config: dict[str, Any],
    coordinator: ModuleCoordinator,
    session_id: str,
    parent_id: str | None = None,
) -> None:
    """Mount orchestrator, context, providers, tools and hooks, and say that they are ready.

    A session with a ``parent_id`` announces itself with ``session:fork``. Raises as
    `AmplifierSession.initialize` does.
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
    await announce_ready(coordinator, [*ready, *_queued(loader)])
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
        await mount_module(coordinator, loader, part, spec, ready)
        if coordinator.get(part) is None:
            raise ModuleDeclinedError(f"Module '{spec['module']}' mounted no {part}")
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
    """Return what a loader, ours or another, wants called once everything is mounted."""
    take = getattr(loader, "get_on_session_ready_queue", None)
    queued = take() if callable(take) else None
    if not isinstance(queued, list | tuple):
        return []
    found: ReadyQueue = [*queued]
    clear = getattr(loader, "clear_on_session_ready_queue", None)
    if callable(clear):
        clear()
    return found


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
