"""Asking the context providers of a module for a trial, before a session has them."""

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import SessionContext
from amplifier_tui.context.adr.provider_runs import ProviderRuns, runs_before
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.pipeline import ContextPipeline
from amplifier_tui.context.provider_contract import misspelt_hooks
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.errors import named_text, place_of_error
from amplifier_tui.kernel.mounting.trial import TrialCoordinator
from amplifier_tui.kernel.validation.base import ValidationResult
from amplifier_tui.kernel.validation.trials import SECONDS, within

_CHECK = "context_provider"


class ProviderTrial:
    """Offers a module the pipeline of a session that has no conversation yet."""

    def __init__(self) -> None:
        self._pipeline = ContextPipeline(SessionContextManager())

    @property
    def added(self) -> list[str]:
        """The context providers that the module added, in words."""
        return [f"context provider '{each.source_id}'" for each in self._pipeline.context_providers]

    def offer(self, coordinator: TrialCoordinator) -> None:
        """Let the module find the pipeline when it mounts."""
        coordinator.register_capability("context.pipeline", self._pipeline)

    async def check(self, result: ValidationResult) -> None:
        """Add ``context_provider`` for each provider: it is asked before a turn of no session.

        A method that is only like a hook is told, too: it would be passed over in silence.
        What it would remember of an answer is not tried.
        """
        for provider in self._pipeline.context_providers:
            misspelt = list(misspelt_hooks(provider))
            for name, method, meant in misspelt:
                said = f"No session calls {name}() of the context provider '{provider.source_id}'"
                result.fail(_CHECK, said, f"Rename it to {meant}", "warning", place_of(method))
            if not runs_before(provider, service=False):
                continue
            who = f"Context provider '{provider.source_id}'"
            session = self._pipeline.session
            context = SessionContext(
                session_id=session.session_id, input_messages=[Message.user("For a trial.")]
            )
            runs = ProviderRuns(self._pipeline)
            try:
                await within(runs.before(provider, session, context), SECONDS)
            except TimeoutError:
                said, remedy = f"{who} did not answer within {SECONDS:g} s", "Answer sooner"
                result.fail(_CHECK, said, remedy, "warning")
            except Exception as error:
                remedy = "Correct that line: in a session, the model would not be asked"
                said = f"{who} failed when it was asked for a trial: {named_text(error)}"
                result.fail(_CHECK, said, remedy, "warning", place_of_error(error))
            else:
                if not misspelt:
                    result.succeed(_CHECK, f"{who} answers before a turn")
