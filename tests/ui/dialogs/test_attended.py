"""A question that the user came to, or has pressed keys of: whose the letters are then."""

import pytest
from textual import events
from textual.keys import key_to_character
from textual.widgets import Input

from amplifier_tui.host.client import Decision, QuestionAnswer, QuestionsReply
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.dialogs.parts.question import AT_ONE_GO
from amplifier_tui.ui.state import answer_keys
from amplifier_tui.ui.state.answer_keys import SEEN
from amplifier_tui.ui.terminal.input import key_name, key_time
from tests.ui.driving import Driver, running
from tests.ui.questions import CHECKS, NAME, STORE, questions
from tests.ui.requests import ask

HAND = 0.18
"""Seconds between the letters of ordinary typing."""
AT_ONCE = 0.005
PAUSE = 1.0


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (ApprovalDialog, AskDialog):
        monkeypatch.setattr(kind, "grace", 0.0)


async def press(drive: Driver, keys: str | list[str], gap: float = HAND, after: float = 0) -> float:
    """Press keys that arrive `gap` seconds apart, and return when the last one did."""
    at = after or key_time()
    for key in keys:
        name = key if len(key) > 1 else key_name(key)
        event = events.Key(name, key_to_character(name))
        event.time, at = at, at + gap
        drive.app.post_message(event)
    await drive.settle()
    return at - gap


def decisions(drive: Driver) -> list[Decision]:
    return [made for _, made in drive.client.named("decide")]


async def come_to(drive: Driver) -> None:
    await drive.write("please ")
    await drive.push(ask())
    await drive.press("f8")
    await drive.dialog(ApprovalDialog)


async def test_after_f_in_a_dialog_one_came_to_the_letters_typed_on_are_the_reason() -> None:
    async with running() as drive:
        await come_to(drive)
        await press(drive, [*"fno docs", "enter"])
        await drive.closed()
        assert decisions(drive) == [Decision(allow=False, reason="no docs")]
        assert drive.draft == "please "


@pytest.mark.parametrize("key", ["r", "question_mark", "z", "down", "tab"])
async def test_after_f_in_a_dialog_one_pressed_a_key_of_the_letters_are_the_reason(
    key: str,
) -> None:
    async with running() as drive:
        await drive.push(ask(payload="rm -rf build\n" * 60))
        await drive.dialog(ApprovalDialog)
        last = await press(drive, [key])
        await press(drive, "fno", after=last + PAUSE)
        reason = drive.app.screen.query_one("#reason", Input)
        assert reason.has_focus and reason.value == "no"
        assert drive.draft == "" and decisions(drive) == []


async def test_over_a_dialog_that_opened_by_itself_a_sentence_with_f_denies_nothing() -> None:
    async with running() as drive:
        await drive.push(ask(), ask("r2", payload="ls"))
        await drive.dialog(ApprovalDialog)
        await press(drive, "fix it")
        await drive.closed()
        assert drive.draft == "fix it" and decisions(drive) == []


async def test_the_dialog_that_comes_back_by_itself_guards_what_is_typed_again() -> None:
    async with running() as drive:
        await come_to(drive)
        await press(drive, "x")
        await drive.closed()
        drive.app.main.prompt.input.clear_draft()
        drive.app.link.keyboard._rule.pressed(float("-inf"))
        await drive.dialog(ApprovalDialog)
        await press(drive, "fix it")
        await drive.closed()
        assert drive.draft == "fix it" and decisions(drive) == []


@pytest.mark.parametrize(
    ("text", "gap"), [("fix it", AT_ONCE), ("as is", AT_ONCE), ("a", 0), ("and so", HAND)]
)
async def test_in_a_dialog_one_came_to_a_text_still_decides_nothing(text: str, gap: float) -> None:
    async with running() as drive:
        await come_to(drive)
        if gap:
            await press(drive, text, gap)
        else:
            drive.app.post_message(events.Paste(text))
        await drive.closed()
        assert drive.draft == f"please {text}" and decisions(drive) == []


async def test_a_reason_that_comes_in_a_burst_is_not_sent_with_it() -> None:
    async with running() as drive:
        await come_to(drive)
        last = await press(drive, "f")
        await press(drive, [*"no", "enter"], AT_ONCE, after=last + HAND)
        assert drive.app.screen.query_one("#reason", Input).value == "no"
        assert decisions(drive) == []


@pytest.mark.parametrize("came", [True, False])
async def test_the_keys_of_somebody_who_knows_them_are_an_answer(came: bool) -> None:
    async with running() as drive:
        if came:
            await come_to(drive)
        else:
            await drive.push(ask())
            await drive.dialog(ApprovalDialog)
        await press(drive, "rra", 0.35)
        await drive.closed()
        assert decisions(drive) == [Decision(allow=True, scope="project")]


