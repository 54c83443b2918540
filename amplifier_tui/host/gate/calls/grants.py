"""Which calls may run, with which arguments: each once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.correlation import current_tool_call_id

if TYPE_CHECKING:
    from amplifier_tui.kernel.session.grant import Grant

_MOST_GRANTS: Final = 1_000
CALL_ID: Final = "_tool_call_id"
"""An argument some loops add, for the tool to know its call."""

Key = tuple[str, str]
"""A tool's name and the digest of its arguments."""


def arguments_text(arguments: Any) -> str:
    """Return arguments as text that is equal for equal ones."""
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)


def call_key(tool: str, arguments: Any) -> Key:
    """Return what is equal for equal calls."""
    if isinstance(arguments, Mapping) and CALL_ID in arguments:
        arguments = {key: value for key, value in arguments.items() if key != CALL_ID}
    # Models write halves of characters, too.
    text = arguments_text(arguments)
    return tool, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Touched(NamedTuple):
    """What the arguments of a call are about.

    Attributes:
        leads: Where its paths lead.
        replaced: The files it writes over as a whole, each with what changes when the file does.
    """

    leads: frozenset[Path] = frozenset()
    replaced: frozenset[tuple[Path, tuple[int, int] | None]] = frozenset()

    def is_part_of(self, other: Touched) -> bool:
        """Whether its paths lead nowhere else, and what it writes over is still the same."""
        return self.leads <= other.leads and self.replaced <= other.replaced


@dataclass(frozen=True, slots=True)
class Granted:
    """A call that may run.

    Attributes:
        touched: What its arguments were about when it was judged.
    """

    key: Key
    call_id: str
    grant: Grant
    touched: Touched


@dataclass(frozen=True, slots=True)
class _Changed:
    keys: tuple[Key, Key]
    """Of the call as it came, and as it was decided about."""
    call_id: str
    arguments: Mapping[str, Any]


class Grants:
    """The calls of one session that may run; each once."""

    def __init__(self) -> None:
        self._granted: list[Granted] = []
        self._changed: list[_Changed] = []

    def add(
        self,
        tool: str,
        arguments: Any,
        call_id: str,
        grant: Grant,
        touched: Touched | None = None,
    ) -> None:
        """Let one call run, as long as its paths lead where they did."""
        key = call_key(tool, arguments)
        self._granted.append(Granted(key, call_id, grant, touched or Touched()))
        del self._granted[:-_MOST_GRANTS]

    def change(self, tool: str, before: Any, call_id: str, arguments: Mapping[str, Any]) -> None:
        """Run a call with the arguments a person gave it, which were decided about."""
        keys = call_key(tool, before), call_key(tool, arguments)
        if keys[0] == keys[1]:
            # Changed, and back to what it was: the last change is told first.
            self._changed = [each for each in self._changed if each.call_id != call_id]
            return
        self._changed.append(_Changed(keys, call_id, arguments))
        del self._changed[:-_MOST_GRANTS]

    def take_change(self, tool: str, arguments: Any) -> Mapping[str, Any] | None:
        """Return what a person put in place of the arguments of a call that runs now, once.

        A loop may pass those it asked about, or those it was told to run.
        """
        key, call_id = call_key(tool, arguments), current_tool_call_id()
        found = [each for each in self._changed if key in each.keys]
        one = next((each for each in found if call_id in (each.call_id, None)), None)
        if one is None:
            return None
        # A call that was changed more than once has an entry for each time.
        self._changed = [each for each in self._changed if each.call_id != one.call_id]
        return one.arguments

    def take(self, tool: str, arguments: Any) -> Granted | None:
        """Return a call that runs now, once; None when nobody decided about it."""
        key, call_id = call_key(tool, arguments), current_tool_call_id()
        found = [each for each in self._granted if each.key == key]
        if not found:
            return None
        one = next((each for each in found if each.call_id == call_id), found[0])
        self._granted.remove(one)
        return one

    def clear(self) -> None:
        """Forget what was not used."""
        self._granted.clear()
        self._changed.clear()
