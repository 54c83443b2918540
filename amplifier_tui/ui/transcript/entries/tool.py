"""A tool call: its line, and its diff or output below."""

from collections.abc import Iterator
from functools import lru_cache

from amplifier_tui.base.messages.sub_sessions import confined_words, printed_by
from amplifier_tui.base.text import clean, one_line, printed, reveal
from amplifier_tui.ui.diffs.rows import DiffRows
from amplifier_tui.ui.state.conversation.entries import ShellEntry, ToolEntry, ToolState
from amplifier_tui.ui.state.formats import size
from amplifier_tui.ui.transcript.entries.answers import answers
from amplifier_tui.ui.transcript.entries.colours import numbered_lines
from amplifier_tui.ui.transcript.entries.diff import code_lines, counts, diff_lines, read_diff
from amplifier_tui.ui.transcript.entries.images import image_lines
from amplifier_tui.ui.transcript.entries.long_output import (
    more_lines,
    passages,
    rest_line,
    was_cut,
)
from amplifier_tui.ui.transcript.entries.scene import (
    Scene,
    counted,
    data_row,
    duration,
    elapsed,
    margined,
    output_lines,
    text_lines,
)
from amplifier_tui.ui.transcript.entries.tool_words import (
    describe,
    is_known,
    partial_arguments,
    reads_file,
)
from amplifier_tui.ui.transcript.lines import Span, StyledLine

_GLYPHS: dict[ToolState, Span] = {
    "running": Span("◐", "running"),
    "waiting": Span("◐", "warning"),
    "ok": Span("✓", "success"),
    "failed": Span("✗", "error"),
    "denied": Span("✗", "warning"),
    "interrupted": Span("✗", "muted"),
}
_NOT_BEGUN = Span("○", "muted")
_WORDS: dict[ToolState, Span] = {
    "waiting": Span("waiting for you", "warning"),
    "denied": Span("denied", "warning"),
    "interrupted": Span("stopped", "muted"),
}
_SHELLS = ("bash", "!", "!!")
"""The verbs of what runs a command line."""
_PEEK_RUNNING, _PEEK_FAILED, _PEEK_OWN = 5, 3, 12
"""Rows of output that are shown unasked: of what runs, of a command that failed or was stopped, and
of the user's own commands."""
_ENDED: tuple[ToolState, ...] = ("failed", "interrupted")
"""What a call whose output is shown unasked came to."""
_PEEK_SIZE = 8_000
_SHORT = 20
"""Characters of a reason that stands at the end of the line, as `exit code 127` does."""
_SURE = 16
"""Characters of a command for which there is room at every width."""
_HOOK = 30
"""Characters of the name of a hook that a call waits for."""
_ARGUMENT_LINES = 20
_ARGUMENT_SIZE = 4000


def tool_line(entry: ToolEntry, scene: Scene) -> StyledLine:
    """Return the line of a tool call: glyph, verb, object, and its data at the right."""
    words = describe(entry.tool, entry.arguments or partial_arguments(entry.argument_text))
    verb_width = scene.column.body - 2
    verb = words.verb.ljust(verb_width) if len(words.verb) < verb_width else f"{words.verb} "
    glyph = _GLYPHS[entry.state]
    if _waits_its_turn(entry, scene):
        glyph = _NOT_BEGUN
    elif entry.state == "running" and scene.spinner:
        glyph = glyph._replace(text=scene.spinner)
    left = [glyph, Span(" "), Span(verb), *words.parts, *_remarks(entry)]
    path = 3 if words.is_path else None
    return data_row(left, _data(entry, scene), scene, expandable=has_more(entry), path=path)


def tool_lines(entry: ToolEntry, scene: Scene) -> list[StyledLine]:
    """Return the line of a tool call, its images and, when expanded, what belongs to it."""
    lines = [tool_line(entry, scene)]
    column = scene.column
    width = max(1, column.measure - column.body)
    if scene.expanded and has_more(entry):
        lines += margined(_body(entry, width, lines[0].text, scene), column, column.body)
    elif (rows := peek_rows(entry)) and not _says_all(lines[0].text, entry):
        lines += margined(_peek(entry, rows, width, scene), column, column.body)
    elif said := answers(entry):
        wrapped = [row for line in said for row in text_lines(line, "text", width)]
        lines += margined(wrapped, column, column.body)
    images = image_lines(entry.images, entry.agent, scene, width)
    return [*lines, *margined(images, column, column.body)]


def _says_all(line: str, entry: ToolEntry) -> bool:
    """Whether the line of a call says all of what its output says: why there is no more."""
    error = one_line(entry.error)
    return bool(error) and error in line and one_line(entry.output) == error


def peek_rows(entry: ToolEntry) -> int:
    """Return how many rows at the end of the output are shown without being asked for."""
    if isinstance(entry, ShellEntry):
        return _PEEK_OWN
    if entry.state == "running" and entry.output:
        return _PEEK_RUNNING
    # Why a command failed, or was stopped, stands at the end of its output, of which a long one has
    # only the first.
    ended = entry.state in _ENDED and _is_command(entry)
    failed = ended and printed_by(entry.output).strip()
    return _PEEK_FAILED if failed and not _cut_words(entry) else 0


