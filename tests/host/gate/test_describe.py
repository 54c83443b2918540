import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.approvals.describe import PAYLOAD_LIMIT, act_of, describe_call
from amplifier_tui.host.gate.approvals.subject import read_subject
from amplifier_tui.host.gate.calls.grants import call_key
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.risk import MOST_PLACES
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import Rule, parse_rule


def test_a_command_is_shown_in_full(tmp_path: Path) -> None:
    found = describe_call("bash", {"command": "ls\n && pwd"}, tmp_path)
    assert found.action == "bash wants to run 2 commands"
    assert (found.payload, found.payload_kind) == ("ls\n && pwd", "command")
    assert found.cwd == str(tmp_path)


def test_a_command_that_goes_on_in_the_background_is_said_to(tmp_path: Path) -> None:
    arguments = {"command": "make serve", "run_in_background": True, "workdir": "docs"}
    (tmp_path / "docs").mkdir()
    found = describe_call("bash", arguments, tmp_path)
    assert found.action == "bash wants to run a command in the background in docs"
    arguments["run_in_background"] = False
    found = describe_call("bash", arguments, tmp_path)
    assert found.action == "bash wants to run a command in docs"


def test_a_write_that_changes_nothing_is_said_to(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    for text, said in (("one\n", " with what it holds already"), ("two\n", "")):
        found = describe_call("write_file", {"file_path": "a.txt", "content": text}, tmp_path)
        assert found.action == f"write_file wants to overwrite a.txt{said}"
        assert bool(found.diff) is not bool(said)


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
    arguments = {"file_path": "a.txt", "old_string": "x = 1", "new_string": "x = 2"}
    once = describe_call("edit_file", arguments, tmp_path)
    assert "-x = 1\n+x = 2\n" in once.diff and not once.problem and not once.payload
    everywhere = {"file_path": "a.txt", "old_string": "1", "new_string": "2", "replace_all": True}
    found = describe_call("edit_file", everywhere, tmp_path)
    assert "-x = 1\n-y = 1\n+x = 2\n+y = 2\n" in found.diff and not found.problem
    # As the tool reads it.
    as_text = describe_call("edit_file", {**everywhere, "replace_all": "True"}, tmp_path)
    assert as_text.diff == found.diff and not as_text.problem


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"old_string": "gone"}, "the text to be replaced is not in a.txt"),
        ({"old_string": "x  =  1"}, "is not in a.txt: line 1 differs in its white space"),
        ({"old_string": "1"}, "the text to be replaced is in a.txt 5 times (lines 1, 2, 3, …)"),
        ({"old_string": ""}, "the text to be replaced is empty"),
        ({"old_string": "x = 1", "new_string": "x = 1"}, "it would change nothing"),
        ({"old_string": "x", "file_path": "b.txt"}, "there is no file b.txt to edit"),
        (
            {"old_string": "x", "file_path": "folder"},
            "folder cannot be looked at: it is not a file",
        ),
        (
            {"edits": [{"old_string": "z = 1", "new_string": ""}] * 2},
            "text 2 to be replaced is not in a.txt",
        ),
    ],
)
def test_an_edit_that_does_not_fit_the_file_says_so_and_invents_no_diff(
    tmp_path: Path, arguments: dict[str, Any], problem: str
) -> None:
    (tmp_path / "a.txt").write_text("x = 1\ny = 1\nz = 1\nu = 1\nv = 1\n")
    (tmp_path / "folder").mkdir()
    call = {"file_path": "a.txt", "new_string": "new", **arguments}
    found = describe_call("edit_file", call, tmp_path)
    assert not found.diff and json.loads(found.payload) == call
    assert problem in found.problem
    assert "makes a file" not in found.judgement.reasons


