import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.modules.hooks_approval.command_line import read_command_line
from amplifier_tui.modules.hooks_approval.rules import Rule

words = st.text(st.sampled_from("ab1-_./='\"\\ $`;&|<>(){}#*~\n\t"), max_size=10)


@given(st.lists(words, min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_are(given_words: list[str]):
    line = read_command_line(shlex.join(given_words))
    (command,) = line.commands
    assert list(command.words) == given_words
    assert line.writes == [] and line.reads == []


@given(st.lists(st.lists(words, min_size=1, max_size=3), min_size=1, max_size=4))
def test_every_command_of_a_line_is_found(commands: list[list[str]]):
    for separator in (" ; ", " && ", " | ", "\n", " & ", " || ", "|&"):
        line = read_command_line(separator.join(map(shlex.join, commands)))
        assert [list(command.words) for command in line.commands] == commands


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str):
    line = read_command_line(text)
    for command in line.commands:
        assert command.words
        assert list(command.readings()) is not None


@given(st.text(st.sampled_from("ab $(`)\"' ;"), max_size=24))
def test_a_substitution_that_runs_is_never_overlooked(text: str):
    # In what follows, `$(` and backticks outside of single quotes always run something.
    line = read_command_line(text)
    outside = single_quotes_removed(text)
    if "`" in outside or "$(" in outside:
        assert line.opaque is not None


def single_quotes_removed(text: str) -> str:
    kept, place, double = "", 0, False
    while place < len(text):
        character = text[place]
        if character == "'" and not double:
            end = text.find("'", place + 1)
            place = len(text) if end < 0 else end
        elif character == '"':
            double = not double
        else:
            kept += character
        place += 1
    return kept


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        ("a > b", ["b"], []),
        ("a >b 2>&1", ["b"], []),
        ("a &>> b", ["b"], []),
        ("a >| b", ["b"], []),
        ("a < b > c", ["c"], ["b"]),
        ("a <> b", ["b"], []),
        ("a 2>/dev/null", [], []),
        ("a >&2", [], []),
        ("a 3>&-", [], []),
        ("> 'odd name'", ["odd name"], []),
        ("echo 'a > b'", [], []),
        ("a>b;c>d", ["b", "d"], []),
    ],
)
def test_redirections_are_files_and_not_words(text: str, writes: list[str], reads: list[str]):
    line = read_command_line(text)
    assert (line.writes, line.reads) == (writes, reads)


@pytest.mark.parametrize(
    "text",
    ["a;" * 30_000, "$(" * 30_000, '"' * 60_001, "sudo " * 20_000, "sh -c 'sh -c x' " * 2_000],
)
def test_long_lines_take_no_time_to_speak_of(text: str):
    began = time.process_time()
    for command in read_command_line(text).commands:
        list(command.readings())
    assert time.process_time() - began < 5


@pytest.mark.parametrize("text", ["", "   ", "bash(", "a b", "(x)", None, 3, "bash(x))("])
def test_what_is_no_rule_is_refused(text: object):
    with pytest.raises(ValueError, match="is not a rule"):
        Rule.parse(text)


@pytest.mark.parametrize("text", ["bash(git)", "bash(git *)", "bash(git:*)", " bash( git ) "])
def test_rules_may_be_written_in_several_ways(text: str):
    assert Rule.parse(text).words == ("git",)


@pytest.mark.parametrize("text", ["bash", "bash()", "bash(*)"])
def test_a_rule_without_words_is_about_the_whole_tool(text: str):
    assert Rule.parse(text).words is None
