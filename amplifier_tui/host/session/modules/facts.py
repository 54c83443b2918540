"""What is known of a session's modules: what provides a tool, and the answers."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.settings.apply import IN_PLACE_OF
from amplifier_tui.foundation.trust.keys.addresses import missing_keys
from amplifier_tui.host.events import ModuleFailed, ModuleKind
from amplifier_tui.host.gate.calls.guarded import module_of_code
from amplifier_tui.kernel.mounting.mounted import Kind

logger = logging.getLogger(__name__)

KINDS: Final[tuple[Kind, ...]] = ("orchestrator", "context", "provider", "tool", "hook")
_SESSION: Final[tuple[ModuleKind, ...]] = ("orchestrator", "context")
_SECTIONS: Final[dict[str, ModuleKind]] = {
    "providers": "provider",
    "tools": "tool",
    "hooks": "hook",
}
_DETAILS: Final = ("default_model", "model", "base_url")
_LAST: Final = 100.0
"""Priority of a provider that has none."""


@dataclass(slots=True)
class Planned:
    """One module of a mount plan.

    Attributes:
        source: As written.
        origin: The bundle that asks for it.
        owner: Whose word that is: `program`, `user`, `project` or `stranger`.
        detail: What distinguishes it, such as a provider's model.
        missing: Environment variables it needs and does not find.
        in_place_of: Source in whose place the built-in module is used, as the settings say.
        mounted: It is ready.
        spec: Its entry in the mount plan.
        own_settings: Keys of its settings that the user gave it while the session ran.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    source: str = ""
    origin: str = ""
    owner: str = ""
    detail: str = ""
    missing: tuple[str, ...] = ()
    in_place_of: str = ""
    mounted: bool = False
    spec: Mapping[str, Any] = field(default_factory=dict)
    own_settings: frozenset[str] = frozenset()

    @property
    def mounts_as(self) -> Kind:
        """The kind it is mounted as."""
        return next((kind for kind in KINDS if kind == self.kind), "tool")

    @property
    def key(self) -> str:
        """What identifies it in the session: its id, with the instance if it has one."""
        return f"{self.module_id}#{self.instance}" if self.instance else self.module_id


@dataclass
class ModuleFacts:
    """The modules of a session.

    Attributes:
        planned: In the order they are mounted.
        tools: Module id by tool name.
        failed: What was told of the modules that did not load.
        broken: By what module failed while the session runs, what was told of it: the events at
            which its handlers fail, how its background tasks do, and how agents can't mount it.
        mounted: Returns the tools that are mounted now, by name.
    """

    planned: list[Planned] = field(default_factory=list)
    tools: dict[str, str] = field(default_factory=dict)
    failed: list[ModuleFailed] = field(default_factory=list)
    broken: dict[str, set[str]] = field(default_factory=dict)
    mounted: Callable[[], Mapping[str, Any]] = dict

    def module_of_tool(self, name: str, tool: Any = None) -> str:
        """Return the module that provides a tool; empty when unknown.

        Args:
            tool: The tool itself, which tells it of one that was mounted after its module; the one
                that is mounted now if it is not given.
        """
        known = self.tools.get(name)
        if known:
            return known
        tool = self.mounted().get(name) if tool is None else tool
        return module_of_code(str(tool.__class__.__module__))

    def find(self, key: str) -> Planned | None:
        """Return the module of a key, or the only one of an id; None when there is none."""
        found = next((each for each in self.planned if each.key == key), None)
        return found or next((each for each in self.planned if each.module_id == key), None)

    def forget(self, module_id: str) -> None:
        """Forget what tools a module had, and what failed: it is gone, or mounted anew."""
        for who in [each for each in self.broken if each.partition("#")[0] == module_id]:
            del self.broken[who]
        self.tools = {name: each for name, each in self.tools.items() if each != module_id}

    def missing(self) -> tuple[str, ...]:
        """Return the environment variables the providers need and do not find."""
        names = [name for entry in self.planned for name in entry.missing]
        return tuple(dict.fromkeys(names))


def read_plan(
    plan: Mapping[str, Any],
    *,
    origins: Mapping[str, tuple[str, str]] | None = None,
    environ: Mapping[str, str] | None = None,
) -> list[Planned]:
    """Return the modules of a mount plan, in mount order.

    Args:
        origins: Bundle names and owners by `kind:module`, `session:orchestrator` and
            `session:context`.
    """
    origins = origins or {}
    found = [
        _planned(entry, kind, *origins.get(f"session:{kind}", ("", "")))
        for kind in _SESSION
        for entry in _entries([section_of(plan, "session").get(kind)])
    ]
    for section, kind in _SECTIONS.items():
        for entry in _entries(plan.get(section)):
            key = entry.get("id") or entry["module"]
            planned = _planned(entry, kind, *origins.get(f"{kind}:{key}", ("", "")))
            if kind == "provider" and environ is not None:
                planned.missing = tuple(missing_keys(entry, environ))
            found.append(planned)
    return found


