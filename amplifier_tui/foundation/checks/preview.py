"""What a bundle is and would do, before any of its code has run."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.python import causes
from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.model import BundleData, SkippedInclude
from amplifier_tui.foundation.bundle.preparing import modules_with_source
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.catalog import BundleEntry
from amplifier_tui.foundation.checks.agent_modules import leave_out_unreadable
from amplifier_tui.foundation.checks.bundle_file import Problem, check_files_of, problem_of
from amplifier_tui.foundation.checks.ignored import why_no_session
from amplifier_tui.foundation.checks.mentions import missing_files
from amplifier_tui.foundation.checks.module_settings import unset_variables
from amplifier_tui.foundation.checks.opening_report import report_preview
from amplifier_tui.foundation.checks.preview_modules import PreviewModule, preview_modules
from amplifier_tui.foundation.checks.validator import content_findings
from amplifier_tui.foundation.exceptions import BundleError, SourceNotFetchedError
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.report import ReportItem, absent
from amplifier_tui.foundation.settings.expand import missing_variables
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.foundation.trust.keys.key_guard import KeyDestination

State = Literal["ready", "incomplete", "needs_key", "not_fetched", "invalid"]


@dataclass(frozen=True, slots=True)
class PlannedFetch:
    """A source (without credentials) that would be fetched for a bundle or module, and by whom."""

    uri: str
    subject: str
    kind: Literal["bundle", "module"]
    included_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreviewAgent:
    """An agent of a bundle."""

    name: str
    description: str = ""
    has_instruction: bool = True


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A part of the system prompt, with an estimate of its tokens."""

    source_id: str
    tokens: int


@dataclass(frozen=True)
class BundleDescription:
    """What a bundle is and would do.

    Attributes:
        origin: See `catalog.BundleEntry`.
        in_place_of: The origin of another bundle that would be shown without this one.
        state: `incomplete` when it would open without some of what it asks for; `needs_key` when no
            provider has what it needs; `not_fetched` when a part is not on this machine; `invalid`
            when it cannot be loaded, or lacks what no session runs without.
        error: Why it is not ready; `problem` is the same as a finding, where it is one.
        plan: The effective mount plan; variables are not expanded, so it has no secrets of the
            environment.
        context_files: What goes into the prompt, as mentions.
        base_tokens: Of the prompt; tool schemas are not known before mounting.
        missing_keys: Variables that the providers need; empty as soon as one provider has its own.
        missing_variables: Variables that other configuration refers to and does not find.
        unresolved_context: Context references whose namespace is unknown.
        report: What it would open without, and why.
        to_fetch: What would be fetched before a session.
        destinations: Servers that would get a key, and that would be asked about first.
        asked: What a project or stranger brings and the user would be asked about, if they were
            not yet.
        bundle: The effective bundle; None when it cannot be loaded.
        mentions: What the instruction mentions, or a provider plays, and is not there.
        overrides: Settings of modules that are misspelt.
        unset: Variables that settings of modules refer to and do not find, with their places.
        known: Names an include could have; only of a bundle that cannot be loaded.
    """

    name: str
    source: str
    origin: str = ""
    state: State = "ready"
    error: str = ""
    problem: Problem | None = None
    version: str = ""
    description: str = ""
    plan: dict[str, Any] = field(default_factory=dict)
    modules: tuple[PreviewModule, ...] = ()
    agents: tuple[PreviewAgent, ...] = ()
    context_files: tuple[str, ...] = ()
    prompt: tuple[PromptPart, ...] = ()
    base_tokens: int = 0
    missing_keys: tuple[str, ...] = ()
    missing_variables: tuple[str, ...] = ()
    skipped: tuple[SkippedInclude, ...] = ()
    unresolved_context: tuple[str, ...] = ()
    report: tuple[ReportItem, ...] = ()
    to_fetch: tuple[PlannedFetch, ...] = ()
    destinations: tuple[KeyDestination, ...] = ()
    asked: tuple[TrustItem, ...] = ()
    bundle: Bundle | None = None
    mentions: tuple[Problem, ...] = ()
    overrides: tuple[Problem, ...] = ()
    unset: tuple[Problem, ...] = ()
    in_place_of: str = ""
    known: frozenset[str] = frozenset()

    @property
    def is_part(self) -> bool:
        """Whether only what a session needs is lacking, as a part of other bundles may lack it.

        Where an include is left out nobody knows whether that would have brought it.
        """
        left_out = any(each.kind != "refused" for each in self.skipped)
        lacking = self.state == "invalid" and self.problem is None and self.bundle is not None
        return lacking and not left_out

    @property
    def error_path(self) -> Path | None:
        """The file of `error`."""
        return None if self.problem is None else self.problem.path

    @property
    def error_line(self) -> int | None:
        """The line of `error`."""
        return None if self.problem is None else self.problem.line


def failed_preview(
    entry: BundleEntry, error: BundleError, known: Iterable[str] = ()
) -> BundleDescription:
    """Describe a bundle that cannot be loaded; `known` are the names an include could have."""
    missing = _not_fetched(error)
    return BundleDescription(
        name=entry.name,
        source=redact_uri(entry.source),
        origin=entry.origin,
        state="invalid" if missing is None else "not_fetched",
        error=str(error),
        problem=problem_of(error),
        to_fetch=() if missing is None else (PlannedFetch(missing.uri, entry.name, "bundle"),),
        known=frozenset(known),
    )


def _not_fetched(error: BaseException | None) -> SourceNotFetchedError | None:
    return next((each for each in causes(error) if isinstance(each, SourceNotFetchedError)), None)


