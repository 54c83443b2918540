import io
import json
import signal
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from amplifier_tui.base.capabilities.questions import Question, QuestionOption
from amplifier_tui.cli.group import run as run_command
from amplifier_tui.cli.run import command, speaking
from amplifier_tui.cli.run import headless as module
from amplifier_tui.cli.run.headless import Headless, Limits, RunResult
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.host import events
from amplifier_tui.host.client import Decision, OpenRequest, QuestionAnswer, QuestionsReply
from amplifier_tui.ui.app.preferences import Preferences
from tests.host.conftest import project
from tests.host.driving import Project

__all__ = ["project"]

S = "s1"
OPENED = events.SessionOpened(session_id=S, bundle="mine", cwd="/x", directory="/x/s1")
STARTED = events.TurnStarted(session_id=S, turn=1, prompt="go")
ASKED = events.ApprovalRequested(
    session_id=S,
    request_id="r1",
    asker="amplifier-tui",
    action="bash wants to run a command",
    tool="bash",
)
NEAR = replace(ASKED, near="the rule x")


def text(block: str, words: str, **more: Any) -> events.BlockEnded:
    return events.BlockEnded(session_id=S, block_id=block, kind="text", text=words, **more)


def requested() -> events.HookTraced:
    return events.HookTraced(session_id=S, event="provider:request", seq=1)


def ended(status: Any = "success") -> events.TurnEnded:
    return events.TurnEnded(session_id=S, turn=1, status=status, duration_ms=5.0)


class Client:
    """Sends its events when a prompt is submitted, and the last ones when it is stopped."""

    def __init__(
        self,
        *sent: events.HostEvent,
        opened: events.HostEvent = OPENED,
        switched: tuple[events.HostEvent, ...] = (),
    ) -> None:
        self._opened, self._sent, self._switched = opened, sent, switched
        self._waiting: list[events.HostEvent] = []
        self.at_stop: list[events.HostEvent] = [ended("cancelled")]
        self.did: list[Any] = []

    def set_waker(self, wake: Any) -> None:
        self.wake = wake

    def _put(self, *sent: events.HostEvent) -> None:
        self._waiting += sent
        self.wake()

    def open(self, request: OpenRequest) -> None:
        self._put(self._opened)

    def submit(
        self, prompt: str, attachments: tuple[str, ...] = (), *, typed: str | None = None
    ) -> None:
        self._put(STARTED, *self._sent)

    def decide(self, request_id: str, decision: Decision) -> None:
        self.did.append((request_id, decision.allow, decision.reason))

    def answer_trust(self, request_id: str, decision: Any) -> None:
        self.did.append((request_id, set(decision.accepted)))
        self._put(OPENED)

    def switch_model(self, model: str) -> None:
        self.did.append(model)
        self._put(*self._switched)

    def answer_questions(self, request_id: str, reply: QuestionsReply) -> None:
        self.did.append(reply)

    def answer_limit(self, request_id: str, *, go: bool) -> None:
        self.did.append((request_id, go))

    def interrupt(self, immediate: bool) -> None:
        self.did.append("now" if immediate else "soon")
        self._put(*self.at_stop)

    def drain(self) -> list[events.HostEvent]:
        taken, self._waiting = self._waiting, []
        return taken

    def close(self) -> Future[None]:
        done: Future[None] = Future()
        done.set_result(None)
        return done


class Speaker:
    gone = False
    unwritten = ""

    def __init__(self, answer: bool | None = None) -> None:
        self.answer = answer
        self.said: list[str] = []
        self.events: list[str] = []

    def event(self, event: events.HostEvent) -> None:
        self.events.append(type(event).__name__)

    def say(self, line: str) -> None:
        self.said.append(line)

    def progress(self, line: str) -> None:
        pass

    def ask_all(self, questions: Any, stopped: Any) -> tuple[QuestionAnswer, ...]:
        return (QuestionAnswer((0,)),) if self.answer else ()

    def ask(self, request: Any, stopped: Any) -> bool | None:
        return self.answer


def follow(
    client: Client, speaker: Speaker | None = None, limits: Limits | None = None
) -> RunResult:
    request = OpenRequest(cwd=Path("/x"))
    return Headless(client, request, "go", limits or Limits(), speaker or Speaker()).run()


