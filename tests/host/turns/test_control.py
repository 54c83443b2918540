"""The order of prompts and the reach of a stop, without modules: only the control itself."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from amplifier_tui.host.events import (
    CancelRequested,
    Failed,
    HostEvent,
    QueueChanged,
    TurnEnded,
    TurnStarted,
    Usage,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.control import TurnControl
from amplifier_tui.host.turns.prompts import Prompt
from amplifier_tui.host.turns.running import TurnParts
from amplifier_tui.kernel.cancellation import CancellationToken
from amplifier_tui.kernel.hooks import HookRegistry
from tests.waiting import within


class Session:
    """A session whose prompts run until they are let go."""

    def __init__(self, folder: Path) -> None:
        store = SessionStore(folder, Redactor({}), lambda _: None)
        self.events: list[HostEvent] = []
        self.token = CancellationToken()
        self.gates: dict[str, asyncio.Event] = {}
        self.over = asyncio.Event()
        self.control = TurnControl(
            TurnParts(
                hooks=HookRegistry(),
                token=self.token,
                sender=Sender(self.events.append, store),
                execute=self.execute,
                begins=lambda number, prompt: None,
                settle=nothing,
                failure=lambda error, prompt: Failed(session_id="s", kind="x", message=str(error)),
                withdraw=lambda: None,
                untouched=lambda: False,
                status=lambda: None,
                declined=lambda: False,
                denied=str,
                usage=Usage,
                with_output=str,
                over=self._over,
            )
        )

    async def execute(self, prompt: Prompt) -> str:
        gate = self.gates.setdefault(prompt.text, asyncio.Event())
        await gate.wait()
        return "done"

    async def _over(self, number: int, outcome: object) -> None:
        self.over.set()

    def let_go(self, prompt: str) -> None:
        self.gates.setdefault(prompt, asyncio.Event()).set()

    @property
    def started(self) -> list[str]:
        return [e.prompt for e in self.events if isinstance(e, TurnStarted)]

    @property
    def ended(self) -> list[tuple[int, str]]:
        return [(e.turn, e.status) for e in self.events if isinstance(e, TurnEnded)]

    async def finish(self, turns: int) -> None:
        """Let each turn end once it runs."""
        for number in range(len(self.ended), turns):
            await self.until(partial(self._has_begun, number))
            self.let_go(self.started[-1])
        await self.until(lambda: len(self.ended) == turns)

    def _has_begun(self, number: int) -> bool:
        return len(self.started) > number

    async def until(self, holds: Callable[[], bool]) -> None:
        async with within(20):
            while not holds():
                await asyncio.sleep(0)


def nothing(outcome: object) -> Awaitable[None]:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


@pytest.fixture
async def session(tmp_path: Path) -> Session:
    return Session(tmp_path / "s")


async def stop_while_others_wait(session: Session) -> None:
    """The first prompt runs, two wait, the first is stopped."""
    for prompt in ("running", "waiting 1", "waiting 2"):
        session.control.submit(Prompt(prompt))
    await session.until(lambda: "running" in session.gates)
    session.control.interrupt(immediate=True)


async def test_prompts_sent_after_a_stop_come_first_and_in_their_order(session: Session) -> None:
    await stop_while_others_wait(session)
    session.control.submit(Prompt("new 1"))
    session.control.submit(Prompt("new 2"))
    changed = [e for e in session.events if isinstance(e, QueueChanged)][-1]
    assert changed.items == ("new 1", "new 2", "waiting 1", "waiting 2")
    await session.finish(5)
    assert session.started == ["running", "new 1", "new 2", "waiting 1", "waiting 2"]


async def test_prompts_that_waited_before_a_stop_keep_waiting(session: Session) -> None:
    await stop_while_others_wait(session)
    await session.until(lambda: session.ended == [(1, "cancelled")])
    assert session.started == ["running"] and not session.control.running
    session.control.submit(Prompt("go on"))
    assert session.started == ["running", "go on"]
    await session.finish(4)
    assert session.started[2:] == ["waiting 1", "waiting 2"]


async def test_a_steering_message_after_a_stop_is_a_prompt_behind_the_others(
    session: Session,
) -> None:
    await stop_while_others_wait(session)
    session.control.submit(Prompt("new"))
    session.control.steer("and this")
    changed = [e for e in session.events if isinstance(e, QueueChanged)][-1]
    assert changed.items[:2] == ("new", "and this")


async def test_steering_that_came_too_late_runs_before_what_was_queued(session: Session) -> None:
    session.control.submit(Prompt("first"))
    session.control.submit(Prompt("queued"))
    session.control.steer("late 1")
    session.control.steer("late 2")
    await session.finish(4)
    assert session.started == ["first", "late 1", "late 2", "queued"]


async def test_a_stop_of_a_turn_that_has_ended_says_nothing_and_leaves_the_next_one_alone(
    session: Session,
) -> None:
    session.control.submit(Prompt("one"))
    stale = session.control.handle
    assert stale is not None
    session.let_go("one")
    await session.until(lambda: len(session.ended) == 1)
    session.control.submit(Prompt("two"))
    before = len(session.events)
    stale.ask(immediate=True)
    assert not session.token.is_cancelled
    assert not stale.report_blocked(list)
    assert len(session.events) == before
    session.let_go("two")
    await session.until(lambda: len(session.ended) == 2)
    assert session.ended == [(1, "success"), (2, "success")]


async def test_a_stop_reaches_the_turn_it_was_meant_for(session: Session) -> None:
    session.control.submit(Prompt("one"))
    handle = session.control.handle
    assert handle is not None
    handle.ask(immediate=True)
    assert session.token.is_immediate
    assert [e.immediate for e in session.events if isinstance(e, CancelRequested)] == [True]
    session.control.interrupt(immediate=True, told=True)
    await session.until(lambda: session.ended == [(1, "cancelled")])
    assert len([e for e in session.events if isinstance(e, CancelRequested)]) == 1


async def test_the_next_turn_begins_without_the_stop_of_the_one_before(session: Session) -> None:
    session.control.submit(Prompt("one"))
    session.control.interrupt(immediate=True)
    session.control.submit(Prompt("two"))
    await session.until(lambda: session.started == ["one", "two"])
    assert not session.token.is_cancelled
    session.let_go("two")
    await session.until(lambda: session.ended == [(1, "cancelled"), (2, "success")])


async def test_a_blocked_engine_ends_the_turn_once(session: Session) -> None:
    session.control.submit(Prompt("one"))
    handle = session.control.handle
    assert handle is not None
    handle.ask(immediate=True)
    assert handle.report_blocked(list)
    assert not handle.report_blocked(list), "said already"
    session.control.interrupt(immediate=True, told=True)
    await session.until(session.over.is_set)
    await session.until(lambda: not session.control.running)
    assert session.ended == [(1, "cancelled")]
    assert [e.kind for e in session.events if isinstance(e, Failed)] == ["blocked"]
