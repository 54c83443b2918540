"""Whether what installs for Python, Ruby or conda takes in packages of a registry, and no more.

A build runs code, with the network. Of a registry it is the code of whoever published the package,
and a rule may stand for that; of the workspace it is what an agent wrote.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final

from amplifier_tui.base.shell import ProgramRun, programs_of
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.rules.matching import Part
from amplifier_tui.host.gate.verdicts.lent.of_registry import (
    is_address,
    is_of_registry,
    lines_of,
    stands_for_others,
)
from amplifier_tui.host.gate.verdicts.lent.of_workspace import run_from_workspace
from amplifier_tui.host.gate.verdicts.lent.package_scripts import found_by, is_archive
from amplifier_tui.host.gate.verdicts.lent.projects import (
    BUILDS,
    by_way_of,
    project_of,
    settings_of_uv,
)

_MOST_TEXT: Final = 80
_MOST_LISTS: Final = 50
_PROGRAMS: Final = re.compile(r"(pip)[\d.]*|(pipx|uv|poetry|gem|conda)|(?:micro)?mamba")
_PROJECT: Final = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "pylock.toml"})
_GETTING: Final = {
    "pip": {"install", "download"},
    "uv pip": {"install", "sync", "compile"},
    "uv tool": {"install", "upgrade"},
    "uv": {"add", "sync", "remove", "lock"},
    "pipx": {"install", "inject", "upgrade", "upgrade-all"},
    "poetry": {"add", "install", "update", "remove", "lock"},
    "gem": {"install", "i", "update", "fetch", "search", "outdated"},
    "conda": {"install", "create", "update", "upgrade", "remove", "search"},
}
"""What takes in what is named; with uv and poetry also the project around."""
_HARMLESS: Final = frozenset({"uninstall", "list", "show", "freeze", "check", "dir", "outdated"})
"""What takes in nothing."""
_RUNS: Final = {"pipx": {"run"}, "uv tool": {"run"}}
_FLAGS: Final = frozenset(
    {"--upgrade", "--quiet", "--verbose", "--yes", "--user", "--pre", "--no-deps", "--no-input"}
    | {"--no-cache-dir", "--no-cache", "--disable-pip-version-check", "--no-warn-script-location"}
    | {"--force-reinstall", "--ignore-installed", "--no-compile", "--compile", "--prefer-binary"}
    | {"--require-hashes", "--break-system-packages", "--isolated", "--no-color", "--dry-run"}
    | {"--use-pep517", "--no-index", "--system", "--dev", "--no-dev", "--all-extras", "--frozen"}
    | {"--all-groups", "--locked", "--no-progress", "--exact", "--inexact", "--reinstall"}
    | {"--refresh", "--strict", "--native-tls", "--no-config", "--no-sync", "--no-sources"}
    | {"--no-install-project", "--no-root", "--compile-bytecode", "--force", "--no-document"}
    | {"--no-ri", "--no-rdoc", "--remote", "--user-install", "--conservative", "--only-main"}
    | {"--no-interaction", "--ansi", "--no-ansi", "--sync", "--include-deps", "--override-channels"}
    | {"--strict-channel-priority", "--no-build", "--no-binary", "--no-default-groups", "--lock"}
    | {"--global", "--json", "--all", "--no-warn-conflicts", "--no-env-file", "--generate-hashes"}
)
_VALUED: Final = frozenset(
    {"--timeout", "--default-timeout", "--retries", "--progress-bar", "--trusted-host", "--cert"}
    | {"--upgrade-strategy", "--platform", "--python-version", "--implementation", "--abi"}
    | {"--only-binary", "--exists-action", "--root-user-action", "--hash"}
    | {"--extra", "--extras", "--group", "--only-group", "--no-group"}
    | {"--without", "--only", "--target", "--root", "--prefix", "--log", "--dest", "--wheel-dir"}
    | {"--report", "--output-file", "--resolution", "--prerelease", "--index-strategy", "--name"}
    | {"--upgrade-package", "--reinstall-package", "--refresh-package", "--link-mode", "--color"}
    | {"--exclude-newer", "--version", "--source-name", "--no-extra", "--no-build-package"}
    | {"--install-dir", "--bindir", "--bounds", "--rev", "--tag", "--branch"}
)
"""Options behind which nothing says what is taken in."""
_INDEXES: Final = frozenset(
    {"--index-url", "--extra-index-url", "--find-links", "--index", "--default-index", "--source"}
)
_WITH: Final = frozenset({"--editable", "--python", "--channel", "--with"})
_LISTS: Final = frozenset(
    {"--requirement", "--requirements", "--constraint", "--constraints", "--file", "--override"}
    | {"--overrides", "--build-constraint", "--build-constraints"}
)
_LETTERS: Final = {
    "pip": {
        "U": "--upgrade",
        "q": "--quiet",
        "v": "--verbose",
        "y": "--yes",
        "t": "--target",
        "I": "--ignore-installed",
        "r": "--requirement",
        "c": "--constraint",
        "d": "--dest",
        "i": "--index-url",
        "f": "--find-links",
        "e": "--editable",
        "w": "--wheel-dir",
    },
    "uv": {
        "U": "--upgrade",
        "q": "--quiet",
        "v": "--verbose",
        "n": "--no-cache",
        "t": "--target",
        "r": "--requirements",
        "c": "--constraints",
        "i": "--index-url",
        "f": "--find-links",
        "e": "--editable",
        "p": "--python",
        "o": "--output-file",
        "P": "--upgrade-package",
    },
    "pipx": {"q": "--quiet", "v": "--verbose", "f": "--force", "i": "--index-url"},
    "poetry": {
        "q": "--quiet",
        "v": "--verbose",
        "n": "--no-interaction",
        "D": "--dev",
        "E": "--extras",
        "G": "--group",
        "e": "--editable",
    },
    "gem": {"N": "--no-document", "V": "--verbose", "q": "--quiet", "f": "--force", "r": "--remote"}
    | {"v": "--version", "s": "--source", "i": "--install-dir", "n": "--bindir"},
    "conda": {"y": "--yes", "q": "--quiet", "v": "--verbose", "n": "--name", "c": "--channel"}
    | {"p": "--prefix"},
}


def never_lent(parts: Sequence[Part]) -> str:
    """Return why no rule lends the network to parts of a command line; else empty. Blocking.

    They run a program of the workspace, or build what is in it.

    Args:
        parts: Those that need it.
    """
    return run_from_workspace(parts) or _built(parts)


def _built(parts: Sequence[Part]) -> str:
    for part in parts:
        runs = () if part.command is None else programs_of(part.command)
        for run, here in product(runs, part.folders):
            if said := _said(run, here):
                return f"`{part.text[:_MOST_TEXT]}` {said.removesuffix(',')}, with the network"
    return ""


def _said(run: ProgramRun, here: Whereabouts) -> str:
    program, words = run.program, run.arguments
    if program.startswith("python") and words[:2] == ("-m", "pip"):
        program, words = "pip", words[2:]
        if file := next(_in_the_way(here.folder), None):
            return by_way_of(file.name)
    found = _PROGRAMS.fullmatch(program)
    if found is None:
        return ""
    program = found[1] or found[2] or "conda"
    given = list(_with_options(_LETTERS[program], words))
    called = [value for option, value in given if not option]
    name = program
    if program == "uv" and called[:1] in (["pip"], ["tool"]):
        name = f"uv {called.pop(0)}"
    if not called or called[0] in _HARMLESS:
        return ""
    verb, *named = called
    if verb in _RUNS.get(name, ()):
        return "runs a program that may run this project's own code"
    if verb not in _GETTING[name]:
        return BUILDS
    project = name in ("uv", "poetry")
    given = [each for each in given if each[0]] + [("", value) for value in named]
    said = _of_words(program, given, here, listed=name == "uv pip" and verb in ("sync", "compile"))
    if project and not said:
        said = project_of(program, words, here.folder, here.workspace)
    if program == "uv" and not said:
        said = settings_of_uv(here.folder, here.workspace, project=project)
    if name == "gem" and not said and any(here.folder.glob("*.gem")) and "--remote" not in words:
        # By their names alone it finds these too.
        said = by_way_of("*.gem")
    return said


def _in_the_way(folder: Path) -> Iterator[Path]:
    """Yield the files that `python -m pip` imports for those of Python and pip."""
    for at in found_by(folder, ("*.py", "*/__init__.py", "pip/__main__.py")):
        name = at.parent.name if at.name.startswith("__") else at.stem
        if name == "pip" or name in sys.stdlib_module_names:
            yield at


def _with_options(letters: dict[str, str], words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield words with the options that they are behind, and options alone with nothing.

    An option that is not known has itself for a value.
    """
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-") or word == "-":
            yield "", word
            continue
        if word == "--":
            yield from (("", each) for each in left)
            return
        option, told, value = word.partition("=")
        if not word.startswith("--"):
            option, value = letters.get(word[1], word), word[2:]
            if option in _FLAGS and value:
                yield option, ""
                left.insert(0, f"-{value}")
                continue
            told, value = value, value.removeprefix("=")
        if option in _FLAGS and not told:
            yield option, ""
        elif option in _VALUED | _INDEXES | _LISTS | _WITH:
            yield option, value if told else (left.pop(0) if left else "")
        else:
            yield word, word


