from amplifier_tui.host.events import (
    LaneClosed,
    LaneOpened,
    ModeChanged,
    QueueChanged,
    TodoChanged,
    TodoItem,
    Usage,
    UsageChanged,
)
from tests.ui.state.make import make, new_state, opened


def test_the_queue_is_what_the_host_says() -> None:
    state = new_state(make(QueueChanged, items=("a", "b")))
    assert state.queue.items == ("a", "b")
    version = state.queue.version
    state.apply([make(QueueChanged, items=("a", "b"))])
    assert state.queue.version == version


def test_a_sub_agents_plan_is_its_own() -> None:
    item = TodoItem(content="x", status="completed")
    state = new_state(
        make(TodoChanged, items=(item,)), make(TodoChanged, items=(item, item), agent="lane1")
    )
    assert state.todo.items == (item,)


def test_a_lane_has_its_name_also_when_it_is_closed() -> None:
    state = new_state(
        make(LaneOpened, lane="l1", name="researcher"), make(LaneOpened, lane="l2", name="")
    )
    state.apply([make(LaneClosed, lane="l1", status="success", result="found")])
    assert state.lanes.name_of("l1") == "researcher"
    assert state.lanes.name_of("l2") == "l2"
    assert state.lanes.name_of("unknown") == "unknown"


def test_events_may_carry_the_lanes_own_session_id() -> None:
    state = new_state(opened(), make(LaneOpened, lane="child", name="x"))
    state.apply([make(QueueChanged, items=("a",), session_id="child")])
    assert state.queue.items == ("a",)


def test_usage_is_the_hosts_total() -> None:
    state = new_state(make(UsageChanged, session=Usage(cost="0.42"), provider="p", model="m"))
    assert state.usage.session.cost == "0.42"
    assert state.facts.model == "m"


def test_a_sub_agents_model_is_not_the_sessions() -> None:
    state = new_state(opened(model="big"), make(UsageChanged, session=Usage(), model="small"))
    assert state.facts.model == "small"
    state.apply([make(UsageChanged, session=Usage(), model="tiny", agent="lane1")])
    assert state.facts.model == "small"


def test_mode_and_title_move_the_version_only_when_they_change() -> None:
    state = new_state(opened())
    version = state.facts.version
    state.apply([make(ModeChanged, mode="ask")])
    state.facts.set_title("")
    assert state.facts.version == version
    state.apply([make(ModeChanged, mode="auto")])
    state.facts.set_title("Retry test")
    assert state.facts.version == version + 2
