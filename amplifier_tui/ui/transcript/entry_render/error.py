"""An error: what happened, what was kept, and the key that helps."""

from amplifier_tui.ui.state.entries import ErrorEntry
from amplifier_tui.ui.transcript.entry_render.scene import Scene, edged, text_lines
from amplifier_tui.ui.transcript.lines import Line, Span
from amplifier_tui.ui.transcript.wrap import wrap

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
    spans: list[Span] = []
    if entry.retryable:
        spans += [
            Span(scene.keys.retry, "strong"),
            Span(" "),
            Span("try again", "text+u", RETRY_LINK),
        ]
    if entry.detail:
        if spans:
            spans.append(Span("   "))
        word = "hide details" if scene.expanded else "details"
        spans += [Span(scene.keys.details, "strong"), Span(f" {word}", "muted")]
    return spans
