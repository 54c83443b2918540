import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.exceptions import (
    BundleNotFoundError,
    GitCloneTimeoutError,
    SourceNotFetchedError,
    TrustRefusedError,
)
from amplifier_tui.foundation.paths import parse_uri
from amplifier_tui.foundation.sources import git, git_commands
from amplifier_tui.foundation.sources.context import FetchContext, requested_by
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustGate
from tests.foundation.helpers import GitRepo, Recorder, allow, write


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(
        tmp_path / "repo", {"bundle.yaml": "bundle: {name: one}", "sub/dir/f.txt": "1"}
    )


def resolver(tmp_path: Path, **context: Any) -> SimpleSourceResolver:
    options = {"gate": TrustGate(allow), **context}
    return SimpleSourceResolver(tmp_path / "cache", context=FetchContext(**options))


async def test_what_the_repository_one_works_in_configures_does_not_count(
    tmp_path: Path, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = GitRepo.create(tmp_path / "project", {"a": "b"})
    url = f"file://{repo.path}"
    project.git("config", f"remote.{url}.url", url)
    project.git("config", f"remote.{url}.uploadpack", f"touch {tmp_path}/RAN; git-upload-pack")
    project.git("config", f"url.file://{tmp_path}/elsewhere.insteadOf", url)
    monkeypatch.chdir(project.path)
    assert (await resolver(tmp_path).get_status(repo.uri())).remote_commit
    await resolver(tmp_path).resolve(repo.uri())
    assert not (tmp_path / "RAN").exists()


async def test_a_branch_is_cloned_once_and_used_without_the_repository(
    tmp_path: Path, repo: GitRepo
) -> None:
    sources = resolver(tmp_path)
    repo.commit({"more.md": "x"})
    first = await sources.resolve(repo.uri())
    assert (first.active_path / "bundle.yaml").read_text() == "bundle: {name: one}"
    assert _commits(first.active_path) == 1  # only the newest was asked for
    repo.path.rename(tmp_path / "gone")
    again = await resolver(tmp_path, offline=True).resolve(repo.uri())
    assert again == first


async def test_a_tag_a_branch_with_a_slash_and_a_full_commit_are_cloned(
    tmp_path: Path, repo: GitRepo
) -> None:
    old = repo.git("rev-parse", "HEAD")
    repo.git("tag", "-a", "v1", "-m", "one")
    repo.git("checkout", "-q", "-b", "feat/x")
    repo.commit({"bundle.yaml": "bundle: {name: two}"})
    sources = resolver(tmp_path)
    for ref, name in (("v1", "one"), ("feat/x", "two"), (old, "one")):
        found = await sources.resolve(repo.uri(ref))
        assert (found.active_path / "bundle.yaml").read_text() == f"bundle: {{name: {name}}}"
        assert _commits(found.active_path) == 1
    assert sources.context.resolved[repo.uri(old)].commit == old


async def test_a_commit_no_branch_points_at_is_found_by_a_full_clone(
    tmp_path: Path, repo: GitRepo
) -> None:
    old = repo.git("rev-parse", "HEAD")
    repo.git("config", "uploadpack.allowReachableSHA1InWant", "false")
    repo.commit({"bundle.yaml": "bundle: {name: two}"})
    found = await resolver(tmp_path).resolve(repo.uri(old))
    assert (found.active_path / "bundle.yaml").read_text() == "bundle: {name: one}"


async def test_a_subdirectory_is_a_part_of_the_clone(tmp_path: Path, repo: GitRepo) -> None:
    found = await resolver(tmp_path).resolve(repo.uri(subdirectory="sub/dir"))
    assert found.is_subdirectory
    assert found.active_path == found.source_root / "sub" / "dir"
    with pytest.raises(BundleNotFoundError, match="Subdirectory not found: 'no'"):
        await resolver(tmp_path).resolve(repo.uri(subdirectory="no"))


@pytest.mark.parametrize("escape", ["..", "sub/../../x", "../../../etc"])
async def test_a_subdirectory_that_leaves_the_clone_is_refused(
    tmp_path: Path, repo: GitRepo, escape: str
) -> None:
    (tmp_path / "cache" / "x").mkdir(parents=True)
    with pytest.raises(BundleNotFoundError, match="leaves its source"):
        await resolver(tmp_path).resolve(repo.uri(subdirectory=escape))


async def test_a_link_that_leaves_the_clone_is_refused(tmp_path: Path, repo: GitRepo) -> None:
    (repo.path / "link").symlink_to("/")
    repo.commit({})
    with pytest.raises(BundleNotFoundError, match="leaves its source"):
        await resolver(tmp_path).resolve(repo.uri(subdirectory="link"))


async def test_the_cache_folder_and_its_note_are_those_of_the_amplifier_cli(
    tmp_path: Path, repo: GitRepo
) -> None:
    import hashlib

    found = await resolver(tmp_path).resolve(repo.uri())
    url = f"file://{repo.path}"
    digest = hashlib.sha256(f"{url}@main".encode()).hexdigest()[:16]
    assert found.source_root == tmp_path / "cache" / f"repo-{digest}"
    meta = json.loads((found.source_root / ".amplifier_cache_meta.json").read_text())
    assert (meta["ref"], meta["git_url"]) == ("main", url)
    assert meta["commit"] == repo.git("rev-parse", "HEAD")
    assert meta["cached_at"]


async def test_a_clone_made_by_the_amplifier_cli_is_used(tmp_path: Path, repo: GitRepo) -> None:
    folder = git.cache_path(tmp_path / "cache", f"file://{repo.path}", "main")
    folder.parent.mkdir()
    repo.git("clone", "-q", str(repo.path), str(folder))
    sources = resolver(tmp_path, offline=True)
    assert (await sources.resolve(repo.uri())).source_root == folder
    assert sources.context.resolved[repo.uri()].commit == repo.git("rev-parse", "HEAD")


@pytest.mark.parametrize("damage", ["empty", "no-git", "no-head", "no-files"])
async def test_a_damaged_clone_is_made_again(tmp_path: Path, repo: GitRepo, damage: str) -> None:
    import shutil

    folder = (await resolver(tmp_path).resolve(repo.uri())).source_root
    if damage == "empty":
        shutil.rmtree(folder)
        folder.mkdir()
    elif damage == "no-git":
        shutil.rmtree(folder / ".git")
    elif damage == "no-head":
        write(folder / ".git" / "HEAD", "")
    else:
        for path in (*folder.glob("*.*"), folder / ".amplifier_cache_meta.json"):
            if path.is_file():
                path.unlink()
    found = await resolver(tmp_path).resolve(repo.uri())
    assert (found.active_path / "bundle.yaml").exists()
    assert [entry.name for entry in (tmp_path / "cache").iterdir()] == [folder.name]


async def test_a_failed_clone_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(BundleNotFoundError, match="Failed to clone") as failed:
        await resolver(tmp_path).resolve(f"git+file://{tmp_path}/nowhere@main")
    assert f"{tmp_path}/nowhere" in failed.value.message.partition(": ")[2], "git says what"
    assert "Correct the address" in failed.value.remedy
    assert list((tmp_path / "cache").iterdir()) == []


async def test_a_missing_branch_and_a_short_commit_say_what_to_do(
    tmp_path: Path, repo: GitRepo
) -> None:
    with pytest.raises(BundleNotFoundError, match="no branch or tag 'nope'"):
        await resolver(tmp_path).resolve(repo.uri("nope"))
    short = repo.git("rev-parse", "HEAD")[:10]
    with pytest.raises(BundleNotFoundError, match="give all 40 digits"):
        await resolver(tmp_path).resolve(repo.uri(short))


async def test_a_commit_that_does_not_exist_is_not_found(tmp_path: Path, repo: GitRepo) -> None:
    with pytest.raises(BundleNotFoundError, match="Failed to clone"):
        await resolver(tmp_path).resolve(repo.uri("a" * 40))


@pytest.mark.parametrize(
    "uri",
    [
        "git+ext::sh -c touch% x",
        "git+foo://h/r@main",
        "git+ssh://-oProxyCommand=x/r@main",
        "git+https://h@main",
        "git+file:///r@--upload-pack=touch",
        "git+file:///r@-x",
    ],
)
async def test_addresses_that_could_trick_git_are_refused(tmp_path: Path, uri: str) -> None:
    with pytest.raises(BundleNotFoundError):
        await resolver(tmp_path).resolve(uri)
    assert not list(tmp_path.glob("cache/*"))


async def test_hooks_of_a_repository_do_not_run(tmp_path: Path, repo: GitRepo) -> None:
    template = tmp_path / "template" / "hooks"
    hook = write(template / "post-checkout", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    repo.git("config", "--global", "init.templateDir", str(template.parent))
    await resolver(tmp_path).resolve(repo.uri())
    assert not (tmp_path / "ran").exists()


async def test_a_slow_repository_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _slow_git(tmp_path, monkeypatch)
    monkeypatch.setenv(git_commands.CLONE_TIMEOUT_VARIABLE, "0.2")
    with pytest.raises(GitCloneTimeoutError, match=r"no result after 0\.2 s"):
        await resolver(tmp_path).resolve("git+https://example.invalid/o/r@main")
    assert _started(tmp_path) == 1


async def test_a_cancelled_clone_ends_git_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _slow_git(tmp_path, monkeypatch)
    task = asyncio.create_task(resolver(tmp_path).resolve("git+https://example.invalid/o/r@main"))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/fd").exists()
    assert list((tmp_path / "cache").iterdir()) == []


async def test_a_passing_failure_is_tried_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing_git(tmp_path, monkeypatch, "fatal: early EOF")
    monkeypatch.setattr(git, "_RETRY_WAITS", (0.0, 0.0))
    progress: list[tuple[str, str]] = []
    sources = resolver(tmp_path, progress=lambda *event: progress.append(event))
    with pytest.raises(BundleNotFoundError, match="early EOF"):
        await sources.resolve("git+https://example.invalid/o/r@main")
    assert _started(tmp_path) == 3
    assert sum("again" in detail for _, detail in progress) == 2


async def test_an_unknown_host_is_tried_once_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing_git(tmp_path, monkeypatch, "fatal: Could not resolve host: example.invalid")
    sources = resolver(tmp_path)
    for name in ("a", "b", "c"):
        with pytest.raises(BundleNotFoundError, match="Could not resolve host"):
            await sources.resolve(f"git+https://example.invalid/o/{name}@main")
    assert _started(tmp_path) == 1


async def test_concurrent_requests_for_one_repository_clone_it_once(
    tmp_path: Path, repo: GitRepo
) -> None:
    recorder = Recorder()
    sources = resolver(tmp_path, gate=TrustGate(recorder))
    found = await asyncio.gather(*(sources.resolve(repo.uri()) for _ in range(5)))
    assert len(set(found)) == 1
    assert recorder.actions == ["fetch"]


async def test_nothing_is_cloned_without_trust(tmp_path: Path, repo: GitRepo) -> None:
    with pytest.raises(TrustRefusedError, match="Not allowed to fetch"):
        await SimpleSourceResolver(tmp_path / "cache").resolve(repo.uri())
    assert not (tmp_path / "cache").exists()
    recorder = Recorder("fetch")
    with (
        pytest.raises(TrustRefusedError),
        requested_by("tool-x", ("outer", "inner")),
    ):
        await resolver(tmp_path, gate=TrustGate(recorder)).resolve(repo.uri(subdirectory="sub"))
    (request,) = recorder.requests
    assert (request.action, request.uri, request.subject) == ("fetch", repo.uri(), "tool-x")
    assert request.included_by == ("outer", "inner")


async def test_offline_says_that_it_is_not_fetched_and_asks_nobody(
    tmp_path: Path, repo: GitRepo
) -> None:
    recorder = Recorder()
    with pytest.raises(SourceNotFetchedError, match="Not fetched yet"):
        await resolver(tmp_path, gate=TrustGate(recorder), offline=True).resolve(repo.uri())
    assert recorder.requests == []


async def test_status_tells_whether_there_is_something_newer(tmp_path: Path, repo: GitRepo) -> None:
    sources = resolver(tmp_path)
    assert (await sources.get_status(repo.uri())).has_update is True
    await sources.resolve(repo.uri())
    status = await sources.get_status(repo.uri())
    assert (status.has_update, status.is_cached) == (False, True)
    new = repo.commit({"bundle.yaml": "bundle: {name: two}"})
    status = await sources.get_status(repo.uri())
    assert (status.has_update, status.remote_commit) == (True, new)
    assert "Update available" in status.summary
    found = await sources.update(repo.uri())
    assert (found.active_path / "bundle.yaml").read_text() == "bundle: {name: two}"
    assert (await sources.get_status(repo.uri())).has_update is False


async def test_commits_and_version_tags_are_pinned(tmp_path: Path, repo: GitRepo) -> None:
    repo.git("tag", "v1.2")
    for ref in ("v1.2", repo.git("rev-parse", "HEAD")):
        status = await resolver(tmp_path).get_status(repo.uri(ref))
        assert (status.is_pinned, status.has_update) == (True, False)


async def test_an_annotated_tag_is_compared_by_its_commit(tmp_path: Path, repo: GitRepo) -> None:
    repo.git("tag", "-a", "stable", "-m", "x")
    sources = resolver(tmp_path)
    await sources.resolve(repo.uri("stable"))
    assert (await sources.get_status(repo.uri("stable"))).has_update is False


async def test_status_is_unknown_when_the_repository_cannot_be_reached(
    tmp_path: Path, repo: GitRepo
) -> None:
    sources = resolver(tmp_path)
    await sources.resolve(repo.uri())
    repo.path.rename(tmp_path / "gone")
    status = await sources.get_status(repo.uri())
    assert status.has_update is None and status.error
    refused = SimpleSourceResolver(tmp_path / "cache")
    assert "Not allowed" in ((await refused.get_status(repo.uri())).error or "")


async def test_a_failed_update_keeps_the_old_clone(tmp_path: Path, repo: GitRepo) -> None:
    sources = resolver(tmp_path)
    found = await sources.resolve(repo.uri())
    repo.path.rename(tmp_path / "gone")
    with pytest.raises(BundleNotFoundError):
        await sources.update(repo.uri())
    assert (found.active_path / "bundle.yaml").exists()


@pytest.mark.parametrize(("text", "seconds"), [("12.5", 12.5), ("0", 300), ("-1", 300), ("x", 300)])
def test_the_clone_timeout_is_read_each_time(
    monkeypatch: pytest.MonkeyPatch, text: str, seconds: float
) -> None:
    monkeypatch.setenv(git_commands.CLONE_TIMEOUT_VARIABLE, text)
    assert git_commands.clone_timeout() == seconds


async def test_a_machine_without_git_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BundleNotFoundError, match="git is not installed"):
        await resolver(tmp_path).resolve("git+https://example.invalid/o/r@main")


def test_names_of_cache_folders_are_harmless(tmp_path: Path) -> None:
    for url in ("https://h/..", "https://h/o/r.git", "https://h/o/a b\\c", "https://h/"):
        folder = git.cache_path(tmp_path, url, "main")
        assert folder.parent == tmp_path
        assert folder.name.rpartition("-")[0] not in ("", ".", "..")
    assert parse_uri("git+https://h/o/r").ref == "main"


def _commits(clone: Path) -> int:
    return int(GitRepo(clone).git("rev-list", "--count", "HEAD"))


def _slow_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_git(tmp_path, monkeypatch, f"echo $$ > {tmp_path}/pid\nexec sleep 600")


def _failing_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    _fake_git(tmp_path, monkeypatch, f"echo '{message}' >&2\nexit 128")


def _fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = write(
        tmp_path / "bin" / "git", f"#!/bin/sh\necho x >> {tmp_path}/started\n{script}\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def _started(tmp_path: Path) -> int:
    return (tmp_path / "started").read_text().count("x")


async def test_a_server_without_a_network_is_not_asked_for_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = "fatal: Could not resolve host: example.invalid"
    script = (
        'for last; do :; done\ncase "$*" in *init*) mkdir -p "$last";; '
        f"*fetch*) echo '{message}' >&2; exit 128;; esac"
    )
    _fake_git(tmp_path, monkeypatch, script)
    with pytest.raises(BundleNotFoundError, match="Could not resolve host"):
        await resolver(tmp_path).resolve(f"git+https://example.invalid/o/r@{'a' * 40}")
    assert _started(tmp_path) == 3  # init, remote, fetch
