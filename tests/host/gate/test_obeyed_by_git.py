"""What git obeys asks in every mode, whatever its folder is called."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

Decide = Callable[..., GateDecision]
WHY = "it takes effect on git"


@pytest.fixture
def decide(tmp_path: Path) -> Decide:
    def decided(tool: str, mode: Mode = "edits", **arguments: Any) -> GateDecision:
        gate = Gate(tmp_path, RuleBook, mode=mode, sandbox=lambda: "")
        return gate.decide(tool, arguments, confines=tool == "bash")

    return decided


def asks_about_git(decision: GateDecision) -> bool:
    return (decision.verdict, decision.by_person, decision.reason) == ("ask", True, WHY)


def write(decide: Decide, path: str, mode: Mode = "edits") -> GateDecision:
    return decide("write_file", mode, file_path=path, content="x")


@pytest.mark.parametrize("mode", ["edits", "auto"])
def test_the_file_that_makes_a_folder_a_repository_is_asked_about(
    decide: Decide, mode: Mode
) -> None:
    assert asks_about_git(write(decide, "src/HEAD", mode))
    for path in ("src/config", "src/objects/a", "src/refs/a", "src/hooks/x", "src/header", "head"):
        assert write(decide, path, mode).verdict == "allow"


@pytest.mark.parametrize(
    "path",
    [
        *("config", "commondir", "config.worktree", "hooks/pre-commit", "hooks/lib/a", "info/a"),
        *("objects/a", "refs/a", "rebase-merge/git-rebase-todo", "modules/a/config"),
    ],
)
def test_what_lies_beside_it_is_asked_about(decide: Decide, tmp_path: Path, path: str) -> None:
    mirror = tmp_path / "mirror.git"
    mirror.mkdir()
    (mirror / "HEAD").symlink_to("nothing")
    assert asks_about_git(write(decide, f"mirror.git/{path}"))
    assert write(decide, "mirror.git/main.py").verdict == "allow"
    assert decide("read_file", file_path=f"mirror.git/{path}").verdict == "allow"
    (tmp_path / "plain").symlink_to(mirror)
    assert asks_about_git(write(decide, f"plain/{path}"))


def test_patches_renames_and_commands_count_as_well(decide: Decide, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    moved = "*** Begin Patch\n*** Update File: a\n*** Move to: src/HEAD\n@@\n-x\n+y\n*** End Patch"
    assert asks_about_git(decide("apply_patch", patch=moved))
    assert asks_about_git(decide("move_file", "auto", source="a", destination="src/HEAD"))
    for command in ("mv a src/HEAD", "echo x > src/HEAD", "cp a src/HEAD", "echo x | tee src/HEAD"):
        assert asks_about_git(decide("bash", "auto", command=command))
    for command in ("git diff HEAD", "git reset HEAD a", "git show HEAD:a", "cat src/HEAD"):
        assert decide("bash", "auto", command=command).verdict == "allow"


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("mode", ["edits", "auto"])
def test_the_folder_that_a_repository_names_for_hooks_is_asked_about(
    decide: Decide, tmp_path: Path, mode: Mode
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.hooksPath", "tools/hooks")
    for path in ("tools/hooks/pre-commit", "tools/hooks/lib/a.py"):
        assert asks_about_git(write(decide, path, mode))
    assert write(decide, "tools/a.py", mode).verdict == "allow"
    assert asks_about_git(decide("bash", mode, command="cp a tools/hooks/pre-push"))
    (tmp_path / "tools").mkdir()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "tools" / "hooks").symlink_to("../scripts")
    assert asks_about_git(write(decide, "scripts/pre-commit", mode))


def test_it_is_asked_about_from_a_folder_of_the_checkout_and_in_a_submodule(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "init", "-q", "tools/sub")
    git(tmp_path, "config", "core.hooksPath", "tools/sub/made")
    workspace = tmp_path / "tools"
    for path, goes in (("sub/made/x", False), ("made/x", True)):
        call = {"file_path": path, "content": "x"}
        decision = Gate(workspace, RuleBook, mode="edits").decide("write_file", call)
        assert (decision.verdict == "allow") == goes, decision.reason


def test_hooks_beside_all_other_files_are_asked_about_by_their_names(
    decide: Decide, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.hooksPath", ".")
    assert asks_about_git(write(decide, "pre-commit"))
    assert write(decide, "main.py").verdict == "allow"


def test_a_rule_for_a_program_covers_no_file_in_the_folder_of_hooks(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.hooksPath", "made")
    book = RuleBook([parse_rule("bash(mytool *)", "allow")])
    gate = Gate(tmp_path, lambda: book)
    for operand, verdict in (("made/pre-commit", "ask"), ("other/pre-commit", "allow")):
        assert gate.decide("bash", {"command": f"mytool {operand}"}).verdict == verdict


def test_what_a_link_in_the_home_leads_to_is_asked_about_in_every_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, dotfiles = tmp_path / "home", tmp_path / "dotfiles"
    asked = [("shell/rc.sh", "ask"), ("editor/init.lua", "ask"), ("README", "allow")]
    (home / ".config").mkdir(parents=True)
    (dotfiles / "shell").mkdir(parents=True)
    (dotfiles / "editor").mkdir()
    (dotfiles / "shell/rc.sh").touch()
    (home / ".bashrc").symlink_to(dotfiles / "shell/rc.sh")
    (home / ".config/nvim").symlink_to("../../dotfiles/editor")
    (home / "plain").symlink_to(dotfiles / "README")
    for name in (".ssh/config", ".config/systemd/user/a.service"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (dotfiles / name.lstrip(".")).parent.mkdir(parents=True, exist_ok=True)
        (home / name).symlink_to(dotfiles / name.lstrip("."))
        asked.append((name.lstrip("."), "ask"))
    monkeypatch.setenv("HOME", str(home))
    gate = Gate(dotfiles, RuleBook, "edits")
    for name, verdict in asked:
        decision = gate.decide("write_file", {"file_path": name, "content": "x"})
        assert decision.verdict == verdict, name
    assert "by a link in your home" in gate.decide("bash", {"command": "echo > shell/rc.sh"}).reason


@pytest.mark.parametrize("mode", ["edits", "auto"])
def test_what_links_in_the_workspace_lead_to_is_asked_about(
    decide: Decide, tmp_path: Path, mode: Mode
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("scripts/hook.sh", "cfg/tasks.json", "pkg/env/dev.sh", "README"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".git/hooks/pre-push").symlink_to("../../scripts/hook.sh")
    (tmp_path / ".vscode").symlink_to("cfg")
    (tmp_path / "pkg/.envrc").symlink_to("env/dev.sh")
    (tmp_path / "LIESMICH").symlink_to("README")
    (tmp_path / "shared").mkdir()
    (tmp_path / ".github").symlink_to("shared")
    assert asks_about_git(write(decide, "scripts/hook.sh", mode))
    for name, verdict in (
        *(("cfg/tasks.json", "ask"), ("cfg/new.json", "ask"), ("pkg/env/dev.sh", "ask")),
        ("shared/hooks/a.json", "ask"),
        *(("README", "allow"), ("LIESMICH", "allow"), ("scripts/other.sh", "allow")),
    ):
        assert write(decide, name, mode).verdict == verdict, name


def test_what_settings_have_git_run_is_asked_about(decide: Decide, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("fsm.sh", "ssh.sh", "other.sh"):
        (tmp_path / name).touch()
    for setting, value in (("core.fsmonitor", "./fsm.sh"), ("core.sshCommand", "sh ssh.sh -v")):
        subprocess.run(["git", "config", setting, value], cwd=tmp_path, check=True)
    assert asks_about_git(write(decide, "fsm.sh", "auto"))
    assert asks_about_git(write(decide, "ssh.sh", "auto"))
    assert write(decide, "other.sh", "auto").verdict == "allow"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("filter.nb.clean", '"$(git rev-parse --show-toplevel)/tools/clean.sh"'),
        ("filter.nb.clean", "cd tools && ./clean.sh"),
        ("filter.nb.clean", 'cd "$(git rev-parse --show-toplevel)/tools" && sh clean.sh'),
        ("diff.x.textconv", "$PWD/tools/clean.sh"),
        ("core.fsmonitor", "${GIT_DIR:-.git}/../tools/clean.sh"),
        ("alias.st", "!sh tools/clean.sh"),
        ("hook.lint.command", "./tools/clean.sh"),
        ("tar.tgz.command", "./tools/clean.sh"),
        ("submodule.lib.update", "!./tools/clean.sh"),
        ("sendemail.smtpserver", "./tools/clean.sh"),
        ("core.attributesFile", "tools/clean.sh"),
        ("remote.origin.url", "ext::sh tools/clean.sh"),
        ("remote.origin.pushUrl", "ext::./tools/clean.sh %S"),
    ],
)
def test_it_is_however_they_name_it(
    decide: Decide, tmp_path: Path, setting: str, value: str
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "tools").mkdir()
    for name in ("tools/clean.sh", "tools/other.sh"):
        (tmp_path / name).touch()
    subprocess.run(["git", "config", setting, value], cwd=tmp_path, check=True)
    assert asks_about_git(write(decide, "tools/clean.sh", "auto"))
    assert write(decide, "tools/other.sh", "auto").verdict == "allow"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("alias.st", "status -s tools/clean.sh"),
        ("core.pager", "/bin/sh"),
        ("credential.helper", "!/usr/bin/env tools"),
        ("core.editor", "code --wait"),
        ("remote.origin.url", "https://example.com/tools/clean.sh"),
    ],
)
def test_what_they_do_not_run_is_not(
    decide: Decide, tmp_path: Path, setting: str, value: str
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "tools").mkdir()
    for name in ("tools/clean.sh", "sh"):
        (tmp_path / name).touch()
    subprocess.run(["git", "config", setting, value], cwd=tmp_path, check=True)
    for name in ("tools/clean.sh", "sh", "code/x"):
        assert write(decide, name, "auto").verdict == "allow"


def test_a_folder_that_a_link_makes_that_of_hooks_is_asked_about(
    decide: Decide, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", "--template="], cwd=tmp_path, check=True)
    (tmp_path / "ops").mkdir()
    (tmp_path / ".git/hooks").symlink_to("../ops")
    assert asks_about_git(write(decide, "ops/post-commit", "auto"))


def test_what_links_in_guarded_folders_lead_to_is_asked_about(
    decide: Decide, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for folder in (".vscode", "hk", "dev"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".vscode/tasks.json").symlink_to("../dev/tasks.json")
    (tmp_path / "hk/pre-commit").symlink_to("../dev/pre.sh")
    for folder in ("skills", "elsewhere", ".claude"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".claude/skills").symlink_to("../skills")
    (tmp_path / "skills/a").symlink_to("../elsewhere")
    (tmp_path / "skills/again").symlink_to("../skills")
    subprocess.run(["git", "config", "core.hooksPath", "hk"], cwd=tmp_path, check=True)
    assert write(decide, "dev/tasks.json", "auto").verdict == "ask"
    assert asks_about_git(write(decide, "dev/pre.sh", "auto"))
    assert write(decide, "elsewhere/SKILL.md", "auto").verdict == "ask"
    assert write(decide, "dev/other", "auto").verdict == "allow"


def test_a_setting_may_be_longer_than_any_name(decide: Decide, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    script = f"jq -r '{'x' * 5_000}'"
    subprocess.run(["git", "config", "diff.nb.textconv", script], cwd=tmp_path, check=True)
    assert write(decide, "a.py", "auto").verdict == "allow"
