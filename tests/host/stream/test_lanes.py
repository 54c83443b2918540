from amplifier_tui.host.events import (
    LaneClosed,
    LaneOpened,
)
from amplifier_tui.host.stream.lanes import Lanes
from amplifier_tui.host.stream.usage import UsageMeter
from tests.host.stream.up import Up


async def test_lanes_open_and_close_once(up: Up) -> None:
    lanes = Lanes(up.sender, UsageMeter())
    data = {"agent": "researcher", "sub_session_id": "x-y_researcher", "parent_session_id": "s"}
    lanes.spawned("main", {"session_id": "s"})
    lanes.spawned("main", data)
    lanes.spawned("main", data)
    lanes.ended("main", {**data, "success": True, "result": "found it"})
    lanes.ended("main", data)
    (opened,), (closed,) = up.of(LaneOpened), up.of(LaneClosed)
    assert (opened.lane, opened.name, opened.parent) == ("x-y_researcher", "researcher", "main")
    assert (closed.status, closed.result) == ("success", "found it")


async def test_lanes_that_are_open_at_the_end_are_closed_with_it(up: Up) -> None:
    over: list[str] = []
    lanes = Lanes(up.sender, UsageMeter(), lambda lane, _: over.append(lane))
    lanes.open("a", "one")
    lanes.open("b", "two", parent="a")
    lanes.close_all("cancelled")
    assert over == ["b", "a"]
    assert [e.status for e in up.of(LaneClosed)] == ["cancelled", "cancelled"]
    assert up.of(LaneOpened)[1].parent == "a"
