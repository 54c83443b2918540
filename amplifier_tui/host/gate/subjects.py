"""What a tool call is about, read from its arguments.

Tools of many makers use the same few argument names; these conventions are read here, and only
here. A tool that follows none of them is shown with its arguments as JSON.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

Kind = Literal["command", "write", "edit", "patch", "read", "network", "other"]

_COMMAND_KEYS: Final = ("command", "cmd", "shell_command", "commandline")
_PATH_KEYS: Final = ("file_path", "path", "filepath", "filename", "target_file", "notebook_path")
_CONTENT_KEYS: Final = ("content", "contents", "file_text", "text", "new_source")
_FOLDER_KEYS: Final = ("cwd", "working_dir", "workdir", "working_directory", "directory")
_PATCH_KEYS: Final = ("patch", "diff", "input")
_SHELL_TOOL = re.compile(r"(?i)bash|shell|terminal|exec|(?:^|[_-])(?:sh|run|cmd|command)(?:$|[_-])")
_READ_TOOL = re.compile(r"(?i)read|view|cat|list|ls|glob|grep|search|find|stat|tree|open")
_PATCH_FILE = re.compile(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: (.+)|\*\*\* Move to: (.+)|"
    r"\+\+\+ (?:b/)?(.+?)(?:\t.*)?)$",
    re.MULTILINE,
)
_OLD: Final = ("old_string", "old_str", "old_text", "oldText", "search")
_NEW: Final = ("new_string", "new_str", "new_text", "newText", "replace")


@dataclass(frozen=True, slots=True)
class TextReplacement:
    """One replacement in a file."""

    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A tool call in terms a person decides by, as written.

    `text` is the command line, the new content of the file, or the patch; `folder` where a command
    runs, empty for the workspace.
    """

    kind: Kind
    tool: str
    arguments: Mapping[str, Any]
    text: str = ""
    paths: tuple[str, ...] = ()
    folder: str = ""
    replacements: tuple[TextReplacement, ...] = ()
    url: str = ""

    @property
    def host(self) -> str:
        """The host a network call goes to; empty when the address is not readable."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            return ""


def read_subject(tool: str, arguments: Mapping[str, Any]) -> Subject:
    """Return what a tool call is about.

    Args:
        tool: The tool's name.
        arguments: Its arguments; anything may be in them.
    """
    paths = paths_in(arguments)
    command = _first_text(arguments, _COMMAND_KEYS)
    if command and (_SHELL_TOOL.search(tool) or not paths):
        folder = _first_text(arguments, _FOLDER_KEYS)
        return Subject("command", tool, arguments, text=command, folder=folder)
    patch = _patch(arguments)
    if patch:
        named = tuple(dict.fromkeys((*paths, *patch_paths(patch))))
        return Subject("patch", tool, arguments, text=patch, paths=named)
    replacements = _replacements(arguments)
    if paths and replacements:
        return Subject("edit", tool, arguments, paths=paths, replacements=replacements)
    content = next((key for key in _CONTENT_KEYS if isinstance(arguments.get(key), str)), None)
    if paths and content is not None:
        return Subject("write", tool, arguments, text=str(arguments[content]), paths=paths)
    url = _first_text(arguments, ("url", "uri"))
    if url:
        return Subject("network", tool, arguments, url=url)
    if paths and _READ_TOOL.search(tool):
        return Subject("read", tool, arguments, paths=paths)
    return Subject("other", tool, arguments, paths=paths)


def paths_in(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files a call names in its usual arguments, as written."""
    found: list[str] = []
    for key in (*_PATH_KEYS, "paths", "files", "old_path", "new_path", "source", "destination"):
        value = arguments.get(key)
        if isinstance(value, str) and value and "\n" not in value and "://" not in value:
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, str) and item]
    return tuple(dict.fromkeys(found))


def changed_paths(subject: Subject) -> tuple[str, ...]:
    """Return the files a call may change, as written: what to look at before and after."""
    return subject.paths if subject.kind not in ("command", "read", "network") else ()


def patch_paths(patch: str) -> tuple[str, ...]:
    """Return the files a patch names."""
    found = [next(name for name in names if name) for names in _PATCH_FILE.findall(patch)]
    return tuple(dict.fromkeys(name.strip() for name in found if name.strip() != "/dev/null"))


def _patch(arguments: Mapping[str, Any]) -> str:
    value = arguments.get("patches")
    if isinstance(value, list):
        texts = [item if isinstance(item, str) else _patch_item(item) for item in value]
        return "\n".join(text for text in texts if text)
    for key in (*_PATCH_KEYS, "patches"):
        text = arguments.get(key)
        if isinstance(text, str) and (
            "*** Begin Patch" in text or "@@" in text or text.startswith("--- ")
        ):
            return text
    return ""


def _patch_item(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    text = _first_text(item, ("patch", "diff", "content"))
    path = _first_text(item, _PATH_KEYS)
    return f"--- {path}\n+++ {path}\n{text}" if text and path and "+++ " not in text else text


def _replacements(arguments: Mapping[str, Any]) -> tuple[TextReplacement, ...]:
    edits = arguments.get("edits")
    items = edits if isinstance(edits, list) else [arguments]
    found = []
    for item in items:
        if not isinstance(item, Mapping):
            continue
        old = next((item[key] for key in _OLD if isinstance(item.get(key), str)), None)
        new = next((item[key] for key in _NEW if isinstance(item.get(key), str)), None)
        if old is not None and new is not None:
            everywhere = item.get("replace_all") is True
            found.append(TextReplacement(old, new, everywhere))
    return tuple(found)


def _first_text(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""
