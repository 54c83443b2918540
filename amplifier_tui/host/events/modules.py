"""What happens to the modules of a session."""

from amplifier_tui.base.lazy.dataclass import dataclass
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
        owner: Whose word that is: `program`, `user`, `project` or `stranger`.
        source: Where its code came from: `built-in`, a package, a path, a URI.
        events: Hook events it listens to.
        in_place_of: The source in whose place the built-in module is used; empty for none.
        again: It was mounted before, and is now in its own place.
        problems: What is wrong with its settings, tools and handlers; it is there all the same.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    ms: float = 0.0
    provides: tuple[str, ...] = ()
    origin: str = ""
    owner: str = ""
    source: str = ""
    version: str = ""
    detail: str = ""
    events: tuple[str, ...] = ()
    in_place_of: str = ""
    again: bool = False
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFailed(HostEvent):
    """A module did not load; the session goes on without it unless `fatal`.

    `refused`: because the user does not trust it. `kept`: it was to be mounted anew, and goes on as
    it was before.
    """

    module_id: str
    kind: ModuleKind
    error: str
    remedy: str = ""
    instance: str = ""
    origin: str = ""
    owner: str = ""
    fatal: bool = False
    missing: tuple[str, ...] = ()
    refused: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleDegraded(HostEvent):
    """Parts of a mounted module, such as servers, have failed; or all of them work again.

    Attributes:
        failed: What failed, each with why; empty when nothing is amiss any more.
        of: How many parts it has.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    failed: tuple[str, ...] = ()
    of: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleLeftOut(HostEvent):
    """Context sources of a module are left out until it is mounted anew: the user wants that.

    Attributes:
        sources: All of its sources that are left out.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleChangeWaits(HostEvent):
    """A change of a module waits for the running turn, or none does any more.

    Attributes:
        change: What becomes of the module, such as `switched off`; empty when nothing waits.
        at_rest: It waits for the end of the turn, else for its next step.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    change: str = ""
    at_rest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleChanging(HostEvent):
    """A module is being changed, and prompts wait for that; or it has ended, one way or another.

    Attributes:
        change: What becomes of the module, such as `mounted`; empty when it has ended.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineBlocked(HostEvent):
    """Code of a module does not give the engine back, and what is sent waits; or it has.

    Attributes:
        module: Id of the module; empty where it can't be told.
        over: The engine is free.
    """

    module: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleUnmounted(HostEvent):
    """A module was taken out of the running session; when `disabled`, it is listed all the same."""

    module_id: str
    kind: ModuleKind
    instance: str = ""
    disabled: bool = False
