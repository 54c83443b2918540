"""What git can't do in the sandbox, or does by half there, is asked about before."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

WORKSPACE = Path("/srv/nobody/work")
"""Not below `/tmp`, as those of the tests are."""


def decide(command: str, mode: Mode = "auto", *rules: str, why: str = "") -> GateDecision:
    book = RuleBook([parse_rule(rule, "allow") for rule in rules])
    gate = Gate(WORKSPACE, lambda: book, mode, sandbox=lambda: why)
    return gate.decide("bash", {"command": command}, confines=True)


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("git worktree add .worktrees/y -b y", "a worktree"),
        ("git worktree add /tmp/y", "a worktree"),
        ("git clone x y", "a repository"),
        ("git clone --depth 1 https://a.b/c", "a repository"),
        ("git clone /tmp/x", "a repository"),
        ("git clone $x $y", "a repository"),
        ("git clone x /tmp/../srv/y", "a repository"),
        ("git clone --bare x y", "a repository"),
        ("git init", "a repository"),
        ("git init y && cd y && git add .", "a repository"),
        ("mkdir y; cd y; git -C . init -q", "a repository"),
        ("cd /tmp/x && cd $y && git init", "a repository"),
        ("cd $(mktemp -d -p .) && git init", "a repository"),
        ("(cd $(mktemp -d) && ls); git init", "a repository"),
        ("d=$(mktemp -d); d=.; git init $d", "a repository"),
        ("TMPDIR=.; git init $TMPDIR/x", "a repository"),
        ("git init $TMPDIR/../x", "a repository"),
        ("bash -c 'git init y'", "a repository"),
        ("git submodule add https://a.b/c", "a submodule"),
    ],
)
def test_what_makes_a_repository_in_the_workspace_is_asked_about(command: str, what: str) -> None:
    decision = decide(command)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert f"git makes {what}" in decision.reason
    assert "a yes runs the command without the sandbox" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "git worktree remove --force .worktrees/x",
        "git -C a worktree move x y",
        "git worktree prune",
    ],
)
def test_what_a_worktree_can_t_be_rid_of_in_the_sandbox_is_asked_about(command: str) -> None:
    decision = decide(command)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert "worktrees in the sandbox but by half" in decision.reason
    assert decide("git worktree list").verdict == "allow"


@pytest.mark.parametrize(
    "command",
    [
        *("git push -u origin HEAD", "git push --set-upstream origin x", "git branch -m a b"),
        *("git branch --set-upstream-to=origin/x", "git branch -u origin/x", "git branch -M main"),
        *("git checkout --track origin/x", "git switch -t origin/x", "git checkout -b x --track y"),
        *("git remote add o https://a.b/c", "git remote set-url o x", "git config user.name x"),
        *("git config --global user.name x", "git config --unset a.b", "git config set a.b c"),
        *("git submodule init", "git submodule sync", "git sparse-checkout set src"),
        *("git submodule update", "git submodule --quiet update --recursive --init"),
        *("npm test && git config core.x 1", "cd sub && git remote remove o"),
    ],
)
def test_git_that_writes_its_configuration_is_asked_about(command: str) -> None:
    decision = decide(command)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert "git writes its configuration" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        *("git clone x /tmp/y", "git clone -b main x $TMPDIR/y", 'git clone x "${TMPDIR}/y"'),
        *("cd /tmp && git clone x && cd x && git config a.b c", "cd $(mktemp -d) && git init -q ."),
        *(
            'd=$(mktemp -d); cd "$d" && git clone ../x y',
            "mkdir -p /tmp/x && cd /tmp/x && git init",
        ),
        *("T=`mktemp -d` && git -C $T init && git -C $T remote add a b", "git init $(mktemp -d)/x"),
        *("(cd /tmp && git init q)", "set -e\nd=$(mktemp -d)\ncd $d\ngit init\ngit config a.b c"),
        *("cd $(mktemp -d) && mkdir a && cd a && git init b && git -C b config c.d e",),
        *("git worktree list", "git submodule status"),
        *("git push origin HEAD", "git push -n -u o x", "git branch -d x", "git branch x"),
        *("git switch x", "git checkout -bfix-t", "git checkout -b x --no-track origin/x"),
        *("git checkout -- -t", "git config --get a.b", "git config --file x a b", "git config -l"),
        *("git remote -v", "git remote prune o", "git init --help", "git commit -m 'git init'"),
        *("echo git init", "git add . && git commit -m 'use git clone'", "git stash -u"),
    ],
)
def test_what_git_can_do_in_the_sandbox_goes(command: str) -> None:
    assert decide(command).verdict == "allow", decide(command).reason


def test_a_rule_does_not_send_it_into_the_sandbox() -> None:
    assert decide("git clone x y", "ask", "bash(git clone *)").by_person
    assert decide("git clone x y", "plan").verdict == "deny"


def test_nothing_more_is_asked_where_there_is_no_sandbox() -> None:
    assert not decide("git clone x y", why="it is switched off").by_person
