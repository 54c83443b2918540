"""What is asked in the line mode: whole, with numbered answers, and never answered by accident."""

import json
from concurrent.futures import Future

import pytest

from amplifier_tui.base.capabilities.questions import Question, QuestionOption
from amplifier_tui.cli.plain import waiting_questions
from amplifier_tui.cli.plain.choices import NumberedChoice, NumberedQuestion
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.host.client import Decision, QuestionAnswer, QuestionsReply, TrustDecision
from amplifier_tui.host.events import (
    ApprovalResolved,
    HostEvent,
    LimitAsked,
    OpeningReported,
    PlanProposed,
    QuestionsAsked,
    ReportItem,
    Segment,
    TrustAsked,
)
from tests.cli.plain.scripted import ScriptedClient, make_session, said
from tests.ui.requests import DIFF, ask
from tests.ui.state.make import make, opened, turn, turn_ended


def decided(lines: str, **values: object) -> tuple[list[Decision], str]:
    client = ScriptedClient(batches=[[turn(), ask(**values)], [turn_ended()]])
    text = said(client, f"go\n{lines}")
    return [decision for _, decision in client.named("decide")], text


@pytest.mark.parametrize(
    ("lines", "decision"),
    [
        ("1\n", Decision(allow=True)),
        ("2\n", Decision(allow=True, scope="session")),
        ("3\n", Decision(allow=True, scope="project")),
        ("4\n", Decision(allow=False)),
        ("yes\n9\n\n4\n", Decision(allow=False)),
        ("5\nuse git\n", Decision(allow=False, reason="use git")),
        ("5\n\n", Decision(allow=False)),
        # Nobody answers any more.
        ("", Decision(allow=False, reason="nobody can be asked", unasked=True)),
    ],
)
def test_an_approval_is_answered_by_number(lines: str, decision: Decision) -> None:
    assert decided(lines)[0] == [decision]


def test_an_approval_says_all_there_is_before_it_is_answered() -> None:
    evil = "rm -rf build \u202e#\x1b[8m hidden"
    parts = (Segment(text="rm -rf build", note="no rule"), Segment(text="ls"))
    rule = {"meaning": "whatever", "kept_in": "/p/rules.yaml"}
    _, text = decided("4\n", payload=evil, diff=DIFF, prompt="May I?", segments=parts, **rule)
    asked = text.partition("Approval: bash wants to run a command\n")[2]
    for part in (
        *("It says: May I?\n| rm -rf build", "| -x = 1\n| +x = 2\n", "In /home/u/src/app"),
        *("Risk: high: deletes files", "These are 2 commands:\n| rm -rf build\n  no rule\n| ls\n"),
        *("Asked by: hooks-approval\nAsked because: not on the allow list\n",),
        *("also later in this session: rm -rf build (whatever)\n",),
        *("also later in this project: rm -rf build (whatever), kept in /p/rules.yaml\n",),
    ):
        assert part in asked, part
    _, text = decided("4\n", payload="npm ci", network=True, **rule)
    assert "in this project: rm -rf build (whatever), with the network, kept in /p/rules" in text
    assert "hidden" in asked and "\x1b" not in text and "\u202e" not in text
    assert "U+202E" in asked or "202e" in asked.lower()


@pytest.mark.parametrize(("lines", "allowed"), [("1\n2\n", True), ("1\n1\n", False)])
def test_what_is_critical_is_allowed_twice(lines: str, allowed: bool) -> None:
    decisions, text = decided(lines, risk="critical", scopes=("once",))
    assert decisions == [Decision(allow=allowed)]
    assert "The risk is critical.\n  1  Deny\n  2  Allow it all the same\n" in text


def test_a_question_that_is_answered_elsewhere_is_taken_away() -> None:
    gone = make(ApprovalResolved, request_id="r1", outcome="timed_out", by="timeout")
    client = ScriptedClient(batches=[[turn(), ask(), gone, turn_ended()], [turn(), turn_ended()]])
    text = said(client, "go\nnext\n")
    assert "The question is no longer open: timed_out.\n" in text
    assert client.named("submit") == [("go",), ("next",)] and not client.named("decide")


def test_an_agents_questions_are_asked_one_after_the_other() -> None:
    options = (QuestionOption("red"), QuestionOption("blue", "as the sky"), QuestionOption("grey"))
    asked = make(
        QuestionsAsked,
        request_id="q",
        questions=(
            Question("Which?", options=options),
            Question("Which ones?", options=options, multi_select=True),
            Question("Why?"),
            Question("And?", options=options),
        ),
    )
    client = ScriptedClient(batches=[[turn(), asked], [turn_ended()]])
    text = said(client, "go\n2\n1, 3\n\nmy own\n")
    answers = (
        QuestionAnswer((1,)),
        QuestionAnswer((0, 2)),
        QuestionAnswer(),
        QuestionAnswer(text="my own"),
    )
    assert client.named("answer_questions") == [("q", QuestionsReply("answered", answers))]
    assert "  2  blue: as the sky\n" in text
    client = ScriptedClient(batches=[[turn(), asked], [turn_ended()]])
    said(client, "go\n2\n")
    assert client.named("answer_questions") == [("q", QuestionsReply("unavailable"))]


