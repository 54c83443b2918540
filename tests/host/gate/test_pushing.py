"""What is said of `git push`, by where it goes."""

import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.gate.risk import judge_script

FAR = "changes things outside this machine"
HERE = "changes another repository on this machine"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    git(tmp_path, "init", "-q", "--bare", "kept.git")
    git(folder, "remote", "add", "origin", "../kept.git")
    git(folder, "remote", "add", "far", "git@far.example:x.git")
    git(folder, "remote", "add", "odd", "ext::sh -c x")
    (folder / "src").mkdir()
    return folder


@pytest.mark.parametrize(
    "line",
    [
        *("git push", "git push origin main", "git push -u origin HEAD", "git push ../kept.git x"),
        "git add -A && git commit -m x && git push",
        "cd src && git push",
    ],
)
def test_a_push_to_a_repository_on_this_disk_is_not_told_as_one_to_another_machine(
    work: Path, line: str
) -> None:
    found = judge_script(line, work).whole
    assert found.risk == "high"
    assert HERE in found.reasons and FAR not in found.reasons


@pytest.mark.parametrize(
    "line",
    [
        *("git push far main", "git push odd", "git push nobody", "git push git@a.b:c"),
        *("git push $x", "git push --repo=far", "git push -o ../kept.git far", "x=1 git push"),
        "git remote set-url origin git@a.b:c && git push",
        "./x && git push",
        "git -c remote.origin.url=git@a.b:c push",
        "git --git-dir=../kept.git push",
    ],
)
def test_a_push_that_may_go_to_another_machine_is_not_told_as_one_on_this_disk(
    work: Path, line: str
) -> None:
    found = judge_script(line, work).whole
    assert found.risk == "high" and HERE not in found.reasons


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("url.git@a.b:.pushInsteadOf", "../"),
        ("url.git@a.b:.insteadOf", "../"),
        ("remote.origin.pushUrl", "git@a.b:c"),
        ("push.recurseSubmodules", "on-demand"),
    ],
)
def test_a_setting_that_may_lead_a_push_elsewhere_is_reckoned_with(
    work: Path, name: str, value: str
) -> None:
    git(work, "config", name, value)
    for line in ("git push", "git push ../kept.git"):
        assert FAR in judge_script(line, work).whole.reasons


def test_a_remote_with_a_second_address_elsewhere_is_told_as_one_of_another_machine(
    work: Path,
) -> None:
    git(work, "remote", "set-url", "--add", "origin", "git@a.b:c")
    assert FAR in judge_script("git push", work).whole.reasons
