"""What a bundle consists of (spec 003, "What is a Bundle?"), and who contributed which part."""

from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.paths import (
    construct_agent_path,
    construct_context_path,
    is_there,
    is_within,
)
from amplifier_tui.foundation.trust.owners import Owner

ModuleKind = Literal["orchestrator", "context", "provider", "tool", "hook"]

SECTIONS: Final[Mapping[str, ModuleKind]] = {
    "providers": "provider",
    "tools": "tool",
    "hooks": "hook",
}
"""The sections that are lists of module entries, with what their modules are mounted as."""

SkipKind = Literal["not_fetched", "refused", "circular", "failed"]

Origins = dict[str, list["Origin"]]
"""`"tool:tool-bash"` to its contributors in order of composition; the last had the last word.

Categories: `provider`, `tool`, `hook`, `agent`, `context`, `session`, `spawn`, each with the
entry's own name after the colon; `session.orchestrator` and `session.context` with the module's id;
and `instruction:` without a name.
"""


SETTINGS_ORIGIN = "settings ("
"""How the name of an origin begins that is a scope of the settings."""


@dataclass(frozen=True, slots=True)
class Origin:
    """One contributor of an entry.

    Attributes:
        bundle: Name of the bundle whose file has the entry (its path when it is nameless).
        via_behavior: The include through which that bundle came; None for the one asked for.
        path: The file that has the entry; None for what was made in memory. Not compared.
        owner: Whose that file is. Not compared.
        chain: Every include on the way to that bundle, the outermost first. Not compared.
    """

    bundle: str
    via_behavior: str | None = None
    path: Path | None = field(default=None, compare=False)
    owner: Owner = field(default=Owner.STRANGER, compare=False)
    chain: tuple[str, ...] = field(default=(), compare=False)

    def is_other_of_name(self, later: "Origin") -> bool:
        """Whether a later contributor is another bundle that only has the same name.

        What includes this one means it, and replaces it.
        """
        means_it = self.chain[: len(later.chain)] == later.chain
        both = self.path is not None and later.path is not None
        return both and self.bundle == later.bundle and not means_it


@dataclass(frozen=True, slots=True)
class SkippedInclude:
    """An include that is not part of the composed bundle, and why.

    Attributes:
        source: The include as written.
        included_by: Name of the bundle that has it (its path when it is nameless).
        reason: What went wrong, readable.
        path: The including bundle's file.
        line: Line of the include in it, counted from 1.
        kind: `not_fetched` when fetching was off, `refused` when trust was not given.
        owner: Whose the including file is.
        remedy: What the error says that helps; the end of `reason`. Empty when it says nothing.
    """

    source: str
    included_by: str
    reason: str
    path: Path | None = None
    line: int | None = None
    kind: SkipKind = "failed"
    owner: Owner = Owner.STRANGER
    remedy: str = ""

    @property
    def why(self) -> str:
        """The reason without the remedy."""
        return self.reason.removesuffix(" ".join(self.remedy.split())).rstrip()


INSTRUCTION = "instruction:"
"""The key of the instruction in `Origins`."""


def is_settings_origin(origin: Origin) -> bool:
    """Whether an entry comes from the user's settings and not from a bundle."""
    return origin.bundle.startswith(SETTINGS_ORIGIN)


_PLAN_SECTIONS = ("session", "providers", "tools", "hooks", "agents", "spawn")


