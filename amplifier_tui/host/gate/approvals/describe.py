"""A tool call in the words and numbers of the approval dialog.

A tool whose arguments say nothing that is known is shown with them as JSON.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.shell import ShellLine, plain_line
from amplifier_tui.base.tool_names import (
    AGENT_TOOLS,
    COMMAND_TOOLS,
    READ_TOOLS,
    WEB_TOOLS,
    WRITE_TOOLS,
)
from amplifier_tui.host.gate.approvals.subject import Kind, Subject, read_subject
from amplifier_tui.host.gate.calls.grants import Touched
from amplifier_tui.host.gate.calls.obeyed_by_git import told_of_git
from amplifier_tui.host.gate.edits import (
    PlannedChange,
    deleted_paths,
    overwriting,
    patching,
    replacing,
)
from amplifier_tui.host.gate.modes import (
    Act,
)
from amplifier_tui.host.gate.places import PathPlace, can_be_allowed, locate
from amplifier_tui.host.gate.programs import SETS_VARIABLES
from amplifier_tui.host.gate.risk import (
    MAKES_FILE,
    UNREADABLE,
    Judgement,
    judge_delete,
    judge_line,
    judge_script,
    judge_tool_read,
    judge_write,
    worst,
)
from amplifier_tui.host.gate.rules.matching import Part, argument_part, command_parts
from amplifier_tui.host.gate.seen import SeenFiles, file_stamp
from amplifier_tui.host.gate.verdicts.words import MAY_TELL, NETWORK, ONLY_READS, SECRETS

logger = logging.getLogger(__name__)

PAYLOAD_LIMIT: Final = 256 * 1024
"""Characters of a payload; what is longer is cut, and then must not be remembered."""

PayloadKind = Literal["command", "json", "text", "none"]


@dataclass(frozen=True, slots=True)
class Description:
    """What a request asks for.

    `payload` is the exact thing to be allowed, `parts` what standing rules are matched against,
    `diff` the change that would be made, `problem` what is wrong with that. `complete` says that
    the payload is all of it, `unclear` that it may mean something else. `doubt` is what keeps
    one from telling that commands only read of which each seems to. `replaced` are the files that
    it would write over as a whole, each with its stamp. `written_out` are the commands of a line
    that only reads as they run in its loops, where that is not how they stand there.
    """

    action: str
    kind: Kind = "other"
    payload: str = ""
    payload_kind: PayloadKind = "none"
    parts: tuple[Part, ...] = ()
    diff: str = ""
    problem: str = ""
    judgement: Judgement = field(default_factory=Judgement)
    cwd: str = ""
    complete: bool = True
    unclear: bool = False
    doubt: str = ""
    replaced: frozenset[tuple[Path, tuple[int, int] | None]] = frozenset()
    written_out: tuple[Part, ...] = ()

    @property
    def every_part(self) -> tuple[Part, ...]:
        """What no rule that denies or asks may be about."""
        return (*self.parts, *self.written_out)

    @property
    def touched(self) -> Touched:
        """Where the paths in its arguments lead: its files, or the folder of a command."""
        if self.kind == "command":
            return Touched(frozenset((Path(self.cwd),)))
        return Touched(frozenset(place.path for place in self.judgement.places), self.replaced)

    @property
    def outside(self) -> frozenset[Path]:
        """The files outside of the workspace that a yes of the user lets the call touch."""
        if self.kind not in ("read", "write", "edit", "patch"):
            return frozenset()
        return frozenset(each.path for each in self.judgement.places if can_be_allowed(each))


def describe_call(
    tool: str,
    arguments: Mapping[str, Any],
    workspace: Path,
    *,
    diffs: bool = True,
    seen: SeenFiles | None = None,
) -> Description:
    """Describe a tool call of a session that works in `workspace`, an absolute path.

    A call that can't be looked at is described as that, as risky. Without `diffs` no file is read.
    `seen` knows what the agent has read.
    """
    try:
        return _described(tool, arguments, workspace, diffs, seen or SeenFiles())
    except Exception:
        logger.exception("A call of %s could not be described", tool)
        judgement = Judgement("high", ("it could not be looked at",))
        return Description(
            action=f"{tool} wants to run",
            payload=repr(dict(arguments))[:10_000],
            payload_kind="text",
            parts=(Part("arguments", tool, repr(dict(arguments)), judgement),),
            judgement=judgement,
            complete=False,
        )


def _described(
    tool: str, arguments: Mapping[str, Any], workspace: Path, diffs: bool, seen: SeenFiles
) -> Description:
    subject = read_subject(tool, arguments)
    if subject.kind == "command":
        return _command(subject, workspace)
    places = tuple(locate(path, workspace) for path in subject.paths)
    change, whole_files = PlannedChange(), places if subject.kind == "write" else ()
    replaced = frozenset((place.path, file_stamp(place.path)) for place in whole_files)
    each: tuple[Judgement, ...] = ()
    match subject.kind:
        case "write" | "edit" | "patch":
            gone = deleted_paths(subject.text) if subject.kind == "patch" else frozenset()
            what = _change_words(subject, places, gone)
            each = tuple(
                judge_delete(place) if path in gone else judge_write(place)
                for path, place in zip(subject.paths, places, strict=True)
            )
            whole = worst(each) if each else Judgement("medium", ("changes files",))
            # Of what is said twice, one diff would be half of it.
            change = _change(subject, places, seen) if diffs and not subject.unclear else change
        case "read":
            what = f"read {places[0].shown if len(places) == 1 else f'{len(places)} files'}"
            each = tuple(judge_tool_read(place) for place in places)
            whole = worst(each)
            if not places:
                what = "read files" if subject.unclear else "search the workspace"
        case "network":
            what = f"reach {subject.host or subject.url[:200]}"
            whole = Judgement("medium", (NETWORK,))
        case _:
            what = "run"
            # Nobody knows what is done with them.
            whole = Judgement("medium", (), tuple(map(told_of_git, places)))
            if whole.outside:
                whole = whole.joined(Judgement("high", ("names paths outside the workspace",)))
    if change.same:
        what += " with what it holds already"
    if change.problem and not change.diff:
        # A call that fails makes nothing: beside "there is no file" it would be another story.
        reasons = tuple(reason for reason in whole.reasons if reason != MAKES_FILE)
        whole = replace(whole, reasons=reasons)
    if subject.unclear:
        whole = whole.joined(_UNCLEAR)
    diff = change.diff
    shown = arguments and (not diff or "lines of this diff are not shown" in diff)
    payload, complete = _cut(_json(arguments) if shown else "")
    reading = tool in READ_TOOLS
    parts = tuple(
        Part(
            *("path", tool, str(place.path), judgement),
            place=place,
            reads=reading and not (place.outside or place.secret),
        )
        for place, judgement in zip(places, each, strict=False)
    )
    if subject.host:
        parts = (Part("server", tool, subject.host, whole),)
    if subject.unclear:
        parts = (*parts, argument_part(tool, arguments, whole))
    return Description(
        action=f"{tool} wants to {what}",
        kind=subject.kind,
        payload=payload,
        payload_kind="json" if payload else "none",
        parts=parts or (argument_part(tool, arguments, whole, reads=reading),),
        diff=diff,
        problem=change.problem,
        judgement=whole,
        cwd=str(workspace),
        complete=complete,
        unclear=subject.unclear,
        replaced=replaced,
    )


def describe_question(asker: str, prompt: str) -> Description:
    """Describe a question that belongs to no tool call."""
    judgement = Judgement("medium")
    return Description(
        action=f"{asker or 'A hook'} asks",
        payload=prompt,
        payload_kind="text",
        parts=(Part("prompt", "", prompt, judgement, asker=asker),),
        judgement=judgement,
        complete=len(prompt) <= PAYLOAD_LIMIT,
    )


def _command(subject: Subject, workspace: Path) -> Description:
    place = locate(subject.folder, workspace) if subject.folder else None
    folder = place.path if place else workspace
    line, each, heres, whole = judge_script(subject.text, workspace, folder)
    if place is not None and place.outside:
        whole = whole.joined(Judgement(places=(place,)))
    where = f" in {place.shown}" if place is not None and place.shown != "." else ""
    parts = command_parts(subject.tool, line, each, heres, subject.text)
    if not line.complete:
        # What was not understood must not be covered by rules for what was.
        parts = (Part("command", subject.tool, subject.text.strip(), whole, wraps=True),)
    doubt = ""
    readable = UNREADABLE not in whole.reasons
    written = _written_out(line, subject, workspace, folder) if readable else ()
    if written:
        whole = worst(part.judgement for part in written)
        parts = tuple(replace(part, reads=True, judgement=whole) for part in parts)
    if not all(part.reads for part in parts):
        doubt = _doubt(line.hidden, parts)
        whole = _doubted(whole)
        parts = tuple(
            part if part.reads else replace(part, judgement=_doubted(part.judgement))
            for part in parts
        )
    count = len(line.commands)
    what = "a command" if count <= 1 else f"{count} commands"
    if subject.in_background:
        what += " in the background"
    payload, complete = _cut(subject.text)
    payload_kind: PayloadKind = "command"
    if subject.unclear:
        whole = whole.joined(_UNCLEAR)
        parts = (*parts, argument_part(subject.tool, subject.arguments, whole))
        payload, complete = _cut(_json(subject.arguments))
        payload_kind = "json"
    return Description(
        action=f"{subject.tool} wants to run {what}{where}",
        kind="command",
        payload=payload,
        payload_kind=payload_kind,
        parts=parts,
        judgement=whole,
        cwd=str(folder),
        complete=complete,
        unclear=subject.unclear,
        doubt=doubt,
        written_out=written,
    )


def _written_out(
    line: ShellLine, subject: Subject, workspace: Path, folder: Path
) -> tuple[Part, ...]:
    """Return the commands of a line as they run; none where they do not all only read."""
    plain = plain_line(line)
    if plain is None or (plain.commands == line.commands and not line.hidden):
        return ()
    judged = judge_line(plain, subject.text, workspace, folder)
    parts = command_parts(subject.tool, plain, judged.each, judged.heres, subject.text)
    return parts if all(part.reads for part in parts) else ()


def _doubt(hidden: str, parts: tuple[Part, ...]) -> str:
    """Return what keeps one from telling that commands only read; empty where one does more.

    Args:
        hidden: What makes the line more than the sum of its commands.
        parts: The commands.
    """
    harmless = ((), (ONLY_READS,), (SETS_VARIABLES,))
    said = (part.judgement for part in parts)
    if not all(each.risk == "low" and each.reasons in harmless for each in said):
        return ""
    if hidden:
        return hidden
    part = next(part for part in parts if not part.reads)
    command = part.command
    if command is None or any(here.elsewhere for here in part.folders):
        return "the folder it runs in"
    if command.assignments:
        return f"the variable `{command.assignments[0].partition('=')[0]}`"
    pairs = zip(command.written, command.known, strict=True)
    unknown = (f"`{word}`, known only when it runs" for word, known in pairs if not known)
    # With redirections alone there is no program.
    given = f"what `{command.words[0]}` is given" if command.words else f"`{command.text.strip()}`"
    return next(unknown, given)


def _doubted(judgement: Judgement) -> Judgement:
    """Return what is said of a command whose program only reads, but with words that can't be told.

    In a loop, or with a variable: it is asked about, and "only reads" would be no reason for that.
    """
    reasons = tuple(_SEEMS_TO_READ if each == ONLY_READS else each for each in judgement.reasons)
    return replace(judgement, reasons=reasons)


_SEEMS_TO_READ: Final = "reads, as far as can be told"
_UNCLEAR: Final = Judgement("medium", ("its arguments can be taken in more than one way",))


def _change_words(subject: Subject, places: tuple[PathPlace, ...], gone: frozenset[str]) -> str:
    if gone:
        names = [
            each.shown for path, each in zip(subject.paths, places, strict=True) if path in gone
        ]
        deleted = names[0] if len(names) == 1 else f"{len(names)} files"
        left = len(places) - len(names)
        rest = f"change {left} file{'s' * (left > 1)} and " if left else ""
        return f"{rest}delete {deleted}"
    if len(places) != 1:
        return f"change {len(places)} files" if places else "change files"
    place = places[0]
    if subject.kind == "write":
        return f"{'overwrite' if place.exists else 'make'} {place.shown}"
    return f"change {place.shown}"


def _change(subject: Subject, places: tuple[PathPlace, ...], seen: SeenFiles) -> PlannedChange:
    """Return the change a call would make."""
    if subject.kind == "patch":
        named = zip(subject.paths, places, strict=True)
        return patching(subject.text, {path: place.path for path, place in named}, seen)
    name, path = places[0].shown, places[0].path
    if subject.kind == "write":
        return overwriting(name, path, subject.text, seen)
    return replacing(name, path, subject.replacements, seen)


def _json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False, indent=2, default=str)


def _cut(text: str) -> tuple[str, bool]:
    if len(text) <= PAYLOAD_LIMIT:
        return text, True
    return f"{text[:PAYLOAD_LIMIT]}\n… {len(text) - PAYLOAD_LIMIT:,} more characters", False


_FREE: Final = frozenset(
    {"todo", "todo_read", "todo_write", "load_skill", "ask_user", "tool_search", "bash_job"}
    | AGENT_TOOLS
)
"""Tools that change nothing, or whose own calls are judged one by one.

