"""What lies in a folder: what is told of it, and when it is listed again."""

import os
from pathlib import Path

import pytest

from amplifier_tui.base.files import nearby as module
from amplifier_tui.base.files.nearby import Entries, FolderListing, nearby


def _found(folder: Path, listing: FolderListing) -> set[str]:
    return {entry.name for entry, _ in nearby(folder, listing)}


def test_a_folder_that_has_not_changed_is_not_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SETTLED", -1)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / ".envrc").touch()
    (tmp_path / "inner" / "code.py").touch()
    earlier: Entries = {}
    listed: list[object] = []
    real = os.scandir

    def scandir(folder: Path) -> object:
        listed.append(folder)
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)

    def look() -> set[str]:
        return _found(tmp_path, FolderListing(lambda name, _: name == ".envrc", earlier))

    assert look() == {"inner", ".envrc"} and len(listed) == 2
    assert look() == {"inner", ".envrc"} and len(listed) == 2
    (tmp_path / "inner" / "more").mkdir()
    assert look() == {"inner", ".envrc", "more"} and listed[2:] == [
        tmp_path / "inner",
        tmp_path / "inner" / "more",
    ]


def test_a_folder_that_has_just_changed_is_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SETTLED", 10**15)
    # Within one tick of the clock another change would have the same time.
    earlier: Entries = {}
    for name in "abc":
        (tmp_path / name).mkdir()
        assert name in _found(tmp_path, FolderListing(earlier=earlier))
    assert tmp_path not in earlier
