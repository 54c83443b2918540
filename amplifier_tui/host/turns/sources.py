"""The context sources around a session's turns, where its context has a pipeline."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from amplifier_tui.base.python import causes
from amplifier_tui.context.adr.provider import ContextProvider
from amplifier_tui.context.errors import ContextSourceError
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.pipeline import ContextPipeline
from amplifier_tui.context.request.view import ContextView
from amplifier_tui.context.state_file import ViewState
from amplifier_tui.host.events import ModuleLeftOut
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.mounting.mounted import MountedModule
from amplifier_tui.kernel.mounting.packages.finding import package_of

PIPELINE = "context.pipeline"
"""The capability of a context that has sources."""


class Remembers(Protocol):
    """Has a state that is kept beside the rows of a session."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-native data."""

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `to_dict` returned."""


class Sources:
    """Tells the pipeline of turns, and the user of sources that failed after one."""

    def __init__(self, coordinator: ModuleCoordinator, sender: Sender) -> None:
        self._coordinator = coordinator
        self._sender = sender
        self._left_out: dict[str, tuple[ContextProvider, MountedModule | None]] = {}
        """By name, each with the module that brought it: mounted anew, that is another one."""

    @property
    def pipeline(self) -> ContextPipeline | None:
        """The mounted context's; None where it has none."""
        found: Any = self._coordinator.get_capability(PIPELINE)
        return found if isinstance(found, ContextPipeline) else None

    @property
    def manager(self) -> SessionContextManager | None:
        """The mounted context, where it is one of ours; None for a foreign one."""
        if (pipeline := self.pipeline) is not None:
            return pipeline.manager
        context = self._coordinator.get("context")
        return context if isinstance(context, SessionContextManager) else None

    @property
    def view(self) -> ContextView | None:
        """What the model sees of that context."""
        return self.manager.view if self.manager is not None else None

    @property
    def remembers(self) -> Remembers | None:
        """What has a state to be kept beside the rows; None for a foreign context."""
        if (pipeline := self.pipeline) is not None:
            return pipeline
        return ViewState(self.view) if self.view is not None else None

    @property
    def asked(self) -> bool:
        """Whether the sources are being asked right now: nothing was sent to a model yet."""
        pipeline = self.pipeline
        return pipeline is not None and pipeline.beginning

    def leave_out(self, source_id: str) -> None:
        """Go on without a source until its module is mounted anew."""
        provider = self.pipeline.provider(source_id) if self.pipeline is not None else None
        if provider is None:
            return
        module = self._module_of(provider)
        self._left_out[source_id] = provider, module
        if module is None:
            text = f"{source_id} is left out for as long as the session is open"
            self._sender.notice("info", text, "context")
            return
        out = (name for name, (_, each) in self._left_out.items() if each is module)
        self._sender.send(
            ModuleLeftOut(
                **self._sender.stamp(),
                module_id=module.module_id,
                kind=module.kind,
                instance=module.instance_id,
                sources=tuple(out),
            )
        )
        text = f"{source_id} is left out until its module is mounted anew: /reload {module.key}"
        self._sender.notice("info", text, "context")

    def _module_of(self, provider: ContextProvider) -> MountedModule | None:
        """Return the module that brought a source; None where it is none's, or not there now."""
        package = package_of(type(provider))
        modules = self._coordinator.mounted_modules
        own = (each for each in modules if any(thing is provider for _, thing in each.listed))
        return next(own, None) or next((each for each in modules if each.package == package), None)

    def _leaves_out(self, provider: ContextProvider) -> bool:
        left_out, module = self._left_out.get(provider.source_id, (None, None))
        if module is None:
            return provider is left_out
        # A module may bring a new one with each prompt, in a turn that has begun.
        return self._module_of(provider) is module

    @asynccontextmanager
    async def around_turn(self) -> AsyncIterator[None]:
        """Run a turn inside.

        Raises:
            ContextSourceError: A source failed before the model was asked.
        """
        pipeline = self.pipeline
        if pipeline is None:
            yield
            return
        pipeline.leaves_out = self._leaves_out
        answered = False
        try:
            async with pipeline.turn():
                yield
                answered = True
        except ExceptionGroup as group:
            if not answered:
                raise
            for error in group.exceptions:
                source = error.source_id if isinstance(error, ContextSourceError) else "context"
                self._sender.notice("warning", str(error), source)


def failed_source(error: BaseException | None) -> ContextSourceError | None:
    """Return the error of a source that kept a turn from reaching the model; None for any other.

    Args:
        error: What ended the turn; an orchestrator may have wrapped it.
    """
    for each in causes(error):
        if isinstance(each, ContextSourceError) and each.phase == "before_run":
            return each
    return None
