"""A run without a screen: opened, followed, kept within its limits, closed."""

import re
from dataclasses import field
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, unsaid, with_remedy
from amplifier_tui.cli.run.conversation import RunConversation
from amplifier_tui.cli.run.speaking import Speaker
from amplifier_tui.cli.waiting_modules import WaitingModules
from amplifier_tui.cli.wakeup import Wakeup
from amplifier_tui.host.client import (
    Decision,
    OpenRequest,
    QuestionsReply,
    SessionClient,
    TrustDecision,
)
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    BlockEnded,
    Failed,
    HandlerHolds,
    HookTraced,
    HostEvent,
    JobChanged,
    LimitAsked,
    ModeChanged,
    ModelChanged,
    ModuleFailed,
    Notice,
    OpeningReported,
    QuestionsAsked,
    SessionOpened,
    ToolEnded,
    ToolStarted,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    from amplifier_tui.cli.run.lines import InputLines

Status = Literal["done", "failed", "refused", "limit", "interrupted"]

EXIT: Final[dict[Status, int]] = {
    "done": 0,
    "failed": 1,
    "refused": 3,
    "limit": 4,
    "interrupted": 130,
}
_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
"""A variable of the environment."""
_PATIENCE: Final = 5.0
"""Seconds a turn has to end once it was stopped."""
_STOPPING: Final = f"Stopping after this step, or in {_PATIENCE:g} s"
_AGAIN: Final = "; ctrl+c again stops at once"
_OTHERWISE: Final = "Use other words, or another model (--model)."
_DENIED: Final = "Change the hook that refuses it, or go on without its module."
_NO_ANSWER: Final = "nobody can be asked: use --approve ask"
_NOBODY: Final = "nobody can be asked: use --approve ask, or allow it with a rule"
_ONLY_READS: Final = (
    "--approve none only reads: use --approve ask, or --approve rules and a rule that allows it"
)
_SAID: Final = 1_000
"""Characters of what is said of a module that failed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take: requests to the model, seconds; None for any number."""

    steps: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class RunResult:
    """How a run ended: its last turn, where it had several.

    Attributes:
        answer: The last words of the model.
        message: Why it did not get done.
        remedy: What to do about that.
        refused: What needed an approval that nobody gave, in that turn.
    """

    status: Status = "failed"
    answer: str = ""
    message: str = ""
    remedy: str = ""
    session_id: str = ""
    bundle: str = ""
    turn: int = 0
    duration_ms: float = 0.0
    usage: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @property
    def exit_status(self) -> int:
        """The program's exit status."""
        return EXIT[self.status]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-native data."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "exit_status": self.exit_status}