def test_line_ends_of_another_system_are_no_difference(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    arguments = {"file_path": "a.txt", "old_string": "one\ntwo", "new_string": "1\n2"}
    found = describe_call("edit_file", arguments, tmp_path)
    assert not found.problem and "-one\n-two\n+1\n+2\n" in found.diff


def test_that_somebody_else_has_changed_the_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    gate = Gate(tmp_path, RuleBook)
    edit = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
    assert not gate.decide("edit_file", edit).description.problem
    gate.ran("read_file", {"file_path": "a.txt"})
    assert not gate.decide("edit_file", edit).description.problem
    (tmp_path / "a.txt").write_text("one two\n")
    changed = "the file has changed since the agent read it"
    found = gate.decide("edit_file", edit).description
    assert found.problem == changed and "+1 two" in found.diff
    wanted = {"path": "a.txt", "content": "x"}
    assert gate.decide("write_file", wanted).description.problem == changed
    gate.ran("edit_file", edit)
    assert not gate.decide("edit_file", edit).description.problem
    gate.ran("read_file", {"file_path": "\0\ud800" * 9})


def test_several_edits_of_one_call_are_one_diff(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n")
    edits = [{"old_string": "a", "new_string": "A"}, {"old_text": "b", "new_text": "B"}]
    found = describe_call("multi_edit", {"file_path": "a.txt", "edits": edits}, tmp_path)
    assert "-a\n-b\n+A\n+B\n" in found.diff


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


@pytest.mark.parametrize("tool", ["read_text", "viewFile", "list-dir", "stat"])
def test_a_tool_nobody_knows_reads_where_its_name_begins_with_that(
    tmp_path: Path, tool: str
) -> None:
    found = describe_call(tool, {"path": "a.txt"}, tmp_path)
    assert (found.kind, found.judgement.risk) == ("read", "low")


@pytest.mark.parametrize(
    "tool", ["spreadsheet_delete", "delete_tools", "truncate_list", "find_and_remove", "readyMade"]
)
def test_of_a_tool_nobody_knows_it_is_not_said_that_it_reads(tmp_path: Path, tool: str) -> None:
    found = describe_call(tool, {"path": "a.txt"}, tmp_path)
    assert (found.kind, found.judgement.risk) == ("other", "medium")
    assert found.action == f"{tool} wants to run" and '"a.txt"' in found.payload


def test_a_command_word_of_an_editor_is_no_shell_command(tmp_path: Path) -> None:
    arguments = {"command": "create", "path": "a.txt", "file_text": "x"}
    assert read_subject("str_replace_based_edit_tool", arguments).kind == "write"


DECOYS: list[tuple[str, dict[str, Any]]] = [
    ("send_mail", {"to": "x@example.org", "command": "ls"}),
    ("pipeline_run", {"script": "evil", "command": "ls"}),
    ("bash", {"command": "ls", "cmd": "touch x"}),
    ("shell", {"command": "ls", "env": {"LD_PRELOAD": "x.so"}}),
    ("bash", {"command": "ls", "cwd": ".", "workdir": "/"}),
    ("web_fetch", {"url": "https://example.org", "command": "ls"}),
    ("glob", {"pattern": "*", "command": "ls"}),
    ("web_fetch", {"url": "https://example.org", "uri": "https://example.com"}),
    ("apply_patch", {"input": "*** Begin Patch\n*** End Patch", "command": "ls"}),
    ("write_file", {"path": "a.txt", "content": "x", "text": "y"}),
    ("edit_file", {"path": "a", "old_string": "a", "new_string": "b", "edits": []}),
    ("edit_file", {"path": "a", "old_string": "a", "new_string": "b", "old_str": "c"}),
    ("write_file", {"path": "a", "content": "x", "old_string": "a", "new_string": "b"}),
    ("write_file", {"path": "a", "content": "", "edits": [{"old_string": "a", "new_string": ""}]}),
    ("write_file", {"path": "a", "content": "x", "patch": "@@\n-a\n+b"}),
    ("edit_file", {"path": "a", "old_string": "a", "new_string": "b", "patch": "@@\n-a\n+c"}),
]


@pytest.mark.parametrize(("tool", "arguments"), DECOYS)
def test_an_argument_that_may_be_what_counts_is_shown_and_covered_by_no_rule_for_the_others(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    found = describe_call(tool, arguments, tmp_path)
    assert act_of(found, tool, arguments) != "look"
    assert json.loads(found.payload) == arguments
    rules = tuple(Rule(tool, each, "allow") for each in ("ls", "ls *", "a.txt", "a", "example.org"))
    assert RuleBook(rules).match(found.parts) is None
    assert Gate(tmp_path, lambda: RuleBook(rules)).decide(tool, arguments).verdict == "ask"


@pytest.mark.parametrize(
    "path",
    [
        *(" /etc/passwd", "/etc/passwd\n", "file:///etc/passwd", ".git\0/config", {"x": "/etc"}),
        *("a\nb/../.env", "a\nb/../../x"),
    ],
)
def test_a_path_that_tools_may_read_otherwise_is_asked_about(tmp_path: Path, path: Any) -> None:
    gate = Gate(tmp_path, RuleBook, mode="edits")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"file_path": path}),
        ("write_file", {"file_path": path, "content": "x"}),
        ("delete_file", {"path": "a.txt", "file_path": path}),
        ("glob", {"pattern": "*", "path": path}),
    ]
    for tool, arguments in calls:
        assert gate.decide(tool, arguments).verdict == "ask", tool
    assert gate.decide("delete_file", {"path": "a.txt"}).verdict == "allow"


