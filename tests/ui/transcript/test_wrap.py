import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from amplifier_tui.ui.transcript.lines import Span, StyledLine, cropped_left, is_narrow, wrap
from amplifier_tui.ui.widgets.styled import fit

UNITS = [*"ab -,.漢字かー。「」🙂é–…“”\n", "e\u0301", "漢\u0301\u0302"]
TEXT = st.lists(st.sampled_from(UNITS), max_size=120).map("".join)


def texts(lines: list[StyledLine]) -> list[str]:
    return [line.text for line in lines]


def rejoined(lines: list[StyledLine]) -> str:
    return "".join(line.text + ("\n" if line.join is None else line.join) for line in lines)[:-1]


def test_words_stay_whole_where_they_fit() -> None:
    assert texts(wrap([Span("the quick brown fox")], 10)) == ["the quick", "brown fox"]


def test_a_word_wider_than_the_column_is_cut() -> None:
    assert texts(wrap([Span("see abcdefghijkl now")], 5)) == ["see", "abcde", "fghij", "kl", "now"]


def test_wide_characters_may_break_anywhere_but_before_a_full_stop() -> None:
    assert texts(wrap([Span("漢字漢字。漢")], 8)) == ["漢字漢", "字。漢"]


def test_styles_survive_the_break() -> None:
    lines = wrap([Span("one ", "text"), Span("two three", "code")], 8)
    assert lines == [
        StyledLine((Span("one ", "text"), Span("two", "code")), join=" "),
        StyledLine((Span("three", "code"),)),
    ]


def test_preformatted_text_keeps_every_space() -> None:
    lines = wrap([Span("a    b    c")], 4, words=False)
    assert texts(lines) == ["a ", " b", "  c"] and rejoined(lines) == "a    b    c"


def test_preformatted_text_breaks_after_words_where_there_are_words() -> None:
    assert texts(wrap([Span("one two three")], 9, words=False)) == ["one two", "three"]
    assert texts(wrap([Span("    abcdefghij")], 10, words=False)) == ["    abcdef", "ghij"]
    assert texts(wrap([Span("  a bcdefghijk")], 12, words=False)) == ["  a", "bcdefghijk"]
    assert texts(wrap([Span("漢字 漢字漢字")], 9, words=False)) == ["漢字", "漢字漢字"]


@given(TEXT, st.integers(2, 40))
def test_no_line_is_wider_than_the_column(text: str, width: int) -> None:
    for line in texts(wrap([Span(text)], width)):
        assert cell_len(line.rstrip()) <= width
    for line in texts(wrap([Span(text)], width, words=False)):
        assert cell_len(line) <= width


@given(TEXT, st.integers(1, 40))
def test_joining_the_lines_gives_the_text_back(text: str, width: int) -> None:
    assert rejoined(wrap([Span(text)], width, words=False)) == text
    assert rejoined(wrap([Span(text)], width)).split() == text.split()


@given(TEXT, st.integers(1, 20))
def test_splitting_the_text_into_spans_changes_no_break(text: str, width: int) -> None:
    middle = len(text) // 2
    whole = texts(wrap([Span(text)], width))
    assert texts(wrap([Span(text[:middle], "a"), Span(text[middle:], "b")], width)) == whole


@given(st.text(max_size=20))
def test_text_called_narrow_has_one_cell_a_character(text: str) -> None:
    printable = "".join(character for character in text if character.isprintable())
    if is_narrow(printable, 0, len(printable)):
        assert sum(map(get_character_cell_size, printable)) == len(printable)


@pytest.mark.parametrize("width", [0, 1, 2, 5, 9, 10, 11])
def test_cropping_fits_and_says_that_something_is_missing(width: int) -> None:
    for text in ("abcdefghij", "漢字漢字漢"):
        for crop in (fit, cropped_left):
            short = crop(text, width)
            assert cell_len(short) <= width
            assert (short == text) == (width >= 10)
            assert short == text or not short or "…" in short
