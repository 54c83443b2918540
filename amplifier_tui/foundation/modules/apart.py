"""Folders for fetched code: one for each source and commit, with what it needs beside it.

Nothing fetched goes into the program's environment. A folder is complete, or it is not there: it
is filled under another name and then renamed. A folder of the program's own versions is never
filled twice; when the program runs on other versions by now, there is a new one.
"""

import asyncio
import contextlib
import importlib.metadata
import logging
import shutil
import sys
import sysconfig
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from time import monotonic

from amplifier_tui.base.files import FileLock, FileLockedError, read_regular
from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.modules import installer
from amplifier_tui.foundation.modules.installer import InstallError, install, install_command
from amplifier_tui.foundation.modules.needs import (
    is_provided,
    needs_of,
    program_versions,
    with_sources,
)
from amplifier_tui.foundation.modules.project import (
    Project,
    SourceCommit,
    installed_version,
    normalised,
)
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.sources.context import cache_name, fresh_name
from amplifier_tui.foundation.sources.git_commands import remove_tree

MARKER = "amplifier-installed.json"
"""In every complete folder: what it is made of."""

_log = logging.getLogger(__name__)
_VERSION = 1
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ApartFolder:
    """A complete folder.

    Attributes:
        name: Distribution that was built from the source; empty when only its needs are here.
        shared: Versions, by name, of what it takes from the program's environment.
    """

    path: Path
    name: str = ""
    source: str = ""
    commit: str = ""
    shared: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_current(self) -> bool:
        """Whether the program's environment still has what it takes from there."""
        return all(installed_version(name) == version for name, version in self.shared.items())

    def modules(self) -> dict[str, Path]:
        """Return the folder of the package of every module it has, by id."""
        found: dict[str, Path] = {}
        for distribution in importlib.metadata.distributions(path=[str(self.path)]):
            for entry in distribution.entry_points.select(group="amplifier.modules"):
                package = self.path / entry.value.partition(":")[0].partition(".")[0].strip()
                if (package / "__init__.py").is_file():
                    found.setdefault(entry.name, package)
        return found


class ApartFolders:
    """The folders below a cache folder."""

    def __init__(self, cache_dir: Path) -> None:
        self.root = cache_dir / "installed"

    def all(self) -> list[ApartFolder]:
        """Return every complete folder."""
        try:
            children = sorted(self.root.iterdir())
        except OSError:
            return []
        found = (read_folder(child) for child in children if not child.name.endswith(".tmp"))
        return [folder for folder in found if folder is not None]

    def find(self, project: Project, origin: SourceCommit, *, build: bool) -> ApartFolder | None:
        """Return the folder of a project, if it is complete and of use to the program as it is."""
        base = self._base(project, origin, build=build)
        for path in (base, *sorted(self.root.glob(f"{base.name}+*"))):
            folder = read_folder(path)
            if folder is not None and folder.is_current:
                return folder
        return None

    async def obtain(self, project: Project, origin: SourceCommit, *, build: bool) -> ApartFolder:
        """Return the folder of a project, filling it first where needed.

        Args:
            build: Install the project itself, too, and not only what it needs.

        Raises:
            InstallError: It can't be installed; nothing is left of it.
        """
        base = self._base(project, origin, build=build)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            async with _alone(base):
                known = await asyncio.to_thread(self.find, project, origin, build=build)
                if known is not None:
                    return known
                for torn in self.root.glob(f"{base.name}*.tmp"):
                    await remove_tree(torn)
                return await self._fill(base, project, origin, build=build)
        except OSError as error:
            raise InstallError(
                f"{project.name or project.path} can't be installed into {self.root}: "
                f"{error.strerror or error}"
            ) from error

    async def _fill(
        self, base: Path, project: Project, origin: SourceCommit, *, build: bool
    ) -> ApartFolder:
        work = fresh_name(base)
        own, needed, log = work / "own", work / "needed", base.with_name(base.name + ".log")
        subject = project.name or str(project.path)
        try:
            needed.mkdir(parents=True)
            wanted, name = project.dependencies, ""
            if build or project.is_dynamic:
                command = install_command([str(project.path)], own, fresh=project.name)
                await install(command, subject, work, log)
                wanted, built = _required(own)
                name = built if build else ""
            elif project.requirements and not project.is_package:
                wanted = await asyncio.to_thread(_requirement_lines, project.path)
            needs = needs_of(wanted)
            if needs.impossible:
                raise InstallError(f"{subject} can't be used here: {'; '.join(needs.impossible)}")
            shared = dict(needs.shared)
            if needs.missing:
                lists = _write_lists(work, with_sources(needs.missing, project.fetched))
                command = install_command(["-r", str(lists[0])], needed, constraints=lists[1])
                await install(command, f"what {subject} needs", project.path, log)
                shared |= await asyncio.to_thread(_leave_to_program, needed)
            if build:
                await asyncio.to_thread(shutil.copytree, own, needed, dirs_exist_ok=True)
            source = redact_uri(origin.source)
            folder = ApartFolder(_free(base), name, source, origin.commit, shared)
            await asyncio.to_thread(_finish, needed, folder)
        finally:
            await remove_tree(work)
        return folder

    def _base(self, project: Project, origin: SourceCommit, *, build: bool) -> Path:
        from amplifier_tui.foundation.modules.install_state import project_hash

        parts = [origin.source, origin.commit or project_hash(project.path), str(build)]
        if not project.is_package and project.requirements:
            parts += _requirement_lines(project.path)
        parts += [f"{each.name} {each.uri} {each.commit}" for each in project.fetched]
        parts += [str(sys.implementation.cache_tag), sysconfig.get_platform()]
        readable = normalised(project.name) or project.path.name
        return self.root / cache_name("\n".join(parts), readable, "module")


