"""What the approval dialog says: the exact thing a request would allow, nothing hidden in it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content

from amplifier_tui.base.diffs import REPLACED
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.text import one_line, reveal
from amplifier_tui.ui.diffs.rows import DiffRows, parse_diff
from amplifier_tui.ui.state.formats import elapsed, short_path
from amplifier_tui.ui.widgets.question_strip import NARROW, TINY, strip_row
from amplifier_tui.ui.widgets.text_lines import (
    NOTE_GAP,
    TextLine,
    visible,
    visible_line,
    visible_lines,
)

if TYPE_CHECKING:
    from amplifier_tui.host.events import (
        ApprovalRequested,
        ApprovalResolved,
        Level,
        Risk,
        Scope,
        Segment,
    )
    from amplifier_tui.ui.state.waiting import QueuePlace

RISK: dict[Risk, tuple[str, str]] = {
    "low": ("•", "$text-secondary"),
    "medium": ("▲", "$text-warning"),
    "high": ("▲▲", "$text-error"),
    "critical": ("■", "$text-error"),
}
"""Glyph and colour of each risk word."""


def head(request: ApprovalRequested) -> Content:
    """Return the first row: risk, and the asker's question, or else what is wanted."""
    glyph, colour = RISK[request.risk]
    risk = (f"{glyph} {request.risk}", f"{colour} bold")
    question = one_line(request.prompt, 300) if has_question(request) else ""
    return Content.assemble(risk, "   ", question or _action(request))


def has_question(request: ApprovalRequested) -> bool:
    """Whether the asker has words of its own, so that what is wanted has a row below them."""
    prompt = one_line(request.prompt, 300)
    return bool(prompt) and prompt != one_line(request.action, 300)


def wanted(request: ApprovalRequested) -> Content:
    """Return the row below the asker's own words: what is wanted."""
    return _action(request) if has_question(request) else Content()


def problem(request: ApprovalRequested) -> Content:
    """Return why the call would fail as it stands."""
    words = one_line(request.problem, 400)
    return Content.assemble(("! ", "$text-warning bold"), words) if words else Content()


def _action(request: ApprovalRequested) -> Content:
    action = visible_line(request.action, 300) or "Something asks for permission"
    tool = one_line(request.tool, 60)
    bold = tool if action.startswith(tool) else ""
    # What nobody was asked about runs in it: a yes is more than that it runs.
    more = " outside the sandbox" if request.unconfined else ""
    return Content.assemble((bold, "bold"), action[len(bold) :], (more, "$text-muted"))


def place(at: QueuePlace, lane: str, session: str = "") -> Content:
    """Return the right end of the first row: `1 of 3 · main`, before it a session not shown."""
    whose = (f"{one_line(session, 24)}   ", "$accent bold") if session else ""
    return Content.assemble(whose, (f"{at.n} of {at.of} · {one_line(lane, 24)}", "$text-muted"))


def diff_rows(diff: str) -> DiffRows:
    """Return the rows of a change, every character of it made visible."""
    if not diff:
        return DiffRows()
    # One look at the whole of it spares one at each line.
    if diff.isascii() and diff.replace("\n", "").isprintable():
        return parse_diff(diff, str)
    return parse_diff(diff, lambda line: visible(line)[0])


def body(request: ApprovalRequested) -> tuple[DiffRows, list[TextLine], int]:
    """Return what is to be allowed: the rows of its diff, the text below, its column's width."""
    payload = payload_lines(request)
    rows = diff_rows(request.diff)
    if rows:
        head = [TextLine(""), TextLine("arguments", "$text-muted")]
        return rows, [*head, *payload] if payload else [], 0
    lines = payload or (visible_lines(request.prompt) if request.prompt else [])
    return DiffRows(), lines, 4 if any(line.lead for line in lines) else 0


def change_counts(changed: tuple[int, int]) -> Content:
    """Return how many lines a diff adds and removes."""
    added, removed = changed
    return Content.assemble((f"+{added}", "$text-success"), " ", (f"−{removed}", "$text-error"))


_PROGRAMS: Final = frozenset({"amplifier-tui", "hooks-approval"})
"""Who asks by the user's own rules and mode."""


_ORDINARY: Final = frozenset({"changes a file", "makes a file", "makes files", "makes folders"})
"""Reasons that are no danger, whatever else makes the call one."""


def _style_of(reason: str, risk: Risk) -> str:
    """Return the colour of a reason: red is for what is dangerous, and for no more."""
    harsh = risk in ("high", "critical")
    return "$text-muted" if harsh and reason in _ORDINARY else RISK[risk][1]