def put_into_plan(plan: dict[str, Any], planned: Planned, *, out: bool = False) -> None:
    """Have a mount plan hold a module as it is now, or take it out: sub-agents inherit the plan."""
    if planned.kind in _SESSION:
        plan["session"] = {**section_of(plan, "session"), planned.kind: planned.spec}
        return
    section = next((name for name, kind in _SECTIONS.items() if kind == planned.kind), "")
    if not section:
        return
    entries = list(plan.get(section) or [])
    places = [index for index, entry in enumerate(entries) if _is_entry_of(entry, planned)]
    if out:
        plan[section] = [entry for entry in entries if not _is_entry_of(entry, planned)]
    elif places:
        plan[section] = [*entries[: places[0]], planned.spec, *entries[places[0] + 1 :]]
    else:
        plan[section] = [*entries, planned.spec]


def _is_entry_of(entry: Any, planned: Planned) -> bool:
    return any(
        (str(each["module"]), str(each.get("instance_id") or ""))
        == (planned.module_id, planned.instance)
        for each in _entries([entry])
    )


def section_of(plan: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Return the section of a plan at a path of keys; empty where there is none."""
    found: Any = plan
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _entries(section: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the module entries of a section; one may be a module's id alone."""
    for entry in section if isinstance(section, list) else ():
        entry = {"module": entry} if isinstance(entry, str) else entry
        if isinstance(entry, Mapping) and entry.get("module"):
            yield entry


def _planned(entry: Mapping[str, Any], kind: ModuleKind, origin: str, owner: str) -> Planned:
    module_id = str(entry["module"])
    config = section_of(entry, "config")
    detail = next((str(config[key]) for key in _DETAILS if config.get(key)), "")
    return Planned(
        module_id=module_id,
        kind=kind,
        instance=str(entry.get("instance_id") or ""),
        source=str(entry.get("source") or ""),
        origin=origin,
        owner=owner,
        detail=detail if kind == "provider" else "",
        in_place_of=str(entry.get(IN_PLACE_OF) or ""),
        spec=entry,
    )


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """One mounted provider.

    Attributes:
        name: The name it is mounted under.
        model: The model it uses by default; empty when it does not say.
        window: Tokens of that model's context window; 0 when unknown.
        reserve: Tokens of it kept for the answer; 0 when unknown.
    """

    name: str = ""
    model: str = ""
    window: int = 0
    reserve: int = 0


def default_provider(providers: Mapping[str, Any], plan: Mapping[str, Any]) -> ProviderFacts:
    """Return the provider an orchestrator takes when nobody names one.

    That is the one with the lowest `priority`, else the first that was mounted.

    Args:
        providers: Mounted ones by name.
    """
    if not providers:
        return ProviderFacts()
    planned = _priorities(plan)
    wanted = section_of(plan, "session", "orchestrator", "config").get("default_provider")
    wanted = wanted if isinstance(wanted, str) else ""
    lowest = min(providers, key=lambda name: planned.get(name, _own_priority(providers[name])))
    names = (wanted, wanted.removeprefix("provider-"))
    name = next((name for name in names if name in providers), lowest)
    return described(name, providers[name])


def described(name: str, provider: Any, info: Any = None) -> ProviderFacts:
    """Return what a provider says of itself, in `info` if that is at hand."""
    try:
        defaults = (provider.get_info() if info is None else info).defaults or {}
    except Exception as error:
        logger.debug("%s does not describe itself: %s", name, error)
        defaults = {}
    if not isinstance(defaults, Mapping):
        defaults = {}
    model = defaults.get("model") or getattr(provider, "default_model", "")
    return ProviderFacts(
        name=name,
        model=model if isinstance(model, str) else "",
        window=_count(defaults.get("context_window")),
        reserve=answer_reserve(defaults),
    )


def answer_reserve(defaults: Mapping[str, Any]) -> int:
    """Return the tokens kept for an answer, by a provider's or a model's defaults; 0 if unsaid."""
    return _count(defaults.get("max_output_tokens") or defaults.get("max_tokens"))


def _priorities(plan: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for entry in _entries(plan.get("providers")):
        priority = section_of(entry, "config").get("priority")
        if isinstance(priority, int | float) and not isinstance(priority, bool):
            name = str(entry.get("instance_id") or entry.get("id") or entry["module"])
            found[name.removeprefix("provider-")] = float(priority)
    return found


def _own_priority(provider: Any) -> float:
    own = getattr(provider, "priority", None)
    return float(own) if isinstance(own, int | float) and not isinstance(own, bool) else _LAST


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