def read_folder(path: Path) -> ApartFolder | None:
    """Return a folder that is complete, or None."""
    try:
        data = read_object(path / MARKER)
        if data.get("version") != _VERSION:
            return None
        shared = {str(name): str(version) for name, version in dict(data["shared"]).items()}
        name, source, commit = (str(data[key]) for key in ("name", "source", "commit"))
        return ApartFolder(path, name, source, commit, shared)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.warning("%s is ignored: %s", path, error)
        return None


@contextlib.asynccontextmanager
async def _alone(base: Path) -> AsyncIterator[None]:
    """Keep other windows from filling the same folder at the same time."""
    lock = FileLock(base.with_name(base.name + ".lock"))
    until = monotonic() + 2 * installer.INSTALL_SECONDS
    while True:
        try:
            lock.acquire()
            break
        except FileLockedError as error:
            if monotonic() > until:
                raise InstallError(f"Another window is still installing {base.name}") from error
            await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _required(own: Path) -> tuple[tuple[str, ...], str]:
    """Return what the one distribution in a folder requires, and its name."""
    for distribution in importlib.metadata.distributions(path=[str(own)]):
        return tuple(distribution.requires or ()), distribution.name
    return (), ""


def _requirement_lines(folder: Path) -> tuple[str, ...]:
    text = read_regular(folder / "requirements.txt").decode("utf-8", "replace")
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def _write_lists(work: Path, missing: Iterable[str]) -> tuple[Path, Path]:
    """Write what to install, and the versions that must stay what they are."""
    wanted, kept = work / "requirements.txt", work / "constraints.txt"
    wanted.write_text("\n".join(missing) + "\n", encoding="utf-8")
    versions = (f"{name}=={version}\n" for name, version in program_versions().items())
    kept.write_text("".join(versions), encoding="utf-8")
    return wanted, kept


def _leave_to_program(folder: Path) -> dict[str, str]:
    """Take out what the program has itself, in the same version; returns those versions."""
    shared: dict[str, str] = {}
    for distribution in list(importlib.metadata.distributions(path=[str(folder)])):
        if not is_provided(distribution.name):
            continue
        version = installed_version(distribution.name)
        if version is not None:
            shared[normalised(distribution.name)] = version
        for file in distribution.files or ():
            path = folder / file
            if path.resolve().is_relative_to(folder.resolve()):
                path.unlink(missing_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()
    return shared


def _free(base: Path) -> Path:
    """Return a name for a folder; an earlier one may still be in use by another window."""
    number, path = 1, base
    while path.exists():
        number += 1
        path = base.with_name(f"{base.name}+{number}")
    return path


def _finish(filled: Path, folder: ApartFolder) -> None:
    facts = {"name": folder.name, "source": folder.source, "commit": folder.commit}
    write_object(filled / MARKER, {"version": _VERSION, **facts, "shared": dict(folder.shared)})
    filled.rename(folder.path)
