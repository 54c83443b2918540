"""A question to the user about a call or of a hook, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import MAIN_LANE, AnsweredBy, ApprovalOutcome, Risk
from amplifier_tui.host.gate.calls.grants import Touched

if TYPE_CHECKING:
    from amplifier_tui.host.gate.approvals.describe import Description
    from amplifier_tui.host.gate.gate import GateDecision

Default = Literal["allow", "deny"]

STOPPED: Final = "the turn was stopped"


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """What the user is asked.

    `prompt` is the asker's own words, `why` what made it ask, `risk` its own opinion; `tool` is
    empty outside of a tool call, `event` is the one at which a hook asks, and empty at the gate.
    After `timeout` seconds (None: never) the asker does `default`.
    `description` is the gate's, which has looked at the rules; `by_person` says that no rule may
    answer and the answer must not be remembered, `pressing` that `why` is no mere word of the mode:
    it stands beside the risk. `schema` is that of the
    tool, where the arguments may be changed. `judge` has the gate decide anew; it gives None where
    the mode is still the same, and `judge_anew` does so whatever the mode is. `began` is
    when its call came, by which those that wait are put in order; a call that was changed keeps its
    place. With `lends` it may be allowed for the session although rules cover it. With `network` a
    yes, and a rule, give it the network that commands of a sandbox do not have. With `leaves` a
    yes takes it out of the sandbox in which others of its mode run.
    """

    asker: str
    prompt: str = ""
    tool: str = ""
    event: str = ""
    call_id: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    options: tuple[str, ...] = ()
    timeout: float | None = None
    default: Default = "deny"
    risk: Risk | None = None
    lane: str = MAIN_LANE
    description: Description | None = None
    by_person: bool = False
    pressing: bool = False
    schema: Mapping[str, Any] | None = None
    judge: Callable[[], GateDecision | None] | None = None
    judge_anew: Callable[[], GateDecision] | None = None
    began: float = field(default_factory=perf_counter)
    lends: str = ""
    network: bool = False
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """What came of a question.

    `reason` is the user's words, or why it was not answered; `default` what the asker should do
    after a timeout: never `allow` for what is risky; with the outcome
    `changed`, `arguments` are judged anew in place of the call's. `touched` is what the
    arguments that were shown were about then; `lasting` says that it counts for more than this
    call.
    """

    outcome: ApprovalOutcome
    by: AnsweredBy = "user"
    reason: str = ""
    default: Default = "deny"
    arguments: Mapping[str, Any] | None = None
    touched: Touched = Touched()
    lasting: bool = False

    @property
    def by_default(self) -> bool:
        """Whether nobody answered in time, and it goes through as the default says."""
        return self.outcome == "timed_out" and self.default == "allow"
