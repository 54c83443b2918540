"""Moving what a command made to another file system."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.modules.tool_bash.sandbox import aside
from amplifier_tui.modules.tool_bash.sandbox.opened import identity_of


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that looks as if it were on another file system."""
    rename, folder = os.rename, tmp_path / "apart"

    def refusing(old: Any, new: Any, **more: Any) -> None:
        if Path(new).is_relative_to(folder):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        rename(old, new, **more)

    monkeypatch.setattr(os, "rename", refusing)
    return folder


def test_nobody_writes_into_a_folder_while_it_is_copied(
    tmp_path: Path, apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "work/.claude"
    place.mkdir(parents=True)
    (place / "note").write_text("1")
    copy, seen = aside.copy, []

    def copying(*arguments: Any) -> None:
        seen.append(place.exists())
        copy(*arguments)

    monkeypatch.setattr(aside, "copy", copying)
    identity = identity_of(place)
    assert identity is not None
    kept = aside.move_aside(place.parent, place, identity, apart)
    assert not any(seen) and (kept / "note").read_text() == "1"
    assert list(place.parent.iterdir()) == []


def test_what_can_not_be_copied_is_where_it_was(
    tmp_path: Path, apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ".envrc"
    place.write_text("1")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(aside, "copy", full)
    identity = identity_of(place)
    assert identity is not None
    with pytest.raises(OSError, match="No space left"):
        aside.move_aside(tmp_path, place, identity, apart)
    assert place.read_text() == "1" and list(apart.iterdir()) == []


def test_what_is_too_large_to_be_copied_is_where_it_was(
    tmp_path: Path, apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "_MOST_COPIED", 10)
    place = tmp_path / ".claude"
    place.mkdir()
    for name in ("a", "b"):
        (place / name).write_text("123456")
    identity = identity_of(place)
    assert identity is not None
    with pytest.raises(OSError, match="too large"):
        aside.move_aside(tmp_path, place, identity, apart)
    assert sorted(each.name for each in place.iterdir()) == ["a", "b"]
    assert list(apart.iterdir()) == []


def test_what_is_empty_of_a_file_takes_no_room_in_its_copy(tmp_path: Path, apart: Path) -> None:
    place = tmp_path / ".envrc"
    with place.open("wb") as file:
        file.write(b"begin")
        file.truncate(10**12)
        file.seek(10**9)
        file.write(b"middle")
    identity = identity_of(place)
    assert identity is not None
    kept = aside.move_aside(tmp_path, place, identity, apart)
    assert not place.exists() and kept.stat().st_size == 10**12
    assert kept.stat().st_blocks * 512 < 10**6
    with kept.open("rb") as file:
        assert file.read(5) == b"begin" and file.seek(10**9) and file.read(6) == b"middle"
