"""Scripts of the workspace's own packages that npm and the like run while they install."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.files.nearby import nearby
from amplifier_tui.host.gate.verdicts.lent.of_registry import (
    MOST_BYTES,
    Ran,
    content,
    is_of_registry,
    unsure,
)

MOST_PLACES: Final = 500
"""Packages that are looked at; more of them than these are one more reason to ask."""
ARCHIVES: Final = (".tgz", ".tar", ".tar.gz", ".zip", ".tar.bz2", ".tar.xz")
_SCRIPTS: Final = frozenset(
    {"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"}
    | {"pnpm:devPreinstall", "predependencies", "dependencies", "postdependencies"}
)
_PUBLISHING: Final = frozenset({"prepublishOnly", "prepack", "postpack", "publish", "postpublish"})
_AFTER: Final = frozenset({"predependencies", "dependencies", "postdependencies"})
_OF_INSTALLING: Final = frozenset({"preinstall", "install"})
_LOCAL: Final = ("file:", "link:", "portal:", "workspace:", ".", "/", "~")
_BESIDES: Final = {
    "pnpm": ("package.yaml", "package.json5", ".pnpmfile.mjs"),
    "yarn": (".yarn/releases/*.?js", ".yarn/plugins/*.?js", ".yarn/plugins/*/*.?js"),
}
"""What else these read, or run."""
_LOCKS: Final = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml")
_MOST_OF_LOCK: Final = 30_000_000
_LOCKED: Final = re.compile(r"""file:([^\s"'#)]+)|"resolved":\s*"([^":]+)"|tarball: ([^\s:}]+)""")
"""What a file of locks gets from a place on this machine."""
_LOCKED_GIT: Final = re.compile(r"""git\+file:[^\s"']*|repo: (?!https://|ssh://|git@)[^\s,}]+""")
_PACKAGE: Final = re.compile(r"(?:@[\w.-]+/)?\w[\w.-]*(?:@[\w.^~-]+)?")
_OF_MEMBERS: Final = re.compile(r"workspace:[\w.*^~ <>=-]*|catalog:[\w-]*|\$[@\w./-]+")
_MORE: Final = frozenset({"overrides", "resolutions"})


def is_archive(place: Path) -> bool:
    """Whether a place is an archive that a package may be in."""
    return place.name.endswith(ARCHIVES) and place.is_file()


def nearest(folder: Path, root: Path, name: str) -> Iterator[Path]:
    """Yield the folders that hold a file, from one up to the workspace."""
    for at in (folder, *folder.parents):
        if (at / name).is_file():
            yield at
        if at == root:
            break


def found_by(folder: Path, patterns: Iterable[object]) -> Iterator[Path]:
    """Yield the places that patterns stand for; behind `**`, all folders that people look into."""
    for pattern in patterns:
        if not isinstance(pattern, str) or pattern.startswith("!"):
            continue
        before, deep, _ = pattern.strip("/").partition("**")
        try:
            for at in folder.glob(before) if before else [folder]:
                if "node_modules" not in at.parts:
                    yield at
                if deep:
                    yield from (Path(entry) for entry, _ in nearby(at) if entry.is_dir())
        except (OSError, ValueError, NotImplementedError, IndexError):
            continue


def scripts_run(
    program: str, words: tuple[str, ...], folder: Path, root: Path, named: Iterable[Path | Ran]
) -> Iterator[Ran]:
    """Yield what `npm install` and the like run of packages in the workspace. Blocking.

    Args:
        program: The one that installs.
        words: Behind it.
        folder: Where it runs.
        root: The workspace.
        named: Places among its words, and what of them is asked about as it is.
    """
    if "--ignore-scripts" in words and "false" not in words:
        return
    names = _SCRIPTS | _PUBLISHING if "publish" in words else _SCRIPTS
    yield from (each for each in named if isinstance(each, tuple))
    near = list(nearest(folder, root, "package.json")) or [folder]
    tops = [at for at in near[1:] if next(iter(_members(at, _read(at) or {})), None)]
    # With other packages, those of a workspace are installed as if nothing was named.
    around = tops or near[:1]
    starts = [near[0], *tops, *(each for each in named if isinstance(each, Path))]
    # Where packages are named, npm runs none of the scripts around them.
    alone = (
        program == "npm"
        and words[:1] in (("install",), ("i",), ("add",))
        and any(map(_PACKAGE.fullmatch, words[1:2]))
        and not any("prefix" in word or word == "-C" for word in words)
    )
    seen: set[Path] = set()
    for start in starts:
        for at, data in _packages(start, seen):
            if is_archive(at):
                yield at, "scripts of", content(at)
            elif data is None:
                yield at / "package.json", "scripts of", content(at / "package.json")
            else:
                yield from _scripts(at, data, _AFTER if alone and at in around else names)
                yield from _not_of_registry(at, data)
        for each in found_by(start, _BESIDES.get(program, ())):
            yield each, "what is in", content(each)
    if len(seen) >= MOST_PLACES:
        yield folder, "scripts of more packages than are looked at in", ""


def _scripts(folder: Path, data: dict[str, Any], names: frozenset[str]) -> Iterator[Ran]:
    scripts = data.get("scripts")
    found = scripts if isinstance(scripts, dict) else {}
    run = {name: found[name] for name in sorted(names) if found.get(name)}
    for name, text in run.items():
        yield folder / "package.json", f"the script {name} of", f"{name} {text}"
    gyp = folder / "binding.gyp"
    if "install" in names and not _OF_INSTALLING.intersection(run) and gyp.is_file():
        yield gyp, "the build of", content(gyp)


def _packages(at: Path, seen: set[Path]) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Yield a package and the local ones that it takes in; None for what can't be read."""
    left = [at]
    while left and len(seen) < MOST_PLACES:
        at = Path(os.path.normpath(left.pop()))
        if at in seen or not ((at / "package.json").is_file() or is_archive(at)):
            continue
        seen.add(at)
        data = None if is_archive(at) else _read(at)
        yield at, data
        if data is not None:
            left += [*_members(at, data), *_dependencies(at, data)]


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        text = read_regular(folder / "package.json", MOST_BYTES).decode(errors="replace")
        data = json.loads(text.removeprefix("\ufeff"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else {}


def _members(folder: Path, data: dict[str, Any]) -> Iterator[Path]:
    """Yield the folders of a package that are packages of its own."""
    given = data.get("workspaces")
    given = given.get("packages") if isinstance(given, dict) else given
    yield from found_by(folder, given if isinstance(given, list) else ())
    listed = folder / "pnpm-workspace.yaml"
    if listed.is_file():
        # Most projects have none.
        from yaml import YAMLError

        from amplifier_tui.foundation.io import load_yaml

        try:
            told = load_yaml(read_regular(listed, MOST_BYTES).decode())
            packages = told.get("packages") if isinstance(told, dict) else None
        except (OSError, ValueError, YAMLError):
            packages = ["**"]
        yield from found_by(folder, packages if isinstance(packages, list) else ())


def _dependencies(folder: Path, data: dict[str, Any]) -> Iterator[Path]:
    yield from (place for _, place in _told(folder, data) if place)
    for text in _locks(folder):
        named = dict.fromkeys(one or two or three for one, two, three in _LOCKED.findall(text))
        yield from (folder / each for each in named)


def _not_of_registry(folder: Path, data: dict[str, Any]) -> Iterator[Ran]:
    """Yield what a package takes in that is neither of a registry nor a package looked at."""
    for value, place in _told(folder, data):
        if place is None or not (is_archive(place) or (place / "package.json").is_file()):
            yield unsure(value, folder / "package.json", folder)
    for text in _locks(folder):
        for value in dict.fromkeys(_LOCKED_GIT.findall(text)):
            yield unsure(value.removeprefix("repo: "), folder / "package.json", folder)


def _told(folder: Path, data: dict[str, Any]) -> Iterator[tuple[str, Path | None]]:
    """Yield the dependencies that are not surely of a registry, and the place of a local one."""
    left = [data[name] for name in data if name.lower().endswith("dependencies") or name in _MORE]
    pnpm = data.get("pnpm")
    left += [pnpm.get("overrides")] if isinstance(pnpm, dict) else []
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, str) and not (
            not value or is_of_registry(value, hosted=True) or _OF_MEMBERS.fullmatch(value)
        ):
            _, _, behind = value.rpartition(":")
            place = folder / os.path.expanduser(behind.removeprefix("//"))
            yield value, place if value.startswith(_LOCAL) and os.path.exists(place) else None


def _locks(folder: Path) -> Iterator[str]:
    for name in _LOCKS:
        try:
            yield read_regular(folder / name, _MOST_OF_LOCK).decode(errors="replace")
        except OSError:
            continue