def _peek(entry: ToolEntry, most: int, width: int, scene: Scene) -> list[StyledLine]:
    """Return the last rows of the output, and how many lines are above them."""
    ended = entry.state in _ENDED and not isinstance(entry, ShellEntry)
    own = printed_by(entry.output) if ended else entry.output
    text = clean(printed(own[-_PEEK_SIZE:].rstrip("\n")))
    last = text.split("\n")[-most:] if text else []
    rows = [output_lines(line, "secondary", width) for line in last]
    while len(rows) > 1 and sum(map(len, rows)) > most:
        del rows[0]
    lines = [row for wrapped in rows for row in wrapped][-most:]
    above = entry.output.rstrip("\n").count("\n") + 1 - len(rows) if text else 0
    if above > 0:
        # Of an output that was cut only a part is there to be counted.
        least = "at least " if _cut_words(entry) or was_cut(entry.output) else ""
        more = f"{least}{counted(above, 'more line')}"
        lines = [rest_line(more, scene, "view.expand"), *lines]
    if isinstance(entry, ShellEntry) and entry.waits:
        said = text_lines("goes along with your next prompt", "muted", width)
        lines += [line._replace(aside=True) for line in said]
    return lines


def has_more(entry: ToolEntry) -> bool:
    """Say whether the call has more to show than its line."""
    has_result = bool(entry.diff or entry.output or entry.error)
    return has_result or bool(_long_command(entry)) or not is_known(entry.tool)


def _remarks(entry: ToolEntry) -> Iterator[Span]:
    if entry.diff:
        changed = counts(_parsed(entry.diff))
        if changed:
            yield from (Span("  "), *changed)
    failed = entry.state == "failed"
    hooked = [Span(f" · {words}", "muted") for words in _hooked(entry)]
    # The end of a line is cut off: what went wrong is not to be there.
    yield from () if failed else hooked
    if (why := _why(entry)) and why != _came_to(entry):
        yield Span(f" · {why}", "error" if failed else "muted")
    elif entry.summary and not entry.images and not _is_counted(entry):
        yield Span(f" · {one_line(entry.summary)}", "muted")
    yield from hooked if failed else ()
    if failed and (where := confined_words(entry.output)):
        yield Span(f" · {where}", "muted")
    if entry.allowed_by:
        yield Span(f" · {one_line(entry.allowed_by)}", "muted")


def _hooked(entry: ToolEntry) -> Iterator[str]:
    """Say what hooks of modules did with the call."""
    if entry.changed_by:
        yield f"changed by hook {one_line(entry.changed_by)}"
    # One that asks a person by itself denies in that person's name.
    if (
        entry.denied_by
        and not entry.timed_out
        and not entry.error.startswith(_BY_USER.rstrip(": "))
    ):
        yield f"denied by hook {one_line(entry.denied_by)}"
    if entry.withheld_by:
        yield f"result withheld by hook {one_line(entry.withheld_by)}"
    if entry.result_changed_by:
        yield f"result changed by hook {one_line(entry.result_changed_by)}"


def _is_counted(entry: ToolEntry) -> bool:
    """Say whether its line says in another way what it came to: at its end, or in items."""
    return isinstance(entry, ShellEntry) or entry.tool == "todo" or bool(answers(entry))


_BY_USER = "User denied: "


def _why(entry: ToolEntry) -> str:
    """Say on one line why it did not go well, without what the line says already."""
    why = one_line(entry.error)
    if entry.state != "denied" or not why.startswith(_BY_USER):
        return why
    why = why.removeprefix(_BY_USER)
    # Without a reason the model is told the question, which the call itself says better.
    return "" if why.startswith(f"{entry.tool} wants to ") else why


def _data(entry: ToolEntry, scene: Scene) -> Span:
    word = _WORDS.get(entry.state)
    if word is not None and entry.state == "denied" and entry.timed_out:
        return word._replace(text="timed out")
    if word is not None:
        return word
    if entry.state == "running" and entry.held_by:
        return Span(f"waiting for hook {one_line(entry.held_by, _HOOK)}", "warning")
    if _waits_its_turn(entry, scene):
        return Span("waits its turn", "muted")
    if entry.state == "running" and entry.preparing and entry.written:
        return Span("")
    if entry.state == "running":
        seconds = scene.now - entry.started if entry.started else 0.0
        return Span(elapsed(seconds) if seconds >= 1 else "", "muted")
    took = duration(entry.duration_ms or 0)
    return Span(" · ".join(filter(None, (_came_to(entry), took))), "muted")


def _waits_its_turn(entry: ToolEntry, scene: Scene) -> bool:
    """Whether other calls of its answer come before it; each waits for a moment."""
    waits = entry.state == "running" and entry.preparing and not entry.held_by
    return waits and entry.written > 0 and scene.now - entry.written >= 1


