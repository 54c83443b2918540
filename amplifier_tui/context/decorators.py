"""Plain functions as context providers (ADR 0016)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from amplifier_tui.context.provider import ContextProvider
from amplifier_tui.context.provider_runs import call_hook
from amplifier_tui.context.session import AgentSession
from amplifier_tui.context.session_context import SessionContext

DEFAULT_SOURCE_ID = "decorated"

Hook = TypeVar("Hook", bound=Callable[..., Any])


class HasProviders(Protocol):
    """An agent, or a pipeline: whoever has context providers."""

    context_providers: list[ContextProvider]


def before_run(
    agent: HasProviders, *, source_id: str = DEFAULT_SOURCE_ID
) -> Callable[[Hook], Hook]:
    """Call the decorated function before every run of an agent.

    Args:
        agent: Whose runs.
        source_id: Name of the source. Functions of one name share their part of the state.

    Returns:
        The decorator; the function takes ``(agent, session, context, state)`` and may be async.
    """

    def decorate(function: Hook) -> Hook:
        agent.context_providers.append(_FunctionProvider(source_id, before=function))
        return function

    return decorate


def after_run(agent: HasProviders, *, source_id: str = DEFAULT_SOURCE_ID) -> Callable[[Hook], Hook]:
    """Call the decorated function after every run of an agent; see `before_run`."""

    def decorate(function: Hook) -> Hook:
        agent.context_providers.append(_FunctionProvider(source_id, after=function))
        return function

    return decorate


class _FunctionProvider(ContextProvider):
    def __init__(
        self,
        source_id: str,
        *,
        before: Callable[..., Any] | None = None,
        after: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(source_id)
        self._before = before
        self._after = after

    async def before_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        if self._before is not None:
            await call_hook(self._before, agent, session, context, state)

    async def after_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        if self._after is not None:
            await call_hook(self._after, agent, session, context, state)
