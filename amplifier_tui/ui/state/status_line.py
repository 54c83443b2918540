"""The status bar as segments: what it says, in which order, and what gives way to what.

Left to right: mode, activity, approvals, queue, context, model, cost, bundle, cwd, branch,
title; the help key at the right end. When the row is too narrow segments leave in the order of
`DROP_ORDER`, and the last ones are said shorter. A notice stands behind the other segments. It
may push out everything in `DROP_ORDER`, never mode, activity, approvals or queue; so it is read
whole when it can be, and it hides nothing that waits for the user. One that is cut names the key
that shows it whole; on a narrow row the context makes way for that.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.cells import cell_len

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, short_count, span
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.formats import (
    NO_PRICE,
    elapsed,
    limit_money,
    limit_places,
    plural,
    short_model,
    short_path,
    spent_words,
)
from amplifier_tui.ui.state.instruments.usage import UsageTotals
from amplifier_tui.ui.state.notices import retry_words
from amplifier_tui.ui.state.open_sessions import title_of
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.styled import Tone, fit, fit_pieces, pieces_width

SegmentName = Literal[
    "mode",
    "activity",
    "approvals",
    "queue",
    "context",
    "model",
    "cost",
    "bundle",
    "cwd",
    "branch",
    "title",
    "notice",
    "help",
]

DROP_ORDER: tuple[SegmentName, ...] = (
    "cwd",
    "branch",
    "title",
    "bundle",
    "cost",
    "model",
    "help",
)

GAP = 2
"""Cells between two segments."""

ACTIVITY_WIDTH = 18
"""The activity's cell: its clock and words change, what stands behind it does not move."""

_TITLE_WIDTH = 80
_TITLE_LEAST = 12
"""A title is cut down to this before others leave; then it gets what room is left."""

_SHORTEN_ORDER: tuple[SegmentName, ...] = ("queue", "context", "activity", "mode", "approvals")
_LAST_ORDER: tuple[SegmentName, ...] = ("context", "queue", "mode")

_NOTICE_WORTH = 30
"""For this many cells of a notice the other segments are said shorter."""

_NOTICE_BESIDE_KEY = 13
"""A cut notice names the key that shows it whole when this much of it is left beside it."""

_NOTICE_LEAST = 8
"""A notice shorter than this says nothing."""

_MODES: dict[str, Tone] = {"ask": "success", "edits": "primary", "plan": "primary"}
_PRESSURES: dict[str, Tone] = {"near": "warning", "over": "error", "rising": "strong"}
_LEVELS: dict[str, tuple[str, Tone]] = {
    "info": ("·", "text"),
    "warning": ("!", "warning"),
    "error": ("✗", "error"),
}


@dataclass(frozen=True, slots=True)
class StatusSegment:
    """One clickable part: pieces of text with their tones, and a shorter way to say it.

    `aside` is a notice that stands in the conversation as well: model, cost, bundle and help stay.
    """

    name: SegmentName
    pieces: tuple[tuple[str, Tone], ...]
    short: tuple[tuple[str, Tone], ...] | None = None
    aside: bool = False

    @property
    def width(self) -> int:
        """Cells."""
        return pieces_width(self.pieces)


@dataclass(frozen=True, slots=True)
class Placed:
    """A segment and the cell it begins in."""

    at: int
    segment: StatusSegment


