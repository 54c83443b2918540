# A module hangs while it is changed, and the user stops that.

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.host.events import (
    ModuleChanging,
    ModuleFailed,
    ModuleLoading,
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    QueueChanged,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from tests.host.dice import KEY, Dice
from tests.host.driving import TOOLS, Driver, Project, calling

HANGS = """
import asyncio


async def mount(coordinator, config=None):
    await asyncio.sleep(3600)
"""


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("amplifier_module_tool_dice", None)


@pytest.fixture
def dice(tmp_path: Path) -> Dice:
    return Dice(tmp_path)


def bundle(project: Project, *calls: dict[str, object]) -> str:
    name = project.bundle(
        script=calling(*(calls or ({"roll": {}},))), hooks=(("hooks-status-context", {}),)
    )
    project.allow((*TOOLS, "roll"))
    return name


def rolled(driver: Driver) -> str:
    driver.client.submit("Roll")
    face = driver.wait(ToolEnded, lambda event: event.tool == "roll").output
    driver.wait(TurnEnded)
    return face


def said(driver: Driver) -> str:
    return driver.wait(Notice, lambda notice: notice.source == "modules").text


def test_a_mount_that_hangs_is_told_of_and_stopped_and_what_waited_runs(
    project: Project, driver: Driver, dice: Dice
) -> None:
    dice.file.write_text(HANGS)
    driver.open(bundle(project, {"echo": {"text": "hi"}}))
    driver.client.mount(str(dice.folder))
    told = driver.wait(ModuleChanging)
    assert (told.module_id, told.kind, told.change) == (KEY, "tool", "mounted")
    driver.wait(ModuleLoading, lambda event: event.module_id == KEY)
    driver.client.submit("Hello", prompt_id="p1")
    driver.wait(QueueChanged)
    driver.client.send_queued("p1")
    driver.wait(Notice, lambda notice: notice.text.startswith("Prompts wait until the modules"))
    driver.client.unmount(KEY)
    assert said(driver) == f"{KEY} is taken out once that has been mounted, or you stop that"
    assert not driver.of(TurnStarted)
    driver.client.stop_change()
    failed = driver.wait(ModuleFailed)
    line = len(dice.file.read_text().splitlines())
    assert failed.error == f"You stopped its mounting ({dice.file}:{line})"
    assert said(driver) == f"You stopped the change: {KEY} is not mounted"
    assert driver.wait(ModuleChanging).change == ""
    assert "is taken out" in said(driver)
    assert driver.wait(TurnEnded).status == "success"


def test_a_reload_or_an_unmount_that_hangs_is_stopped_too(
    project: Project, driver: Driver, dice: Dice
) -> None:
    source = dice.file.read_text()
    driver.open(bundle(project))
    driver.client.mount(str(dice.folder))
    driver.wait(ModuleMounted, lambda event: event.module_id == KEY)
    said(driver)
    dice.file.write_text(HANGS)
    driver.client.reload(KEY)
    driver.wait(ModuleLoading)
    driver.client.interrupt()
    assert driver.wait(ModuleFailed).kept
    assert said(driver) == f"You stopped the change: {KEY} is mounted"
    assert rolled(driver) == "one"

    kept = source.index("    return coordinator.hooks")
    flag = dice.folder / "hangs"
    cleanup = f"Path({str(flag)!r}).exists() and asyncio.sleep(3600)"
    lasting = f"{source[:kept]}    return lambda: {cleanup}\n"
    dice.file.write_text(f"import asyncio\nfrom pathlib import Path\n{lasting}")
    driver.client.reload(KEY)
    driver.wait(ModuleMounted, lambda event: event.module_id == KEY)
    said(driver)
    flag.touch()
    driver.client.unmount(KEY)
    assert driver.wait(ModuleChanging, lambda event: bool(event.change)).change == "taken out"
    driver.client.stop_change()
    assert driver.wait(ModuleUnmounted).module_id == KEY
    driver.turn("Roll")
    assert "There is no tool named 'roll'" in driver.of(ToolEnded)[-1].output
