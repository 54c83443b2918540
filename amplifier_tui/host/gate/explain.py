"""What the rules make of a call, and would have made of the calls of the last days."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import StoredRows
from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.modes import (
    COMMAND_TOOLS,
    GROUPS,
    READ_TOOLS,
    WEB_TOOLS,
    WRITE_TOOLS,
)
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.file import RuleProblem, load_rules
from amplifier_tui.host.store.replay import DISPLAY
from amplifier_tui.paths import sessions_dir

DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that was decided about.

    Attributes:
        outcome: How: `allowed`, `denied`, `timed_out` or `cancelled`.
        by: `user`, `rule`, `mode`, `timeout` or `stop`.
        now: What the rules would make of it.
    """

    tool: str
    arguments: Mapping[str, Any]
    outcome: str
    by: str
    now: GateDecision


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happens to a call, what is wrong with the rules, and what their rule decided before."""

    decision: GateDecision
    origin: str
    problems: tuple[RuleProblem, ...]
    past: tuple[PastCall, ...]


def given_arguments(tool: str, text: str) -> dict[str, Any]:
    """Return the arguments a person means by a text: JSON, or the one a tool of its kind is about.

    Raises:
        ValueError: It can't be told.
    """
    if text.lstrip().startswith("{"):
        found = json.loads(text)
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
    tool: str,
    arguments: Mapping[str, Any],
    project: Path,
    mode: Mode,
    *,
    trusted: Collection[str] = (),
) -> Explanation:
    """Say what happens to a call in a project, and what the same rule decides about earlier ones.

    Args:
        tool: Its name, or a kind of tools.
        arguments: Of the call.
        project: Its folder, absolute.
        mode: The mode that is applied.
        trusted: The texts of those of the project's own rules that may allow.
    """
    rules, problems = load_rules(project, trusted=trusted)
    gate = Gate(project, lambda: RuleBook(rules), mode)
    tool = next(iter(sorted(GROUPS.get(tool, ()))), tool)
    decision = gate.decide(tool, arguments)
    origin = next((rule.origin for rule in rules if str(rule) == decision.rule), "")
    past = tuple(
        call
        for call in past_calls(gate, project)
        if (call.now.rule == decision.rule if decision.rule else call.tool == tool)
    )
    return Explanation(decision, origin, problems, past)


def past_calls(gate: Gate, project: Path) -> Iterator[PastCall]:
    """Yield the calls of a project's sessions that were asked about or decided, oldest first."""
    since = (datetime.now(UTC) - timedelta(days=DAYS)).isoformat()
    for entry in sorted(_audits(project), key=lambda each: str(each.get("ts"))):
        tool, arguments = entry.get("tool"), entry.get("arguments")
        if str(entry.get("ts")) < since or not tool or not isinstance(arguments, Mapping):
            continue
        now = gate.decide(str(tool), arguments)
        yield PastCall(
            str(tool), arguments, str(entry.get("outcome")), str(entry.get("by", "user")), now
        )


def _audits(project: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(sessions_dir(project).glob(f"*/{DISPLAY}")):
        for _, row in StoredRows(path).read():
            entry = row.get("approval")
            if isinstance(entry, Mapping):
                yield entry
