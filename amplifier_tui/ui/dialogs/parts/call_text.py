"""The arguments of a call as a text to be changed."""

import json
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, reveal


@dataclass(frozen=True, slots=True)
class CallText:
    """All arguments as JSON, or the one of them that was asked about as it is, to be typed plainly.

    Attributes:
        text: What is changed.
        name: The argument that it is; empty for all of them.
        others: The arguments that stay as they are, where it is one.
    """

    text: str
    name: str = ""
    others: tuple[tuple[str, Any], ...] = ()

    @property
    def suffix(self) -> str:
        """The end of a file's name that holds it."""
        return ".sh" if self.name else ".json"

    @property
    def kept(self) -> str:
        """What stays as it is, in words; empty for nothing."""
        found = ", ".join(f"{name} {_shown(value)}" for name, value in self.others)
        return f"stays as it is: {one_line(found, 300)}" if found else ""

    def arguments(self, changed: str) -> str:
        """Return all arguments as JSON, with the changed text in them."""
        if not self.name:
            return changed
        return json.dumps({self.name: changed, **dict(self.others)}, ensure_ascii=False, indent=2)


def call_text(arguments: str, command: str) -> CallText:
    """Return the arguments of a call, given as JSON, as the text that is changed.

    Args:
        command: What was asked about, where that is a command line; else empty.
    """
    if reveal(arguments) != arguments:
        # A character that does not show is written as JSON can: what is judged is what is seen.
        return CallText("".join(json.dumps(c)[1:-1] if reveal(c) != c else c for c in arguments))
    plain = bool(command) and reveal(command) == command
    given: dict[str, Any] = json.loads(arguments) if plain and arguments else {}
    names = [name for name, value in given.items() if value == command]
    if len(names) != 1:
        return CallText(arguments)
    others = tuple((name, value) for name, value in given.items() if name != names[0])
    return CallText(command, names[0], others)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
