"""The words of a tool call: a verb and an object (`read  src/retry.py 1–64`)."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from amplifier_tui.base.messages.tool_calls import FOLDER_KEYS
from amplifier_tui.base.text import one_line
from amplifier_tui.ui.state.formats import plural
from amplifier_tui.ui.transcript.lines import Span
from amplifier_tui.ui.widgets.text_lines import visible_line

Arguments = Mapping[str, Any]

_PATHS = ("file_path", "path", "filename", "file", "directory", "dir_path")
_VALUE_LIMIT = 60
_LINE_LIMIT = 400
_PARTIAL_LIMIT = 2000
_PARTIAL = re.compile(r'"(\w{1,40})"\s*:\s*"((?:[^"\\]|\\.)*)')


class ToolWords(NamedTuple):
    """What a tool line says: a verb and an object, which may begin with a path."""

    verb: str
    parts: tuple[Span, ...]
    is_path: bool = False


def describe(tool: str, arguments: Arguments) -> ToolWords:
    """Return the words for a tool call; unknown tools read `name  key=value …`."""
    known = _KNOWN.get(tool)
    words = known(arguments) if known else None
    return words or _generic(tool, arguments)


def object_of(tool: str, arguments: Arguments) -> str:
    """Return what a tool call is about, in one line: a file, a command, or its arguments."""
    return "".join(span.text for span in describe(tool, arguments).parts)


def is_known(tool: str) -> bool:
    """Say whether the tool's arguments are all in its words."""
    return tool in _KNOWN


def reads_file(tool: str) -> bool:
    """Say whether the tool reads a file, so that its output is that file's text."""
    return _KNOWN.get(tool) is _read


def partial_arguments(text: str) -> dict[str, str]:
    """Return the string arguments in JSON that is still being written.

    The last one may be cut; only the start of the text is looked at.
    """
    return {
        match[1]: match[2].replace('\\"', '"').replace("\\\\", "\\").replace("\\n", "\n")
        for match in _PARTIAL.finditer(text[:_PARTIAL_LIMIT])
    }


def _first(
    arguments: Arguments, *names: str, shown: Callable[[str, int], str] = visible_line
) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str | int | float) and value != "":
            return shown(str(value), _LINE_LIMIT)
    return ""


def _number(arguments: Arguments, name: str) -> int | None:
    value = arguments.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _says(verb: str, *names: str, is_path: bool = False) -> Callable[[Arguments], ToolWords | None]:
    """Return what makes the words of a tool whose object is the first of these arguments."""

    def words(arguments: Arguments) -> ToolWords | None:
        text = _first(arguments, *names)
        return ToolWords(verb, (Span(text),), is_path) if text else None

    return words


def _command(arguments: Arguments) -> ToolWords | None:
    text = _first(arguments, "command", "cmd", "script", "code")
    folder = _first(arguments, *FOLDER_KEYS)
    where = (Span(f"{folder} $ ", "muted"),) if folder else ()
    return ToolWords("bash", (*where, Span(text))) if text else None


def _on_path(verb: str) -> Callable[[Arguments], ToolWords | None]:
    return _says(verb, *_PATHS, is_path=True)


def _read(arguments: Arguments) -> ToolWords | None:
    path = _first(arguments, *_PATHS)
    if not path:
        return None
    offset, limit = _number(arguments, "offset"), _number(arguments, "limit")
    start = _number(arguments, "start_line") or offset
    end = _number(arguments, "end_line")
    if limit is not None and end is None:
        start = start or 1
        end = start + limit - 1
    span = f" {start or 1}–{end}" if end is not None else f" {start}–" if start else ""
    return ToolWords("read", (Span(path), Span(span, "muted")), is_path=True)


def _search(verb: str) -> Callable[[Arguments], ToolWords | None]:
    def words(arguments: Arguments) -> ToolWords | None:
        pattern = _first(arguments, "pattern", "query", "regex", "glob")
        if not pattern:
            return None
        parts = [Span(pattern)]
        if where := _first(arguments, *_PATHS):
            parts += [Span(" in ", "muted"), Span(where)]
        return ToolWords(verb, tuple(parts))

    return words


def _patch(arguments: Arguments) -> ToolWords | None:
    text = next((arguments[name] for name in ("patch", "input", "diff") if name in arguments), "")
    if not isinstance(text, str):
        return None
    marks = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/")
    files = [
        visible_line(line[len(mark) :], _LINE_LIMIT)
        for line in text.split("\n")
        for mark in marks
        if line.startswith(mark)
    ]
    if not files:
        return _on_path("patch")(arguments)
    parts = [Span(files[0])]
    if len(files) > 1:
        parts.append(Span(f" and {len(files) - 1} more", "muted"))
    return ToolWords("patch", tuple(parts), is_path=True)


def _plan(arguments: Arguments) -> ToolWords | None:
    todos = arguments.get("todos") or arguments.get("items")
    if isinstance(todos, list):
        return ToolWords("plan", (Span(plural(len(todos), "item")),))
    action = _first(arguments, "action", "operation")
    return ToolWords("plan", (Span(action),)) if action else None


def _questions(arguments: Arguments) -> ToolWords | None:
    asked = arguments.get("questions")
    found = [each for each in asked if isinstance(each, dict)] if isinstance(asked, list) else []
    words = [one_line(str(each.get("question") or ""), _LINE_LIMIT) for each in found]
    return ToolWords("ask", (Span(" · ".join(words)),)) if any(words) else None


def _delegate(arguments: Arguments) -> ToolWords | None:
    agent = _first(arguments, "agent", "subagent_type", "agent_name")
    task = _first(arguments, "instruction", "description", "prompt", "task", shown=one_line)
    if not agent and not task:
        return None
    parts = [Span(agent)] if agent else []
    if task:
        parts.append(Span(f" {task}" if agent else task, "muted" if agent else "text"))
    return ToolWords("task", tuple(parts))


_KNOWN: dict[str, Callable[[Arguments], ToolWords | None]] = {
    **dict.fromkeys(("read_file", "read"), _read),
    **dict.fromkeys(("write_file", "write"), _on_path("write")),
    **dict.fromkeys(("edit_file", "edit"), _on_path("edit")),
    "apply_patch": _patch,
    **dict.fromkeys(("list_directory", "list_dir", "ls"), _on_path("list")),
    "!": _says("!", "command"),
    "!!": _says("!!", "command"),
    **dict.fromkeys(("bash", "shell"), _command),
    **dict.fromkeys(("grep", "search"), _search("search")),
    **dict.fromkeys(("glob", "find"), _search("find")),
    "web_fetch": _says("fetch", "url"),
    "web_search": _says("browse", "query"),
    "ask_user": _questions,
    "todo": _plan,
    **dict.fromkeys(("task", "delegate"), _delegate),
}


def _generic(tool: str, arguments: Arguments) -> ToolWords:
    parts: list[Span] = []
    for name, value in list(arguments.items())[:12]:
        shown = value if isinstance(value, str) else _plain(value)
        text = f"{' ' if parts else ''}{one_line(str(name), _VALUE_LIMIT)}="
        parts += [Span(text, "muted"), Span(visible_line(shown, _VALUE_LIMIT))]
    return ToolWords(one_line(tool, _VALUE_LIMIT) or "tool", tuple(parts))


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{len(value)}]"
    if isinstance(value, Mapping):
        return f"{{{len(value)}}}"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value)[: _VALUE_LIMIT * 4]
