"""Checks of a module and what they found."""

import inspect
import sys
from dataclasses import field
from typing import Any, Final, Literal, get_args

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.base.python import signature_of
from amplifier_tui.kernel.models.hook_result import HookAction, InjectionRole
from amplifier_tui.kernel.mounting.callbacks import (
    is_async,
    missing_keywords,
    needed_beyond,
    positional_parameters,
)
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.packages.importing import (
    import_module_from_path as import_module_from_path,
)

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class ValidationCheck:
    """One thing looked at.

    Attributes:
        name: What was checked, e.g. "mount_exists".
        severity: What a failure means; only an error fails the module.
        remedy: What to do about a failure.
        where: File and line of the code it is about, as far as they are known.
    """

    name: str
    passed: bool
    message: str
    severity: Severity = "error"
    remedy: str = ""
    where: str = ""

    @property
    def said(self) -> str:
        """What was found, where, and what to do about it."""
        where = f" ({self.where})" if self.where else ""
        remedy = f". {self.remedy}" if self.remedy and not self.passed else ""
        return f"{self.message}{where}{remedy}"

    def __str__(self) -> str:
        return f"{self.name}: {self.said}"


def success(name: str, message: str, severity: Severity = "info") -> ValidationCheck:
    """Return a check that passed; "warning" for what is right and still worth a look."""
    return ValidationCheck(name, True, message, severity)


def failure(
    name: str, message: str, remedy: str = "", severity: Severity = "error", where: str = ""
) -> ValidationCheck:
    """Return a check that failed; "warning" for what should be better and works."""
    return ValidationCheck(name, False, message, severity, remedy, where)


class Findings:
    """What all results of a validation offer: the checks, and what they come to."""

    checks: list[ValidationCheck]

    def add(self, check: ValidationCheck) -> None:
        """Add a check."""
        self.checks.append(check)

    def succeed(self, name: str, message: str, severity: Severity = "info") -> None:
        """Add a check that passed."""
        self.add(success(name, message, severity))

    def fail(
        self,
        name: str,
        message: str,
        remedy: str = "",
        severity: Severity = "error",
        where: str = "",
    ) -> None:
        """Add a check that failed."""
        self.add(failure(name, message, remedy, severity, where))

    @property
    def passed(self) -> bool:
        """Whether no error was found; warnings do not matter."""
        return not self.errors

    @property
    def errors(self) -> list[ValidationCheck]:
        """The failed checks that are errors."""
        return [c for c in self.checks if not c.passed and c.severity == "error"]

    @property
    def warnings(self) -> list[ValidationCheck]:
        """The failed checks that are warnings."""
        return [c for c in self.checks if not c.passed and c.severity == "warning"]

    def summary(self) -> str:
        """Return one line, e.g. "PASSED: 4/4 checks passed (0 errors, 1 warnings)"."""
        verdict = "PASSED" if self.passed else "FAILED"
        good = sum(check.passed for check in self.checks)
        return (
            f"{verdict}: {good}/{len(self.checks)} checks passed "
            f"({len(self.errors)} errors, {len(self.warnings)} warnings)"
        )


@dataclass
class ValidationResult(Findings):
    """All that was looked at in one module, in order."""

    module_type: str
    module_path: str
    checks: list[ValidationCheck] = field(default_factory=list)


def check_text(
    name: str, member: str, value: Any, severity: Severity = "error", where: str = ""
) -> ValidationCheck:
    """Check that a member, e.g. "Tool.name", is a non-empty string."""
    if isinstance(value, str) and value.strip():
        return success(name, f"{member} is {value!r}" if len(value) < 60 else f"{member} is there")
    got = "an empty one" if isinstance(value, str) else type(value).__name__
    return failure(
        name,
        f"{member} should be a non-empty string, got {got}",
        f"Make {member} a property or attribute that is a non-empty string",
        severity,
        where,
    )


def check_method(
    name: str,
    method: str,
    function: Any,
    arguments: tuple[str, ...],
    options: tuple[str, ...] = (),
) -> ValidationCheck:
    """Check that a method, e.g. "Tool.execute()", is async and takes its arguments.

    Args:
        options: Names of those that some callers give it, and others don't.
    """
    short = method.removesuffix("()").rpartition(".")[2]
    parameters = ("self", *arguments, *(f"{each}=None" for each in options))
    remedy = f"Define it as: async def {short}({', '.join(parameters)})"
    where = place_of(function)
    if not is_async(function):
        return failure(name, f"{method} should be async", remedy, where=where)
    found = positional_parameters(function)
    if found < len(arguments):
        wanted = ", ".join(arguments)
        problem = f"{method} should accept ({wanted}), found {found} params"
        return failure(name, problem, remedy, where=where)
    if more := needed_beyond(function, len(arguments)):
        problem = f"{method} is called with ({', '.join(arguments)}), and needs {', '.join(more)}"
        return failure(name, problem, remedy, where=where)
    if missing := missing_keywords(function, options):
        problem = f"{method} does not take {', '.join(missing)}, which loops give it"
        return failure(name, problem, remedy, "warning", where)
    return success(name, f"{method} has correct async signature")


