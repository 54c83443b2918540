"""Which files the instruction of a bundle mentions that are not there."""

from collections.abc import Iterator
from pathlib import Path

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.bundle.model import INSTRUCTION, BundleData
from amplifier_tui.foundation.bundle.prompt import mention_resolver
from amplifier_tui.foundation.checks.bundle_file import Problem
from amplifier_tui.foundation.mentions.loading import parse_mentions

_OF_PROJECTS = "AGENTS.md"
"""What a project has or has not: an instruction may mention it all the same."""


def missing_mentions(bundle: BundleData, working_dir: Path) -> Iterator[Problem]:
    """Yield a warning for each mention of a file that is not there, with its line.

    A mention without a namespace counts where it ends in `.md`: others may be anything with an @.
    Plain mentions are looked for in `working_dir`.
    """
    resolver = mention_resolver(bundle, working_dir)
    origins = bundle.origins.get(INSTRUCTION, [])
    path = origins[-1].path if origins else bundle.source_file
    for mention in parse_mentions(bundle.instruction or ""):
        name = mention.rstrip(".")
        is_file = ":" in name or name.endswith(".md")
        if not is_file or name == f"@{_OF_PROJECTS}" or resolver.resolve(mention) is not None:
            continue
        namespace, separator, _ = name[1:].partition(":")
        if resolver.resolve(name) is not None:
            why, remedy = "ends in a full stop", "Put a blank before the full stop."
        elif separator and namespace not in resolver.bundles:
            near = did_you_mean(namespace, resolver.bundles)
            why = f"can't be found: no bundle named '{namespace}' is part of this one{near}"
            remedy = "Correct the mention, or include that bundle."
        else:
            why, remedy = "can't be found", "Write the file, or correct the mention."
        line = None if path is None else _line_with(path, mention)
        yield Problem(f"The mentioned file {mention} {why}", "warning", path, line, remedy)


def _line_with(path: Path, mention: str) -> int | None:
    try:
        lines = read_regular(path).decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return next((number for number, line in enumerate(lines, 1) if mention in line), None)
