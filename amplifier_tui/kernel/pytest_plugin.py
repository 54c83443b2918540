"""pytest plugin for authors of modules: fixtures that find, load and mount the module under test.

pytest loads it by its entry point ``amplifier_module``; nothing else imports it. It imports only
pytest until a fixture is used, so that it costs other test suites nothing.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import pytest

if TYPE_CHECKING:
    from amplifier_tui.kernel.testing import EventRecorder, MockCoordinator

F = TypeVar("F", bound=Callable[..., Any])

_FOLDER: Final = re.compile(r"amplifier-module-([a-z]+)")
_KINDS: Final = {
    "provider": "provider",
    "tool": "tool",
    "hooks": "hook",
    "hook": "hook",
    "loop": "orchestrator",
    "orchestrator": "orchestrator",
    "context": "context",
}


class AmplifierModulePlugin:
    """Which module is under test.

    Attributes:
        module_path: Its package directory; None outside of a module's project.
        module_type: Its kind, e.g. "tool".
    """

    def __init__(self) -> None:
        self.module_path: Path | None = None
        self.module_type: str | None = None

    def detect(self, config: pytest.Config) -> None:
        """Look for a module in the arguments, the root and here."""
        given = config.getoption("--module-path", default=None)
        here = config.invocation_params.dir
        starts = [here / argument.partition("::")[0] for argument in config.args]
        candidates = [here / given] if given else [*starts, config.rootpath, here]
        found = (_package_above(candidate) for candidate in candidates)
        self.module_path = next((path for path in found if path is not None), None)
        self.module_type = _kind_of(self.module_path)


_FOUND: Final = pytest.StashKey[AmplifierModulePlugin]()


def _async_fixture(function: F) -> F:
    try:
        import pytest_asyncio
    except ImportError:
        # Without it no async test runs, and pytest says so where the fixture is used.
        return cast("F", pytest.fixture(function))
    return cast("F", pytest_asyncio.fixture(function))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--module-path``."""
    parser.getgroup("amplifier").addoption(
        "--module-path",
        default=None,
        help="folder of the Amplifier module under test; found by itself in amplifier-module-*",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and look for the module under test."""
    config.addinivalue_line(
        "markers", "module_validation: checks an Amplifier module against its contract"
    )
    config.stash[_FOUND] = AmplifierModulePlugin()
    config.stash[_FOUND].detect(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that come from the structural and behavioral classes."""
    for item in items:
        bases = getattr(getattr(item, "cls", None), "__mro__", ())
        if any(base.__module__.startswith("amplifier_tui.kernel.validation.") for base in bases):
            item.add_marker("module_validation")


def _package_above(start: Path) -> Path | None:
    """Return the package of the module folder that a path lies in, or is."""
    for folder in (start, *start.resolve().parents):
        package = _package_in(folder)
        if package is not None:
            return package
    return None


def _package_in(folder: Path) -> Path | None:
    from amplifier_tui.kernel.mounting.packages.finding import declared_modules, find_package_dir

    if not folder.is_dir():
        return None
    if folder.name.startswith("amplifier_module_") and (folder / "__init__.py").is_file():
        return folder
    if _FOLDER.match(folder.name):
        packages = sorted(folder.glob("amplifier_*/__init__.py"))
        if packages:
            return packages[0].parent
    declared = declared_modules(folder)
    # A program that brings a whole set of modules is not a module under test.
    return find_package_dir(next(iter(declared)), folder) if len(declared) == 1 else None


@pytest.fixture
def module_path(request: pytest.FixtureRequest) -> Path | None:
    """The package directory of the module under test; None outside of a module's project."""
    given = request.config.getoption("--module-path", default=None)
    above = None if given else _package_above(request.path.parent)
    return above or request.config.stash[_FOUND].module_path


@pytest.fixture
def module_type(module_path: Path | None) -> str | None:
    """The kind of the module under test; None outside of a module's project."""
    return _kind_of(module_path)


def _kind_of(module_path: Path | None) -> str | None:
    if module_path is None:
        return None
    named = _FOLDER.match(module_path.parent.name)
    if named is not None and named[1] in _KINDS:
        return _KINDS[named[1]]
    from amplifier_tui.kernel.mounting.discovery import declared_kind

    return declared_kind(module_path.name, module_path / "__init__.py")


@pytest.fixture
def is_module_context(module_path: Path | None) -> bool:
    """Whether there is a module under test."""
    return module_path is not None


@pytest.fixture
def coordinator() -> MockCoordinator:
    """A fresh mock coordinator."""
    from amplifier_tui.kernel.testing import MockCoordinator

    return MockCoordinator()


@pytest.fixture
def mock_deps() -> tuple[Any, dict[str, Any], dict[str, Any], EventRecorder]:
    """What an orchestrator is executed with: context, providers, tools, hooks."""
    from amplifier_tui.kernel.testing import (
        EventRecorder,
        MockContextManager,
        MockProvider,
        MockTool,
    )

    tools = {"test_tool": MockTool(name="test_tool")}
    return MockContextManager(), {"default": MockProvider()}, tools, EventRecorder()


def _module_fixture(kind: str) -> Any:
    @_async_fixture
    async def mounted(module_path: Path | None, coordinator: Any) -> AsyncIterator[Any]:
        """What the module under test mounts; the first of several."""
        async for module in _mounted(module_path, coordinator, kind):
            yield module

    return mounted


provider_module = _module_fixture("provider")
tool_module = _module_fixture("tool")
orchestrator_module = _module_fixture("orchestrator")
context_module = _module_fixture("context")


@_async_fixture
async def hook_cleanup(module_path: Path | None, coordinator: Any) -> AsyncIterator[Any]:
    """What the ``mount`` of a hook module returns: its cleanup, or None."""
    with _loaded(module_path) as module:
        cleanup = await module.mount(coordinator, {})
        yield cleanup
        await _clean(coordinator, cleanup)


async def _mounted(module_path: Path | None, coordinator: Any, kind: str) -> AsyncIterator[Any]:
    from amplifier_tui.kernel.mounting.mount import is_module_of
    from amplifier_tui.kernel.mounting.packages.finding import TYPE_TO_MOUNT_POINT

    with _loaded(module_path) as module:
        returned = await module.mount(coordinator, {})
        mounted = list(coordinator.get_mounted(TYPE_TO_MOUNT_POINT[kind]).values())
        if not mounted and is_module_of(kind, returned):
            mounted = [returned]
        if not mounted:
            await _clean(coordinator, returned)
            pytest.fail(f"{module.__name__}.mount(coordinator, {{}}) mounted no {kind}")
        yield mounted[0]
        await _clean(coordinator, None if returned is mounted[0] else returned)


@contextmanager
def _loaded(module_path: Path | None) -> Iterator[Any]:
    if module_path is None:
        pytest.skip("No module path detected")
    from amplifier_tui.kernel.mounting.packages.importing import imported_module
    from amplifier_tui.kernel.mounting.sources import ModuleLoadError

    try:
        with imported_module(module_path) as module:
            yield module
    except ModuleLoadError as error:
        if "'amplifier_core'" not in str(error):
            raise
        pytest.fail(f"{error} Or run: python -m amplifier_tui.compat -m pytest")


async def _clean(coordinator: Any, cleanup: Any) -> None:
    coordinator.register_cleanup(cleanup)
    await coordinator.cleanup()
