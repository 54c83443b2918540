"""What a rule denies to be read is not read by the tool that searches either."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import ToolEnded
from tests.host.driving import Driver, Project
from tests.trust.test_gate import LANES, finish, in_lane


@pytest.mark.parametrize("lane", LANES)
def test_a_search_goes_unasked_and_leaves_out_what_a_rule_denies(
    project: Project, driver: Driver, lane: str
) -> None:
    for name in ("secrets/plan.txt", "open.txt"):
        file: Path = project.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"needle of {name}\n")
    search = {"grep": {"pattern": "needle", "output_mode": "content"}}
    name = project.bundle(script=in_lane(lane, search), tools=("tool-search", "tool-test"))
    project.allow(["delegate"], deny=["read(secrets/**)"])
    driver.open(name)
    driver.client.submit("go")
    assert finish(driver) == []
    (ended,) = [each for each in driver.of(ToolEnded) if each.tool == "grep"]
    assert "open.txt:1:needle of open.txt" in ended.output and "plan.txt" not in ended.output
    assert "1 file left out by a rule" in ended.output