def _came_to(entry: ToolEntry) -> str:
    """Return what a command came to, which is not to be cut off behind a long line."""
    if isinstance(entry, ShellEntry):
        return entry.summary
    why = _why(entry) if entry.state == "failed" and _is_command(entry) else ""
    return why if len(why) <= _SHORT else ""


def _body(entry: ToolEntry, width: int, said: str, scene: Scene) -> list[StyledLine]:
    """Return what belongs to a call; `said` is what its line says already."""
    lines: list[StyledLine] = []
    command = _long_command(entry)
    if command and ("\n" in command or one_line(command, len(command)) not in said):
        lines += _limited(reveal(command), "text", width, scene)
    elif not is_known(entry.tool):
        lines += _arguments(entry, width)
    diff = _parsed(entry.diff)
    if entry.allowed_by and one_line(entry.allowed_by) not in said:
        lines += text_lines(f"let through: {entry.allowed_by}", "muted", width)
    for words in _hooked(entry):
        if words not in said:
            lines += text_lines(words, "muted", width)
    error = entry.error.strip()
    if error and entry.state != "ok" and error not in said and error not in entry.output:
        lines += text_lines(entry.error, "error" if entry.state == "failed" else "muted", width)
    if diff:
        return [*lines, *diff_lines(diff, width, scene, scene.paint(entry.diff, ""))]
    if entry.diff:
        return lines + _limited(clean(entry.diff.strip("\n")), "secondary", width, scene)
    # Where the output is the reason alone, its line may have had no room for all of it.
    if entry.output and (entry.output.strip() != error or error not in said):
        output = _output(entry, width, scene)
        cut = _cut_words(entry)
        noted = text_lines(cut, "muted", width) if cut else []
        cut_lines = [line._replace(aside=True) for line in noted]
        # A running tool keeps its newest output, a finished one what came first.
        lines += [*cut_lines, *output] if entry.state == "running" else [*output, *cut_lines]
    return lines


def _output(entry: ToolEntry, width: int, scene: Scene) -> list[StyledLine]:
    """Return the lines of an output; of a file that was read they have its language's colours."""
    text = clean(printed(entry.output.strip("\n")))
    path = entry.arguments.get("file_path") or entry.arguments.get("path")
    if entry.state != "ok" or not isinstance(path, str) or not reads_file(entry.tool):
        return _limited(text, "secondary", width, scene)
    numbered = numbered_lines(text) or []
    rows = text.split("\n")
    if not numbered:
        return _limited(text, "secondary", width, scene)
    colours = scene.paint(text, path)
    digits = len(numbered[-1][0])
    lines: list[StyledLine] = []
    for part, shown in passages([code for _, code in numbered], whole=scene.whole):
        if not shown:
            lines.append(more_lines(len(part), scene))
            continue
        for index in part:
            number, code = numbered[index]
            gutter, spans = Span(f"{number:>{digits}}  ", "muted"), colours.get(index, ())
            lines += code_lines(gutter, code.expandtabs(4), width, spans, plain="secondary")
    return lines + [
        row for rest in rows[len(numbered) :] for row in text_lines(rest, "muted", width)
    ]


def _cut_words(entry: ToolEntry) -> str:
    shown = len(entry.output)
    if entry.output_size <= max(shown, len(entry.output.encode("utf-8", "replace"))):
        return ""
    kept = "the last" if entry.state == "running" else "the first"
    return f"… {kept} {size(shown)} of {size(entry.output_size)}"


def _arguments(entry: ToolEntry, width: int) -> Iterator[StyledLine]:
    for name, value in entry.arguments.items():
        text = value if isinstance(value, str) else repr(value)
        shown = reveal(f"{name}: {text[:_ARGUMENT_SIZE]}")
        for line in output_lines(shown, "muted", width)[:_ARGUMENT_LINES]:
            yield line._replace(join=None)


def _limited(text: str, style: str, width: int, scene: Scene) -> list[StyledLine]:
    """Return the first and the last lines of a long text, and how many are between."""
    rows = text.split("\n")
    lines: list[StyledLine] = []
    for part, shown in passages(rows, whole=scene.whole):
        if shown:
            lines += output_lines("\n".join(rows[part.start : part.stop]), style, width)
        else:
            lines.append(more_lines(len(part), scene))
    return lines


def _is_command(entry: ToolEntry) -> bool:
    return describe(entry.tool, entry.arguments).verb in _SHELLS


def _long_command(entry: ToolEntry) -> str:
    """Return a command for which its line may have no room."""
    if not _is_command(entry):
        return ""
    command = entry.arguments.get("command", "")
    text = command.strip() if isinstance(command, str) else ""
    return text if "\n" in text or len(text) > _SURE else ""


@lru_cache(maxsize=128)
def _parsed(text: str) -> DiffRows:
    return read_diff(text)
