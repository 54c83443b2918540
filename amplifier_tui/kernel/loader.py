"""Finding and loading modules (spec 000, module source protocol)."""

import importlib
import inspect
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.kernel.models import ModuleInfo
from amplifier_tui.kernel.mounting.discovery import (
    FOLDER_PREFIX,
    find_modules,
    installed_modules,
    search_dirs,
)
from amplifier_tui.kernel.mounting.errors import (
    MODULE_FAILURE_REASONS,
    BrokenModuleError,
    MissingModuleError,
    ModuleValidationError,
    SourceUnavailableError,
    module_failure_reason,
    named_text,
)
from amplifier_tui.kernel.mounting.mount import MOUNT_SECONDS, call_mount
from amplifier_tui.kernel.mounting.packages.copies import name_of, own_copy
from amplifier_tui.kernel.mounting.packages.finding import (
    ENTRY_POINT_GROUP,
    TYPE_TO_MOUNT_POINT,
    find_package_dir,
    kind_of,
    package_name,
    require_package_dir,
)
from amplifier_tui.kernel.mounting.packages.importing import (
    advice,
    code_set_aside,
    has_changed,
    import_package,
)
from amplifier_tui.kernel.mounting.packages.search_path import (
    add_path,
    is_in_environment,
    refuse_other_copy,
    remove_paths,
    require_environment,
)
from amplifier_tui.kernel.mounting.sources import ModuleNotFoundError, resolve_module

__all__ = [
    "MODULE_FAILURE_REASONS",
    "TYPE_TO_MOUNT_POINT",
    "ModuleLoader",
    "ModuleValidationError",
    "module_failure_reason",
]

logger = logging.getLogger(__name__)

# Checks of what the loader calls, before there is a module to look at.
_ENTRY_CHECKS: Final = frozenset({"mount_exists", "mount_signature", "on_session_ready_async"})

Mount = Callable[[Any], Awaitable[Any]]
OnSessionReady = Callable[[Any], Awaitable[Any]]


@dataclass(frozen=True)
class _Loaded:
    """A module that is loaded; ``mount`` is its own function."""

    mount: Callable[..., Any]
    on_session_ready: OnSessionReady | None


