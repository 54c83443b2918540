"""A conversation that another program holds with `amplifier-tui run --input jsonl`."""

import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from amplifier_tui.cli.group import run as run_command
from amplifier_tui.cli.run import headless
from amplifier_tui.cli.run.headless import Headless, Limits, RunResult
from amplifier_tui.cli.run.lines import InputLines, RefusedLine
from amplifier_tui.host import events
from amplifier_tui.host.client import Decision, OpenRequest, QuestionAnswer, QuestionsReply
from amplifier_tui.paths import sessions_dir
from tests.cli.test_run import ASKED, STORE, Client, Speaker, ended, text

S = "s1"
Row = dict[str, Any]
README = Path(run_command.__code__.co_filename).parent / "run" / "README.md"


class Pipe:
    """Lines that come when the test says so; the reader gets them without a thread."""

    def __init__(self, *rows: Row) -> None:
        self._rows = [self._made(row) for row in rows]
        self.ended = not rows
        self.more = False
        """The writer goes on writing."""

    def _made(self, row: Row) -> Any:
        lines = InputLines(io.BytesIO(json.dumps(row).encode()))
        lines._work()
        (numbered,) = lines.take()
        return numbered

    def start(self, wake: Any) -> None:
        wake()

    def take(self) -> list[Any]:
        taken, self._rows, self.ended = self._rows, [], not self.more
        return taken

    def put(self, *rows: Row) -> None:
        self._rows, self.ended = [self._made(row) for row in rows], False
        self.more = False


class Writer(Client):
    """Answers each prompt with the events of one turn; notes everything it is told."""

    def __init__(self, *turns: tuple[events.HostEvent, ...]) -> None:
        super().__init__()
        self._turns = list(turns)
        self.earlier: list[events.HostEvent] = []
        """What is replayed."""

    def open(self, request: OpenRequest) -> None:
        self._put(*self.earlier)
        super().open(request)

    def submit(
        self, prompt: str, attachments: tuple[str, ...] = (), *, typed: str | None = None
    ) -> None:
        self.did.append(prompt)
        started = events.TurnStarted(session_id=S, turn=len(self.did), prompt=prompt)
        self._put(started, *(self._turns.pop(0) if self._turns else (ended(),)))

    def steer(self, prompt: str) -> None:
        self.did.append(f"steer {prompt}")
        self._put(events.SteerApplied(session_id=S, text=prompt), ended())

    def send_queued(self) -> None:
        self.did.append("send queued")
        queued = events.QueueChanged(session_id=S, items=())
        self._put(events.TurnStarted(session_id=S, turn=9, prompt="x"), queued, ended())


class Listener(Speaker):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []
        self.at: dict[str, Any] = {}

    def event(self, event: events.HostEvent) -> None:
        if (act := self.at.pop(type(event).__name__, None)) is not None:
            act()

    def row(self, row: Row) -> None:
        self.rows.append(row)


def hold(client: Client, pipe: Pipe, listener: Listener | None = None) -> RunResult:
    request = OpenRequest(cwd=Path("/x"))
    listener = listener or Listener()
    return Headless(client, request, "", Limits(), listener, "", pipe).run()


def prompt(words: str) -> Row:
    return {"type": "prompt", "text": words}


def test_prompts_go_one_after_the_other_and_the_last_turn_is_the_result() -> None:
    client = Writer((text("1", "One."), ended()), (text("2", "Two."), ended("incomplete")))
    result = hold(client, Pipe(prompt("a"), prompt("b")))
    assert client.did == ["a", "b"]
    assert (result.answer, result.status) == ("Two.", "limit")


def test_what_was_refused_in_an_earlier_turn_is_not_held_against_the_last() -> None:
    client = Writer((ASKED, ended()), (text("1", "Well."), ended()))
    result = hold(client, Pipe(prompt("a"), prompt("b")))
    assert (result.status, result.refused, result.message) == ("done", [], "")


def test_a_turn_that_failed_does_not_keep_the_next_prompt() -> None:
    broken = events.Failed(session_id=S, kind="network", message="It broke.", remedy="Again.")
    client = Writer((broken, ended("error")), (text("1", "Well."), ended()))
    result = hold(client, Pipe(prompt("a"), prompt("b")))
    assert (result.status, result.message, result.answer) == ("done", "", "Well.")


def test_what_failed_in_an_earlier_turn_does_not_keep_the_prompt_of_a_resumed_session() -> None:
    broken = events.Failed(session_id=S, kind="network", message="It broke.", remedy="Again.")
    unlisted = events.Notice(session_id=S, level="warning", text="Not listed", source="model")
    client, listener = Writer((text("1", "Well."), ended())), Listener()
    for event in (broken, ended("error"), unlisted):
        client.earlier.append(replace(event, replayed=True))
    result = hold(client, Pipe(prompt("again")), listener)
    assert client.did == ["again"]
    assert (result.status, result.message, result.answer) == ("done", "", "Well.")
    assert listener.said == []


