"""What a session of a bundle goes without, for the report that is shown when it opens.

Nothing here runs a bundle's code: a preview reports as much of it as can be known before that.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypedDict

from amplifier_tui.foundation.bundle.entries import ModuleEntry, entries_of
from amplifier_tui.foundation.bundle.model import INSTRUCTION, BundleData, SkipKind, SkippedInclude
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.checks.above import report_above
from amplifier_tui.foundation.checks.bundle_file import line_in, place_of
from amplifier_tui.foundation.checks.module_settings import problems_of_entry
from amplifier_tui.foundation.checks.preview_modules import PreviewModule, wrong_kind
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.mentions.lines import lines_of_mentions
from amplifier_tui.foundation.mentions.loading import MAX_BYTES
from amplifier_tui.foundation.mentions.resolver import existing_mention
from amplifier_tui.foundation.paths import is_within
from amplifier_tui.foundation.report import ReportItem, ReportKind
from amplifier_tui.foundation.settings.apply import IN_PLACE_OF
from amplifier_tui.foundation.trust.code import CodeSource, source_of
from amplifier_tui.foundation.trust.owners import weakest
from amplifier_tui.foundation.trust.review import ALLOW_IT

_CORRECT: Final = "Correct the include, or take it out."
_CORRECT_SETTING: Final = "The session cannot run without it: correct the setting."
_SKIPPED: Final[Mapping[SkipKind, tuple[ReportKind, str]]] = {
    "not_fetched": ("skipped", "Open the bundle while there is a network: it is fetched once."),
    "refused": ("refused", ALLOW_IT),
    "circular": ("skipped", "Take one of the two includes out."),
    "failed": ("failed", _CORRECT),
}
_UNREADABLE: Final[Mapping[str, str]] = {
    "not_found": "there is no such file",
    "permission_error": "it may not be read",
    "not_text": "it is not UTF-8 text",
    "too_large": "it is too large",
    "not_a_file": "it is not a file",
    "read_error": "it cannot be read",
    "holds_secrets": "it is where keys and passwords are kept, which no model gets",
}
_MAKE_READABLE: Final[Mapping[str, str]] = {
    "permission_error": "Let the program read it.",
    "not_text": "Save it as UTF-8.",
    "too_large": f"Keep it below {MAX_BYTES:,} bytes.",
}


async def report_prepared(prepared: PreparedBundle, working_dir: Path) -> list[ReportItem]:
    """Return what a prepared bundle goes without before any module is mounted.

    Plain mentions are looked for in `working_dir`. Modules of the session itself that cannot be
    had are left to their mounting, which knows more.
    """
    bundle = prepared.bundle
    found = [_of_include(skipped, prepared.unasked) for skipped in bundle.skipped]
    found += await report_context(bundle, working_dir)
    found += await asyncio.to_thread(lambda: [*_refused(prepared), *_agents(prepared)])
    found += [_of_mode(warning, bundle) for warning in prepared.mode_warnings]
    found += await asyncio.to_thread(lambda: list(_replaced(bundle)))
    return [*found, *prepared.notes, *prepared.unused]


async def report_preview(
    bundle: BundleData, modules: Iterable[PreviewModule], working_dir: Path
) -> list[ReportItem]:
    """Return what a bundle would go without, as far as that is known without its code.

    What is only not fetched yet is none of it.
    """
    lasting = [each for each in bundle.skipped if each.kind != "not_fetched"]
    found = [*map(_of_include, lasting), *await report_context(bundle, working_dir)]
    lost = [module for module in modules if module.state == "missing"]
    found += await asyncio.to_thread(lambda: [_missing(module, bundle) for module in lost])
    return [*found, *await asyncio.to_thread(lambda: list(_replaced(bundle)))]


async def report_context(bundle: BundleData, working_dir: Path) -> list[ReportItem]:
    """Return the context files and namespaced mentions of a bundle that can't be read.

    And what the top folder of a repository has for agents, where `working_dir` is below it.

    A plain mention of a file that is not there is no loss: bundles name files that a project may
    have or not. One of a link that leads out of `working_dir` is, where it is not followed.
    """
    bundle = replace(
        bundle, context=dict(bundle.context), _pending_context=dict(bundle._pending_context)
    )
    await asyncio.to_thread(bundle.resolve_pending_context)
    failed: dict[str, str] = {}

    async def hear(event: str, data: dict[str, Any]) -> None:
        failed.update((each["mention"], each["reason"]) for each in data["failed"])

    factory = SystemPromptFactory(bundle, mention_resolver(bundle, working_dir), hear)
    await factory.parts()
    lost = {
        mention.removeprefix("@"): reason
        for mention, reason in failed.items()
        if ":" in mention or reason != "not_found"
    }

    def located() -> list[ReportItem]:
        found = [_unreadable(bundle, name, reason) for name, reason in lost.items()]
        names = (mention.removeprefix("@") for mention in failed)
        plain = [name for name in names if name not in lost and not name.startswith("~")]
        found += [_leading_out(bundle, name) for name in plain if _leads_out(name, working_dir)]
        for references, why in (
            (bundle._pending_context, "no bundle named {!r} is part of it"),
            (bundle._lost_context, "it leads out of the folder of {!r}"),
        ):
            for key, reference in references.items():
                reason = why.format(reference.partition(":")[0])
                found.append(_unreadable(bundle, reference, reason, key))
        return [*found, *report_above(working_dir)]

    return await asyncio.to_thread(located)


def check_session_modules(bundle: BundleData) -> None:
    """Raise `BundleError` where a session's loop or context is of another kind, or set wrongly."""
    for entry in entries_of(bundle):
        if entry.section == "session" and not entry.agent:
            problem, remedy = wrong_kind(entry)
            if problem:
                path, line = place_of_module(bundle, entry.kind, entry.module)
                raise BundleError(problem, path=path, line=line, remedy=remedy)
            for found in problems_of_entry(bundle, entry):
                if found.severity == "error":
                    raise BundleError(
                        found.message, path=found.path, line=found.line, remedy=_CORRECT_SETTING
                    )