def status_segments(
    state: SessionState, now: float, spinner: str, home: str
) -> list[StatusSegment]:
    """Return all that could be said, in order.

    `now` is in Unix seconds, `spinner` its glyph at this moment, `home` the directory written `~`.
    """
    facts, activity = state.facts, state.activity
    segments: list[StatusSegment] = []

    def say(
        name: SegmentName,
        *pieces: tuple[str, Tone],
        short: tuple[tuple[str, Tone], ...] | None = None,
    ) -> None:
        if any(text for text, _ in pieces):
            segments.append(StatusSegment(name, pieces, short))

    mode = one_line(facts.mode) if facts.held is None else "read-only"
    tone = _MODES.get(mode, "warning")
    say("mode", ("▸ ", tone), (mode, tone), short=(("▸", tone),))
    phase = activity.phase
    if phase is not None:
        word = fit(one_line(phase.word), ACTIVITY_WIDTH - 9)
        clock = elapsed(now - phase.since) if phase.since else ""
        stopping: Tone = "warning" if activity.stop else "text"
        pad = ACTIVITY_WIDTH - 2 - cell_len(word) - 1 - cell_len(clock)
        say(
            "activity",
            (f"{spinner} ", "warning" if activity.stop else "primary"),
            (f"{word} ", stopping),
            (clock + " " * max(0, pad), "muted"),
            short=((f"{spinner} ", "primary"), (word, stopping)),
        )
    approvals, questions = len(state.approvals.pending), len(state.questions.pending)
    waiting = approvals + questions
    if state.trust.pending is not None:
        say("approvals", ("! trust", "warning"), short=(("!", "warning"),))
    elif waiting:
        one = "approval" if approvals else "question"
        words = plural(waiting, one) if waiting in (approvals, questions) else f"{waiting} waiting"
        say("approvals", (f"! {words}", "warning"), short=((f"! {waiting}", "warning"),))
    elif state.usage.at_limit:
        say("approvals", ("! limit", "warning"), short=(("!", "warning"),))
    queued = len(state.queue.items)
    if queued:
        say("queue", (f"+{queued} queued", "text"), short=((f"+{queued}", "text"),))
    percent, report = state.budget.percent, state.budget.report
    if percent is not None and report is not None:
        pressed = _PRESSURES.get(state.budget.pressure, "text")
        number = f"{'≈' if report.kind == 'estimated' else ''}{percent}%"
        say("context", ("ctx ", "muted"), (f"{number:<3}", pressed), short=((number, pressed),))
    model = f"{fit(short_model(one_line(facts.model)), 24)} {one_line(facts.effort)}"
    say("model", (model.strip(), "muted"))
    say("cost", *_cost(state.usage))
    say("bundle", (fit(one_line(facts.bundle), 20), "muted"))
    say("cwd", (_cut_left(one_line(short_path(facts.cwd, home)), 32), "muted"))
    say("branch", (fit(one_line(facts.branch), 24), "muted"))
    title, tone = title_of(state, _TITLE_WIDTH), "text" if facts.title else "muted"
    short = ((fit(title, _TITLE_LEAST), tone),)
    say("title", (fit(title, _TITLE_WIDTH), tone), short=short)
    return segments


def _cost(totals: UsageTotals) -> Iterator[tuple[str, Tone]]:
    """Yield what was spent, and the limit of it."""
    used = totals.session
    # Of a limit below a cent, a cent would say nothing.
    spent = spent_words(used, limit_places(totals.limit_cost))
    if totals.limit_cost:
        yield (spent or "$0.00", "text")
        unknown = spent == NO_PRICE
        yield (f"{', limit' if unknown else ' of'} {limit_money(totals.limit_cost)}", "muted")
    elif spent:
        yield (spent, "text")
    if totals.limit_tokens:
        gap = " " if spent or totals.limit_cost else ""
        yield (f"{gap}{short_count(used.input_tokens + used.output_tokens)}", "text")
        yield (f" of {short_count(totals.limit_tokens)}", "muted")


def notice_segment(state: SessionState, now: float) -> StatusSegment | None:
    """Return the current notice, or None."""
    pieces: list[tuple[str, Tone]]
    retry = state.notices.retry(now)
    if retry is not None:
        event, left = retry
        why = one_line(str(event.status or "") or event.problem)
        words = ", ".join(filter(None, (why, retry_words(event, left))))
        who: list[tuple[str, Tone]] = [(f"{one_line(event.provider)}: ", "muted")]
        pieces = [("! ", "warning"), *(who if event.provider else []), (words, "warning")]
        return StatusSegment("notice", tuple(pieces), aside=event.agent == MAIN_LANE)
    shown = state.notices.current(now)
    if shown is None:
        activity = state.activity
        if activity.blocker:
            words = f"{one_line(activity.blocker)} blocks the engine"
            return StatusSegment("notice", (("! ", "warning"), (words, "warning")))
        if activity.changing:
            # The activity says what becomes of it.
            words = f"{one_line(activity.changing)}: esc stops"
            return StatusSegment("notice", (("· ", "text"), (words, "text")))
        if (slow := activity.slow_opening(now)) and state.trust.pending is None:
            words = f"{one_line(slow)}: esc stops"
            return StatusSegment("notice", (("· ", "text"), (words, "text")))
        if not (silent := state.silence(now)):
            if state.facts.saved:
                return None
            # As long as it is so, once what was said of it has made way.
            return StatusSegment("notice", (("✗ the session is not saved", "error"),))
        words = f"nothing for {span(silent)}: esc stops"
        return StatusSegment("notice", (("! ", "warning"), (words, "warning")))
    glyph, tone = _LEVELS.get(shown.notice.level, ("·", "text"))
    source = one_line(shown.notice.source).removeprefix("hook:")
    text = one_line(shown.notice.text)
    pieces = [(f"{glyph} ", tone)]
    if source not in ("", "host"):
        pieces.append((f"{source} ", "muted"))
    pieces.append((text, tone))
    return StatusSegment("notice", tuple(pieces))