def test_a_step_that_takes_too_long_after_an_interruption_is_stopped_and_its_words_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(headless, "_PATIENCE", 0.02)
    client, listener = Client(), Listener()
    run = Headless(client, OpenRequest(cwd=Path("/x")), "go", Limits(), listener)
    client.at_stop = []
    listener.at = {"TurnStarted": run.interrupt}
    result = run.run()
    assert (client.did, result.status) == (["soon", "now"], "interrupted")
    assert listener.said == [headless._STOPPING + headless._AGAIN, "Interrupted"]


def test_what_failed_beside_a_turn_that_ended_well_is_said_and_costs_it_nothing() -> None:
    beside = events.Failed(session_id=S, kind="internal", message="A task broke.", remedy="So.")
    listener = Listener()
    result = hold(Writer((beside, text("1", "Well."), ended())), Pipe(prompt("a")), listener)
    assert (result.status, result.answer, result.message) == ("done", "Well.", "")
    assert listener.said == ["A task broke. So."]


def test_of_a_traceback_its_first_line_is_said() -> None:
    caught = "KeyError: 'x' (/mine/tool.py:3)\nTraceback (most recent call last):\n  File …"
    listener = Listener()
    warning = events.Notice(session_id=S, level="warning", text=caught, source="descriptor")
    hold(Writer((warning, ended())), Pipe(prompt("a")), listener)
    assert listener.said == ["warning: KeyError: 'x' (/mine/tool.py:3)"]


def test_a_message_steers_the_turn_that_runs_and_is_a_prompt_otherwise() -> None:
    client, pipe, listener = Writer(()), Pipe({"type": "steer", "text": "go"}), Listener()
    listener.at["TurnStarted"] = lambda: pipe.put({"type": "steer", "text": "left"})
    assert hold(client, pipe, listener).exit_status == 0
    assert client.did == ["go", "steer left"]


def test_a_message_the_turn_did_not_live_to_see_is_sent_after_it() -> None:
    left = events.QueueChanged(session_id=S, items=("x",), ids=("p",), held=True)
    client = Writer((ended("cancelled"), left))
    assert hold(client, Pipe(prompt("a"))).turn == 1
    assert client.did == ["a", "send queued"]


def test_prompts_that_a_blocked_engine_has_not_taken_up_are_a_turn_each() -> None:
    class Late(Writer):
        def submit(self, prompt: str, *rest: Any, **more: Any) -> None:
            waits = events.QueueChanged(session_id=S, items=(prompt,), ids=(prompt,))
            self._put(waits, replace(waits, items=(), ids=()))
            super().submit(prompt, *rest, **more)

    client = Late((text("1", "One."), ended()), (text("2", "Two."), ended()))
    assert hold(client, Pipe(prompt("a"), prompt("b"))).answer == "Two."
    assert client.did == ["a", "b"]


def test_a_plan_is_carried_out_and_the_run_waits_for_it() -> None:
    client = Writer((events.PlanProposed(session_id=S, turn=1), ended()), (text("1", "Done."),))
    client.carry_out = lambda mode: client.submit(f"in mode {mode}")  # type: ignore[attr-defined]
    pipe, listener = Pipe(prompt("a")), Listener()
    listener.at["PlanProposed"] = lambda: pipe.put({"type": "carry_out", "mode": "edits"})
    listener.at["BlockEnded"] = lambda: client._put(ended())
    assert hold(client, pipe, listener).answer == "Done."
    assert client.did == ["a", "in mode edits"]


def test_what_is_asked_waits_for_the_line_that_answers_it() -> None:
    asked = events.QuestionsAsked(session_id=S, request_id="q1", questions=(STORE,))
    spent = events.LimitAsked(session_id=S, request_id="l1", cost="1", used_cost="1")
    client, listener = Writer((replace(ASKED, scopes=("session",)), asked, spent)), Listener()
    pipe = Pipe(prompt("a"))
    pipe.more = True
    client.at_stop = [
        events.ApprovalResolved(session_id=S, request_id="r1", outcome="allowed"),
        events.QuestionsResolved(session_id=S, request_id="q1", outcome="answered"),
        events.LimitResolved(session_id=S, request_id="l1"),
        ended(),
    ]
    listener.at["LimitAsked"] = lambda: pipe.put(
        {"type": "decide", "request_id": "r1", "allow": True, "scope": "session"},
        {"type": "answer", "request_id": "q1", "answers": [{"chosen": [1]}]},
        {"type": "limit", "request_id": "l1", "go": True},
        {"type": "stop", "now": True},
    )
    decided: list[Decision] = []
    client.decide = lambda request_id, decision: decided.append(decision)  # type: ignore[method-assign]
    assert hold(client, pipe, listener).refused == []
    assert decided == [Decision(allow=True, scope="session")]
    reply = QuestionsReply("answered", (QuestionAnswer((1,)),))
    assert client.did == ["a", reply, ("l1", True), "now"]


