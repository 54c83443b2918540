"""What is asked in the line mode: whole, with numbered answers, and never answered by accident."""

import pytest

from amplifier_tui.base.capabilities.questions import Question, QuestionOption
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.host.client import Decision, QuestionAnswer, QuestionsReply, TrustDecision
from amplifier_tui.host.events import ApprovalResolved, LimitAsked, QuestionsAsked, TrustAsked
from tests.cli.plain.scripted import ScriptedClient, said
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
        ("", Decision(allow=False, reason="nobody can be asked")),
    ],
)
def test_an_approval_is_answered_by_number(lines: str, decision: Decision) -> None:
    assert decided(lines)[0] == [decision]


def test_an_approval_says_all_there_is_before_it_is_answered() -> None:
    evil = "rm -rf build \u202e#\x1b[8m hidden"
    _, text = decided("4\n", payload=evil, diff=DIFF, prompt="May I?")
    asked = text.partition("Approval: bash wants to run a command\n")[2]
    for part in ("May I?", "-x = 1\n+x = 2\n", "In /home/u/src/app", "Risk: high: deletes files"):
        assert part in asked, part
    assert "Asked because: not on the allow list\n" in asked
    assert "also later in this session: rm -rf build\n" in asked
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
    assert "the limit of $5; used are $4.99" in said(client, f"go\n{line}")
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
    lines: str, decision: TrustDecision
) -> None:
    client = TrustingClient(on_open=[TRUST])
    text = said(client, lines)
    assert client.named("answer_trust") == [("t", decision)]
    assert "Code that would be fetched, installed and run: module a\n  at 1a2b\n" in text


def test_at_a_terminal_a_line_from_before_the_question_does_not_answer_it() -> None:
    client = TrustingClient(on_open=[TRUST])
    assert "before the question could be read" in said(client, "3\n", person=True)
    assert client.named("answer_trust") == [("t", TrustDecision())]


def test_a_line_break_in_a_name_makes_no_line_that_looks_like_the_programs_own() -> None:
    _, text = decided("4\n", paths=("a\nRisk: low\n  4  Allow",))
    lines = text.splitlines()
    assert "      Risk: low" in lines and "        4  Allow" in lines
    assert "Risk: low" not in lines and "  4  Allow" not in lines
