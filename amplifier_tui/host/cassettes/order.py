"""What a decision or a stop of a cassette comes after, and when a replay has come there."""

import asyncio
import re
from collections import defaultdict
from contextlib import suppress
from typing import Final

from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedAgent,
    TapedAnswer,
    TapedCall,
    TapedDecision,
    TapedStop,
)

BESIDE: Final = 10.0
"""Seconds a stop waits for what had come to its place before it; today's session may not."""

_RUN_AGAIN: Final = re.compile(r"#\d+$")
"""At the end of the id of a run, where it is not the first one of its call."""


class TapedStops:
    """The stops of a cassette.

    One in stages waits for nobody: each lane ends by itself after its step. One at once breaks off
    what runs in all lanes, so it waits until they are where they were.
    """

    def __init__(self, cassette: Cassette) -> None:
        self._calls: dict[str, TapedCall] = {each.id: each for each in cassette.of(TapedCall)}
        self._agents = {_RUN_AGAIN.sub("", each.id) for each in cassette.of(TapedAgent)}
        self._reached: set[str] = set()
        """Answers that were given or asked for, and calls that ended or came to their stop."""
        self._news = asyncio.Event()
        self._stages: dict[str, set[str]] = {}
        """What a stop in stages comes after, by the last answer before it."""
        for stop in cassette.of(TapedStop):
            calls = self.beside(stop.id)
            answer = stop.id.rpartition(".")[0] if calls else stop.id
            self._stages[answer] = calls or {stop.id}
        self._breaks: dict[str, set[str]] = defaultdict(set)
        """What a stop at once comes after, by what it stops."""
        for each in (*cassette.of(TapedAnswer), *self._calls.values()):
            if self.breaks(each):
                self._breaks[self._run(each.id)] |= {each.id, *self.beside(each.id)}

    def beside(self, name: str) -> set[str]:
        """Return the calls of the same answer as a call that had ended when it was stopped."""
        answer = name.rpartition(".")[0]
        calls = self._calls.values() if name in self._calls else ()
        return {each.id for each in calls if each.ended and each.id.rpartition(".")[0] == answer}

    def breaks(self, row: TapedAnswer | TapedCall) -> bool:
        """Whether something was stopped at once here: in an agent it is told of what that did."""
        return row.interrupted and row.id not in self._agents

    async def due(self, name: str) -> str:
        """Wait until all is where it was when an answer or a call was broken off.

        Returns:
            What is to be stopped: the turn, or the run of an agent.
        """
        run = self._run(name)
        self._reach(name)
        with suppress(TimeoutError):
            async with asyncio.timeout(BESIDE):
                while not self._breaks[run] <= self._reached:
                    self._news.clear()
                    await self._news.wait()
        return run

    def ends_after(self, name: str, answer: str) -> bool:
        """Whether a lane ends now that an answer or one of its calls has come.

        Args:
            answer: The last answer of the lane.
        """
        self._reach(name)
        return answer in self._stages and self._stages[answer] <= self._reached

    def _reach(self, name: str) -> None:
        self._reached.add(name)
        self._news.set()

    def _run(self, name: str) -> str:
        run = name.rpartition("/")[0]
        while run and not self._went_on(run):
            run = run.rpartition("/")[0]
        return run or name.partition(".")[0]

    def _went_on(self, run: str) -> bool:
        """Whether the call of an agent gave something: what called it went on after the stop."""
        call = self._calls.get(_RUN_AGAIN.sub("", run))
        return call is not None and call.result is not None and not call.interrupted


class DecisionOrder:
    """What the decisions of a cassette wait for: a rule decides what waits beside its call."""

    def __init__(self, cassette: Cassette) -> None:
        self._decisions: dict[str, TapedDecision] = {
            each.id: each.decision for each in cassette.of(TapedCall) if each.decision is not None
        }

    def rule_makers(self, call: str) -> set[str]:
        """Return the calls of its turn at which the rule may have been made that decided a call."""
        decision = self._decisions.get(call)
        if decision is None or decision.by != "rule" or decision.scope == "once":
            return set()
        others = self._of_turn(call).items()
        return {name for name, each in others if each.by == "user" and each.scope == decision.scope}

    def before(self, call: str) -> set[str]:
        """Return the calls that the user decided before the decision about this one made a rule."""
        decision = self._decisions.get(call)
        if decision is None or decision.scope == "once":
            return set()
        others = self._of_turn(call).items()
        return {name for name, other in others if 0 < other.order < decision.order}

    def _of_turn(self, call: str) -> dict[str, TapedDecision]:
        turn = call.partition(".")[0]
        decisions = self._decisions.items()
        return {name: each for name, each in decisions if name.partition(".")[0] == turn}
