"""Rules, decisions and calls in the words of the screen."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.text import clean, one_line
from amplifier_tui.ui.dialogs.approval_words import RISK
from amplifier_tui.ui.dialogs.parts.scope_row import SCOPES
from amplifier_tui.ui.state.formats import ago, plural, short_path
from amplifier_tui.ui.transcript.entries.tool_words import object_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amplifier_tui.host.client import AuditCard, CallExplanation, RuleCard

VERDICTS = {
    "allow": ("✓", "$text-success", "goes unasked"),
    "ask": ("?", "$text-warning", "is asked about"),
    "deny": ("✗", "$text-secondary", "is refused"),
}
"""Glyph, colour and words of each verdict."""

OUTCOMES = {
    "allowed": ("✓", "$text-success", "allowed"),
    "denied": ("✗", "$text-warning", "denied"),
    "timed_out": ("✗", "$text-muted", "timed out"),
    "cancelled": ("·", "$text-muted", "cancelled"),
    "changed": ("›", "$text-secondary", "changed"),
}
"""Glyph, colour and words of each outcome."""

_UNKNOWN = ("·", "$text-muted", "unknown")
_SHOWN = 12
"""Earlier calls that an explanation lists."""


def heading(card: RuleCard) -> str:
    """Return what a rule stands under: how long it holds, and the file it is in."""
    if card.problem:
        return "Does not count"
    path = _path(card.where.rpartition(":")[0])
    match card.owner:
        case "session":
            return "This session"
        case "project":
            return f"Written by the project · {path}"
        case "bundle":
            return f"Of the bundle {one_line(card.where, 80)}"
    return f"{'This project' if card.scope == 'project' else 'Everywhere'} · {path}"


def rule_left(card: RuleCard) -> Content:
    """Return a rule as its row says it."""
    if not card.text:
        problem = (f"   {one_line(card.problem, 300)}", "$text-muted")
        return Content.assemble(("! ", "$text-warning"), _path(card.where), problem)
    glyph, style, _ = VERDICTS[card.verdict]
    if card.doubtful:
        glyph, style = "!", "$text-warning"
    text = one_line(card.text, 300)
    return Content.assemble((f"{glyph} {card.verdict:<5} ", style), text)


def rule_right(card: RuleCard) -> str:
    """Return how often a rule was used, and when last; one that asks decides nothing itself."""
    if card.problem or card.verdict == "ask":
        return ""
    if not card.uses:
        return "not used"
    return f"{plural(card.uses, 'use')} · {ago(time.time() - card.last_use)}"


def rule_about(card: RuleCard) -> str:
    """Return what a row has no room for."""
    meaning = one_line(card.meaning, 200)
    parts = [one_line(card.problem, 400), meaning, _path(card.where) if card.text else ""]
    if not card.editable and card.text and not card.problem:
        parts.append("yours to change only in that file" if card.owner == "project" else "")
    return " · ".join(part for part in parts if part)


def about(card: AuditCard) -> str:
    """Return what a decision is about, in one line: the object of the call, or the question."""
    return one_line(object_of(card.tool, card.arguments) or card.prompt, 300)


def decision_left(card: AuditCard) -> Content:
    """Return a decision as its row says it."""
    glyph, style, words = OUTCOMES.get(card.outcome, _UNKNOWN)
    tool = one_line(card.tool or card.asker, 40)
    return Content.assemble(
        (f"{glyph} {words:<9} ", style), (f"{tool:<11} ", "bold"), (about(card), "$text-secondary")
    )


def decided_by(card: AuditCard) -> str:
    """Return who decided."""
    named = {"rule": f"rule {card.rule}", "mode": f"mode {card.mode}".rstrip()}
    named["hook"] = f"hook {card.asker}"
    others = {"user": "you", "timeout": "nobody in time", "stop": "a stop"}
    others["nobody"] = "nobody to be asked"
    return one_line(named.get(card.by) or others.get(card.by, card.by), 200)


def decision_right(card: AuditCard) -> str:
    """Return who decided, and how long ago."""
    return f"{decided_by(card)} · {ago(time.time() - card.at)}"


def decision(card: AuditCard, current: str) -> Content:
    """Return the whole of a decision; `current` is the session that is open."""
    when = datetime.fromtimestamp(card.at).strftime("%Y-%m-%d %H:%M:%S")
    where = "this session" if card.session_id == current else f"session {card.session_id[:8]}"
    _, style, words = OUTCOMES.get(card.outcome, _UNKNOWN)
    rows = [
        Content.assemble((words, f"{style} bold"), f" by {decided_by(card)}"),
        _pair("when", f"{when} · {ago(time.time() - card.at)} · {where}"),
    ]
    if card.by == "user" and card.rule:
        kept = {name: words for name, words in SCOPES.items() if name == card.scope}
        rows.append(_pair("kept", f"{card.rule} · {''.join(kept.values())}"))
    for name, text in (("because", card.reason), ("asked by", card.asker), ("said", card.prompt)):
        if text:
            rows.append(_pair(name, one_line(text, 1_000)))
    rows.append(_risk(card.risk, card.reasons))
    rows += [Content(), Content(arguments_text(card))]
    return Content("\n").join(rows)


def arguments_text(card: AuditCard) -> str:
    """Return the arguments of a call as indented JSON."""
    return clean(json.dumps(dict(card.arguments), indent=2, ensure_ascii=False, default=str))


def explanation(found: CallExplanation) -> Content:
    """Return what happens to a call, and what was decided before."""
    glyph, style, words = VERDICTS[found.verdict]
    reason = (f"   {one_line(found.reason, 300)}", "$text-muted")
    rows = [Content.assemble((f"{glyph} {words}", f"{style} bold"), reason)]
    if found.rule:
        rows.append(_pair("rule", f"{one_line(found.rule, 300)}   {_path(found.where)}".rstrip()))
    if found.near:
        rows.append(_pair("near", one_line(found.near, 400)))
    rows.append(_pair("tool", one_line(found.tool, 60)))
    rows += [_pair("mode", found.mode), _risk(found.risk, found.reasons), Content()]
    count = plural(len(found.past), "call") if found.past else "No call"
    whose = "decided by this rule" if found.rule else f"of {one_line(found.tool, 60)}"
    rows.append(Content.styled(f"{count} {whose} in the last 30 days", "$text-secondary bold"))
    return Content("\n").join([*rows, *_past(found)])


def _past(found: CallExplanation) -> Iterator[Content]:
    for call in found.past[:_SHOWN]:
        now = VERDICTS[call.verdict][2]
        right = (f"   {decision_right(call.card)} · now {now}", "$text-muted")
        yield Content.assemble(decision_left(call.card), right)
    if len(found.past) > _SHOWN:
        yield Content.styled(f"… {len(found.past) - _SHOWN} more", "$text-muted")


def _risk(risk: str, reasons: tuple[str, ...]) -> Content:
    glyph, style = next((found for name, found in RISK.items() if name == risk), ("·", ""))
    words = " · ".join(one_line(reason, 200) for reason in reasons)
    return Content.assemble(
        ("risk ", "$text-muted"), (f"{glyph} {one_line(risk, 40)}", style), f"   {words}".rstrip()
    )


def _pair(label: str, value: str) -> Content:
    return Content.assemble((f"{label} ", "$text-muted"), value)


def _path(text: str) -> str:
    return short_path(one_line(text, 300), str(user_home()))