def test_a_patch_beside_another_one_is_judged_as_well(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: {}\n+a\n*** End Patch"
    for arguments in (
        {"patch": patch.format("ok.txt"), "input": patch.format(".git/hooks/x")},
        {"patches": [patch.format("ok.txt")], "diff": patch.format(".git/hooks/x")},
    ):
        found = describe_call("apply_patch", arguments, tmp_path)
        assert act_of(found, "apply_patch", arguments) == "guarded"
        assert json.loads(found.payload) == arguments and not found.diff


@pytest.mark.parametrize(
    "arguments",
    [{"base_path": "/etc"}, {"root": "~"}, {"include": ["../*"]}, {"pattern": "/etc/*"}],
)
def test_a_tool_that_reads_may_call_its_folder_anything(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    call = {"pattern": "*", **arguments}
    assert act_of(describe_call("glob", call, tmp_path), "glob", call) == "other"
    usual = {"pattern": "/x/", "output_mode": "content", "query": "../y"}
    assert act_of(describe_call("grep", usual, tmp_path), "grep", usual) == "read"


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


@pytest.mark.parametrize(
    "arguments", [{"command": "ls"}, {"path": "a.py"}, {"url": "https://example.org"}]
)
def test_what_tools_of_mcp_servers_do_is_not_told_from_their_arguments(
    tmp_path: Path, arguments: dict[str, str]
) -> None:
    found = describe_call("mcp__files__read_file", arguments, tmp_path)
    assert found.kind == "other"
    assert act_of(found, "mcp__files__read_file", arguments) == "other"
    assert all(value in found.payload for value in arguments.values())


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("rm {}", "high"),
        ("rm {} /", "critical"),
        ("rm {} ~", "critical"),
        ("rm {} .", "critical"),
        ("touch {}", "high"),
        ("ls {}", "low"),
    ],
)
def test_of_very_many_files_a_few_are_looked_at_and_no_rule_covers_them(
    command: str, risk: str, tmp_path: Path
) -> None:
    names = " ".join(f"f{number}" for number in range(MOST_PLACES + 500))
    found = describe_call("bash", {"command": command.format(names)}, tmp_path)
    assert found.judgement.risk == risk
    assert len(found.judgement.places) <= MOST_PLACES + 2
    (part,) = found.parts
    assert not part.reads
    assert RuleBook((Rule("bash", f"{command.split()[0]} *", "allow"),)).match(found.parts) is None
    few = describe_call("bash", {"command": command.format("f1")}, tmp_path)
    assert few.parts[0].reads == (command == "ls {}")


def test_many_far_places_are_taken_for_the_worst(tmp_path: Path) -> None:
    names = " ".join(f"./f{number}" for number in range(MOST_PLACES + 1))
    found = describe_call("bash", {"command": f"rm {names} --preserve-root"}, tmp_path)
    assert found.judgement.risk == "critical"


def test_half_a_character_makes_a_call_like_any_other() -> None:
    keys = {call_key("bash", {"command": text}) for text in ("\ud800", "?", "\udfff", "\ufffd")}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("left", "risk"),
    [
        ("export PATH=.:/bin", "high"),
        ("export LD_PRELOAD=./evil.so", "high"),
        ("export BASH_ENV=evil", "high"),
        ("export GIT_SSH_COMMAND=evil", "high"),
        ("declare -x PYTHONPATH=evil", "high"),
        ("IFS=e", "high"),
        ("unset HOME", "high"),
        ("export COLOUR=red", "low"),
    ],
)
def test_variables_in_front_of_a_command_need_a_rule_of_their_own(
    left: str, risk: str, tmp_path: Path
) -> None:
    found = describe_call("bash", {"command": f"{left}; touch x"}, tmp_path)
    assert found.judgement.risk == risk
    assert found.judgement.can_be_kept == (risk == "low")
    touch = Rule("bash", "touch *", "allow")
    wide = Rule("bash", f"{left.split()[0]} *", "allow")
    own = Rule("bash", left, "allow", ceiling="high")
    assert RuleBook((touch,)).match(found.parts) is None
    assert RuleBook((touch, wide)).match(found.parts) is None
    assert RuleBook((touch, own)).match(found.parts) is not None


