"""What a rule covers: the parts of a call, and whether a rule is about one of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.shell import (
    RUNNERS,
    ShellCommand,
    ShellLine,
    programs_of,
    read_places,
    readings,
)
from amplifier_tui.base.shell import covers as covers_command
from amplifier_tui.base.shell.looks import tells_names
from amplifier_tui.base.tool_names import GROUPS, READ_TOOLS
from amplifier_tui.host.gate.calls.grants import arguments_text
from amplifier_tui.host.gate.calls.obeyed_by_git import told_of_git
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import PathPlace
from amplifier_tui.host.gate.programs import variables_changed
from amplifier_tui.host.gate.risk import (
    INTERPRETERS,
    MOST_PLACES,
    Judgement,
    severity,
)
from amplifier_tui.host.gate.rules.addresses import names_address
from amplifier_tui.host.gate.rules.paths import is_pattern, leads_to
from amplifier_tui.host.gate.rules.text import Rule
from amplifier_tui.host.gate.rules.words import RUNS_ANYTHING, rule_begin

_TOUCHING: Final = {
    "read": ("read_file", "grep", "search_files"),
    "write": ("write_file", "edit_file", "create_file", "apply_patch"),
}
"""Tools whose rules are about what is in files, not their names alone."""
_OF_REVISIONS: Final = frozenset(
    {"push", "fetch", "pull", "switch", "rebase", "merge", "cherry-pick", "revert", "tag", "branch"}
)
_CHOSEN: Final = re.compile(r"[$`]")
_TAKES_FOLDER: Final = ("-C", "--git-dir", "--work-tree", "--namespace", "--prefix")
_BETWEEN: Final = re.compile(r"[:=@,]")


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a rule can be about.

    `text` is exactly what would be allowed: a simple command, a path, a server, arguments as JSON,
    a prompt. `asker` is who asks a prompt. Of a command `wraps` says that a rule with a `*` can't
    cover it, `folders` where it may run, `heres` those and where any before it may. `reads` says
    that it only reads, inside the workspace.
    """

    kind: Literal["command", "path", "server", "arguments", "prompt"]
    tool: str
    text: str
    judgement: Judgement
    asker: str = ""
    place: PathPlace | None = None
    command: ShellCommand | None = None
    folders: tuple[Whereabouts, ...] = ()
    wraps: bool = False
    reads: bool = False
    heres: tuple[Whereabouts, ...] = ()


def command_parts(
    tool: str,
    line: ShellLine,
    judgements: Iterable[Judgement],
    heres: Iterable[tuple[Whereabouts, ...]],
    whole: str,
) -> tuple[Part, ...]:
    """Return a part for each simple command of a command line, `whole` as it is written."""
    parts: list[Part] = []
    been: list[Whereabouts] = []
    for command, judgement, folders in zip(line.commands, judgements, heres, strict=True):
        been = list(dict.fromkeys((*been, *folders)))
        parts.append(
            Part(
                kind="command",
                tool=tool,
                text=whole.strip() if _depends(command, line) else exact_text(command),
                judgement=judgement,
                command=command,
                folders=folders,
                wraps=bool(line.hidden) or _wraps(command),
                reads=not judgement.met and _only_reads(command, line, been),
                heres=tuple(been),
            )
        )
    return tuple(parts)


def exact_text(command: ShellCommand) -> str:
    """Return a command as an exact rule for it repeats it: with its documents."""
    documents = [each.written for each in command.redirections if each.operator == "<<"]
    if documents:
        return "\n".join((command.text.strip(), *documents)).removesuffix("\n")
    # Within quotes a blank is no line's end.
    quoted = any(mark in command.text for mark in "'\"\\")
    return command.text.strip() if quoted else " ".join(command.text.split())


def _depends(command: ShellCommand, line: ShellLine) -> bool:
    """Whether what it does depends on what is piped into it, or on the loop around it."""
    if line.hidden and not all(command.known):
        return True
    return command.piped and any(
        run.program in RUNS_ANYTHING | INTERPRETERS or "xargs" in run.wrappers
        for run in programs_of(command)
    )


