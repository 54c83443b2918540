"""Activating modules: fetch, ask, install, put on the path (foundation reference c.4)."""

import asyncio
import logging
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.installer import InstallStateManager
from amplifier_tui.foundation.modules.project import Project, read_project
from amplifier_tui.foundation.paths import get_amplifier_home, parse_uri, redact_uri
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.sources.context import FetchContext, requested_by
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustCallback, TrustGate

_log = logging.getLogger(__name__)


class ModuleActivationError(BundleError):
    """Modules could not be activated; `failures` says why, by module id."""

    def __init__(self, message: str, failures: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.failures = dict(failures or {})


class ModuleActivator:
    """Makes modules importable, asking for trust at every step that is not only reading.

    Args:
        cache_dir: Where fetched sources are kept; default `<home>/cache`.
        install_deps: Install the modules' packages.
        base_path: Folder that relative sources are in.
        strict: `activate_all` raises instead of leaving failures out.
        trust: Asked before anything is done; the default allows only what is shipped.
        fetch: How to fetch; replaces `trust`.
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
    ) -> None:
        self.cache_dir = cache_dir or get_amplifier_home() / "cache"
        self.strict = strict
        self.fetch = fetch or FetchContext(TrustGate(trust))
        self.failures: dict[str, str] = {}
        self.notes: list[str] = []
        self.bundle_package_paths: list[str] = []
        self._install_deps = install_deps
        self._sources = SimpleSourceResolver(self.cache_dir, base_path, context=self.fetch)
        self._state = InstallStateManager(self.cache_dir)
        self._activated: dict[tuple[str, str], Path] = {}
        self._failed: dict[tuple[str, str], ModuleActivationError] = {}
        # Two installers at work in one environment break it.
        self._installing = asyncio.Lock()

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
        if key in self._activated:
            return self._activated[key]
        if key in self._failed:
            raise self._failed[key]
        try:
            with requested_by(module_name, included_by):
                path = await self._activate(module_name, source_uri, progress_callback)
        except BundleError as error:
            reason = f"{module_name}: {error}"
            failure = self._failed[key] = ModuleActivationError(reason, {module_name: str(error)})
            raise failure from error
        self._activated[key] = path
        return path

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
        results = await asyncio.gather(
            *(
                self.activate(module, source, progress_callback, included_by=owners)
                for (module, source), owners in wanted.items()
            ),
            return_exceptions=True,
        )
        paths: dict[str, Path] = {}
        failures: dict[str, str] = {}
        for (module, _), result in zip(wanted, results, strict=True):
            if isinstance(result, Path):
                paths[module] = result
            elif isinstance(result, ModuleActivationError):
                failures[module] = result.failures[module]
                _log.warning("Module %s is not activated: %s", module, failures[module])
            else:
                raise result
        self.failures.update(failures)
        if failures and self.strict:
            listed = "; ".join(f"{module}: {reason}" for module, reason in failures.items())
            raise ModuleActivationError(f"Modules could not be activated: {listed}", failures)
        return paths

    async def activate_bundle_package(
        self, bundle_path: Path, progress_callback: ProgressCallback | None = None
    ) -> None:
        """Install the package a bundle itself is, if any, and put its `src/` and `lib/` on the
        path.

        Raises:
            TrustRefusedError: It was refused.
            InstallError: The installation failed.
        """
        project = await asyncio.to_thread(read_project, bundle_path)
        if not project.is_package or project.problem:
            return
        uri = str(bundle_path)
        with requested_by(project.name or bundle_path.name):
            await self.fetch.require("execute", uri, path=bundle_path)
            if self._install_deps and not project.is_installed:
                _report(progress_callback, "installing_package", project.name or uri)
                await self._install(project, uri, "", progress_callback)
        for path in filter(Path.is_dir, (bundle_path / "src", bundle_path / "lib")):
            _put_on_path(str(path))
            if str(path) not in self.bundle_package_paths:
                self.bundle_package_paths.append(str(path))

    def finalize(self) -> None:
        """Write down what was installed."""
        self._state.save()

    async def _activate(self, module: str, uri: str, progress: ProgressCallback | None) -> Path:
        _report(progress, "activating", module)
        source = await self._sources.resolve(uri)
        path = source.active_path
        if not path.is_dir():
            raise BundleError("A module is a folder with a Python package", path=path)
        project = await asyncio.to_thread(read_project, path)
        if project.problem:
            raise BundleError(
                f"Cannot read its pyproject.toml: {project.problem}", path=path / "pyproject.toml"
            )
        commit = self._commit(uri)
        await self.fetch.require("execute", uri, commit=commit, path=path)
        if self._install_deps and self._needs_install(project):
            await self._install(project, uri, commit, progress)
        _put_on_path(str(path))
        return path

    def _commit(self, uri: str) -> str:
        parsed = parse_uri(uri)
        entry = self.fetch.resolved.get(parsed.source) if parsed.is_git else None
        return "" if entry is None else entry.commit

    def _needs_install(self, project: Project) -> bool:
        if project.is_native or not (project.is_package or project.requirements):
            return False
        if project.name:
            return not project.is_installed or self._state.is_outdated(project.path)
        return not self._state.is_installed(project.path)

    async def _install(
        self, project: Project, uri: str, commit: str, progress: ProgressCallback | None
    ) -> None:
        from amplifier_tui.foundation.modules import installer

        detail = " ".join(installer.install_command(project))
        await self.fetch.require("install", uri, commit=commit, path=project.path, detail=detail)
        async with self._installing:
            if not self._needs_install(project):
                return
            _report(progress, "installing", project.name or str(project.path))
            try:
                await installer.install(project)
            except installer.InstallError as error:
                if project.missing_dependencies() or not project.is_package:
                    raise
                # Offline, a build backend is often all that is missing; the module itself has
                # everything it needs, and its folder goes on the path anyway.
                note = f"{project.name or project.path} runs from its folder: {error.message}"
                _log.warning("%s", note)
                self.notes.append(note)
                return
            self._state.mark_installed(project.path)


def _put_on_path(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _report(progress: ProgressCallback | None, action: str, detail: str) -> None:
    if progress is not None:
        progress(action, redact_uri(detail))
