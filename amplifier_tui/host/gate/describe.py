"""A request in the words and numbers of the approval dialog."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.host.gate.places import PathPlace, locate
from amplifier_tui.host.gate.programs import NETWORK
from amplifier_tui.host.gate.risk import (
    Judgement,
    judge_script,
    judge_tool_read,
    judge_write,
    worst,
)
from amplifier_tui.host.gate.rules import Part, argument_part, command_parts
from amplifier_tui.host.gate.subjects import Subject, read_subject
from amplifier_tui.host.stream.diffs import Snapshot, snapshot, unified

PAYLOAD_LIMIT: Final = 256 * 1024
"""Characters of a payload; what is longer is cut, and then must not be remembered."""

PayloadKind = Literal["command", "json", "text", "none"]


@dataclass(frozen=True, slots=True)
class Description:
    """What a request asks for.

    `payload` is the exact thing to be allowed, `parts` what standing rules are matched against,
    `diff` the change that would be made. `complete` says that the payload is all of it.
    """

    action: str
    payload: str = ""
    payload_kind: PayloadKind = "none"
    parts: tuple[Part, ...] = ()
    diff: str = ""
    judgement: Judgement = field(default_factory=Judgement)
    cwd: str = ""
    complete: bool = True


def describe_call(tool: str, arguments: Mapping[str, Any], workspace: Path) -> Description:
    """Describe a tool call.

    Args:
        tool: The tool's name.
        arguments: Its arguments.
        workspace: The session's working directory, absolute.
    """
    subject = read_subject(tool, arguments)
    if subject.kind == "command":
        return _command(subject, workspace)
    places = tuple(locate(path, workspace) for path in subject.paths)
    diff = ""
    each: tuple[Judgement, ...] = ()
    match subject.kind:
        case "write" | "edit" | "patch":
            what = _change_words(subject, places)
            each = tuple(judge_write(place) for place in places)
            whole = worst(each) if each else Judgement("medium", ("changes files",))
            diff = _diff(subject, places)
        case "read":
            what = f"read {places[0].shown if len(places) == 1 else f'{len(places)} files'}"
            each = tuple(judge_tool_read(place) for place in places)
            whole = worst(each)
        case "network":
            what = f"reach {subject.host or subject.url[:200]}"
            whole = Judgement("medium", (NETWORK,))
        case _:
            what = "run"
            whole = Judgement("medium", (), places)
            if whole.outside:
                whole = whole.joined(Judgement("high", ("names paths outside the workspace",)))
    shown = arguments and (not diff or "lines of this diff are not shown" in diff)
    payload, complete = _cut(_json(arguments) if shown else "")
    parts = tuple(
        Part("path", tool, str(place.path), judgement)
        for place, judgement in zip(places, each, strict=False)
    )
    return Description(
        action=f"{tool} wants to {what}",
        payload=payload,
        payload_kind="json" if payload else "none",
        parts=parts or (argument_part(subject, whole),),
        diff=diff,
        judgement=whole,
        cwd=str(workspace),
        complete=complete,
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
    folder = locate(subject.folder, workspace).path if subject.folder else workspace
    line, each, whole = judge_script(subject.text, workspace, folder)
    parts = command_parts(subject.tool, line.commands, each)
    if not line.complete:
        # What was not understood must not be covered by rules for what was.
        parts = (Part("command", subject.tool, subject.text.strip(), whole, wraps=True),)
    count = len(line.commands)
    payload, complete = _cut(subject.text)
    return Description(
        action=f"{subject.tool} wants to run {'a command' if count <= 1 else f'{count} commands'}",
        payload=payload,
        payload_kind="command",
        parts=parts,
        judgement=whole,
        cwd=str(folder),
        complete=complete,
    )


def _change_words(subject: Subject, places: tuple[PathPlace, ...]) -> str:
    if len(places) != 1:
        return f"change {len(places)} files" if places else "change files"
    place = places[0]
    if subject.kind == "write":
        return f"{'overwrite' if place.exists else 'make'} {place.shown}"
    return f"change {place.shown}"


def _diff(subject: Subject, places: tuple[PathPlace, ...]) -> str:
    if subject.kind == "patch":
        return subject.text
    place = places[0]
    before = snapshot(place.path)
    if before.note:
        return ""
    if subject.kind == "write":
        return unified(place.shown, before.text, subject.text)
    return _edit_diff(subject, place, before)


def _edit_diff(subject: Subject, place: PathPlace, before: Snapshot) -> str:
    after = before.text
    for replacement in subject.replacements:
        if after is None or not replacement.old or replacement.old not in after:
            # It will fail or make a file; show what the call says it replaces.
            return "".join(unified(place.shown, r.old, r.new) for r in subject.replacements)
        count = -1 if replacement.everywhere else 1
        after = after.replace(replacement.old, replacement.new, count)
    return unified(place.shown, before.text, after)


def _json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False, indent=2, default=str)


def _cut(text: str) -> tuple[str, bool]:
    if len(text) <= PAYLOAD_LIMIT:
        return text, True
    return f"{text[:PAYLOAD_LIMIT]}\n… {len(text) - PAYLOAD_LIMIT:,} more characters", False