def test_the_answer_is_what_the_model_says_last() -> None:
    tool = events.ToolStarted(session_id=S, call_id="c", tool="bash")
    gone = text("2", "no, wait", discarded=True)
    other = events.BlockEnded(session_id=S, agent="a", block_id="9", kind="text", text="an agent")
    result = follow(
        Client(text("1", "Let me see."), tool, gone, text("3", "Done."), other, ended())
    )
    assert (result.answer, result.status, result.exit_status) == ("Done.", "done", 0)
    assert (result.session_id, result.bundle, result.turn) == (S, "mine", 1)


def failed(kind: str) -> events.Failed:
    return events.Failed(session_id=S, kind=kind, message="It broke.", remedy="Mend it.")


@pytest.mark.parametrize(
    ("sent", "status", "exit_status"),
    [
        ([failed("network"), ended("error")], "failed", 1),
        ([ended("error")], "failed", 1),
        ([failed("denied"), ended("error")], "refused", 3),
        ([ended("incomplete")], "limit", 4),
        ([ended("cancelled")], "interrupted", 130),
    ],
)
def test_how_a_turn_ends_is_the_exit_status(
    sent: list[events.HostEvent], status: str, exit_status: int
) -> None:
    speaker = Speaker()
    result = follow(Client(*sent), speaker)
    assert (result.status, result.exit_status) == (status, exit_status)
    assert speaker.said
    assert ("It broke. Mend it." in speaker.said) == isinstance(sent[0], events.Failed)


def test_a_session_that_does_not_open_has_failed() -> None:
    result = follow(Client(opened=failed("bundle")))
    assert (result.exit_status, result.message, result.remedy) == (1, "It broke.", "Mend it.")


@pytest.mark.parametrize(
    ("answer", "allowed", "status"), [(None, False, 3), (False, False, 3), (True, True, 0)]
)
def test_what_nobody_approves_is_refused_and_said(
    answer: bool | None, allowed: bool, status: int
) -> None:
    client, speaker = Client(NEAR, text("1", "Well."), ended()), Speaker(answer)
    result = follow(client, speaker)
    assert result.exit_status == status and result.answer == "Well."
    ((_, allow, reason),) = client.did
    assert (allow, "nobody can be asked" in reason) == (allowed, answer is None)
    assert any("with a rule; the rule x" in line for line in speaker.said) == (answer is None)


def test_of_what_no_rule_would_let_through_it_is_said_why_it_asks() -> None:
    asked = replace(ASKED, scopes=("once",), why="git writes to /x")
    client, speaker = Client(asked, text("1", "Well."), ended()), Speaker(None)
    follow(client, speaker)
    said = "git writes to /x; nobody can be asked: use --approve ask"
    assert [reason for _, _, reason in client.did] == [said]
    assert any(line.endswith(said) for line in speaker.said)


def test_the_question_of_a_hook_that_nobody_answers_is_said_with_its_name() -> None:
    asked = replace(ASKED, asker="hooks-heat", prompt="Is it\ncool?")
    client, speaker = Client(asked, text("1", "Well."), ended()), Speaker(None)
    follow(client, speaker)
    assert any("hooks-heat asks: Is it cool?; " in line for line in speaker.said)


@pytest.mark.parametrize(
    ("limits", "sent", "message"),
    [
        (Limits(steps=1), [requested(), requested()], "after 1 request"),
        (Limits(steps=2), [requested(), requested(), requested()], "after 2 requests"),
        (Limits(seconds=0.01), [], "within 0.01 s"),
    ],
)
def test_a_limit_stops_the_turn_at_once(
    limits: Limits, sent: list[events.HostEvent], message: str
) -> None:
    client = Client(*sent)
    result = follow(client, limits=limits)
    assert client.did == ["now"]
    assert (result.status, result.exit_status) == ("limit", 4)
    assert result.message.endswith(message)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"cost": "0.5", "used_cost": "0.49"}, "limit: $0.49 of $0.50 used"),
        ({"tokens": 900, "used_tokens": 850}, "limit: 850 of 900 tokens used"),
    ],
)
def test_a_request_that_may_pass_what_may_be_spent_does_not_go(
    limit: dict[str, Any], message: str
) -> None:
    client = Client(events.LimitAsked(session_id=S, request_id="l1", **limit))
    result = follow(client)
    assert client.did[0] == ("l1", False)
    assert result.exit_status == 4 and message in result.message


def test_a_turn_that_does_not_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.02)
    client = Client()
    client.at_stop = []
    assert follow(client, limits=Limits(seconds=0.01)).exit_status == 4


