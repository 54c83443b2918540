# A module does not give the engine back while it is mounted.

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.engine import Engine
from amplifier_tui.host.door.watch import EngineWatch
from amplifier_tui.host.events import EngineBlocked, Failed, ModuleChanging, ModuleLoading
from tests.host.dice import KEY, Dice
from tests.host.driving import Driver, Project

BLOCKS = """
import time
from pathlib import Path


async def mount(coordinator, config=None):
    while not Path({until!r}).exists():
        time.sleep(0.01)
"""


@pytest.fixture
def until(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "until"
    yield path
    # A test that fails leaves no engine behind that can't be closed.
    path.touch()


def opening(project: Project, driver: Driver, until: Path) -> None:
    """Open a session that a hook's mount blocks."""
    bundle = project.bundle(hooks=(("hooks-rude", {"blocks_until": str(until)}),))
    driver.client.open(OpenRequest(cwd=project.folder, bundle=bundle))
    driver.wait(ModuleLoading, lambda event: event.module_id == "hooks-rude")


def test_an_opening_that_a_mount_blocks_says_which_module_and_that_it_is_over(
    project: Project, driver: Driver, until: Path
) -> None:
    opening(project, driver, until)
    told = driver.wait(EngineBlocked)
    assert (told.module, told.over) == ("hooks-rude", False)
    assert told.session_id == driver.of(ModuleLoading)[0].session_id
    until.touch()
    assert driver.wait(EngineBlocked).over
    driver.wait_until(lambda: driver.client._turns is not None, "it did not open")
    assert driver.turn("hello").status == "success"
    assert len(driver.of(EngineBlocked)) == 2


def test_an_opening_that_was_to_stop_while_a_mount_blocks_it_stops_after_that(
    project: Project, driver: Driver, until: Path
) -> None:
    opening(project, driver, until)
    driver.wait(EngineBlocked)
    driver.client.interrupt()
    until.touch()
    assert driver.wait(Failed).message == "Opening the session was stopped"
    driver.wait_until(lambda: driver.of(EngineBlocked)[-1].over, "it counts as blocked")


def test_a_mount_by_hand_that_blocks_the_engine_is_told_of_before_anybody_stops_it(
    project: Project, driver: Driver, until: Path, tmp_path: Path
) -> None:
    dice = Dice(tmp_path)
    dice.file.write_text(BLOCKS.format(until=str(until)))
    driver.open(project.bundle())
    driver.client.mount(str(dice.folder))
    driver.wait(ModuleChanging)
    assert driver.wait(EngineBlocked).module == KEY
    until.touch()
    assert driver.wait(EngineBlocked).over


def test_the_programs_own_code_that_holds_the_engine_is_no_module_that_blocks_it() -> None:
    told: list[str] = []
    free, looked = threading.Event(), threading.Event()
    looks = 0

    class Watched(Engine):
        def where(self) -> list[Any]:
            nonlocal looks
            looks += 1
            if looks > 6:
                looked.set()
            return super().where()

    engine = Watched(lambda error, what: None)
    watch = EngineWatch(engine, lambda module="", *, over=False: told.append(module))

    async def own() -> None:
        free.wait(20)

    work: Future[None] = engine.post(own, "import much")
    watch.follow(work)
    assert looked.wait(10)
    free.set()
    work.result(5)
    engine.stop(5)
    assert told == []
