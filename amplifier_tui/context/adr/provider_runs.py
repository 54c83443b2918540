"""Running the hooks of an agent's providers: before in order, after in reverse."""

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from amplifier_tui.base.python import awaited
from amplifier_tui.context.adr.history import HistoryProvider
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.errors import ContextSourceError, Phase
from amplifier_tui.context.provider_contract import ARGUMENTS, check_hook
from amplifier_tui.kernel.mounting.callbacks import missing_keywords

logger = logging.getLogger(__name__)


class ProviderRuns:
    """Runs the providers of an agent.

    Args:
        agent: Whose providers they are; handed to their hooks.
        timeout: Seconds a hook may take; None for as long as it takes.
    """

    def __init__(self, agent: Any, timeout: float | None = None) -> None:
        self._agent = agent
        self._timeout = timeout

    async def before(
        self, provider: ContextProvider, session: AgentSession, context: SessionContext
    ) -> None:
        """Let one provider add to a run; raises what it raises, and ``TimeoutError``."""
        await self._call("before_run", provider, session, context)

    async def after(
        self, providers: Sequence[ContextProvider], session: AgentSession, context: SessionContext
    ) -> list[ContextSourceError]:
        """Let all providers look at an answer, the last one first; returns what went wrong."""
        errors: list[ContextSourceError] = []
        for provider in reversed(providers):
            try:
                await self._call("after_run", provider, session, context)
            except Exception as error:
                errors.append(self.named(provider, "after_run", error))
                logger.warning("%s", errors[-1], exc_info=error)
        return errors

    async def _call(
        self,
        phase: Phase,
        provider: ContextProvider,
        session: AgentSession,
        context: SessionContext,
    ) -> None:
        """Call a hook by keyword, or by position where its parameters have other names."""
        check_hook(provider, phase)
        hook = getattr(provider, phase)
        given = (self._agent, session, context, session.scoped_state(provider.source_id))
        async with asyncio.timeout(self._timeout):
            if missing_keywords(hook, ARGUMENTS):
                await awaited(hook(*given))
            else:
                await awaited(hook(**dict(zip(ARGUMENTS, given, strict=True))))

    def named(
        self, provider: ContextProvider, phase: Phase, error: Exception
    ) -> ContextSourceError:
        """Return a provider's error with its name; a bare timeout gets words."""
        if isinstance(error, ContextSourceError):
            return error
        if isinstance(error, TimeoutError) and not str(error):
            after = self._timeout
            error = TimeoutError(f"no answer within {after:g} s" if after else "timed out")
        return ContextSourceError(provider.source_id, phase, error)


def loading_histories(providers: Iterable[ContextProvider]) -> list[HistoryProvider]:
    """Return the histories that load."""
    return [p for p in providers if isinstance(p, HistoryProvider) and p.load_messages]


def runs_before(provider: ContextProvider, *, service: bool) -> bool:
    """Whether a provider's `before_run` is called.

    Where the model's service keeps the history, loading one would send it twice.
    """
    if not isinstance(provider, HistoryProvider):
        return True
    return provider.load_messages and not service


def warn_of_histories(
    providers: Sequence[ContextProvider], *, default_history: bool, service: bool
) -> None:
    """Warn where several histories load, or where there are histories and none loads.

    With ``default_history`` the agent remembers by itself, with ``service`` the model's service.
    """
    histories = [p for p in providers if isinstance(p, HistoryProvider)]
    loaders = loading_histories(histories)
    if len(loaders) > 1:
        warnings.warn(
            "Multiple history providers configured to load messages: "
            f"{[p.source_id for p in loaders]}. This may cause duplicate messages in context.",
            UserWarning,
            stacklevel=3,
        )
    elif histories and not loaders and not service:
        rest = (
            "The conversation is remembered in this session's state only."
            if default_history
            else "No conversation history will be loaded."
        )
        warnings.warn(
            "History providers configured but none have load_messages=True: "
            f"{[p.source_id for p in histories]}. {rest}",
            UserWarning,
            stacklevel=3,
        )


DEFAULT_SOURCE_ID = "decorated"

Hook = TypeVar("Hook", bound=Callable[..., Any])


class HasProviders(Protocol):
    """An agent, or a pipeline: whoever has context providers."""

    context_providers: list[ContextProvider]


def before_run(
    agent: HasProviders, *, source_id: str = DEFAULT_SOURCE_ID
) -> Callable[[Hook], Hook]:
    """Call the decorated function before every run of an agent.

    It takes ``(agent, session, context, state)`` and may be async. Functions with one
    ``source_id`` share their part of the state.
    """
    return _added(agent, source_id, "before_run")


def after_run(agent: HasProviders, *, source_id: str = DEFAULT_SOURCE_ID) -> Callable[[Hook], Hook]:
    """Call the decorated function after every run of an agent; see `before_run`."""
    return _added(agent, source_id, "after_run")


def _added(agent: HasProviders, source_id: str, phase: Phase) -> Callable[[Hook], Hook]:
    def decorate(function: Hook) -> Hook:
        provider = ContextProvider(source_id)
        setattr(provider, phase, function)
        agent.context_providers.append(provider)
        return function

    return decorate
