"""Why a module could not be loaded."""

import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, get_args

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.base.python import causes

FailureReason = Literal[
    "invalid_package_layout",
    "missing_source",
    "invalid_entry_point",
    "invalid_module_metadata",
    "validation_failed",
    "unknown",
]

MODULE_FAILURE_REASONS: Final = frozenset(get_args(FailureReason))
"""The words of `FailureReason`."""


class ModuleNotFoundError(Exception):
    """No attempt to find a module succeeded; not Python's error of that name."""


class ModuleLoadError(Exception):
    """A module was found, but can't be loaded."""


class ModuleValidationError(Exception):
    """A module does not fulfil its contract; ``reason`` is the first thing that is wrong.

    ``remedy`` is what to do about it, where that is known; the error's text has both. ``details``
    is all that is wrong, with file and line, without the module's name.
    """

    def __init__(
        self,
        message: str,
        *,
        reason_code: FailureReason = "validation_failed",
        reason: str = "",
        remedy: str = "",
        details: str = "",
    ) -> None:
        super().__init__(message)
        self.reason, self.remedy, self.details = reason, remedy, details or reason
        self.reason_code: FailureReason = reason_code


class MissingModuleError(ModuleNotFoundError, ValueError):
    """A module was found nowhere.

    ``reason`` says why, and ``remedy`` what can be done about it; the error's text has both.
    """

    reason_code: FailureReason = "missing_source"

    def __init__(self, reason: str, *, remedy: str = "") -> None:
        super().__init__(f"{reason} {remedy}".rstrip())
        self.reason = reason
        self.remedy = remedy


class SourceUnavailableError(MissingModuleError):
    """A module's own source can't be had, and nothing takes its place."""


class WrongAnswerError(TypeError):
    """A module's method returned what its contract does not allow.

    ``module`` is the name of the Python module its code is in, ``place`` file and line of it.
    """

    def __init__(self, message: str, *, module: str = "", place: str = "") -> None:
        super().__init__(message)
        self.module = module
        self.place = place


class BrokenModuleError(ModuleLoadError, ValueError):
    """A module was found, and does not load."""

    def __init__(self, message: str, *, reason_code: FailureReason = "unknown") -> None:
        super().__init__(message)
        self.reason_code: FailureReason = reason_code


def module_failure_reason(error: BaseException) -> FailureReason:
    """Return one word for why loading or mounting a module failed."""
    if isinstance(error, ModuleValidationError | MissingModuleError | BrokenModuleError):
        return error.reason_code
    if isinstance(error, ModuleNotFoundError | FileNotFoundError):
        return "missing_source"
    return "unknown"


def exception_text(error: BaseException) -> str:
    """Return an exception's text; its ``repr`` if the text can't be decoded."""
    try:
        return str(error)
    except UnicodeDecodeError:
        return repr(error)


def named_text(error: BaseException) -> str:
    """Return an exception's text after its class, without which "'x'" or "3" would say nothing.

    Those of the program itself are sentences.
    """
    name, text = type(error).__name__, _in_their_names(exception_text(error))
    if text and type(error).__module__.startswith("amplifier_tui."):
        return text
    return f"{name}: {text}" if text else name


_MISSED_NAME: Final = re.compile(r"cannot import name '(.+)' from '([\w.]+)' \(.+\)")
_PUBLISHED: Final = {
    "amplifier_tui.kernel": "amplifier_core",
    "amplifier_tui.foundation": "amplifier_foundation",
}
"""What authors of modules call what they import."""


def _in_their_names(text: str) -> str:
    """Return an exception's text; that of a name which can't be imported with one that can."""
    missed = _MISSED_NAME.fullmatch(text)
    if missed is None or missed[2] not in sys.modules:
        return text
    name, module = missed[1], missed[2]
    near = did_you_mean(name, dir(sys.modules[module]))
    return f"cannot import name '{name}' from '{_PUBLISHED.get(module, module)}'{near}"


