"""Entries that are words: prompts, thinking, notes, errors, and the card of an empty session."""

from pathlib import PurePath
from typing import Final

from amplifier_tui.base.text import one_line, short_count
from amplifier_tui.host.events import summary
from amplifier_tui.ui.state.conversation.entries import (
    BUNDLE,
    CANCELLED,
    NO_MODEL,
    NO_PROVIDER,
    REFUSED,
    SETTINGS,
    TOO_LONG,
    UNTRUSTED,
    ErrorEntry,
    LimitEntry,
    NoteEntry,
    PlanEntry,
    ProviderLine,
    ReportEntry,
    RetryEntry,
    ThinkingEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.state.formats import limit_money, short_model, size
from amplifier_tui.ui.state.instruments.usage import raised_limit
from amplifier_tui.ui.state.notices import retry_words
from amplifier_tui.ui.transcript.entries.images import image_lines
from amplifier_tui.ui.transcript.entries.long_output import rest_line
from amplifier_tui.ui.transcript.entries.scene import (
    Scene,
    Way,
    counted,
    data_row,
    duration,
    edged,
    elapsed,
    margined,
    text_lines,
    way_rows,
)
from amplifier_tui.ui.transcript.lines import BLANK, Span, StyledLine, indented, spaces, wrap

FOLDED = 12
"""Rows of a long prompt that are shown while it is folded."""
_ROOM = 4
_FOLDED_SIZE = 1_500
_LAST, _LAST_SIZE = 3, 300
"""Rows and characters of its end: below what was pasted stands what is asked."""
_MOST, _MOST_WHOLE = 100_000, 1_000_000
"""Characters that are shown of one that is expanded, and of all of it."""


def user_lines(entry: UserEntry, scene: Scene) -> list[StyledLine]:
    """Return the prompt; a long one shows its beginning and its end unless expanded."""
    column = scene.column
    whole = entry.text.strip("\n")
    text = whole[: _MOST_WHOLE if scene.whole else _MOST]
    folded, end = is_long(entry) and not scene.expanded, ""
    if folded:
        text = "\n".join(text[:_FOLDED_SIZE].split("\n")[: FOLDED - _LAST])
        end = _end_of(whole[len(text) :])
        if not whole[len(text) : len(whole) - len(end)].strip():
            text, end = whole, ""  # But for the end of a line nothing is hidden.
    lines = text_lines(text, "user", column.measure)
    hidden = len(whole) - len(text) - len(end)
    if hidden:
        newlines = whole.count("\n", len(text) + 1, len(text) + hidden)
        more = counted(newlines, "more line") if newlines else size(hidden)
        way = "view.expand" if folded else "" if scene.whole else "view.whole"
        lines.append(rest_line(more, scene, way))
    lines += text_lines(end, "user", column.measure) if end else []
    shown = {card.name for card in entry.images}
    files = [name for name in entry.attachments if PurePath(name).name not in shown]
    files += entry.files
    if files:
        names = ", ".join(one_line(name, 200) for name in files)
        lines += text_lines(f"with {names}", "muted", column.measure)
    lines += image_lines(entry.images, entry.agent, scene, column.measure)
    if entry.steered:
        said = text_lines("said while it worked", "muted", column.measure)
        lines += [line._replace(aside=True) for line in said]
    return edged(lines, column, "edge")


def _end_of(text: str) -> str:
    """Return the last lines of a text, or, where those are long, its last words."""
    end = text[-_LAST_SIZE:]
    lines = end.split("\n")
    if len(lines) > 1:
        # Where it was cut within the first, that is not whole.
        return "\n".join(lines[-_LAST:] if len(lines) > _LAST else lines[1:])
    return end.partition(" ")[2] or end


def is_long(entry: UserEntry) -> bool:
    """Say whether the prompt has lines to fold away."""
    text = entry.text
    return len(text) > _FOLDED_SIZE or text.count("\n") > FOLDED + _ROOM


PEEK = 400
"""How much of the text its line can show at most."""


def thinking_line(entry: ThinkingEntry, scene: Scene) -> StyledLine:
    """Return the line that stands for the block: its first words and how long it took."""
    words = one_line(entry.text[:PEEK].replace("*", "").replace("#", ""), PEEK)
    left = [Span("thinking", "thinking")]
    if words and not scene.expanded:
        left.append(Span(f" · {words}", "thinking"))
    return data_row(left, Span(_time(entry, scene), "muted"), scene, expandable=bool(words))


def _time(entry: ThinkingEntry, scene: Scene) -> str:
    if not entry.streaming:
        return duration(entry.duration_ms or 0)
    seconds = scene.now - scene.since if scene.since else 0.0
    return elapsed(seconds) if seconds >= 1 else ""


_GLYPHS = {"warning": Span("! ", "warning"), "error": Span("✗ ", "error")}


def note_lines(entry: NoteEntry, scene: Scene) -> list[StyledLine]:
    """Return a note; a warning or an error has its glyph. One with a detail opens as that."""
    opened = "\n\n".join(part for part in (entry.detail, entry.repeats) if part)
    if opened:
        line = data_row([Span(one_line(entry.text), "muted")], Span(""), scene, expandable=True)
        if not scene.expanded:
            return [line]
        inner = scene.column.inset(2)
        return [line, *margined(text_lines(opened, "secondary", inner.measure), inner)]
    glyph = _GLYPHS.get(entry.level)
    if glyph:
        lines = _headed(entry.text, glyph, glyph.style, scene.column.measure)
    else:
        lines = text_lines(entry.text, "muted", scene.column.measure)
    return margined(lines, scene.column)


def _headed(text: str, glyph: Span, style: str, measure: int) -> list[StyledLine]:
    """Return the text behind a glyph of two cells."""
    first, *others = text_lines(text, style, max(1, measure - 2))
    lines = [indented(first, (glyph,), copied=True)]
    return lines + [indented(line, (Span("  ", glyph.style),)) for line in others]


# What a click on a link of our own does. Only `OFFERS` have such links: in the words of a model
# they are addresses like any others.
ACTION: Final = "action:"
"""Before the id of the action (`ui/keys/actions.py`) that a link stands for."""
EXAMPLE: Final = "example:"
"""Before a prompt to try."""
RETRY: Final = f"{ACTION}turn.retry"
WITHOUT: Final = f"{ACTION}turn.without"


def _way(scene: Scene, action: str, words: str) -> Way:
    return Way(scene.keys(action), words, f"{ACTION}{action}")


def report_lines(entry: ReportEntry, scene: Scene) -> list[StyledLine]:
    """Return the one line of an opening report, and the way to its list."""
    ready, _, rest = summary(entry.items, entry.ready).rpartition(" ready · ")
    without, colon, names = one_line(rest, PEEK).partition(":")
    left = [Span(f"{ready} ready · " if ready else "", "muted"), Span(without, "warning")]
    left.append(Span(colon + names, "muted"))
    line = data_row(left, Span(scene.keys("session.report"), "muted"), scene, expandable=True)
    return [line]


_KEPT: Final = "Your prompt is kept. In the draft, right edits it and typing replaces it."


def error_lines(entry: ErrorEntry, scene: Scene) -> list[StyledLine]:
    """Return an error behind its edge; without colours its glyph tells it from a prompt."""
    width = scene.column.measure
    lines = _headed(entry.message or entry.kind, _GLYPHS["error"], "strong", width)
    said = f"{entry.message} {entry.remedy}"
    missing = [name for name in entry.missing if name not in said]
    if missing and entry.kind != REFUSED:
        lines += text_lines(f"missing: {', '.join(missing)}", "text", width)
    if entry.remedy:
        lines += text_lines(entry.remedy, "text", width)
    if entry.prompt:
        lines += text_lines(_KEPT, "muted", width)
    for row in way_rows(_ways(entry, scene), width):
        lines += [line._replace(join=None) for line in wrap(row, width)]
    if scene.expanded and entry.detail:
        lines += text_lines(entry.detail, "muted", width)
    return edged(lines, scene.column, "error-edge")


def _ways(entry: ErrorEntry, scene: Scene) -> list[Way]:
    ways: list[Way] = []
    if entry.retryable:
        ways.append(_way(scene, "turn.retry", "try again"))
        if entry.source:
            words = f"go on without {one_line(entry.source, 40)}"
            ways.append(_way(scene, "turn.without", words))
    if entry.back:
        ways.append(_way(scene, "model.back", f"back to {one_line(short_model(entry.back), 40)}"))
    if entry.kind == NO_MODEL:
        ways.append(_way(scene, "model.choose", "choose a model"))
    if entry.kind == TOO_LONG and "compact" in entry.remedy.casefold():
        ways.append(_way(scene, "context.compact", "compact the conversation"))
    if entry.missing:
        words = "paste another key" if entry.kind == REFUSED else "paste a key"
        ways.append(_way(scene, "setup.key", words))
    if entry.kind in (CANCELLED, SETTINGS):
        ways.append(_way(scene, "session.new", "open again"))
    if entry.kind == UNTRUSTED:
        ways.append(_way(scene, "trust.again", "ask again"))
    if entry.kind == NO_PROVIDER:
        ways.append(_way(scene, "session.demo", "try the offline demo"))
    if entry.kind in (NO_PROVIDER, CANCELLED, BUNDLE, UNTRUSTED):
        ways.append(_way(scene, "session.bundles", "choose a bundle"))
    if entry.detail:
        words = "hide details" if scene.expanded else "details"
        ways.append(Way(scene.keys("view.expand"), words))
    return ways


def plan_lines(entry: PlanEntry, scene: Scene) -> list[StyledLine]:
    """Return what can be done with a plan."""
    ways = [
        _way(scene, "plan.ask", "do it, asking"),
        _way(scene, "plan.edits", "do it, edits go through"),
        _way(scene, "plan.dismiss", "go on planning"),
    ]
    head = [Span("◐ ", "warning"), Span("The plan waits for you.", "strong")]
    rows = [head, *way_rows(ways, scene.column.measure)]
    return margined(_wrapped(rows, scene.column.measure), scene.column)


def retry_lines(entry: RetryEntry, scene: Scene) -> list[StyledLine]:
    """Return the line of a request that is sent again: when and why, which may need a few more."""
    event, column = entry.event, scene.column
    left = max(0.0, event.at + event.delay - scene.now) if scene.now else event.delay
    why = one_line(event.problem, 1_000) or (
        f"HTTP {event.status}" if event.status else "no answer"
    )
    said = f"{one_line(event.provider, 40)}: {why}" if event.provider else why
    key = scene.keys("turn.back")

    def row(left: float, *more: Span) -> StyledLine:
        when = Span(f"{scene.spinner or '◐'} {retry_words(event, left)}", "warning")
        ways = Span(f"{key} stops" if key else "", "muted")
        return data_row([when, *more], ways, scene, expandable=False)

    behind = Span(f" · {said}", "muted")
    # Whether there is room does not change while it counts down.
    if said in row(event.delay, behind).text:
        return [row(left, behind)]
    below = text_lines(said, "muted", max(1, column.measure - column.body))
    return [row(left), *margined(below, column, column.body)]


def limit_lines(entry: LimitEntry, scene: Scene) -> list[StyledLine]:
    """Return what waits at the limit, and what can be done."""
    head = [
        Span("◐ ", "warning"),
        Span(f"{entry.asked.why}. ", "strong"),
        Span(entry.asked.amounts, "text"),
    ]
    # Twice may not be enough: what it would be is said.
    cost, tokens = raised_limit(entry.asked)
    raised = [limit_money(cost)] if cost else []
    raised += [f"{short_count(tokens)} tokens"] if tokens else []
    ways = [
        _way(scene, "limit.once", "send it, this once"),
        _way(scene, "limit.raise", f"raise the limit to {' and '.join(raised)}"),
        _way(scene, "limit.set", "another limit"),
        _way(scene, "turn.stop", "stop"),
    ]
    rows = [head, *way_rows(ways, scene.column.measure)]
    return margined(_wrapped(rows, scene.column.measure), scene.column)


_KEYS = (("@", "file"), ("/", "command"), ("!", "shell"), ("F1", "keys"))
_TRY = "try  "
_SET = "Put one of them into keys.env and open again, or set it before you start."
_SET_IT = "Put it into keys.env and open again, or set it before you start."


def welcome_lines(entry: WelcomeEntry, scene: Scene) -> list[StyledLine]:
    """Return the lines of an empty session; with what helps where no provider is ready."""
    rows: list[list[Span]] = []
    bundle = one_line(entry.bundle, 80) + (", of this project" if entry.of_project else "")
    active = [
        (name, one_line(value, 100))
        for name, value in (("bundle", bundle), ("model", entry.model), ("mode", entry.mode))
        if value
    ]
    if active:
        rows.append(_pairs(active, "muted", "text"))
    if entry.problem:
        rows += _problem(entry, scene, apart=bool(rows))
    else:
        rows += [
            [Span("! ", "warning"), Span(f"{one_line(name, 80)} is not set", "warning")]
            for name in entry.missing
        ]
    examples = () if entry.problem else entry.examples
    if examples and rows:
        rows.append([])
    lines = _wrapped(rows, scene.column.measure)
    for number, example in enumerate(examples):
        head = Span(_TRY if not number else " " * len(_TRY), "muted")
        link = f"{EXAMPLE}{one_line(example)}"
        words = wrap([Span(one_line(example), link=link)], max(1, scene.column.measure - len(_TRY)))
        for row, line in enumerate(words):
            prefix = head if not row else spaces(len(_TRY))
            lines.append(indented(line, [prefix], copied=not row))
    closing = [_pairs(_KEYS, "strong", "muted")]
    lines += _wrapped([[], *closing] if lines else closing, scene.column.measure)
    return margined(lines, scene.column)


def _problem(entry: WelcomeEntry, scene: Scene, *, apart: bool) -> list[list[Span]]:
    """Say why no prompt can be answered, which variable is missing where, and what helps."""
    rows: list[list[Span]] = [[]] if apart else []
    rows.append([Span("! ", "warning"), Span(one_line(entry.problem, 500), "strong")])
    named = {name for line in entry.providers for name in line.missing}
    others = tuple(name for name in entry.missing if name not in named)
    lines = [*entry.providers, *(ProviderLine("", (name,)) for name in others)]
    pad = max((len(_name(line)) for line in lines), default=0)
    for line in lines:
        reason = (
            f"{' or '.join(one_line(name, 80) for name in line.missing)} is not set"
            if line.missing
            else one_line(line.error, 200)
        )
        name = f"{_name(line).ljust(pad)}  " if pad else ""
        rows.append([Span("✗ ", "error"), Span(name), Span(reason, "muted")])
    variables = [name for line in lines for name in line.missing]
    if not variables or not all(name in entry.remedy for name in variables):
        remedy = one_line(entry.remedy, 500)
    else:
        # The rows above name them; the host's words would do so once more.
        remedy = _SET_IT if len(variables) == 1 else _SET
    if remedy:
        rows += [[], [Span(remedy)]]
    if entry.tried:
        rows += [[], [Span("! ", "warning"), Span(f"Last try: {one_line(entry.tried, 500)}")]]
    ways = [_way(scene, "setup.key", "paste a key")] if entry.missing else []
    if entry.servers:
        *most, last = entry.servers
        names = [*(one_line(server.name, 40) for server in most), one_line(last.title, 60)]
        ways.append(_way(scene, "setup.local", f"use {' or '.join(names)}"))
    ways += [
        _way(scene, "session.demo", "try the offline demo"),
        _way(scene, "session.bundles", "choose a bundle"),
        _way(scene, "session.new", "open again"),
    ]
    return [*rows, *way_rows(ways, scene.column.measure)]


def _name(line: ProviderLine) -> str:
    return one_line(line.name, 32)


def _wrapped(rows: list[list[Span]], measure: int) -> list[StyledLine]:
    return [line for row in rows for line in (wrap(row, measure) if row else [BLANK])]


def _pairs(
    pairs: list[tuple[str, str]] | tuple[tuple[str, str], ...], first: str, second: str
) -> list[Span]:
    spans: list[Span] = []
    for left, right in pairs:
        if spans:
            spans.append(Span("   "))
        spans += [Span(left, first), Span(" "), Span(right, second)]
    return spans
