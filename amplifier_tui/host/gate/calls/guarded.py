"""Tools behind the gate: undecided calls are not executed."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from amplifier_tui.base.commands.beside import beside_confined, named_in
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.python import without_exit
from amplifier_tui.base.tool_names import AGENT_TOOLS, WRITE_TOOLS
from amplifier_tui.host.gate.calls.grants import CALL_ID, Granted, Grants, Touched
from amplifier_tui.host.gate.calls.result_limit import output_of, with_output
from amplifier_tui.host.gate.calls.wrong_answers import raised, wrong_answer
from amplifier_tui.host.stand_in import StandIn
from amplifier_tui.kernel.correlation import current_tool_call_id, tool_call
from amplifier_tui.kernel.models import ToolResult, interrupted_result, interrupted_with
from amplifier_tui.kernel.mounting.errors import place_of_error
from amplifier_tui.kernel.session.grant import granted

CHANGED: Final = "The user changed the arguments of this call before allowing it. It ran with:"


Refused = Callable[[str, str], None]
"""Told of a tool that somebody tried to run undecided, and of who tried."""
Wrong = Callable[[str, str, str], None]
"""Told of a tool or hook that is wrong, of what is wrong, and by what that is known again."""
Ran = Callable[[str, Mapping[str, Any]], None]
"""Told of a call that has run, in a thread."""
Look = Callable[[str, Mapping[str, Any]], Touched]
"""Returns what a call's arguments are about now; looks at the files."""
Execute = Callable[[str, Any, Mapping[str, Any], Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Gets a call that may run: tool name, tool, arguments, and what runs it; returns its result."""
Bound = Callable[[Any], Awaitable[Any]]
"""Makes a result small enough to be looked at."""


def _nothing(name: str, arguments: Mapping[str, Any]) -> Touched:
    return Touched()


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
        look: Says what the arguments of a call are about now.
        wrong: Told of a tool that raises, or answers with no proper result, and of what is wrong.
    """

    grants: Grants
    refused: Refused
    bound: Bound
    default: Callable[[], str]
    ran: Ran = lambda *_: None
    execute: Execute = run_tool
    look: Look = _nothing
    wrong: Wrong = lambda *_: None

    async def run(self, name: str, tool: Any, more: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Execute a tool if this call was decided about."""
        arguments = more[0] if more else named.get("input", named)
        changed = self.grants.take_change(name, arguments)
        if changed is not None:
            own = {key: arguments[key] for key in (CALL_ID,) if key in arguments}
            arguments = {**changed, **own}
        taken = self.grants.take(name, arguments)
        if taken is None:
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
        # A link may have been put there, or turned, while somebody thought about it.
        problem = _moved(taken, await asyncio.to_thread(self.look, name, private))
        if problem:
            message = f"{name} was not run: {problem}, then call anew."
            return ToolResult(
                success=False, output=message, error={"type": "moved", "message": message}
            )
        if more:
            more = (private, *more[1:])
        elif "input" in named:
            named = {**named, "input": private}
        elif changed is not None:
            named = private
        # Published loops say it in events only: below a call of an agent that one's would be known.
        call_id = taken.call_id or current_tool_call_id()
        grant = replace(taken.grant, leads=taken.touched.leads)
        with granted(grant), tool_call(call_id) if call_id else nullcontext():
            run = partial(tool.execute, *more, **named)
            beside = _beside(name, taken, private)
            line = str(private.get("command", "")) if taken.grant.by == "person" else ""
            try:
                async with nullcontext() if beside is None else beside_confined(beside, line):
                    with without_exit():
                        result = await self.execute(name, tool, private, run)
            except asyncio.CancelledError as stopped:
                part = interrupted_result(stopped)
                if part is None:
                    raise
                raise interrupted_with(await self._told(part, changed)) from stopped
            except Exception as error:
                if place := place_of_error(error):
                    self.wrong(name, raised(name, error, place), place)
                raise
        if problem := wrong_answer(name, tool, result):
            self.wrong(name, problem, problem)
        await asyncio.to_thread(self.ran, name, private)
        return await self._told(result, changed)

    async def _told(self, result: Any, changed: Mapping[str, Any] | None) -> Any:
        """Return a result as whoever called may have it."""
        return await self.bound(result if changed is None else _noted(result, changed))


def _beside(
    name: str, taken: Granted, arguments: Mapping[str, Any]
) -> Callable[[Path], bool] | None:
    """Return what says whether a call may be what makes a file; None for a call that makes none.

    What a rule lets a command do is done in the sandbox; an agent's calls are granted one by one.
    """
    leads = taken.touched.leads
    if taken.grant.by == "person" and name not in AGENT_TOOLS:
        named = named_in(json.dumps(arguments, ensure_ascii=False, default=str))
        return lambda place: place in leads or named(place)
    return leads.__contains__ if name in WRITE_TOOLS else None


def _moved(taken: Granted, now: Touched) -> str:
    """Return why a call is not the one that was decided about any more; empty where it is."""
    before = taken.touched
    if moved := now.leads - before.leads:
        return (
            f"a path of this call now leads to {min(moved)}, which is not where it led when the "
            "call was decided about. Look where it leads"
        )
    if taken.grant.by == "person" and (changed := dict(now.replaced - before.replaced)):
        return (
            f"{min(changed)} was changed while the user was asked, who was shown what it held "
            "before. Read it"
        )
    return ""


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
    noted = result if isinstance(result, ToolResult) else with_output(result, output_of(result))
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
            module = name.removeprefix(start).partition(".")[0]
            # What several modules share is of none of them.
            return "" if module.startswith("_") else module.replace("_", "-")
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
