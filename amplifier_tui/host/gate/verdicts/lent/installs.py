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
from amplifier_tui.host.gate.verdicts.lent.of_registry import (
    MOST_BYTES,
    NAMED_IN,
    Ran,
    content,
    is_address,
    is_of_registry,
    lines_of,
    stands_for_others,
    unsure,
)
from amplifier_tui.host.gate.verdicts.lent.package_scripts import (
    MOST_PLACES,
    found_by,
    is_archive,
    nearest,
    scripts_run,
)
from amplifier_tui.kernel.mounting.packages.finding import parsed_toml

_SCRIPTED: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_BUILDING: Final = re.compile(r"pip[\d.]*|pipx|uv|poetry|gem|conda|mamba|micromamba")
_KINDS: Final = {"mamba": "conda", "micromamba": "conda"}
_GETTING: Final = frozenset(
    {"install", "i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall"}
    | {"add", "ci", "clean-install", "ic", "install-clean", "isntall-clean", "install-test", "it"}
    | {"cit", "update", "up", "upgrade", "udpate", "link", "ln", "download", "wheel", "inject"}
    | {"sync", "compile", "lock", "remove"}
)
_RUNNING: Final = frozenset({"run", "run-script", "exec", "x", "dlx", "test", "start"})
_OF_PROJECTS: Final = frozenset({"sync", "add", "remove", "install", "update", "lock"})
"""What uv and poetry do with the project around; all others get only what is named."""
_FOLDERS: Final = frozenset(
    {"--prefix", "-C", "--dir", "--cwd", "--project", "--directory", "--cache", "--cache-folder"}
    | {"--store-dir", "--modules-folder", "--filter", "--workspace"}
)
_EDITABLE: Final = frozenset({"-e", "--editable"})
_LISTS: Final = frozenset(
    {"-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints", "--file"}
    | {"--override", "--overrides", "--build-constraint", "--build-constraints"}
)
_INDEXES: Final = frozenset(
    {"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index"}
)
_PLACED: Final = _FOLDERS | _EDITABLE | _LISTS | _INDEXES
"""Options behind which a name is that of a file or folder, or an address."""
_WRITTEN: Final = frozenset(
    {"-t", "--target", "--root", "--cache-dir", "--log", "-d", "--dest", "--src", "--output-file"}
    | {"-w", "--wheel-dir", "--hash", "--config-settings", "--config-setting", "--report", "-o"}
)
"""Options of pip and uv behind which nothing says what is installed."""
_OTHERWISE: Final = {
    "conda": {"-f": "--file", "-c": "--channel", "-p": "--prefix"},
    "uv": {"-p": "--python"},
}
_NOT_SHORTENED: Final = frozenset({"--pre", "--extra", "--python"})
_SHORT: Final = {"pip": "recfitdw", "uv": "recfipoC", "conda": "cfp", "gem": ""}
"""The letters behind which a value is, for each program; `C` for all others."""
_NAMED: Final = re.compile(
    r"(?:-[er]|--[\w-]+=)?(?:@?[\w./-]+(?:\[[^\]]*\])? *@ *(?=file:))?"
    r"(file:(?://)?|)(.*?)(?:\[[^\]/]*\])?",
    re.DOTALL,
)
_MOST_TEXT: Final = 80
_SPOKEN: Final = re.compile(r"(?:^|@)\s*((?:\w+\+)?file:[^\s;]+)|@\s*\{", re.IGNORECASE)
_PROJECT: Final = ("pyproject.toml", "setup.py", "setup.cfg")
_LOCKS: Final = ("uv.lock", "poetry.lock", "uv.toml")
_SOURCES: Final = ("url", "find-links", "registry", "index-url", "extra-index-url")
_PLACES: Final = ("path", "directory", "editable")
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
    "setup.cfg": re.compile(
        r"\battr\s*:|\bfile:/|require\w*\s*=\s*file:|cmdclass|command.packages"
    ),
    "hatch.toml": re.compile(r"custom|[\"']code[\"']"),
}


def run_by_install(run: ProgramRun, here: Whereabouts) -> Iterator[Ran]:
    """Yield what of the workspace's own a program runs that installs; none for others. Blocking."""
    for place, said, text in _run_by(run, here):
        shown = os.path.relpath(place, here.folder)
        if place.is_dir() and not shown.startswith("."):
            shown = f"./{shown}"
        if place == here.folder and said.endswith(NAMED_IN):
            yield place, said.removesuffix(NAMED_IN), text
            continue
        yield place, f"{said} {one_line(shown, _MOST_TEXT)}", text