@pytest.mark.parametrize(("line", "go"), [("1\n", True), ("2\n", False), ("", False)])
def test_a_limit_is_passed_only_when_that_is_said(line: str, go: bool) -> None:
    asked = make(LimitAsked, request_id="l", cost="5", used_cost="4.99")
    client = ScriptedClient(batches=[[turn(), asked], [turn_ended()]])
    assert "the limit: $4.99 of $5 used" in said(client, f"go\n{line}")
    assert client.named("answer_limit") == [("l", go)]


ITEMS = tuple(
    TrustItem(key=key, group="code", owner="x", title=f"module {key}", detail="at 1a2b")
    for key in "ab"
)

TRUST = make(TrustAsked, request_id="t", title="The project brings:", items=ITEMS)


class TrustingClient(ScriptedClient):
    def answer_trust(self, request_id: str, decision: TrustDecision) -> None:
        super().answer_trust(request_id, decision)
        self.push(opened())


@pytest.mark.parametrize(
    ("lines", "decision"),
    [
        ("1\n", TrustDecision()),
        ("2\n", TrustDecision(accepted=frozenset("ab"), remember="session")),
        ("3\n", TrustDecision(accepted=frozenset("ab"), remember="always")),
        ("4\n2\n1\n", TrustDecision(accepted=frozenset("b"), remember="session")),
        ("5\n", TrustDecision(cancelled=True)),
        ("", TrustDecision()),
    ],
)
def test_what_others_bring_counts_only_as_far_as_the_user_says(
    lines: str, decision: TrustDecision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_questions, "EARLY", -1.0)
    client = TrustingClient(on_open=[TRUST])
    text = said(client, lines, person=True)
    assert client.named("answer_trust") == [("t", decision)]
    assert "Code that would be fetched, installed and run: module a\n| at 1a2b\n" in text


def test_over_a_pipe_no_line_answers_what_others_bring() -> None:
    client = TrustingClient(on_open=[TRUST], batches=[[turn(), turn_ended()]])
    text = said(client, "3\n")
    assert client.named("answer_trust") == [("t", TrustDecision(unasked=True))]
    assert client.named("submit") == [("3",)]
    assert "Not used without your trust: module a, module b.\n" in text and "--trust" in text


def test_over_a_pipe_what_does_not_count_is_named_once_with_its_hidden_characters() -> None:
    name = "MCP server \u00b7 e\x1b[31mvil\u202e"
    item = TrustItem(key="a", group="power", owner="x", title=name, detail="evil.py")
    asked = make(TrustAsked, request_id="t", title="The project brings:", items=(item,))
    refused = ReportItem(what=name, kind="refused", part="power", why="you refused it")
    other = ReportItem(what="b\u202ead", kind="failed", part="tool", why="it is broken")
    report = make(OpeningReported, items=(refused, other))
    client = TrustingClient(on_open=[asked], batches=[[report, turn(), turn_ended()]])
    text = said(client, "hello\n")
    assert "Not used without your trust: MCP server \u00b7 e‹U+001B›[31mvil‹U+202E›.\n" in text
    assert "you refused it" not in text and "failed: b‹U+202E›ad: it is broken" in text


def test_at_a_terminal_a_line_from_before_the_question_does_not_answer_it() -> None:
    client = TrustingClient(on_open=[TRUST])
    assert "before the question could be read" in said(client, "3\n", person=True)
    assert client.named("answer_trust") == [("t", TrustDecision())]


def test_what_is_said_below_a_question_is_followed_by_what_it_waits_for() -> None:
    session, raw = make_session(ScriptedClient(), "", person=True)
    session._take(ask())
    session._show_question()
    for said_meanwhile in ("Tool read_file: 18 lines", "Tool edit_file: done"):
        session._prompt()
        session._prompt()
        session.say(said_meanwhile)
    session._prompt()
    assert (
        raw.getvalue()
        .decode()
        .endswith(
            "  5  Deny, and say why\nA number:\n> \nTool read_file: 18 lines\nA number:\n> \n"
            "Tool edit_file: done\nA number:\n> "
        )
    )


def test_a_line_break_in_a_name_makes_no_line_that_looks_like_the_programs_own() -> None:
    evil = "a\nRisk: low\n  4  Allow"
    _, text = decided("4\n", paths=(evil,), payload=evil, prompt=evil, diff=evil)
    lines = text.splitlines()
    assert "| Risk: low" in lines and "|   4  Allow" in lines
    assert not {"Risk: low", "4  Allow"} & {line.strip() for line in lines}


