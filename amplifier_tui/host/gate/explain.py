"""What the gate makes of a call, and would have made of the calls of the last days."""

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from amplifier_tui.base.tool_names import (
    AGENT_TOOLS,
    COMMAND_TOOLS,
    GROUPS,
    OTHER_TOOLS,
    READ_TOOLS,
    WEB_TOOLS,
    WRITE_TOOLS,
)
from amplifier_tui.host.cards import AuditCard, CallExplanation, PastCall
from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.calls.grants import call_key
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.near import nearly
from amplifier_tui.host.gate.rules.text import Rule

UnlessRefused = Callable[[GateDecision, str, Mapping[str, Any]], GateDecision]

_MOST_JUDGED: Final = 500
"""Different earlier calls that are judged anew, the newest."""
_CALL: Final = re.compile(r"([\w.-]+)\((.*)\)", re.DOTALL)
_SPACED: Final = re.compile(r"([\w.-]+)\s*(.*)", re.DOTALL)
_QUOTED: Final = re.compile(r"""'([^']+)'|"([^"\\]+)\"""")
"""One word in quotes, such as a command line."""
_KINDS: Final = {"read": "read_file", "write": "write_file", "web": "web_fetch"}
"""The tool that is judged for a kind of tools."""
_PROGRAMS: Final = frozenset({"bash", "grep", "ls", "task"})
"""Tools that are called like a program: with words behind it, that is a command."""
_ALONE: Final = frozenset({"bash", "ls"})
"""Tools whose name alone is a command."""
_KNOWN: Final = COMMAND_TOOLS | READ_TOOLS | WRITE_TOOLS | WEB_TOOLS | AGENT_TOOLS | GROUPS.keys()


def read_call(text: str, tools: Collection[str] = ()) -> tuple[str, dict[str, Any]]:
    """Return tool and arguments of a call in a person's words.

    Args:
        text: A command line, `tool(arguments)` as in a rule, `tool arguments`, or a tool alone.
        tools: The names of a session's tools; those that everybody has are known.

    Raises:
        ValueError: The arguments can't be told.
    """
    text = text.strip()
    if found := _CALL.fullmatch(text):
        return found[1], given_arguments(found[1], found[2])
    if found := _SPACED.fullmatch(text):
        name, rest = found[1], found[2]
        quoted = _QUOTED.fullmatch(rest) if name in COMMAND_TOOLS else None
        inside = quoted[1] or quoted[2] if quoted else ""
        a_tool = name in {*tools, *_KNOWN, *OTHER_TOOLS} or _is_no_program(name)
        as_json = rest.startswith('{"') and a_tool
        if inside or as_json or name in _KNOWN - _PROGRAMS:
            return name, given_arguments(name, inside or rest)
        if not rest and a_tool and name not in _ALONE:
            return name, {}
    return "bash", given_arguments("bash", text)


def _is_no_program(name: str) -> bool:
    """Whether a word is rather the name of a module's tool, as `mcp__github__get_issue` is."""
    return "_" in name and "." not in name and shutil.which(name) is None


def given_arguments(tool: str, text: str) -> dict[str, Any]:
    """Return the arguments a person means by a text: JSON, or the one a tool of its kind is about.

    Raises:
        ValueError: It can't be told.
    """
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except RecursionError as error:
            raise ValueError("they are nested too deeply") from error
        return dict(found)
    for tools, name in (
        (COMMAND_TOOLS, "command"),
        (READ_TOOLS | WRITE_TOOLS | {"read", "write"}, "file_path"),
        (WEB_TOOLS | {"web"}, "url"),
    ):
        if tool in tools:
            return {name: text} | ({"content": ""} if tool in WRITE_TOOLS | {"write"} else {})
    if not text:
        return {}
    raise ValueError(f'give the arguments of {tool} as JSON: {{"name": "value"}}')


def explain(
    gate: Gate,
    tool: str,
    arguments: Mapping[str, Any],
    past: Iterable[AuditCard],
    confines: Callable[[str], bool] = lambda _: False,
    unless_refused: UnlessRefused = lambda decision, _tool, _arguments: decision,
) -> CallExplanation:
    """Say what happens to a call, and what the same rule decides about earlier ones.

    Args:
        gate: Decides.
        tool: Its name, or a kind of tools.
        arguments: Of the call.
        past: What was decided before, the newest first.
        confines: Whether a tool runs its commands in a sandbox.
        unless_refused: Makes a denial of a decision where the tool refuses the call itself.
    """
    tool = _KINDS.get(tool, tool)
    # As the program's own does, the tool leaves out what rules deny.
    decide = partial(
        gate.decide, tool, arguments, confines=confines(tool), leaves_out=tool == "grep"
    )
    decision = decide()
    asked = RuleBook(gate.asked_by_hook).match(decision.description.parts)
    if asked is not None and (hooked := decide(hooked=True)).verdict == "ask":
        decision = replace(hooked, reason=f"the rule {asked.rule} asks", rule=asked.rule)
    if decision.verdict != "deny":
        decision = unless_refused(decision, tool, arguments)
    judgement = decision.description.judgement
    is_decided = decision.verdict == "allow" or bool(decision.rule) or decision.by_person
    rules = (*gate.book.rules, *gate.asked_by_hook)
    origins = (rule.where for rule in rules if str(rule) == decision.rule)
    return CallExplanation(
        tool=tool,
        arguments=arguments,
        verdict=decision.verdict,
        reason=decision.reason,
        rule=decision.rule,
        where=next(origins, ""),
        near="" if is_decided else nearly(decision.description.parts, gate.book),
        mode=decision.mode,
        risk=judgement.risk,
        reasons=judgement.reasons,
        past=tuple(
            PastCall(card=card, verdict=now.verdict)
            for card, now in _judged(gate, past, "" if decision.rule else tool, confines)
            if now.rule == decision.rule
        ),
    )


def _judged(
    gate: Gate, past: Iterable[AuditCard], tool: str, confines: Callable[[str], bool]
) -> Iterator[tuple[AuditCard, GateDecision]]:
    """Yield earlier calls (of a tool, if one is named) with what would be decided now."""
    known: dict[Any, GateDecision] = {}
    for card in past:
        if not card.tool or (tool and card.tool != tool):
            continue
        key = call_key(card.tool, card.arguments)
        if key not in known:
            if len(known) >= _MOST_JUDGED:
                return
            known[key] = gate.decide(
                card.tool, card.arguments, confines=confines(card.tool), diffs=False
            )
        yield card, known[key]


def reach(gate: Gate, rules: tuple[Rule, ...], past: Iterable[AuditCard]) -> int:
    """Count the earlier calls that rules would allow beyond what is allowed without them."""
    names = {rule.tool for rule in rules}
    standing = gate.book
    wider = RuleBook((*standing.rules, *rules))
    known: dict[Any, bool] = {}
    count = 0
    for card in past:
        # What was changed is in the list once more, as it was decided about.
        if card.tool not in names or card.outcome == "changed":
            continue
        key = call_key(card.tool, card.arguments)
        if key not in known:
            if len(known) >= _MOST_JUDGED:
                break
            parts = describe_call(card.tool, card.arguments, gate.workspace, diffs=False).parts
            now, then = standing.match(parts), wider.match(parts)
            known[key] = now is None and then is not None and then.verdict == "allow"
        count += known[key]
    return count