def facts(
    request: ApprovalRequested,
    changed: tuple[int, int] = (0, 0),
    brief: bool = False,
    cut: bool = False,
) -> Content:
    """Return where it would happen, who asked and why, and what is risky about it.

    `changed` are the lines a diff adds and removes; `brief`: only what is risky about it, and what
    a hook says that is not of the program; `cut`: there is no room for long reasons.
    """
    home = str(user_home())
    where = [_pair("in", short_path(one_line(request.cwd), home))] if request.cwd else []
    cause = f" · {one_line(request.why, _LONG)}" if request.why else ""
    asked = Content.assemble(_pair("asked by", one_line(request.asker, 80)), (cause, "$text-muted"))
    rows = [] if brief else [Content("   ").join([*where, asked])]
    parts: list[Content] = []
    if brief and request.why and request.asker not in _PROGRAMS:
        parts.append(_pair(one_line(request.asker, 40), one_line(request.why, _LONG)))
    if request.diff:
        note = f"  {REPLACED}" if f"@@ {REPLACED}\n" in request.diff else ""
        parts.append(change_counts(changed) + Content.styled(note, "$text-warning"))
    # What a note beside a segment says already is not said twice.
    notes = " ".join(segment.note for segment in request.segments)
    said = notes if brief else f"{notes} {request.why}"
    reasons = [reason for reason in request.reasons if reason not in said]
    if reasons:
        most = _SHORT if cut else _LONG
        said_of = ((one_line(reason, most), _style_of(reason, request.risk)) for reason in reasons)
        parts.append(Content(" · ").join(Content.styled(*each) for each in said_of))
    if request.paths:
        names = [short_path(visible_line(path), home) for path in request.paths[:4]]
        more = f" and {len(request.paths) - 4} more" if len(request.paths) > 4 else ""
        parts.append(_pair("touches", ", ".join(names) + more))
    if request.outside:
        parts.append(Content.styled("outside the workspace", "$text-error bold"))
    if parts:
        rows.append(Content("   ").join(parts))
    return Content("\n").join(rows)


def why(
    request: ApprovalRequested,
    changed: tuple[int, int],
    held: bool,
    *,
    scope: Scope = "once",
    ruled: bool = False,
    rules_key: str = "",
) -> Content:
    """Return the long form: the asker's own words, rule, options, and the clock unless `held`.

    Args:
        scope: How long a grant is to hold: only one for the session is kept in no file.
        ruled: The rule stands below it, with what it speaks of and where it would be kept.
        rules_key: What shows the rules.
    """
    rows: list[Content] = [facts(request, changed)]
    if request.prompt:
        rows.append(_pair("it says", one_line(request.prompt, 1_000)))
    if len(request.why) > _LONG:
        rows.append(_pair("because", one_line(request.why, 1_000)))
    elif not (request.why or request.prompt):
        rows.append(_pair("because", "no rule allows it"))
    if request.unconfined:
        rows.append(_pair("a yes runs it", _UNCONFINED))
    if request.near:
        rows.append(_pair("near", one_line(request.near, 400)))
    if request.reasons and request.segments:
        rows.append(_pair("risk", ", ".join(one_line(reason, 200) for reason in request.reasons)))
    if request.rule and not ruled:
        stored = reveal(request.rule).replace("\n", " ")
        rows.append(_pair("remembering a yes stores", stored))
    if request.meaning and not ruled:
        rows.append(_pair("that is", one_line(request.meaning, 400)))
    if request.rule and scope == "session":
        rows.append(_pair("until", "the session ends; in no file"))
    elif request.kept_in and not ruled:
        rows.append(_pair("in", short_path(one_line(request.kept_in), str(user_home()))))
    if request.options:
        words = ", ".join(one_line(option, 60) for option in request.options)
        rows.append(_pair("it offers", f"{words} (only Allow grants)"))
    if len(rows) == 1 and request.asker in _PROGRAMS and rules_key:
        # There is no more to be said of this one.
        rows.append(_asked_less(request, rules_key))
    if request.timeout is not None:
        words = f"{request.default} after {elapsed(request.timeout)}"
        words = "it waits: a key stopped the clock" if held else words
        rows.append(_pair("without an answer", words))
    return Content("\n").join(rows)


_UNCONFINED: Final = (
    "outside of the sandbox: with the network, and all of your files in reach, which commands that "
    "run unasked in this mode do not have"
)


def _asked_less(request: ApprovalRequested, rules_key: str) -> Content:
    """Return what can be done so that the like of it is not asked again."""
    if not request.rule:
        return _pair("a yes holds", "for this call alone: no rule can be kept of it")
    # None lets more through than auto.
    mode = "" if request.why.startswith("mode auto:") else ", or in a mode that lets it through"
    return _pair("you are asked less", f"with a rule{mode}: {rules_key}")