def test_an_interruption_stops_after_the_step_and_a_second_one_at_once() -> None:
    client, speaker = Client(requested()), Speaker()
    run = Headless(client, OpenRequest(cwd=Path("/x")), "go", Limits(), speaker)
    client.at_stop = [requested()]

    def interrupt(event: events.HostEvent) -> None:
        if isinstance(event, events.HookTraced):
            client.at_stop = [ended("cancelled")] if client.did else client.at_stop
            run.interrupt()

    speaker.event = interrupt
    assert run.run().exit_status == 130
    assert client.did == ["soon", "now"]


def test_it_stops_when_nobody_reads_what_it_writes() -> None:
    client, speaker = Client(requested()), Speaker()
    speaker.gone = True
    assert follow(client, speaker).exit_status == 130


UNLISTED = events.Notice(session_id=S, level="warning", text="It is not listed")
CHANGED = events.ModelChanged(session_id=S, provider="p", model="big", chosen="model")
NOT_THERE = events.Notice(session_id=S, level="warning", text="No such model", source="model")


@pytest.mark.parametrize(("switched", "exit_status"), [((UNLISTED, CHANGED), 0), ((NOT_THERE,), 1)])
def test_no_other_model_answers_than_the_one_that_was_named(
    switched: tuple[events.HostEvent, ...], exit_status: int
) -> None:
    client, speaker = Client(text("1", "Yes."), ended(), switched=switched), Speaker()
    run = Headless(client, OpenRequest(cwd=Path("/x")), "go", Limits(), speaker, "p/big")
    result = run.run()
    assert client.did == ["p/big"]
    assert (result.exit_status, result.answer) == (exit_status, "" if exit_status else "Yes.")
    assert bool(exit_status) == ("No such model" in speaker.said)


def test_what_no_stream_can_take_is_written_as_json_writes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "__stdout__", out)
        speaker = speaking.Speaker(whole=True, asks=False)
        speaker.event(text("1", "odd \ud800\x9b31m"))
    row = json.loads((tmp_path / "out").read_text())
    assert row["text"] == "odd \ud800\x9b31m"
    assert "\x9b" not in (tmp_path / "out").read_text()


def test_what_would_have_to_be_trusted_is_left_out_and_said() -> None:
    item = TrustItem(owner="stranger", key="k", group="code", title="module x", detail="far away")
    asked = events.TrustAsked(session_id=S, request_id="t1", title="?", items=(item,))
    client, speaker = Client(ended(), opened=asked), Speaker()
    assert follow(client, speaker).exit_status == 0
    assert client.did == [("t1", set())]
    assert speaker.said == ["Not used without --trust: module x (far away)"]


def test_what_a_session_opens_without_is_said_with_the_reason_and_what_helps() -> None:
    missing = events.ReportItem(
        what="tool-x",
        kind="failed",
        part="tool",
        why="No module named x.",
        remedy="Install it.",
        asked_by="mine",
        where="/p/mine.md:7",
    )
    unused = events.ReportItem(what="provider-y", kind="unused", part="provider", why="No key")
    reported = events.OpeningReported(session_id=S, items=(missing, unused))
    speaker = Speaker()
    assert follow(Client(reported, text("b1", "Fine"), ended()), speaker).exit_status == 0
    (said,) = speaker.said
    by = "(asked for by mine, /p/mine.md:7)"
    assert said == f"failed: tool-x: No module named x {by}. Install it."


@pytest.mark.parametrize("source", ["stdout", "stderr", "descriptor"])
def test_what_a_module_prints_is_said_beside_the_answer(source: str) -> None:
    printed = events.Notice(session_id=S, level="info", text="squawk", source=source)
    speaker = Speaker()
    assert follow(Client(printed, text("b1", "Fine"), ended()), speaker).exit_status == 0
    assert speaker.said == ["printed: squawk"]


def test_what_a_problem_is_and_what_helps_is_said_once() -> None:
    why = "A_KEY is not set: set it, or `api_key`"
    missing = events.ReportItem(
        what="provider-x",
        kind="failed",
        part="provider",
        why=why,
        remedy="Set A_KEY in the environment.",
        asked_by="provider-x",
    )
    notice = events.Notice(
        session_id=S, level="error", text="No such key. Check A_KEY.", source="x"
    )
    failed = events.Failed(
        session_id=S, kind="auth", message="No such key.", remedy="Check A_KEY.", prompt="go"
    )
    speaker = Speaker()
    reported = events.OpeningReported(session_id=S, items=(missing,))
    follow(Client(reported, notice, failed, ended("failed")), speaker)
    assert speaker.said == [f"failed: provider-x: {why}.", "error: No such key. Check A_KEY. (x)"]


