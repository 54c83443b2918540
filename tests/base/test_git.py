import os
import subprocess
from pathlib import Path

import pytest

from amplifier_tui.base.git import (
    READING_ENVIRONMENT,
    brings_filters,
    brings_filters_now,
    git_output,
    git_output_now,
    git_place_now,
    names_programs,
    own_settings_now,
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "r"
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    return root


def put_git_first(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


async def test_output_is_returned_and_failure_is_none(repository: Path) -> None:
    assert await git_output(repository, "symbolic-ref", "--short", "HEAD") == "main\n"
    assert await git_output(repository, "rev-parse", "HEAD~9") is None
    assert await git_output(repository / "gone", "status") is None


def test_a_repository_stands_at_a_branch_or_a_commit(repository: Path, tmp_path: Path) -> None:
    assert git_place_now(tmp_path) is None
    assert git_place_now(repository) == ("main", "", "")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    made = ["git", *who, "commit", "-q", "--allow-empty", "-m", "x"]
    subprocess.run(made, cwd=repository, check=True)
    commit = (git_output_now(repository, "rev-parse", "HEAD") or "").strip()
    assert git_place_now(repository) == ("main", commit, "")
    subprocess.run(["git", "checkout", "-qb", "topic/one"], cwd=repository, check=True)
    assert git_place_now(repository) == ("topic/one", commit, "")
    subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=repository, check=True)
    assert git_place_now(repository) == ("", commit, "")


def test_a_thread_without_a_loop_can_ask(repository: Path) -> None:
    assert git_output_now(repository, "symbolic-ref", "--short", "HEAD") == "main\n"


async def test_output_and_time_are_limited(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_git_first(tmp_path / "bin", "[ $# -gt 14 ] && exec yes; exec sleep 600", monkeypatch)
    assert await git_output(repository, "log", timeout=0.2) is None
    found = await git_output(repository, "log", "--a", "--b", "--c", most_bytes=1_000)
    assert found == "y\n" * 500


async def test_the_environment_can_not_point_elsewhere(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "broken")
    assert await git_output(repository, "symbolic-ref", "--short", "HEAD") == "main\n"


async def test_nothing_is_fetched_to_answer(repository: Path, tmp_path: Path) -> None:
    mark, remote = tmp_path / "ran", tmp_path / "remote"
    remote.write_text(f"#!/bin/sh\ntouch {mark}\n")
    remote.chmod(0o755)
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{remote}"),
    ):
        subprocess.run(["git", "config", name, value], cwd=repository, check=True)
    command = ("cat-file", "-p", "1" * 40)
    subprocess.run(["git", *command], cwd=repository, capture_output=True, check=False)
    assert mark.exists()
    mark.unlink()
    assert await git_output(repository, *command) is None
    assert not mark.exists()


async def test_filters_of_the_repository_are_seen_and_those_of_the_user_are_not(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text('[filter "lfs"]\n\tclean = git-lfs clean -- %f\n')
    assert not await brings_filters(repository)
    subprocess.run(["git", "config", "filter.x.process", "x"], cwd=repository, check=True)
    assert await brings_filters(repository)


async def test_a_configuration_that_git_cannot_tell_may_name_any_program(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not names_programs(repository)
    put_git_first(tmp_path / "late", "exec sleep 60", monkeypatch)
    assert await brings_filters(repository, timeout=0.05)
    put_git_first(tmp_path / "broken", "exit 3", monkeypatch)
    assert brings_filters_now(repository) and names_programs(repository)
    with pytest.raises(OSError, match="code 3"):
        own_settings_now(repository, "x")
    assert not names_programs(tmp_path)


def test_git_is_not_started_where_there_is_no_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_git_first(tmp_path / "bin", f'echo "$PWD" >> {tmp_path}/asked; echo yes', monkeypatch)
    (tmp_path / "plain").mkdir()
    assert git_output_now(tmp_path / "plain", "status") is None
    assert not (tmp_path / "asked").exists()
    (repository / "below").mkdir()
    (tmp_path / "link").symlink_to(repository / "below")
    (tmp_path / "worktree").mkdir()
    (tmp_path / "worktree" / ".git").write_text("gitdir: elsewhere\n")
    for folder in (repository, repository / "below", tmp_path / "link", tmp_path / "worktree"):
        assert git_output_now(folder, "status") == "yes\n"


def test_a_repository_without_files_of_its_own_is_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", "bare"], cwd=tmp_path, check=True)
    assert git_output_now(tmp_path / "bare", "symbolic-ref", "--short", "HEAD") == "main\n"


def test_programs_that_submodules_name_are_seen_however_deep_they_lie(repository: Path) -> None:
    def git(folder: Path, *arguments: str) -> None:
        who = ("-c", "user.name=u", "-c", "user.email=u@example.org")
        command = ("git", *who, *arguments)
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    inner = repository / "a" / "b"
    for folder in (inner, inner.parent, repository):
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q")
        (folder / "file").write_text("x\n")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "first")
    assert not names_programs(repository) and not names_programs(inner.parent)
    git(inner, "config", "filter.x.clean", "evil")
    assert names_programs(repository) and names_programs(inner.parent)
    (repository / "plain").mkdir()
    assert names_programs(repository / "plain")


def test_a_program_that_merges_files_counts_as_one_that_looking_runs(repository: Path) -> None:
    subprocess.run(["git", "config", "merge.x.driver", "evil"], cwd=repository, check=True)
    assert names_programs(repository)


@pytest.mark.parametrize(
    ("name", "value", "named", "reading"),
    [
        ("core.hooksPath", ".husky/_", True, False),
        ("core.fsmonitor", "true", False, False),
        ("core.fsmonitor", "evil", True, False),
        ("core.pager", "less", True, False),
        ("pager.log", "evil", True, False),
        ("gpg.format", "ssh", False, False),
        ("gpg.ssh.program", "evil", True, True),
        ("gpg.program", "evil", True, True),
        ("filter.lfs.clean", "git-lfs clean -- %f", False, False),
        ("filter.lfs.process", "git-lfs filter-process", False, False),
        ("filter.lfs.required", "true", False, False),
        ("filter.lfs.clean", "evil; git-lfs clean -- %f", True, True),
        ("filter.x.clean", "git-lfs clean -- %f", True, True),
        ("lfs.extension.x.clean", "evil", True, True),
        ("diff.external", "evil", True, True),
    ],
)
def test_what_a_setting_names_counts_where_looking_would_run_it(
    repository: Path, name: str, value: str, named: bool, reading: bool
) -> None:
    subprocess.run(["git", "config", name, value], cwd=repository, check=True)
    said = name.lower()
    assert names_programs(repository).lower() == said * named
    assert names_programs(repository, reading=True).lower() == said * reading


def test_what_the_environment_for_reading_switches_off_is_not_run(
    repository: Path, tmp_path: Path
) -> None:
    (repository / "tools").mkdir()
    for name in ("post-index-change", "evil", "pager"):
        file = repository / "tools" / name
        file.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\n")
        file.chmod(0o755)
    for name, value in (
        ("core.hooksPath", "tools"),
        ("core.fsmonitor", "tools/evil"),
        ("core.pager", "tools/pager"),
        ("pager.status", "tools/pager"),
    ):
        subprocess.run(["git", "config", name, value], cwd=repository, check=True)
    for command in (("status",), ("-p", "status"), ("log", "-1"), ("diff",)):
        subprocess.run(
            ["git", *command],
            cwd=repository,
            env={**os.environ, **READING_ENVIRONMENT},
            capture_output=True,
            check=False,
        )
    assert not list(tmp_path.glob("ran-*"))