class ModuleLoader:
    """Loads modules by id.

    A resolver mounted at "module-source-resolver" says where a module is; without one, or when it
    does not know, installed entry points and packages are used.

    Args:
        coordinator: Whose resolver to ask.
        search_paths: Directories with ``amplifier-module-*`` folders. Defaults to those named in
            the environment variable ``AMPLIFIER_MODULES``, separated as in ``PATH``.
    """

    TYPE_TO_MOUNT_POINT: ClassVar[dict[str, str]] = TYPE_TO_MOUNT_POINT

    RUNS_CHANGES: ClassVar[bool] = False
    """Whether source is imported that is another one than what is loaded under its name: it changed
    since, or lies in another folder. What was mounted from the other one goes on as it is."""

    MOUNT_SECONDS: float = MOUNT_SECONDS
    """Seconds a module's mount may wait before it counts as failed."""

    def __init__(
        self, coordinator: Any = None, search_paths: Sequence[str | Path] | None = None
    ) -> None:
        self._coordinator = coordinator
        self._search_paths = None if search_paths is None else [Path(p) for p in search_paths]
        self._loaded: dict[tuple[str, Path | None], _Loaded] = {}
        self._added_paths: list[Path] = []
        self._ready_queue: list[tuple[str, OnSessionReady]] = []

    async def discover(self) -> list[ModuleInfo]:
        """Return the modules that are installed or lie in the search paths."""
        return [
            ModuleInfo.model_validate(
                {
                    "id": found.id,
                    "name": found.id.replace("-", " ").title(),
                    "version": found.version,
                    "type": found.kind,
                    "mount_point": TYPE_TO_MOUNT_POINT[found.kind],
                    "description": f"Module {found.id}",
                }
            )
            for found in find_modules(self._search_dirs())
        ]

    def _search_dirs(self) -> list[Path]:
        return search_dirs() if self._search_paths is None else self._search_paths

    _find_package_dir = staticmethod(find_package_dir)

    async def load(
        self,
        module_id: str,
        config: dict[str, Any] | None = None,
        source_hint: Any = None,
        coordinator: Any = None,
        *,
        profile_source: Any = None,
    ) -> Mount:
        """Load a module.

        Args:
            module_id: Its id, e.g. "tool-bash".
            config: What it is going to be mounted with.
            source_hint: What the mount plan says about its source; passed on to the resolver.
            coordinator: Whose resolver to ask if the loader's own has none.
            profile_source: Older name of ``source_hint``.

        Returns:
            An async function ``mount(coordinator)`` bound to ``config``; a new one each time.

        Raises:
            ModuleNotFoundError: It was found nowhere (also a ValueError).
            ModuleLoadError: It was found and does not load (also a ValueError).
            ModuleValidationError: It does not fulfil its contract.
            ImportError: Another copy of it is loaded already.
        """
        hint = profile_source if source_hint is None else source_hint
        resolver = self._resolver(coordinator)
        unresolved: ModuleNotFoundError | None = None
        loaded: _Loaded | None = None
        if resolver is not None:
            try:
                path = await resolve_module(resolver, module_id, hint)
            except SourceUnavailableError:
                raise
            except ModuleNotFoundError as error:
                logger.debug("The resolver does not know '%s': %s", module_id, error)
                unresolved = error
            else:
                loaded = await self._load_from(module_id, path, config)
        if loaded is None:
            loaded = self._load_direct(module_id, unresolved)
        return _bound(module_id, loaded, config, self.MOUNT_SECONDS)

    def _resolver(self, coordinator: Any) -> Any:
        for owner in (self._coordinator, coordinator):
            if owner is not None:
                try:
                    resolver = owner.get("module-source-resolver")
                except ValueError:
                    continue
                if resolver is not None:
                    return resolver
        return None

    def _load_direct(self, module_id: str, unresolved: ModuleNotFoundError | None) -> _Loaded:
        known = self._loaded.get((module_id, None))
        if known is None:
            known = self._from_entry_point(module_id)
            known = known or self._from_search_paths(module_id)
            known = known or self._from_installed_package(module_id)
            if known is None:
                raise self._nowhere(module_id, unresolved) from unresolved
            self._loaded[module_id, None] = known
        return known

    def _from_entry_point(self, module_id: str) -> _Loaded | None:
        entry_point = installed_modules().get(module_id)
        if entry_point is None:
            return None
        try:
            mount = entry_point.load()
        except (Exception, SystemExit) as error:
            raise BrokenModuleError(
                f"Module '{module_id}' can't be loaded from its entry point "
                f"'{entry_point.value}': {named_text(error)}{advice(error)}",
                reason_code="invalid_entry_point",
            ) from error
        if not callable(mount):
            raise BrokenModuleError(
                f"The entry point of module '{module_id}', '{entry_point.value}', is not a "
                "function: point it at mount",
                reason_code="invalid_entry_point",
            )
        module = sys.modules.get(getattr(mount, "__module__", None) or "")
        require_environment(module_id, module)
        return _Loaded(mount, _on_session_ready(module_id, module))

    def _from_search_paths(self, module_id: str) -> _Loaded | None:
        for folder in self._search_dirs():
            path = folder / f"{FOLDER_PREFIX}{module_id}"
            if path.is_dir():
                module = self._import(module_id, require_package_dir(module_id, path))
                return _loaded(module_id, module, path)
        return None

    def _from_installed_package(self, module_id: str) -> _Loaded | None:
        name = package_name(module_id)
        try:
            if not is_in_environment(name):
                return None
            module = importlib.import_module(name)
        except (Exception, SystemExit) as error:
            if isinstance(error, ImportError) and error.name == name:
                return None
            raise BrokenModuleError(
                f"Module '{module_id}' found as package {name} but failed to load: "
                f"{named_text(error)}{advice(error)}",
                reason_code="validation_failed",
            ) from error
        require_environment(module_id, module)
        mount = getattr(module, "mount", None)
        return _Loaded(mount, _on_session_ready(module_id, module)) if callable(mount) else None

    async def _load_from(
        self, module_id: str, path: Path, config: dict[str, Any] | None
    ) -> _Loaded:
        for (known_id, known_path), known in self._loaded.items():
            if known_id == module_id and known_path is not None:
                if known_path != path:
                    refuse_other_copy(module_id, path, known_path)
                return known
        package_dir = require_package_dir(module_id, path)
        added_before = len(self._added_paths)
        try:
            module = self._import(module_id, package_dir)
            await _validate(module_id, kind_of(module_id, module), package_dir, config)
            loaded = _loaded(module_id, module, path)
        except BaseException:
            added = self._added_paths[added_before:]
            del self._added_paths[added_before:]
            remove_paths(added)
            raise
        self._loaded[module_id, path] = loaded
        return loaded

    def _import(self, module_id: str, package_dir: Path) -> ModuleType:
        add_path(package_dir.parent, self._added_paths)
        with own_copy(package_dir, only_loaded=not self.RUNS_CHANGES):
            if not (self.RUNS_CHANGES and has_changed(package_dir)):
                return import_package(module_id, package_dir)
            with code_set_aside(name_of(package_dir)):
                return import_package(module_id, package_dir)

    def _nowhere(
        self, module_id: str, unresolved: ModuleNotFoundError | None
    ) -> MissingModuleError:
        tried = [f"entry point '{module_id}' of group {ENTRY_POINT_GROUP}"]
        tried += [f"{folder}/{FOLDER_PREFIX}{module_id}" for folder in self._search_dirs()]
        tried.append(f"package {package_name(module_id)}")
        if unresolved is not None:
            tried.insert(0, f"the module source resolver ({unresolved})")
        return MissingModuleError(
            f"Module '{module_id}' not found via entry points or filesystem"
            f"{did_you_mean(module_id, installed_modules()) or '.'} Tried: {'; '.join(tried)}.",
            remedy="Install the package that provides it, or give its source.",
        )

    @contextmanager
    def fresh(self, module_id: str, package: str) -> Iterator[None]:
        """Have the next :meth:`load` of a module run its source anew.

        When something is raised inside, the code is the one that was loaded before.

        Args:
            module_id: Its id.
            package: The Python package of its code, which is imported anew; empty to keep it.
        """
        before = {key: known for key, known in self._loaded.items() if key[0] == module_id}
        for _, path in before:
            package_dir = find_package_dir(module_id, path) if path is not None else None
            if package_dir is not None:
                # What is set aside below is this session's, not another one's copy.
                with own_copy(package_dir, only_loaded=True):
                    pass
        with code_set_aside(package):
            for key in before:
                del self._loaded[key]
            try:
                yield
            except BaseException:
                self._loaded.update(before)
                raise

    async def initialize(self, module: Mount, coordinator: Any) -> None:
        """Mount what :meth:`load` returned, and have the coordinator tidy up after it."""
        cleanup = await module(coordinator)
        if cleanup:
            coordinator.register_cleanup(cleanup)

    def cleanup(self) -> None:
        """Take back what loading added to ``sys.path``."""
        remove_paths(self._added_paths)

    def get_on_session_ready_queue(self) -> list[tuple[str, OnSessionReady]]:
        """Return what is to be called once all modules are mounted (a copy)."""
        return list(self._ready_queue)

    def enqueue_on_session_ready(self, module_id: str, fn: OnSessionReady) -> None:
        """Call async ``fn(coordinator)`` once all modules of the session are mounted."""
        self._ready_queue.append((module_id, fn))

    def clear_on_session_ready_queue(self) -> None:
        """Forget what is queued."""
        self._ready_queue.clear()


