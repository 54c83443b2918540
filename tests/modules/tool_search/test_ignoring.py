import random
import subprocess
from pathlib import Path

import pytest

from tests.modules.tool_search.support import Search


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


async def found(search: Search, path: str = ".") -> set[str]:
    return set(await search.glob("**", path=path)) - {".gitignore"}


async def test_what_git_ignores_is_left_out(search: Search):
    search.put(".gitignore", "*.log\n/build/\nsub/*.tmp\n!keep.log\n# comment\n\n")
    for path in ("a.log", "keep.log", "build/x", "src/build/y", "sub/a.tmp", "sub/deep/b.tmp"):
        search.put(path)
    assert await found(search) == {"keep.log", "src/build/y", "sub/deep/b.tmp"}
    assert await found(search, "src") == {"src/build/y"}


async def test_a_deeper_file_has_the_last_word(search: Search):
    search.put(".gitignore", "*.txt\n")
    search.put("sub/.gitignore", "!b.txt\n")
    for path in ("a.txt", "sub/a.txt", "sub/b.txt", "sub/deep/b.txt"):
        search.put(path)
    assert await found(search) == {"sub/.gitignore", "sub/b.txt", "sub/deep/b.txt"}


async def test_usual_rubbish_is_left_out_without_being_told(search: Search):
    for path in ("node_modules/x.js", "a/__pycache__/y.pyc", ".git/config", ".venv/z", ".ok/w"):
        search.put(path)
    assert await found(search) == {".ok/w"}
    everything = set(await search.glob("**", include_ignored=True))
    assert everything == {".ok/w", "node_modules/x.js", "a/__pycache__/y.pyc", ".venv/z"}


async def test_rubbish_that_was_asked_for_is_searched(search: Search):
    search.put("node_modules/lib/x.js")
    assert await search.glob("**", path="node_modules") == ["node_modules/lib/x.js"]


async def test_ignored_things_can_be_asked_for(search: Search):
    search.put(".gitignore", "secret/\n")
    search.put("secret/a.txt")
    assert "secret" not in str((await search.call("grep", pattern="needle")).output)
    assert await search.grep("needle", include_ignored=True) == ["secret/a.txt"]


async def test_rules_of_the_repository_above_hold_in_a_folder_of_it(search: Search):
    git(search.root, "init", "-q")
    search.put(".gitignore", "/sub/out/\n*.log\n")
    (search.root / ".git" / "info").mkdir(exist_ok=True)
    (search.root / ".git" / "info" / "exclude").write_text("private.txt\n")
    for path in ("sub/out/a", "sub/a.log", "sub/private.txt", "sub/b.txt"):
        search.put(path)
    assert await found(search, "sub") == {"sub/b.txt"}
    assert await found(search) == {"sub/b.txt"}


async def test_a_broken_or_strange_ignore_file_does_no_harm(search: Search):
    search.put(".gitignore", b"[z-a]\n\xff\xfe\n!\n/\n  \n\\ \n**\xc3\n{a,b}\nb.txt\n")
    search.put("a.txt")
    search.put("b.txt")
    assert await found(search) == {"a.txt"}
    (search.root / ".ignore").symlink_to("/etc/passwd")
    assert "a.txt" in await found(search)


PARTS = ("a", "b", "build", "x.log", "y.txt", "z")
PATTERNS = (
    *("*.log", "build", "build/", "/build", "a/b", "a/**", "**/b", "/a/*", "!x.log", "!a/"),
    *("?.txt", "[x-z].*", "a/**/x.log", "!/a/b/", "b/x.log", "\\!a", "**", "*/y.txt"),
    *("*", "!*/", "!*.txt", "/*/", "a/*/", "b*/"),
)


@pytest.mark.parametrize("seed", range(40))
async def test_git_itself_agrees(search: Search, seed: int):
    chance = random.Random(seed)
    git(search.root, "init", "-q")
    for _ in range(25):
        path = "/".join(chance.choice(PARTS) for _ in range(chance.randint(1, 4)))
        if not any((search.root / path).parents[n].is_file() for n in range(path.count("/"))):
            target = search.root / path
            if not target.exists():
                search.put(path)
    for folder in ("", "a/", "a/b/"):
        if (search.root / folder).is_dir() and chance.random() < 0.7:
            rules = "\n".join(chance.sample(PATTERNS, chance.randint(1, 4)))
            search.put(f"{folder}.gitignore", f"{rules}\n")
    listed = git(search.root, "ls-files", "--others", "--exclude-standard", "-z")
    expected = {path for path in listed.split("\0") if path}
    assert set(await search.glob("**")) == expected