class Headless:
    """Runs prompts through a client.

    Args:
        client: A new one; it is closed at the end.
        prompt: The first one; empty where all of them are written.
        model: Who is to answer, its id or `PROVIDER/MODEL`; empty for the bundle's.
        speaker: Says what happens, and asks.
        lines: Prompts and answers that another program writes.
        typed: As in `SessionClient.submit`, for the first prompt.
        only_reads: What the mode denies counts as refused: nobody may allow more than reading.
    """

    def __init__(
        self,
        client: SessionClient,
        request: OpenRequest,
        prompt: str,
        limits: Limits,
        speaker: Speaker,
        model: str = "",
        lines: "InputLines | None" = None,
        typed: str | None = None,
        *,
        only_reads: bool = False,
    ) -> None:
        self._client = client
        self._only_reads = only_reads
        self._request = request
        self._lines = lines
        self._conversation = RunConversation(client, speaker, prompt, lines, typed)
        self._limits = limits
        self._speaker = speaker
        self._model = model
        self._news = Wakeup()
        self._result = RunResult()
        self._words: dict[str, str] = {}
        self._said = ""
        """What was said of problems so far: the last words don't repeat it."""
        self._held: set[str] = set()
        self._jobs: dict[str, JobChanged] = {}
        """Hooks of which it was said that they take long."""
        self._mounting = WaitingModules()
        self._steps = 0
        self._begun = self._over = self._refused = self._stopped = False
        self._at_once = False
        """It was stopped without waiting for the running step."""
        self._interrupts = self._interrupts_seen = 0
        self._by_key = True
        self._deadline = float("inf")

    def run(self) -> RunResult:
        """Open the session, run the turns, close the session."""
        self._client.set_waker(self._news.set)
        if self._lines is not None:
            self._lines.start(self._news.set)
        if self._limits.seconds is not None:
            self._deadline = monotonic() + self._limits.seconds
        self._client.open(self._request)
        while not self._over:
            left = min(self._deadline - monotonic(), self._mounting.seconds, 3600.0)
            self._news.wait(max(0.0, left))
            for event in self._client.drain():
                self._take(event)
                self._answer_what_waits()
            for words in self._mounting.late():
                self._speaker.say(words)
            # What was written before the session was ready is done now.
            self._conversation.obey()
            self._answer_what_waits()
            self._see_interrupts()
            self._over = self._over or self._conversation.is_over
            if self._speaker.gone:
                why = self._speaker.unwritten
                status: Status = "failed" if why else "interrupted"
                said = "Not all of the output was written" if why else "Nobody reads the output"
                self._stop(status, said)
            elif monotonic() >= self._deadline:
                self._late()
        if not self._result.turn and not self._result.message:
            self._result.message = "There was no prompt"
        self._result.answer = "\n\n".join(text for text in self._words.values() if text)
        self._close()
        return self._result

    def interrupt(self, *, by_key: bool = True, at_once: bool = False) -> None:
        """Stop: after the current step, and at once when it is said again, or `at_once`.

        Safe in a signal handler.

        Args:
            by_key: A person did, who can press ctrl+c again.
        """
        self._by_key = by_key
        self._interrupts += 1 + at_once
        self._news.set()

    def _see_interrupts(self) -> None:
        if self._interrupts_seen < self._interrupts:
            self._interrupts_seen = self._interrupts
            self._stop("interrupted", "Interrupted", immediate=self._interrupts_seen > 1)

    def _is_stopping(self) -> bool:
        return self._stopped or self._interrupts > self._interrupts_seen

    def _late(self) -> None:
        if self._stopped and self._at_once:
            # It does not end.
            self._over = True
        elif self._stopped:
            # The step takes longer than one waits for it; what was said of it so far is kept.
            self._stop(self._result.status, self._result.message)
        else:
            self._stop("limit", f"Not done within {self._limits.seconds:g} s")

    def _stop(self, status: Status, message: str, *, immediate: bool = True) -> None:
        if not self._stopped:
            self._result.status, self._result.message = status, message
        self._stopped = True
        self._deadline = min(self._deadline, monotonic() + _PATIENCE)
        if self._deadline <= monotonic():
            self._deadline = monotonic() + _PATIENCE
        if self._conversation.running:
            if not immediate:
                self._speaker.say(_STOPPING + (_AGAIN if self._by_key else ""))
            self._at_once = self._at_once or immediate
            self._client.interrupt(immediate)
        else:
            self._over = True
        self._news.set()

    def _close(self) -> None:
        for job in self._jobs.values():
            if job.running:
                command = one_line(job.command, _SAID)
                self._speaker.say(
                    f"{job.job_id} still ran in the background and ends with the session: {command}"
                )
        try:
            self._client.close().result(2 * _PATIENCE)
        except TimeoutError as error:
            self._speaker.say(f"The session did not close in order: {error}")
        for event in self._client.drain():
            # Of what comes with the end, only what went wrong matters to the run.
            (self._take if isinstance(event, Notice) else self._speaker.event)(event)
        result = self._result
        if result.status != "done":
            words = unsaid(result.message, result.remedy, self._said)
            if words:
                self._speaker.say(words)

    def _take(self, event: HostEvent) -> None:
        self._speaker.event(event)
        if event.replayed:
            # What went wrong in an earlier turn says nothing of this one.
            return
        self._conversation.see(event)
        if words := self._mounting.see(event):
            self._speaker.say(words)
        result = self._result
        match event:
            case SessionOpened():
                result.session_id, result.bundle = event.session_id, event.bundle
                if event.of_project:
                    self._speaker.say(f"The bundle is {event.bundle}, of this project")
                if self._model:
                    self._client.switch_model(self._model)
                else:
                    self._conversation.begin()
            case ModelChanged(chosen="model") if self._model and not self._begun:
                self._conversation.begin()
            case Notice(source="model") if self._model and not self._begun:
                # Another model than the one that was named must not answer.
                self._result.message, self._over = event.text, True
            case TurnStarted():
                self._begun, result.turn = True, event.turn
                self._words.clear()
                result.refused.clear()
                if not self._stopped:
                    result.message = result.remedy = ""
                self._speaker.progress("The model is asked…")
            case TrustAsked():
                self._refused = True
                for item in event.items:
                    self._speaker.say(f"Not used without --trust: {item.title} ({item.detail})")
                self._client.answer_trust(event.request_id, TrustDecision(unasked=True))
            case OpeningReported():
                self._report(event)
            case ModeChanged(by="session", uncopied=""):
                self._speaker.say(
                    f"Mode {event.mode}, as the session was left; --mode sets another"
                )
            case ModuleFailed() if self._begun:
                what = f"{event.module_id}: {event.error}"
                # The place in its code stands behind what may be a long message.
                self._speaker.say(with_remedy(one_line(what, _SAID), event.remedy))
            case ApprovalResolved(outcome="denied", by="mode") if self._only_reads:
                self._refuse(event.wanted, f"{event.reason}; {_ONLY_READS}")
            case JobChanged():
                # Behind slow hooks a start may be told after the end.
                known = self._jobs.get(event.job_id, event)
                self._jobs[event.job_id] = event if known.running else known
            case HandlerHolds(over=False) if event.handler not in self._held:
                self._held.add(event.handler)
                self._speaker.say(f"{event.event} waits for the hook {event.handler}")
            case Notice(level="info", source="stdout" | "stderr" | "descriptor"):
                self._speaker.say(f"printed: {event.text}")
            case Notice() if event.level != "info" or event.source.startswith("hook:"):
                source = event.source.removeprefix("hook:")
                # "descriptor" names nobody: a library, or a thread of any module wrote it.
                by = f" ({source})" if source not in ("", "descriptor") else ""
                # Of a traceback the line above says what it comes to, and where.
                text = event.text.partition("\nTraceback (")[0]
                head = "" if event.level == "info" else f"{event.level}: "
                self._speaker.say(f"{head}{text}{by}")
                self._said += event.text
            case Failed():
                self._failed(event)
            case TurnEnded():
                self._ended(event)
            case _ if event.agent == MAIN_LANE and self._begun:
                self._follow(event)

    def _answer_what_waits(self) -> None:
        """Answer what no other program is there to answer."""
        for asked in self._conversation.unanswered():
            match asked:
                case ApprovalRequested():
                    self._decide(asked)
                case QuestionsAsked():
                    self._answer(asked)
                case LimitAsked():
                    self._spent(asked)

    def _report(self, event: OpeningReported) -> None:
        """Say what the session goes without; what was refused just now is said already."""
        for item in event.items:
            if item.kind == "unused" or (item.kind == "refused" and self._refused):
                continue
            asked = f"asked for by {item.asked_by}" if item.asked_by not in ("", item.what) else ""
            by = ", ".join(part for part in (asked, item.where) if part)
            why = item.why.rstrip(".") + (f" ({by})" if by else "")
            # A reason that names the variables says what to do with them.
            needs = _VARIABLE.findall(item.remedy)
            remedy = "" if needs and all(name in item.why for name in needs) else item.remedy
            self._speaker.say(f"{item.kind}: {item.what}: {why}. {remedy}".rstrip())

    def _follow(self, event: HostEvent) -> None:
        match event:
            case BlockEnded(kind="text"):
                self._words[event.block_id] = "" if event.discarded else event.text
            case ToolStarted():
                self._words.clear()
                self._speaker.progress(f"{event.tool} runs…")
            case ToolEnded():
                self._speaker.progress("The model is asked…")
            case HookTraced(event="provider:request"):
                self._steps += 1
                if self._limits.steps is not None and self._steps > self._limits.steps:
                    from amplifier_tui.ui.state.formats import plural

                    self._stop("limit", f"Not done after {plural(self._limits.steps, 'request')}")

    def _decide(self, request: ApprovalRequested) -> None:
        allow = self._speaker.ask(request, self._is_stopping)
        what = request.wanted
        nobody = _NOBODY
        if not request.tool or (request.scopes == ("once",) and not request.near):
            # No rule would do: one that is written down speaks of tools.
            nobody = f"{one_line(request.why, 400)}; {_NO_ANSWER}".removeprefix("; ")
        if allow is None:
            near = f"; {one_line(request.near, 400)}" if request.near else ""
            asks = f"{one_line(request.asker)} asks: {one_line(request.prompt, 400)}; "
            said = request.prompt if request.tool else ""
            self._refuse(what, f"{asks * bool(said)}{nobody}{near}")
        elif not allow:
            self._refuse(what)
        unasked = Decision(allow=False, reason=nobody, unasked=True)
        decision = unasked if allow is None else Decision(allow=allow)
        self._client.decide(request.request_id, decision)

    def _refuse(self, what: str, why: str = "") -> None:
        """Count a call as refused, and say `why` where nobody was asked."""
        self._result.refused.append(what)
        if why:
            self._speaker.say(f"Refused: {what}: {why}")
            self._said += f"Refused: {what}."

    def _answer(self, asked: QuestionsAsked) -> None:
        """Answer what an agent asks; without a person it is told that nobody can be asked."""
        answers = self._speaker.ask_all(asked.questions, self._is_stopping)
        reply = QuestionsReply("answered", answers) if answers else QuestionsReply("unavailable")
        if not answers:
            self._speaker.say(f"Not answered: {asked.questions[0].question}: {_NO_ANSWER}")
        self._client.answer_questions(asked.request_id, reply)

    def _spent(self, asked: LimitAsked) -> None:
        """Let no request go that may pass what the session may use."""
        self._client.answer_limit(asked.request_id, go=False)
        self._stop("limit", asked.said)

    def _failed(self, event: Failed) -> None:
        result = self._result
        if not result.message:
            result.status = "refused" if event.kind == "denied" else "failed"
            result.message, result.remedy = event.message, event.remedy
        if not self._conversation.is_begun:
            self._over = True

    def _ended(self, event: TurnEnded) -> None:
        result = self._result
        result.turn, result.duration_ms = event.turn, event.duration_ms
        result.usage = event.to_json().get("usage", {})
        if event.silent:
            self._speaker.say(event.remark)
        if self._stopped:
            self._over = True
        elif event.status == "success" and result.message:
            # It was beside the turn.
            self._speaker.say(unsaid(result.message, result.remedy, self._said))
            result.message = result.remedy = ""
        if result.message:
            return
        if event.denied:
            result.status, result.message, result.remedy = "refused", event.remark, _DENIED
        elif event.declined:
            result.status, result.message, result.remedy = "failed", event.remark, _OTHERWISE
        elif event.status == "success":
            result.status = "refused" if result.refused else "done"
            result.message = f"Refused: {', '.join(result.refused)}" if result.refused else ""
        elif event.status == "incomplete":
            result.status, result.message = "limit", "The bundle's own limit was reached"
        else:
            status: Status = "interrupted" if event.status == "cancelled" else "failed"
            result.status, result.message = status, f"The turn ended: {event.status}"
