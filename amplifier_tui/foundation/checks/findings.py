"""What is wrong with a bundle as a whole: what its own file alone does not show."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.bundle.composing import qualified_context
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.loading import read_bundle_file
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.catalog import bundles_in
from amplifier_tui.foundation.checks.agent_modules import place_in_agent, why_left_out
from amplifier_tui.foundation.checks.bundle_file import (
    Problem,
    check_bundle_file,
    check_files_of,
    line_in,
    place_of,
)
from amplifier_tui.foundation.checks.ignored import ignored_in_agent, unknown_in_spawn
from amplifier_tui.foundation.checks.module_settings import settings_problems
from amplifier_tui.foundation.checks.opening_report import place_of_module
from amplifier_tui.foundation.checks.preview import BundleDescription
from amplifier_tui.foundation.checks.preview_modules import (
    installed_modules,
    not_installed,
    with_source,
    wrong_kind,
)
from amplifier_tui.foundation.checks.validator import completeness_findings
from amplifier_tui.foundation.dicts import get_nested
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.paths import BUNDLE_FILES, is_there
from amplifier_tui.foundation.registry.includes import parse_includes
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver


def preview_findings(preview: BundleDescription, *, strict: bool = False) -> list[Problem]:
    """Return everything that is wrong with an effective bundle, with file and line where known.

    Looked at are its files, what it leaves out, modules, agents, context files and completeness.
    With `strict`, warnings about the files' content are errors.
    """
    bundle = preview.bundle
    path = None if bundle is None else bundle.source_file
    own = preview.problem or Problem(preview.error, path=path)
    if bundle is None:
        # What is not here can't be called valid either.
        return list(dict.fromkeys([*_of_broken_file(preview, strict=strict), own]))
    found = [*check_files_of(bundle, strict=strict), *_same_names(bundle)]
    invalid = preview.state == "invalid" and not preview.is_part
    if invalid and all(each.severity != "error" for each in found):
        found.append(own)
    found += [
        Problem(
            f"{each.source} is left out: {each.why}", "warning", each.path, each.line, each.remedy
        )
        for each in preview.skipped
    ]
    found += _missing_modules(preview, bundle)
    found += _settings(bundle, strict=strict)
    found += [*_agents(bundle), *unknown_in_spawn(bundle), *preview.mentions, *preview.overrides]
    found += preview.unset
    found += [*_unresolved_context(bundle), *_lost_to_same_names(bundle)]
    remedy = "As a part of another bundle it needs none."
    lacking = completeness_findings(bundle) if preview.is_part or not invalid else ()
    found += [Problem(each.message, "warning", path, remedy=remedy) for each in lacking]
    return list(dict.fromkeys(found))


def first_error(preview: BundleDescription) -> Problem | None:
    """Return the first error that `preview_findings` has; None where the bundle is valid."""
    return next((each for each in preview_findings(preview) if each.severity == "error"), None)


def judged(preview: BundleDescription) -> BundleDescription:
    """Return what is known of a bundle with the verdict that `bundle validate` has on it."""
    if preview.state in ("invalid", "not_fetched") and not preview.is_part:
        return preview
    wrong = first_error(preview)
    if wrong is None:
        return preview
    return replace(preview, state="invalid", error=str(wrong), problem=wrong)


def _of_broken_file(preview: BundleDescription, *, strict: bool) -> Iterator[Problem]:
    """Yield everything that is wrong with a file that is no bundle, as far as it can be read."""
    path = preview.error_path
    if path is None:
        return
    yield from check_bundle_file(path, strict=strict)
    try:
        file = read_bundle_file(path)
        bundle = file.bundle(mistakes=[])
    except BundleError:
        return
    yield from _settings(bundle, strict=strict)
    installed, sourced = installed_modules(), with_source(bundle)
    for include in parse_includes(bundle.includes):
        line = file.line_of(("includes", include.index))
        if "://" in include.source:
            yield from _unknown_source(include.source, include.source, path, line)
        elif include.source not in preview.known and (
            near := did_you_mean(include.source, preview.known)
        ):
            yield Problem(
                f"No bundle named {include.source!r} is known{near}", "warning", path, line
            )
    for entry in entries_of(bundle):
        if isinstance(source := entry.data.get("source"), str):
            place = place_of_module(bundle, entry.kind, entry.module)
            yield from _unknown_source(entry.module, source, *place)
        has_source = bool(entry.data.get("source"))
        problem = "" if has_source else not_installed(entry.module, installed, sourced)
        if problem and entry.module:
            place = place_of_module(bundle, entry.kind, entry.module)
            yield Problem(f"{entry.module}: {problem}", "warning", *place)


def _unknown_source(
    name: str, source: str, path: Path | None, line: int | None
) -> Iterator[Problem]:
    try:
        SimpleSourceResolver().check(source)
    except BundleError as error:
        yield Problem(f"{name}: {error.message}", "warning", path, line)


def _settings(bundle: BundleData, *, strict: bool) -> Iterator[Problem]:
    for each in settings_problems(bundle):
        yield replace(each, severity="error") if strict else each


def _same_names(bundle: BundleData) -> Iterator[Problem]:
    """Yield the other bundles beside this one that are found by its name, or are never found."""
    path = bundle.source_file
    own = path.parent if path is not None and path.name in BUNDLE_FILES else path
    if own is None or own.parent.name != "bundles":
        return
    for entry in bundles_in(own.parent):
        other = Path(entry.source)
        if other == own:
            continue
        if entry.name == own.stem:
            message = f"{own} is used and {other} is not: they have the same name"
            yield Problem(message, "warning", path, remedy="Give one of them another name.")
            continue
        try:
            file = read_bundle_file(other)
        except BundleError:
            continue
        if bundle.name and get_nested(file.data, ("bundle", "name")) == bundle.name:
            message = f"The bundle in {file.path} calls itself '{bundle.name}', too"
            remedy = "Give one of them another name: mentions and includes can't tell them apart."
            yield Problem(message, "warning", file.path, file.line_of(("bundle", "name")), remedy)


def _lost_to_same_names(bundle: BundleData) -> Iterator[Problem]:
    """Yield the parts whose context or agents another part of the same name takes the place of."""
    lost: dict[tuple[Path, Path, str], list[str]] = {}
    parts: dict[Path, BundleData] = {}
    for key, origins in bundle.origins.items():
        for each in origins[:-1]:
            last = origins[-1]
            if each.path is None or last.path is None or not each.is_other_of_name(last):
                continue
            if each.path not in parts:
                parts[each.path] = _read_alone(each.path)
            own = _file_of(parts[each.path], key)
            if own is not None and is_there(own) and own != _file_of(bundle, key):
                kind, _, name = key.partition(":")
                shown = f"the agent {name}" if kind == "agent" else f"@{name}"
                lost.setdefault((each.path, last.path, last.bundle), []).append(shown)
    for (path, other, name), entries in lost.items():
        what = " and ".join(dict.fromkeys(entries))
        message = f"The bundle in {other} calls itself '{name}', too: what this one has as {what}"
        line = line_in(path, "bundle", "name")
        remedy = "Give one of the bundles another name, or include only one of them."
        yield Problem(f"{message} is not used", "warning", path, line, remedy)


def _read_alone(path: Path) -> BundleData:
    try:
        part = read_bundle_file(path).bundle(mistakes=[])
    except BundleError:
        return BundleData("")
    part.resolve_pending_context()
    return part


def _file_of(bundle: BundleData, key: str) -> Path | None:
    """Return the file of a key of `origins`, if it is one of context or of an agent."""
    kind, _, name = key.partition(":")
    if kind == "agent":
        return bundle.resolve_agent_path(name)
    return qualified_context(bundle).get(name) if kind == "context" else None


def _missing_modules(preview: BundleDescription, bundle: BundleData) -> Iterator[Problem]:
    providers = [each for each in preview.modules if each.kind == "provider"]
    needed = {"orchestrator", "context"}
    if all(each.state == "missing" for each in providers):
        # No session runs without one that works.
        needed.add("provider")
    for module in preview.modules:
        # An entry that names no module is found with its file.
        if module.state == "missing" and module.module_id:
            name = module.instance or module.module_id
            place = place_of_module(bundle, module.kind, name)
            if module.remedy:
                yield Problem(module.problem, "error", *place, module.remedy)
            else:
                severity: Literal["error", "warning"] = (
                    "error" if module.kind in needed else "warning"
                )
                yield Problem(f"{module.module_id}: {module.problem}", severity, *place)
    for entry in entries_of(bundle):
        problem, remedy = wrong_kind(entry) if entry.agent or entry.section == "spawn" else ("", "")
        if problem and entry.agent:
            place = place_in_agent(bundle, entry.agent, (entry.section,))
            yield Problem(problem, "error", *place, remedy)
        elif problem:
            place = place_of(bundle, entry.origin, "spawn", "tools")
            yield Problem(problem, "error", *place, remedy)


def _agents(bundle: BundleData) -> Iterator[Problem]:
    for name, agent in bundle.agents.items():
        yield from ignored_in_agent(bundle, name)
        if left_out := why_left_out(bundle, name):
            yield left_out
            continue
        if agent.get("instruction"):
            continue
        file = bundle.resolve_agent_path(name)
        message = f"The agent '{name}' has no instruction"
        if file is not None:
            remedy = "Write it below the frontmatter."
            yield Problem(message, "warning", file, None, remedy)
        else:
            path, line = place_of(bundle, f"agent:{name}", "agents", name)
            remedy = f"Write agents/{name.rpartition(':')[2]}.md next to the bundle."
            yield Problem(message, "warning", path, line, remedy)


def _unresolved_context(bundle: BundleData) -> Iterator[Problem]:
    for key, reference in bundle._pending_context.items():
        path, line = place_of(bundle, f"context:{key}", "context", reference)
        yield Problem(f"The context file {reference} can't be found", "warning", path, line)
