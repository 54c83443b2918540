"""Scripts of the workspace's own packages that npm and the like run while they install."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.files.nearby import nearby
from amplifier_tui.host.gate.places import resolved
from amplifier_tui.host.gate.verdicts.lent.locks import is_sure, told_by_locks
from amplifier_tui.host.gate.verdicts.lent.of_registry import (
    MOST_BYTES,
    Ran,
    content,
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
_PACKAGE: Final = re.compile(r"(?:@[\w.-]+/)?\w[\w.-]*(?:@[\w.^~-]+)?")
_MORE: Final = frozenset({"overrides", "resolutions"})
_WITHOUT_VALUE: Final = frozenset(
    {"-D", "--save-dev", "-S", "--save", "-P", "--save-prod", "-O", "--save-optional", "-E"}
    | {"--save-exact", "-B", "--save-bundle", "--no-save", "-f", "--force", "-s", "--silent", "-q"}
    | {"--quiet", "--no-audit", "--no-fund", "--legacy-peer-deps", "--prefer-offline", "--verbose"}
    | {"--ignore-scripts"}
)
_GLOBAL: Final = frozenset({"-g", "--global"})
_HARMLESS: Final = frozenset(
    {"packages", "onlyBuiltDependencies", "ignoredBuiltDependencies", "minimumReleaseAge"}
)
"""Settings of pnpm by which it takes in nothing else, and runs nothing."""
_TAKE_IN: Final = frozenset({"catalog", "catalogs", "overrides"})
_PNPM: Final = "pnpm-workspace.yaml"
_OF_YARN: Final = (".yarnrc", ".yarnrc.yml")
_QUOTED: Final = re.compile(r"""["']([^"'\n]+)["']|([^\s"',:]+)""")

_Told = tuple[Path, str, Path | None]
"""Where something is named, as what, and the place of it if it is a local one."""


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
    yield from (each for each in named if isinstance(each, tuple))
    near = list(nearest(folder, root, "package.json")) or [folder]
    tops = [at for at in near[1:] if next(iter(_members(at, _read(at) or {})), None)]
    # With other packages, those of a workspace are installed as if nothing was named.
    around = tops or near[:1]
    starts = [near[0], *tops, *(each for each in named if isinstance(each, Path))]
    alone, everywhere = _names_packages(program, words)
    if everywhere:
        starts, around = starts[1 + len(tops) :], []
    elif program in ("yarn", "pnpm"):
        # These come before anything is installed, whatever is said about scripts.
        yield from _obeyed(program, folder, root, starts)
    if _leaves_scripts_out(words):
        return
    names = _SCRIPTS | _PUBLISHING if "publish" in words else _SCRIPTS
    seen: set[Path] = set()
    for start in starts:
        for at, data, told in _packages(start, seen, program):
            if is_archive(at):
                yield at, "scripts of", content(at)
            elif data is None:
                yield at / "package.json", "scripts of", content(at / "package.json")
            else:
                yield from _scripts(at, data, _AFTER if alone and at in around else names)
                yield from _not_of_registry(at, told)
    if len(seen) >= MOST_PLACES:
        yield folder, "scripts of more packages than are looked at in", ""


def _leaves_scripts_out(words: tuple[str, ...]) -> bool:
    said = [word for word in words if "ignore-scripts" in word]
    return said == ["--ignore-scripts"] and "false" not in words


def _names_packages(program: str, words: tuple[str, ...]) -> tuple[bool, bool]:
    """Whether npm installs packages that are named, and whether it does so for the whole machine.

    It runs none of the scripts around them then, and looks at nothing around them.
    """
    left = [word for word in words if word not in _WITHOUT_VALUE | _GLOBAL]
    named = list(map(_PACKAGE.fullmatch, left[1:]))
    if program != "npm" or left[:1] not in (["install"], ["i"], ["add"]) or not any(named[:1]):
        return False, False
    if any("prefix" in word or word == "-C" for word in words):
        return False, False
    return True, all(named) and not _GLOBAL.isdisjoint(words)


def _obeyed(program: str, folder: Path, root: Path, starts: Iterable[Path]) -> Iterator[Ran]:
    """Yield what yarn and pnpm read, or run themselves, besides the packages."""
    places = [each for start in starts for each in found_by(start, _BESIDES[program])]
    if program == "pnpm":
        for at in nearest(folder, root, _PNPM):
            settings = _pnpm_settings(at)
            told = None if settings is None else {*settings} - _HARMLESS - _TAKE_IN
            taken = [settings[name] for name in _TAKE_IN if name in settings] if settings else []
            if told is None or told or any(not is_sure(value) for value in _strings(taken)):
                places.append(at / _PNPM)
    for name in _OF_YARN if program == "yarn" else ():
        for at in nearest(folder, root, name):
            try:
                text = read_regular(at / name, MOST_BYTES).decode(errors="replace")
            except OSError:
                places.append(at / name)
                continue
            written = [one or two for one, two in _QUOTED.findall(text)]
            files = [at / word for word in written if word not in (".", "..")]
            inside = resolved(root)
            places += [
                each for each in files if each.is_file() and resolved(each).is_relative_to(inside)
            ]
    yield from ((each, "what is in", content(each)) for each in dict.fromkeys(places))


def _scripts(folder: Path, data: dict[str, Any], names: frozenset[str]) -> Iterator[Ran]:
    scripts = data.get("scripts")
    found = scripts if isinstance(scripts, dict) else {}
    run = {name: found[name] for name in sorted(names) if found.get(name)}
    for name, text in run.items():
        yield folder / "package.json", f"the script {name} of", f"{name} {text}"
    gyp = folder / "binding.gyp"
    if "install" in names and not _OF_INSTALLING.intersection(run) and gyp.is_file():
        yield gyp, "the build of", content(gyp)


def _packages(
    at: Path, seen: set[Path], program: str
) -> Iterator[tuple[Path, dict[str, Any] | None, list[_Told]]]:
    """Yield a package and the local ones that it takes in; None for what can't be read."""
    left = [at]
    while left and len(seen) < MOST_PLACES:
        at = Path(os.path.normpath(left.pop()))
        locked = [] if at in seen else list(told_by_locks(program, at))
        if at in seen or not (locked or (at / "package.json").is_file() or is_archive(at)):
            continue
        seen.add(at)
        data = None if is_archive(at) else _read(at)
        told = list(_told(at, data or {}))
        told += [(lock, value, _local(at, value)) for lock, value in locked]
        yield at, data, told
        left += _members(at, data or {})
        left += [place for _, _, place in told if place]


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        text = read_regular(folder / "package.json", MOST_BYTES).decode(errors="replace")
        data = json.loads(text.removeprefix("\ufeff"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else {}


def _members(folder: Path, data: dict[str, Any]) -> Iterator[Path]:
    """Yield the folders of a package that are packages of its own."""
    given = data.get("workspaces")
    given = given.get("packages") if isinstance(given, dict) else given
    yield from found_by(folder, given if isinstance(given, list) else ())
    settings = _pnpm_settings(folder)
    packages = ["**"] if settings is None else settings.get("packages")
    yield from found_by(folder, packages if isinstance(packages, list) else ())


def _pnpm_settings(folder: Path) -> dict[str, Any] | None:
    """Return what pnpm's file of a workspace says; None where that can't be read."""
    listed = folder / _PNPM
    if not os.path.lexists(listed):
        # Most projects have none.
        return {}
    from yaml import YAMLError

    from amplifier_tui.foundation.io import load_yaml

    try:
        told = load_yaml(read_regular(listed, MOST_BYTES).decode())
    except (OSError, ValueError, YAMLError):
        return None
    return told if isinstance(told, dict) else {}


def _not_of_registry(folder: Path, told: Iterable[_Told]) -> Iterator[Ran]:
    """Yield what a package takes in that is neither of a registry nor a package looked at."""
    for named_in, value, place in told:
        if not value:
            yield named_in, "what is in", content(named_in)
        elif place is None or not (is_archive(place) or (place / "package.json").is_file()):
            yield unsure(value, named_in, folder)


def _told(folder: Path, data: dict[str, Any]) -> Iterator[_Told]:
    """Yield the dependencies that are not surely of a registry, and the place of a local one."""
    left = [data[name] for name in data if name.lower().endswith("dependencies") or name in _MORE]
    pnpm = data.get("pnpm")
    left += [pnpm.get("overrides")] if isinstance(pnpm, dict) else []
    for value in _strings(left):
        if not is_sure(value):
            local = value.startswith(_LOCAL)
            yield folder / "package.json", value, _local(folder, value) if local else None


def _strings(value: object) -> Iterator[str]:
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str):
            yield value


def _local(folder: Path, value: str) -> Path | None:
    _, _, behind = value.rpartition(":")
    place = folder / os.path.expanduser(behind.removeprefix("//"))
    return place if behind and os.path.exists(place) else None
