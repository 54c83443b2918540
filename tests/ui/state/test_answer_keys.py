import pytest

from amplifier_tui.ui.state.answer_keys import (
    ALONE,
    BURST,
    GRACE,
    LOOK_AGAIN,
    QUIET,
    SEEN,
    AnswerKeys,
    Heard,
    OpeningRule,
)


def keys() -> AnswerKeys:
    """Return the keys of a question that opened at 0 and has been read since."""
    return AnswerKeys(0.0)


def test_a_question_opens_at_once_when_nobody_typed() -> None:
    assert OpeningRule().wait(0.0, begun=False) == 0


def test_a_question_waits_for_quiet_hands_and_an_empty_prompt() -> None:
    rule = OpeningRule()
    rule.pressed(10.0)
    assert rule.wait(10.5, begun=False) == pytest.approx(QUIET - 0.5)
    assert rule.wait(10.0 + QUIET, begun=False) == 0
    assert rule.wait(11.4, begun=True) == LOOK_AGAIN
    assert rule.wait(3_600.0, begun=True) == LOOK_AGAIN


def test_a_question_that_was_asked_for_opens_at_once_unless_the_user_goes_on() -> None:
    rule = OpeningRule()
    for goes_on in (lambda: rule.pressed(10.1), rule.clicked):
        rule.pressed(10.0)
        rule.expects()
        assert rule.wait(10.1, begun=True) == 0
        goes_on()
        assert rule.wait(10.2, begun=True) > 0


def test_a_key_that_stays_alone_decides() -> None:
    found = keys()
    assert found.press(5.0, "decides", "a", "allow") is Heard.KEPT
    assert found.settle(5.0 + ALONE - 0.01) == ""
    assert found.settle(5.0 + ALONE) == "allow"
    assert found.settle(9.0) == ""


@pytest.mark.parametrize("gap", [0.0, 0.01, 0.05, 1 / 20, 1 / 3, ALONE - 0.01])
@pytest.mark.parametrize("text", ["an", "ad", "aa", "fi", "ra", "ja", "zd", "da"])
def test_two_letters_of_one_go_are_typing_and_go_back(text: str, gap: float) -> None:
    roles = {"a": "decides", "d": "decides", "f": "decides", "r": "acts", "z": "acts", "j": "acts"}
    found = keys()
    heard = [
        found.press(5.0 + at * gap, roles.get(each, "text"), each, each)
        for at, each in enumerate(text)
    ]
    assert heard[-1] is Heard.BACK and found.text == text
    assert found.settle(60.0) == ""


def test_letters_that_act_do_nothing_within_a_text_that_comes_at_once() -> None:
    found = keys()
    assert found.press(5.0, "acts", "/", "search") is Heard.ACTS
    assert found.press(5.0, "acts", "r", "scope") is Heard.BACK and found.text == "/r"
    # Of a key that is held every one counts, and of two that a hand presses, too.
    held = keys()
    assert {held.press(6.0 + n * BURST / 2, "acts", "n", "next") for n in range(9)} == {Heard.ACTS}
    assert held.press(6.5, "acts", "r", "scope") is Heard.ACTS


def test_letters_of_different_goes_are_not_one_text() -> None:
    found = keys()
    found.press(5.0, "acts", "r", "scope")
    assert found.press(5.0 + ALONE, "decides", "a", "allow") is Heard.KEPT
    assert found.settle(6.0) == "allow"


def test_a_letter_without_meaning_goes_back_with_what_was_typed_before_it() -> None:
    found = keys()
    found.press(5.0, "acts", "r", "scope")
    assert found.press(5.3, "text", "u") is Heard.BACK
    assert found.text == "ru"


def test_a_key_of_the_first_moments_does_not_decide() -> None:
    found = keys()
    found.press(GRACE - 0.01, "decides", "a", "allow")
    assert found.settle(60.0) == ""
    assert found.came_early
    found.press(61.0, "decides", "d", "deny")
    assert found.settle(62.0) == "deny"
    assert not found.came_early


