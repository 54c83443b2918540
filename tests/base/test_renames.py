"""Being told which folders were renamed."""

import os
import sys
from pathlib import Path

import pytest

from amplifier_tui.base.commands.held.renames import Renames

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of renames")


def there_and_back(folder: Path) -> None:
    folder.rename(folder.with_name("swap")).rename(folder)


@pytest.fixture
def renames(tmp_path: Path) -> Renames:
    places = [tmp_path / "one", tmp_path / "other"]
    for place in places:
        place.mkdir()
    return Renames(places)


def test_a_look_ends_though_folders_are_renamed_as_it_reads(
    renames: Renames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, reads = os.read, [0]

    def reading(handle: int, most: int) -> bytes:
        reads[0] += 1
        assert reads[0] < 10, "it reads for as long as there is something"
        there_and_back(tmp_path / "one")
        return read(handle, most)

    there_and_back(tmp_path / "other")
    monkeypatch.setattr(os, "read", reading)
    assert tmp_path / "other" in renames.found()
    assert tmp_path / "one" in renames.found()


def test_only_what_was_renamed_is_told_of_unless_it_was_too_much(
    renames: Renames, tmp_path: Path
) -> None:
    assert renames.found() == set()
    for _ in range(1_000):
        there_and_back(tmp_path / "one")
    assert renames.found() == {tmp_path / "one"}
    for _ in range(int(Path("/proc/sys/fs/inotify/max_queued_events").read_text()) // 4 + 1):
        there_and_back(tmp_path / "one")
    assert renames.found() == {tmp_path / "one", tmp_path / "other"}