def test_an_answer_to_nothing_that_waits_is_refused_with_what_does_wait() -> None:
    client, listener = Writer((ASKED,)), Listener()
    pipe = Pipe(prompt("a"))
    pipe.more = True
    resolved = events.ApprovalResolved(session_id=S, request_id="r1", outcome="allowed")
    client.at_stop = [resolved, ended()]
    listener.at["ApprovalRequested"] = lambda: pipe.put(
        {"type": "decide", "request_id": "nope", "allow": True},
        {"type": "answer", "request_id": "r1"},
        {"type": "decide", "request_id": "r1", "allow": True},
        {"type": "decide", "request_id": "r1", "allow": False},
        {"type": "stop", "now": True},
    )
    assert hold(client, pipe, listener).refused == []
    assert client.did == ["a", ("r1", True, ""), "now"]
    assert [row["message"] for row in listener.rows] == [
        "request_id: nope is none that waits for decide: r1",
        "request_id: r1 is none that waits for answer: none does",
        "request_id: r1 is none that waits for decide: none does",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"answers": [{"chosen": [2]}]}, "answers.0.chosen: it is one of 0, 1, counted from 0"),
        ({"answers": [{"chosen": [-1]}]}, "answers.0.chosen: it is one of 0, 1, counted from 0"),
        ({"answers": [{"chosen": [0, 1]}]}, "answers.0.chosen: only one may be chosen"),
        ({"answers": [{"text": "x"}, {"text": "y"}]}, "answers: 2 for 1 questions"),
        ({"answers": [{"chosen": ["1"]}]}, "answers.0.chosen.0: Input should be a valid integer"),
        (
            {"type": "decide", "request_id": "r1", "allow": "on"},
            "allow: Input should be a valid boolean",
        ),
        (
            {"type": "decide", "request_id": "r1", "allow": True, "scope": "always"},
            "scope: it is one of once, session",
        ),
    ],
)
def test_an_answer_that_is_not_offered_is_refused_and_the_question_waits(
    line: Row, message: str
) -> None:
    questions = (replace(STORE, options=(STORE.options * 2)[:2], multi_select=False),)
    asked = events.QuestionsAsked(session_id=S, request_id="q1", questions=questions)
    client, listener = Writer((replace(ASKED, scopes=("session",)), asked)), Listener()
    pipe = Pipe(prompt("a"))
    pipe.more = True
    client.at_stop = [
        events.QuestionsResolved(session_id=S, request_id="q1", outcome="answered"),
        events.ApprovalResolved(session_id=S, request_id="r1", outcome="denied"),
        ended(),
    ]
    listener.at["QuestionsAsked"] = lambda: pipe.put(
        {"type": "answer", "request_id": "q1", **line},
        {"type": "answer", "request_id": "q1", "answers": [{"chosen": [1]}]},
        {"type": "decide", "request_id": "r1", "allow": False},
        {"type": "stop", "now": True},
    )
    hold(client, pipe, listener)
    assert [row["message"] for row in listener.rows if row["type"] == "InputRefused"] == [message]
    reply = QuestionsReply("answered", (QuestionAnswer((1,)),))
    assert client.did == ["a", reply, ("r1", False, ""), "now"]


def test_what_still_waits_when_nobody_writes_any_more_is_refused() -> None:
    client = Writer((replace(ASKED, payload="make all"), ended()))
    result = hold(client, Pipe(prompt("a")))
    assert client.did[1][:2] == ("r1", False)
    assert (result.status, result.exit_status) == ("refused", 3)
    assert result.refused == ["bash wants to run a command make all"]


def test_without_a_prompt_nothing_was_done() -> None:
    result = hold(Writer(), Pipe())
    assert (result.exit_status, result.message) == (1, "There was no prompt")