async def preview_bundle(
    bundle: Bundle,
    entry: BundleEntry,
    *,
    sources: SimpleSourceResolver,
    environ: Mapping[str, str],
    working_dir: Path,
    destinations: Iterable[KeyDestination] = (),
    asked: Iterable[TrustItem] = (),
) -> BundleDescription:
    """Describe a bundle: composed, settings applied, agents filled; it is not changed.

    `sources` is used to look what is on this machine, so it should be offline; `environ` has the
    keys of `keys.env` in it. Plain mentions are in `working_dir`.
    """
    bundle = replace(
        bundle, context=dict(bundle.context), _pending_context=dict(bundle._pending_context)
    )
    await asyncio.to_thread(bundle.resolve_pending_context)
    modules = await preview_modules(bundle, sources, environ)
    factory = SystemPromptFactory(bundle, mention_resolver(bundle, working_dir))
    parts = await factory.parts()
    rest = [bundle.session, bundle.tools, bundle.hooks]
    prompt = [PromptPart(source_id, text_tokens(text)) for source_id, text in parts]
    plan = bundle.to_mount_plan()
    left_out = await asyncio.to_thread(leave_out_unreadable, bundle, plan)
    lost = {each.what for each in left_out}
    agents = {key: value for key, value in bundle.agents.items() if key not in lost}
    preview = BundleDescription(
        name=entry.name,
        source=redact_uri(entry.source),
        origin=entry.origin,
        version=str(bundle.version),
        description=bundle.description,
        plan=plan,
        modules=tuple(modules),
        agents=tuple(_agent(key, value) for key, value in agents.items()),
        context_files=tuple(name[5:] for name, _ in parts if name.startswith("file:")),
        prompt=tuple(prompt),
        base_tokens=sum(part.tokens for part in prompt),
        missing_keys=_missing_keys(modules),
        missing_variables=tuple(missing_variables(rest, environ)),
        skipped=tuple(bundle.skipped),
        unresolved_context=tuple(bundle._pending_context.values()),
        report=(*await report_preview(bundle, modules, working_dir), *left_out),
        to_fetch=_to_fetch(bundle, modules),
        destinations=tuple(destinations),
        asked=tuple(asked),
        bundle=bundle,
        mentions=tuple(await asyncio.to_thread(missing_files, bundle, working_dir)),
        unset=await asyncio.to_thread(lambda: tuple(unset_variables(bundle, environ))),
    )
    problem = await asyncio.to_thread(_first_error, bundle)
    if problem is not None:
        return replace(preview, state="invalid", error=str(problem), problem=problem)
    state, error = _state(preview)
    return replace(preview, state=state, error=error)


def _first_error(bundle: BundleData) -> Problem | None:
    # What its files leave to their includes must be there by now.
    whole = content_findings(replace(bundle, includes=[]))
    errors = [found for found in whole if not found.warning]
    if not errors:
        return None
    # The file that has the mistake knows the line of it.
    in_files = (each for each in check_files_of(bundle) if each.severity == "error")
    return next(in_files, Problem(errors[0].message, path=bundle.source_file))


def _state(preview: BundleDescription) -> tuple[State, str]:
    waiting = [entry for entry in preview.skipped if entry.kind == "not_fetched"]
    lost = [module for module in preview.modules if module.state == "not_fetched"]
    if waiting or lost:
        names = [entry.source for entry in waiting] + [module.module_id for module in lost]
        return "not_fetched", f"Not fetched yet: {', '.join(dict.fromkeys(names))}"
    # What was refused may be allowed when the bundle is opened.
    if preview.bundle is not None and all(each.kind != "refused" for each in preview.skipped):
        lacking = why_no_session(preview.bundle)
        if lacking:
            return "invalid", lacking
    providers = [module for module in preview.modules if module.kind == "provider"]
    if not providers:
        return "needs_key", "No provider is configured: add one to config.providers"
    # With its key, what includes a bundle that is not there would still not be what it says.
    left_out = any(each.kind != "refused" for each in preview.skipped)
    without = absent(preview.report)
    if without and (left_out or not preview.missing_keys):
        return "incomplete", f"Would open without {', '.join(without)}"
    if preview.missing_keys:
        return "needs_key", f"Not set: {', '.join(preview.missing_keys)}"
    return "ready", ""


def _missing_keys(modules: list[PreviewModule]) -> tuple[str, ...]:
    providers = [module for module in modules if module.kind == "provider"]
    if any(not module.missing_keys for module in providers):
        return ()
    return tuple(dict.fromkeys(name for module in providers for name in module.missing_keys))


def _to_fetch(bundle: Bundle, modules: list[PreviewModule]) -> tuple[PlannedFetch, ...]:
    planned = [
        PlannedFetch(entry.source, entry.source, "bundle", (entry.included_by,))
        for entry in bundle.skipped
        if entry.kind == "not_fetched"
    ]
    absent = {module.source for module in modules if module.state == "not_fetched"}
    for entry in modules_with_source(bundle):
        uri = redact_uri(entry["source"])
        if uri in absent:
            planned.append(PlannedFetch(uri, entry["module"], "module", entry["included_by"]))
    return tuple(dict.fromkeys(planned))


def _agent(name: str, definition: Mapping[str, Any]) -> PreviewAgent:
    description = definition.get("description")
    text = description if isinstance(description, str) else ""
    return PreviewAgent(name, " ".join(text.split()), bool(definition.get("instruction")))
