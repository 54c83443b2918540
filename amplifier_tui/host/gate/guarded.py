"""Tools behind the gate: undecided calls are not executed, and results have a bound."""

import asyncio
import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final
from uuid import uuid4

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain, plain
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.stand_in import StandIn
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.session.grant import Grant, granted

_MOST_GRANTS: Final = 1_000
CHANGED: Final = "The user changed the arguments of this call before allowing it. It ran with:"
_CALL_ID: Final = "_tool_call_id"
"""An argument some loops add, for the tool to know its call."""

Key = tuple[str, str]
"""A tool's name and the digest of its arguments."""


def arguments_text(arguments: Any) -> str:
    """Return arguments as text that is equal for equal ones."""
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)


def call_key(tool: str, arguments: Any) -> Key:
    """Return what is equal for equal calls."""
    if isinstance(arguments, Mapping) and _CALL_ID in arguments:
        arguments = {key: value for key, value in arguments.items() if key != _CALL_ID}
    # Models write halves of characters, too.
    text = arguments_text(arguments)
    return tool, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class _Granted:
    key: Key
    call_id: str
    grant: Grant


@dataclass(frozen=True, slots=True)
class _Changed:
    keys: tuple[Key, Key]
    """Of the call as it came, and as it was decided about."""
    call_id: str
    arguments: Mapping[str, Any]


class Grants:
    """The calls of one session that may run; each once."""

    def __init__(self) -> None:
        self._granted: list[_Granted] = []
        self._changed: list[_Changed] = []

    def add(self, tool: str, arguments: Any, call_id: str, grant: Grant) -> None:
        """Let one call run."""
        self._granted.append(_Granted(call_key(tool, arguments), call_id, grant))
        del self._granted[:-_MOST_GRANTS]

    def change(self, tool: str, before: Any, call_id: str, arguments: Mapping[str, Any]) -> None:
        """Run a call with the arguments a person gave it, which were decided about."""
        keys = call_key(tool, before), call_key(tool, arguments)
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

    def take(self, tool: str, arguments: Any) -> Grant | None:
        """Return the terms of a call that runs now, once; None when nobody decided about it."""
        key, call_id = call_key(tool, arguments), current_tool_call_id()
        found = [each for each in self._granted if each.key == key]
        if not found:
            return None
        one = next((each for each in found if each.call_id == call_id), found[0])
        self._granted.remove(one)
        return one.grant

    def clear(self) -> None:
        """Forget what was not used."""
        self._granted.clear()
        self._changed.clear()


