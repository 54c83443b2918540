"""The empty session: what is active, what to try, what is missing."""

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.state.conversation.entries import ProviderLine, WelcomeEntry
from amplifier_tui.ui.transcript.entries.scene import Scene, Way, margined, way_rows
from amplifier_tui.ui.transcript.text.lines import BLANK, Span, StyledLine, indented, spaces
from amplifier_tui.ui.transcript.text.wrap import wrap

_KEYS = (("@", "file"), ("/", "command"), ("F1", "keys"))
_TRY = "try  "
_SET = "Put one of them into keys.env and open again, or set it before you start."
_SET_IT = "Put it into keys.env and open again, or set it before you start."


def welcome_lines(entry: WelcomeEntry, scene: Scene) -> list[StyledLine]:
    """Return the lines of an empty session; with what helps where no provider is ready."""
    rows: list[list[Span]] = []
    active = [
        (name, one_line(value, 80))
        for name, value in (("bundle", entry.bundle), ("model", entry.model), ("mode", entry.mode))
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
        words = wrap([Span(one_line(example))], max(1, scene.column.measure - len(_TRY)))
        for row, (spans, join) in enumerate(words):
            prefix = head if not row else spaces(len(_TRY))
            lines.append(indented(StyledLine(tuple(spans), join=join), [prefix], copied=not row))
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
    keys = scene.keys
    ways = [
        Way(keys.demo, "try the offline demo", "demo:"),
        Way(keys.bundles, "choose a bundle", "bundles:"),
        Way(keys.new, "open again", "new:"),
    ]
    return [*rows, *way_rows(ways, scene.column.measure)]


def _name(line: ProviderLine) -> str:
    return one_line(line.name, 32)


def _wrapped(rows: list[list[Span]], measure: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for row in rows:
        wrapped = wrap(row, measure) if row else []
        lines += [StyledLine(tuple(spans), join=join) for spans, join in wrapped] or [BLANK]
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