def read(given: bytes, longest: int = 100) -> list[Any]:
    lines = InputLines(io.BytesIO(given), longest)
    lines._work()
    found = lines.take()
    assert lines.ended
    return [line for _, line in found]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"nonsense", "Invalid JSON"),
        (b"\xff", "Invalid JSON"),
        (b"[1]", "should be an object"),
        (b'{"text": "a"}', "It has no `type`"),
        (b'{"type": "else"}', "'prompt', 'steer'"),
        (b'{"type": "prompt"}', "text: Field required"),
        (b'{"type": "prompt", "text": ""}', "text: "),
        (b'{"type": "stop", "what": 1}', "what: Extra inputs"),
        (b'{"type": "decide", "request_id": "r", "allow": "maybe"}', "allow: "),
        (b'"' * 300, "longer than 100 bytes"),
    ],
)
def test_a_line_that_makes_no_sense_is_named_and_costs_nothing_else(
    line: bytes, message: str
) -> None:
    refused, good = read(b"\n" + line + b'\n{"type": "stop"}')
    assert isinstance(refused, RefusedLine) and refused.line == 2
    assert message in refused.message
    assert good.type == "stop"
    listener = Listener()
    pipe = Pipe(prompt("a"))
    pipe._rows.insert(0, (2, refused))
    assert hold(Writer(), pipe, listener).exit_status == 0
    assert listener.rows == [{"type": "InputRefused", "line": 2, "message": refused.message}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "jsonl"], "needs --output jsonl"),
        (["--input", "jsonl", "--output", "jsonl", "--approve", "ask"], "write decide"),
        (["hi", "--session-id", "mine"], "no UUID"),
        (["hi", "--continue", "--session-id", "mine"], "two sessions"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["run", *arguments]) == 2
    assert message in capsys.readouterr().err


SCRIPT = {
    "scenarios": [
        {
            "steps": {
                "ask": {"call": [{"bash": {"command": "touch made.txt"}}]},
                "end": {"say": "It is there: {{prompt}}"},
            }
        }
    ]
}
BUNDLE = """---
bundle: {{name: piped}}
session:
  orchestrator: {{module: loop-basic}}
  context: {{module: context-simple}}
providers:
- module: provider-mock
  config: {{script: {script}, tokens_per_second: 0}}
tools:
- module: tool-bash
---
Be brief.
"""
ID = "0b6ef2a4-4d2f-4a58-9d3a-6b1f5d3c2a10"


def test_a_program_prompts_decides_and_reads_on_and_every_line_fits_the_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT))
    bundle = tmp_path / "piped.md"
    bundle.write_text(BUNDLE.format(script=tmp_path / "script.json"))
    command = [sys.executable, "-m", "amplifier_tui", "run", "--bundle", str(bundle)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": work}
    streams = ("--input", "jsonl", "--output", "jsonl")
    own = ("--session-id", ID, "--system-append", "Say please.")
    rows: list[Row] = []
    with subprocess.Popen([*command, *streams, *own], bufsize=1, **pipes) as process:  # type: ignore[call-overload]

        def write(row: Row) -> None:
            process.stdin.write(f"{json.dumps(row)}\n")

        write(prompt("hello"))
        write({"type": "nonsense"})
        for line in process.stdout:
            rows.append(json.loads(line))
            if rows[-1]["type"] == "ApprovalRequested":
                asked = rows[-1]["request_id"]
                write({"type": "decide", "request_id": asked, "allow": True})
                process.stdin.close()
    assert (work / "made.txt").exists()
    assert (rows[-1]["status"], rows[-1]["answer"]) == ("done", "It is there: hello")
    assert {row["session_id"] for row in rows if "session_id" in row} == {ID}
    assert [row["line"] for row in rows if row["type"] == "InputRefused"] == [2]
    parts = [row["sources"] for row in rows if row["type"] == "BudgetChanged"][-1]
    assert "user:system-append" in {part["source"] for part in parts}

    assert run_command(["schema", "events"]) == 0
    schema = Draft202012Validator(json.loads(capsys.readouterr().out))
    assert [row["type"] for row in rows if not schema.is_valid(row)] == []
    for row in rows:
        if row["type"] not in ("RunEnded", "InputRefused"):
            assert events.HostEvent.from_json(row).to_json() == row

    (work / "events.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    examples = re.findall(r"^jq .*$", README.read_text(), re.MULTILINE)
    assert len(examples) == 5
    for example in examples:
        shown = subprocess.run(
            ["bash", "-c", example], cwd=work, capture_output=True, text=True, check=False
        )
        if shown.returncode == 127:
            break  # There is no jq here.
        assert shown.stdout.strip() and not shown.stderr, example

    waits = sessions_dir(work) / ID / "queue.json"
    waits.write_text('{"prompts": [{"text": "on the screen"}]}')
    again = [*command[:-2], "-", "--resume"]
    once = subprocess.run(
        again, cwd=work, input="once\n", capture_output=True, text=True, check=False
    )
    assert "on the screen" in waits.read_text()
    assert "on the screen" not in (waits.parent / "transcript.jsonl").read_text()
    assert once.returncode == 3
    assert once.stdout == "It is there: once\n"
    assert "once" in (waits.parent / "transcript.jsonl").read_text()
    assert "Refused: bash wants to run a command" in once.stderr and "\x1b" not in once.stderr
