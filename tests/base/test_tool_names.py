"""The names that other agents give their tools, in rules."""

import pytest

from amplifier_tui.base.tool_names import meant_tool
from amplifier_tui.host.gate.rules.text import parse_rule


@pytest.mark.parametrize(
    ("rule", "better"),
    [
        ("Edit(secrets/**)", "write(secrets/**)"),
        ("edit(secrets/**)", "write(secrets/**)"),
        ("MultiEdit(a.txt)", "write(a.txt)"),
        ("NotebookEdit", "write"),
        ("Edit*", "write"),
        ("Read(secrets/**)", "read(secrets/**)"),
        ("Write(secrets/**)", "write(secrets/**)"),
        ("LS(secrets)", "glob(secrets)"),
        ("Glob(secrets/**)", "glob(secrets/**)"),
        ("Grep(secrets/**)", "grep(secrets/**)"),
        ("Bash(npm run test:*)", "bash(npm run test *)"),
        ("Bash(*)", "bash"),
        ("WebFetch(domain:docs.python.org)", "web_fetch(docs.python.org)"),
        ("WebSearch", "web_search"),
        ("Task(Explore)", "task"),
        ("Agent(Explore)", "task"),
        ("TodoWrite", "todo"),
        ("ApplyPatch(a.txt)", "apply_patch(a.txt)"),
        ("shell(git push:*)", "bash(git push *)"),
        ("exec_command(git push)", "bash(git push)"),
        ("run_shell_command(git push)", "bash(git push)"),
        ("replace(a.txt)", "write(a.txt)"),
        ("write_to_file(a.txt)", "write(a.txt)"),
        ("create_file(a.txt)", "write(a.txt)"),
        ("mcp__github", "mcp__github__*"),
        ("wirte(secrets/**)", "write(secrets/**)"),
        ("wite(secrets/**)", "write(secrets/**)"),
        ("edit_fle(secrets/**)", "edit_file(secrets/**)"),
        ("edit_fiile(secrets/**)", "edit_file(secrets/**)"),
        ("write_fole(secrets/**)", "write_file(secrets/**)"),
    ],
)
def test_a_rule_in_the_words_of_another_agent_is_told_which_one_holds(
    rule: str, better: str
) -> None:
    found = parse_rule(rule, "deny")
    assert found.doubt() == f"no tool of the program is called {found.tool}; write {better}"
    assert not found.doubt((found.tool,)), "a module may have such a tool"
    assert not parse_rule(better, "deny").doubt(), "what is offered holds"


@pytest.mark.parametrize(
    "name",
    [
        "write",
        "read",
        "web",
        "bash",
        "edit_file",
        "apply_patch",
        "todo",
        "memory",
        "bash_job",
        "*",
        "read_*",
        "mcp__github__*",
        "mcp__github__list",
        "mcp__*",
        "deploy",
        "mcp_x_*",
        "read_pdf",
        "edit_pdf",
        "xthread",
        "xtask",
        "tasks",
        "talk",
        "spell",
        "web_fetcher",
    ],
)
def test_a_name_that_may_hold_is_not_doubted(name: str) -> None:
    assert meant_tool(name) == ""


def test_a_rule_for_words_of_a_tool_that_has_no_brackets_is_doubted() -> None:
    assert "matches no call; write task" in parse_rule("task(explorer)", "deny").doubt()
    assert not parse_rule('task({"agent": "explorer"})', "deny").doubt()


@pytest.mark.parametrize("rule", ["view", "browser", 'edit({"path": "a.txt"})'])
def test_a_rule_as_the_dialog_writes_it_for_a_module_s_tool_is_not_doubted(rule: str) -> None:
    assert not parse_rule(rule, "allow").doubt()
    assert parse_rule(rule, "deny").doubt(), "what it denies or asks about might go by"
    assert parse_rule(rule, "allow").doubt(typed=True), "where it is typed, it is said at once"