def _run_by(run: ProgramRun, here: Whereabouts) -> Iterator[Ran]:
    program, words, folder = run.program, run.arguments, here.folder
    if program.startswith("python") and words[:2] == ("-m", "pip"):
        program, words = "pip", words[2:]
        yield from _in_the_way(folder)
    if not (program in _SCRIPTED or _BUILDING.fullmatch(program)):
        return
    program = _KINDS.get(program, "pip" if program.startswith("pip") else program)
    getting = _GETTING | {"create"} if program == "conda" else _GETTING
    gets = next((word for word in words if word in getting | _RUNNING), "") in getting
    named = list(_named(program, words, here))
    if not gets:
        named = [at for at in named if isinstance(at, Path) and (at.is_dir() or is_archive(at))]
    if program in _SCRIPTED:
        yield from scripts_run(program, words, folder, here.workspace, named)
        return
    if program == "gem" and gets and not {"-r", "--remote"} & {*words}:
        # By their names alone it finds these too.
        named += [unsure(at.name, folder, folder) for at in folder.glob("*.gem")]
    project = program in ("uv", "poetry") and first_word(words) in _OF_PROJECTS
    near = list(nearest(folder, here.workspace, "pyproject.toml")) if program == "uv" else []
    if project:
        near = near or list(nearest(folder, here.workspace, "pyproject.toml"))
        # Members of a workspace are installed with the others.
        named += near[:1]
        named += [at for at in near[1:] if _members(_toml(at / "pyproject.toml") or {})]
    elif gets:
        for at in near[:1]:
            settings = _table(_toml(at / "pyproject.toml") or {}, "tool", "uv")
            told = {name: settings[name] for name in settings if name in (*_SOURCES, "index")}
            named += _taken_in(at, told)
    yield from _built(named, here, project=project)


def _built(named: list[Path | Ran], here: Whereabouts, *, project: bool) -> Iterator[Ran]:
    """Yield what of places is built, and what else is asked about."""
    seen: set[Path] = set()
    while named and len(seen) < MOST_PLACES:
        each = named.pop()
        if isinstance(each, tuple):
            yield each
            continue
        at = Path(os.path.normpath(each))
        if at in seen:
            continue
        seen.add(at)
        if at.name in _PROJECT:
            named.append(at.parent)
        elif is_archive(at):
            yield at, "the build of", content(at)
        elif at.is_file():
            named += _required(at, here)
        elif any((at / name).is_file() for name in _PROJECT):
            data = _toml(at / "pyproject.toml")
            for told in (data, *(_toml(at / name) for name in _LOCKS)):
                named += _taken_in(at, told or {})
            yield from _build(at, data, project=project)
        elif at.is_dir():
            named += [file for file in found_by(at, ("*",)) if is_archive(file)]
    if named:
        yield here.folder, "builds of more packages than are looked at in", ""


def _in_the_way(folder: Path) -> Iterator[Ran]:
    """Yield the files that `python -m pip` imports for those of Python and pip."""
    for at in found_by(folder, ("*.py", "*/__init__.py", "pip/__main__.py")):
        name = at.parent.name if at.name.startswith("__") else at.stem
        if name == "pip" or name in sys.stdlib_module_names:
            yield at, "what is in", content(at)


def _named(program: str, words: tuple[str, ...], here: Whereabouts) -> Iterator[Path | Ran]:
    """Yield what words name that is not surely of a registry: places, and all that is none."""
    hosted = program in _SCRIPTED
    lists = program == "uv" and words[:2] in (("pip", "sync"), ("pip", "compile"))
    for option, value in _with_options(program, words):
        if lists and not option and (here.folder / value).is_file():
            yield here.folder / value
        elif not _is_sure(option, value, here, hosted=hosted):
            yield _place(option, value, here.folder) or unsure(value, here.folder, here.folder)


