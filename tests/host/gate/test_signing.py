"""Commits that the user has git sign are signed, or a person is asked."""

import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

FAILS = "git signs what it makes: that fails in the sandbox"
UNSIGNED = "it leaves out the signature that your configuration of git asks for"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of a user whose own configuration says nothing of signing yet."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    place = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


@pytest.fixture
def signing(workspace: Path, tmp_path: Path) -> Path:
    """The same where it has commits and tags signed."""
    text = "[commit]\n\tgpgSign = yes\n[tag]\n\tgpgSign\n"
    (tmp_path / "home/.gitconfig").write_text(text)
    return workspace


def decide(
    workspace: Path, command: str, mode: Mode = "auto", *rules: str, why: str = ""
) -> GateDecision:
    book = RuleBook([parse_rule(rule, "allow") for rule in rules])
    gate = Gate(workspace, lambda: book, mode, sandbox=lambda: why)
    return gate.decide("bash", {"command": command}, confines=True)


@pytest.mark.parametrize(
    "command",
    [
        *("git commit -m x", "git add . && git commit -qam 'a b'", "git merge side", "git tag v1"),
        *("git rebase main", "git rebase --continue", "git cherry-pick side", "git revert HEAD"),
        *("git am x.patch", "git commit -m --no-gpg-sign -S", "git -C . commit --amend"),
        *("git -c commit.gpgsign=off -c commit.gpgSign commit", "git commit -- --no-gpg-sign"),
        *("git tag -a v1 -mdraft", "git merge --no-ff side", "git stash && git commit -m x"),
    ],
)
def test_what_git_signs_is_asked_about_before(signing: Path, command: str) -> None:
    decision = decide(signing, command)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert FAILS in decision.reason and "a yes runs the command without" in decision.reason
    assert decide(signing, command, "ask", "bash(git *)").by_person, "it would fail by a rule, too"
    assert FAILS not in decide(signing, command, why="it is switched off").reason


@pytest.mark.parametrize(
    "command",
    [
        *("git commit -S -m x", "git commit -aSm x", "git rebase --gpg-sign main", "git tag -s v1"),
        *("git tag -u key v1", "git commit --gpg-sign=key -m x", "git commit --gpg -m x"),
        *("git -c commit.gpgsign=1 commit -m x", "git -c tag.gpgsign=true tag v1"),
    ],
)
def test_what_a_command_has_git_sign_is_asked_about_before(workspace: Path, command: str) -> None:
    decision = decide(workspace, command)
    assert decision.by_person and FAILS in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        *("git commit --no-gpg-sign -m x", "git commit --no-gpg -m x", "git merge --no-gpg-sign a"),
        *("git -c commit.gpgsign=false commit -m x", "git -c COMMIT.gpgSign= commit -m x"),
        *("git commit -S --no-gpg-sign", "git tag --no-sign v1", "git -c tag.gpgsign=no tag v1"),
        *("cd . && git add . && git rebase --no-gpg-sign main", "git commit --'no-gpg-sign' -m x"),
    ],
)
@pytest.mark.parametrize("why", ["", "it is switched off"])
@pytest.mark.parametrize("mode", ["ask", "edits", "auto"])
def test_what_leaves_a_signature_out_is_asked_about_in_every_mode(
    signing: Path, command: str, mode: Mode, why: str
) -> None:
    decision = decide(signing, command, mode, "bash(git commit *)", why=why)
    assert (decision.verdict, decision.reason) == ("ask", UNSIGNED)


def test_a_rule_that_says_so_leaves_signatures_out(signing: Path) -> None:
    rule = "bash(git commit --no-gpg-sign -m *)"
    assert decide(signing, "git commit --no-gpg-sign -m x", "auto", rule).verdict == "allow"


@pytest.mark.parametrize(
    "command",
    [
        *("git rebase --abort", "git merge --ff-only side", "git cherry-pick -n side", "git log"),
        *("git commit --dry-run", "git tag -d v1", "git tag", "git tag -l 'v*'", "git stash"),
        *("git add .", "git switch -c x", "git commit --help", "echo git commit"),
    ],
)
def test_what_signs_nothing_goes_as_ever(signing: Path, command: str) -> None:
    assert decide(signing, command).verdict == "allow", decide(signing, command).reason


@pytest.mark.parametrize(
    "command",
    [
        *(
            "git commit -m x",
            "git commit --no-gpg-sign -m x",
            "git commit -mSo -asm S",
            "git tag v1",
        ),
        *("git -c commit.gpgsign=false commit -m x", "git commit -sm x", "git merge -Xours side"),
    ],
)
def test_nothing_is_asked_where_nothing_is_signed(workspace: Path, command: str) -> None:
    assert decide(workspace, command).verdict == "allow", decide(workspace, command).reason


def test_the_configuration_of_the_repository_counts(workspace: Path) -> None:
    setting = ["git", "config", "commit.gpgsign", "true"]
    subprocess.run(setting, cwd=workspace, check=True)
    (workspace / "src").mkdir()
    assert FAILS in decide(workspace, "cd src && git commit -m x").reason
    assert decide(workspace, "git tag v1").verdict == "allow"