Refused = Callable[[str, str], None]
"""Told of a tool that somebody tried to run undecided, and of who tried."""
Ran = Callable[[str, Mapping[str, Any]], None]
"""Told of a call that has run, in a thread."""
Execute = Callable[[str, Any, Mapping[str, Any], Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Gets a call that may run: tool name, tool, arguments, and what runs it; returns its result."""
Bound = Callable[[Any], Awaitable[Any]]
"""Makes a result small enough to be looked at."""


async def run_tool(
    name: str, tool: Any, arguments: Mapping[str, Any], run: Callable[[], Awaitable[Any]]
) -> Any:
    """Run a call."""
    return await run()


@dataclass(frozen=True, slots=True)
class Guard:
    """What stands before the tools of one session.

    Attributes:
        grants: The calls that may run.
        refused: Told of the others.
        bound: Makes results small enough.
        default: Who is named when it can't be told who tried.
        ran: Told of the calls that have run.
        execute: Gives the result of a call that may run.
    """

    grants: Grants
    refused: Refused
    bound: Bound
    default: Callable[[], str]
    ran: Ran = lambda *_: None
    execute: Execute = run_tool

    async def run(self, name: str, tool: Any, more: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Execute a tool if this call was decided about."""
        arguments = more[0] if more else named.get("input", named)
        changed = self.grants.take_change(name, arguments)
        if changed is not None:
            own = {key: arguments[key] for key in (_CALL_ID,) if key in arguments}
            arguments = {**changed, **own}
        grant = self.grants.take(name, arguments)
        if grant is None:
            who = _caller() or self.default()
            self.refused(name, who)
            message = (
                f"{name} was not run: {who} called it without a decision about these arguments."
            )
            return ToolResult(
                success=False, output=message, error={"type": "refused", "message": message}
            )
        # Nobody who holds the arguments can change them any more.
        private = copy_plain(arguments)
        if more:
            more = (private, *more[1:])
        elif "input" in named:
            named = {**named, "input": private}
        elif changed is not None:
            named = private
        with granted(grant):
            run = partial(tool.execute, *more, **named)
            result = await self.execute(name, tool, private, run)
        await asyncio.to_thread(self.ran, name, private)
        if changed is not None:
            result = _noted(result, changed)
        return await self.bound(result)


class GuardedTool(StandIn):
    """Stands for a tool; everything but `execute` is the tool's own."""

    __slots__ = ("_guard", "_name")

    def __init__(self, guard: Guard, name: str, tool: Any) -> None:
        super().__init__(tool)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_guard", guard)

    async def execute(self, *more: Any, **named: Any) -> Any:
        """Execute the tool, if the gate decided so about these very arguments."""
        return await self._guard.run(self._name, self._other, more, named)


def _noted(result: Any, arguments: Mapping[str, Any]) -> ToolResult:
    """Return a tool's result with a note of the arguments it ran with, for the model."""
    noted = result if isinstance(result, ToolResult) else _with_output(result, _output(result))
    note = f"{CHANGED} {json.dumps(arguments, ensure_ascii=False, default=str)}"
    output: Any = {"note": note, **noted.output} if isinstance(noted.output, Mapping) else None
    if output is None:
        said = noted.get_serialized_output()
        output = f"{note}\n\n{said}" if said else note
    content = [{"type": "text", "text": note}, *noted.content] if noted.content else None
    return noted.model_copy(update={"output": output, "content": content})


def module_of_code(name: str) -> str:
    """Return the id of the module that a Python module belongs to; empty for the program's own."""
    for start in ("amplifier_tui.modules.", "amplifier_module_"):
        if name.startswith(start):
            return name.removeprefix(start).partition(".")[0].replace("_", "-")
    return ""


def _caller() -> str:
    """Return the module that the code above belongs to; empty when it can't be told."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found = module_of_code(str(frame.f_globals.get("__name__") or ""))
        if found:
            return found
        frame = frame.f_back
    return ""


MOST: Final = 1_000_000
"""Characters of a result; of a longer one both ends are kept."""
_END: Final = 250_000
_PIECE: Final = 65_536


async def bounded(result: Any, folder: Path, redactor: Redactor) -> Any:
    """Return a tool's result as it is, or with its output cut.

    Args:
        result: What the tool returned, of whatever type.
        folder: Where the whole of a long output is written, in a file of its own.
        redactor: Takes the secrets out of that file.
    """
    output = _output(result)
    if _size(output) <= MOST:
        return result
    cut = await asyncio.to_thread(_spilled, output, folder, redactor)
    if isinstance(result, ToolResult):
        return result.model_copy(update={"output": cut})
    return _with_output(result, cut)


def _output(result: Any) -> Any:
    if isinstance(result, Mapping):
        return result.get("output", result)
    return getattr(result, "output", result)


def _with_output(result: Any, output: Any) -> ToolResult:
    """Return a result of whatever type as a `ToolResult` with this output."""
    success = result.get("success") if isinstance(result, Mapping) else None
    success = getattr(result, "success", True) if success is None else success
    return ToolResult(success=bool(success), output=output)


def _size(value: Any) -> int:
    """Return the characters of all texts in a value, or a number beyond `MOST`."""
    total, left = 0, [value]
    while left and total <= MOST:
        item = left.pop()
        if isinstance(item, str | bytes):
            total += len(item)
        elif isinstance(item, Mapping):
            total += len(item)
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            total += len(item)
            left += item
    return total


def _spilled(output: Any, folder: Path, redactor: Redactor) -> str:
    text = output if isinstance(output, str) else json.dumps(plain(output), ensure_ascii=False)
    path = folder / "results" / f"{uuid4().hex}.txt"
    try:
        kept = "".join(_redacted(text, redactor))
        write_atomic(path, kept.encode("utf-8", "replace"), mode=0o600)
        where = f"all of it is in {path}"
    except OSError as error:
        where = f"the rest is lost: {error.strerror or error}"
    left_out = len(text) - 2 * _END
    middle = f"\n[… {left_out:,} characters left out here; {where}]\n"
    return f"{text[:_END]}{middle}{text[-_END:]}"


def _redacted(text: str, redactor: Redactor) -> Iterator[str]:
    """Yield a text without its secrets, piece by piece: other threads run in between."""
    start = 0
    while start < len(text):
        piece = text[start : start + _PIECE]
        more = start + _PIECE < len(text)
        # What may be the beginning of a secret is looked at with what comes after it.
        size = (len(piece) - redactor.unfinished(piece) if more else 0) or len(piece)
        yield redactor.text(piece[:size])
        start += size