def _bound(module_id: str, loaded: _Loaded, config: dict[str, Any] | None, seconds: float) -> Mount:
    settings = config or {}

    async def mount(coordinator: Any) -> Any:
        return await call_mount(loaded.mount, coordinator, settings, module_id, seconds)

    vars(mount)["__mount__"] = loaded.mount
    if loaded.on_session_ready is not None:
        # How session initialisation hears of it, once the mount succeeded.
        vars(mount)["__on_session_ready__"] = (module_id, loaded.on_session_ready)
    return mount


def _loaded(module_id: str, module: ModuleType, path: Path) -> _Loaded:
    mount = getattr(module, "mount", None)
    if not callable(mount):
        raise BrokenModuleError(
            f"Module '{module_id}' found at {path} but failed to load: "
            f"{module.__name__} has no mount function",
            reason_code="invalid_entry_point",
        )
    return _Loaded(mount, _on_session_ready(module_id, module))


def _on_session_ready(module_id: str, module: ModuleType | None) -> OnSessionReady | None:
    function = getattr(module, "on_session_ready", None)
    if function is None or inspect.iscoroutinefunction(function):
        return function
    logger.warning("on_session_ready of module '%s' is not async; it is not called", module_id)
    return None


async def _validate(
    module_id: str, kind: str, package_dir: Path, config: dict[str, Any] | None
) -> None:
    # The validators need the whole kernel: imported only when there is something to validate.
    from amplifier_tui.kernel.validation import validate_module

    result = await validate_module(kind, package_dir, module_id, config)
    if result is None:
        logger.warning("Module '%s' is of kind '%s', which has no validator", module_id, kind)
    elif not result.passed:
        problems = "; ".join(map(str, result.errors))
        no_entry = any(check.name in _ENTRY_CHECKS for check in result.errors)
        raise ModuleValidationError(
            f"Module '{module_id}' failed validation: {result.summary()}. Errors: {problems}",
            reason_code="invalid_entry_point" if no_entry else "validation_failed",
            reason=result.errors[0].message,
            details="; ".join(check.said for check in result.errors),
        )
