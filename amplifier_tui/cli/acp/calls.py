"""Tool calls as an editor shows them: kind, title, places, changes."""

from collections.abc import Mapping
from typing import Any, Final

from acp import schema

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


def places_of(arguments: Mapping[str, Any], cwd: str) -> list[schema.ToolCallLocation]:
    """Return the file a call names, absolute, with its line."""
    for name in _PATHS:
        path = arguments.get(name)
        if isinstance(path, str) and path and "\0" not in path:
            line = arguments.get("offset")
            whole = path if path.startswith(("/", "~")) else f"{cwd}/{path}"
            number = line if isinstance(line, int) and line >= 0 else None
            return [schema.ToolCallLocation(path=whole, line=number)]
    return []


def change_of(tool: str, arguments: Mapping[str, Any], cwd: str) -> list[Content]:
    """Return what a call is going to write, where its arguments say so."""
    places = places_of(arguments, cwd)
    old, new = arguments.get("old_string"), arguments.get("new_string")
    if tool == "write_file":
        old, new = None, arguments.get("content")
    if kind_of(tool) != "edit" or not places or not isinstance(new, str):
        return []
    before = old if isinstance(old, str) else None
    return [
        schema.FileEditToolCallContent(
            type="diff", path=places[0].path, old_text=before, new_text=new
        )
    ]


def text_of(text: str, *, code: bool = False) -> list[Content]:
    """Return text as the content of a call, without control sequences."""
    return _content(shortened(clean(text), LONGEST), code=code)


def whole_of(text: str, *, code: bool) -> list[Content]:
    """Return all of a text that a person approves, its control characters written out."""
    return _content(reveal(text), code=code)


def _content(text: str, *, code: bool) -> list[Content]:
    if not text.strip():
        return []
    if code:
        fence = "```"
        while fence in text:
            fence += "`"
        text = f"{fence}\n{text}\n{fence}"
    block = schema.TextContentBlock(type="text", text=text)
    return [schema.ContentToolCallContent(type="content", content=block)]
