"""The prompts of a run without a screen: one, or as many as another program writes."""

from typing import TYPE_CHECKING, Final

from amplifier_tui.cli.run.speaking import Speaker
from amplifier_tui.host.client import Decision, QuestionAnswer, QuestionsReply, SessionClient
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    Failed,
    HostEvent,
    LimitAsked,
    LimitResolved,
    PlanProposed,
    QuestionsAsked,
    QuestionsResolved,
    QueueChanged,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    from amplifier_tui.cli.run.lines import InputLines, Line

Asked = ApprovalRequested | QuestionsAsked | LimitAsked
_ANSWERED: Final[dict[str, type[Asked]]] = {
    "decide": ApprovalRequested,
    "answer": QuestionsAsked,
    "limit": LimitAsked,
}
"""What a line of a type answers."""


class RunConversation:
    """Sends prompts one after the other, and hands on what the writer of the lines decides.

    Args:
        prompt: The first prompt; empty for none.
        typed: As in `SessionClient.submit`, for that.
        lines: What another program writes; None where nobody does.
    """

    def __init__(
        self,
        client: SessionClient,
        speaker: Speaker,
        prompt: str,
        lines: "InputLines | None",
        typed: str | None = None,
    ) -> None:
        self._client = client
        self._speaker = speaker
        self._prompt, self._typed = prompt, typed
        self._lines = lines
        self._asked: dict[str, Asked] = {}
        self._sent = 0
        """Prompts that were sent and have not begun."""
        self._waiting = self._planned = False
        self.is_begun = False
        """The session is ready."""
        self.running = False
        """A turn runs."""

    @property
    def has_writer(self) -> bool:
        """Whether another program may still write lines."""
        return self._lines is not None and not self._lines.ended

    @property
    def is_over(self) -> bool:
        """Whether nothing runs and nothing is left to send."""
        busy = self.running or self._sent > 0 or self._waiting
        return self.is_begun and not busy and not self.has_writer

    def begin(self) -> None:
        """Send the first prompt: the session is ready."""
        self.is_begun = True
        if self._prompt:
            self._send(self._prompt, typed=self._typed)

    def obey(self) -> None:
        """Do what was written since the last time, once the session is ready."""
        if self._lines is not None and self.is_begun:
            from amplifier_tui.cli.run.lines import RefusedLine

            for number, line in self._lines.take():
                if line.type == "InputRefused":
                    self._speaker.row(line.model_dump())
                elif problem := self._problem(line):
                    refused = RefusedLine(line=number, message=problem)
                    self._speaker.row(refused.model_dump())
                else:
                    self._do(line)

    def _problem(self, line: "Line") -> str:
        """Return what is wrong with an answer, or that no question waits for it; else nothing."""
        if line.type not in ("decide", "answer", "limit"):
            return ""
        kind = _ANSWERED[line.type]
        if isinstance(asked := self._asked.get(line.request_id), kind):
            from amplifier_tui.cli.run.lines import mismatch

            return mismatch(line, asked)
        waiting = [name for name, asked in self._asked.items() if isinstance(asked, kind)]
        return f"request_id: {line.request_id} is none that waits for {line.type}: " + (
            f"{', '.join(waiting)}" if waiting else "none does"
        )

    def unanswered(self) -> list[Asked]:
        """Return, once, what waits for an answer that nobody is there to write."""
        if self.has_writer:
            return []
        asked = list(self._asked.values())
        self._asked.clear()
        return asked

    def see(self, event: HostEvent) -> None:
        """Follow what happens in the session; what is replayed is no part of that."""
        match event:
            case ApprovalRequested() | QuestionsAsked() | LimitAsked():
                self._asked[event.request_id] = event
            case ApprovalResolved() | QuestionsResolved() | LimitResolved():
                self._asked.pop(event.request_id, None)
            case _ if event.agent != MAIN_LANE:
                pass
            case TurnStarted():
                self.running, self._planned = True, False
                self._sent = max(0, self._sent - 1)
            case PlanProposed():
                self._planned = True
            case TurnEnded():
                self.running = False
            case Failed() if self._sent and not self.running:
                # It was not accepted.
                self._sent -= 1
            case QueueChanged():
                self._waiting = bool(event.items or event.steering)
                if event.items and event.held and not self.running:
                    # A steering message that the turn did not live to see. What is not held goes
                    # by itself: the engine has not taken it up.
                    self._client.send_queued()

    def _send(
        self, prompt: str, attachments: tuple[str, ...] = (), typed: str | None = None
    ) -> None:
        self._sent += 1
        self._client.submit(prompt, attachments, typed=typed)

    def _do(self, line: "Line") -> None:
        client = self._client
        if line.type in ("decide", "answer", "limit"):
            self._asked.pop(line.request_id, None)
        match line.type:
            case "steer" if self.running:
                client.steer(line.text)
            case "prompt":
                self._send(line.text, line.attachments)
            case "steer":
                self._send(line.text)
            case "carry_out":
                # Where there is no plan that is said, and nothing begins.
                self._sent += self._planned
                client.carry_out(line.mode)
            case "decide":
                client.decide(
                    line.request_id,
                    Decision(allow=line.allow, scope=line.scope, reason=line.reason),
                )
            case "answer":
                answers = tuple(QuestionAnswer(each.chosen, each.text) for each in line.answers)
                reply = QuestionsReply("answered" if answers else "declined", answers)
                client.answer_questions(line.request_id, reply)
            case "limit":
                client.answer_limit(line.request_id, go=line.go)
            case "stop":
                client.interrupt(line.now)
