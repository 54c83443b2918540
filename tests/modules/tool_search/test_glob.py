import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.modules.tool_search.globs import compile_globs, expand_braces
from tests.modules.tool_search.support import Search, kind


async def test_files_come_with_the_newest_first(search: Search):
    for place, name in enumerate(("old.py", "new.py", "middle.py")):
        os.utime(search.put(name), (1_000, (0, 200, 100)[place]))
    assert await search.glob("*.py") == ["new.py", "middle.py", "old.py"]


async def test_stars_stay_in_a_folder_and_two_of_them_do_not(search: Search):
    for path in ("a.py", "src/b.py", "src/deep/c.py", "src/deep/c.txt"):
        os.utime(search.put(path), (1, 1))
    assert await search.glob("*.py") == ["a.py"]
    assert await search.glob("**/*.py") == ["a.py", "src/b.py", "src/deep/c.py"]
    assert await search.glob("src/**/*.py") == ["src/b.py", "src/deep/c.py"]
    assert await search.glob("src/**") == ["src/b.py", "src/deep/c.py", "src/deep/c.txt"]
    assert await search.glob("./src/*/c.{py,txt}") == ["src/deep/c.py", "src/deep/c.txt"]
    assert await search.glob("s?c/[a-b].py") == ["src/b.py"]
    assert await search.glob("*.py", path="src") == ["src/b.py"]
    assert await search.glob(f"{search.root}/src/*.py") == ["src/b.py"]


async def test_folders_are_found_when_asked_for(search: Search):
    search.put("src/deep/c.py")
    os.utime(search.root / "src", (1, 1))
    os.utime(search.root / "src" / "deep", (1, 1))
    assert await search.glob("**", type="dir") == ["src/", "src/deep/"]
    assert "src/deep/c.py" in await search.glob("**", type="any")


async def test_nothing_found_says_how_to_look_further(search: Search):
    search.put("src/a.py")
    result = await search.call("glob", pattern="*.py")
    assert result.output == "[Nothing matches '*.py' here; **/*.py looks in all folders below.]"


async def test_results_are_capped(tmp_path: Path):
    search = await Search(tmp_path).mount(max_results=3)
    for number in range(5):
        search.put(f"{number}.txt")
    result = await search.call("glob", pattern="*")
    assert len(str(result.output).splitlines()) == 4
    assert "[2 more; narrow the pattern.]" in str(result.output)


async def test_names_are_data(search: Search):
    search.put("evil\n[x]\x1b[2J.txt")
    (search.root / os.fsdecode(b"bad\xff.txt")).write_text("needle\n")
    found = await search.glob("*.txt")
    assert sorted(found) == ["bad?.txt", "evil?[x]?[2J.txt"]
    assert sorted(await search.grep("needle")) == sorted(found)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"pattern": "../*"}, "invalid_pattern"),
        ({"pattern": "a/../../b"}, "invalid_pattern"),
        ({"pattern": "/etc/*"}, "outside_workspace"),
        ({"pattern": "~/*"}, "outside_workspace"),
        ({"pattern": "*", "path": ".."}, "outside_workspace"),
        ({"pattern": "*", "path": "/"}, "outside_workspace"),
        ({"pattern": "*", "path": "nowhere"}, "not_found"),
        ({"pattern": "*", "path": "a\0b"}, "invalid_path"),
        ({"pattern": "*", "path": 3}, "invalid_path"),
        ({"pattern": "*", "path": "file.txt"}, "not_a_folder"),
        ({"pattern": "*", "type": "link"}, "invalid_arguments"),
    ],
)
async def test_what_may_not_be_searched_is_refused(
    search: Search, arguments: dict[str, Any], why: str
):
    search.put("file.txt")
    assert kind(await search.call("glob", **arguments)) == why


async def test_a_pattern_that_begins_here_stays_here(search: Search, tmp_path: Path):
    search.put("~/a.txt")
    assert await search.glob("./~/*.txt") == ["~/a.txt"]
    outside = tmp_path / "outside"
    outside.mkdir(exist_ok=True)
    assert await search.glob(f"./{outside}/*") == []


async def test_links_are_not_followed_and_denied_folders_not_entered(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle\n")
    root = tmp_path / "workspace"
    root.mkdir()
    search = await Search(root).mount(denied_read_paths=["private", "keys.txt"])
    search.put("private/a.txt")
    search.put("keys.txt")
    search.put("fine.txt")
    (root / "link").symlink_to(outside)
    (root / "loop").symlink_to(root)
    assert await search.glob("**") == ["fine.txt"]
    assert await search.grep("needle", include_ignored=True) == ["fine.txt"]
    for path in ("private", "private/a.txt", "keys.txt", "loop/private"):
        assert kind(await search.call("grep", pattern="x", path=path)) == "denied_path"
    assert kind(await search.call("grep", pattern="x", path="link")) == "outside_workspace"


async def test_a_denied_folder_is_denied_under_another_spelling_of_its_name(tmp_path: Path):
    root = tmp_path / "workspace"
    root.mkdir()
    search = await Search(root).mount(denied_read_paths=["private"])
    search.put("Private/a.txt")
    for path in ("Private", "PRIVATE"):
        (root / path).mkdir(exist_ok=True)
        assert kind(await search.call("glob", pattern="*", path=path)) == "denied_path"


async def test_other_folders_can_be_allowed(tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("needle\n")
    root = tmp_path / "workspace"
    root.mkdir()
    search = await Search(root).mount(allowed_read_paths=[str(other)])
    assert await search.grep("needle", path=str(other)) == [str(other / "a.txt")]


def test_braces_are_expanded():
    assert expand_braces("a{b,c}d") == ["abd", "acd"]
    assert sorted(expand_braces("{a,{b,c}}")) == ["a", "b", "c"]
    assert expand_braces("a{b}c{") == ["a{b}c{"]
    with pytest.raises(ValueError, match="too many"):
        expand_braces("{a,b}" * 10)


@given(st.text(max_size=30))
def test_every_pattern_compiles_or_is_refused(pattern: str):
    try:
        compile_globs([pattern])
    except ValueError:
        assert "{" in pattern


@given(st.lists(st.sampled_from(["a", "b.py", "c-d", "é"]), min_size=1, max_size=4))
def test_a_path_matches_itself_and_two_stars(parts: list[str]):
    path = "/".join(parts)
    assert compile_globs([path]).fullmatch(path)
    assert compile_globs(["**"]).fullmatch(path)
    assert compile_globs([f"**/{parts[-1]}"]).fullmatch(path)
    assert bool(compile_globs(["*"]).fullmatch(path)) == (len(parts) == 1)


def test_sets_stay_within_a_name():
    assert compile_globs(["a[!x]b"]).fullmatch("a/b") is None
    assert compile_globs(["[]a]"]).fullmatch("]")
    assert compile_globs(["[^a]"]).fullmatch("b")
    assert compile_globs(["[z-a]"]).fullmatch("b") is None
    assert compile_globs(["[a"]).fullmatch("[a")
    assert isinstance(compile_globs(["x"]), re.Pattern)


async def test_a_workspace_that_is_gone_is_told(tmp_path: Path):
    search = await Search(tmp_path / "gone").mount()
    assert kind(await search.call("glob", pattern="*")) == "no_workspace"
