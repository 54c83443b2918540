"""A question that waits for its answer: what it covers, and its clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import ApprovalRequested, Scope
from amplifier_tui.host.gate.approvals.question import ApprovalAnswer, ApprovalQuestion

if TYPE_CHECKING:
    from amplifier_tui.host.gate.risk import Judgement
    from amplifier_tui.host.gate.rules.book import RuleBook
    from amplifier_tui.host.gate.rules.matching import Part
    from amplifier_tui.host.gate.rules.text import Rule

# A hook with a clock of its own cancels the question a moment before or after ours runs out.
_CLOCK_SLACK: Final = 0.1


@dataclass(slots=True)
class PendingApproval:
    """A request the user has not answered.

    `parts` are what rules are matched against, `rules` those that remembering a grant would keep.
    """

    question: ApprovalQuestion
    request: ApprovalRequested
    parts: tuple[Part, ...]
    judgement: Judgement
    rules: tuple[Rule, ...]
    answer: asyncio.Future[ApprovalAnswer]
    _deadline: float | None = None
    _clock: asyncio.TimerHandle | None = None

    def start_clock(self, expire: Callable[[str], None]) -> None:
        """Have `expire` called with the request's id when its time is over, if it has one."""
        seconds = self.question.timeout
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.time() + seconds
            self._clock = loop.call_later(seconds, expire, self.request.request_id)

    def stop_clock(self) -> None:
        """Let it wait for as long as it takes."""
        if self._clock is not None:
            self._clock.cancel()
            self._clock = self._deadline = None

    @property
    def is_late(self) -> bool:
        """Whether its time is all but over."""
        now = asyncio.get_running_loop().time()
        return self._deadline is not None and now >= self._deadline - _CLOCK_SLACK

    def rules_to_keep(self, allow: bool, scope: Scope, book: RuleBook) -> tuple[Rule, ...]:
        """Return the rules that remembering an answer adds."""
        from amplifier_tui.host.gate.rules.book import propose

        rules = self.rules if allow else propose(self.parts, book, "deny")
        return tuple(replace(rule, scope=scope) for rule in rules)