def test_what_is_pasted_chooses_no_answer() -> None:
    chosen: list[int] = []

    def choose(*places: int) -> None:
        chosen.extend(places)

    rows = [NumberedChoice(word, lambda: choose(9)) for word in ("yes", "no")]
    for several in (None, choose):
        question = NumberedQuestion(
            [], rows, request_id="r", given_up=lambda: None, several=several
        )
        assert question.answer("1\n2") == question.answer("\n1\n") == (False, None)
    assert not chosen


def test_an_empty_line_says_a_question_again_and_stops_its_clock() -> None:
    client = ScriptedClient(batches=[[turn(), ask(timeout=60.0)], [turn_ended()]])
    text = said(client, "go\nwhat?\n\n4\n")
    assert "none of the answers. An empty line says the question again.\nApproval: bash" in text
    assert text.count("Approval: bash") == text.count("An empty line stops that clock") == 2
    assert client.named("hold") == [("r1",)]
    assert client.named("decide") == [("r1", Decision(allow=False))]


@pytest.mark.parametrize(
    ("lines", "changed"),
    [
        ("6\n1\n  rm -r\\\nout\n", {"command": "  rm -r\nout", "timeout": 5}),
        ("6\n2\nsoon\n7\n", {"command": "rm -rf build", "timeout": 7}),
        ('6\n3\n{"command": "ls"}\n', {"command": "ls"}),
        ("6\n4\n6\n1\n\n4\n", None),
    ],
)
def test_a_call_is_changed_before_it_is_allowed(
    lines: str, changed: dict[str, object] | None
) -> None:
    client = ScriptedClient(batches=[[turn(), ask(editable=True)], [turn_ended()]])
    client.arguments = '{"command": "rm -rf build", "timeout": 5}'
    said(client, f"go\n{lines}")
    assert client.named("hold")[0] == ("r1",)
    sent = [json.loads(text) for _, text in client.named("change_call")]
    assert sent == ([changed] if changed else [])
    allowed = [decision.allow for _, decision in client.named("decide")]
    assert allowed == ([] if changed else [False])


def test_calls_are_asked_about_in_their_order_and_a_changed_one_in_its_place() -> None:
    edited = ask("r3", editable=True, action="bash wants to run the edited", began=1.0)
    late = Future[str]()

    class Client(ScriptedClient):
        def change_call(self, request_id: str, arguments: str) -> Future[str]:
            self.calls.append(("change_call", request_id, arguments))
            late.set_result("")
            return late

        def drain(self) -> list[HostEvent]:
            if late.done() and not self.named("pushed"):
                # Only with the next look, as from a host that judges it anew.
                self.calls.append(("pushed",))
                gone = make(ApprovalResolved, request_id="r1", outcome="changed")
                self.push(edited, gone)
                return []
            return super().drain()

    other = ask("r2", action="bash wants to run the other", began=2.0)
    first = ask("r1", editable=True, action="bash wants to run the first", began=1.0)
    client = Client(batches=[[turn(), other, first], [], [turn_ended()]])
    client.arguments = '{"command": "rm"}'
    text = said(client, "go\n6\n1\nrm x\n1\n1\n")
    asked = [line.partition("the ")[2] for line in text.splitlines() if "Approval: bash" in line]
    assert asked == ["first", "edited", "other"]
    assert [name for name, _ in client.named("decide")] == ["r3", "r2"]


def test_a_change_that_is_wrong_is_said_and_the_call_asked_about_again() -> None:
    client = ScriptedClient(batches=[[turn(), ask(editable=True)], [turn_ended()]])
    client.arguments, client.wrong = '{"command": "ls"}', "`command` is missing"
    text = said(client, "go\n6\n2\n{}\n4\n")
    assert "The call is unchanged: `command` is missing\nApproval: bash" in text
    assert client.named("decide") == [("r1", Decision(allow=False))]


@pytest.mark.parametrize(
    ("lines", "modes", "prompts"),
    [
        ("1\n", [("ask",)], []),
        ("2\n", [("edits",)], []),
        ("3\nmore\n", [], [("more",)]),
        ("with tests\n", [], [("with tests",)]),
        ("", [], []),
        # A slip is no word to the model.
        ("9\n1\n", [("ask",)], []),
    ],
)
def test_a_plan_is_carried_out_or_gone_on_with(
    lines: str, modes: list[tuple[str]], prompts: list[tuple[str]]
) -> None:
    planned = [turn(), make(PlanProposed, turn=1), turn_ended()]
    client = ScriptedClient(batches=[planned, [turn(2), turn_ended(2)]])
    assert "Do what the plan says?\n  1  Do it, and ask" in said(client, f"go\n{lines}")
    assert client.named("carry_out") == modes
    assert client.named("submit") == [("go",), *prompts]
