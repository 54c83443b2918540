"""What is wrong with a bundle as a whole: what its own file alone does not show."""

from collections.abc import Iterator
from pathlib import Path

from amplifier_tui.foundation.bundle.agents import read_agent_file
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.loading import parse_text, read_bundle_text
from amplifier_tui.foundation.checks.bundle_file import (
    Problem,
    bundle_files,
    check_bundle_file,
    place_of,
    problem_of,
)
from amplifier_tui.foundation.checks.preview import BundlePreview
from amplifier_tui.foundation.checks.preview_modules import PreviewModule
from amplifier_tui.foundation.checks.validator import NAMELESS, BundleValidator
from amplifier_tui.foundation.exceptions import BundleError


def preview_findings(preview: BundlePreview, *, strict: bool = False) -> list[Problem]:
    """Return everything that is wrong with a bundle, each with file and line where known.

    That is: its files, what it leaves out, modules, agents, context files, completeness.

    Args:
        preview: Of the effective bundle.
        strict: Warnings of the validator are errors.
    """
    bundle = preview.bundle
    if bundle is None:
        # What is not here can't be called valid either.
        return [_own_error(preview)]
    found = _in_files(bundle, strict)
    if preview.state == "invalid" and all(each.severity != "error" for each in found):
        found.append(_own_error(preview))
    found += [
        Problem(f"{each.source} is left out: {each.reason}", "warning", each.path, each.line)
        for each in preview.skipped
    ]
    found += _missing_modules(preview, bundle)
    found += _empty_agents(preview, bundle)
    found += _unresolved_context(bundle)
    found += _incomplete(bundle)
    return list(dict.fromkeys(found))


def _in_files(bundle: Bundle, strict: bool) -> list[Problem]:
    found: list[Problem] = []
    for path in bundle_files(bundle):
        problems = check_bundle_file(path, strict=strict)
        # A part that is only included needs no name.
        own = path == bundle.source_file
        found += [each for each in problems if own or each.message != NAMELESS]
    return found


def _missing_modules(preview: BundlePreview, bundle: Bundle) -> Iterator[Problem]:
    for module in preview.modules:
        if module.state == "missing" and not module.replaced:
            path, line = _place_of_module(module, bundle)
            yield Problem(f"{module.module_id}: {module.problem}", "warning", path, line)


def _place_of_module(module: PreviewModule, bundle: Bundle) -> tuple[Path | None, int | None]:
    if module.kind in ("orchestrator", "context"):
        return place_of(bundle, f"session:{module.kind}", "session", module.kind)
    name = module.instance or module.module_id
    return place_of(bundle, f"{module.kind}:{name}", f"{module.kind}s", name)


def _empty_agents(preview: BundlePreview, bundle: Bundle) -> Iterator[Problem]:
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
        parse_text(read_bundle_text(file))
        read_agent_file(file, name)
    except BundleError as error:
        return problem_of(error)
    except (OSError, ValueError) as error:
        return Problem(str(error).removeprefix(f"{file}: "), "error", file)
    return None


def _unresolved_context(bundle: Bundle) -> Iterator[Problem]:
    for key, reference in bundle._pending_context.items():
        path, line = place_of(bundle, f"context:{key}", "context", reference)
        yield Problem(f"The context file {reference} can't be found", "warning", path, line)


def _incomplete(bundle: Bundle) -> Iterator[Problem]:
    validator = BundleValidator()
    known = set(validator.validate(bundle).errors)
    for message in validator.validate_completeness(bundle).errors:
        if message not in known:
            remedy = "As a part of another bundle it needs none."
            yield Problem(message, "warning", bundle.source_file, remedy=remedy)


def _own_error(preview: BundlePreview) -> Problem:
    """The preview's error, without the file, line and remedy that stand beside it."""
    message = preview.error
    if preview.error_path is not None:
        line = "" if preview.error_line is None else f":{preview.error_line}"
        message = message.removeprefix(f"{preview.error_path}{line}: ")
    if preview.remedy:
        message = message.removesuffix(preview.remedy).rstrip()
    return Problem(message, "error", preview.error_path, preview.error_line, preview.remedy)