def test_scrolling_is_no_typing_but_a_burst_is_no_answer() -> None:
    found = keys()
    found.press(5.0, "moves")
    assert found.press(5.0 + 2 * BURST, "decides", "a", "allow") is Heard.KEPT
    assert found.press(5.2, "moves") is Heard.ACTS
    assert found.settle(9.0) == ""
    assert found.press(5.21, "decides", "a", "allow") is Heard.BACK


def test_a_key_that_was_read_late_still_counts_as_the_next_one() -> None:
    found = keys()
    found.press(5.0, "decides", "a", "allow")
    assert found.press(7.0, "text", "n") is Heard.BACK
    assert found.text == "an" and found.settle(9.0) == ""


def test_enter_soon_after_a_letter_that_chose_is_an_answer_and_after_a_word_it_is_not() -> None:
    found = keys()
    assert found.press(5.0, "acts", "1", "pick") is Heard.ACTS
    assert found.press(5.2, "decides", "", "go_on") is Heard.KEPT
    assert found.settle(5.2 + ALONE) == "go_on"
    assert found.press(9.0, "acts", "1", "pick") is Heard.ACTS
    assert found.press(9.2, "text", "s") is Heard.BACK
    assert found.press(9.4, "decides", "", "go_on") is Heard.BACK


def pick(found: AnswerKeys, typed: str, gap: float, start: float = 5.0) -> list[Heard]:
    """Press the digits of options, `gap` seconds apart."""
    return [
        found.press(start + at * gap, "picks", digit, f"choose({digit})", own=True)
        for at, digit in enumerate(typed)
    ]


@pytest.mark.parametrize("gap", [2 * BURST, 0.2, 0.37])
def test_options_that_are_picked_one_after_the_other_are_no_word_before_enter(gap: float) -> None:
    found = keys()
    assert pick(found, "123", gap) == [Heard.ACTS] * 3
    assert found.press(5.0 + 3 * gap, "decides", "", "go_on") is Heard.KEPT
    assert found.settle(5.0 + 3 * gap + ALONE) == "go_on"


def test_digits_of_options_are_typing_when_they_began_early_or_come_at_once_or_in_a_word() -> None:
    early = keys()
    pick(early, "12", 0.3, GRACE - 0.1)
    assert early.press(GRACE + 0.5, "decides", "", "go_on") is Heard.BACK and early.text == "12"
    burst = keys()
    assert pick(burst, "123", BURST / 2)[-1] is Heard.BACK and burst.text == "123"
    for typed, role in ((" ", "acts"), ("m", "text"), ("x", "decides")):
        word = keys()
        pick(word, "12", 0.2)
        word.press(5.4, role, typed, "some")  # type: ignore[arg-type]
        assert word.press(5.6, "text", "n") is Heard.BACK and word.text == f"12{typed}n"
    for before in ("q", " "):
        word = keys()
        word.press(5.0, "acts", before, "some")
        pick(word, "1", 0.2, 5.2)
        assert word.press(5.4, "decides", "", "go_on") is Heard.BACK


def test_letters_that_move_about_make_no_word_of_the_one_after_them_and_are_not_lost() -> None:
    found = keys()
    assert found.press(5.0, "moves", "j") is Heard.ACTS
    assert found.press(5.2, "decides", "r", "rewind") is Heard.KEPT
    assert found.settle(5.2 + ALONE) == "rewind"
    assert found.press(9.0, "moves", "g") is Heard.ACTS
    assert found.press(9.2, "decides", "e", "export") is Heard.KEPT
    assert found.press(9.4, "moves", "j") is Heard.BACK
    assert found.text == "gej" and found.settle(60.0) == ""


def test_a_key_that_waits_is_taken_at_once_when_no_word_can_follow() -> None:
    found = keys()
    found.press(5.0, "decides", "x", "drop")
    assert found.take_held() == "drop"
    assert found.take_held() == "" and found.settle(60.0) == ""


def test_a_field_that_opens_with_its_question_takes_no_word_that_was_begun_before() -> None:
    slow = ALONE - 0.1
    for role, letter in (("decides", "x"), ("acts", "j")):
        found = keys()
        assert not found.is_for_field(GRACE - 0.05)
        found.press(GRACE - 0.05, role, letter)  # type: ignore[arg-type]
        assert not found.is_for_field(GRACE - 0.05 + slow)
        assert found.press(GRACE - 0.05 + slow, "text", "e") is Heard.BACK
        assert found.text == f"{letter}e"
    found = keys()
    found.press(0.1, "acts", "j")
    assert found.is_for_field(0.1 + ALONE + 0.01)
    found.gap(0.1 + ALONE + 0.01)
    assert found.is_for_field(0.1 + ALONE + 0.2), "a word of its own is not broken off"


