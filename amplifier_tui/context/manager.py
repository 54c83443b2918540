"""The context manager of spec 000: a facade before the ledger and the view of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.context.ledger import Ledger, check_message
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.context.request.meter import UsageWatch
from amplifier_tui.context.request.report import CONTEXT_EVENTS, ContextEvents
from amplifier_tui.context.request.system_prompt import SystemPromptFactory
from amplifier_tui.context.request.view import ContextView, Planner

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator


MessageWatcher = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


class SessionContextManager:
    """Keeps the conversation and shows the model as much of it as fits.

    Args:
        policy: What the configuration says about budgets.
        hooks: Who is told of compactions; None for nobody.
        tools: Returns the tools on offer by name, whose schemas take room, too.
        planner: Who decides what to compact; None for the built-in plan.
        name: Name of the module, for messages to the user.

    Attributes:
        ledger: Every message, never changed.
        view: What the model sees of it.
        on_reset: Called when the history is another one; None for nothing.
    """

    def __init__(
        self,
        policy: BudgetPolicy | None = None,
        hooks: Any | None = None,
        tools: Callable[[], Mapping[str, Any]] | None = None,
        planner: Planner | None = None,
        name: str = "context",
    ) -> None:
        self.ledger = Ledger()
        self.view = ContextView(
            self.ledger, policy or BudgetPolicy(), ContextEvents(hooks, name), tools, planner
        )
        self.on_reset: Callable[[], None] | None = None
        self._watcher: MessageWatcher | None = None

    async def add_message(self, message: dict[str, Any]) -> None:
        """Add a copy of a message; ``ValueError`` without a role."""
        check_message(message)
        taken = message if self._watcher is None else self._watcher(message)
        if taken is not None:
            await self._add(taken)

    async def _add(self, message: Mapping[str, Any]) -> None:
        entry = self.ledger.append(message)
        if entry.own:
            self.view.asked()
        if entry.role == "assistant":
            self.view.meter.settled()

    def watch_messages(self, watcher: MessageWatcher) -> None:
        """Call ``watcher`` with each message before it is added.

        It returns the message to add, or None where none is to be; what it raises, `add_message`
        raises.
        """
        self._watcher = watcher

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any | None = None
    ) -> list[dict[str, Any]]:
        """Return the messages for the next request, compacted if they would not fit.

        Args:
            token_budget: Explicit limit in tokens; it wins.
            provider: Whose window to fit otherwise.

        Raises:
            ContextLengthError: What can't be compacted does not fit the model.
            ContextSourceError: A context provider failed; the model must not be asked.
        """
        rows = await self.view.messages(token_budget, provider)
        return [copy_plain(row) for row in rows]

    async def get_messages(self) -> list[dict[str, Any]]:
        """Return the whole history, never compacted."""
        return self.ledger.messages()

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Replace the history, for resuming a session; ``ValueError`` where one has no role."""
        self.ledger.replace(messages)
        self._reset()

    async def clear(self) -> None:
        """Forget everything but where the system prompt comes from."""
        self.ledger.clear()
        self._reset()

    def set_system_prompt_factory(self, factory: SystemPromptFactory) -> None:
        """Have the system prompt made for every request; of stored ones only those of hooks stay.

        A factory with a method ``parts()`` says who wrote what.
        """
        self.view.prompt.use(factory)

    def _reset(self) -> None:
        self.view.forget()
        if self.on_reset is not None:
            self.on_reset()


async def mount_context(
    coordinator: ModuleCoordinator, manager: SessionContextManager, name: str
) -> Callable[[], None]:
    """Mount a context module's manager; returns a function that stops listening to the session."""
    await coordinator.mount("context", manager)
    coordinator.register_capability("context.report", manager.view.report)
    coordinator.register_capability("context.messages", manager.view.messages)
    coordinator.register_contributor("observability.events", name, lambda: list(CONTEXT_EVENTS))
    return UsageWatch(manager.view.meter).register(coordinator.hooks, name)