Under these names there may be others, too: a call that gives one a command, an address or what to
write is judged by that.
"""


_KNOWN: Final = _FREE | COMMAND_TOOLS | READ_TOOLS | WRITE_TOOLS | WEB_TOOLS | {"memory"}


def act_of(description: Description, tool: str, arguments: Mapping[str, Any]) -> Act:
    """Return what a call does, as far as the modes tell calls apart."""
    judgement = description.judgement
    told = not {SECRETS, MAY_TELL}.isdisjoint(judgement.reasons)
    guarded = told or any(place.configures for place in judgement.places)
    if guarded and description.kind != "read":
        known = tool in COMMAND_TOOLS or description.kind != "command"
        return "look" if known and _only_reads(description) else "guarded"
    if tool in _FREE and description.kind == "other":
        return "read"
    if tool == "memory":
        return _act_on_notes(arguments)
    if description.kind == "command":
        # What a tool that nobody knows does with a command, nobody knows.
        return "look" if tool in COMMAND_TOOLS and _only_reads(description) else "other"
    if tool in READ_TOOLS and description.kind == "read":
        return "read" if all(part.reads for part in description.parts) else "other"
    if tool in WRITE_TOOLS and judgement.places:
        elsewhere = any(place.outside or place.secret for place in judgement.places)
        return "other" if elsewhere or description.unclear else "write"
    return "other"


def is_of_stranger(description: Description, tool: str) -> bool:
    """Whether all that can be told of a call is that nobody knows its tool."""
    if tool in _KNOWN or description.kind in ("command", "network"):
        return False
    return not any(place.outside or place.secret for place in description.judgement.places)


def _act_on_notes(arguments: Mapping[str, Any]) -> Act:
    """Return what a call of `memory` does: notes stay when the session ends."""
    match arguments.get("action"):
        case "search" | "list":
            return "read"
        case "remember" if not arguments.get("everywhere"):
            return "write"
    # A note for every project is told to agents far from this workspace.
    return "other"


def _only_reads(description: Description) -> bool:
    parts = description.parts
    return description.kind == "command" and bool(parts) and all(part.reads for part in parts)
