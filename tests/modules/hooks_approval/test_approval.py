from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules import hooks_approval

READ = ("read_file", {"file_path": "a.py"})
FETCH = ("web_fetch", {"url": "http://x"})
WRITE = ("write_file", {"file_path": "a.py", "content": "x"})
EDIT = ("edit_file", {"file_path": "a.py", "old_string": "x", "new_string": "y"})
UNKNOWN = ("mcp_thing", {"path": "a"})
LS = ("bash", {"command": "ls -la | wc -l"})
RM = ("bash", {"command": "rm -rf build"})

CALLS = {
    "read": READ,
    "fetch": FETCH,
    "write": WRITE,
    "edit": EDIT,
    "unknown": UNKNOWN,
    "ls": LS,
    "rm": RM,
}


async def decide(call: tuple[str, dict[str, Any]], **config: Any) -> HookResult:
    coordinator = ModuleCoordinator()
    await hooks_approval.mount(coordinator, config)
    return await coordinator.hooks.emit(
        "tool:pre", {"tool_name": call[0], "tool_input": call[1], "tool_call_id": "c1"}
    )


async def run(command: str, **config: Any) -> str:
    return (await decide(("bash", {"command": command}), **config)).action


async def test_it_is_found_by_its_id_and_unregisters_itself():
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("hooks-approval", {})
    cleanup = await mount(coordinator)
    assert coordinator.hooks.list_handlers("tool:pre") == {"tool:pre": ["hooks-approval"]}
    cleanup()
    cleanup()
    assert coordinator.hooks.list_handlers("tool:pre") == {"tool:pre": []}


@pytest.mark.parametrize(
    ("policy", "through"),
    [
        ("careful", {"read"}),
        ("standard", {"read", "fetch"}),
        ("relaxed", {"read", "fetch", "write", "edit", "ls"}),
    ],
)
async def test_each_policy_lets_its_kinds_through(policy: str, through: set[str]):
    asked = {
        name
        for name, call in CALLS.items()
        if (await decide(call, policy=policy)).action != "continue"
    }
    assert asked == CALLS.keys() - through


async def test_standard_is_the_default():
    assert (await decide(READ)).action == "continue"
    assert (await decide(EDIT)).action == "ask_user"


async def test_a_question_is_complete():
    result = await decide(RM)
    assert result.approval_prompt == "bash wants to run: rm -rf build"
    assert result.approval_options == ["Allow", "Allow once", "Allow always", "Deny"]
    assert (result.approval_timeout, result.approval_default) == (300.0, "deny")
    assert result.reason == "bash is not on the allow list"


@pytest.mark.parametrize(
    ("call", "prompt"),
    [
        (EDIT, "edit_file wants to change a.py"),
        (WRITE, "write_file wants to write a.py"),
        (UNKNOWN, "mcp_thing wants to run on a"),
        (("mcp_other", {}), "mcp_other wants to run"),
        (("bash", {"command": "a\n\tb\x1b[31m  c"}), "bash wants to run: a b?[31m c"),
        (("bash", {"command": "x" * 500}), "bash wants to run: " + "x" * 159 + "…"),
        (("bash", {}), "bash wants to run: "),
    ],
)
async def test_the_prompt_is_one_readable_sentence(call: Any, prompt: str):
    assert (await decide(call)).approval_prompt == prompt


async def test_the_timeout_comes_from_the_config():
    assert (await decide(EDIT, timeout=20)).approval_timeout == 20


async def test_rules_name_tools():
    assert (await decide(EDIT, allow=["edit_file"])).action == "continue"
    assert (await decide(UNKNOWN, allow=["mcp_*"])).action == "continue"
    assert (await decide(READ, ask=["read_*"])).action == "ask_user"
    denied = await decide(WRITE, deny=["write_file"])
    assert denied.action == "deny"
    assert "the rule write_file denies" in str(denied.reason)


async def test_deny_wins_over_ask_and_ask_over_allow():
    assert (await decide(EDIT, allow=["*"], ask=["edit_file"])).action == "ask_user"
    assert (await decide(EDIT, allow=["*"], ask=["*"], deny=["edit_*"])).action == "deny"
    result = await decide(EDIT, allow=["*"], ask=["edit_file"])
    assert result.reason == "the rule edit_file asks"


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git status --short",
        "git  status",
        "git 'status'",
        "npm run build",
        "git status && npm run test",
        "git status; git status | git status",
        "git status 2>&1",
        "git status > /dev/null",
        "git status # comment; rm -rf x",
        "git status \\\n --short",
    ],
)
async def test_commands_are_allowed_by_their_first_words(command: str):
    assert await run(command, allow=["bash(git status)", "bash(npm run *)"]) == "continue"


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git",
        "git statusx",
        "xgit status",
        "/tmp/git status",
        "git status; rm -rf x",
        "git status && rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status $(rm x)",
        "git status `rm x`",
        'git status "$(rm x)"',
        "git status <(rm x)",
        "git status > file",
        "git status >> file",
        "git status &> file",
        "git status >& file",
        "git status 2> file",
        "(git status)",
        "{ git status; }",
        "PATH=. git status",
        "if git status; then git status; fi",
        "! git status",
        "git status <<EOF\nx\nEOF",
        "git status 'unbalanced",
        "eval git status",
        "git$IFS status",
        "",
        "# only a comment",
    ],
)
async def test_and_by_nothing_less(command: str):
    assert await run(command, allow=["bash(git status)", "bash(npm run *)"]) == "ask_user"


