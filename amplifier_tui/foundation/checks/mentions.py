"""Which files a bundle mentions, or has a scripted provider play, that are not there."""

from collections.abc import Iterator
from pathlib import Path

from amplifier_tui.base.files.beside import find_beside
from amplifier_tui.base.messages.mentions import parse_mentions
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.model import INSTRUCTION, BundleData
from amplifier_tui.foundation.bundle.prompt import mention_resolver
from amplifier_tui.foundation.checks.bundle_file import Problem, place_of
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.mentions.lines import lines_of_mentions
from amplifier_tui.foundation.mentions.resolver import BaseMentionResolver
from amplifier_tui.foundation.settings.expand import variables

_RULES = frozenset({"@AGENTS.md", "@CLAUDE.md", "@~/.amplifier/AGENTS.md"})
"""What a project or a user has or has not: an instruction may mention it all the same."""


def missing_files(bundle: BundleData, working_dir: Path) -> list[Problem]:
    """Return a warning for each of them, with its line."""
    found = missing_mentions(bundle, working_dir)
    return [*found, *missing_scripts(bundle, working_dir)]


def missing_mentions(bundle: BundleData, working_dir: Path) -> Iterator[Problem]:
    """Yield a warning for each mention of a file that is not there, with its line; of agents, too.

    A mention without a namespace counts where it ends in `.md`: others may be anything with an @.
    Plain mentions are looked for in `working_dir`.
    """
    resolver = mention_resolver(bundle, working_dir)
    origins = bundle.origins.get(INSTRUCTION, [])
    path = origins[-1].path if origins else bundle.source_file
    yield from _missing_in(bundle.instruction or "", path, resolver)
    for name, agent in bundle.agents.items():
        text = agent.get("instruction") if isinstance(agent, dict) else None
        file = bundle.resolve_agent_path(name)
        if isinstance(text, str) and file is not None:
            yield from _missing_in(text, file, resolver)


def _missing_in(text: str, path: Path | None, resolver: BaseMentionResolver) -> Iterator[Problem]:
    """Yield a warning for each mention of an instruction, which is in the file."""
    lines: dict[str, int] | None = None
    for mention in parse_mentions(text):
        name = mention.rstrip(".")
        is_file = ":" in name or name.endswith(".md")
        if not is_file or name in _RULES or resolver.resolve(mention) is not None:
            continue
        namespace, separator, _ = name[1:].partition(":")
        if separator and namespace not in resolver.bundles:
            near = did_you_mean(namespace, resolver.bundles)
            why = f"can't be found: no bundle named '{namespace}' is part of this one{near}"
            remedy = "Correct the mention, or include that bundle."
        else:
            why, remedy = "can't be found", "Write the file, or correct the mention."
        if lines is None:
            lines = lines_of_mentions(path)
        line = lines.get(mention)
        yield Problem(f"The mentioned file {mention} {why}", "warning", path, line, remedy)


def missing_scripts(bundle: BundleData, working_dir: Path) -> Iterator[Problem]:
    """Yield a warning for each script of a scripted provider that is not there, with its line."""
    for entry in entries_of(bundle):
        config = entry.data.get("config")
        wanted = config.get("script") if isinstance(config, dict) else None
        if entry.agent or entry.module != "provider-mock" or not isinstance(wanted, str):
            continue
        if not wanted or variables(wanted):
            continue
        found, tried = find_beside(wanted, mention_resolver(bundle, working_dir), working_dir)
        if found is None:
            name = module_key(entry.data)
            place = place_of(bundle, entry.origin, entry.section, name, ("config", "script"))
            message = (
                f"The script {wanted} is not there: looked for {' and '.join(map(str, tried))}"
            )
            yield Problem(message, "warning", *place, "Write the file, or correct the path.")
