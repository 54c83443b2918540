"""What the files of locks of npm, yarn and pnpm get that is not surely of a registry."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.host.gate.verdicts.lent.of_registry import is_address, is_of_registry

_LOCKS: Final = {
    "npm": ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock"),
    "yarn": ("yarn.lock",),
    "pnpm": ("pnpm-lock.yaml",),
    "bun": ("package-lock.json", "yarn.lock", "pnpm-lock.yaml"),
}
"""What each of them reads, its own and those that it goes over from."""
_MOST_OF_LOCK: Final = 30_000_000
_OF_MEMBERS: Final = re.compile(r"workspace:[\w./*^~ <>=-]*|catalog:[\w-]*|\$[@\w./-]+")
_FETCHED: Final = frozenset({"resolved", "tarball", "repo"})
_PLACES: Final = frozenset({"directory", "path"})
_DEPENDS: Final = frozenset(
    {"dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "requires"}
)
_FILE: Final = re.compile(r"(?:^|@)file:([^()]*)")
_ODD_PLACE: Final = re.compile(r"[:\\]|^/|(?:^|/)\.\.(?:/|$)")
_WORD: Final = r"""(?:"[^"]*"|[^\s"',:{}\[\]?#&*!|>%]+)"""
_VALUE: Final = r"""(?:"[^"]*"|(?![&*!|>%@\[{'?])[^\s":#]+(?: [^\s":#]+)*)"""
_OF_YARN: Final = re.compile(rf"( *)({_WORD})(?::|:? ({_VALUE}))|#.*|", re.ASCII)
_ENTRY: Final = re.compile(rf"(?:{_WORD}(?:, {_WORD})*)?:|\? {_WORD}")
_TOLD_OF: Final = frozenset(
    {"integrity", "checksum", "languageName", "linkType", "cacheKey", "uid", "registry"}
)
_TOLD_OF_IT: Final = frozenset({"optional", "unplugged", "built"})
_MACHINES: Final = re.compile(r"(?:[()|& ]|(?:os|cpu|libc)=\w+)+", re.ASCII)
_BUILTIN: Final = re.compile(r"patch:[^#]*#(?:~|optional!)*builtin<compat/\w+>[\w:=.&]*", re.ASCII)


def is_sure(value: str) -> bool:
    """Whether a dependency is surely of a registry, of another machine, or a member's."""
    value = value.removeprefix("npm:")
    return bool(not value or is_of_registry(value, hosted=True) or _OF_MEMBERS.fullmatch(value))


def told_by_locks(program: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield what locks of a folder get that is not surely of a registry. Blocking.

    Yields:
        The lock, and what it says; empty where not all of it can be read as the program does.
    """
    for name in _LOCKS.get(program, ()):
        read = _READERS[name.rpartition(".")[2]]
        try:
            told = list(read(read_regular(folder / name, _MOST_OF_LOCK).decode("utf-8-sig")))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            yield folder / name, ""
        else:
            yield from ((folder / name, value) for value in dict.fromkeys(told))


def _of_npm(text: str) -> Iterator[str]:
    left: list[tuple[str, Any]] = [("", json.loads(text))]
    while left:
        within, value = left.pop()
        if isinstance(value, list):
            left += [(within, each) for each in value]
        elif isinstance(value, dict):
            if value.get("link") is True and is_address(str(value.get("resolved"))):
                # Npm takes it for a path.
                raise ValueError("a link with an address")
            if within == "packages" and any(map(_ODD_PLACE.search, value)):
                raise ValueError("a package at an odd place")
        for name, each in value.items() if isinstance(value, dict) else ():
            if isinstance(each, dict | list):
                left.append((name, each))
            elif isinstance(each, str):
                spoken = within in _DEPENDS or name in ("version", "from")
                if not (is_address(each) if name == "resolved" else not spoken or is_sure(each)):
                    yield each


def _of_pnpm(text: str) -> Iterator[str]:
    from yaml import YAMLError  # Most sessions read none.

    from amplifier_tui.foundation.io import load_yaml

    _without_escapes(text)
    try:
        data = load_yaml(text)
    except YAMLError as error:
        raise ValueError("no YAML") from error
    left: list[Any] = [data]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif isinstance(value, dict):
            left += [*value, *value.values()]
            for name, told in value.items():
                if (name in _FETCHED and not is_address(str(told))) or name in _PLACES:
                    yield str(told)
        elif isinstance(value, str) and (found := _FILE.search(value)):
            yield found[1]


def _of_yarn(text: str) -> Iterator[str]:
    """Yield what a lock of any yarn gets, of which each line has to be of a known form."""
    _without_escapes(text)
    section = ""
    for line in text.split("\n"):
        line = line.removesuffix("\r")
        form = _OF_YARN.fullmatch(line)
        if _ENTRY.fullmatch(line) or (form and form[2] is None):
            continue
        if form is None:
            if not (line.startswith("  conditions: ") and _MACHINES.fullmatch(line[14:])):
                raise ValueError("a line of no known form")
            continue
        depth, name, value = len(form[1]), form[2].strip('"'), (form[3] or "").strip('"')
        if depth == 2 and form[3] is None:
            section = name
        elif depth == 2:
            yield from () if _is_sure_field(name, value) else (value,)
        elif depth == 4 and section.endswith("ependencies"):
            yield from () if is_sure(value) else (value,)
        elif not (
            (depth == 4 and (section == "bin" or form[3] is None))
            or (depth == 6 and name in _TOLD_OF_IT)
        ):
            raise ValueError("a line at no known place")


def _without_escapes(text: str) -> None:
    if "\\" in text or "\r" in text.replace("\r\n", ""):
        raise ValueError("it may say something else than it seems to")


def _is_sure_field(name: str, value: str) -> bool:
    if name == "resolved":
        return is_address(value)
    if name == "resolution":
        _, _, value = value[1:].partition("@")
        return is_sure(value) or bool(_BUILTIN.fullmatch(value))
    if name == "conditions":
        return bool(_MACHINES.fullmatch(value))
    return " " not in value and (name in _TOLD_OF or is_of_registry(value))


_READERS: Final[dict[str, Callable[[str], Iterator[str]]]] = {
    "json": _of_npm,
    "lock": _of_yarn,
    "yaml": _of_pnpm,
}
