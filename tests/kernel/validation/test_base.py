from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.kernel.mounting.contents import tool_name_problem
from amplifier_tui.kernel.validation import (
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
)
from amplifier_tui.kernel.validation.base import check_shape
from tests.kernel.validation.packages import validated


def test_only_failed_errors_fail_a_module() -> None:
    result = ValidationResult("tool", "/m")
    result.add(ValidationCheck("a", True, "fine", "info"))
    result.add(ValidationCheck("b", False, "hm", "warning"))
    assert result.passed
    assert result.summary() == "PASSED: 1/2 checks passed (0 errors, 1 warnings)"
    result.add(ValidationCheck("c", False, "bad"))
    assert not result.passed
    assert [check.name for check in result.errors] == ["c"]
    assert [check.name for check in result.warnings] == ["b"]
    assert result.summary() == "FAILED: 1/3 checks passed (1 errors, 1 warnings)"
    assert (result.module_type, result.module_path) == ("tool", "/m")


async def good(coordinator: Any) -> None: ...
async def without_argument() -> None: ...
async def optional(coordinator: Any = None) -> None: ...
def sync(coordinator: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "passes"),
    [(None, True), (good, True), (without_argument, False), (optional, False), (sync, False)],
)
def test_on_session_ready_is_async_and_takes_the_coordinator(function: Any, passes: bool) -> None:
    check = check_on_session_ready(SimpleNamespace(on_session_ready=function))
    assert (check is None) is passes
    if check is not None:
        assert (check.name, check.passed, check.severity) == (
            "on_session_ready_async",
            False,
            "error",
        )
        assert "on_session_ready() must" in check.message


def test_a_module_without_on_session_ready_is_fine() -> None:
    assert check_on_session_ready(SimpleNamespace()) is None


async def mount(coordinator: Any, config: Any) -> None: ...
async def any_mount(*arguments: Any) -> None: ...
async def short_mount(coordinator: Any) -> None: ...
def sync_mount(coordinator: Any, config: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "failed"),
    [
        (mount, []),
        (any_mount, []),
        (None, ["mount_exists"]),
        (short_mount, ["mount_signature"]),
        (sync_mount, ["mount_signature"]),
    ],
)
def test_every_module_has_an_async_mount_of_two_arguments(function: Any, failed: list[str]) -> None:
    result = ValidationResult("tool", "/m")
    assert check_shape(SimpleNamespace(mount=function), result) is (not failed)
    assert [check.name for check in result.errors] == failed


def test_a_bad_on_session_ready_fails_the_shape() -> None:
    result = ValidationResult("tool", "/m")
    check_shape(SimpleNamespace(mount=mount, on_session_ready=sync), result)
    assert [check.name for check in result.errors] == ["on_session_ready_async"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x" * 64, ""),
        ("x" * 65, ": it has 65 characters, and they take 64"),
        ("x y", ": they take letters, digits, _ and -"),
        ("", ": they take letters, digits, _ and -"),
        ("x y" * 30, "_ and -; it has 90 characters, and they take 64"),
    ],
)
def test_a_tool_name_that_models_refuse_is_told_with_why(name: str, said: str) -> None:
    assert tool_name_problem(name).endswith(said) and bool(tool_name_problem(name)) == bool(said)


TWO = """
class Tool:
    name, description, input_schema = "t", "does", {{"type": "object", "properties": {{}}}}

    async def execute(self, input):
        return {{"success": True}}


async def mount(coordinator, config):
    first, second = Tool(), Tool()
    {lines}
"""


@pytest.mark.parametrize(
    ("mounts", "said"),
    [
        (("first", "second"), "two tools are called 't': a session keeps the one that is mounted"),
        (
            ("first, name='a'", "second, name='b'"),
            "two tools are called 't': loops of others tell models that name",
        ),
        (("first", "first"), ""),
        (("first", "first, name='other'"), ""),
        (("first",), ""),
    ],
)
async def test_two_tools_of_one_name_are_told_of(
    mounts: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    lines = "; ".join(f"await coordinator.mount('tools', {each})" for each in mounts)
    result = await validated("tool", tmp_path, TWO.format(lines=lines))
    assert result.passed and [each.message[: len(said)] for each in result.warnings] == (
        [said] if said else []
    )
    for each in result.warnings:
        assert each.where.endswith("__init__.py:2") and each.remedy.startswith(
            "Give one of the two"
        )
