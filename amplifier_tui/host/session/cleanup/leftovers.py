"""Processes that an earlier, killed run of the program left behind: the user may end them."""

import asyncio
from typing import Final

from amplifier_tui.base.watcher import Leftover, end_leftovers, leftovers
from amplifier_tui.host.gate.approvals.question import ApprovalQuestion
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue

_MOST_NAMED: Final = 8
_asked: set[int] = set()
_asking: set[asyncio.Task[None]] = set()


def offer_to_end_leftovers(approvals: ApprovalQueue) -> None:
    """Ask soon, once about each of them and all in one question; nothing waits for the answer."""
    task = asyncio.create_task(_offer(approvals))
    _asking.add(task)
    task.add_done_callback(_asking.discard)


async def _offer(approvals: ApprovalQueue) -> None:
    # A program with another home belongs to another run of it.
    found = await asyncio.to_thread(leftovers, ("AMPLIFIER_HOME", "HOME"))
    found = [process for process in found if process.pid not in _asked]
    if not found:
        return
    _asked.update(process.pid for process in found)
    answer = await approvals.ask(ApprovalQuestion(asker="amplifier-tui", prompt=_words(found)))
    if answer.outcome == "allowed":
        await asyncio.to_thread(end_leftovers, found)


def _words(found: list[Leftover]) -> str:
    lines = [f"{process.pid}  {process.command[:120]}" for process in found[:_MOST_NAMED]]
    if len(found) > _MOST_NAMED:
        lines.append(f"… and {len(found) - _MOST_NAMED} more")
    what = "A process" if len(found) == 1 else f"{len(found)} processes"
    verb = "runs" if len(found) == 1 else "run"
    them = "it" if len(found) == 1 else "them"
    return "\n".join(
        (f"{what} of an earlier session, which was killed, still {verb}. End {them}?", *lines)
    )
