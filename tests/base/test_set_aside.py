import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.base.commands import set_aside
from amplifier_tui.base.commands.set_aside import (
    SetAside,
    list_set_aside,
    note_set_aside,
    put_back,
)


@pytest.fixture(params=["here", "elsewhere"])
def aside(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of what is moved aside, also on another file system."""
    here = tmp_path / "aside"
    if request.param == "elsewhere":
        elsewhere = Path("/dev/shm")
        if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("there is no second file system")
        here = Path(tempfile.mkdtemp(dir=elsewhere))
    here.mkdir(exist_ok=True)
    yield here
    shutil.rmtree(here, ignore_errors=True)


def moved(aside: Path, place: Path) -> SetAside:
    kept = aside / "1" / place.name
    kept.parent.mkdir()
    shutil.move(place, kept)
    note_set_aside(aside, place, kept)
    (item,) = list_set_aside(aside, place.parent)
    assert (item.place, item.kept) == (place, kept)
    return item


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_what_was_moved_aside_comes_back_as_it_was(aside: Path, tmp_path: Path, kind: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    place = work / ".x"
    if kind == "file":
        place.write_text("A=1\n")
        place.chmod(0o750)
    elif kind == "link":
        place.symlink_to("nowhere")
    else:
        place.mkdir()
        (place / "in").write_text("x")
    item = moved(aside, place)
    os.utime(item.kept, ns=(1, 1_234_567_891_234_567), follow_symlinks=False)
    was = item.kept.lstat()
    put_back(item)
    now = place.lstat()
    assert (now.st_mode, now.st_mtime_ns) == (was.st_mode, was.st_mtime_ns)
    assert not os.path.lexists(item.kept)
    assert list_set_aside(aside, work) == []


@pytest.mark.parametrize("name", [".x/in", ".x"])
def test_what_is_back_has_no_other_name(aside: Path, tmp_path: Path, name: str) -> None:
    place, file = tmp_path / "work" / ".x", tmp_path / "work" / name
    file.parent.mkdir(parents=True)
    file.write_text("x")
    (tmp_path / "other").hardlink_to(file)
    item = moved(aside, place)
    put_back(item)
    (tmp_path / "other").write_text("evil")
    assert file.read_text() == "x" and not item.kept.exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_is_written_over(aside: Path, tmp_path: Path, kind: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    place = work / ".x"
    place.write_text("A=1\n") if kind == "file" else place.mkdir()
    item = moved(aside, place)
    place.symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        put_back(item)
    assert place.is_symlink() and os.path.lexists(item.kept)


def test_a_link_in_the_place_of_its_folder_is_not_followed(aside: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work" / "web"
    folder.mkdir(parents=True)
    (folder / ".x").write_text("x")
    item = moved(aside, folder / ".x")
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        put_back(item)
    (tmp_path / "other").mkdir()
    folder.symlink_to(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        put_back(item)
    assert not list((tmp_path / "other").iterdir()) and item.kept.exists()


def test_only_what_was_in_a_folder_and_came_since_is_listed(aside: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / ".x").write_text("x")
    item = moved(aside, work / ".x")
    note_set_aside(aside, work / ".gone", aside / "2" / ".gone")
    note_set_aside(aside, work / ".foreign", tmp_path / "work")
    assert list_set_aside(aside, work) == [item]
    assert list_set_aside(aside, tmp_path / "other") == []
    assert list_set_aside(aside, work, since=item.at + 1) == []
    assert list_set_aside(tmp_path / "nothing", work) == []


def test_a_folder_that_is_swapped_for_a_link_at_the_last_moment_is_not_left(
    aside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = tmp_path / "work" / "web", tmp_path / "other"
    folder.mkdir(parents=True)
    other.mkdir()
    (folder / ".x").write_text("x")
    item = moved(aside, folder / ".x")
    find = set_aside.open_folder

    def swapped(path: Path) -> int:
        handle = find(path)
        folder.rename(tmp_path / "work" / "was")
        folder.symlink_to(other)
        return handle

    monkeypatch.setattr(set_aside, "open_folder", swapped)
    put_back(item)
    assert not list(other.iterdir())
    assert (tmp_path / "work" / "was" / ".x").read_text() == "x"
