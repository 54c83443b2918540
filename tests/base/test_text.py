import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_tui.base.text import (
    StreamCleaner,
    clean,
    encodable,
    left_out,
    one_line,
    portable,
    printable,
    printed,
    reveal,
    shortened,
    spent_of,
    with_remedy,
    written,
)

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


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d👧 1\ufe0f\u20e3", "👩\u200d👧 1\ufe0f\u20e3"),
        ("ab\u200dc \u200d漢\u202e\x1b[31m", "abc 漢"),
    ],
)
def test_what_words_and_signs_are_joined_with_stays_where_others_lay_the_text_out(
    text: str, left: str
) -> None:
    assert portable(text) == left


@given(HOSTILE)
def test_but_for_joiners_a_portable_text_controls_no_terminal(text: str) -> None:
    shown = portable(text)
    assert clean(shown) == "".join(shown.replace("\u200d", "").split("\ufe0f"))


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
@example("aaaa\r\x1ba\n", [6])
@example("one\r\x1b[31m\ntwo", [3, 1, 2, 3])
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


def test_a_line_end_that_a_sequence_stands_in_is_one_line_end() -> None:
    cleaner = StreamCleaner()
    shown = [cleaner.feed("aaaa\r\x1b"), cleaner.feed("a\n"), cleaner.finish()]
    assert "".join(shown) == clean("aaaa\r\x1ba\n") == "aaaa\n"


@pytest.mark.parametrize(
    "text",
    [
        "\x9d" * 1_000_000,
        "\x1b]" * 500_000,
        "\x1b[" + "0" * 1_000_000,
        "\x1b" + " " * 1_000_000,
        "\r" + "a" * 1_000_000,
        "\r" * 1_000_000 + "\n",
        "\u202e" * 1_000_000,
        ("\x1b]" + "a" * 4000) * 250,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_a_megabyte_of_anything_takes_less_than_a_second(text: str) -> None:
    begun = time.process_time()
    clean(text)
    printed(text)
    cleaner = StreamCleaner()
    for at in range(0, len(text), 100):
        cleaner.feed(text[at : at + 100])
    cleaner.finish()
    assert time.process_time() - begun < 3


def test_a_stream_holds_back_no_more_than_the_longest_sequence() -> None:
    cleaner = StreamCleaner()
    assert cleaner.feed("\x1b[" + "0" * 10_000).endswith("000")


def test_a_progress_bar_shows_its_last_state() -> None:
    assert printed("10%\r50%\r100%\ndone\r\n") == "100%\ndone\n"
    assert printed("\x1b[32m10%\r\x1b[K20%\r") == "20%"


def test_what_a_command_printed_keeps_the_characters_that_are_no_controls() -> None:
    assert printed("👩\u200d💻 \x1b]0;title\x07a\x00\tb\n") == "👩\u200d💻 a\tb\n"


def test_a_name_is_one_line_of_printable_characters() -> None:
    assert printable("a\nb\x1b[31m\u202e\ud800ü") == "a?b?[31m??ü"


def test_a_request_keeps_line_ends_and_loses_what_no_api_accepts() -> None:
    assert encodable("a\r\n\tb\x00\x1b\x85\ud800c\u202e") == "a\r\n\tbc\u202e"


def test_a_shortened_text_says_that_something_is_missing() -> None:
    assert shortened("abcd", 4) == "abcd"
    assert shortened("abcde", 4) == "abc…"


def test_one_line_joins_lines_and_says_what_is_missing() -> None:
    assert one_line("a\n  b\tc ") == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
    assert one_line("\x1b[1m" * 3 + "ok") == "ok"


def test_a_problem_and_its_remedy_are_sentences() -> None:
    assert with_remedy("No 'x'", "Name another.") == "No 'x'. Name another."
    assert with_remedy("Why?", "Ask.") == "Why? Ask."
    assert [with_remedy("a", ""), with_remedy("", "b")] == ["a", "b"]


def test_what_a_person_writes_keeps_its_joiners_and_what_it_loses_is_known() -> None:
    text = "\u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f4bb \u2764\ufe0f\u2028\u200c"
    assert written(text) == text.replace("\u2028", "\n")
    assert left_out(text) == ()
    assert written("a\u202eb\x1b[31m\u200bc\u200b\r\n") == "abc\n"
    assert left_out("a\u202eb\x1b[31m\u200bc\u200b\r\n") == ("U+202E", "U+001B", "U+200B")


def test_reveal_writes_out_what_cannot_be_seen() -> None:
    assert reveal("rm \u202e\x1b[0m\tx\n") == "rm ‹U+202E›‹U+001B›[0m\tx\n"


@pytest.mark.parametrize(
    ("limit", "used", "more", "words"),
    [
        ("5", "4.92", "0.31", "$4.92 of $5 used, about $0.31 more"),
        ("0.02", "0.0098", "0.01043", "$0.0098 of $0.02 used, about $0.0104 more"),
        ("0.015", "0.004", "0.02", "$0.004 of $0.015 used, about $0.020 more"),
        ("5", "4.9996", "0.0007", "$4.9996 of $5 used, about $0.0007 more"),
        ("5", "5.2", "0.0007", "$5.20 of $5 used, less than $0.01 more"),
        ("1200.5", "1200.4", "0.2", "$1,200.40 of $1,200.50 used, about $0.20 more"),
        ("5", None, "6", "$0.00 of $5 used, about $6.00 more"),
        ("5", "5.001", None, "$5.001 of $5 used, an unknown amount more"),
    ],
)
def test_what_was_spent_of_a_limit_adds_up_to_why_it_is_asked_about(
    limit: str, used: str | None, more: str | None, words: str
) -> None:
    assert spent_of(limit, used, more) == words
