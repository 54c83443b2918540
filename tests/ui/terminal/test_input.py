import itertools
from importlib import import_module

from hypothesis import assume, example, given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from amplifier_tui.base.text import clean
from amplifier_tui.ui.terminal.input import GuardedParser, guard_pastes, read_any_bytes

START, END = "\x1b[200~", "\x1b[201~"
PIECES = st.sampled_from(
    ["a", "\r", "\n", "\x1b", "\x1b[31m", "\x1b]52;c;eA==\x07", "\x1b[200~", "\x1bOP", "\x07",
     "\x03", "[201", "~", "漢", "\x9b", "\x1b[A", "\x1b[<0;1;1M", " "]
)  # fmt: skip


def parsed(chunks: list[str]) -> list[Message]:
    parser = GuardedParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in itertools.pairwise(edges)]


@given(st.lists(PIECES, max_size=12), st.lists(st.integers(0, 200), max_size=6))
# A sequence inside a line end: in one piece and in fragments it is one new line.
@example(pieces=["a"] * 6 + ["\r", "\x1b[200~", "\n", "\x1b[31m"], places=[189])
def test_no_paste_presses_a_key_however_it_is_cut(pieces: list[str], places: list[int]) -> None:
    text = "".join(pieces)
    assume(END not in text)  # where the terminal lets that through, the paste has ended
    found = parsed(cut(f"x{START}{text}{END}y", places))
    keys = [event.key for event in found if isinstance(event, events.Key)]
    assert keys == ["x", "y"]
    pasted = [event.text for event in found if isinstance(event, events.Paste)]
    assert pasted == [clean(text)]


@given(st.lists(st.sampled_from(["a", "\x1b[A", "\x1bOP", "\t", "\x1b[I"]), max_size=8))
def test_keys_pass_as_they_are(keys: list[str]) -> None:
    from textual._xterm_parser import XTermParser

    text = "".join(keys) + "."
    assert [repr(e) for e in parsed([text])] == [repr(e) for e in XTermParser().feed(text)]


def test_ctrl_space_is_that_key_in_terminals_without_the_kitty_protocol() -> None:
    keys = [event.key for event in parsed(["\0", "\x1b[32;5u"]) if isinstance(event, events.Key)]
    assert keys == ["ctrl+space", "ctrl+space"]


def test_keys_after_a_paste_are_keys_again() -> None:
    found = parsed([f"{START}one\x1b", f"\x1b[31m two{END}", "\x1b[A"])
    assert [event.text for event in found if isinstance(event, events.Paste)] == ["one two"]
    assert [event.key for event in found if isinstance(event, events.Key)] == ["up"]


def test_what_nobody_sees_is_left_to_who_says_what_is_taken_out() -> None:
    text = "\u0645\u06cc\u200c\u062e \u2764\ufe0f \u202e\r\nx"
    found = parsed([f"{START}{text[:5]}", f"{text[5:]}\x9b31m{END}"])
    pasted = [event.text for event in found if isinstance(event, events.Paste)]
    assert pasted == [text.replace("\r\n", "\n")]


def test_the_driver_reads_through_the_guard() -> None:
    driver = import_module("textual.drivers.linux_driver")
    before = driver.XTermParser
    try:
        guard_pastes()
        assert driver.XTermParser is GuardedParser
    finally:
        driver.XTermParser = before


def test_the_driver_reads_bytes_that_are_no_utf8() -> None:
    driver = import_module("textual.drivers.linux_driver")
    before = driver.getincrementaldecoder
    try:
        read_any_bytes()
        decode = driver.getincrementaldecoder("utf-8")().decode
        assert decode(b"caf\xe9 \xe6\xbc", final=False) == "caf� "
        assert decode(b"\xa2!", final=False) == "漢!"
    finally:
        driver.getincrementaldecoder = before


PARTS = st.sampled_from(
    ["\x1b", "[", "<", ";", ":", "?", "9", "48", "2048", "9" * 30, "u", "~", "M", "t", "$y", "c"]
)  # fmt: skip


@given(st.lists(PARTS, max_size=12), st.lists(st.integers(0, 60), max_size=6))
@example(["\x1b[48;1:2u"], [])
@example(["\x1b[99999999u"], [])
@example(["\x1b[9;" + "9" * 30 + "u"], [])
def test_no_input_at_all_breaks_the_parser(parts: list[str], places: list[int]) -> None:
    parsed(cut("".join(parts), places))