def test_what_is_to_be_typed_stands_bare_on_standard_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", stream)
    speaking.Speaker(whole=False, asks=False).say("It broke. Run `amplifier-tui doctor`.")
    assert stream.getvalue() == "It broke. Run amplifier-tui doctor.\n"


def test_of_an_error_that_was_said_only_the_remedy_is_left_to_say() -> None:
    notice = events.Notice(session_id=S, level="error", text="It broke.")
    speaker = Speaker()
    follow(Client(notice, failed("network"), ended("error")), speaker)
    assert speaker.said == ["error: It broke.", "Mend it."]


@pytest.mark.parametrize(
    ("arguments", "piped", "message"),
    [
        (["hi", "--resume", "a", "--continue"], "", "two sessions"),
        (["hi", "--approve", "none", "--mode", "edits"], "", "only reads"),
        (["hi", "--max-cost", "lots"], "", "no amount of dollars"),
        (["hi", "--max-cost", "-1"], "", "no amount of dollars"),
        (["hi", "--max-turns", "0"], "", "0"),
        (["hi", "--timeout", "0"], "", "0"),
        (["hi", "--output", "xml"], "", "xml"),
        (["hi", "--cwd", "/nowhere/at/all"], "", "/nowhere/at/all"),
        (["-"], " \n", "prompt is empty"),
        ([], "", "prompt is empty"),
        (
            ["--resume", "hi"],
            "",
            "hi was taken for the id of a session; `run --continue hi` goes on",
        ),
        (["--resume", str(UUID(int=1))], "", "The prompt is empty\n"),
        (["--resume"], "", "The prompt is empty\n"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(
    arguments: list[str],
    piped: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stdin = SimpleNamespace(isatty=lambda: False, buffer=io.BytesIO(piped.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run_command(["run", *arguments]) == 2
    assert message in capsys.readouterr().err


class Signalled:
    """A run that is sent a signal."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number
        self.interrupted = False

    def interrupt(self, *, by_key: bool, at_once: bool) -> None:
        self.interrupted = True
        assert by_key is (self.number == signal.SIGINT)
        assert at_once is (self.number == signal.SIGHUP)

    def run(self) -> RunResult:
        signal.raise_signal(self.number)
        return RunResult()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("ignored", [False, True])
def test_a_run_stops_in_order_also_where_its_terminal_goes_unless_that_is_ignored(
    number: signal.Signals, ignored: bool
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        run: Any = Signalled(number)
        command._interruptible(run)
        assert run.interrupted is not (ignored and number is signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_begins_with_the_models_the_user_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    Preferences().set_model("coding", {"provider": "anthropic", "model": "haiku"})
    requests: list[OpenRequest] = []

    def made(client: Any, request: OpenRequest, *more: Any, **named: Any) -> Any:
        client.close()
        requests.append(request)
        return SimpleNamespace(run=RunResult)

    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(module, "Headless", made)
    monkeypatch.setattr(command, "_interruptible", lambda run: run.run())
    run_command(["run", "hello"])
    assert requests[0].models["coding"].model == "haiku"


def test_what_is_piped_in_beside_a_prompt_mentions_no_files(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    for name in ("mine", "other"):
        Path(f"{name}.md").write_text(f"{name} words")
    stdin = SimpleNamespace(isatty=lambda: False, buffer=io.BytesIO(b"a page: @other.md"))
    monkeypatch.setattr(sys, "stdin", stdin)
    session = "0d5cdbb6-7a6a-4a3c-9e0c-4a2f9a4c3b11"
    arguments = ["--bundle", project.bundle(), "--session-id", session, "--trust"]
    assert run_command(["run", *arguments, "see @mine.md"]) == 0
    (row,) = [row for row in project.rows(session) if row["role"] == "user"]
    assert "mine words" in row["content"] and "a page: @other.md" in row["content"]
    assert "other words" not in row["content"]


STORE = Question("Where?", "", (QuestionOption("SQLite", "one file"), QuestionOption("Postgres")))


@pytest.mark.parametrize("answer", [None, True])
def test_where_nobody_can_be_asked_the_agent_is_told_and_the_run_goes_on(
    answer: bool | None,
) -> None:
    asked = events.QuestionsAsked(session_id=S, request_id="q1", questions=(STORE,))
    client, speaker = Client(asked, text("1", "Well."), ended()), Speaker(answer)
    assert follow(client, speaker).exit_status == 0
    answered = QuestionsReply("answered", (QuestionAnswer((0,)),))
    assert client.did == [answered if answer else QuestionsReply("unavailable")]
    assert any("--approve ask" in line for line in speaker.said) == (answer is None)
