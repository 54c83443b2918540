import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.sanitize import StreamCleaner, clean, clean_output, one_line, reveal

HOSTILE = st.text(
    alphabet=st.sampled_from(
        "ab [];:\\0159mHJ\n\r\t\x00\x07\x08\x0b\x1b\x7f\x85\x90\x9b\x9c\x9d\u200b\u200d\u202e\u2066"
        "\u2028\ufe0f\ufeff\ud800漢🙂\U000e0041?\x18"
    ),
    max_size=80,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]52;c;ZXZpbA==\x07after", "after"),
        ("\x1b]0;title\x9cafter", "after"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bPq#0;2;0;0;0\x1b\\sixel", "sixel"),
        ("\x1bcreset", "reset"),
        ("\x1b\x1b[31m[0m", "[0m"),
        ("[red]markup[/red]", "[red]markup[/red]"),
        ("bell\x07 null\x00 delete\x7f", "bell null delete"),
        ("abc\u202edcb\u2066x", "abcdcbx"),
        ("zero\u200bwidth\u200d\ufeff", "zerowidth"),
        ("tags\U000e0041\U000e0042", "tags"),
        ("one\r\ntwo\rthree\u2028four\x0bfive", "one\ntwo\nthree\nfour\nfive"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("漢字 🙂 e\u0301", "漢字 🙂 e\u0301"),
    ],
)
def test_control_sequences_are_gone_and_text_stays(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_an_unfinished_sequence_does_not_hide_the_words_behind_it() -> None:
    assert clean("\x1b]0;rm -rf / is next\nsecond line") == "0;rm -rf / is next\nsecond line"


@given(HOSTILE)
def test_nothing_that_controls_a_terminal_is_left(text: str) -> None:
    shown = clean(text)
    assert all(
        character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Cf")
        for character in shown
    )
    assert clean(shown) == shown
    shown.encode()


@given(HOSTILE, st.lists(st.integers(1, 7), max_size=40))
def test_a_text_in_fragments_is_cleaned_like_the_whole(text: str, sizes: list[int]) -> None:
    cleaner = StreamCleaner()
    shown, position = "", 0
    for size in sizes:
        shown += cleaner.feed(text[position : position + size])
        position += size
    shown += cleaner.feed(text[position:]) + cleaner.finish()
    assert shown == clean(text)


def test_a_fragment_that_ends_in_a_sequence_waits_for_its_end() -> None:
    cleaner = StreamCleaner()
    assert cleaner.feed("safe\x1b]8;;http") == "safe"
    assert cleaner.feed("://x\x1b\\link") == "link"


def test_a_progress_bar_shows_its_last_state() -> None:
    assert clean_output("10%\r50%\r100%\ndone\r\n") == "100%\ndone\n"


def test_one_line_joins_lines_and_says_what_is_missing() -> None:
    assert one_line("a\n  b\tc ") == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
    assert one_line("\x1b[1m" * 3 + "ok") == "ok"


def test_reveal_writes_out_what_cannot_be_seen() -> None:
    assert reveal("rm \u202e\x1b[0m\tx\n") == "rm ‹U+202E›‹U+001B›[0m\tx\n"
