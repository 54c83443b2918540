"""The arguments of a call as a text to be changed."""

import json
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, reveal

_PATHS: Final = ("file_path", "path")
_REPLACED, _NEW = "old_string", "new_string"
_SUFFIX: Final = re.compile(r"\.\w{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CallText:
    """All arguments as JSON, or one of them as it is, to be typed plainly.

    Attributes:
        text: What is changed.
        name: The argument that it is; empty for all of them.
        others: The arguments that stay as they are, where it is one.
        suffix: The end of a file's name that holds it.
    """

    text: str
    name: str = ""
    others: tuple[tuple[str, Any], ...] = ()
    suffix: str = ".json"

    @property
    def kept(self) -> str:
        """What stays as it is, in words; empty for nothing."""
        found = ", ".join(f"{name} {_shown(value)}" for name, value in self.others)
        return one_line(f"{self.name} · stays as it is: {found}", 300) if found else ""

    def arguments(self, changed: str) -> str:
        """Return all arguments as JSON, with the changed text in them."""
        if not self.name:
            return changed
        return json.dumps({self.name: changed, **dict(self.others)}, ensure_ascii=False, indent=2)


def call_text(arguments: str, command: str = "") -> CallText:
    """Return the arguments of a call, given as JSON, as the text that is changed.

    That is the command that was asked about, what an edit puts in place of something, or the only
    one of several lines, such as the content of a file.

    Args:
        command: What was asked about, where that is a command line; else empty.
    """
    if reveal(arguments) != arguments:
        # A character that does not show is written as JSON can: what is judged is what is seen.
        return CallText("".join(json.dumps(c)[1:-1] if reveal(c) != c else c for c in arguments))
    given: dict[str, Any] = json.loads(arguments) if arguments else {}
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    names = [
        name for name, value in texts.items() if (value == command if command else "\n" in value)
    ]
    if {_REPLACED, _NEW} <= texts.keys() and not command:
        # What is to be found stays: it has to match what is in the file.
        names = [_NEW]
    name = names[0] if len(names) == 1 else ""
    text = texts.get(name, "")
    if not name or reveal(text) != text:
        return CallText(arguments)
    others = {each: value for each, value in given.items() if each != name}
    return CallText(text, name, tuple(others.items()), ".sh" if command else _suffix(others))


def _suffix(arguments: Mapping[str, Any]) -> str:
    """Return the end of the name of the file that a call is about."""
    path = next((arguments[name] for name in _PATHS if isinstance(arguments.get(name), str)), "")
    suffix = PurePath(path).suffix
    return suffix if _SUFFIX.fullmatch(suffix) else ".txt"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
