"""What a tool call is about, as its arguments say: a command, files, an address.

Tools of many makers use the same few argument names; these conventions are read here, and only
here. What a tool makes of an argument nobody knows: a call that has more of them than what it is
about, or that says it twice, is unclear, and is judged by all of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from amplifier_tui.base.capabilities.mcp import TOOL_PREFIX
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import (
    BACKGROUND_KEYS,
    FOLDER_KEYS,
    first_text,
    in_background,
)
from amplifier_tui.base.patches import patched_paths
from amplifier_tui.base.tool_names import COMMAND_TOOLS, READ_TOOLS, WEB_TOOLS, WRITE_TOOLS
from amplifier_tui.host.gate.edits import TextReplacement

Kind = Literal["command", "write", "edit", "patch", "read", "network", "other"]

_COMMAND_KEYS: Final = ("command", "cmd", "shell_command", "commandline")
_PATH_KEYS: Final = ("file_path", "path", "filepath", "filename", "target_file", "notebook_path")
_MORE_PATH_KEYS: Final = ("paths", "files", "old_path", "new_path", "source", "destination")
_CONTENT_KEYS: Final = ("content", "contents", "file_text", "text", "new_source")
_PATCH_KEYS: Final = ("patch", "diff", "input")
_URL_KEYS: Final = ("url", "uri")
_EXPRESSION_KEYS: Final = ("query", "regex", "regexp")
_SHELL_TOOL = re.compile(r"(?i)bash|shell|terminal|exec|(?:^|[_-])(?:sh|run|cmd|command)(?:$|[_-])")
_READ_TOOL = re.compile(
    # The first word of `read_file` and `listFiles`, where no other one says that more is done.
    r"(?!.*(?i:delet|remov|writ|edit|replac|updat|mov|renam|creat|sav|set|put|send|post|run|exec))"
    r"(?i:read|view|cat|list|ls|glob|grep|search|find|stat|tree)(?![a-z])"
)
_OLD: Final = ("old_string", "old_str", "old_text", "oldText", "search")
_NEW: Final = ("new_string", "new_str", "new_text", "newText", "replace")
_NO_COMMANDS: Final = READ_TOOLS | WRITE_TOOLS | WEB_TOOLS
_OF_COMMANDS: Final = frozenset(
    {*_COMMAND_KEYS, *FOLDER_KEYS, *BACKGROUND_KEYS, "timeout", "timeout_ms", "timeout_seconds"}
    | {"description", "explanation", "persist", "terminal", "outside_sandbox"}
)
"""Arguments that change nothing about what a command does, beside those that say where it runs."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A tool call in terms a person decides by, as written.

    `text` is the command line, the new content of the file, or the patch; `folder` where a command
    runs, empty for the workspace. `unclear` says that another argument may be what counts.
    """

    kind: Kind
    tool: str
    arguments: Mapping[str, Any]
    text: str = ""
    paths: tuple[str, ...] = ()
    folder: str = ""
    replacements: tuple[TextReplacement, ...] = ()
    url: str = ""
    unclear: bool = False

    @property
    def in_background(self) -> bool:
        """Whether a command is to go on after the call has returned."""
        return in_background(self.arguments)

    @property
    def host(self) -> str:
        """The host a network call goes to, as it is usually written.

        Empty when the address is not readable.
        """
        try:
            host = (urlsplit(self.url).hostname or "").removesuffix(".")
        except ValueError:
            return ""
        try:
            address = ip_address(host)
        except ValueError:
            return host
        # One address has many spellings; rules know one.
        return str(getattr(address, "ipv4_mapped", None) or address)


def read_subject(tool: str, arguments: Mapping[str, Any]) -> Subject:
    """Return what a tool call is about; anything may be in its arguments."""
    paths = paths_in(arguments)
    if tool.startswith(TOOL_PREFIX):
        # What a stranger's server does with arguments of usual names, nobody knows.
        return Subject("other", tool, arguments, paths=paths)
    commands = _texts(arguments, _COMMAND_KEYS)
    if commands and _runs(tool, paths):
        folders = _texts(arguments, FOLDER_KEYS)
        unclear = len(commands) > 1 or len(folders) > 1 or not arguments.keys() <= _OF_COMMANDS
        return Subject(
            *("command", tool, arguments),
            text="\n".join(commands),
            folder=folders[0] if folders else "",
            unclear=unclear,
        )
    patches = tuple(_patches(arguments))
    replacements = _replacements(arguments)
    contents = _texts(arguments, _CONTENT_KEYS, blank=True)
    urls = _texts(arguments, _URL_KEYS)
    twice = len(patches) > 1 or len(contents) > 1 or len(urls) > 1 or _is_said_twice(arguments)
    # Which of them a tool goes by, nobody knows: a diff of one would be of what is not written.
    twice = twice or bool(patches) + bool(replacements) + bool(contents) > 1
    more = tool in _NO_COMMANDS and (bool(commands) or _has_odd_path(arguments))
    unclear = twice or more
    if patches:
        patch = "\n".join(patches)
        named = tuple(dict.fromkeys((*paths, *patched_paths(patch))))
        return Subject("patch", tool, arguments, text=patch, paths=named, unclear=unclear)
    unclear = unclear or len(paths) > 1
    if paths and replacements:
        return Subject(
            "edit", tool, arguments, paths=paths, replacements=replacements, unclear=unclear
        )
    if paths and contents:
        return Subject("write", tool, arguments, text=contents[0], paths=paths, unclear=unclear)
    if urls:
        return Subject("network", tool, arguments, url=urls[0], unclear=unclear)
    if tool in READ_TOOLS:
        paths = (*paths, *_leading_out(tool, arguments))
        return Subject("read", tool, arguments, paths=paths, unclear=more)
    if paths and _READ_TOOL.match(tool):
        return Subject("read", tool, arguments, paths=paths)
    return Subject("other", tool, arguments, paths=paths, unclear=unclear)


def paths_in(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files a call names in its usual arguments, as written."""
    found: list[str] = []
    for key in (*_PATH_KEYS, *_MORE_PATH_KEYS):
        value = arguments.get(key)
        if isinstance(value, str) and value and "\n" not in value and "://" not in value:
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, str) and item]
    return tuple(dict.fromkeys(found))


