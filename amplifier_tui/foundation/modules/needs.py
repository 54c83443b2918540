"""What a package requires, compared with what the program's environment has."""

import importlib.metadata
from collections.abc import Iterable, Iterator
from functools import cache

from packaging.requirements import InvalidRequirement, Requirement

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.modules.project import PROVIDED, installed_version, normalised
from amplifier_tui.foundation.sources.uv import UvPackage, UvSource

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


def wanted_sources(
    dependencies: Iterable[str], sources: Iterable[UvSource], *, every: bool = False
) -> list[UvSource]:
    """Return the sources of those dependencies that have to be installed.

    Args:
        dependencies: Requirements, as written.
        every: Of all that the program does not have, for what tells its dependencies only when it
            is built.
    """
    known = {source.name: source for source in sources}
    if not known:
        return []
    wanted = needs_of(known if every else dependencies).missing
    names = dict.fromkeys(_plain_name(requirement) for requirement in wanted)
    return [known[name] for name in names if name in known]


def with_sources(requirements: Iterable[str], packages: Iterable[UvPackage]) -> Iterator[str]:
    """Yield requirements with those that were fetched named by their folder, and all of these."""
    left = {package.name: package for package in packages}
    for requirement in requirements:
        package = left.pop(_plain_name(requirement), None)
        yield requirement if package is None else _from_folder(requirement, package)
    for package in left.values():
        yield f"{package.name} @ {package.path.as_uri()}"


def _plain_name(requirement: str) -> str:
    """Return the name of a requirement that says nothing of an address; else an empty text."""
    try:
        parsed = Requirement(requirement)
    except InvalidRequirement:
        return ""
    return "" if parsed.url else normalised(parsed.name)


def _from_folder(requirement: str, package: UvPackage) -> str:
    parsed = Requirement(requirement)
    extras = f"[{','.join(sorted(parsed.extras))}]" if parsed.extras else ""
    marker = f" ; {parsed.marker}" if parsed.marker else ""
    return f"{parsed.name}{extras} @ {package.path.as_uri()}{marker}"
