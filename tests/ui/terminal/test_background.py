"""What a terminal tells of its background: read from the input, and followed by the theme."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from amplifier_tui.ui.app.preferences import Preferences
from amplifier_tui.ui.app.themes import find_theme
from amplifier_tui.ui.terminal import background
from amplifier_tui.ui.terminal.background import BackgroundTold, ReportsOffered, light_of
from amplifier_tui.ui.terminal.input import GuardedParser
from tests.ui.driving import running

WHITE = "\x1b]11;rgb:ffff/ffff/ffff\x07"
DARK = "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\"


def parsed(*chunks: str) -> list[Message]:
    parser = GuardedParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def told(found: list[Message]) -> list[bool | None]:
    return [event.light for event in found if isinstance(event, BackgroundTold)]


def keys(found: list[Message]) -> list[str]:
    return [event.key for event in found if isinstance(event, events.Key)]


@pytest.mark.parametrize(
    ("answer", "light"),
    [
        ("\x1b]11;rgb:ffff/ffff/ffff\x07\x1b[?62c", True),
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?1;2c", False),
        ("\x1b]11;rgba:ff/fa/e0/ff\x07", True),
        ("\x1b[?62;22c", None),
        ("", None),
        ("\x1b]11;#ffffff\x07", None),
    ],
)
def test_the_background_is_read_from_what_a_terminal_answers(
    answer: str, light: bool | None
) -> None:
    assert light_of(answer) is light


@given(
    st.lists(st.sampled_from([WHITE, DARK, "\x1b[?997;2n", "\x1b[A", "x", "é"]), max_size=6),
    st.lists(st.integers(0, 120), max_size=5),
)
def test_an_answer_presses_no_key_wherever_it_is_cut(pieces: list[str], places: list[int]) -> None:
    text = "".join([*pieces, "."])
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    found = parsed(*(text[a:b] for a, b in itertools.pairwise(edges)))
    names = {"\x1b[A": "up", "x": "x", "é": "é"}
    assert keys(found) == [*(names[piece] for piece in pieces if piece in names), "full_stop"]
    lights = {WHITE: True, DARK: False, "\x1b[?997;2n": True}
    assert sorted(map(bool, told(found))) == sorted(lights[p] for p in pieces if p in lights)


def test_an_answer_without_a_colour_presses_no_key_either() -> None:
    found = parsed("\x1b]11;#ffffff\x07", "\x1b]11;\x1b\\", "a")
    assert keys(found) == ["a"] and told(found) == [None, None]


def test_what_only_looks_like_the_beginning_of_an_answer_is_a_key_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("amplifier_tui.ui.terminal.input.get_time", lambda: now)
    monkeypatch.setattr("textual._parser.get_time", lambda: now)
    parser = GuardedParser()
    found = [*parser.feed("\x1b]"), *parser.tick()]
    assert not found
    for _ in range(2):
        now += 0.2
        found += parser.tick()
    assert keys(found) == ["right_square_bracket"]


@pytest.mark.parametrize(("setting", "offered"), [(0, False), (1, True), (2, True), (4, False)])
def test_reports_are_taken_where_the_terminal_has_them(setting: int, offered: bool) -> None:
    found = parsed(f"\x1b[?2031;{setting}$y", "a")
    assert any(isinstance(event, ReportsOffered) for event in found) is offered
    assert keys(found) == ["a"]


def test_what_stands_between_hands_the_question_on() -> None:
    plain = background.QUESTION
    assert background.question({}) == plain
    assert background.question({"STY": "1.tty"}) == f"\x1bP{plain}\x1b\\"
    # From 3.4 on tmux answers for the terminal, before that it hands on.
    assert background.question({"TMUX": "x"}) == f"{plain}\x1bPtmux;\x1b{plain}\x1b\\"


async def test_the_theme_follows_the_terminal_until_one_is_chosen_and_is_there_at_once_later() -> (
    None
):
    async with running() as drive:
        assert drive.app.theme == "ink"
        drive.app.post_message(BackgroundTold(True))
        await drive.until(lambda: drive.app.theme == "paper")
        drive.app.post_message(BackgroundTold(None))
        await drive.settle()
        assert drive.app.theme == "paper"
        await drive.press("ctrl+x", "h", "enter")
    # Looking at the list and leaving it as it stands chooses none.
    assert Preferences().theme == ""
    async with running() as drive:
        assert drive.app.theme == "paper"
        drive.app.action_themes("moss")
        drive.app.post_message(BackgroundTold(False))
        await drive.settle()
        assert drive.app.theme == "moss"
        drive.app.action_themes("auto")
        drive.app.post_message(BackgroundTold(False))
        await drive.until(lambda: drive.app.theme == "ink")
    assert Preferences().theme == ""
    assert Preferences().fitting == {**find_theme("ink"), "dark": True}


async def test_a_theme_for_this_run_is_not_changed_by_the_terminal() -> None:
    async with running(theme="moss") as drive:
        drive.app.post_message(BackgroundTold(True))
        await drive.settle()
        assert drive.app.theme == "moss"


@pytest.mark.parametrize("fits", ["ink", "paper"])
async def test_following_a_terminal_that_tells_nothing_is_as_at_the_next_start(fits: str) -> None:
    if fits == "paper":
        Preferences().set_fitting({**find_theme(fits), "dark": False})
    async with running(theme="contrast") as drive:
        drive.app.action_themes("auto")
        await drive.settle()
        assert drive.app.theme == fits
