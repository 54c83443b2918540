"""Lets third-party modules `import amplifier_core` and `import amplifier_foundation`: ours.

After `install`, both names and all their submodules are the very modules of `amplifier_tui.kernel`
and `amplifier_tui.foundation`: one class per name in the whole process, whatever is imported first,
and whether or not the real packages are installed too.

`python -m amplifier_tui.compat -m pytest` and `python -m amplifier_tui.compat script.py` run a
module author's own tests and scripts that way.
Their loggers are ours by both names as well.
"""

import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from amplifier_tui.compat.moved import MOVED

__all__ = ["ALIASES", "AliasFinder", "install"]

logger = logging.getLogger(__name__)

ALIASES: Final = {
    "amplifier_core": "amplifier_tui.kernel",
    "amplifier_foundation": "amplifier_tui.foundation",
}
"""The packages third-party modules import, and the ones they get."""


def install() -> None:
    """Make the aliases work from now on; calling it again puts them first again.

    Modules of the real packages that were imported already are forgotten, with a warning: whoever
    imported them keeps classes that are not ours.
    """
    # Where it is first already it stays: another session's thread may be importing.
    if not isinstance(next(iter(sys.meta_path), None), AliasFinder):
        finders = [finder for finder in sys.meta_path if isinstance(finder, AliasFinder)]
        for finder in finders:
            sys.meta_path.remove(finder)
        sys.meta_path.insert(0, finders[0] if finders else AliasFinder())
    for alias, real in ALIASES.items():
        _join_loggers(alias, real)
    _forget_others()


def _join_loggers(alias: str, real: str) -> None:
    """Have the logger of an aliased name be ours: its handlers and its level then count."""
    loggers = logging.Logger.manager.loggerDict
    if not isinstance(loggers.get(alias), logging.Logger):
        loggers[alias] = logging.getLogger(real)


def _forget_others() -> None:
    others = [
        name
        # Another thread may be importing; only a copy holds still.
        for name, module in sys.modules.copy().items()
        if name.startswith(tuple(ALIASES))
        and (real := _real_name(name)) is not None
        and not isinstance(module, _Joined)
        and getattr(module, "__name__", real) != real
    ]
    for name in others:
        del sys.modules[name]
    if others:
        logger.warning(
            "Imported too early, replaced by ours: %s. Call amplifier_tui.compat.install() first.",
            ", ".join(sorted(others)[:5]),
        )


def _real_name(name: str) -> str | None:
    if name in MOVED:
        return MOVED[name]
    top, _, rest = name.partition(".")
    real = ALIASES.get(top)
    return real if real is None or not rest else f"{real}.{rest}"


class AliasFinder(MetaPathFinder):
    """Finds `amplifier_core.x` as `amplifier_tui.kernel.x`, and the distributions of both."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of an aliased module; None for every other name."""
        real = _real_name(fullname)
        if real is None:
            return None
        names = real.split()
        found = importlib.util.find_spec(names[0])
        if found is None:
            return None
        _join_loggers(fullname, names[0])
        spec = ModuleSpec(fullname, _AliasLoader(names), origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations
        if any(name.startswith(f"{fullname}.") for name in MOVED):
            # Python looks for submodules of packages only.
            spec.submodule_search_locations = spec.submodule_search_locations or []
        return spec

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterator[Distribution]:
        """Yield the distribution that is asked for by name; lists of all have none of these."""
        name = str(getattr(context, "name", None) or "").lower().replace("-", "_")
        if name in ALIASES:
            yield _AliasDistribution(name)


class _AliasLoader(Loader):
    def __init__(self, real: Sequence[str]) -> None:
        self._real = real
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # The real module itself, so that no thread ever sees a stand-in.
        module, *others = map(importlib.import_module, self._real)
        if others:
            return _Joined(spec.name, (module, *others))
        self._spec = module.__spec__
        return module

    def get_code(self, fullname: str) -> CodeType | None:
        # What `python -m` asks for.
        found = importlib.util.find_spec(self._real[0])
        get_code = getattr(found and found.loader, "get_code", None)
        code: CodeType | None = get_code(self._real[0]) if get_code is not None else None
        return code

    def exec_module(self, module: ModuleType) -> None:
        # It ran already; only its spec was replaced by the alias's.
        if self._spec is not None:
            module.__spec__ = self._spec


class _Joined(ModuleType):
    """A published module whose names are in several of ours."""

    def __init__(self, name: str, parts: Sequence[ModuleType]) -> None:
        super().__init__(name, parts[0].__doc__)
        self._parts = parts

    def __getattr__(self, name: str) -> object:
        for part in self._parts:
            if hasattr(part, name):
                return getattr(part, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class _AliasDistribution(Distribution):
    def __init__(self, package: str) -> None:
        self._package = package

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        name = self._package.replace("_", "-")
        return f"Metadata-Version: 2.1\nName: {name}\nVersion: {_version(self._package)}\n"

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        return Path(__file__).parents[2] / path


def _version(package: str) -> str:
    from amplifier_tui import __version__

    module = importlib.import_module(ALIASES[package])
    return str(getattr(module, "__version__", __version__))