def _only_reads(command: ShellCommand, line: ShellLine, heres: Sequence[Whereabouts]) -> bool:
    """Whether it only reads inside the workspace, whichever `cd` before it may have failed."""
    places = read_places(replace(line, commands=(command,)))
    if places is None or len(places) > MOST_PLACES or any(here.elsewhere for here in heres):
        return False
    if _compares(command) and any(here.locate(p).path.is_dir() for here in heres for p in places):
        # It looks at all files of a folder, and behind the links among them.
        return False
    untold = tells_names(command)
    return all(here.holds(place, untold=untold) for here in heres for place in places)


def _compares(command: ShellCommand) -> bool:
    return command.written[:1] == ("diff",) or "--no-index" in command.written


def _wraps(command: ShellCommand) -> bool:
    found = programs_of(command)
    if command.assignments or len(found) != 1:
        return True
    if variables_changed(command.written, ()) is not None:
        return True
    (run,) = found
    if set(run.wrappers) - RUNNERS or not run.readable or run.program in RUNS_ANYTHING:
        return True
    return any(
        (each.writes and each.target != "/dev/null") or each.operator.startswith("<<")
        for each in command.redirections
    )


def argument_part(
    tool: str, arguments: Mapping[str, Any], judgement: Judgement, *, reads: bool = False
) -> Part:
    """Return the part for a call that is neither a command nor about files it names."""
    return Part("arguments", tool, arguments_text(arguments), judgement, reads=reads)


def covers(rule: Rule, part: Part) -> bool:
    """Return whether a rule is about a part."""
    if part.kind == "prompt" or rule.asker:
        return part.kind == "prompt" and (rule.asker, rule.inside) == (part.asker, part.text)
    if not _names(rule.tool, part.tool):
        return False
    if rule.verdict != "allow":
        return not rule.inside or _catches(rule, part)
    risk = part.judgement.risk
    if risk == "critical":
        return False
    many = rule.starred or (part.kind == "path" and is_pattern(rule.inside))
    if many and (severity(risk) > severity(rule.ceiling) or is_guarded(part)):
        return False
    outside = part.place is not None and part.place.outside
    if rule.planned and (outside or is_guarded(part)):
        # A bundle opens nothing outside of the workspace, and nothing that configures programs.
        return False
    if not rule.inside:
        # What is outside of the workspace a rule has to name, as `**` does not cover it either.
        return not outside
    match part.kind:
        case "command":
            if any(here.elsewhere for here in part.folders):
                return False
            if rule.inside == part.text:
                return True
            return rule.inside.endswith(" *") and _continues(rule, part)
    return _speaks_of(rule, part)


def _speaks_of(rule: Rule, part: Part) -> bool:
    match part.kind:
        case "path":
            return part.place is not None and names_path(rule, part.place)
        case "server":
            return fnmatchcase(part.text.lower(), rule.inside.lower())
    return rule.inside == part.text


def names_path(rule: Rule, place: PathPlace) -> bool:
    """Whether a rule is about a path, read from where its own paths begin."""
    seen = replace(place, root=rule.root) if rule.root else place
    return leads_to(rule.inside, seen, exact=rule.verdict == "allow")


def names_tool(rule: Rule, tool: str) -> bool:
    """Whether a rule is about calls of a tool."""
    return not rule.asker and _names(rule.tool, tool)


def speaks_of_files(rule: Rule, kind: Literal["read", "write"]) -> bool:
    """Whether a rule restricts what is read of files that it names, or what is written to them."""
    if rule.verdict == "allow" or rule.asker or rule.inside[:1] in ("", "{"):
        return False
    return any(_names(rule.tool, tool) for tool in _TOUCHING[kind])


def _names(pattern: str, tool: str) -> bool:
    return pattern == tool or tool in GROUPS.get(pattern, ()) or fnmatchcase(tool, pattern)


