"""What is wrong with a bundle as a whole: what its own file alone does not show."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from amplifier_tui.foundation.bundle.definitions import read_agent_file
from amplifier_tui.foundation.bundle.loading import read_bundle_file
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.checks.bundle_file import (
    Problem,
    check_files_of,
    place_of,
    problem_of,
)
from amplifier_tui.foundation.checks.module_settings import settings_problems
from amplifier_tui.foundation.checks.opening import place_of_module
from amplifier_tui.foundation.checks.preview import BundleDescription
from amplifier_tui.foundation.checks.validator import completeness_findings
from amplifier_tui.foundation.exceptions import BundleError


def preview_findings(preview: BundleDescription, *, strict: bool = False) -> list[Problem]:
    """Return everything that is wrong with an effective bundle, with file and line where known.

    Looked at are its files, what it leaves out, modules, agents, context files and completeness.
    With `strict`, warnings about the files' content are errors.
    """
    bundle = preview.bundle
    own = preview.problem or Problem(preview.error)
    if bundle is None:
        # What is not here can't be called valid either.
        return [own]
    found = list(check_files_of(bundle, strict=strict))
    if preview.state == "invalid" and all(each.severity != "error" for each in found):
        found.append(own)
    found += [
        Problem(f"{each.source} is left out: {each.reason}", "warning", each.path, each.line)
        for each in preview.skipped
    ]
    found += _missing_modules(preview, bundle)
    for each in settings_problems(bundle):
        found.append(replace(each, severity="error") if strict else each)
    found += _empty_agents(preview, bundle)
    found += _unresolved_context(bundle)
    remedy = "As a part of another bundle it needs none."
    found += [
        Problem(each.message, "warning", bundle.source_file, remedy=remedy)
        for each in completeness_findings(bundle)
    ]
    return list(dict.fromkeys(found))


def _missing_modules(preview: BundleDescription, bundle: BundleData) -> Iterator[Problem]:
    for module in preview.modules:
        # An entry that names no module is found with its file.
        if module.state == "missing" and module.module_id:
            name = module.instance or module.module_id
            path, line = place_of_module(bundle, module.kind, name)
            yield Problem(f"{module.module_id}: {module.problem}", "warning", path, line)


def _empty_agents(preview: BundleDescription, bundle: BundleData) -> Iterator[Problem]:
    for agent in preview.agents:
        if agent.has_instruction:
            continue
        message = f"The agent '{agent.name}' has no instruction"
        file = bundle.resolve_agent_path(agent.name)
        if file is not None:
            remedy = "Write it below the frontmatter."
            yield _broken_agent(file, agent.name) or Problem(message, "warning", file, None, remedy)
        else:
            path, line = place_of(bundle, f"agent:{agent.name}", "agents", agent.name)
            remedy = f"Write agents/{agent.name.rpartition(':')[2]}.md next to the bundle."
            yield Problem(message, "warning", path, line, remedy)


def _broken_agent(file: Path, name: str) -> Problem | None:
    try:
        read_bundle_file(file)
        read_agent_file(file, name)
    except BundleError as error:
        return problem_of(error)
    except (OSError, ValueError) as error:
        return Problem(str(error).removeprefix(f"{file}: "), "error", file)
    return None


def _unresolved_context(bundle: BundleData) -> Iterator[Problem]:
    for key, reference in bundle._pending_context.items():
        path, line = place_of(bundle, f"context:{key}", "context", reference)
        yield Problem(f"The context file {reference} can't be found", "warning", path, line)
