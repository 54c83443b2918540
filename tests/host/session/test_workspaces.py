import os
import shutil
import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.events import BranchChanged, Notice
from amplifier_tui.host.session.places import workspaces
from amplifier_tui.host.session.places.workspaces import (
    KEPT,
    WorkspaceError,
    beginning_of,
    git_branch,
    make_workspace,
    prune_workspaces,
    scratch_root,
    template_of,
)
from tests.host.driving import Driver, Project
from tests.host.session.worktree_stage import git, make_repository


def plan(template: object) -> dict[str, object]:
    return {"session": {"workspace": {"template": template}}}


def test_a_template_beside_the_bundle_is_found(tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    assert template_of(plan("sample"), tmp_path) == tmp_path / "sample"
    assert template_of(plan("./sample/"), tmp_path) == tmp_path / "sample"
    assert template_of({"session": {}}, tmp_path) is None
    assert template_of({}, tmp_path) is None


@pytest.mark.parametrize("template", ["../other", "/etc", "missing", ".", "", 7, ["x"], "link"])
def test_a_template_anywhere_else_is_refused(tmp_path: Path, template: object) -> None:
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (tmp_path / "other").mkdir()
    (bundle / "link").symlink_to(tmp_path / "other")
    if not template:
        assert template_of(plan(template), bundle) is None
        return
    with pytest.raises(WorkspaceError):
        template_of(plan(template), bundle)


def test_a_session_keeps_its_copy(tmp_path: Path) -> None:
    template = tmp_path / "sample"
    (template / "src").mkdir(parents=True)
    (template / "src" / "a.py").write_text("1")
    (template / "__pycache__").mkdir()
    copy = make_workspace(template, "session-1")
    assert copy.is_relative_to(scratch_root()) and copy.name == "sample"
    assert not (copy / "__pycache__").exists()
    (copy / "src" / "a.py").write_text("2")
    assert make_workspace(template, "session-1") == copy
    assert (copy / "src" / "a.py").read_text() == "2"
    assert (template / "src" / "a.py").read_text() == "1"


def test_only_old_copies_beyond_the_newest_are_removed(tmp_path: Path) -> None:
    template = tmp_path / "sample"
    template.mkdir()
    folders = [make_workspace(template, f"s{number}").parent for number in range(KEPT + 3)]
    for number, folder in enumerate(folders):
        os.utime(folder, (number, number))
    assert prune_workspaces("s1", now=10**9) == 2
    assert [folder.exists() for folder in folders[:4]] == [False, True, False, True]
    assert len(list(scratch_root().iterdir())) == KEPT + 1
    assert prune_workspaces("s1", now=100) == 0


def test_half_a_copy_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / "sample"
    template.mkdir()
    for name in ("a.txt", "b.txt"):
        (template / name).write_text(name)

    def full(source: Path, target: Path, **_: object) -> None:
        target.mkdir(parents=True)
        (target / "a.txt").write_text("a.t")
        raise OSError("No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(shutil, "copytree", full)
        with pytest.raises(OSError, match="No space"):
            make_workspace(template, "one")
    copy = make_workspace(template, "one")
    assert [path.read_text() for path in sorted(copy.iterdir())] == ["a.txt", "b.txt"]
    assert list(copy.parent.iterdir()) == [copy]


def test_a_copy_begins_with_another_copy_and_with_nothing_else_that_metadata_name(
    tmp_path: Path,
) -> None:
    template = tmp_path / "sample"
    template.mkdir()
    copy = make_workspace(template, "one")
    assert beginning_of(str(copy), template) == copy.resolve()
    elsewhere = tmp_path / "elsewhere" / "sample"
    elsewhere.mkdir(parents=True)
    other = make_workspace(elsewhere.rename(tmp_path / "other"), "two")
    for named in ("", "\0", str(tmp_path), str(copy / ".." / ".."), str(other), str(copy / "gone")):
        assert beginning_of(named, template) == template
    (copy.parent / "link").symlink_to(tmp_path)
    assert beginning_of(str(copy.parent / "link" / "sample"), template) == template


def test_a_copy_is_as_old_as_its_last_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspaces, "KEPT", 0)
    (tmp_path / "sample").mkdir()
    used, old = (make_workspace(tmp_path / "sample", name) for name in ("used", "old"))
    for copy in (used, old):
        (copy / "mine.txt").write_text("work")
        os.utime(copy.parent, (1, 1))
    assert make_workspace(tmp_path / "sample", "used") == used
    assert prune_workspaces("new") == 1
    assert (used / "mine.txt").exists() and not old.exists()


def test_the_branch_is_read_without_running_git(tmp_path: Path) -> None:
    assert git_branch(tmp_path / "nowhere") == ""
    subprocess.run(["git", "init", "-q", "-b", "feature/x", str(tmp_path)], check=True)
    (tmp_path / "sub").mkdir()
    assert git_branch(tmp_path / "sub") == "feature/x"
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert git_branch(tmp_path) == "012345678"
    worktree = tmp_path / "sub" / "tree"
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: ../../.git\n")
    assert git_branch(worktree) == "012345678"
    (worktree / ".git").write_bytes(b"\xff")
    assert git_branch(worktree) == ""


def test_where_no_copy_can_be_made_it_is_said_first_where_the_session_works(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> Path:
        raise PermissionError(13, "Permission denied", "/nobody/workspaces")

    place = "amplifier_tui.host.session.opening.working_folder.make_workspace"
    monkeypatch.setattr(place, refused)
    driver.open("demo")
    (said,) = [event.text for event in driver.of(Notice) if "scratch" in event.text]
    reason = "no scratch workspace (/nobody/workspaces: Permission denied)"
    assert said == f"Working in {project.folder.resolve()}: {reason}"


def test_the_template_of_an_included_bundle_is_beside_that_one(
    project: Project, driver: Driver
) -> None:
    (project.bundles / "mine.yaml").write_text("bundle: {name: mine}\nincludes: [demo]\n")
    opened = driver.open("mine")
    assert (Path(opened.cwd) / "parcels" / "rates.py").is_file()
    assert not Path(opened.cwd).is_relative_to(project.folder)


def test_what_is_granted_in_a_copy_is_not_kept_for_the_project_it_was_begun_in(
    project: Project, driver: Driver
) -> None:
    driver.open("demo")
    driver.client.submit(
        "Why does a parcel of exactly 2 kg cost too much? Find the bug and fix it."
    )
    assert driver.deny_next().scopes == ("once", "session")


def test_a_branch_that_others_check_out_is_told_without_a_turn(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.host.session.watching.LOOK_PAUSE", 0.01)
    subprocess.run(["git", "init", "-q", "-b", "first", project.folder], check=True)
    assert driver.open(project.bundle()).branch == "first"
    switch = ["git", "-C", project.folder, "symbolic-ref", "HEAD", "refs/heads/second"]
    subprocess.run(switch, check=True)
    assert driver.wait(BranchChanged).branch == "second"
    shutil.rmtree(project.folder / ".git")
    assert driver.wait(BranchChanged).branch == ""


def test_that_the_folder_of_a_session_is_gone_is_told_once(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.host.session.watching.LOOK_PAUSE", 0.01)
    original = make_repository(project.folder)
    worktree = original.with_name("site-fix")
    git(original, "worktree", "add", "-q", "-b", "fix", str(worktree))
    git(original.parent, "init", "-qb", "above")
    driver.cwd = worktree
    bundle = project.bundles / f"{project.bundle()}.md"
    assert driver.open(str(bundle)).branch == "fix"
    git(original, "worktree", "remove", "--force", str(worktree))
    said = driver.wait(Notice, lambda notice: "is gone" in notice.text)
    assert (
        said.level,
        said.text.startswith("The folder of this session is gone: put it back"),
    ) == (
        "error",
        True,
    )
    # Not that of the repository above, though git may take the folder away piece by piece.
    driver.wait(BranchChanged, lambda event: event.branch == "")
    git(original, "worktree", "add", "-q", str(worktree), "fix")
    driver.wait(BranchChanged, lambda event: event.branch == "fix")
    assert len([each for each in driver.of(Notice) if "is gone" in each.text]) == 1
