"""Which code of the workspace a command runs that installs, and with its network.

Scripts and builds of packages in the workspace are files as others are, and agents write them all
day. What packages of a registry run is decided by whoever lets them be installed.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.shell import ProgramRun
from amplifier_tui.base.text import one_line
from amplifier_tui.host.gate.calls.option_words import first_word
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.verdicts.package_scripts import (
    MOST_BYTES,
    MOST_PLACES,
    Ran,
    content,
    found_by,
    is_archive,
    nearest,
    scripts_run,
)
from amplifier_tui.kernel.mounting.packages.finding import parsed_toml

_SCRIPTED: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_BUILDING: Final = frozenset({"pip", "pip3", "pipx", "uv", "poetry"})
_OF_PROJECTS: Final = frozenset({"sync", "add", "remove", "install", "update", "lock"})
"""What uv and poetry do with the project around; all others get only what is named."""
_PLACED: Final = frozenset(
    {"--prefix", "-C", "--dir", "--cwd", "--project", "--directory", "-e", "--editable", "-r"}
    | {"--requirement", "--requirements", "-f", "--find-links", "sync"}
)
"""Words behind which a name is that of a file or folder."""
_NAMED: Final = re.compile(
    r"(?:-[er]|--[\w-]+=)?(?:@?[\w./-]+(?:\[[^\]]*\])? *@ *(?=file:))?"
    r"(file:(?://)?|)(.*?)(?:\[[^\]/]*\])?",
    re.DOTALL,
)
_MOST_TEXT: Final = 80
_SPOKEN: Final = re.compile(r"file:[^\s;]*")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_PROJECT: Final = ("pyproject.toml", "setup.py", "setup.cfg")
_LOCKS: Final = ("uv.lock", "poetry.lock")
_PLACES: Final = ("path", "url", "find-links", "directory", "editable", "registry")
_CODE: Final = ("setup.py", "hatch_build.py", "pdm_build.py", "build.py")
_PLAIN: Final = {
    "hatchling.build": ("hatch", r'"custom"|"code"'),
    "setuptools.build_meta": ("setuptools", r"\battr\b|cmdclass"),
    "poetry.core.masonry.api": ("poetry", r'"build":'),
    "flit_core.buildapi": ("flit", ""),
    "uv_build": ("", ""),
}
"""Backends that run nothing of what they build, but for what tells them in a table of theirs."""
_OF_BACKENDS: Final = re.compile(
    r"(?:hatchling|hatch-vcs|setuptools|setuptools[-_]scm|wheel|poetry-core|flit_core|uv[-_]build)"
    r"(?:\[[\w,-]*\])? *(?:[<>=!~].*)?"
)
_TELLS: Final = {
    "setup.cfg": re.compile(r"\battr\s*:|cmdclass|command.packages"),
    "hatch.toml": re.compile(r"custom|[\"']code[\"']"),
}


def run_by_install(run: ProgramRun, here: Whereabouts) -> Iterator[Ran]:
    """Yield what of the workspace's own a program runs that installs; none for others. Blocking."""
    for place, said, text in _run_by(run, here):
        shown = os.path.relpath(place, here.folder)
        if place.is_dir() and not shown.startswith("."):
            shown = f"./{shown}"
        yield place, f"{said} {one_line(shown, _MOST_TEXT)}", text


def _run_by(run: ProgramRun, here: Whereabouts) -> Iterator[Ran]:
    program, words, folder = run.program, run.arguments, here.folder
    if program.startswith("python") and words[:2] == ("-m", "pip"):
        program, words = "pip", words[2:]
        yield from _in_the_way(folder)
    named = [*_named(words, folder)] if program in _SCRIPTED | _BUILDING else []
    if program in _SCRIPTED:
        yield from scripts_run(program, words, folder, here.workspace, named)
        return
    project = program in ("uv", "poetry") and first_word(words) in _OF_PROJECTS
    if project:
        near = list(nearest(folder, here.workspace, "pyproject.toml"))
        # Members of a workspace are installed with the others.
        named += near[:1]
        named += [at for at in near[1:] if _members(_toml(at / "pyproject.toml") or {})]
    seen: set[Path] = set()
    while named and len(seen) < MOST_PLACES:
        at = Path(os.path.normpath(named.pop()))
        if at in seen:
            continue
        seen.add(at)
        if at.name in _PROJECT:
            named.append(at.parent)
        elif is_archive(at):
            yield at, "the build of", content(at)
        elif at.is_file() and at.suffix != ".whl":
            named += _required(at, folder)
        elif any((at / name).is_file() for name in _PROJECT):
            data = _toml(at / "pyproject.toml")
            for told in (data, *(_toml(at / name) for name in _LOCKS)):
                named += _taken_in(at, told or {})
            yield from _build(at, data, project=project)
        elif at.is_dir():
            named += filter(is_archive, found_by(at, ("*",)))
    if named:
        yield folder, "builds of more packages than are looked at in", ""


