"""A scripted session for pilot tests: records what the screen asks, says what the test says."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_tui.host.client import (
    BundleCard,
    BundlePreview,
    CompactionPreview,
    Decision,
    ItemCard,
    MemoryCard,
    ModelCard,
    OpenRequest,
    QuestionsReply,
    RewindPoint,
    RewindPreview,
    SetAsideCard,
    SpendLimit,
    TrustDecision,
)
from amplifier_tui.host.events import (
    HostEvent,
    Mode,
    ModeChanged,
    RewindScope,
    SessionClosed,
    SessionOpened,
)
from tests.ui.fake_imported import FakeImported, answer, done, failed
from tests.ui.fake_modules import FakeModules
from tests.ui.fake_permissions import FakePermissions
from tests.ui.fake_stored import FakeStored
from tests.ui.fake_worktrees import FakeWorktrees

SESSION = "s1"


@dataclass
class FakeClient(FakeImported, FakeModules, FakePermissions, FakeStored, FakeWorktrees):
    """Implements `SessionClient` without an engine.

    Attributes:
        calls: Every call with its arguments, in order.
        on_open: Events pushed when a session is asked for; the session's opening when empty.
        silent: Push nothing when a session is asked for.
        cards: What `bundles` answers; an exception makes it fail.
        previews: What `preview` answers by name.
        payloads: What `payload` answers by seq.
        earlier: What `history` answers where the first row is asked for; an exception fails.
        reckoned: What `compaction` answers; an exception makes it fail, None leaves it open.
        offered: What `models` answers; an exception makes it fail.
        remembered: What `memories` answers; an exception makes it fail.
        moved: What `set_aside` answers; an exception makes it fail.
        unmoved: What `put_back` answers; empty takes it off the list.
        printed: What `job_text` answers; an exception makes it fail.
        points: What `rewind_points` answers; an exception makes it fail.
        rewound: What `preview_rewind` answers; an exception makes it fail.
        listed: What `items` answers; an exception makes it fail.
        closing: Pushed when the session is closed.
        unsaved: What `save_again` answers, one after the other; then that all is saved.
        hang: `close` never finishes.
        session: The id of the session it opens.
        others: The clients that `beside` made.
    """

    on_open: list[HostEvent] = field(default_factory=list)
    silent: bool = False
    cards: tuple[BundleCard, ...] | Exception = ()
    previews: dict[str, BundlePreview] = field(default_factory=dict)
    payloads: dict[int, str] = field(default_factory=dict)
    earlier: tuple[HostEvent, ...] | Exception = ()
    reckoned: CompactionPreview | Exception | None = None
    remembered: tuple[MemoryCard, ...] | Exception = ()
    moved: tuple[SetAsideCard, ...] | Exception = ()
    unmoved: str = ""
    printed: str | Exception = ""
    offered: tuple[ModelCard, ...] | Exception = ()
    points: tuple[RewindPoint, ...] | Exception = ()
    rewound: RewindPreview | Exception = field(
        default_factory=lambda: RewindPreview(turn=1, unseen=("what `make` changed",))
    )
    listed: tuple[ItemCard, ...] | Exception = ()
    closing: SessionClosed | None = None
    unsaved: list[str] = field(default_factory=list)
    hang: bool = False
    session: str = SESSION
    others: "list[FakeClient]" = field(default_factory=list)
    _events: list[HostEvent] = field(default_factory=list)
    _wake: Callable[[], None] | None = None

    # --- for the test ----------------------------------------------------------------------

    def push(self, *events: HostEvent) -> None:
        """Say that something happened; callable from any thread."""
        self._events.extend(events)
        if self._wake is not None:
            self._wake()

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """Return the arguments of every call of one method."""
        return [call[1:] for call in self.calls if call[0] == name]

    # --- SessionClient ---------------------------------------------------------------------

    def beside(self) -> "FakeClient":
        self.calls.append(("beside",))
        self.others.append(FakeClient(session=f"s{len(self.others) + 2}"))
        return self.others[-1]

    def open(self, request: OpenRequest) -> None:
        self.calls.append(("open", request))
        if not self.silent:
            self.push(*(self.on_open or [opened(self.session)]))

    def open_again(self) -> None:
        self.calls.append(("open_again",))

    def submit(self, text: str, attachments: tuple[str, ...] = ()) -> None:
        self.calls.append(("submit", text))

    def steer(self, text: str) -> None:
        self.calls.append(("steer", text))

    def queue(self, text: str) -> None:
        self.calls.append(("queue", text))

    def unqueue(self, prompt_id: str) -> None:
        self.calls.append(("unqueue", prompt_id))

    def edit_queued(self, prompt_id: str, text: str) -> None:
        self.calls.append(("edit_queued", prompt_id, text))

    def move_queued(self, prompt_id: str, to: int) -> None:
        self.calls.append(("move_queued", prompt_id, to))

    def send_queued(self, prompt_id: str = "") -> None:
        self.calls.append(("send_queued", prompt_id))

    def retry(self, *, without: str = "") -> None:
        self.calls.append(("retry", without))

    def interrupt(self, immediate: bool = False, turn: int = 0) -> None:
        self.calls.append(("interrupt", immediate, turn))

    def shell(self, command: str, *, tell: bool = True, in_terminal: bool = False) -> None:
        self.calls.append(("shell", command, tell, in_terminal))

    def stop_shell(self) -> None:
        self.calls.append(("stop_shell",))

    def note_shell(
        self, command: str, *, exit_code: int, seconds: float, tell: bool = True
    ) -> None:
        self.calls.append(("note_shell", command, exit_code, tell))

    def withhold_shell(self) -> None:
        self.calls.append(("withhold_shell",))

    def decide(self, request_id: str, decision: Decision) -> None:
        self.calls.append(("decide", request_id, decision))

    def set_mode(self, mode: Mode) -> None:
        self.calls.append(("set_mode", mode))
        self.push(ModeChanged(session_id=self.session, mode=mode, by="user"))

    def models(self) -> Future[tuple[ModelCard, ...]]:
        self.calls.append(("models",))
        return answer(self.offered)

    def switch_model(self, model: str, provider: str = "") -> None:
        self.calls.append(("switch_model", model, provider))

    def switch_model_back(self) -> None:
        self.calls.append(("switch_model_back",))

    def set_effort(self, effort: str) -> None:
        self.calls.append(("set_effort", effort))

    def rewind_points(self) -> Future[tuple[RewindPoint, ...]]:
        self.calls.append(("rewind_points",))
        return answer(self.points)

    def preview_rewind(self, turn: int) -> Future[RewindPreview]:
        self.calls.append(("preview_rewind", turn))
        return answer(self.rewound)

    def rewind_diff(self, turn: int, path: str) -> Future[str]:
        self.calls.append(("rewind_diff", turn, path))
        return done(f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-after\n+before\n")

    def rewind(
        self, turn: int, scope: RewindScope = "both", overwrite: tuple[str, ...] = ()
    ) -> None:
        self.calls.append(("rewind", turn, scope, overwrite))

    def undo_rewind(self) -> None:
        self.calls.append(("undo_rewind",))

    def answer_questions(self, request_id: str, reply: QuestionsReply) -> None:
        self.calls.append(("answer_questions", request_id, reply))

    def set_limit(self, limit: SpendLimit) -> None:
        self.calls.append(("set_limit", limit))

    def answer_limit(self, request_id: str, *, go: bool) -> None:
        self.calls.append(("answer_limit", request_id, go))

    def set_up(self, variables: Mapping[str, str], bundle: str = "") -> None:
        self.calls.append(("set_up", dict(variables), bundle))

    def carry_out(self, mode: Mode) -> None:
        self.calls.append(("carry_out", mode))

    def answer_trust(self, request_id: str, decision: TrustDecision) -> None:
        self.calls.append(("answer_trust", request_id, decision))

    def ask_trust_again(self, *, shown: bool = False) -> None:
        self.calls.append(("ask_trust_again", shown))

    def switch_bundle(
        self, name: str, *, carry: bool = True, mode: Mode | Literal[""] = ""
    ) -> None:
        self.calls.append(("switch_bundle", name, carry, *([mode] if mode else [])))

    def resume(self, session_id: str) -> None:
        self.calls.append(("resume", session_id))

    def tell_agent(self, lane: str, text: str) -> None:
        self.calls.append(("tell_agent", lane, text))

    def stop_agent(self, lane: str, immediate: bool = False) -> None:
        self.calls.append(("stop_agent", lane, immediate))

    def job_text(self, job_id: str) -> Future[str]:
        self.calls.append(("job_text", job_id))
        return answer(self.printed)

    def stop_job(self, job_id: str) -> None:
        self.calls.append(("stop_job", job_id))

    def save_again(self) -> Future[str]:
        self.calls.append(("save_again",))
        return done(self.unsaved.pop(0) if self.unsaved else "")

    def rename(self, title: str) -> None:
        self.calls.append(("rename", title))

    def bundles(self) -> Future[tuple[BundleCard, ...]]:
        self.calls.append(("bundles",))
        return answer(self.cards)

    def preview(self, name: str) -> Future[BundlePreview]:
        self.calls.append(("preview", name))
        if name not in self.previews:
            return failed(LookupError(f"no preview of {name}"))
        return done(self.previews[name])

    def keep_draft(self, text: str) -> None:
        self.calls.append(("keep_draft", text))

    def take_over(self) -> None:
        self.calls.append(("take_over",))

    def history(self, before: int, limit: int = 200) -> Future[tuple[HostEvent, ...]]:
        self.calls.append(("history", before, limit))
        return answer(self.earlier if before <= limit else ())

    def payload(self, seq: int) -> Future[str]:
        self.calls.append(("payload", seq))
        return done(self.payloads.get(seq, ""))

    def compaction(self) -> Future[CompactionPreview]:
        self.calls.append(("compaction",))
        if self.reckoned is None:
            return Future()
        return answer(self.reckoned)

    def compact(self, instructions: str | None = None) -> None:
        self.calls.append(("compact", instructions))

    def items(self) -> Future[tuple[ItemCard, ...]]:
        return answer(self.listed)

    def choose_item(self, key: str, choice: str) -> None:
        self.calls.append(("choose_item", key, choice))

    def undo_item(self) -> None:
        self.calls.append(("undo_item",))

    def remember(self, text: str, *, everywhere: bool = False) -> None:
        self.calls.append(("remember", text, everywhere))

    def forget(self, memory_id: int) -> None:
        self.calls.append(("forget", memory_id))

    def memories(self) -> Future[tuple[MemoryCard, ...]]:
        self.calls.append(("memories",))
        return answer(self.remembered)

    def set_aside(self) -> Future[tuple[SetAsideCard, ...]]:
        self.calls.append(("set_aside",))
        return answer(self.moved)

    def put_back(self, key: str) -> Future[str]:
        self.calls.append(("put_back", key))
        if not self.unmoved and not isinstance(self.moved, Exception):
            self.moved = tuple(card for card in self.moved if card.key != key)
        return answer(self.unmoved)

    def fork(self, before_turn: int | None = None) -> None:
        self.calls.append(("fork", before_turn))

    def drain(self, limit: int = 0) -> list[HostEvent]:
        end = limit or len(self._events)
        events, self._events = self._events[:end], self._events[end:]
        return events

    def set_waker(self, wake: Callable[[], None] | None) -> None:
        self._wake = wake

    def close(self) -> Future[None]:
        self.calls.append(("close",))
        if self.hang:
            return Future()
        if self.closing is not None:
            self.push(self.closing)
        return done(None)


def opened(session_id: str = SESSION, **values: Any) -> SessionOpened:
    """Return the event of a session that is ready."""
    defaults: dict[str, Any] = {
        "bundle": "coding",
        "cwd": "/home/u/src/app",
        "directory": "/tmp/sessions/s1",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "context_window": 200_000,
        "branch": "main",
        "at": 1_000.0,
    }
    return SessionOpened(session_id=session_id, **{**defaults, **values})
