"""What npm, pnpm, yarn and bun run of the workspace, by their words and by the packages there."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.shell import ProgramRun
from amplifier_tui.base.text import one_line
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.verdicts.lent.of_registry import (
    NAMED_IN,
    Ran,
    is_address,
    is_of_registry,
    stands_for_others,
    unsure,
)
from amplifier_tui.host.gate.verdicts.lent.package_scripts import is_archive, scripts_run

_SCRIPTED: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_GETTING: Final = frozenset(
    {"install", "i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall"}
    | {"add", "ci", "clean-install", "ic", "install-clean", "isntall-clean", "install-test", "it"}
    | {"cit", "update", "up", "upgrade", "udpate", "link", "ln", "download", "wheel", "inject"}
    | {"sync", "compile", "lock", "remove"}
)
_RUNNING: Final = frozenset({"run", "run-script", "exec", "x", "dlx", "test", "start"})
_FOLDERS: Final = frozenset(
    {"--prefix", "-C", "--dir", "--cwd", "--project", "--directory", "--cache", "--cache-folder"}
    | {"--store-dir", "--modules-folder", "--filter", "--workspace"}
)
"""Options behind which a name is that of a folder."""
_NAMED: Final = re.compile(
    r"(?:--[\w-]+=)?(?:@?[\w./-]+(?:\[[^\]]*\])? *@ *(?=file:))?(?:file:(?://)?|)(.*?)", re.DOTALL
)
_MOST_TEXT: Final = 80


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
    program, words = run.program, run.arguments
    if program not in _SCRIPTED:
        return
    gets = next((word for word in words if word in _GETTING | _RUNNING), "") in _GETTING
    named = list(_named(program, words, here))
    if not gets:
        named = [at for at in named if isinstance(at, Path)]
    yield from scripts_run(program, words, here.folder, here.workspace, named)


def _named(program: str, words: tuple[str, ...], here: Whereabouts) -> Iterator[Path | Ran]:
    """Yield what words name that is not surely of a registry: places, and all that is none."""
    for option, value in _with_options(program, words):
        if not _is_sure(option, value, here):
            yield _place(option, value, here.folder) or unsure(value, here.folder, here.folder)


def _with_options(program: str, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield words with the options that they are behind; none for those of more meanings."""
    before = ""
    for word in words:
        option, told, value = word, "", word
        if (word.startswith("--") and word != "--") or (
            program == "npm" and re.match(r"-\w{2}", word)
        ):
            option, told, value = f"--{word.lstrip('-')}".partition("=")
        elif word.startswith("-") and word != "-":
            found = re.fullmatch(r"-[^C]*C(.*)", word, re.DOTALL)
            option, value = ("-C", found[1]) if found else ("", "")
            told = value
        else:
            option, told = before, "="
        before = "" if told else _whole(option)
        if told:
            yield _whole(option), value.removeprefix("=") if option[:2] != "--" else value
    if before in _FOLDERS:
        yield before, ""


def _whole(option: str) -> str:
    """Return an option that may be written shorter as it is known."""
    if option in _FOLDERS or not option.startswith("--"):
        return option
    return next((each for each in sorted(_FOLDERS) if each.startswith(option)), option)


def _is_sure(option: str, value: str, here: Whereabouts) -> bool:
    """Whether a word needs no look: it is surely of a registry, or says nothing of packages."""
    if option in _FOLDERS and not os.path.exists(here.folder / os.path.expanduser(value)):
        return True
    named = option not in _FOLDERS and is_of_registry(value, hosted=True)
    local = "/" in value and os.path.exists(here.folder / value)
    return (named or is_address(value)) and not (local or stands_for_others(value, here.folder))


def _place(option: str, value: str, folder: Path) -> Path | None:
    """Return the place that a value is looked at as, if it is one."""
    found = _NAMED.fullmatch(os.path.expandvars(value))
    if found is None or not found[1] or not (not option or option in _FOLDERS):
        return None
    place = folder / os.path.expanduser(found[1])
    return place if place.is_dir() or is_archive(place) else None
