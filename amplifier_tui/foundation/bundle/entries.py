"""The module entries of a bundle, wherever in it they stand."""

from collections.abc import Iterator
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.model import SECTIONS, BundleData, ModuleKind
from amplifier_tui.foundation.dicts import module_entries, module_key


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """One module entry (`data`, not a copy) of a bundle, or of one of its agents.

    `section` is `session`, `providers`, `tools`, `hooks`, or `spawn` for a tool of all agents;
    `origin` is its key in `BundleData.origins`.
    """

    section: str
    kind: ModuleKind
    agent: str
    data: dict[str, Any]
    origin: str

    @property
    def module(self) -> str:
        """The id of the module; empty when it names none."""
        return str(self.data.get("module") or "")


def entries_of(bundle: BundleData) -> Iterator[ModuleEntry]:
    """Yield every entry that is a mapping, in mount order, agents' last.

    A module that `session` only names has no entry.
    """
    yield from _entries(vars(bundle), "")
    tools = bundle.spawn.get("tools")
    for entry in tools if isinstance(tools, list) else ():
        if isinstance(entry, dict):
            yield ModuleEntry("spawn", "tool", "", entry, "spawn:tools")
    for agent, definition in bundle.agents.items():
        yield from _entries(definition, agent)


def _entries(owner: dict[str, Any], agent: str) -> Iterator[ModuleEntry]:
    session = owner.get("session")
    parts: tuple[ModuleKind, ...] = ("orchestrator", "context")
    for part in parts:
        value = session.get(part) if isinstance(session, dict) else None
        if isinstance(value, dict):
            yield ModuleEntry("session", part, agent, value, _origin(agent, f"session:{part}"))
    for section, kind in SECTIONS.items():
        for entry in module_entries(owner.get(section)):
            key = _origin(agent, f"{kind}:{module_key(entry)}")
            yield ModuleEntry(section, kind, agent, entry, key)


def _origin(agent: str, key: str) -> str:
    return f"agent:{agent}" if agent else key
