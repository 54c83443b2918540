"""What the language leaves open: late imports, what may be async, errors' causes, and exits."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

UNAWAITED: Final = "was never awaited"
"""What Python says of a coroutine that nobody runs."""


async def awaited(outcome: Any) -> Any:
    """Return what a function returned; if that can be awaited, what comes of it."""
    return await outcome if inspect.isawaitable(outcome) else outcome


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, then what it was raised from, and so on, each of them once."""
    seen: set[int] = set()
    # `raise error from error` makes a circle.
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__


@contextmanager
def without_exit() -> Iterator[None]:
    """Turn the ``SystemExit`` of a module into an ordinary error, raised at the same place.

    asyncio lets it through where a task ends with it, out of the event loop.
    """
    try:
        yield
    except SystemExit as error:
        raise as_error(error) from None


def as_error(exit: SystemExit) -> RuntimeError:
    """Return an ordinary error in place of a module's ``SystemExit``, raised where it was."""
    ended = RuntimeError(f"the module tried to end the program (exit {exit.code})")
    return ended.with_traceback(exit.__traceback__)


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return what a function takes. Names in its annotations that don't exist don't matter.

    Python evaluates annotations for a signature from 3.14 on, and a module may name types in them
    that only a type checker imports.

    Raises:
        TypeError: It is no function.
        ValueError: It tells no signature, as some built-in ones.
    """
    try:
        if sys.version_info >= (3, 14):
            from annotationlib import Format

            return inspect.signature(function, annotation_format=Format.FORWARDREF)
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise
    except Exception as error:  # annotations, and `__signature__`, are code of others
        raise ValueError(f"The signature can't be read: {error}") from error


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package.

    Args:
        package: The package's `__name__`.
        homes: Names, separated by blanks, by the submodule that defines them; a leading dot goes
            up to the package around this one.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def getattribute(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{home_of[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    def directory() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return getattribute, directory, list(home_of)
