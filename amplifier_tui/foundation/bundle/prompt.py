"""The system prompt, made anew for every model request, each part with its source (e.3)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, field, replace
from pathlib import Path
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.model import INSTRUCTION, BundleData
from amplifier_tui.foundation.mentions.loading import (
    ContentDeduplicator,
    format_context_file,
    load_mentions,
    mentions_by_path,
    read_mentioned,
)
from amplifier_tui.foundation.mentions.resolver import BaseMentionResolver
from amplifier_tui.foundation.paths import is_within
from amplifier_tui.foundation.trust.owners import Owner

_log = logging.getLogger(__name__)

SEPARATOR = "\n\n---\n\n"
"""Between the instruction and the context files."""

Emit = Callable[[str, dict[str, Any]], Awaitable[Any]]


@dataclass
class _Material:
    """What one making of the prompt found."""

    instruction: str
    files: ContentDeduplicator = field(default_factory=ContentDeduplicator)
    declared: dict[str, Path] = field(default_factory=dict)
    mentioned: dict[str, Path] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def mentions(self) -> dict[str, Path]:
        return {**self.mentioned, **self.declared}


@dataclass(eq=False)
class SystemPromptFactory:
    """Makes a bundle's system prompt: the instruction, then the files it brings.

    Mentions are resolved by `resolver`. An `instruction` takes the place of the bundle's own, e.g.
    an agent's; `source_id` says who wrote it. `declared` gives the context files that count, asked
    each time; default the bundle's. `appended` is the user's own text, put at the end.
    """

    bundle: BundleData
    resolver: BaseMentionResolver
    emit: Emit | None = None
    _: KW_ONLY
    instruction: str | None = None
    source_id: str | None = None
    declared: Callable[[], Mapping[str, Path]] | None = None
    appended: str = ""
    _known_hashes: set[str] = field(default_factory=set, init=False)
    _known_failures: set[tuple[str, str]] = field(default_factory=set, init=False)

    async def __call__(self) -> str:
        """Return the whole prompt; empty when there is neither instruction nor file."""
        instruction, files = await self._make()
        blocks = "\n\n".join(text for _, text in files)
        texts = (*(text for _, text in instruction), blocks, self.appended)
        return SEPARATOR.join(filter(None, texts))

    async def parts(self) -> list[tuple[str, str]]:
        """Return the prompt's parts with the id of their source.

        That is `bundle:<name>` for the instruction, `file:@ns:path` for each file's block and
        `user:system-append` for the user's own. Joined as `__call__` does, they are the whole
        prompt.
        """
        instruction, files = await self._make()
        appended = [("user:system-append", self.appended)] if self.appended else []
        return [*instruction, *files, *appended]

    async def _make(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        material = await self._collect()
        names = mentions_by_path(material.mentions)
        text = material.instruction
        instruction = [(self.source_id or f"bundle:{self._owner()}", text)] if text else []
        files: list[tuple[str, str]] = []
        for file in material.files.get_unique_files():
            label = next((names[path][-1] for path in file.paths if path in names), None)
            source = f"file:{label or file.paths[0]}"
            files.append((source, format_context_file(file, names)))
        await self._announce(material)
        return instruction, files

    async def _collect(self) -> _Material:
        bundle = self.bundle
        instruction = self.instruction
        if instruction is None:
            instruction = bundle.get_system_instruction() or ""
        material = _Material(instruction.strip())
        declared = bundle.context if self.declared is None else self.declared()
        read = await asyncio.to_thread(_read_context, bundle, declared)
        for mention, path, content, problem in read:
            if content is None:
                material.missing[mention] = problem
            else:
                material.declared[mention] = path
                material.files.add_file(path, content)
        results = await load_mentions(
            material.instruction,
            self.resolver,
            material.files,
            confined=self._is_confined(),
            resolved=material.mentioned,
        )
        for result in results:
            if result.error is not None:
                material.missing[result.mention] = result.failure_reason or "not_found"
        return material

    def _owner(self) -> str:
        owners = self.bundle.origins.get(INSTRUCTION)
        return owners[-1].bundle if owners else self.bundle.name

    def _is_confined(self) -> bool:
        """Whether the instruction reaches its folders only: fetched, the program's or unknown."""
        roots = self.bundle.confined_roots
        owners = self.bundle.origins.get(INSTRUCTION)
        if self.instruction is None and owners and owners[-1].owner is Owner.PROGRAM:
            # It mentions files of projects, and a link among these may lead anywhere.
            return True
        if not roots or self.instruction is not None:
            return bool(roots)
        place = owners[-1].path if owners else None
        # By its file: a bundle may call itself by the name of another one.
        place = place or self.bundle.source_base_paths.get(self._owner(), self.bundle.base_path)
        return place is None or any(is_within(place, root) for root in roots)

    async def _announce(self, material: _Material) -> None:
        files = material.files.get_unique_files()
        hashes = {path: file.content_hash for file in files for path in file.paths}
        resolutions = []
        for mention, path in material.mentions.items():
            digest = hashes.get(path.resolve(), "")
            resolutions.append(
                {
                    "mention": mention,
                    "resolved_path": str(path),
                    "source_type": self._source_type(mention, path, material),
                    "content_hash": digest,
                    "is_new": digest not in self._known_hashes,
                }
            )
        failures = set(material.missing.items())
        if not any(entry["is_new"] for entry in resolutions) and failures <= self._known_failures:
            return
        self._known_hashes.update(hashes.values())
        self._known_failures |= failures
        if self.emit is None:
            return
        event = {
            "source": "bundle_context",
            "resolutions": resolutions,
            "failed": [{"mention": name, "reason": why} for name, why in material.missing.items()],
            "deduplicated_count": max(len(resolutions) - len(files), 0),
            "turn": None,
        }
        await self.emit("mentions:resolved", event)

    def _source_type(self, mention: str, path: Path, material: _Material) -> str:
        if mention in material.declared:
            return "bundle_context_decl"
        if mention.startswith("@~/.amplifier/"):
            return "user_shortcut"
        if mention.startswith("@~"):
            return "home_shortcut"
        if ":" in mention:
            return "bundle_namespace"
        if is_within(path, self.resolver.base_path / ".amplifier"):
            return "project_shortcut"
        return "relative_path"


