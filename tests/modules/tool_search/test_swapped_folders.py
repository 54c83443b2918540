"""A command that still runs puts links in the place of folders while they are searched."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.modules.tool_search import worker
from amplifier_tui.modules.tool_search.walking import Walk
from tests.modules.tool_search.support import Search

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no open folders")


@pytest.fixture
def root(search: Search, tmp_path: Path) -> Path:
    search.put("a/first")
    search.put("z/deep/keys", "needle own\n")
    search.put("z/keys", "needle own\n")
    (tmp_path / "outside/deep").mkdir(parents=True)
    (tmp_path / "outside/keys").write_text("needle secret\n")
    (tmp_path / "outside/deep/keys").write_text("needle secret\n")
    (tmp_path / "outside/other").write_text("needle secret\n")
    return search.root.resolve()


def swap(folder: Path) -> None:
    """Put a link to a folder outside in the place of one of the workspace."""
    if not folder.is_symlink():
        folder.rename(folder.with_name(".moved"))
        folder.symlink_to(folder.parents[1] / "outside")


def grep(root: Path, said: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "say", said)
    request: dict[str, Any] = {"start": str(root), "denied": [], "everything": False}
    request |= {"pattern": "needle", "flags": 0, "multiline": False, "globs": []}
    request |= {"mode": "content", "before": 0, "after": 0, "skip": 0, "most": 100}
    worker.grep({**request, "largest": 1_000, "slow": 1.0})


def test_a_folder_that_became_a_link_after_it_was_listed_is_not_gone_into(root: Path) -> None:
    walk, found = Walk(str(root)), []
    for path, _, _ in walk.entries(folders=True):
        found.append(path)
        if path == "z":
            swap(root / "z")
    assert found == ["a", "a/first", "z"]
    assert walk.unreadable == 1


@pytest.mark.parametrize("turned", ["a", "z", "z/deep"])
def test_no_line_of_a_file_behind_such_a_link_is_found(
    root: Path, monkeypatch: pytest.MonkeyPatch, turned: str
) -> None:
    found: list[dict[str, Any]] = []
    read = worker.read_text

    def then(name: str, folder: int | None, largest: int) -> str | None:
        target = root / turned
        if not target.is_symlink():
            target.rename(root / ".moved")
            target.symlink_to(root.parent / "outside")
        return read(name, folder, largest)

    monkeypatch.setattr(worker, "read_text", then)
    grep(root, lambda **each: found.append(each), monkeypatch)
    texts = [each["text"] for each in found if "text" in each]
    assert texts and not any("secret" in text for text in texts)


def test_a_file_that_became_a_link_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[dict[str, Any]] = []
    read = worker.read_text

    def then(name: str, folder: int | None, largest: int) -> str | None:
        if name == "keys":
            # The one in `deep`: this one has been listed before.
            (root / "z/keys").unlink(missing_ok=True)
            (root / "z/keys").symlink_to(root.parent / "outside/keys")
        return read(name, folder, largest)

    monkeypatch.setattr(worker, "read_text", then)
    grep(root, lambda **each: found.append(each), monkeypatch)
    texts = [each["text"] for each in found if "text" in each]
    assert texts == ["needle", "needle own"]
    assert found[-1]["skipped"] == 1


@pytest.mark.parametrize("start", ["z/deep", "z/deep/keys"])
def test_a_search_does_not_begin_behind_a_link_that_came_after_the_check(
    root: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    found: list[dict[str, Any]] = []
    swap(root / "z")
    grep(root / start, lambda **each: found.append(each), monkeypatch)
    assert [each for each in found if "text" in each] == []


def test_a_pipe_that_came_in_the_place_of_a_file_is_not_waited_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[dict[str, Any]] = []
    read = worker.read_text

    def then(name: str, folder: int | None, largest: int) -> str | None:
        if name == "keys":
            (root / "z/keys").unlink(missing_ok=True)
            os.mkfifo(root / "z/keys")
        return read(name, folder, largest)

    monkeypatch.setattr(worker, "read_text", then)
    grep(root, lambda **each: found.append(each), monkeypatch)
    assert found[-1]["skipped"] == 1


async def test_links_that_are_there_before_the_check_are_searched_from(search: Search) -> None:
    search.put("real/f", "needle\n")
    (search.root / "link").symlink_to("real")
    assert await search.grep("needle", path="link") == ["real/f"]
    assert await search.grep("needle", path="link/f") == ["real/f"]
    assert await search.glob("*", path="link") == ["real/f"]