_MOUNT: Final = "Define it as: async def mount(coordinator, config)"


def check_shape(module: Any, result: ValidationResult) -> bool:
    """Add the checks ``mount_exists``, ``mount_signature`` and ``on_session_ready_async``.

    Returns whether ``mount`` can be called as the kernel calls it.
    """
    mount = getattr(module, "mount", None)
    if not callable(mount):
        where = getattr(module, "__file__", "") or ""
        result.fail("mount_exists", *_no_mount(module), where=where)
        return False
    result.succeed("mount_exists", "mount() function found")
    problem = _mount_problem(mount)
    if problem is None:
        result.succeed("mount_signature", "mount() is async with correct signature")
    else:
        result.fail("mount_signature", problem, _MOUNT, where=place_of(mount))
    not_ready = check_on_session_ready(module)
    if not_ready is not None:
        result.add(not_ready)
    return problem is None


def _no_mount(module: Any) -> tuple[str, str]:
    """Return why a module has no ``mount``, and what to do about it."""
    entry_point = getattr(module, "entry_point", "") or ""
    name, _, function = entry_point.partition(":")
    if function in ("", "mount"):
        return "No mount() function found in module", _MOUNT
    near = did_you_mean(function, ("mount", *vars(sys.modules[name])))
    return (
        f"The entry point '{entry_point}' names no function of the module{near}",
        f"Write {name}:mount into pyproject.toml, or what it is called, and install it again",
    )


def _mount_problem(mount: Any) -> str | None:
    if not is_async(mount):
        return "mount() should be async (async def mount(...))"
    found = positional_parameters(mount)
    if found < 2:
        return f"mount() should have at least 2 parameters (coordinator, config), found {found}"
    if more := needed_beyond(mount, 2):
        return f"mount() is called with (coordinator, config), and needs {', '.join(more)}"
    return None


def check_on_session_ready(module: Any) -> ValidationCheck | None:
    """Check a module's ``on_session_ready``; None if it has none or a good one."""
    function = getattr(module, "on_session_ready", None)
    if function is None:
        return None
    remedy = "Define it as: async def on_session_ready(coordinator)"
    if not inspect.iscoroutinefunction(function):
        return failure(
            "on_session_ready_async",
            "on_session_ready() must be async: found sync function",
            remedy,
            where=place_of(function),
        )
    if not _requires_an_argument(function):
        return failure(
            "on_session_ready_async",
            "on_session_ready() must accept a coordinator argument",
            remedy,
            where=place_of(function),
        )
    return None


def _requires_an_argument(function: Any) -> bool:
    try:
        parameters = signature_of(function).parameters.values()
    except (TypeError, ValueError):
        return True  # the call will tell
    return any(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in parameters
    )


VALID_HOOK_ACTIONS: Final = frozenset(get_args(HookAction))
VALID_CONTEXT_INJECTION_ROLES: Final = frozenset(get_args(InjectionRole))
VALID_APPROVAL_DEFAULTS: Final = frozenset({"allow", "deny"})
VALID_USER_MESSAGE_LEVELS: Final = frozenset({"info", "warning", "error"})

_WORDS: Final = {
    "action": VALID_HOOK_ACTIONS,
    "context_injection_role": VALID_CONTEXT_INJECTION_ROLES,
    "user_message_level": VALID_USER_MESSAGE_LEVELS,
    "approval_default": VALID_APPROVAL_DEFAULTS,
}


def validate_tool_result(data: dict[str, Any]) -> list[str]:
    """Return what is wrong with the fields of a tool result."""
    if "success" not in data:
        return ["Missing required field: 'success'"]
    if not isinstance(data["success"], bool):
        return [f"Field 'success' must be bool, got {type(data['success']).__name__}"]
    return []


def validate_hook_result(data: dict[str, Any]) -> list[str]:
    """Return what is wrong with the fields of a hook result; missing ones have defaults."""
    return [
        f"Invalid {field} {data[field]!r}: must be one of {sorted(words)}"
        for field, words in _WORDS.items()
        if field in data and not _is_one_of(data[field], words)
    ]


def _is_one_of(value: Any, words: frozenset[str]) -> bool:
    return isinstance(value, str) and value in words