def mention_resolver(
    bundle: BundleData, working_dir: Path, *, own_folder: bool = True
) -> BaseMentionResolver:
    """Return a resolver of plain mentions in `working_dir` that knows every namespace of a bundle.

    With `own_folder` it looks for plain mentions in the bundle's own folder after that: right for
    the bundle's instruction, not for what a user types.
    """
    bases = dict(bundle.source_base_paths)
    if bundle.name and bundle.base_path is not None:
        bases.setdefault(bundle.name, bundle.base_path)
    bundles = {name: replace(bundle, base_path=base) for name, base in bases.items()}
    fallbacks = (bundle.base_path,) if own_folder and bundle.base_path is not None else ()
    return BaseMentionResolver(
        bundles, working_dir, fallbacks=fallbacks, granted=bundle.granted if own_folder else ()
    )


def _read_context(
    bundle: BundleData, context: Mapping[str, Path]
) -> list[tuple[str, Path, str | None, str]]:
    read: list[tuple[str, Path, str | None, str]] = []
    for name, path in context.items():
        mention = f"@{name}" if ":" in name or not bundle.name else f"@{bundle.name}:{name}"
        if not bundle.still_allows(path):
            _log.warning("Context file %s: it is a link that leads elsewhere by now", path)
            read.append((mention, path, None, "permission_error"))
            continue
        found = read_mentioned(mention, path)
        if found.content is not None and not found.is_directory:
            read.append((mention, path, found.content, ""))
            continue
        reason = found.failure_reason or "not_a_file"
        if reason != "not_found":
            _log.warning("Context file %s: %s", path, found.error or "it is a folder")
        read.append((mention, path, None, reason))
    return read
