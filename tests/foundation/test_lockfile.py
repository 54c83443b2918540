import json
from pathlib import Path

import pytest

from amplifier_tui.foundation.exceptions import (
    BundleLoadError,
    BundleNotFoundError,
    SourceNotFetchedError,
)
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.lockfile import LockEntry, LockFile
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustGate
from tests.foundation.helpers import GitRepo, allow, write

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_project_without_a_lock_has_an_empty_one(tmp_path: Path) -> None:
    assert LockFile.for_project(tmp_path).sources == {}


def test_a_lock_comes_back_as_it_was_saved_and_is_sorted(tmp_path: Path) -> None:
    lock = LockFile.for_project(tmp_path)
    lock.replace(
        {
            "zip+https://h/z.zip": LockEntry(sha256="a" * 64),
            "git+https://me:pw@h/r@main#subdirectory=x": LockEntry(commit=COMMIT),
        }
    )
    lock.save()
    assert LockFile.for_project(tmp_path).sources == lock.sources
    text = (tmp_path / ".amplifier" / "bundle.lock").read_text()
    assert "pw" not in text and "#" not in text
    assert list(json.loads(text)["sources"]) == sorted(lock.sources)
    assert lock.entry("git+https://other:x@h/r@main#subdirectory=y") == LockEntry(commit=COMMIT)
    assert lock.entry("git+https://h/other") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"version": 9}',
        '{"version": 1}',
        '{"version": 1, "sources": {"a": {}}}',
        '{"version": 1, "sources": {"a": 5}}',
        '{"version": 1, "sources": {"a": {"commit": "abc"}}}',
        '{"version": 1, "sources": {"a": {"commit": 5}}}',
    ],
)
def test_a_broken_lock_is_an_error_with_its_path(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / ".amplifier" / "bundle.lock", text)
    with pytest.raises(BundleLoadError) as caught:
        LockFile.for_project(tmp_path)
    assert caught.value.path == path and caught.value.remedy


async def test_a_locked_branch_means_the_commit_it_was_locked_to(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: one}"})
    old = repo.git("rev-parse", "HEAD")
    repo.commit({"bundle.yaml": "bundle: {name: two}"})
    lock = LockFile(tmp_path / "bundle.lock", {repo.uri(): LockEntry(commit=old)})
    context = FetchContext(TrustGate(allow), lock=lock)
    found = await SimpleSourceResolver(tmp_path / "cache", context=context).resolve(repo.uri())
    assert (found.active_path / "bundle.yaml").read_text() == "bundle: {name: one}"
    assert context.resolved == {repo.uri(): LockEntry(commit=old)}
    status = await SimpleSourceResolver(tmp_path / "cache", context=context).get_status(repo.uri())
    assert status.is_pinned


async def test_what_was_locked_is_here_without_being_fetched_again(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: one}"})
    fetched = FetchContext(TrustGate(allow))
    cache = tmp_path / "cache"
    branch = await SimpleSourceResolver(cache, context=fetched).resolve(repo.uri())
    lock = LockFile(tmp_path / "bundle.lock")
    lock.replace(fetched.resolved)
    offline = SimpleSourceResolver(cache, context=FetchContext(offline=True, lock=lock))
    assert await offline.resolve(repo.uri()) == branch
    assert (await offline.get_status(repo.uri())).is_cached
    # Somebody else's update moves the branch; the lock means what it meant.
    repo.commit({"bundle.yaml": "bundle: {name: two}"})
    await SimpleSourceResolver(cache, context=fetched).update(repo.uri())
    with pytest.raises(SourceNotFetchedError):
        await offline.resolve(repo.uri())
    context = FetchContext(TrustGate(allow), lock=lock)
    found = await SimpleSourceResolver(cache, context=context).resolve(repo.uri())
    assert (found.active_path / "bundle.yaml").read_text() == "bundle: {name: one}"


async def test_a_locked_commit_that_is_gone_names_the_lock_and_what_renews_it(
    tmp_path: Path,
) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: one}"})
    lock = LockFile(tmp_path / "bundle.lock", {repo.uri(): LockEntry(commit=COMMIT)})
    locked = SimpleSourceResolver(tmp_path / "c", context=FetchContext(TrustGate(allow), lock=lock))
    with pytest.raises(BundleNotFoundError) as caught:
        await locked.resolve(repo.uri())
    assert str(lock.path) in caught.value.remedy and "bundle update" in caught.value.remedy
    # Named by the source itself, or gone with its repository, it is no matter of the lock.
    for uri in (repo.uri(COMMIT), GitRepo(tmp_path / "gone").uri()):
        with pytest.raises(BundleNotFoundError) as caught:
            lock.replace({GitRepo(tmp_path / "gone").uri(): LockEntry(commit=COMMIT)})
            await locked.resolve(uri)
        assert "bundle update" not in caught.value.remedy
