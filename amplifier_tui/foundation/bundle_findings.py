"""What is wrong with a bundle as a whole: what its file alone does not show."""

from amplifier_tui.foundation.checking import Problem
from amplifier_tui.foundation.preview import BundlePreview
from amplifier_tui.foundation.validator import BundleValidator


def preview_findings(preview: BundlePreview) -> list[Problem]:
    """Return what a preview shows to be wrong: includes, modules, agents, context, completeness.

    Args:
        preview: Of the effective bundle.
    """
    bundle = preview.bundle
    if bundle is None:
        message = _without_place(preview)
        if preview.state == "not_fetched":
            return [Problem(message, "warning", preview.error_path, preview.error_line)]
        return [Problem(message, "error", preview.error_path, preview.error_line)]
    file = bundle.source_file
    found: list[Problem] = []
    if preview.state == "invalid":
        message = _without_place(preview)
        found.append(Problem(message, "error", preview.error_path, preview.error_line))
    found += [
        Problem(f"{each.source} is left out: {each.reason}", "warning", each.path, each.line)
        for each in preview.skipped
    ]
    found += [
        Problem(f"{module.module_id}: {module.problem}", "warning", file)
        for module in preview.modules
        if module.state == "missing" and not module.replaced
    ]
    found += [
        Problem(
            f"The agent '{agent.name}' has no instruction",
            "warning",
            file,
            remedy=f"Write agents/{agent.name.rpartition(':')[2]}.md next to the bundle.",
        )
        for agent in preview.agents
        if not agent.has_instruction
    ]
    found += [
        Problem(f"The context file {each} can't be found", "warning", file)
        for each in preview.unresolved_context
    ]
    incomplete = BundleValidator().validate_completeness(bundle).errors
    found += [
        Problem(message, "warning", file, remedy="As a part of another bundle it needs none.")
        for message in incomplete
        if message not in {problem.message for problem in found}
    ]
    return found


def _without_place(preview: BundlePreview) -> str:
    """The error without the file and line that stand beside it."""
    place = str(preview.error_path)
    text = preview.error.removeprefix(place)
    if preview.error_line is not None:
        text = text.removeprefix(f":{preview.error_line}")
    return text.removeprefix(":").strip() if text != preview.error else preview.error
