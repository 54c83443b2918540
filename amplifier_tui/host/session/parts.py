"""What a session is made of."""

from collections.abc import Container
from dataclasses import field
from pathlib import Path
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.gate.approvals.question import STOPPED
from amplifier_tui.host.models.limits import SpendGuard
from amplifier_tui.host.models.routing import ModelRoute
from amplifier_tui.host.questions import UserQuestions
from amplifier_tui.host.requests import SessionPlayback
from amplifier_tui.host.session.budget import Parts
from amplifier_tui.host.session.gating import Gating
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.session.modules.sources import ModuleSources
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.agents import RunningAgents
from amplifier_tui.kernel.session.grant import SandboxTerms


@dataclass(slots=True)
class SessionParts:
    """What a session is made of before it runs.

    Attributes:
        bundle: Its bundle, as it is shown.
        reference: The bundle, as it is opened again.
        of_project: Its bundle is the project's, in place of another of that name.
        gone: The bundle that what is resumed was held with, where that is not there any more.
        workspace: Its working directory, absolute.
        sandbox: How its commands are confined.
        sources: Where its modules come from.
        route: Which model answers.
        prompt_parts: Gives the parts of the system prompt.
        agents: Its sub-agents that work.
        questions: What its agents ask the user.
        spending: Asks before more is used than it may.
        playback: What stands in for its providers and tools; None for nothing.
    """

    bundle: str
    reference: str
    plan: dict[str, Any]
    workspace: Path
    sender: Sender
    gating: Gating
    facts: ModuleFacts
    normalizer: Normalizer
    sources: ModuleSources
    of_project: bool = False
    gone: str = ""
    sandbox: SandboxTerms = field(default_factory=SandboxTerms)
    route: ModelRoute = field(default_factory=ModelRoute)
    prompt_parts: Parts | None = None
    playback: SessionPlayback | None = None
    agents: RunningAgents = field(init=False)
    questions: UserQuestions = field(init=False)
    spending: SpendGuard = field(init=False)

    def __post_init__(self) -> None:
        self.agents = RunningAgents(self.sender, self.withdraw)
        self.questions = UserQuestions(self.sender)
        self.spending = SpendGuard(self.sender, self.normalizer.usage)
        self.route.around = self.spending.spending
        self.route.requests = self.normalizer.requests
        self.route.responses = self.normalizer.responses
        self.route.returned = self.normalizer.count_response
        self.normalizer.asked = self.route.asked

    def withdraw(self, reason: str = STOPPED, lanes: Container[str] | None = None) -> None:
        """Take back what the user is asked, by all lanes or some: who asks is being stopped."""
        self.gating.approvals.cancel_all(reason, lanes)
        self.questions.withdraw(reason, lanes)
        self.spending.withdraw(lanes)
