"""Running one turn of a session."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import events
from amplifier_tui.kernel._session_init import _safe_exception_str
from amplifier_tui.kernel.utils.truncate import redact_secrets, without_cycles

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator
    from amplifier_tui.kernel.session import AmplifierSession

SESSION_CONFIG = "session:config"


async def announce_start(session: AmplifierSession) -> None:
    """Emit ``session:start`` or ``session:resume``, and the plan if the session is raw.

    Args:
        session: The session, before its first turn.
    """
    hooks, section = session.coordinator.hooks, session.config["session"]
    data: dict[str, Any] = {"session_id": session.session_id, "parent_id": session.parent_id}
    if section.get("metadata"):
        data["metadata"] = without_cycles(section["metadata"])
    await hooks.emit(events.SESSION_RESUME if session.is_resumed else events.SESSION_START, data)
    if section.get("raw"):
        await hooks.emit(
            SESSION_CONFIG,
            {"session_id": session.session_id, "raw": redact_secrets(session.config)},
        )


async def announce_cancelled(session: AmplifierSession, error: BaseException | None = None) -> None:
    """Emit ``cancel:completed``.

    Args:
        session: The session that stopped.
        error: What the turn ended with, if it was an exception.
    """
    data: dict[str, Any] = {"was_immediate": session.coordinator.cancellation.is_immediate}
    if error is not None:
        data["error"] = _safe_exception_str(error)
    await session.coordinator.hooks.emit(events.CANCEL_COMPLETED, data)


def required_modules(coordinator: ModuleCoordinator) -> dict[str, Any]:
    """Return orchestrator, context, providers and tools.

    Args:
        coordinator: Where they are mounted.

    Raises:
        RuntimeError: One that a turn can't do without is missing.
    """
    points = ("orchestrator", "context", "providers", "tools")
    modules = {point: coordinator.get(point) for point in points}
    if modules["orchestrator"] is None:
        raise RuntimeError("No orchestrator module mounted")
    if modules["context"] is None:
        raise RuntimeError("No context manager mounted")
    if not modules["providers"]:
        raise RuntimeError("No providers mounted")
    return modules


async def run_orchestrator(
    coordinator: ModuleCoordinator, modules: dict[str, Any], prompt: str
) -> str:
    """Let the orchestrator run the turn.

    Args:
        coordinator: Passed on to orchestrators that take it (spec 001); those of spec 000 do not.
        modules: What :func:`required_modules` returned.
        prompt: What the user said.
    """
    execute = modules["orchestrator"].execute
    extra = {"coordinator": coordinator} if _takes_coordinator(execute) else {}
    answer: str = await execute(
        prompt=prompt,
        context=modules["context"],
        providers=modules["providers"],
        tools=modules["tools"],
        hooks=coordinator.hooks,
        **extra,
    )
    return answer


def _takes_coordinator(execute: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(execute).parameters
    except (TypeError, ValueError):
        return True
    return "coordinator" in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
