"""Whoever adds to what the model sees (ADR 0016)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amplifier_tui.context.session import AgentSession
    from amplifier_tui.context.session_context import SessionContext


class ContextProvider:
    """Adds context before a run and looks at the answer after it.

    Providers belong to an agent and serve all of its sessions: what belongs to a session goes
    into ``state``, as JSON-native values or objects of types known to `register_state_type`.

    Args:
        source_id: Name under which everything it adds is known.

    Attributes:
        source_id: Name under which everything it adds is known.
    """

    def __init__(self, source_id: str) -> None:
        self.source_id = source_id

    async def before_run(
        self,
        agent: Any,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add to the context, before the model is asked.

        Args:
            agent: Whose run it is.
            session: The session.
            context: What to add to.
            state: This provider's part of ``session.state``.
        """

    async def after_run(
        self,
        agent: Any,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Look at what came of it; ``context.response`` is the answer.

        Args:
            agent: Whose run it was.
            session: The session.
            context: The run.
            state: This provider's part of ``session.state``.
        """