def place_of_module(bundle: BundleData, kind: str, name: str) -> tuple[Path | None, int | None]:
    """Return the file and line that ask for a module, known by its id or its instance."""
    if kind in ("orchestrator", "context"):
        return place_of(bundle, f"session:{kind}", "session", kind)
    return place_of(bundle, f"{kind}:{name}", f"{kind}s", name)


def where(path: Path | None, line: int | None) -> str:
    """Return a file and a line of it as one text."""
    return "" if path is None else f"{path}:{line}" if line else str(path)


def how_to_install(module_id: str) -> str:
    """Return what helps when a module is nowhere."""
    return f"Install the package that has {module_id}, or give it a source."


def _of_include(
    skipped: SkippedInclude, unasked: Mapping[str, tuple[str, str]] | None = None
) -> ReportItem:
    kind, remedy = _SKIPPED[skipped.kind]
    item = ReportItem(
        what=skipped.source,
        kind=kind,
        part="include",
        why=skipped.why,
        remedy=skipped.remedy if skipped.kind == "failed" and skipped.remedy else remedy,
        asked_by=skipped.included_by,
        owner=skipped.owner,
        where=where(skipped.path, skipped.line),
    )
    found = (unasked or {}).get(CodeSource(source_of(skipped.source)).item().subject)
    return replace(item, why=found[0], remedy=found[1]) if found else item


def _missing(module: PreviewModule, bundle: BundleData) -> ReportItem:
    name = module.instance or module.module_id
    remedy = "Correct its source." if module.source else how_to_install(module.module_id)
    item = ReportItem(
        what=name,
        kind="failed",
        part=module.kind,
        why=module.problem,
        remedy=module.remedy or remedy,
        where=where(*place_of_module(bundle, module.kind, name)),
    )
    if not module.origins:
        return item
    owner = weakest(*(origin.owner for origin in module.origins))
    return replace(item, asked_by=module.origins[-1].bundle, owner=owner)


def _unreadable(bundle: BundleData, name: str, reason: str, key: str = "") -> ReportItem:
    """Describe a context file, or a mention of the instruction."""
    origin = f"context:{key or name}"
    if origin in bundle.origins:
        # A bundle's file has its own files without the bundle's name.
        names = (name, name.partition(":")[2])
        places = [place_of(bundle, origin, "context", each) for each in names]
        place = next((each for each in places if each[1]), places[0])
    else:
        origin = INSTRUCTION
        path = next((each.path for each in reversed(bundle.origins.get(origin, []))), None)
        place = (path, lines_of_mentions(path).get(f"@{name}"))
    return ReportItem(
        what=name,
        kind="refused" if reason == "holds_secrets" else "failed",
        part="context",
        why=_UNREADABLE.get(reason, reason),
        remedy=_MAKE_READABLE.get(reason, "Correct the reference, or take it out."),
        where=where(*place),
        **_asked_by(bundle, origin),
    )