def reason_text(error: BaseException) -> str:
    """Return why a module does not load or mount, without the module and where it was found."""
    if isinstance(error, ModuleValidationError | MissingModuleError) and error.reason:
        return error.reason
    cause = error.__cause__ if isinstance(error, BrokenModuleError) else None
    return named_text(cause or error)


_OWN: Final = str(Path(__file__).resolve().parents[2])


def place_of_error(error: BaseException) -> str:
    """Return file and line of the module's code that failed; empty when it can't be told."""
    *_, cause = causes(error)
    if isinstance(cause, SyntaxError) and cause.filename:
        return f"{cause.filename}:{cause.lineno}"
    return _theirs(_places(cause))


def _places(error: BaseException) -> list[tuple[str, int]]:
    return [(f.f_code.co_filename, line) for f, line in traceback.walk_tb(error.__traceback__)]


def place_of_caller() -> str:
    """Return file and line of the module's code that runs now, such as in an emit of its own.

    Empty where it can't be told.
    """
    frames = [(f.f_code.co_filename, line) for f, line in traceback.walk_stack(sys._getframe(1))]
    return _theirs(frames[::-1])


_PLACE: Final = re.compile(r'^\s*File "([^"\n]+)", line (\d+)', re.MULTILINE)


def place_in_traceback(text: str) -> str:
    """Return what `place_of_error` returns, of an error whose traceback was printed."""
    return _theirs([(file, int(line)) for file, line in _PLACE.findall(text)])


def _theirs(places: list[tuple[str, int]]) -> str:
    """Return the innermost place in a module's code, of some from the outermost on."""
    inner = [(file, line) for file, line in reversed(places) if _is_theirs(file)]
    # What a library of theirs raised, their own code gave it.
    own = [place for place in inner if not place[0].startswith(sysconfig.get_path("purelib"))]
    return next((f"{file}:{line}" for file, line in own or inner), "")


def capability_remedy(error: BaseException, asked: Mapping[str, bool]) -> str:
    """Return what to do where a mount failed on None, and was given None for a capability.

    Args:
        asked: Whether a capability that it asked for was offered, by name.
    """
    missed = [name for name, offered in asked.items() if not offered]
    if not missed or "NoneType" not in exception_text(error):
        return ""
    *_, cause = causes(error)
    lines = (_used_in(*place) for place in reversed(_places(cause)) if _is_theirs(place[0]))
    # What a constant names can't be told from the text: it is the last that was missed.
    used = {name or missed[-1] for names in lines for name in names}
    used |= {name for name in missed if name in exception_text(error)}
    meant = [name for name in missed if name in used]
    if not meant:
        return ""
    return (
        f'Check what get_capability("{meant[-1]}") gives for None before you use it: it is None '
        "where nothing in the session offers it"
    )


_ASKS: Final = re.compile(
    r"""(?:(\w+)[ \t]*(?::[^=\n]+)?:?=[ \t]*(?:\(\s*)?)?"""
    r"""(?:await[ \t]+)?[\w.]*\bget_capability\(\s*(?:["']([^"'\n]+)["'])?"""
)
"""Where a capability is asked for, with the name it is kept under, if any."""


def _used_in(file: str, line: int) -> set[str]:
    """Return the capabilities that a line of code speaks of; an empty name for one by a constant.

    One that it asks for itself, or whose name in its file is in the line.
    """
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    names = set(re.findall(r"\w+", text))
    kept = {each[2] or "" for each in _ASKS.finditer("".join(lines)) if each[1] in names}
    return kept | {each[2] or "" for each in _ASKS.finditer(text)}


def with_place(text: str, error: BaseException) -> str:
    """Return what is said of an error, with the place of the module's code that failed."""
    place = place_of_error(error)
    return f"{text} ({place})" if place else text


def is_own(file: str) -> bool:
    """Whether a file is of the program itself."""
    return file.startswith(_OWN)


def _is_theirs(file: str) -> bool:
    return os.path.isabs(file) and not file.startswith((_OWN, sysconfig.get_path("stdlib")))
