"""What the approval dialog says, as content; no widgets here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from amplifier_tui.base.text import one_line, reveal
from amplifier_tui.ui.dialogs.approval.payload import LEAD, diff_view, payload_lines, text_lines
from amplifier_tui.ui.state.formats import elapsed, short_path
from amplifier_tui.ui.widgets.scroll_lines import TextLine

if TYPE_CHECKING:
    from amplifier_tui.host.events import ApprovalRequested, ApprovalResolved, Level, Risk, Scope
    from amplifier_tui.ui.state.waiting import QueuePlace

RISK: dict[Risk, tuple[str, str]] = {
    "low": ("▲", "$text-secondary"),
    "medium": ("▲", "$text-warning"),
    "high": ("▲▲", "$text-error"),
    "critical": ("■", "$text-error"),
}
"""Glyph and colour of each risk word."""

SCOPES: dict[Scope, str] = {
    "once": "just now",
    "session": "this session",
    "project": "this project",
    "always": "always",
}


def head(request: ApprovalRequested) -> Content:
    """Return the first row: risk and what is wanted, the tool's name in bold."""
    glyph, colour = RISK[request.risk]
    action = one_line(request.action, 300) or "Something asks for permission"
    tool = one_line(request.tool, 60)
    if tool and action.startswith(tool):
        words = Content.assemble((tool, "bold"), action[len(tool) :])
    else:
        words = Content(action)
    return Content.assemble((f"{glyph} {request.risk}", f"{colour} bold"), "   ", words)


def place(at: QueuePlace, lane: str) -> Content:
    """Return the right end of the first row: `1 of 3 · main`."""
    return Content.styled(f"{at.n} of {at.of} · {one_line(lane, 24)}", "$text-muted")


def body(request: ApprovalRequested) -> tuple[list[TextLine], int, tuple[int, ...]]:
    """Return what is to be allowed.

    Returns:
        The lines, the width of their first column, and the lines where a diff's hunks begin.
    """
    payload = payload_lines(request)
    if not request.diff:
        lines = payload or text_lines(request.prompt) if request.payload or request.prompt else []
        lead = 4 if any(line.lead for line in lines) else 0
        return list(lines), lead, ()
    view = diff_view(request.diff)
    lines = list(view.lines)
    if payload:
        lines += [TextLine(""), TextLine("arguments", "$text-muted"), *payload]
    return lines, LEAD, view.hunks


def facts(request: ApprovalRequested) -> Content:
    """Return where it would happen, who asked and why, and what is risky about it."""
    home = str(Path.home())
    rows: list[Content] = []
    parts: list[Content] = []
    if request.cwd:
        parts.append(_pair("in", short_path(one_line(request.cwd), home)))
    asked = _pair("asked by", one_line(request.asker, 80))
    if request.why:
        asked = Content.assemble(asked, (f" · {one_line(request.why)}", "$text-muted"))
    parts.append(asked)
    rows.append(Content("   ").join(parts))
    parts = []
    if request.diff:
        view = diff_view(request.diff)
        parts.append(
            Content.assemble(
                (f"+{view.added}", "$text-success"), " ", (f"−{view.removed}", "$text-error")
            )
        )
    # What a note beside a segment says already is not said twice.
    notes = " ".join(segment.note for segment in request.segments)
    reasons = [reason for reason in request.reasons if reason not in notes]
    if reasons:
        words = " · ".join(one_line(reason, 120) for reason in reasons)
        parts.append(Content.styled(words, RISK[request.risk][1]))
    if request.paths:
        names = [short_path(one_line(path), home) for path in request.paths[:4]]
        more = f" and {len(request.paths) - 4} more" if len(request.paths) > 4 else ""
        parts.append(_pair("touches", ", ".join(names) + more))
    if request.outside:
        parts.append(Content.styled("outside the workspace", "$text-error bold"))
    if parts:
        rows.append(Content("   ").join(parts))
    return Content("\n").join(rows)


def remember(request: ApprovalRequested, scope: Scope, withheld: bool, width: int) -> Content:
    """Return the row that says how long the answer holds and what rule that would be.

    Args:
        withheld: The payload was not seen to its end, so nothing may be remembered yet.
        width: Cells there are; the rule gets a row of its own where it does not fit.
    """
    if len(request.scopes) < 2 or request.risk == "critical":
        return Content()
    if withheld:
        return Content.styled("remember   scroll to the end of it first", "$text-muted")
    parts: list[Content] = [Content.styled("remember", "$text-muted")]
    for each in request.scopes:
        mark = "(•)" if each == scope else "( )"
        parts.append(
            Content.styled(f"{mark} {SCOPES[each]}", "" if each == scope else "$text-muted")
        )
    row = Content("   ").join(parts)
    if not request.rule:
        return row
    rule = _pair("rule", reveal(request.rule).replace("\n", " "))
    fits = row.cell_length + 3 + rule.cell_length <= width
    return Content.assemble(row, "   " if fits else "\n", rule)


def why(request: ApprovalRequested) -> Content:
    """Return the long form: the asker's own words, rule, options, clock."""
    rows: list[Content] = [facts(request)]
    if request.prompt:
        rows.append(_pair("it says", one_line(request.prompt, 1_000)))
    rows.append(_pair("because", one_line(request.why, 1_000) or "no rule allows it"))
    if request.reasons:
        rows.append(_pair("risk", ", ".join(one_line(reason, 200) for reason in request.reasons)))
    if request.rule:
        rows.append(_pair("remembering stores", reveal(request.rule).replace("\n", " ")))
    if request.options:
        words = ", ".join(one_line(option, 60) for option in request.options)
        rows.append(_pair("it offers", f"{words} (only Allow grants)"))
    if request.timeout is not None:
        rows.append(
            _pair("without an answer", f"{request.default} after {elapsed(request.timeout)}")
        )
    return Content("\n").join(rows)


def countdown(request: ApprovalRequested, remaining: float | None, held: bool) -> Content:
    """Return the clock at the right end of the choices.

    Args:
        remaining: Seconds left, None when it waits for ever.
        held: A key has stopped the clock.
    """
    if remaining is None:
        return Content()
    if held:
        return Content.styled("clock stopped", "$text-muted")
    if request.default == "allow":
        return Content.styled(f"allows itself in {elapsed(remaining)}", "$text-error bold")
    return Content.styled(f"{elapsed(remaining)} then deny", "$text-muted")


def outcome_words(request: ApprovalRequested, answer: ApprovalResolved | None) -> tuple[str, Level]:
    """Return what to say when a request was resolved while its dialog was open."""
    name = one_line(request.tool or request.asker, 60)
    if answer is None or answer.by == "stop" or answer.outcome == "cancelled":
        return f"{name}: no longer asked, the turn was stopped", "info"
    if answer.by == "timeout" or answer.outcome == "timed_out":
        done = "allowed" if request.default == "allow" else "denied"
        return f"{name}: timed out, {done}", "warning"
    if answer.by == "rule":
        return f"{name}: {answer.outcome} by rule {one_line(answer.rule, 120)}", "info"
    return f"{name}: {answer.outcome}", "info"


def _pair(label: str, value: str) -> Content:
    return Content.assemble((f"{label} ", "$text-muted"), value)
