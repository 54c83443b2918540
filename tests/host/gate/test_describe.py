from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.gate.describe import PAYLOAD_LIMIT, describe_call, read_subject


def test_a_command_is_shown_in_full(tmp_path: Path) -> None:
    found = describe_call("bash", {"command": "ls\n && pwd"}, tmp_path)
    assert found.action == "bash wants to run 2 commands"
    assert (found.payload, found.payload_kind) == ("ls\n && pwd", "command")
    assert found.cwd == str(tmp_path)


def test_a_new_file_comes_as_a_diff_from_nothing(tmp_path: Path) -> None:
    found = describe_call("write_file", {"file_path": "a.txt", "content": "one\n"}, tmp_path)
    assert found.action == "write_file wants to make a.txt"
    assert found.diff == "--- /dev/null\n+++ a.txt\n@@ -0,0 +1 @@\n+one\n"
    assert found.judgement.risk == "medium"


def test_an_overwritten_file_comes_as_the_change(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    found = describe_call("write_file", {"path": "a.txt", "content": "one\n2\n"}, tmp_path)
    assert found.action == "write_file wants to overwrite a.txt"
    assert "-two\n+2\n" in found.diff


def test_an_edit_comes_as_the_change_it_would_make(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x = 1\ny = 1\n")
    arguments = {"file_path": "a.txt", "old_string": "1", "new_string": "2"}
    once = describe_call("edit_file", arguments, tmp_path)
    assert once.diff.count("\n+") == 2 and "-x = 1" in once.diff and "-y" not in once.diff
    everywhere = describe_call("edit_file", {**arguments, "replace_all": True}, tmp_path)
    assert "-x = 1" in everywhere.diff and "-y = 1" in everywhere.diff


def test_an_edit_whose_text_is_not_in_the_file_says_so_and_invents_no_diff(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("new\n")
    arguments = {"file_path": "a.txt", "old_string": "old", "new_string": "new"}
    found = describe_call("edit_file", arguments, tmp_path)
    assert not found.diff and '"old"' in found.payload
    assert "the text to be replaced is not in the file" in found.judgement.reasons
    edits = [{"old_string": "new", "new_string": "x"}, {"old_string": "new", "new_string": "y"}]
    found = describe_call("edit_file", {"file_path": "a.txt", "edits": edits}, tmp_path)
    assert "the text 2 to be replaced is not in the file" in found.judgement.reasons
    found = describe_call("edit_file", arguments | {"file_path": "b.txt"}, tmp_path)
    assert "there is no such file to edit" in found.judgement.reasons


def test_several_edits_of_one_call_are_one_diff(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n")
    edits = [{"old_string": "a", "new_string": "A"}, {"old_text": "b", "new_text": "B"}]
    found = describe_call("multi_edit", {"file_path": "a.txt", "edits": edits}, tmp_path)
    assert "-a\n-b\n+A\n+B\n" in found.diff


def test_a_patch_is_shown_as_it_is_with_the_files_it_names(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** Add File: ../b.txt\n+z\n"
    found = describe_call("apply_patch", {"patch": patch}, tmp_path)
    assert found.diff == patch and found.action == "apply_patch wants to change 2 files"
    assert [p.shown for p in found.judgement.places] == ["a.txt", str(tmp_path.parent / "b.txt")]
    assert found.judgement.outside and found.judgement.risk == "high"


def test_a_binary_file_is_not_shown_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1")
    found = describe_call("write_file", {"file_path": "a.bin", "content": "x"}, tmp_path)
    assert found.diff == "" and '"content": "x"' in found.payload


def test_a_long_change_brings_the_whole_content_along(tmp_path: Path) -> None:
    content = "line\n" * 50_000
    found = describe_call("write_file", {"file_path": "a.txt", "content": content}, tmp_path)
    assert "are not shown" in found.diff and found.payload_kind == "json"


def test_what_is_not_shown_in_full_is_not_complete(tmp_path: Path) -> None:
    found = describe_call("bash", {"command": "echo " + "x" * PAYLOAD_LIMIT}, tmp_path)
    assert not found.complete and "more characters" in found.payload


def test_a_network_call_names_the_host(tmp_path: Path) -> None:
    found = describe_call("web_fetch", {"url": "https://user@example.org:8/x"}, tmp_path)
    assert found.action == "web_fetch wants to reach example.org"
    assert found.judgement.reasons == ("network",)


def test_a_tool_nobody_knows_is_shown_with_its_arguments(tmp_path: Path) -> None:
    found = describe_call("mcp_thing", {"a": [1, "ü"]}, tmp_path)
    assert found.payload == '{\n  "a": [\n    1,\n    "ü"\n  ]\n}'
    assert found.judgement.risk == "medium"


def test_a_command_word_of_an_editor_is_no_shell_command(tmp_path: Path) -> None:
    arguments = {"command": "create", "path": "a.txt", "file_text": "x"}
    assert read_subject("str_replace_based_edit_tool", arguments).kind == "write"


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": "\0", "content": "x"},
        {"file_path": "~nobody/x", "content": "x"},
        {"path": "a" * 5_000, "content": "x"},
        {"command": "\0"},
        {"url": "http://[bad"},
        {"paths": [1, None, {}]},
        {"edits": [None, 3], "path": "x"},
        {"patches": [None, {}, "x"]},
    ],
)
def test_odd_arguments_are_described_too(tmp_path: Path, arguments: dict[str, Any]) -> None:
    assert describe_call("tool", arguments, tmp_path).action


_NAMES = "command cmd path file_path content old_string new_string url patch patches edits cwd x"
_KEYS = st.sampled_from(_NAMES.split())
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.text(max_size=12), st.dictionaries(_KEYS, _VALUES, max_size=5))
def test_no_arguments_at_all_break_the_description(tool: str, arguments: dict[str, Any]) -> None:
    found = describe_call(tool, arguments, Path("/nowhere/at/all"))
    assert found.parts or not found.complete or found.payload_kind == "command"
