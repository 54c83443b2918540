import errno
import os
from pathlib import Path

import pytest

from amplifier_tui.foundation.io import read_with_retry, write_with_backup, write_with_retry
from amplifier_tui.foundation.paths import (
    construct_agent_path,
    construct_context_path,
    enclosing_bundle_folder,
    find_bundle_root,
    find_files,
)
from tests.foundation.helpers import write


def test_agents_and_context_files_have_their_places() -> None:
    base = Path("/b")
    assert construct_agent_path(base, "x") == Path("/b/agents/x.md")
    assert construct_agent_path(base, "x.md") == Path("/b/agents/x.md")
    assert construct_context_path(base, "context/a.md") == Path("/b/context/a.md")
    assert construct_context_path(base, "/") == base
    assert construct_context_path(base, "") == base


async def test_files_are_found_sorted_at_any_depth(tmp_path: Path) -> None:
    for name in ("b.md", "a/c.md", "a/x.txt"):
        write(tmp_path / name, "")
    assert await find_files(tmp_path, "*.md") == [tmp_path / "a/c.md", tmp_path / "b.md"]
    assert await find_files(tmp_path, "*.md", recursive=False) == [tmp_path / "b.md"]
    assert await find_files(tmp_path / "no", "*.md") == []


async def test_the_nearest_bundle_above_is_found(tmp_path: Path) -> None:
    write(tmp_path / "r" / "bundle.yaml", "")
    write(tmp_path / "r" / "a" / "b" / "x.md", "")
    assert await find_bundle_root(tmp_path / "r" / "a" / "b" / "x.md") == tmp_path / "r"
    assert await find_bundle_root(tmp_path) is None


def test_the_search_for_a_bundle_ends_below_the_users_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "bundle.md", "")
    write(tmp_path / "home" / "bundle.md", "")
    inner = tmp_path / "home" / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert enclosing_bundle_folder(inner) is None
    monkeypatch.setenv("HOME", "/nowhere/zzz")
    assert enclosing_bundle_folder(inner) == tmp_path / "home"


async def test_a_file_is_written_with_its_folder_and_read_back(tmp_path: Path) -> None:
    await write_with_retry(tmp_path / "d" / "f.txt", "ä")
    assert await read_with_retry(tmp_path / "d" / "f.txt") == "ä"


async def test_an_io_error_is_tried_again_and_other_errors_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Path] = []
    original = Path.read_text

    def flaky(self: Path, *args: object, **kwargs: object) -> str:
        calls.append(self)
        if len(calls) < 3:
            raise OSError(errno.EIO, "I/O error")
        return original(self, encoding="utf-8")

    path = write(tmp_path / "f", "x")
    monkeypatch.setattr(Path, "read_text", flaky)
    assert await read_with_retry(path, initial_delay=0.001) == "x"
    assert len(calls) == 3
    monkeypatch.setattr(Path, "read_text", original)
    with pytest.raises(FileNotFoundError):
        await read_with_retry(tmp_path / "missing")


async def test_after_the_last_attempt_the_io_error_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Path, *args: object, **kwargs: object) -> str:
        raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr(Path, "read_text", broken)
    with pytest.raises(OSError, match="I/O"):
        await read_with_retry(tmp_path / "f", max_retries=2, initial_delay=0.001)


def test_the_former_content_is_kept_as_backup(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    write_with_backup(path, "one")
    assert not (tmp_path / "f.json.backup").exists()
    write_with_backup(path, "two")
    assert path.read_text() == "two"
    assert (tmp_path / "f.json.backup").read_text() == "one"


def test_bytes_are_written_and_a_backup_has_the_suffix_that_was_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "old")
    write_with_backup(path, b"\xff", mode="wb", backup_suffix="~")
    assert path.read_bytes() == b"\xff" and (tmp_path / "f~").read_text() == "old"
    for content, mode, suffix in (("x", "a", "~"), ("x", "w", "")):
        with pytest.raises(ValueError, match="'w' or 'wb'"):
            write_with_backup(path, content, mode, suffix)
    with pytest.raises(TypeError, match="does not write str"):
        write_with_backup(path, "x", "wb")
    assert path.read_bytes() == b"\xff"


def test_an_atomic_write_keeps_permissions_and_follows_links(tmp_path: Path) -> None:
    real = write(tmp_path / "real", "1")
    real.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(real)
    write_with_backup(link, "2")
    assert link.is_symlink() and real.read_text() == "2"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_failed_atomic_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "f", "old")

    def broken(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="full"):
        write_with_backup(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]