@dataclass
class BundleData:
    """The parts of a bundle; modules are the entries of the bundle's file.

    Attributes:
        name: The namespace; empty for a nameless overlay.
        version: As written: an unquoted `0.1` is a float.
        includes: As written: names, URIs, or mappings with `bundle`.
        namespace_root: Folder of a nested bundle's own resources, relative to its file.
        session: Orchestrator, context manager and what else the kernel's `session` takes.
        spawn: Which tools spawned agents inherit.
        context: Files that go into the system prompt, by name.
        instruction: The Markdown body.
        base_path: Folder of the bundle's file, `source_file`.
        source_base_paths: Folder of every known namespace.
        covered_base_paths: Folders of other bundles of that name, for what is not in the first.
        skipped: Includes that are missing from this bundle.
        confined_roots: Folders that projects and strangers bring; a path that starts in one must
            not leave it.
        granted: Files outside of them that may be read all the same.
        owner: Whose the bundle's file is, or who chose it if that is somebody with less power.
    """

    name: str
    version: Any = "1.0.0"
    description: str = ""
    includes: list[Any] = field(default_factory=list)
    namespace_root: str | None = None
    session: dict[str, Any] = field(default_factory=dict)
    providers: list[dict[str, Any]] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    hooks: list[dict[str, Any]] = field(default_factory=list)
    spawn: dict[str, Any] = field(default_factory=dict)
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    context: dict[str, Path] = field(default_factory=dict)
    instruction: str | None = None
    base_path: Path | None = None
    source_base_paths: dict[str, Path] = field(default_factory=dict)
    _pending_context: dict[str, str] = field(default_factory=dict)
    origins: Origins = field(default_factory=dict)
    skipped: list[SkippedInclude] = field(default_factory=list, repr=False)
    confined_roots: tuple[Path, ...] = field(default=(), repr=False)
    source_file: Path | None = field(default=None, repr=False)
    granted: tuple[Path, ...] = field(default=(), repr=False)
    _lost_context: dict[str, str] = field(default_factory=dict, repr=False)
    covered_base_paths: dict[str, list[Path]] = field(default_factory=dict, repr=False)
    owner: Owner = field(default=Owner.STRANGER, repr=False, compare=False)
    _source_uri: str | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) is None and each.default_factory is not MISSING:
                setattr(self, each.name, each.default_factory())

    def to_mount_plan(self) -> dict[str, Any]:
        """Return the configuration `AmplifierSession` takes, without empty sections.

        The entries are this bundle's own: an application may still adjust them in place.
        """
        plan: dict[str, Any] = {}
        for section in _PLAN_SECTIONS:
            value = getattr(self, section)
            if value:
                plan[section] = dict(value) if isinstance(value, dict) else list(value)
        return plan

    def contributors(self, origin: str) -> tuple[str, ...]:
        """Return the bundles that contributed to an entry (a key of `origins`), each once."""
        names = dict.fromkeys(each.bundle for each in self.origins.get(origin, []))
        return tuple(names) or (self.name,)

    def folder_of(self, namespace: str, path: str = "", origin: str = "") -> Path | None:
        """Return the folder of a namespace, the bundle's own included; None if it is unknown.

        Of several it is the first that has the path, or the first.
        """
        folders = self.folders_of(namespace, origin)
        has = (each for each in folders if is_there(construct_context_path(each, path)))
        return next(has, None) or next(iter(folders), None)

    def folders_of(self, namespace: str, origin: str = "") -> list[Path]:
        """Return every folder of a namespace, in the order in which they are looked in.

        With an entry (a key of `origins`) that of the bundle which has the entry is first.
        """
        own = self.base_path if namespace == self.name else None
        first = self.source_base_paths.get(namespace, own)
        found = [] if first is None else [first, *self.covered_base_paths.get(namespace, ())]
        owner = next(reversed(self.origins.get(origin, [])), None)
        home = owner.path.parent if owner is not None and owner.path is not None else None
        return sorted(found, key=lambda folder: folder != home)

    def folders(self) -> list[Path]:
        """Return the folders of the bundle and of every bundle it is composed of."""
        covered = [folder for each in self.covered_base_paths.values() for folder in each]
        every = (self.base_path, *self.source_base_paths.values(), *covered)
        return list(dict.fromkeys(folder for folder in every if folder is not None))

    def resolve_context_path(self, name: str) -> Path | None:
        """Find a context file or folder: a key of `context`, else a path below `base_path`.

        Returns None for what does not exist or leaves a confined root. Empty or `/` is `base_path`.
        """
        if name in self.context:
            return self.context[name]
        if self.base_path is None:
            return None
        return self._existing(construct_context_path(self.base_path, name), self.base_path)

    def resolve_agent_path(self, name: str) -> Path | None:
        """Find an agent's file: `ns:x` in that namespace, a plain name here; None if not there.

        A plain name that is not there is looked for at the bundle that contributed the agent. As
        for context, a mention with the file's path is a name as well: `@ns:agents/x.md`.
        """
        namespace, separator, short = name.removeprefix("@").partition(":")
        if separator:
            own = self.base_path if namespace == self.name else None
            bases = [*self.folders_of(namespace, f"agent:{name}"), own]
        else:
            short = name
            owners = self.origins.get(f"agent:{name}", [])
            bases = [self.base_path]
            for owner in reversed(owners):
                bases += self.folders_of(owner.bundle, f"agent:{name}")
        for base in filter(None, bases):
            for each in (short, short.removeprefix("agents/")):
                found = self._existing(construct_agent_path(base, each), base)
                if found is not None:
                    return found
        return None

    def get_system_instruction(self) -> str | None:
        """Return the instruction."""
        return self.instruction

    def resolve_pending_context(self) -> None:
        """Move every `ns:path` whose namespace is known into `context`; the others stay.

        Those that lead out of the namespace's folder go into `_lost_context`.
        """
        for name, reference in list(self._pending_context.items()):
            namespace, _, path = reference.partition(":")
            base = self.folder_of(namespace, path, f"context:{name}")
            if base is None:
                continue
            target = construct_context_path(base, path)
            del self._pending_context[name]
            if self.allows(target, base):
                self.context[name] = target
            else:
                self._lost_context[name] = reference

    def still_allows(self, path: Path) -> bool:
        """Whether a context file is what it was: no link has come to lead out of a stranger's."""
        within = [
            root
            for root in self.confined_roots
            if path.is_relative_to(root) or path.is_relative_to(root.resolve())
        ]
        return not within or self.allows(path, within[0])

    def allows(self, path: Path, base: Path) -> bool:
        """Whether a path that starts in `base` may be read; see `confined_roots`.

        Where anything of a stranger takes part, no path leaves the folder it starts in.
        """
        if not self.confined_roots or path.resolve() in self.granted:
            return True
        roots = [root for root in self.confined_roots if is_within(base, root)] or [base]
        return any(is_within(path, root) for root in roots)

    def _existing(self, path: Path, base: Path) -> Path | None:
        return path if is_there(path) and self.allows(path, base) else None