def is_guarded(part: Part) -> bool:
    """Whether it touches what no `*` covers: what configures programs, and secrets.

    Reading what configures programs takes effect on nobody, but outside it may show a password.
    """
    if part.kind == "path" and part.tool in READ_TOOLS:
        return any(place.secret or place.tells_by_reading for place in part.judgement.places)
    return any(place.configures or place.secret for place in part.judgement.places)


def _catches(rule: Rule, part: Part) -> bool:
    if part.command is None:
        return _speaks_of(rule, part)
    words = tuple(rule.inside.removesuffix("*").split())
    return any(_begins(found, words) for found in readings(part.command))


def _begins(found: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a command begins with words, options and their values between them left out."""
    places = {0}
    for word in words:
        left, seen, after = list(places), set(places), set[int]()
        while left:
            at = left.pop()
            if at < len(found) and found[at] == word:
                after.add(at + 1)
            if 0 < at < len(found) and found[at].startswith(("-", "+")):
                # Whether it takes the next word, nobody knows here.
                more = {at + 1, at + 2} - seen
                seen |= more
                left += more
        places = after
    return bool(places)


def may_run(rule: Rule, part: Part) -> bool:
    """Whether a command may be one that a rule restricts, by a word only known when it runs.

    As `git $x`, where the rule is about `git commit`. Where that hides the program itself, see
    `may_hide`.
    """
    words = tuple(rule.inside.removesuffix("*").split())
    speaks = rule.verdict != "allow" and not rule.asker and _names(rule.tool, part.tool)
    if part.command is None or not speaks or len(words) < 2:
        return False
    for run in programs_of(part.command):
        made, known = list(run.command.written), run.command.known
        if not made or run.program != words[0]:
            continue
        if words[0] == "git" and any("alias." in word for word in made):
            return True
        for at in range(1, len(made)):
            unknown = not known[at] and _CHOSEN.search(made[at]) is not None
            # The folder behind such an option is no subcommand.
            if unknown and made[at - 1] not in _TAKES_FOLDER and _may_stand(made, at, words):
                return True
        if "xargs" in run.wrappers and _may_stand(made, len(made), words):
            return True
    return False


def _may_stand(made: Sequence[str], at: int, words: Sequence[str]) -> bool:
    """Whether a command begins with words, if any may stand in a place of it."""
    program = PurePosixPath(made[0]).name
    return any(
        _begins((program, *made[1:at], *words[done:]), words) for done in range(1, len(words))
    )


def _continues(rule: Rule, part: Part) -> bool:
    command = part.command
    if command is None or not part.folders or part.wraps:
        return False
    begin, options = rule_begin(rule.inside)
    if not all(command.known) or not covers_command(begin, options, command):
        return False
    if any(names_address(run, begin) for run in programs_of(command)):
        return False
    places = read_places(ShellLine((command,)))
    if places is None:
        places = tuple(
            word.partition("=")[2] if word.startswith("-") else word
            for word in command.words[len(begin) :]
        )
    if len(places) > MOST_PLACES:
        return False
    revisions = _takes_revisions(command)
    return all(_is_plain(p, here, revisions) for p in places for here in part.folders)


def _takes_revisions(command: ShellCommand) -> bool:
    """Whether it is a command of git whose operands are revisions, remotes and branches."""
    return command.words[:1] == ("git",) and command.words[1] in _OF_REVISIONS


def _is_plain(operand: str, here: Whereabouts, revisions: bool = False) -> bool:
    """Whether an operand names nothing outside of the workspace, no secrets and no configuration.

    Names may stand behind others: `file:.env`, `@/etc/passwd`. Where they are revisions, `HEAD` is
    no file that would make a repository of a folder.
    """
    texts = (operand, *_BETWEEN.split(operand))
    named = (text for text in texts if not (revisions and text == "HEAD"))
    found = map(told_of_git, map(here.locate, named))
    return "://" not in operand and not any(
        place.outside or place.secret or place.configures for place in found
    )
