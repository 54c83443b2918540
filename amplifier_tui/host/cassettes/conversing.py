"""Holding the conversation of a cassette once more."""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final
from uuid import uuid4

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, with_remedy
from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    CassetteError,
    TapedAgent,
    TapedCall,
    TapedCompaction,
    TapedDecision,
    TapedFiles,
    TapedHook,
    TapedModules,
    TapedPrompt,
)
from amplifier_tui.host.cassettes.names import texts_changed
from amplifier_tui.host.cassettes.order import BESIDE, DecisionOrder
from amplifier_tui.host.cassettes.playing import Playback, ToolsFrom
from amplifier_tui.host.cassettes.recording import SessionRecorder
from amplifier_tui.host.client import (
    Decision,
    OpenRequest,
    QuestionsReply,
    SessionClient,
    TrustDecision,
)
from amplifier_tui.host.events import (
    ApprovalRequested,
    Compacted,
    Failed,
    HandlerHolds,
    HostEvent,
    LimitAsked,
    ModuleFailed,
    ModuleMounted,
    Notice,
    QuestionsAsked,
    SessionClosed,
    SessionOpened,
    ToolEnded,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.redaction import Redactor

PATIENCE: Final = 600.0
"""Seconds a turn may take."""
_CLOSING: Final = 10.0
ANSWERED: Final = ("user", "nobody")
_UNDECIDED: Final = "The cassette holds no decision about this"


class ReplayError(Exception):
    """The session can't be opened, or does not go on; says why."""


@dataclass(frozen=True, slots=True)
class ReplayOrder:
    """How a cassette is played.

    Attributes:
        cwd: The project.
        bundle: Name or URI; empty for the cassette's.
        tools: Where results of tools come from.
        workspace: A folder in whose copy the session works; None for the project, or a copy of it
            where tools are real.
    """

    cwd: Path
    bundle: str = ""
    tools: ToolsFrom = "cassette"
    workspace: Path | None = None


@dataclass(slots=True)
class Replayed:
    """What came of it.

    Attributes:
        cassette: The conversation as it went now.
        missed: What was asked of the cassette that it does not hold.
        incomplete: The turns that asked for an answer that it does not hold.
        refused: What a project or a stranger brings that nobody trusts.
        failed: The modules that did not mount, and why.
        not_run: Where tools are real, by tool, the calls that got their recorded result.
        seconds: What it took.
    """

    cassette: Cassette
    missed: list[str] = field(default_factory=list)
    incomplete: frozenset[str] = frozenset()
    refused: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    not_run: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0


def play(
    cassette: Cassette,
    order: ReplayOrder,
    client: SessionClient,
    tell: Callable[[str], None] = lambda _said: None,
) -> Replayed:
    """Play a cassette through a client, which is closed at the end.

    Args:
        tell: Is told at once, on one line, what the session waits for.

    Raises:
        ReplayError: The session can't be opened, or does not go on.
        OSError: Its scratch folder can't be made.
    """
    began = monotonic()
    with TemporaryDirectory(prefix="amplifier-replay-") as name:
        folder = Path(name).resolve() / str(uuid4())
        playback = Playback(cassette, folder=folder, tools=order.tools, workspace=order.workspace)
        run = _Conversation(cassette, order, client, playback, tell)
        with run.closing():
            run.hold()
        try:
            recorder = SessionRecorder(folder, Redactor(), in_copy=playback.in_copy)
            found = recorder.record()
        except CassetteError as error:
            raise ReplayError(f"No turn began: {run.failure or error}") from error
        mounted = TapedModules(modules=dict(sorted(run.modules.items())))
        changed = playback.changed()
        files = (TapedFiles(files=changed),) if changed is not None else ()
        rows = (mounted, *playback.requests.among(found.rows), *files)
        return Replayed(
            found.model_copy(update={"rows": tuple(rows)}),
            playback.missed,
            frozenset(playback.incomplete),
            run.refused,
            run.failed,
            playback.not_run,
            monotonic() - began,
        )


class _Conversation:
    """Says what the user said, and decides what the user decided."""

    def __init__(
        self,
        cassette: Cassette,
        order: ReplayOrder,
        client: SessionClient,
        playback: Playback,
        tell: Callable[[str], None],
    ) -> None:
        self._cassette = cassette
        self._order = order
        self._client = client
        self._playback = playback
        self._tell = tell
        self._holding: dict[str, str] = {}
        """By hook that takes long now, what it holds up."""
        self._calls: dict[str, TapedCall] = {each.id: each for each in cassette.of(TapedCall)}
        self._questions: dict[tuple[str, str, str], deque[TapedDecision]] = defaultdict(deque)
        """What was decided outside of calls: by what ran, the event and who asked."""
        for each in cassette.of(TapedHook):
            if each.decision is not None:
                self._questions[*each.during, each.asker].append(each.decision)
        self._news = threading.Event()
        self._waiting: list[HostEvent] = []
        self.modules: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.refused: list[str] = []
        self.failure = ""
        self._changed: set[str] = set()
        self._agents: dict[str, str] = {each.id: each.name for each in cassette.of(TapedAgent)}
        self._order_of = DecisionOrder(cassette)
        self._decided: set[str] = set()
        self._ended: set[str] = set()
        self._held: list[tuple[ApprovalRequested, TapedDecision, Callable[[], bool], float]] = []
        """Questions whose decision is not due: what it is, when it is due, and how long to wait."""
        playback.steer = client.steer
        playback.interrupt = lambda: client.interrupt(True)
        playback.stop_agent = lambda lane: client.stop_agent(lane, True)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Close the session at the end, whatever happens."""
        try:
            yield
        finally:
            self._client.close().result(_CLOSING)

    def hold(self) -> None:
        """Open the session and have its turns, one after the other."""
        header, order = self._cassette.header, self._order
        self._client.set_waker(self._news.set)
        self._client.open(
            OpenRequest(
                cwd=order.cwd,
                bundle=order.bundle or header.bundle,
                mode=header.mode,
                restores_queue=False,
                playback=self._playback,
            )
        )
        self._until(lambda event: isinstance(event, SessionOpened), "open")
        mode = header.mode
        compactions = self._cassette.of(TapedCompaction)
        by_hand = [each for each in compactions if each.facts.get("reason") == "forced"]
        for turn, prompt in enumerate(self._cassette.of(TapedPrompt), start=1):
            if prompt.mode is not None and prompt.mode != mode:
                mode = prompt.mode
                self._client.set_mode(mode)
            self._turn(turn, prompt)
            for each in by_hand:
                if each.id.partition(".")[0] == prompt.id:
                    summary = bool(each.facts.get("messages_summarized"))
                    self._client.compact("" if summary else None)
                    self._until(_is_compacted, f"compact after turn {turn}")

    def _turn(self, turn: int, prompt: TapedPrompt) -> None:
        self._playback.turn = turn
        self._held.clear()
        if prompt.text:
            text = self._playback.names.put_in(prompt.text)
            self._client.submit(text, self._playback.attachments(prompt.attachments))
        else:
            self._client.retry()
        begun = False

        def over(event: HostEvent) -> bool:
            nonlocal begun
            begun = begun or isinstance(event, TurnStarted)
            return isinstance(event, TurnEnded) or (not begun and isinstance(event, Failed))

        self._until(over, f"end turn {turn}")

    def _until(self, over: Callable[[HostEvent], bool], what: str) -> None:
        """Follow the session until an event has come.

        Raises:
            ReplayError: The session ended, or it did not come in time.
        """
        deadline = monotonic() + PATIENCE
        while True:
            while self._waiting:
                event = self._waiting.pop(0)
                self._take(event, what)
                if over(event):
                    return
            self._decide_where_due()
            self._news.clear()
            self._waiting += self._client.drain()
            first = min((deadline, *(until for *_, until in self._held)))
            come = self._waiting or self._news.wait(max(0.0, first - monotonic()))
            if not come and monotonic() >= deadline:
                waits = f": {'; '.join(self._holding.values())}" if self._holding else ""
                raise ReplayError(f"It did not {what} within {PATIENCE:g} s{waits}")

    def _take(self, event: HostEvent, what: str) -> None:
        match event:
            case ModuleMounted():
                self.modules[event.instance or event.module_id] = event.kind
            case ModuleFailed():
                name = event.instance or event.module_id
                self.modules[name] = "failed"
                self.failed[name] = event.error
            case TrustAsked():
                self.refused += [f"{item.title} ({item.detail})" for item in event.items]
                self._client.answer_trust(event.request_id, TrustDecision(unasked=True))
            case ApprovalRequested():
                self._decide(event)
            case ToolEnded():
                self._ended.add(event.call_id)
            case HandlerHolds(over=True):
                self._holding.pop(event.handler, None)
            case HandlerHolds():
                said = one_line(f"{event.event} waits for the hook {event.handler}", 500)
                self._holding[event.handler] = said
                self._tell(said)
            case QuestionsAsked():
                self._client.answer_questions(event.request_id, QuestionsReply("unavailable"))
            case LimitAsked():
                # Nothing is spent.
                self._client.answer_limit(event.request_id, go=True)
            case SessionClosed():
                why = self.failure or event.reason
                raise ReplayError(f"The session ended before it could {what}: {why}")
            case Failed():
                self.failure = with_remedy(event.message, event.remedy)
                if what == "open":
                    raise ReplayError(self.failure)

    def _decide(self, asked: ApprovalRequested) -> None:
        """Decide as the cassette does, for no longer than the session."""
        taped = self._taped(asked)
        if taped is not None and taped.by == "timeout":
            self._client.decide(asked.request_id, Decision(allow=False, expired=True))
            return
        if taped is not None and not self._order_of.rule_makers(asked.call_id) <= self._ended:
            # The rule answers it; where none is made now, nothing that the cassette holds does, as
            # where the gate asks though it is made.
            self._hold(asked, taped, lambda: False)
            return
        if taped is None or taped.by not in (*ANSWERED, "stop"):
            self._client.decide(asked.request_id, Decision(allow=False, reason=_UNDECIDED))
            return
        changes = taped.changed_to is not None and asked.call_id not in self._changed
        if changes and asked.editable:
            self._changed.add(asked.call_id)
            text = json.dumps(texts_changed(taped.changed_to, self._playback.names.put_in))
            problem = self._client.change_call(asked.request_id, text).result(_CLOSING)
            if not problem:
                return
            self._playback.missed.append(f"call {asked.call_id}: {problem}")
        if taped.by == "stop":
            beside = self._playback.stops.beside(asked.call_id)
            self._hold(asked, taped, lambda: beside <= self._ended)
            return
        before = self._order_of.before(asked.call_id)
        if before <= self._decided | self._ended:
            self._answer(asked, taped)
        else:
            self._hold(asked, taped, lambda: before <= self._decided | self._ended)

    def _answer(self, asked: ApprovalRequested, taped: TapedDecision) -> None:
        self._decided.add(asked.call_id)
        self._client.decide(
            asked.request_id,
            Decision(
                allow=taped.outcome == "allowed",
                scope="once" if taped.scope == "once" else "session",
                reason=self._playback.names.put_in(taped.reason),
                unasked=taped.by == "nobody",
            ),
        )

    def _taped(self, asked: ApprovalRequested) -> TapedDecision | None:
        """Return what was decided about a call, or about the question of a hook outside of one."""
        if asked.tool:
            call = self._calls.get(asked.call_id)
            return call.decision if call is not None else None
        left = self._questions[self._playback.run(asked.agent), asked.event, asked.asker]
        return left.popleft() if left else None

    def _hold(
        self, asked: ApprovalRequested, taped: TapedDecision, due: Callable[[], bool]
    ) -> None:
        self._held.append((asked, taped, due, monotonic() + BESIDE))

    def _decide_where_due(self) -> None:
        """Decide, or stop, where what came before it then has come, or does not in time."""
        for held in tuple(self._held):
            asked, taped, due, until = held
            if not due() and monotonic() < until:
                continue
            self._held.remove(held)
            if taped.by == "rule":
                self._client.decide(asked.request_id, Decision(allow=False, reason=_UNDECIDED))
            elif taped.by != "stop":
                self._answer(asked, taped)
            elif self._is_alone(asked, taped):
                self._client.stop_agent(asked.agent)
            else:
                self._client.interrupt()

    def _is_alone(self, asked: ApprovalRequested, taped: TapedDecision) -> bool:
        """Whether the agent that asked was stopped, and not the turn."""
        name = self._agents.get(self._playback.run(asked.agent))
        return bool(name and taped.reason == f"{name} was stopped")


def _is_compacted(event: HostEvent) -> bool:
    return isinstance(event, Compacted) or (
        isinstance(event, Notice) and event.source == "context" and event.level != "info"
    )