def countdown(
    request: ApprovalRequested, remaining: float | None, held: bool, *, short: bool = False
) -> Content:
    """Return the clock beside the choices: seconds left, `held` by a key, or none for ever."""
    if remaining is None:
        return Content()
    if held:
        return Content.styled("clock stopped", "$text-muted")
    if request.default == "allow":
        words = "allows in" if short else "allows itself in"
        return Content.styled(f"{words} {elapsed(remaining)}", "$text-error bold")
    return Content.styled(elapsed(remaining) + ("" if short else " then deny"), "$text-muted")


def strip(
    request: ApprovalRequested, held: bool, key: str, count: int, width: int, *, whose: str = ""
) -> Content:
    """Return the row of `width` cells that says what waits: `count` questions, `key` opens one.

    `whose` names a session that is not shown.
    """
    glyph, colour = RISK[request.risk]
    parts: list[Content] = []
    # Where there is little room a clock that stands has nothing to say.
    if request.timeout is not None and not (held and width < TINY):
        remaining = max(0.0, request.at + request.timeout - time.time())
        parts.append(countdown(request, remaining, held, short=width < NARROW))
    command = visible_line(request.payload, 300) if request.payload_kind == "command" else ""
    asked = request.prompt if has_question(request) else request.action
    what = request.tool if command and width < TINY else asked
    left = Content.assemble(
        (f"{glyph} ", f"{colour} bold"),
        (f"{one_line(whose, 24)}: " if whose else "", "$accent bold"),
        visible_line(what, 300) or "A question",
        (f"  {command}" if command else "", "$text-muted"),
    )
    return strip_row(left, parts, key, count, width)


def outcome_words(request: ApprovalRequested, answer: ApprovalResolved | None) -> tuple[str, Level]:
    """Return what to say when a request was resolved while its dialog was open."""
    name = one_line(request.tool or request.asker, 60)
    if answer is None or answer.by == "stop" or answer.outcome == "cancelled":
        return f"{name}: no longer asked, the turn was stopped", "info"
    if answer.by == "timeout" or answer.outcome == "timed_out":
        done = "allowed" if request.default == "allow" else "denied"
        return f"{name}: timed out, {done}", "warning"
    if answer.outcome == "changed":
        return f"{name}: changed, and judged anew", "info"
    if answer.by == "mode":
        return f"{name}: {answer.outcome}, {one_line(answer.reason, 120)}", "info"
    if answer.by == "rule":
        return f"{name}: {answer.outcome} by rule {one_line(answer.rule, 120)}", "info"
    return f"{name}: {answer.outcome}", "info"


def _pair(label: str, value: str) -> Content:
    return Content.assemble((f"{label} ", "$text-muted"), value)


_LONG = 400
"""Characters of a reason that stand beside who asks, or beside the risk."""
_SHORT = 120
"""The same beside the risk where there is little room."""
_BESIDE = 70
"""Cells of a command beside which reasons are kept in line."""
_PRETTY_LIMIT = 200_000


def payload_lines(request: ApprovalRequested) -> list[TextLine]:
    """Return the payload: the whole of it, and below it the parts of a compound command."""
    text = request.payload
    if not text:
        return []
    if request.payload_kind != "command":
        return visible_lines(_pretty(text) if request.payload_kind == "json" else text)
    lines = visible_lines(text)
    if len(request.segments) == 1:
        segment = request.segments[0]
        shown, marks = visible(segment.text)
        if lines == [TextLine(shown, marks=marks)]:
            return _beside([_segment_line(shown, marks, "", segment.note, segment)])
    if len(request.segments) > 1:
        lines.append(TextLine(""))
    for number, segment in enumerate(request.segments, start=1):
        for at, part in enumerate(segment.text.split("\n")):
            shown, marks = visible(part)
            lead = f"{number if at == 0 else '':>2}  "
            note = segment.note if at == 0 else ""
            lines.append(_segment_line(shown, marks, lead, note, segment))
    return _beside(lines)


def _beside(lines: list[TextLine]) -> list[TextLine]:
    """Return lines with their notes in one column, beside the longest that leaves them room."""
    sizes = [size for line in lines if line.note and (size := cell_len(line.text)) <= _BESIDE]
    column = max(sizes, default=0) + NOTE_GAP
    return [line._replace(note_at=column) if line.note else line for line in lines]


def _segment_line(
    text: str, marks: tuple[tuple[int, int], ...], lead: str, note: str, segment: Segment
) -> TextLine:
    # Red is for danger, and for no more.
    style = "$text-muted" if segment.risk == "low" else RISK[segment.risk][1]
    style = "$text-success" if segment.allowed else style
    return TextLine(text, lead=lead, note=visible(note)[0], note_style=style, marks=marks)


def _pretty(text: str) -> str:
    """Return JSON indented, or the text itself when it is no JSON or very long."""
    if len(text) > _PRETTY_LIMIT:
        return text
    try:
        value = json.loads(text, object_pairs_hook=_plain_object)
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _plain_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        # Indenting would hide the value that comes first.
        raise ValueError("a key comes twice")
    return found
