"""A tool call: one line, with its diff or output below when expanded."""

from collections.abc import Iterator
from functools import lru_cache

from amplifier_tui.base.text import clean, one_line, printed
from amplifier_tui.ui.state.conversation.entries import ToolEntry, ToolState
from amplifier_tui.ui.transcript.entries.diff import FileDiff, counts, diff_lines, parse_diff
from amplifier_tui.ui.transcript.entries.scene import (
    Scene,
    counted,
    data_row,
    duration,
    elapsed,
    margined,
    output_lines,
    size,
    text_lines,
)
from amplifier_tui.ui.transcript.entries.tool_words import describe, is_known, partial_arguments
from amplifier_tui.ui.transcript.lines import Span, StyledLine

_GLYPHS: dict[ToolState, Span] = {
    "running": Span("◐", "running"),
    "waiting": Span("◐", "warning"),
    "ok": Span("✓", "success"),
    "failed": Span("✗", "error"),
    "denied": Span("✗", "warning"),
    "interrupted": Span("✗", "muted"),
}
_WORDS: dict[ToolState, Span] = {
    "waiting": Span("waiting for you", "warning"),
    "denied": Span("denied", "warning"),
    "interrupted": Span("stopped", "muted"),
}
_HEAD, _TAIL = 120, 80
_ARGUMENT_LINES = 20
_ARGUMENT_SIZE = 4000


def tool_line(entry: ToolEntry, scene: Scene) -> StyledLine:
    """Return the line of a tool call: glyph, verb, object, and its data at the right."""
    words = describe(entry.tool, entry.arguments or partial_arguments(entry.argument_text))
    verb_width = scene.column.body - 2
    verb = words.verb.ljust(verb_width) if len(words.verb) < verb_width else f"{words.verb} "
    glyph = _GLYPHS[entry.state]
    if entry.state == "running" and scene.spinner:
        glyph = glyph._replace(text=scene.spinner)
    left = [glyph, Span(" "), Span(verb), *words.parts, *_remarks(entry)]
    path = 3 if words.is_path else None
    return data_row(left, _data(entry, scene), scene, expandable=has_more(entry), path=path)


def tool_lines(entry: ToolEntry, scene: Scene) -> list[StyledLine]:
    """Return the line of a tool call and, when expanded, what belongs to it."""
    lines = [tool_line(entry, scene)]
    if scene.expanded and has_more(entry):
        column = scene.column
        width = max(1, column.measure - column.body)
        lines += margined(_body(entry, width), column, column.body)
    return lines


def has_more(entry: ToolEntry) -> bool:
    """Say whether the call has more to show than its line."""
    has_result = bool(entry.diff or entry.output or entry.error)
    return has_result or bool(_long_command(entry)) or not is_known(entry.tool)


def _remarks(entry: ToolEntry) -> Iterator[Span]:
    if entry.diff:
        changed = counts(row for file in _parsed(entry.diff) for row in file.rows)
        if changed:
            yield from (Span("  "), *changed)
    if entry.error:
        yield Span(" · ", "muted")
        yield Span(one_line(entry.error), "error" if entry.state == "failed" else "muted")
    elif entry.summary:
        yield Span(f" · {one_line(entry.summary)}", "muted")


def _data(entry: ToolEntry, scene: Scene) -> Span:
    word = _WORDS.get(entry.state)
    if word is not None:
        return word
    if entry.state == "running":
        seconds = scene.now - entry.started if entry.started else 0.0
        return Span(elapsed(seconds) if seconds >= 1 else "", "muted")
    return Span(duration(entry.duration_ms) if entry.duration_ms else "", "muted")


def _body(entry: ToolEntry, width: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    command = _long_command(entry)
    if command:
        lines += _limited(clean(command), "text", width)
    elif not is_known(entry.tool):
        lines += _arguments(entry, width)
    diff = _parsed(entry.diff)
    if entry.error and entry.state != "ok":
        lines += text_lines(entry.error, "error" if entry.state == "failed" else "muted", width)
    if diff:
        return [*lines, *diff_lines(diff, width)]
    if entry.diff:
        return lines + _limited(clean(entry.diff.strip("\n")), "secondary", width)
    if entry.output and entry.output.strip() != entry.error.strip():
        output = _limited(clean(printed(entry.output.strip("\n"))), "secondary", width)
        cut = _cut_words(entry)
        cut_lines = text_lines(cut, "muted", width) if cut else []
        # A running tool keeps its newest output, a finished one what came first.
        lines += [*cut_lines, *output] if entry.state == "running" else [*output, *cut_lines]
    return lines


def _cut_words(entry: ToolEntry) -> str:
    shown = len(entry.output)
    if entry.output_size <= max(shown, len(entry.output.encode("utf-8", "replace"))):
        return ""
    kept = "the last" if entry.state == "running" else "the first"
    return f"… {kept} {size(shown)} of {size(entry.output_size)}"


def _arguments(entry: ToolEntry, width: int) -> Iterator[StyledLine]:
    for name, value in entry.arguments.items():
        text = value if isinstance(value, str) else repr(value)
        shown = clean(f"{name}: {text[:_ARGUMENT_SIZE]}")
        for line in output_lines(shown, "muted", width)[:_ARGUMENT_LINES]:
            yield line._replace(join=None)


def _limited(text: str, style: str, width: int) -> list[StyledLine]:
    """Return the first and the last lines of a long text, and how many are between."""
    rows = text.split("\n")
    if len(rows) <= _HEAD + _TAIL:
        return output_lines(text, style, width)
    between = len(rows) - _HEAD - _TAIL
    return [
        *output_lines("\n".join(rows[:_HEAD]), style, width),
        StyledLine((Span(f"… {counted(between, 'more line')}", "muted"),)),
        *output_lines("\n".join(rows[-_TAIL:]), style, width),
    ]


def _long_command(entry: ToolEntry) -> str:
    if describe(entry.tool, entry.arguments).verb != "bash":
        return ""
    command = entry.arguments.get("command", "")
    return command if isinstance(command, str) and "\n" in command.strip() else ""


@lru_cache(maxsize=128)
def _parsed(text: str) -> list[FileDiff]:
    return parse_diff(text)
