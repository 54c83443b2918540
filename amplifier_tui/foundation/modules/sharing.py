"""One process holds one version of a package: what that means for two folders that have it."""

import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.modules.apart import ApartFolder
from amplifier_tui.foundation.modules.installer import InstallError
from amplifier_tui.foundation.modules.project import normalised
from amplifier_tui.foundation.report import ReportItem

_SUFFIXES = (".py", ".so", ".pyd")


@dataclass(frozen=True, slots=True)
class _Version:
    """A distribution at a place; nameless where none says that it has the package."""

    name: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.name else "an unknown version"


def require_one_version(folder: ApartFolder, others: Iterable[Path]) -> list[ReportItem]:
    """Make sure that a folder's packages can be imported beside those that are loaded or will be.

    Args:
        folder: What is to be used as well.
        others: Folders that are used for the same bundle.

    Returns:
        One for each package of it that will be used in another version, which does
        for it.

    Raises:
        InstallError: One of them can't be used in the version that is there.
    """
    notes: list[ReportItem] = []
    used = list(others)
    for package in _packages(folder.path):
        loaded = _loaded_from(package)
        place = loaded or next((each for each in used if _has(each, package)), None)
        if place is None or place == folder.path.resolve() or place == folder.path:
            continue
        theirs, own = _version_of(place, package), _version_of(folder.path, package)
        if theirs == own and own.name and normalised(own.name) != normalised(folder.name):
            continue
        subject = folder.name or folder.path.name
        if not _does_for(folder, theirs):
            raise InstallError(
                f"{subject} has {own}, and {theirs} is {'loaded' if loaded else 'used'} already "
                f"from {place}: one process holds one version of {package}",
                remedy=f"Restart with `{as_typed('amplifier-tui --resume')}` to use this one."
                if loaded
                else "Two modules of the bundle need different versions: leave one of them out.",
            )
        note = ReportItem(
            what=subject,
            kind="replaced",
            part="package",
            why=f"it uses {theirs}, which is there already, instead of {own.version}",
        )
        notes.append(note)
    return notes


def _packages(folder: Path) -> Iterator[str]:
    """Yield what can be imported from a folder; folders that several may share are none."""
    for child in sorted(folder.iterdir()):
        if child.is_dir() and not (child / "__init__.py").is_file():
            continue
        name = child.name.partition(".")[0]
        if not child.is_dir() and child.suffix not in _SUFFIXES:
            continue
        if name.isidentifier() and name not in sys.stdlib_module_names:
            yield name


def _has(folder: Path, package: str) -> bool:
    if (folder / package / "__init__.py").is_file():
        return True
    return any(path.suffix in _SUFFIXES for path in folder.glob(f"{package}.*"))


def _loaded_from(package: str) -> Path | None:
    file = getattr(sys.modules.get(package), "__file__", None)
    if not file:
        return None
    path = Path(file)
    return path.parents[1] if path.stem == "__init__" else path.parent


def _version_of(folder: Path, package: str) -> _Version:
    for distribution in importlib.metadata.distributions(path=[str(folder)]):
        tops = {file.parts[0].partition(".")[0] for file in distribution.files or ()}
        if package in tops:
            return _Version(distribution.name, distribution.version)
    return _Version()


def _does_for(folder: ApartFolder, there: _Version) -> bool:
    """Whether every package in a folder that requires a distribution can use the one there is."""
    name, wanted = normalised(there.name), False
    for distribution in importlib.metadata.distributions(path=[str(folder.path)]):
        for requirement in map(Requirement, distribution.requires or ()):
            if normalised(requirement.name) != name:
                continue
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            if requirement.url or not requirement.specifier.contains(there.version, True):
                return False
            wanted = True
    return wanted
