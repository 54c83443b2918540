"""Modules come and go."""

from dataclasses import dataclass

from amplifier_tui.host.events.base import HostEvent
from amplifier_tui.host.events.records import ModuleKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleLoading(HostEvent):
    """A module is being loaded and mounted."""

    module_id: str
    kind: ModuleKind
    instance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleMounted(HostEvent):
    """A module is ready.

    Attributes:
        provides: Names it mounted, such as tool names or the provider's name.
        origin: The bundle that asked for it.
        source: Where its code came from: `built-in`, a package, a path, a URI.
        events: Hook events it listens to.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    ms: float = 0.0
    provides: tuple[str, ...] = ()
    origin: str = ""
    source: str = ""
    version: str = ""
    detail: str = ""
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFailed(HostEvent):
    """A module did not load; the session goes on without it unless `fatal`."""

    module_id: str
    kind: ModuleKind
    error: str
    remedy: str = ""
    instance: str = ""
    origin: str = ""
    fatal: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleUnmounted(HostEvent):
    """A module was taken out of the running session."""

    module_id: str
    kind: ModuleKind
    instance: str = ""