def _leads_out(name: str, folder: Path) -> bool:
    """Whether a file in a folder is there by a link that leads out of it."""
    try:
        path = existing_mention(folder / name)
    except (OSError, ValueError):
        return False
    inside = path is not None and Path(os.path.abspath(path)).is_relative_to(folder.absolute())
    return path is not None and inside and not is_within(path, folder)


def _leading_out(bundle: BundleData, name: str) -> ReportItem:
    """Describe a file of the project, as `AGENTS.md`, that is a link out of it."""
    return ReportItem(
        what=name,
        kind="skipped",
        part="context",
        why="it leads out of the project: not read",
        remedy="Put a copy of what it leads to in its place.",
        **_asked_by(bundle, INSTRUCTION),
    )


def _refused(prepared: PreparedBundle) -> Iterator[ReportItem]:
    for module in prepared.refused:
        agent = f" of agent {module.agent}" if module.agent else ""
        yield ReportItem(
            what=(module.instance or module.module_id) + agent,
            kind="refused",
            part="agent" if agent else module.kind,
            why=module.reason,
            remedy=module.remedy,
            asked_by=module.included_by[-1],
        )
    for item in prepared.refused_items:
        # Refused code is there already, for every module and include of it.
        if item.group != "code":
            why, remedy = prepared.unasked.get(item.subject, ("you refused it", ALLOW_IT))
            yield ReportItem(
                what=item.title,
                kind="refused",
                part=item.group,
                why=why,
                remedy=remedy,
                asked_by=item.owner,
                where=item.where,
            )


def _agents(prepared: PreparedBundle) -> Iterator[ReportItem]:
    """Describe the modules of agents that cannot be had; nothing mounts them at the start."""
    for entry in entries_of(prepared.bundle):
        if not entry.agent or entry.module not in prepared.activation_failures:
            continue
        failure = prepared.resolver.failure_of(entry.module, str(entry.data.get("source")))
        if failure is None:
            continue
        remedy = failure.remedy or "Correct its source."
        yield ReportItem(
            what=f"{entry.module} of agent {entry.agent}",
            kind="failed",
            part="agent",
            why=failure.reason,
            remedy=f"{remedy} Until then the agent goes without it.",
            where=_agent_place(prepared.bundle, entry),
            **_asked_by(prepared.bundle, entry.origin),
        )


def _agent_place(bundle: BundleData, entry: ModuleEntry) -> str:
    file = bundle.resolve_agent_path(entry.agent)
    if file is not None:
        return where(file, line_in(file, entry.section, entry.module))
    return where(*place_of(bundle, entry.origin, "agents", entry.agent))


def _replaced(bundle: BundleData) -> Iterator[ReportItem]:
    for entry in entries_of(bundle):
        source = entry.data.get(IN_PLACE_OF)
        if source and not entry.agent:
            name = str(entry.data.get("id") or entry.module)
            yield ReportItem(
                what=name,
                kind="replaced",
                part=entry.kind,
                why=f"your settings put the built-in module in place of {source}",
                remedy=f"Take {entry.module} out of sources.modules or overrides to have that.",
                where=where(*place_of_module(bundle, entry.kind, name)),
                **_asked_by(bundle, entry.origin),
            )


def _of_mode(warning: str, bundle: BundleData) -> ReportItem:
    path, _, why = warning.partition(".md")
    line, _, why = why.partition(": ")
    return ReportItem(
        what=f"mode {Path(path).name}",
        kind="failed",
        part="mode",
        why=why,
        remedy="Correct the mode's file.",
        asked_by=bundle.name,
        where=f"{path}.md{line}",
    )


class _Asked(TypedDict):
    asked_by: str
    owner: str


def _asked_by(bundle: BundleData, origin: str) -> _Asked:
    origins = bundle.origins.get(origin, [])
    owner = str(weakest(*(each.owner for each in origins))) if origins else ""
    return {"asked_by": bundle.contributors(origin)[-1], "owner": owner}
