"""A coroutine that a module makes and never awaits: what it should do is not done."""

from pathlib import Path

import pytest

from amplifier_tui.kernel.validation.module_check import check_module
from tests.kernel.validation.packages import write

HOOK = """
import warnings
from amplifier_tui.kernel.models import HookResult
__amplifier_module_type__ = "hook"
async def note(data): ...
async def handler(event, data):
    {line}
    return HookResult()
async def mount(coordinator, config=None):
    return coordinator.hooks.register("tool:pre", handler, name="mine")
"""


@pytest.mark.parametrize("line", ["note(data)", "data['kept'] = note(data)"])
async def test_a_coroutine_that_a_handler_does_not_await_is_named_with_its_line(
    tmp_path: Path, line: str
) -> None:
    package = write(tmp_path, HOOK.format(line=line))
    checked = await check_module(str(package))
    (found,) = [each for each in checked.result.checks if each.name == "unawaited"]
    assert found.message == "coroutine 'note' was never awaited: nothing of it is run"
    assert (found.passed, found.severity) == (False, "warning")
    assert found.where == f"{package / '__init__.py'}:7" and "await" in found.remedy


async def test_one_that_is_awaited_is_none_of_them_and_other_warnings_are_said_as_ever(
    tmp_path: Path,
) -> None:
    line = 'await note(data); warnings.warn("careful", RuntimeWarning)'
    package = write(tmp_path, HOOK.format(line=line))
    with pytest.warns(RuntimeWarning, match="careful"):
        checked = await check_module(str(package))
    assert "unawaited" not in [each.name for each in checked.result.checks]
