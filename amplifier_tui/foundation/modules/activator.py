"""Activating modules: fetch, ask, install apart, put on the path."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.exceptions import BundleError, located
from amplifier_tui.foundation.modules.project import Project, SourceCommit, read_project
from amplifier_tui.foundation.paths import get_amplifier_home, redact_uri
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.sources.context import FetchContext, requested_by
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustCallback, TrustGate

if TYPE_CHECKING:
    from amplifier_tui.foundation.modules.apart import ApartFolder

INSTALLERS = 4
"""Installations at work at the same time."""

_log = logging.getLogger(__name__)


class ModuleActivationError(BundleError):
    """Modules could not be activated; `failures` says why, by module id.

    Of a single module, `reason` says why without `remedy`.
    """

    def __init__(
        self,
        message: str,
        failures: Mapping[str, str] | None = None,
        *,
        reason: str = "",
        remedy: str = "",
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason or message
        self.failures = dict(failures or {})


@dataclass(frozen=True, slots=True)
class _Ready:
    """A module that is on this machine with all it needs.

    `path` has its package; `folder` has what it needs, and with `built` the package as well.
    """

    path: Path
    folder: "ApartFolder | None" = None
    built: bool = False


class ModuleActivator:
    """Makes modules importable, asking for trust at every step that is not only reading.

    Args:
        cache_dir: Where fetched sources are kept; default `<home>/cache`.
        install_deps: Install the modules' packages.
        base_path: Folder that relative sources are in.
        strict: `activate_all` raises instead of leaving failures out.
        trust: Asked before anything is done; the default allows only what is shipped.
        fetch: How to fetch; replaces `trust`.
        put_on_path: Put what is activated on `sys.path` at once and for good. Without it that is
            for `enter`.

    Attributes:
        failures: Why a module of `activate_all` could not be activated, by id.
        notes: What else the user should know.
        bundle_package_paths: Folders from which bundles' own packages are imported.
        brought: Folder of the package of every module that came along with others, by id.
    """

    def __init__(
        self,
        cache_dir: Path | None = None,
        install_deps: bool = True,
        base_path: Path | None = None,
        strict: bool = False,
        *,
        trust: TrustCallback | None = None,
        fetch: FetchContext | None = None,
        put_on_path: bool = True,
    ) -> None:
        self.cache_dir = cache_dir or get_amplifier_home() / "cache"
        self.strict = strict
        self.fetch = fetch or FetchContext(TrustGate(trust))
        self.failures: dict[str, str] = {}
        self.notes: list[ReportItem] = []
        self.bundle_package_paths: list[str] = []
        self._install_deps = install_deps
        self._sources = SimpleSourceResolver(self.cache_dir, base_path, context=self.fetch)
        self.brought: dict[str, Path] = {}
        self._ready: dict[tuple[str, str], _Ready] = {}
        self._activated: dict[tuple[str, str], Path] = {}
        self._failed: dict[tuple[str, str], ModuleActivationError] = {}
        self._installing = asyncio.Semaphore(INSTALLERS)
        self._folders: list[Path] = []
        self._users: list[list[Path]] = [[]] if put_on_path else []

    async def activate(
        self,
        module_name: str,
        source_uri: str,
        progress_callback: ProgressCallback | None = None,
        *,
        included_by: tuple[str, ...] = (),
    ) -> Path:
        """Make a module importable and return the folder that has its package.

        `included_by` are the bundles that ask for it, outermost first.

        Raises:
            ModuleActivationError: It cannot be had, or it was refused. A second attempt with the
                same source fails at once.
        """
        key = (module_name, source_uri)
        if key not in self._activated:
            ready = await self._obtain(key, included_by, progress_callback)
            with self._remembered(key):
                await self._admit(ready)
            self._activated[key] = ready.path
        return self._activated[key]

    async def activate_all(
        self,
        modules: Iterable[Mapping[str, Any]],
        progress_callback: ProgressCallback | None = None,
    ) -> dict[str, Path]:
        """Make modules importable, concurrently, and return the folder of each.

        Entries have `module` and `source`, and optionally `included_by`; others are skipped. What
        fails is logged, left out and in `failures`.

        Raises:
            ModuleActivationError: In strict mode, naming everything that failed.
        """
        wanted: dict[tuple[str, str], tuple[str, ...]] = {}
        for entry in modules:
            module, source = entry.get("module"), entry.get("source")
            if isinstance(module, str) and module and isinstance(source, str) and source:
                wanted.setdefault((module, source), tuple(entry.get("included_by") or ()))
        await asyncio.gather(
            *(self._obtain(key, owners, progress_callback) for key, owners in wanted.items()),
            return_exceptions=True,
        )
        paths: dict[str, Path] = {}
        failures: dict[str, str] = {}
        # One after the other: of two that can't be used together, it is the later one that fails.
        for (module, source), owners in wanted.items():
            try:
                paths[module] = await self.activate(module, source, included_by=owners)
            except ModuleActivationError as error:
                failures[module] = error.failures[module]
                _log.warning("Module %s is not activated: %s", module, failures[module])
        self.failures.update(failures)
        if failures and self.strict:
            listed = "; ".join(f"{module}: {reason}" for module, reason in failures.items())
            raise ModuleActivationError(
                f"Modules could not be activated (strict mode): {listed}", failures
            )
        return paths

    async def activate_bundle_package(
        self, bundle_path: Path, progress_callback: ProgressCallback | None = None
    ) -> None:
        """Have a bundle that is a package itself on the path, with what it needs.

        Raises:
            TrustRefusedError: It was refused.
            InstallError: The installation failed.
        """
        project = await asyncio.to_thread(read_project, bundle_path)
        if not project.is_package or project.problem or project.is_provided:
            return
        uri = str(bundle_path)
        with requested_by(project.name or bundle_path.name):
            await self.fetch.require("execute", uri, path=bundle_path)
            if self._install_deps:
                project = await self._with_sources(project)
                folder = await self._installed(project, SourceCommit(uri), False, progress_callback)
                await self._admit(_Ready(bundle_path, folder, built=True))
        for path in _import_roots(bundle_path):
            self._use(path)
            if str(path) not in self.bundle_package_paths:
                self.bundle_package_paths.append(str(path))

    def outcome(
        self,
    ) -> tuple[dict[tuple[str, str], Path], dict[tuple[str, str], ModuleActivationError]]:
        """Return the folders of what is activated, and why others are not, by id and source."""
        return dict(self._activated), dict(self._failed)

    def finalize(self) -> None:
        """Nothing is left to be done; published name."""

    def enter(self) -> Callable[[], None]:
        """Have everything that is activated, now or later, on `sys.path`.

        Returns:
            A function that takes it off again, unless others have it there.
        """
        from amplifier_tui.kernel.mounting.packages.search_path import add_path, remove_paths

        added: list[Path] = []
        self._users.append(added)
        for folder in self._folders:
            add_path(folder, added, as_installed=True, compiled=self._is_kept(folder))

        def leave() -> None:
            if any(each is added for each in self._users):
                self._users = [each for each in self._users if each is not added]
                remove_paths(added)

        return leave

    async def _obtain(
        self, key: tuple[str, str], included_by: tuple[str, ...], progress: ProgressCallback | None
    ) -> "_Ready":
        if key not in self._ready:
            with self._remembered(key), requested_by(key[0], included_by):
                self._ready[key] = await self._fetched(*key, progress)
        return self._ready[key]

    @contextmanager
    def _remembered(self, key: tuple[str, str]) -> Iterator[None]:
        """Have a failure come again at once, when there is a second attempt."""
        if key in self._failed:
            raise self._failed[key]
        module = key[0]
        try:
            yield
        except BundleError as error:
            reason = located(error.message, error.path, error.line)
            failure = ModuleActivationError(
                f"{module}: {reason}", {module: str(error)}, reason=reason, remedy=error.remedy
            )
            self._failed[key] = failure
            raise failure from error

    async def _fetched(self, module: str, uri: str, progress: ProgressCallback | None) -> "_Ready":
        _report(progress, "activating", module)
        if uri in self.fetch.failed:
            raise self.fetch.failed[uri]
        source = await self._sources.resolve(uri)
        path = source.active_path
        if not path.is_dir():
            raise BundleError("A module is a folder with a Python package", path=path)
        project = await asyncio.to_thread(read_project, path)
        if project.problem:
            raise BundleError(
                f"Cannot read its pyproject.toml: {project.problem}", path=path / "pyproject.toml"
            )
        origin = SourceCommit(uri, await self._sources.commit_of(source))
        await self.fetch.require("execute", uri, commit=origin.commit, path=path)
        if not self._install_deps or project.is_native or project.is_provided:
            return _Ready(path)
        project = await self._with_sources(project)
        fetched = source.source_root.resolve().is_relative_to(self.cache_dir.resolve())
        build = fetched and project.is_package
        folder = await self._installed(project, origin, build, progress)
        if folder is None or not build:
            return _Ready(path, folder)
        return _Ready(_package_of(module, folder), folder, built=True)

    async def _with_sources(self, project: Project) -> Project:
        """Fetch what a project gets from sources it names for uv, and what those get from theirs.

        Raises:
            BundleError: One of them can't be had, or was refused.
        """
        if not project.sources:
            return project
        from amplifier_tui.foundation.modules.needs import wanted_sources
        from amplifier_tui.foundation.sources.uv import UvPackage

        found: dict[str, UvPackage] = {}
        waiting = [project]
        while waiting:
            each = waiting.pop()
            for wanted in wanted_sources(each.dependencies, each.sources, every=each.is_dynamic):
                if wanted.name in found:
                    continue
                if wanted.problem:
                    raise BundleError(
                        f"{each.name} needs {wanted.name}: {wanted.problem}",
                        path=each.path / "pyproject.toml",
                        remedy="Name a repository or a folder there, or give the package its URL.",
                    )
                with requested_by(wanted.name, (each.name,)):
                    source = await self._sources.resolve(wanted.uri)
                    path, commit = source.active_path, await self._sources.commit_of(source)
                    await self.fetch.require("execute", wanted.uri, commit=commit, path=path)
                found[wanted.name] = UvPackage(wanted.name, path, wanted.uri, commit)
                waiting.append(await asyncio.to_thread(read_project, path))
        return replace(project, fetched=tuple(found.values())) if found else project

    async def _installed(
        self, project: Project, origin: SourceCommit, build: bool, progress: ProgressCallback | None
    ) -> "ApartFolder | None":
        """Return the folder that has what a project needs, and the project itself if it is built;
        None if it is to be used from where it is and needs nothing.
        """
        # The package index and its rules of versions are for those who install something.
        from amplifier_tui.foundation.modules import apart
        from amplifier_tui.foundation.modules.installer import InstallError
        from amplifier_tui.foundation.modules.needs import needs_of

        needs = needs_of(project.dependencies)
        listed = project.requirements and not project.is_package
        if not (build or listed or project.is_dynamic or needs.missing or needs.impossible):
            return None
        folders = apart.ApartFolders(self.cache_dir)
        folder = await asyncio.to_thread(folders.find, project, origin, build=build)
        if folder is None:
            what = project.name or str(project.path)
            detail = ", ".join((what, *needs.missing)) + ": into a folder of their own"
            await self.fetch.require(
                "install", origin.source, commit=origin.commit, path=project.path, detail=detail
            )
            async with self._installing:
                _report(progress, "installing", what)
                try:
                    folder = await folders.obtain(project, origin, build=build)
                except InstallError as error:
                    if needs.missing or needs.impossible or not build or project.is_dynamic:
                        raise
                    # Offline, a build backend is often all that is missing; the module itself has
                    # everything it needs, and is used from where it was fetched to.
                    why = f"it runs from {project.path}, since it is not built: {error.message}"
                    _log.warning("%s: %s", what, why)
                    note = ReportItem(what=what, kind="replaced", part="package", why=why)
                    self.notes.append(note)
                    return None
        return folder

    async def _admit(self, ready: "_Ready") -> None:
        """Put what is installed on the path, beside what is there."""
        if ready.folder is not None:
            from amplifier_tui.foundation.modules.pruning import in_use
            from amplifier_tui.foundation.modules.sharing import require_one_version

            folder = ready.folder
            await asyncio.to_thread(in_use(self.cache_dir).note, folder.path)
            self.notes += await asyncio.to_thread(require_one_version, folder, [*self._folders])
            self._use(folder.path)
            self.brought = {**folder.modules(), **self.brought}
        if not ready.built:
            self._use(ready.path)

    def _use(self, folder: Path) -> None:
        from amplifier_tui.kernel.mounting.packages.search_path import add_path

        if folder not in self._folders:
            self._folders.append(folder)
            for added in self._users:
                add_path(folder, added, as_installed=True, compiled=self._is_kept(folder))

    def _is_kept(self, folder: Path) -> bool:
        """Whether a folder is of what was fetched or installed, where no project writes."""
        return folder.resolve().is_relative_to(self.cache_dir.resolve())


def _package_of(module: str, folder: "ApartFolder") -> Path:
    """Return where a module is in the folder it was built into, which may have others, too."""
    from amplifier_tui.kernel.mounting.packages.finding import package_name

    if (folder.path / package_name(module)).is_dir():
        return folder.path
    return folder.modules().get(module, folder.path)


def _import_roots(bundle: Path) -> list[Path]:
    """Return the folders from which a bundle's own package is imported."""
    roots = [path for path in (bundle / "src", bundle / "lib") if path.is_dir()]
    if not roots and any(bundle.glob("*/__init__.py")):
        return [bundle]
    return roots


def _report(progress: ProgressCallback | None, action: str, detail: str) -> None:
    if progress is not None:
        progress(action, redact_uri(detail))
