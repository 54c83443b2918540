"""An error: what happened, what was kept, and the key that helps."""

from amplifier_tui.ui.state.entries import ErrorEntry
from amplifier_tui.ui.transcript.entry_render.scene import Scene, edged, text_lines
from amplifier_tui.ui.transcript.lines import Line, Span
from amplifier_tui.ui.transcript.wrap import wrap

NO_PROVIDER = "no_provider"
"""The kind of error that a key, another bundle or the demo helps against."""
RETRY_LINK = "retry:"
"""The link of the words that try again."""


def error_lines(entry: ErrorEntry, scene: Scene) -> list[Line]:
    """Return an error behind its edge."""
    width = scene.column.measure
    lines = text_lines(entry.message or entry.kind, "strong", width)
    if entry.missing:
        lines += text_lines(f"missing: {', '.join(entry.missing)}", "text", width)
    if entry.remedy:
        lines += text_lines(entry.remedy, "text", width)
    if entry.prompt:
        lines += text_lines("Your prompt is kept.", "muted", width)
    lines += [Line(tuple(spans)) for spans, _ in wrap(_keys(entry, scene), width)]
    if scene.expanded and entry.detail:
        lines += text_lines(entry.detail, "muted", width)
    return edged(lines, scene.column, "error-edge")


def is_expandable(entry: ErrorEntry) -> bool:
    """Say whether the error has more to show."""
    return bool(entry.detail)


def _keys(entry: ErrorEntry, scene: Scene) -> list[Span]:
    keys = scene.keys
    ways: list[tuple[str, Span]] = []
    if entry.retryable:
        ways.append((keys.retry, Span("try again", "text+u", RETRY_LINK)))
    if entry.kind == NO_PROVIDER:
        ways.append((keys.demo, Span("try the offline demo", "muted")))
        ways.append((keys.bundles, Span("choose a bundle", "muted")))
    if entry.detail:
        word = "hide details" if scene.expanded else "details"
        ways.append((keys.details, Span(word, "muted")))
    spans: list[Span] = []
    for key, what in ways:
        if not key:
            continue  # the user took every way to it away
        if spans:
            spans.append(Span("   "))
        spans += [Span(key, "strong"), Span(" "), what]
    return spans