def place(
    segments: Sequence[StatusSegment],
    notice: StatusSegment | None,
    help_segment: StatusSegment,
    width: int,
    notices_key: str = "",
) -> list[Placed]:
    """Return what fits into `width` cells, and where; `help_segment` is at the right end.

    `notices_key` shows notices whole; it is named behind one that is cut.
    """
    wanted = notice.width if notice is not None else 0
    steps = list(_steps([*segments, help_segment]))
    kept = next((step for step in steps if _need(step) <= width), steps[-1])
    if notice is not None and notice.aside:
        # Folder, branch and title make way for it, and nothing else does.
        roomy = (step for step in steps[:5] if _need(step) + GAP + wanted <= width)
        parts = next(roomy, None)
        if parts is not None:
            return _laid_out(_grown(parts, steps[0], width - wanted - GAP), notice, width)
        notice = None
    if notice is None:
        return _laid_out(_grown(kept, steps[0], width), None, width)
    # Only the title and what is in `DROP_ORDER` make way for the whole of a long notice.
    whole = len(DROP_ORDER) + 2
    # What is allowed stays named: the mode is said shorter only for a notice without any room.
    named = whole + _SHORTEN_ORDER.index("mode")
    beside = cell_len(_hint(notices_key)) + _NOTICE_BESIDE_KEY if notices_key else _NOTICE_LEAST
    without = [part for part in steps[named - 1] if part.name != "context"]
    for enough, candidates in (
        (wanted, steps[:whole]),
        (min(wanted, _NOTICE_WORTH), steps[whole - 1 : named]),
        (min(wanted, beside), [*steps[whole - 1 : named], without]),
        (min(wanted, _NOTICE_LEAST), steps[whole - 1 : named]),
        (min(wanted, _NOTICE_LEAST), steps[named:]),
    ):
        for candidate in candidates:
            room = width - _need(candidate) - GAP
            if room >= enough:
                fitted = _fitted(notice, room, notices_key)
                grown = _grown(candidate, steps[0], width - fitted.width - GAP)
                return _laid_out(grown, fitted, width)
    return _laid_out(kept, None, width)


def _fitted(notice: StatusSegment, room: int, key: str) -> StatusSegment:
    """Return a notice in `room` cells; one that is cut names the key that shows it whole."""
    hint = _hint(key) if notice.width > room else ""
    if hint and room - cell_len(hint) < _NOTICE_BESIDE_KEY:
        hint = ""
    pieces = fit_pieces(notice.pieces, room - cell_len(hint))
    return StatusSegment("notice", (*pieces, (hint, "muted")) if hint else tuple(pieces))


def _hint(key: str) -> str:
    return f"  {key}" if key else ""


def _steps(kept: list[StatusSegment]) -> Iterator[list[StatusSegment]]:
    """Yield what is left of the segments as the row gets narrower."""
    yield kept
    kept = _shortened(kept, "title")
    yield kept
    for name in DROP_ORDER:
        kept = [part for part in kept if part.name != name]
        yield kept
    for name in _SHORTEN_ORDER:
        kept = _shortened(kept, name)
        yield kept
    for name in _LAST_ORDER:
        kept = [part for part in kept if part.name != name]
        yield kept


def _shortened(kept: list[StatusSegment], name: SegmentName) -> list[StatusSegment]:
    return [
        StatusSegment(name, part.short) if part.name == name and part.short else part
        for part in kept
    ]


def _grown(
    kept: list[StatusSegment], whole: Sequence[StatusSegment], width: int
) -> list[StatusSegment]:
    """Return the segments with as much of the title as there is room for."""
    free = width - _need(kept)
    title = next((part for part in whole if part.name == "title"), None)
    if title is None or free <= 0:
        return kept
    return [
        StatusSegment("title", tuple(fit_pieces(title.pieces, part.width + free)))
        if part.name == "title"
        else part
        for part in kept
    ]


def _need(kept: Sequence[StatusSegment]) -> int:
    return sum(part.width + GAP for part in kept) - GAP if kept else 0


def _laid_out(
    kept: Sequence[StatusSegment], notice: StatusSegment | None, width: int
) -> list[Placed]:
    placed: list[Placed] = []
    at = 0
    for segment in (*(part for part in kept if part.name != "help"), notice):
        if segment is not None:
            placed.append(Placed(at, segment))
            at += segment.width + GAP
    return placed + [Placed(width - part.width, part) for part in kept if part.name == "help"]


def _cut_left(text: str, width: int) -> str:
    while cell_len(text) > width:
        head, _, rest = text.lstrip("…/").partition("/")
        if not rest:
            return fit(head, width)
        text = f"…/{rest}"
    return text