async def test_hidden_commands_are_named_as_the_reason():
    call = ("bash", {"command": "git status $(x)"})
    result = await decide(call, allow=["bash(git status)"])
    assert result.reason == "the command has a command substitution, which no rule can allow"
    call = ("bash", {"command": "git status > x"})
    assert "redirection" in str((await decide(call, allow=["bash(git)"])).reason)


async def test_a_rule_for_the_whole_tool_allows_anything():
    assert await run("rm $(x) > y", allow=["bash"]) == "continue"


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "/bin/rm x",
        "ls; rm x",
        "ls && sudo rm x",
        "sudo -u bob rm x",
        "env A=1 rm x",
        "A=1 rm x",
        "timeout 5 rm x",
        "echo $(rm x)",
        'echo "a `rm x`"',
        "(cd y; rm x)",
        "if true; then rm x; fi",
        "bash -c 'ls; rm x'",
        "sudo sh -c 'rm x'",
        "find . | xargs rm",
        "'rm' x",
        "r\\m x",
    ],
)
async def test_a_denied_command_is_found_wherever_it_hides(command: str):
    assert await run(command, deny=["bash(rm)"], allow=["bash"]) == "deny"


@pytest.mark.parametrize("command", ["ls", "echo rm", "grep rm x", "git rm x", "./farm x"])
async def test_and_not_where_it_is_only_a_word(command: str):
    assert await run(command, deny=["bash(rm)"], allow=["bash"]) == "continue"


async def test_any_tool_that_takes_a_command_is_one_that_runs_commands():
    call = ("terminal", {"command": "ls"})
    assert (await decide(call, allow=["terminal(ls)"])).action == "continue"
    assert (await decide(call, policy="standard")).action == "ask_user"


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/passwd",
        "cat ~/.ssh/id_rsa",
        "cat ../secret",
        "cat $HOME/x",
        "cat < /etc/passwd",
        "grep -f/etc/passwd x",
        "cat {/etc/passwd,x}",
        "git diff --output=x",
        "git push",
        "ls > x",
        "ls; make",
        "LD_PRELOAD=x ls",
        "./ls",
        "find . -delete",
        "echo $(make)",
    ],
)
async def test_relaxed_still_asks_for_what_writes_runs_or_reaches_out(command: str):
    assert await run(command, policy="relaxed") == "ask_user"


@pytest.mark.parametrize(
    "command", ["ls -la", "git status && git diff", "cat a b | grep -n x | head -5", "pwd"]
)
async def test_relaxed_lets_looking_through(command: str):
    assert await run(command, policy="relaxed") == "continue"


@pytest.mark.parametrize(
    "config",
    [
        {"policy": "yolo"},
        {"allow": 3},
        {"allow": ["bash(", 7]},
        {"timeout": "long"},
        {"timeout": 0},
        {"priority": "high"},
    ],
)
async def test_a_mistake_makes_it_careful_and_is_told(config: dict[str, Any], caplog: Any):
    result = await decide(EDIT, **{"policy": "relaxed", "allow": ["*"], **config})
    assert result.action == "ask_user"
    assert "mistake" in str(result.reason)
    assert "hooks-approval" in caplog.text
    assert (await decide(READ, **config)).action == "continue"


@pytest.mark.parametrize(
    "data", [{}, {"tool_name": None}, {"tool_name": "bash", "tool_input": "x"}]
)
async def test_a_strange_call_asks_and_does_not_break(data: dict[str, Any]):
    coordinator = ModuleCoordinator()
    await hooks_approval.mount(coordinator, {})
    assert (await coordinator.hooks.emit("tool:pre", data)).action == "ask_user"


@pytest.mark.parametrize(
    ("action", "through"), [("search", True), ("list", True), ("remember", False), ("x", False)]
)
async def test_making_notes_that_stay_is_writing_and_looking_them_up_is_not(
    action: str, through: bool
):
    result = await decide(("memory", {"action": action, "text": "Likes tea"}))
    assert (result.action == "continue") == through
    if not through:
        assert result.approval_prompt == "memory wants to write Likes tea"
