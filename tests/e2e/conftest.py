"""Every test of this folder drives the real program; this gives it a machine to live on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.machine import Machine

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    inside = f"{HERE}{os.sep}"
    for item in items:  # All of the suite: the parents of each path took a third of a second.
        if str(item.path).startswith(inside):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(180))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    machine.close()
