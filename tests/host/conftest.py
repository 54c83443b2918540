from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amplifier_tui.host.door.local_client import LocalClient
from tests.host.driving import MODULES, Driver, Project
from tests.servers import LoopbackServer


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder)


@pytest.fixture
def drive(project: Project) -> Iterator[Callable[..., Driver]]:
    drivers: list[Driver] = []

    def make(client: LocalClient | None = None) -> Driver:
        driver = Driver(project.folder, client)
        drivers.append(driver)
        return driver

    yield make
    for driver in drivers:
        try:
            driver.client.close().result(5)
        except TimeoutError:
            continue


@pytest.fixture
def driver(drive: Callable[..., Driver]) -> Driver:
    return drive()


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    server = LoopbackServer().start()
    yield server
    server.stop()