async def test_own_words_are_typed_on_where_one_came_to_the_question() -> None:
    async with running() as drive:
        await drive.write("please ")
        await drive.push(questions())
        await drive.press("f8")
        await drive.dialog(AskDialog)
        await press(drive, "wXenon")
        assert drive.app.screen.query_one(Input).value == "Xenon" and drive.draft == "please "


@pytest.mark.parametrize("gap", [0.2, 0.37])
async def test_several_options_picked_fast_and_enter_are_an_answer(gap: float) -> None:
    async with running() as drive:
        await drive.push(questions(CHECKS))
        await drive.dialog(AskDialog)
        await press(drive, ["1", "2", "enter"], gap)
        await drive.closed()
        [(_, reply)] = drive.client.named("answer_questions")
        assert reply == QuestionsReply("answered", (QuestionAnswer((0, 1)),))
        assert drive.draft == ""


async def test_a_digit_that_no_option_has_is_typing() -> None:
    async with running() as drive:
        await drive.push(questions(CHECKS))
        await drive.dialog(AskDialog)
        await press(drive, ["1", "8", "enter"])
        await drive.closed()
        assert drive.draft == "18" and not drive.client.named("answer_questions")


async def test_what_was_typed_on_has_chosen_no_scope() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await press(drive, "ra")
        await drive.closed()
        assert drive.draft == "ra" and not decisions(drive)
        assert "Keys at one go are typing" in drive.text()
        await drive.press("f8")
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.scope == "once"
        last = await press(drive, ["r"], after=key_time() + PAUSE)
        assert dialog.scope == "session"
        await press(drive, ["a"], after=last + PAUSE)
        await drive.closed()
        assert decisions(drive)[0].scope == "session"


async def test_after_f_in_a_dialog_that_was_there_for_a_while_the_letters_are_the_reason() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        last = await press(drive, [*"fno docs", "enter"], after=key_time() + SEEN)
        assert drive.app.screen.query_one("#reason", Input).value == "no docs"
        await drive.until(lambda: AT_ONE_GO in drive.text())
        assert not decisions(drive), "it may have been a prompt"
        await press(drive, ["enter"], after=last + PAUSE)
        await drive.closed()
        assert decisions(drive) == [Decision(allow=False, reason="no docs")]
        assert drive.draft == ""


async def test_a_prompt_that_begins_like_a_key_does_not_deny_where_the_field_opened_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer_keys, "SEEN", 0.0)
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        last = await press(drive, "f")
        await drive.until(lambda: isinstance(dialog.focused, Input))
        last = await press(drive, [*"ix docs", "enter"], after=last + HAND)
        await drive.until(lambda: AT_ONE_GO in drive.text())
        assert not decisions(drive)
        await press(drive, ["enter"], after=last + PAUSE)
        await drive.closed()
        assert decisions(drive) == [Decision(allow=False, reason="ix docs")]


async def test_the_words_for_the_question_after_it_are_sent_with_one_enter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer_keys, "SEEN", 0.0)
    async with running() as drive:
        await drive.push(questions(STORE, NAME))
        await drive.dialog(AskDialog)
        last = await press(drive, [*"why not both", "enter"])
        assert not drive.client.named("answer_questions")
        last = await press(drive, ["enter"], after=last + PAUSE)
        await press(drive, [*"prices", "enter"], after=last + PAUSE)
        await drive.closed()
        [(_, reply)] = drive.client.named("answer_questions")
        assert [each.text for each in reply.answers] == ["hy not both", "prices"]


async def test_an_enter_that_is_kept_is_heard_where_the_status_bar_is_covered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer_keys, "SEEN", 0.0)
    async with running(size=(40, 12)) as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        rung: list[bool] = []
        monkeypatch.setattr(drive.app, "bell", lambda: rung.append(True))
        await press(drive, [*"fix docs", "enter"])
        assert rung and not decisions(drive)


@pytest.mark.parametrize(
    ("why", "rule", "said"),
    [
        (
            "mode ask: asks before tools it knows nothing of",
            "lookup",
            "you are asked less with a rule, or in a mode that lets it through: F5",
        ),
        ("mode auto: asks before the network", "lookup", "you are asked less with a rule: F5"),
        (
            "it wants to run outside of the sandbox",
            "",
            "a yes holds for this call alone: no rule can be kept of it",
        ),
    ],
)
async def test_why_says_what_can_be_done_where_no_more_is_to_be_said(
    why: str, rule: str, said: str
) -> None:
    scopes = ("once", "session") if rule else ("once",)
    async with running(size=(120, 36)) as drive:
        await drive.push(
            ask(
                asker="amplifier-tui",
                tool="lookup",
                prompt="",
                why=why,
                segments=(),
                rule=rule,
                scopes=scopes,
            )
        )
        await drive.dialog(ApprovalDialog)
        assert "asked less" not in drive.text() and "a yes holds" not in drive.text()
        await drive.press("question_mark")
        assert said in drive.text()