@pytest.mark.parametrize(
    "command",
    ["for i in 1 $X; do echo $i; done", "echo $HOME", "ls; echo $(ls)", "f() { ls; }"],
)
def test_a_command_that_is_asked_about_is_not_said_to_only_read(
    tmp_path: Path, command: str
) -> None:
    found = describe_call("bash", {"command": command}, tmp_path)
    assert act_of(found, "bash", {"command": command}) == "other"
    assert found.judgement.reasons == ("reads, as far as can be told",)
    assert {part.judgement.reasons for part in found.parts} == {found.judgement.reasons}
    assert found.doubt
    assert describe_call("bash", {"command": "ls"}, tmp_path).judgement.reasons == ("only reads",)


@pytest.mark.parametrize(
    ("command", "doubt"),
    [
        ("cat a; for i in 1 $X; do echo $i; done", "the shell's own `for`"),
        ("ls; echo $(ls)", "a command substitution"),
        ("cat a; echo $HOME", "`$HOME`, known only when it runs"),
        ("cd $X; ls", "`$X`, known only when it runs"),
        ("A=1 ls; B=2 pwd", "the variable `A`"),
        ("A=1; cat a", "the variable `A`"),
        ("time -o f ls", "what `time` is given"),
        ("git -C sub log", "git may show another repository, or run what one names"),
    ],
)
def test_why_a_command_that_seems_to_read_is_asked_about_is_said(
    tmp_path: Path, command: str, doubt: str
) -> None:
    gate = Gate(tmp_path, RuleBook)
    asked = gate.decide("bash", {"command": command})
    said = "mode ask: asks unless a command surely only reads; not sure here: "
    assert (asked.verdict, asked.reason) == ("ask", said + doubt)


@pytest.mark.parametrize("command", ["< a", "2>&1", "< a; cat b", "cat b; < a"])
def test_a_redirection_without_a_program_is_described_and_hides_no_command_from_a_rule(
    tmp_path: Path, command: str
) -> None:
    found = describe_call("bash", {"command": command}, tmp_path)
    assert (found.payload, found.judgement.risk, found.complete) == (command, "low", True)
    assert found.doubt in ("`< a`", "`2>&1`")
    match = RuleBook([parse_rule("bash(cat *)", "deny")]).match(found.parts)
    assert (match is not None) is ("cat" in command)


@pytest.mark.parametrize(
    "command", ["make; echo $HOME", "mkdir x", "sort -o x y", "for i in 1; do rm $i; done"]
)
def test_a_command_that_does_more_than_read_is_asked_about_for_that(
    tmp_path: Path, command: str
) -> None:
    asked = Gate(tmp_path, RuleBook).decide("bash", {"command": command})
    assert "asks before commands that do more than read" in asked.reason


@pytest.mark.parametrize("mode", ["ask", "edits", "auto"])
@pytest.mark.parametrize("arguments", [{"sides": 6}, {"path": "a.txt", "content": "x"}])
def test_a_tool_that_nobody_knows_is_asked_about_for_that(
    tmp_path: Path, mode: Mode, arguments: dict[str, Any]
) -> None:
    asked = Gate(tmp_path, RuleBook, mode=mode).decide("roll_dice", arguments)
    assert asked.reason == f"mode {mode}: asks before tools it knows nothing of"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("roll_dice", {"path": "../a.txt", "content": "x"}),
        ("roll_dice", {"url": "https://example.org"}),
        ("read_file", {"path": "/etc/hosts"}),
        ("memory", {"action": "remember", "everywhere": True}),
    ],
)
def test_what_is_known_of_a_call_is_why_it_is_asked_about(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    asked = Gate(tmp_path, RuleBook).decide(tool, arguments)
    assert "the network, keys and passwords, and what lies outside" in asked.reason
