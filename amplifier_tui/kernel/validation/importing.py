"""Getting hold of the module that is to be checked."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from amplifier_tui.kernel._packages import (
    add_path,
    import_package,
    remove_paths,
    require_package_dir,
)

__all__ = ["imported_module"]


@contextmanager
def imported_module(module_path: str | Path, entry_point: str | None = None) -> Iterator[Any]:
    """Import a module as the kernel will, under its own name; inside, it finds its own files.

    Args:
        module_path: Its package directory, the folder that holds it, or the package's name.
        entry_point: ``"package.module:function"`` to take ``mount`` from instead of the package.

    Yields:
        The module; with an entry point, an object that has its ``mount`` and
        ``on_session_ready``.

    Raises:
        ModuleValidationError: There is no package there.
        ModuleLoadError: It can't be imported.
        ImportError: A package of that name is loaded from elsewhere.
    """
    added: list[Path] = []
    path = Path(module_path)
    try:
        if path.exists():
            package_dir = require_package_dir(path.name, path.resolve())
            add_path(package_dir.parent, added)
            package: Any = import_package(path.name, package_dir)
        else:
            package = importlib.import_module(str(module_path))
        yield _entry(entry_point) if entry_point else package
    finally:
        remove_paths(added)


def _entry(entry_point: str) -> Any:
    module_name, _, function = entry_point.partition(":")
    module: ModuleType = importlib.import_module(module_name)
    return SimpleNamespace(
        mount=getattr(module, function or "mount", None),
        on_session_ready=getattr(module, "on_session_ready", None),
    )
