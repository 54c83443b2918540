"""What to do where a module fails on None: which capability it was, if it was one."""

from itertools import count
from pathlib import Path
from textwrap import indent

import pytest

from amplifier_tui.kernel.validation.module_check import check_module

MODULE = '''\
"""A module."""

__amplifier_module_type__ = "hook"
SHOWS = "ui.display"


async def mount(coordinator, config=None):
{body}


def use(shown):
    shown.hello()
'''

_NUMBERS = count()


async def remedy(folder: Path, body: str) -> str:
    # A package of one name is imported from one folder only.
    package = folder / "hooks-needy" / f"amplifier_module_hooks_needy_{next(_NUMBERS)}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(MODULE.format(body=indent(body, "    ")))
    (error,) = (await check_module(str(package.parent))).result.errors
    assert "NoneType" in error.message
    return str(error.remedy)


@pytest.mark.parametrize(
    "body",
    [
        'display = coordinator.get_capability("ui.display")\ndisplay.hello()',
        'coordinator.get_capability("ui.display").hello()',
        "coordinator.get_capability(SHOWS).hello()",
        'display: object = coordinator.get_capability(\n    "ui.display"\n)\ndisplay.hello()',
        'display = coordinator.get_capability("ui.display")\nuse(display)',
        'display = coordinator.get_capability("ui.display")\n'
        'coordinator.get_capability("other")\ndisplay.hello()',
    ],
)
async def test_the_capability_that_the_line_uses_is_named(tmp_path: Path, body: str) -> None:
    assert 'get_capability("ui.display")' in await remedy(tmp_path, body)


@pytest.mark.parametrize("given", ['"ui.display"', "SHOWS"])
async def test_one_that_was_handled_is_not_blamed_for_a_missing_setting(
    tmp_path: Path, given: str
) -> None:
    body = (
        f"display = coordinator.get_capability({given})\n"
        "if display is not None:\n    display.hello()\n"
        'most = (config or {}).get("limits")["most"]'
    )
    assert "--config" in await remedy(tmp_path, body)
