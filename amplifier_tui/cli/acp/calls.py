"""Tool calls as an editor shows them: kind, title, places, changes."""

from collections.abc import Iterable, Mapping, Sequence
from os.path import expanduser, join
from typing import Any, Final

from acp import schema

from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.patches import FileChange, PatchProblem, read_patch
from amplifier_tui.base.text import clean, one_line, reveal, shortened

_KINDS: Final[Mapping[str, schema.ToolKind]] = {
    "read_file": "read",
    "write_file": "edit",
    "edit_file": "edit",
    "apply_patch": "edit",
    "bash": "execute",
    "glob": "search",
    "grep": "search",
    "search_web": "search",
    "web_search": "search",
    "fetch_url": "fetch",
    "web_fetch": "fetch",
    "todo": "think",
}
_PATHS: Final = ("file_path", "path", "notebook_path")
_SHOWN: Final = ("command", *_PATHS, "pattern", "url", "query", "agent", "description")
_MARKS: Final = lazy_pattern(r"[\\`*_{}\[\]<>#!|~&]")
LONGEST: Final = 64 * 1024
"""Characters of a tool's output that an editor is sent."""

Content = (
    schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent
)


def kind_of(tool: str) -> schema.ToolKind:
    """Return what a tool does, in the protocol's words."""
    return _KINDS.get(tool, "other")


def title_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a line for a call: the tool and what it is about."""
    about = next((arguments[name] for name in _SHOWN if isinstance(arguments.get(name), str)), "")
    if tool == "bash" and about:
        return one_line(about, 200)
    return one_line(f"{tool} {about}".rstrip(), 200)


def places_of(tool: str, arguments: Mapping[str, Any], cwd: str) -> list[schema.ToolCallLocation]:
    """Return the files a call names, absolute, and the line of a single one."""
    if tool == "apply_patch":
        return [
            schema.ToolCallLocation(path=whole_path(change.path, cwd))
            for change in _patch(arguments)
        ]
    for name in _PATHS:
        path = arguments.get(name)
        if isinstance(path, str) and path and "\0" not in path:
            line = arguments.get("offset")
            number = line if isinstance(line, int) and line >= 0 else None
            return [schema.ToolCallLocation(path=whole_path(path, cwd), line=number)]
    return []


def change_of(tool: str, arguments: Mapping[str, Any], cwd: str) -> list[Content]:
    """Return what a call is going to write, where its arguments say so."""
    if tool == "apply_patch":
        return [each for change in _patch(arguments) for each in _patched(change, cwd)]
    places = places_of(tool, arguments, cwd)
    old, new = arguments.get("old_string"), arguments.get("new_string")
    if tool == "write_file":
        old, new = None, arguments.get("content")
    if kind_of(tool) != "edit" or not places or not isinstance(new, str):
        return []
    before = old if isinstance(old, str) else None
    return [_edit(places[0].path, before, new)]


def _patch(arguments: Mapping[str, Any]) -> Sequence[FileChange]:
    text = arguments.get("input")
    try:
        return read_patch(text) if isinstance(text, str) else ()
    except PatchProblem:
        # The tool says what is wrong with it.
        return ()


def _patched(change: FileChange, cwd: str) -> list[Content]:
    """Return what a patch does to a file, passage by passage."""
    path = whole_path(change.move_to or change.path, cwd)
    if change.kind == "delete":
        return text_of(f"Deletes {change.path}")
    if change.kind == "add":
        return [_edit(path, None, _joined(change.content))]
    moved = text_of(f"Moves {change.path} to {change.move_to}") if change.move_to else []
    passages = [
        _edit(
            path,
            _joined(hunk.old),
            _joined([text for sign, text in hunk.lines if sign != "-"]),
        )
        for hunk in change.hunks
    ]
    return [*moved, *passages]


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def whole_path(path: str, cwd: str) -> str:
    """Return the path that a call names as editors want it: absolute."""
    return join(cwd, expanduser(path))


def _edit(path: str, old: str | None, new: str) -> schema.FileEditToolCallContent:
    return schema.FileEditToolCallContent(type="diff", path=path, old_text=old, new_text=new)


def text_of(text: str, *, code: bool = False) -> list[Content]:
    """Return text as the content of a call, without control sequences."""
    return _content(shortened(clean(text), LONGEST), code=code)


def whole_of(text: str) -> list[Content]:
    """Return all of a text that a person approves, its control characters written out."""
    # As code: editors draw Markdown, which hides comments, addresses and marks.
    return _content(reveal(text), code=True)


def words_line(text: str) -> str:
    """Return text of others on one line, with nothing in it that Markdown would draw."""
    return _MARKS.sub(r"\\\g<0>", one_line(text))


def code_line(text: str) -> str:
    """Return all of a text that a person approves on one line, as code within a sentence."""
    line = " ".join(reveal(text).split())
    fence = _fence(line, "`")
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def _fence(text: str, fence: str) -> str:
    while fence in text:
        fence += "`"
    return fence


def _content(text: str, *, code: bool) -> list[Content]:
    if not text.strip():
        return []
    if code:
        fence = _fence(text, "```")
        text = f"{fence}\n{text}\n{fence}"
    block = schema.TextContentBlock(type="text", text=text)
    return [schema.ContentToolCallContent(type="content", content=block)]