def _of_words(
    program: str, given: list[tuple[str, str]], here: Whereabouts, *, listed: bool
) -> str:
    """Say which of the words, or lines of lists that they name, may be code of the workspace."""
    lists: list[tuple[Path, Path]] = []
    for option, value in given:
        if option in _LISTS or (listed and not option):
            lists += () if is_address(value) else [(here.folder / value, here.folder)]
        elif option == "--group" and program == "pip":
            return by_way_of(f"--group {value}")
        elif said := _of_word(program, option, value, here):
            return said
    seen: set[Path] = set()
    while lists:
        file, folder = lists.pop()
        if file in seen:
            continue
        seen.add(file)
        if file.name in _PROJECT:
            return BUILDS
        try:
            lines = list(lines_of(file))
        except (OSError, UnicodeDecodeError):
            return by_way_of("all of it", file.name)
        if len(seen) > _MOST_LISTS:
            return by_way_of("more lists than are looked at", file.name)
        for line in lines:
            for option, value in _of_line(line):
                if option in _LISTS:
                    lists += () if is_address(value) else [(file.parent / value, folder)]
                elif _of_word(program, option, value, Whereabouts(here.workspace, folder)) or (
                    _of_word(program, option, value, Whereabouts(here.workspace, file.parent))
                ):
                    return by_way_of(value or line, file.name)
    return ""


