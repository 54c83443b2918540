from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.state.conversation.entries import ToolEntry
from amplifier_tui.ui.transcript.entries.scene import Column, Scene
from amplifier_tui.ui.transcript.entries.tool import tool_lines
from amplifier_tui.ui.transcript.entries.tool_words import describe, partial_arguments
from tests.ui.transcript.test_entries import row, tool


def words(tool: str, arguments: dict[str, Any]) -> str:
    described = describe(tool, arguments)
    return f"{described.verb}|" + "".join(span.text for span in described.parts)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (
            "read_file",
            {"file_path": "src/retry.py", "offset": 1, "limit": 64},
            "read|src/retry.py 1–64",
        ),
        ("read_file", {"path": "a.py", "offset": 10}, "read|a.py 10–"),
        ("read_file", {"path": "a.py"}, "read|a.py"),
        ("write_file", {"file_path": "a.py", "content": "x"}, "write|a.py"),
        ("edit_file", {"file_path": "a.py"}, "edit|a.py"),
        ("bash", {"command": "pytest -q\necho done"}, "bash|pytest -q ↵ echo done"),
        ("bash", {"command": "make", "cwd": "a\nb"}, "bash|a ↵ b $ make"),
        ("grep", {"pattern": "sleep(", "path": "tests/"}, "search|sleep( in tests/"),
        ("glob", {"pattern": "**/*.py"}, "find|**/*.py"),
        ("web_fetch", {"url": "https://a.b"}, "fetch|https://a.b"),
        ("todo", {"todos": [1, 2]}, "plan|2 items"),
        ("task", {"agent": "reviewer", "instruction": "look"}, "task|reviewer look"),
        ("apply_patch", {"patch": "*** Update File: a\n*** Add File: b\n"}, "patch|a and 1 more"),
        (
            "query",
            {"a": "x", "b": 2, "c": [1], "d": None, "e": True},
            "query|a=x b=2 c=[1] d=null e=true",
        ),
        ("query", {}, "query|"),
    ],
)
def test_a_call_is_a_verb_and_an_object(tool: str, arguments: dict[str, Any], said: str) -> None:
    assert words(tool, arguments) == said


@pytest.mark.parametrize(
    "tool", ["read_file", "bash", "grep", "edit_file", "todo", "task", "apply_patch"]
)
def test_a_known_tool_with_strange_arguments_falls_back_to_names_and_values(tool: str) -> None:
    assert words(tool, {"odd": {"x": 1}}) == f"{tool}|odd={{1}}"


def test_hostile_names_and_values_stay_on_one_harmless_line() -> None:
    said = words("evil\x1b[2J\ntool", {"k\n\x1b": "[red]\x1b]52;c;x\x07\u202ev\n" + "z" * 500})
    assert "\n" not in said and "\x1b" not in said and "\u202e" not in said
    assert "[red]‹U+001B›]52;c;x‹U+0007›‹U+202E›v ↵ z" in said and len(said) < 200


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("bash", {"command": "echo ok # \r\n\n rm -rf ~/x\n"}, "bash|echo ok # ↵ rm -rf ~/x"),
        ("bash", {"command": "ls\u00a0-l \t."}, "bash|ls‹U+00A0›-l ."),
        ("write_file", {"path": "ctl\x1b[31mred\x07.txt"}, "write|ctl‹U+001B›[31mred‹U+0007›.txt"),
        (
            "apply_patch",
            {"patch": "*** Add File: a\u202eb\n"},
            "patch|a‹U+202E›b",
        ),
    ],
)
def test_nothing_of_what_was_called_is_hidden_in_its_line(
    tool: str, arguments: dict[str, Any], said: str
) -> None:
    assert words(tool, arguments) == said


@given(
    st.dictionaries(
        st.text(max_size=10),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
        ),
        max_size=5,
    ),
    st.sampled_from(["read_file", "bash", "grep", "todo", "task", "apply_patch", "other"]),
)
def test_any_arguments_make_one_line(arguments: dict[str, Any], tool: str) -> None:
    assert "\n" not in words(tool, arguments)


def test_arguments_show_while_they_are_written() -> None:
    assert partial_arguments('{"file_path": "src/a.p') == {"file_path": "src/a.p"}
    assert partial_arguments('{"command": "echo \\"hi\\"", "n": 1') == {"command": 'echo "hi"'}
    assert partial_arguments('{"fi') == {}


def test_a_call_that_a_hook_holds_up_names_it_at_its_end() -> None:
    entry = ToolEntry(key="c", tool="bash", held_by="hooks-slow", started=1.0)
    rows = [line.text for line in tool_lines(entry, Scene(Column.fit(78), now=9.0))]
    assert rows[0].rstrip().endswith("waiting for hook hooks-slow")


@pytest.mark.parametrize(("columns", "cut"), [(40, True), (80, True), (200, False)])
def test_a_long_command_of_one_line_is_whole_when_its_call_is_opened(
    columns: int, cut: bool
) -> None:
    command = "ls -la src tests docs .vscode AGENTS.md && wc -l src/calc.py tests/x.py && echo TAIL"
    entry = ToolEntry(
        key="t",
        call_id="c",
        tool="bash",
        arguments={"command": command},
        state="ok",
        output="x\n[exit code 0 · 0.1 s]",
    )
    scene = Scene(Column.fit(columns), expanded=True)
    first, *others = (line.text for line in tool_lines(entry, scene))
    assert ("TAIL" not in first) is cut
    below = " ".join(" ".join(others).split())
    assert (command in below) is cut


def test_a_call_shows_its_object_while_the_model_writes_it() -> None:
    entry = tool(tool="write_file", arguments={}, preparing=True, argument_text='{"path": "src/a')
    assert row(entry) == "    ◐ write   src/a"


def test_a_call_that_the_model_has_written_says_when_it_waits_for_others() -> None:
    entry = tool(tool="read_file", arguments={"path": "a"}, preparing=True, written=9.5)
    assert row(entry, now=10.0).rstrip() == "    ◐ read    a"
    waiting = row(entry, now=11.0)
    assert waiting.startswith("    ○ read    a") and waiting.endswith("waits its turn")