def _in_the_way(folder: Path) -> Iterator[Ran]:
    """Yield the files that `python -m pip` imports for those of Python and pip."""
    for at in found_by(folder, ("*.py", "*/__init__.py", "pip/__main__.py")):
        name = at.parent.name if at.name.startswith("__") else at.stem
        if name == "pip" or name in sys.stdlib_module_names:
            yield at, "what is in", content(at)


def _named(words: tuple[str, ...], folder: Path) -> Iterator[Path]:
    """Yield the places that words name: what is no name of a package alone."""
    for before, word in zip(("", *words), words, strict=False):
        found = _NAMED.fullmatch(os.path.expandvars(word))
        if found is None or not found[2]:
            continue
        text, placed = found[2], before in _PLACED or found.start(2) > 0
        if placed or "/" in text or text.startswith("."):
            place = folder / os.path.expanduser(text)
            if place.exists():
                yield place


def _required(listed: Path, folder: Path) -> Iterator[Path]:
    """Yield the places that a file of requirements names."""
    try:
        text = read_regular(listed, MOST_BYTES).decode(errors="replace")
    except OSError:
        return
    for line in text.replace("\\\n", " ").splitlines():
        plain = _COMMENT.sub("", line)
        words = (*plain.split(), plain.strip())
        for start in dict.fromkeys((folder, listed.parent)):
            yield from _named(words, start)


def _toml(file: Path) -> dict[str, Any] | None:
    try:
        return parsed_toml(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None


def _members(data: dict[str, Any]) -> list[Any]:
    found = _table(data, "tool", "uv", "workspace").get("members")
    return found if isinstance(found, list) else []


def _taken_in(folder: Path, data: dict[str, Any]) -> Iterator[Path]:
    """Yield the places of a project's settings where packages of its own are."""
    yield from found_by(folder, _members(data))
    left: list[Any] = [data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
            told = [value.get(name) for name in _PLACES]
            named = [each for one in told for each in (one if isinstance(one, list) else [one])]
            places = [folder / each for each in named if isinstance(each, str)]
            yield from (each for each in places if each.is_dir() or is_archive(each))
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str) and (spoken := _SPOKEN.search(value)):
            yield from _named((spoken[0],), folder)


def _build(folder: Path, data: dict[str, Any] | None, *, project: bool) -> Iterator[Ran]:
    """Yield the build of a folder if it runs code that is in it."""
    said = "the build of"
    texts = {name: _text(folder / name) for name in (*_CODE, *_TELLS)}
    if data is None:
        yield folder, said, content(folder / "pyproject.toml") + json.dumps(texts)
        return
    system = _table(data, "build-system")
    told = any(tells.search(texts[name]) for name, tells in _TELLS.items())
    packaged = _table(data, "tool", "uv").get("package")
    if project and not (system or packaged or told or texts["setup.py"]):
        # Its requirements are installed, and nothing else.
        return
    table, tells = _PLAIN.get(str(system.get("build-backend")), ("", "."))
    of_backend = _table(data, "tool", table)
    needed = system.get("requires")
    plain = all(_OF_BACKENDS.fullmatch(str(each)) for each in needed or ())
    settings = json.dumps([system, of_backend], default=str, sort_keys=True)
    runs = re.search(tells, settings) if tells else None
    # Where it is told nothing, flit imports the module.
    asks = "flit" in table and "dynamic" in _table(data, "project")
    if runs or asks or told or "backend-path" in system or not plain or texts["setup.py"]:
        yield folder, said, settings + json.dumps(texts)


def _table(data: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        found = data.get(name)
        data = found if isinstance(found, dict) else {}
    return data


def _text(file: Path) -> str:
    try:
        return read_regular(file, MOST_BYTES).decode(errors="replace")
    except OSError:
        return content(file)