def attended() -> AnswerKeys:
    """Return the keys of a question that the user came to."""
    return AnswerKeys(0.0, attended=True)


def test_to_a_question_one_came_to_an_answer_may_follow_other_keys_but_needs_quiet_after_it() -> (
    None
):
    found = attended()
    for at in (5.0, 5.2):
        assert found.press(at, "acts", "r", "scope", own=True) is Heard.ACTS
    assert found.press(5.4, "decides", "a", "allow") is Heard.KEPT
    assert found.settle(5.4 + ALONE) == "allow"
    assert found.press(9.0, "decides", "a", "allow") is Heard.KEPT
    assert found.press(9.2, "text", "n") is Heard.BACK
    assert found.text == "an" and found.settle(60.0) == ""


def test_what_is_typed_after_a_key_that_opens_a_field_is_for_it_unless_it_comes_at_once() -> None:
    found = attended()
    assert found.press(5.0, "writes", "f", "reason") is Heard.KEPT
    assert found.take_field(5.0 + BURST / 2) == "" and found.take_field(5.0 + 2 * BURST) == "reason"
    assert found.take_field(6.0) == ""
    assert found.press(7.0, "writes", "f", "reason") is Heard.KEPT
    assert found.press(7.0 + BURST / 2, "acts", "n", "next", own=True) is Heard.BACK
    assert found.text == "fn" and found.take_field(8.0) == ""


def test_over_a_question_that_opened_by_itself_a_field_opens_by_a_key_that_stays_alone() -> None:
    found = keys()
    assert found.press(1.0, "writes", "f", "reason") is Heard.KEPT
    assert found.take_field(1.2) == "" and found.settle(1.2) == ""
    assert found.press(1.2, "text", "i") is Heard.BACK and found.text == "fi"


def test_what_is_typed_after_it_is_for_the_field_where_the_question_was_there_for_a_while() -> None:
    found = keys()
    assert found.press(SEEN, "writes", "f", "reason") is Heard.KEPT
    assert found.take_field(SEEN + 0.1) == "reason"
    found.gap(SEEN + 0.1)
    assert found.guessed, "it may have been the begin of a prompt"


@pytest.mark.parametrize(("pause", "guessed"), [(0.1, True), (0.5, False)])
def test_a_field_that_opened_before_the_next_letter_takes_it_for_what_goes_on_or_not(
    pause: float, guessed: bool
) -> None:
    found = keys()
    assert found.press(SEEN, "writes", "f", "reason") is Heard.KEPT
    assert found.settle(SEEN + BURST + 0.01) == "reason"
    found.gap(SEEN + pause)
    assert found.guessed is guessed
    found.gap(SEEN + pause + 1)
    assert found.guessed is guessed, "the first letter tells"


@pytest.mark.parametrize(
    ("typed", "attends"),
    [
        ([(5.0, "r")], True),
        ([(5.0, "r"), (5.3, "r")], True),
        ([(5.0, "r"), (5.3, "z")], False),
        ([(5.0, "r"), (5.0 + BURST / 2, "r")], False),
        ([(GRACE / 2, "r")], False),
    ],
)
def test_a_letter_of_the_questions_own_alone_or_twice_is_no_typing(
    typed: list[tuple[float, str]], attends: bool
) -> None:
    found = keys()
    for at, letter in typed:
        found.press(at, "acts", letter, "something", own=True)
    found.press(typed[-1][0] + ALONE, "moves")
    assert found.attended is attends


def test_a_key_that_types_nothing_and_moves_about_in_the_question_is_no_typing() -> None:
    found = keys()
    found.press(5.0, "moves")
    assert not found.attended, "a key of which it knows nothing"
    found.press(5.0 + BURST / 2, "moves", own=True)
    assert not found.attended, "a burst"
    found.press(6.0, "moves", own=True)
    assert found.attended