def _of_line(line: str) -> Iterator[tuple[str, str]]:
    if line.startswith("-"):
        return _with_options(_LETTERS["pip"], line.split())
    named, *behind = re.split(r"\s(?=-)", line)
    options = _with_options(_LETTERS["pip"], " ".join(behind).split())
    return iter([("", named), *options])


def _of_word(program: str, option: str, value: str, here: Whereabouts) -> str:
    place = here.folder / value
    if option == "--with" and program != "poetry":
        option = ""
    if option in ("", "--editable"):
        if option and is_address(value):
            return ""
        # Of a bare name these take a place, too.
        finds = "/" in value or program in ("pipx", "poetry")
        local = finds and place.exists()
        if not (local or option or stands_for_others(value, here.folder)) and is_of_registry(value):
            return ""
        bare = value.partition("[")[0]
        if not bare:
            return by_way_of("a word that is known only when it runs")
        builds = option or bare[:1] == "." or (here.folder / bare).is_dir() or is_archive(place)
        return BUILDS if builds else by_way_of(value)
    if option == "--python":
        place = place / "bin/python" if place.is_dir() else place
        inside = place.resolve().is_relative_to(here.workspace.resolve())
        return by_way_of(value) if "/" in value and inside else ""
    if option == "--channel":
        named = is_address(value) or (is_of_registry(value) and not place.exists())
        return "" if named else by_way_of(value)
    if option in _INDEXES:
        return "" if is_address(value) else by_way_of(value)
    known = option in _FLAGS or option in _VALUED or option == "--with"
    return "" if known else by_way_of(option)
