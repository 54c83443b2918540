"""An error: what happened, what was kept, and the key that helps."""

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.state.conversation.entries import NO_PROVIDER, TOO_LONG, ErrorEntry
from amplifier_tui.ui.transcript.entries import links
from amplifier_tui.ui.transcript.entries.scene import (
    Scene,
    Way,
    edged,
    text_lines,
    way_rows,
)
from amplifier_tui.ui.transcript.text.lines import StyledLine
from amplifier_tui.ui.transcript.text.wrap import wrap


def error_lines(entry: ErrorEntry, scene: Scene) -> list[StyledLine]:
    """Return an error behind its edge."""
    width = scene.column.measure
    lines = text_lines(entry.message or entry.kind, "strong", width)
    said = f"{entry.message} {entry.remedy}"
    missing = [name for name in entry.missing if name not in said]
    if missing:
        lines += text_lines(f"missing: {', '.join(missing)}", "text", width)
    if entry.remedy:
        lines += text_lines(entry.remedy, "text", width)
    if entry.prompt:
        lines += text_lines("Your prompt is kept.", "muted", width)
    for row in way_rows(_ways(entry, scene), width):
        lines += [StyledLine(tuple(spans)) for spans, _ in wrap(row, width)]
    if scene.expanded and entry.detail:
        lines += text_lines(entry.detail, "muted", width)
    return edged(lines, scene.column, "error-edge")


def is_expandable(entry: ErrorEntry) -> bool:
    """Say whether the error has more to show."""
    return bool(entry.detail)


def _ways(entry: ErrorEntry, scene: Scene) -> list[Way]:
    keys = scene.keys
    ways: list[Way] = []
    if entry.retryable:
        ways.append(Way(keys.retry, "try again", links.RETRY))
        if entry.source:
            words = f"go on without {one_line(entry.source, 40)}"
            ways.append(Way(keys.without, words, links.WITHOUT))
    if entry.kind == TOO_LONG:
        ways.append(Way(keys.compact, "compact the conversation", "compact:"))
    if entry.kind == NO_PROVIDER:
        ways.append(Way(keys.demo, "try the offline demo", "demo:"))
        ways.append(Way(keys.bundles, "choose a bundle", "bundles:"))
    if entry.detail:
        ways.append(Way(keys.details, "hide details" if scene.expanded else "details"))
    return ways