def _with_options(program: str, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield words with the options that they are behind; none for those of more meanings."""
    letters = _SHORT.get(program, "C")
    valued = re.compile(rf"-[^{letters}]*([{letters}])(.*)", re.DOTALL) if letters else None
    before = ""
    for word in words:
        option, told, value = word, "", word
        if (word.startswith("--") and word != "--") or (
            program == "npm" and re.match(r"-\w{2}", word)
        ):
            option, told, value = f"--{word.lstrip('-')}".partition("=")
        elif word.startswith("-") and word != "-":
            found = valued.match(word) if valued else None
            option, value = (f"-{found[1]}", found[2]) if found else ("", "")
            option = _OTHERWISE.get(program, {}).get(option, option)
            told = value
        else:
            option, told = before, "="
        before = "" if told else _whole(program, option)
        if told:
            yield _whole(program, option), value.removeprefix("=") if option[:2] != "--" else value
    if before in _PLACED:
        yield before, ""


def _whole(program: str, option: str) -> str:
    """Return an option that may be written shorter as it is known; none where it says nothing."""
    known = _PLACED | _WRITTEN if program in ("pip", "uv") else _PLACED
    if option in known or option in _NOT_SHORTENED:
        return option
    if option in _WRITTEN:
        return ""
    short = option.startswith("--")
    return next((each for each in sorted(_PLACED) if short and each.startswith(option)), option)


def _is_sure(option: str, value: str, here: Whereabouts, *, hosted: bool) -> bool:
    """Whether a word needs no look: it is surely of a registry, or says nothing of packages."""
    if option in _WRITTEN:
        return True
    if option == "--python":
        place = here.folder / value
        place = place / "bin/python" if place.is_dir() else place
        return "/" not in value or not place.resolve().is_relative_to(here.workspace.resolve())
    if option in _FOLDERS and not os.path.exists(here.folder / os.path.expanduser(value)):
        return True
    named = option not in _PLACED and is_of_registry(value, hosted=hosted)
    local = "/" in value and os.path.exists(here.folder / value)
    return (named or is_address(value)) and not (local or stands_for_others(value, here.folder))


def _place(option: str, value: str, folder: Path) -> Path | None:
    """Return the place that a value is looked at as, if it is one."""
    found = _NAMED.fullmatch(os.path.expandvars(value))
    if found is None or not found[2] or option in _INDEXES:
        return None
    place = folder / os.path.expanduser(found[2])
    if not os.path.exists(place):
        return None
    looked_at = place.is_dir() or place.name in _PROJECT or is_archive(place) or option in _LISTS
    known = not option or option in _PLACED
    return place if known and looked_at else None


def _required(listed: Path, here: Whereabouts) -> Iterator[Path | Ran]:
    """Yield what a list of requirements names that is not surely of a registry."""
    try:
        lines = list(lines_of(listed))
    except (OSError, UnicodeDecodeError):
        yield listed, "what is in", content(listed)
        return
    for line in lines:
        if line.startswith("-"):
            given = list(_with_options("pip", tuple(line.split())))
        else:
            given = [("", re.split(r"\s-", line)[0])]
        for option, value in given:
            starts = [listed.parent] if option in _LISTS else [here.folder, listed.parent]
            wheres = [Whereabouts(here.workspace, start) for start in dict.fromkeys(starts)]
            if all(_is_sure(option, value, where, hosted=False) for where in wheres):
                continue
            places = [_place(option, value, where.folder) for where in wheres]
            yield from (place for place in places if place)
            if not any(places):
                yield unsure(value or line, listed, here.folder)


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


def _taken_in(folder: Path, data: dict[str, Any]) -> Iterator[Path | Ran]:
    """Yield what a project's settings take in that is not of a registry."""
    yield from _lists_of(folder, data)
    yield from found_by(folder, _members(data))
    settings = folder / "pyproject.toml"
    left: list[Any] = [data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
            for name, told in value.items():
                for each in told if isinstance(told, list) else [told]:
                    if not isinstance(each, str):
                        continue
                    place = folder / each
                    there = os.path.exists(place)
                    if (there and name in _SOURCES) or (name == "git" and not is_address(each)):
                        yield unsure(each, settings, folder)
                    elif there and name in _PLACES and (place.is_dir() or _is_built(place)):
                        yield place
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str) and (spoken := _SPOKEN.search(value)):
            yield _place("", spoken[1] or "", folder) or unsure(value, settings, folder)


def _is_built(place: Path) -> bool:
    return is_archive(place) or place.suffix == ".whl"


def _lists_of(folder: Path, data: dict[str, Any]) -> Iterator[Path]:
    """Yield the lists of requirements that setuptools takes in."""
    dynamic = _table(data, "tool", "setuptools", "dynamic")
    more = _table(dynamic, "optional-dependencies")
    for table in (dynamic.get("dependencies"), *more.values()):
        given = table.get("file") if isinstance(table, dict) else None
        named = given if isinstance(given, list) else [given]
        yield from (folder / each for each in named if isinstance(each, str))


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