def _has_odd_path(arguments: Mapping[str, Any]) -> bool:
    """Whether a tool may find another file by a path than the one that is written: many strip."""
    values = [arguments.get(key) for key in (*_PATH_KEYS, *_MORE_PATH_KEYS)]
    texts = [each for value in values for each in (value if isinstance(value, list) else (value,))]
    return any(
        text is not None
        and (
            not isinstance(text, str)
            or text != text.strip()
            or any(odd in text for odd in ("://", "\0", "\n"))
        )
        for text in texts
    )


def changed_paths(subject: Subject) -> tuple[str, ...]:
    """Return the files a call may change, as written: what to look at before and after."""
    return subject.paths if subject.kind not in ("command", "read", "network") else ()


def _runs(tool: str, paths: tuple[str, ...]) -> bool:
    """Whether what looks like a command is one."""
    if tool in _NO_COMMANDS:
        return False
    return tool in COMMAND_TOOLS or _SHELL_TOOL.search(tool) is not None or not paths


def _texts(
    arguments: Mapping[str, Any], keys: Sequence[str], *, blank: bool = False
) -> tuple[str, ...]:
    """Return the different texts of some arguments, in this order."""
    values = map(arguments.get, keys)
    texts = [value for value in values if isinstance(value, str) and (blank or value.strip())]
    return tuple(dict.fromkeys(texts))


def _leading_out(tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield what may lead out of the workspace, whatever a tool that reads calls its arguments."""
    for key, value in arguments.items():
        # An expression to search for is no path.
        expression = key in _EXPRESSION_KEYS or (tool == "grep" and key == "pattern")
        if expression or key in (*_PATH_KEYS, *_MORE_PATH_KEYS):
            continue
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and (text.startswith(("/", "~")) or ".." in text):
                yield text


def _patches(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the different patches in a call."""
    value = arguments.get("patches")
    texts = [arguments.get(key) for key in (*_PATCH_KEYS, "patches")]
    found = [
        text
        for text in texts
        if isinstance(text, str)
        and ("*** Begin Patch" in text or "@@" in text or text.startswith("--- "))
    ]
    if isinstance(value, list):
        items = [item if isinstance(item, str) else _patch_item(item) for item in value]
        found += ["\n".join(text for text in items if text)]
    yield from dict.fromkeys(text for text in found if text)


def _patch_item(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    text = first_text(item, ("patch", "diff", "content"))
    path = first_text(item, _PATH_KEYS)
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
            everywhere = str(item.get("replace_all")).strip().lower() == "true"
            found.append(TextReplacement(old, new, everywhere))
    return tuple(found)


def _is_said_twice(arguments: Mapping[str, Any]) -> bool:
    """Whether a call says in two ways what is to be replaced, and by what."""
    edits = arguments.get("edits")
    if not isinstance(edits, list):
        return _has_two(arguments)
    whole = all(_texts(arguments, keys, blank=True) for keys in (_OLD, _NEW))
    return whole or any(isinstance(item, Mapping) and _has_two(item) for item in edits)


def _has_two(item: Mapping[str, Any]) -> bool:
    return any(len(_texts(item, keys, blank=True)) > 1 for keys in (_OLD, _NEW))
