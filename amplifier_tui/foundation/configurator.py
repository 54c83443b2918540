"""Turning parts of a running session off and on again, and where they come from.

What is turned off is kept: a tool is the same object when it is on again, and its module is neither
loaded nor cleaned up in between.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.bundle.model import BundleData, Origin

if TYPE_CHECKING:
    from amplifier_tui.kernel.session import AmplifierSession

Category = Literal["tool", "provider", "hook", "agent", "context", "skill"]

RUNTIME_CONTEXT_OVERLAY_CAPABILITY: Final = "runtime_context_overlay"
"""Capability with the `RuntimeOverlay` of the context files; each request reads it."""
RUNTIME_SKILL_OVERLAY_CAPABILITY: Final = "runtime_skill_overlay"
"""Capability with the `RuntimeOverlay` of the skills, for the module that offers them."""


@dataclass
class RuntimeOverlay:
    """What a session has more and less than its bundle says.

    Attributes:
        removed: Names that do not count.
        added: Files by name that count too, unless they are removed.
    """

    removed: set[str] = field(default_factory=set)
    added: dict[str, Path] = field(default_factory=dict)

    def apply(self, entries: Mapping[str, Path]) -> dict[str, Path]:
        """Return what counts of a bundle's entries and of this."""
        known = {**entries, **self.added}
        return {name: path for name, path in known.items() if name not in self.removed}


@dataclass(frozen=True, slots=True)
class TransitionResult:
    """What came of turning a part off or on.

    Attributes:
        enabled: Whether it is on now.
        changed: Whether it was not before.
        error: Why it could not be done; empty where it could.
    """

    category: str
    name: str
    enabled: bool
    changed: bool = False
    error: str = ""

    @property
    def success(self) -> bool:
        """Whether it is as it was asked for."""
        return not self.error


class SessionConfigurator:
    """Turns tools, providers, hooks, agents, context files and skills of one session off and on.

    Args:
        session: An initialized session.
        bundle: What it was made of; says where its parts come from.
    """

    def __init__(self, session: "AmplifierSession", bundle: BundleData | None = None) -> None:
        self._session = session
        self._bundle = bundle or BundleData("")
        self._off: dict[tuple[str, str], Callable[[], Awaitable[None] | None]] = {}
        # The plan belongs to every session of a prepared bundle; the agents that count, to one.
        agents = dict(session.config.get("agents") or {})
        session.config = {**session.config, "agents": agents}

    def names(self, category: Category) -> dict[str, bool]:
        """Return the parts of a category by name: whether each is on."""
        known = dict.fromkeys(self._present(category), True)
        off = (name for kind, name in self._off if kind == category)
        return {**known, **dict.fromkeys(off, False)}

    def origins(self, category: Category, name: str) -> list[Origin]:
        """Return who contributed a part, the last one with the last word; empty if unknown."""
        found = self._bundle.origins
        for key in (name, f"{category}-{name}", f"{category}s-{name}"):
            if f"{category}:{key}" in found:
                return list(found[f"{category}:{key}"])
        return []

    def include_chain(self, category: Category, name: str) -> tuple[str, ...]:
        """Return the includes by which a part came, the outermost first; none for the bundle's own.

        They are those of the one with the last word.
        """
        origins = self.origins(category, name)
        return origins[-1].chain if origins else ()

    async def disable(self, category: Category, name: str) -> TransitionResult:
        """Turn a part off, from the next call or request on."""
        return await self.transition(category, name, False)

    async def enable(self, category: Category, name: str) -> TransitionResult:
        """Turn a part on again."""
        return await self.transition(category, name, True)

    async def transition(self, category: Category, name: str, enabled: bool) -> TransitionResult:
        """Turn a part on or off; what can't be done is said in the result, never raised."""
        if category not in get_args(Category):
            known = ", ".join(get_args(Category))
            problem = f"There is no category {category!r}; categories are: {known}"
            return TransitionResult(category, name, not enabled, error=problem)
        restore = self._off.get((category, name))
        if enabled and restore is not None:
            await awaited(restore())
            del self._off[category, name]
            return TransitionResult(category, name, True, changed=True)
        if restore is not None or (enabled and name in self._present(category)):
            return TransitionResult(category, name, enabled)
        if category != "skill" and name not in self._present(category):
            listed = ", ".join(sorted(self.names(category))) or "none"
            problem = f"The session has no {category} {name!r} (it has: {listed})"
            return TransitionResult(category, name, False, error=problem)
        if category == "provider" and len(self._present(category)) == 1:
            problem = f"{name!r} is the last provider, and a session needs one"
            return TransitionResult(category, name, True, error=problem)
        self._off[category, name] = await self._take_out(category, name)
        return TransitionResult(category, name, False, changed=True)

    def _present(self, category: Category) -> list[str]:
        coordinator = self._session.coordinator
        if category in ("tool", "provider"):
            return list(coordinator.get(f"{category}s"))
        if category == "hook":
            handlers = coordinator.hooks.list_handlers().values()
            return list(dict.fromkeys(name for names in handlers for name in names))
        if category == "agent":
            return list(self._session.config["agents"])
        if category == "context":
            return list(self._overlay(category).apply(self._bundle.context))
        return list(self._overlay(category).added)

    async def _take_out(
        self, category: Category, name: str
    ) -> Callable[[], Awaitable[None] | None]:
        """Turn a part off and return what turns it on again."""
        coordinator = self._session.coordinator
        if category in ("tool", "provider"):
            point = f"{category}s"
            module = coordinator.get(point)[name]
            await coordinator.unmount(point, name)
            return lambda: coordinator.mount(point, module, name)
        if category == "hook":
            return coordinator.hooks.suspend(name)
        if category == "agent":
            agents: dict[str, Any] = self._session.config["agents"]
            definition = agents.pop(name)
            return lambda: agents.update({name: definition})
        removed = self._overlay(category).removed
        removed.add(name)
        return lambda: removed.discard(name)

    def _overlay(self, category: Category) -> RuntimeOverlay:
        is_context = category == "context"
        capability = (
            RUNTIME_CONTEXT_OVERLAY_CAPABILITY if is_context else RUNTIME_SKILL_OVERLAY_CAPABILITY
        )
        overlay = self._session.coordinator.get_capability(capability)
        if not isinstance(overlay, RuntimeOverlay):
            overlay = RuntimeOverlay()
            self._session.coordinator.register_capability(capability, overlay)
        return overlay
