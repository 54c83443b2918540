"""The empty session: what is active, what to try, what is missing."""

from amplifier_tui.ui.sanitize import one_line
from amplifier_tui.ui.state.entries import WelcomeEntry
from amplifier_tui.ui.transcript.entry_render.scene import Scene, margined
from amplifier_tui.ui.transcript.lines import BLANK, Line, Span, indented, spaces
from amplifier_tui.ui.transcript.wrap import wrap

_KEYS = (("@", "file"), ("/", "command"), ("F1", "keys"))
_TRY = "try  "


def welcome_lines(entry: WelcomeEntry, scene: Scene) -> list[Line]:
    """Return the three lines of an empty session, and a warning for each missing key."""
    rows: list[list[Span]] = []
    active = [
        (name, one_line(value, 80))
        for name, value in (("bundle", entry.bundle), ("model", entry.model), ("mode", entry.mode))
        if value
    ]
    if active:
        rows.append(_pairs(active, "muted", "text"))
    rows += [
        [Span("! ", "warning"), Span(f"{one_line(name, 80)} is not set", "warning")]
        for name in entry.missing
    ]
    if entry.examples and rows:
        rows.append([])
    lines = _wrapped(rows, scene.column.measure)
    for number, example in enumerate(entry.examples):
        head = Span(_TRY if not number else " " * len(_TRY), "muted")
        words = wrap([Span(one_line(example))], max(1, scene.column.measure - len(_TRY)))
        for row, (spans, join) in enumerate(words):
            prefix = head if not row else spaces(len(_TRY))
            lines.append(indented(Line(tuple(spans), join=join), [prefix], copied=not row))
    closing = [_pairs(_KEYS, "strong", "muted")]
    lines += _wrapped([[], *closing] if lines else closing, scene.column.measure)
    return margined(lines, scene.column)


def _wrapped(rows: list[list[Span]], measure: int) -> list[Line]:
    lines: list[Line] = []
    for row in rows:
        wrapped = wrap(row, measure) if row else []
        lines += [Line(tuple(spans), join=join) for spans, join in wrapped] or [BLANK]
    return lines


def _pairs(
    pairs: list[tuple[str, str]] | tuple[tuple[str, str], ...], first: str, second: str
) -> list[Span]:
    spans: list[Span] = []
    for left, right in pairs:
        if spans:
            spans.append(Span("   "))
        spans += [Span(left, first), Span(" "), Span(right, second)]
    return spans
