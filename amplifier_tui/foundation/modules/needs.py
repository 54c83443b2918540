"""What a package requires, compared with what the program's environment has."""

import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from packaging.requirements import InvalidRequirement, Requirement

from amplifier_tui.foundation.modules.project import PROVIDED, installed_version, normalised

_PROGRAM = "amplifier-tui"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a package requires.

    Attributes:
        missing: Requirements that have to be installed for it.
        shared: Versions, by name, of what it takes from the program's environment.
        impossible: What it requires that the program has in another version, a readable line each.
    """

    missing: tuple[str, ...] = ()
    shared: tuple[tuple[str, str], ...] = ()
    impossible: tuple[str, ...] = ()


def needs_of(requirements: Iterable[str]) -> Needs:
    """Compare requirements with what the program's environment has."""
    missing: list[str] = []
    shared: dict[str, str] = {}
    impossible: list[str] = []
    own = program_versions()
    for text in requirements:
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            missing.append(text)  # The installer says what is wrong with it.
            continue
        name = normalised(wanted.name)
        if name in PROVIDED or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        version = own.get(name) or installed_version(name)
        if version is None:
            missing.append(text)
        elif wanted.specifier.contains(version, prereleases=True) and not wanted.extras:
            if wanted.url and name not in own:
                missing.append(text)
            else:
                shared[name] = version
        elif name in own and not wanted.specifier.contains(version, prereleases=True):
            impossible.append(f"it needs {text}, and this program runs on {name} {version}")
        else:
            missing.append(text)
    return Needs(tuple(missing), tuple(sorted(shared.items())), tuple(impossible))


@cache
def program_versions() -> dict[str, str]:
    """Return the version of every distribution the program itself needs, by canonical name."""
    found: dict[str, str] = {}
    waiting = [_PROGRAM]
    while waiting:
        name = normalised(waiting.pop())
        if name in found:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found[name] = distribution.version
        waiting += [
            requirement.name
            for requirement in map(Requirement, distribution.requires or ())
            if not requirement.marker or requirement.marker.evaluate({"extra": ""})
        ]
    return found


def is_provided(name: str) -> bool:
    """Whether a distribution's place is taken by this program, or the program runs on it."""
    name = normalised(name)
    return name in PROVIDED or name in program_versions()
