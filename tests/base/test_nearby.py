"""What lies in a folder: what is told of it, and when it is listed again."""

import os
from pathlib import Path

import pytest

from amplifier_tui.base.files import nearby as module
from amplifier_tui.base.files.nearby import (
    Entries,
    FolderListing,
    leads_past,
    nearby,
    obeyed_from_home,
)


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


def test_no_number_of_links_hides_a_folder(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"link{number}").symlink_to("nowhere")
    inner = tmp_path / "z" / "inner"
    inner.mkdir(parents=True)
    listing = FolderListing(most=5)
    assert "inner" in _found(tmp_path, listing) and not listing.is_full
    assert not leads_past(tmp_path / "link1")
    for number in range(9):
        (tmp_path / "z" / str(number)).mkdir()
    listing = FolderListing(most=5)
    _found(tmp_path, listing)
    assert listing.is_full and inner in listing.unknown


@pytest.mark.parametrize(
    ("link", "counts"),
    [
        (".bashrc", True),
        (".bashrc.d/a.sh", True),
        (".oh-my-zsh/custom/plugins/x/b.zsh", True),
        (".ipython/profile_default/startup/d.py", True),
        (".local/share/systemd/user/g.service", True),
        (".local/bin/c", True),
        ("bin/e", True),
        (".tool/deep/x", True),
        (".tool/deep/er/x", False),
        (".cache/tool/x", False),
        ("Documents/x", False),
    ],
)
def test_links_that_programs_obey_lie_in_folders_of_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str, counts: bool
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    monkeypatch.setenv("HOME", str(home))
    (home / link).parent.mkdir(parents=True)
    installed = work / ".venv" / "bin" / "tool"
    installed.parent.mkdir(parents=True)
    for target in (work / "file", installed):
        target.touch()
    (home / link).symlink_to(work / "file")
    (home / link).with_name("other").symlink_to(installed)
    assert obeyed_from_home(work) == ((work / "file",) if counts else ())
