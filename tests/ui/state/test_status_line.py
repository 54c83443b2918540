import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amplifier_tui.host.events import (
    ApprovalRequested,
    BranchChanged,
    BudgetChanged,
    HostEvent,
    Notice,
    QueueChanged,
    SavingChanged,
    TitleChanged,
    Usage,
    UsageChanged,
)
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.state.status_line import (
    ACTIVITY_WIDTH,
    Placed,
    StatusSegment,
    notice_segment,
    place,
    status_segments,
)
from tests.ui.state.make import NOW, make, new_state, opened, tool, turn
from tests.ui.state.streams import STREAM

HELP = StatusSegment("help", (("F1 keys", "muted"),))

ASK = make(ApprovalRequested, request_id="r", asker="h", action="x")
FULL: list[HostEvent] = [
    opened(cwd="/home/u/src/app", branch="main", model="claude-sonnet-4-5"),
    make(UsageChanged, session=Usage(cost="0.42")),
    make(BudgetChanged, total=62_000, window=200_000, trigger=170_000, kind="usage"),
]
BUSY: list[HostEvent] = [*FULL, turn(at=NOW - 12), tool("c", at=NOW - 12), ASK]
NOTICE = make(Notice, level="warning", source="hook:hooks-approval", text="bash stops here " * 3)


def row(state: SessionState, width: int, now: float = NOW) -> list[Placed]:
    segments = status_segments(state, now, "◐", "/home/u")
    return place(segments, notice_segment(state, now), HELP, width)


def text(state: SessionState, width: int, now: float = NOW) -> str:
    line = ""
    for placed in row(state, width, now):
        line += " " * (placed.at - cell_len(line))
        line += "".join(part for part, _ in placed.segment.pieces)
    return line.rstrip()


def names(state: SessionState, width: int) -> list[str]:
    return [placed.segment.name for placed in row(state, width)]


def test_a_quiet_session_reads_from_mode_to_branch() -> None:
    line = text(new_state(*FULL), 80)
    words = "▸ ask ctx 31% sonnet 4.5 $0.42 coding ~/src/app main F1 keys"
    assert " ".join(line.split()) == words
    assert line.endswith("F1 keys")
    assert cell_len(line) == 80


def test_the_branch_is_the_one_checked_out_by_now() -> None:
    line = text(new_state(*FULL, make(BranchChanged, branch="fix/[b]")), 80)
    assert line.split()[-3:] == ["fix/[b]", "F1", "keys"]


@pytest.mark.parametrize(
    ("width", "gone"),
    [
        (64, "cwd"),
        (54, "branch"),
        (48, "bundle"),
        (40, "cost"),
        (32, "model"),
    ],
)
def test_segments_leave_in_their_order(width: int, gone: str) -> None:
    order = ["cwd", "branch", "bundle", "cost", "model"]
    left = names(new_state(*FULL), width)
    dropped = order[: order.index(gone) + 1]
    assert [name for name in order if name not in left] == dropped


def test_the_title_stays_longer_than_the_folder_and_goes_before_the_bundle() -> None:
    state = new_state(*FULL, make(TitleChanged, title="Retry [red]test"))
    assert names(state, 160)[-2:] == ["title", "help"]
    assert text(state, 160).split("main")[1].strip().startswith("Retry [red]test")
    left = names(state, 72)
    assert "title" in left and "cwd" not in left
    assert "bundle" in names(state, 56) and "title" not in names(state, 56)


def test_a_long_title_is_read_whole_where_there_is_room() -> None:
    title = "Say in a sentence how prices of parcels come about"
    state = new_state(*FULL, make(TitleChanged, title=title))
    assert title in text(state, 200)
    assert f"~/src/app  main  {title[:39]}…" in text(state, 110)


@pytest.mark.parametrize("title", ["Retry the test " * 9, "x" * 200, "漢字" * 60])
def test_a_long_title_is_cut_before_the_others_leave(title: str) -> None:
    state = new_state(*FULL, make(TitleChanged, title=title))
    assert names(state, 82)[-4:] == ["cwd", "branch", "title", "help"]
    assert names(state, 80)[-3:] == ["branch", "title", "help"]
    for width in range(70, 120):
        assert "…  " in text(state, width) and cell_len(text(state, width)) == width, width


def test_what_waits_and_what_runs_is_always_there() -> None:
    state = new_state(*FULL, turn(at=NOW - 5), tool("c", at=NOW - 5), ASK)
    for width in range(24, 200):
        assert {"activity", "approvals"} <= set(names(state, width)), width


def test_a_notice_never_hides_approvals_or_activity() -> None:
    state = new_state(*FULL, turn(at=NOW - 5), tool("c", at=NOW - 5), ASK, NOTICE)
    for width in range(20, 200):
        assert {"activity", "approvals"} <= set(names(state, width)), width


def test_the_mode_is_named_beside_a_notice_while_a_tool_runs_at_forty_columns() -> None:
    line = text(new_state(*FULL, turn(at=NOW - 12), tool("c", at=NOW - 12), NOTICE), 38)
    assert line.startswith("▸ ask  ◐ ") and "! " in line


def test_a_notice_is_read_whole_when_others_can_give_way() -> None:
    line = text(new_state(*FULL, NOTICE), 90)
    assert "! hooks-approval bash stops here bash stops here bash stops here" in line
    assert "ctx" in line
    assert "coding" not in line


def test_a_notice_beside_everything_else_when_there_is_room() -> None:
    assert names(new_state(*FULL, NOTICE), 160)[-2:] == ["notice", "help"]
    assert "cwd" in names(new_state(*FULL, NOTICE), 160)


def test_a_notice_too_long_is_cut_with_an_ellipsis() -> None:
    assert text(new_state(*FULL, NOTICE), 50).endswith("…")


@pytest.mark.parametrize("width", [60, 70, 80])
def test_a_notice_that_is_cut_names_the_key_that_shows_it_whole(width: int) -> None:
    state = new_state(
        *FULL, make(Notice, level="info", source="host", text="Written to /home/u/src " * 4)
    )
    notice = notice_segment(state, NOW)
    placed = place(status_segments(state, NOW, "◐", "/home/u"), notice, HELP, width, "ctrl+x i")
    said = "".join(part for part, _ in placed[-1].segment.pieces)
    assert said.startswith("· Written to") and said.endswith("…  ctrl+x i")
    assert placed[-1].at + placed[-1].segment.width <= width


@pytest.mark.parametrize("begun", [FULL, BUSY[:-1]], ids=["idle", "busy"])
def test_at_forty_columns_too_a_notice_that_is_cut_names_the_key(begun: list[HostEvent]) -> None:
    state = new_state(*begun, make(Notice, level="warning", source="host", text="No such " * 9))
    notice = notice_segment(state, NOW)
    placed = place(status_segments(state, NOW, "◐", "/home/u"), notice, HELP, 38, "ctrl+x i")
    names = [each.segment.name for each in placed]
    said = "".join(part for part, _ in placed[-1].segment.pieces)
    assert said.startswith("! No such N") and said.endswith("…  ctrl+x i")
    assert names[0] == "mode" and ("activity" in names) is (begun is not FULL)
    assert placed[-1].at + placed[-1].segment.width <= 38


def test_a_notice_that_is_read_whole_names_no_key() -> None:
    state = new_state(*FULL, make(Notice, level="info", source="host", text="Saved."))
    notice = notice_segment(state, NOW)
    placed = place(status_segments(state, NOW, "◐", "/home/u"), notice, HELP, 80, "ctrl+x i")
    assert "ctrl+x i" not in str(placed)


def test_a_notice_of_the_program_itself_names_nobody() -> None:
    said = make(Notice, level="info", source="host", text="Saved.")
    assert "· Saved." in text(new_state(said), 80)


def test_a_notice_ends_by_itself() -> None:
    state = new_state(*FULL, NOTICE)
    assert "hooks-approval" not in text(state, 120, NOW + 8)


def test_that_the_session_is_not_saved_stays_there_until_it_is() -> None:
    saving = make(SavingChanged, problem="No space left on device")
    said = make(Notice, level="error", source="host", text="It can't be saved.")
    state = new_state(*FULL, saving, said)
    assert "It can't be saved." in text(state, 120)
    assert text(state, 120, NOW + 60).count("✗ the session is not saved") == 1
    state.apply([make(SavingChanged, problem="")])
    assert "not saved" not in text(state, 120, NOW + 60)


def test_nothing_moves_sideways_while_a_tool_runs() -> None:
    state = new_state(*FULL, turn(at=NOW - 5), tool("c", at=NOW - 5))
    places = {
        tuple((placed.segment.name, placed.at) for placed in row(state, 120, NOW + later))
        for later in (0, 3, 40, 700)
    }
    assert len(places) == 1
    (activity,) = (p for p in row(state, 120) if p.segment.name == "activity")
    assert activity.segment.width == ACTIVITY_WIDTH


def test_the_clock_counts() -> None:
    state = new_state(*FULL, turn(at=NOW - 5), tool("c", at=NOW - 5))
    assert "◐ bash 0:05" in text(state, 120)
    assert "◐ bash 1:05" in text(state, 120, NOW + 60)


def test_waiting_prompts_and_requests_are_counted() -> None:
    state = new_state(*BUSY, make(QueueChanged, items=("a", "b")))
    assert "! 1 approval" in text(state, 120)
    assert "+2 queued" in text(state, 120)
    assert "! 1" in text(state, 20)


@pytest.mark.parametrize(
    ("total", "tone"),
    [(62_000, "text"), (141_000, "strong"), (155_000, "warning"), (180_000, "error")],
)
def test_the_context_number_takes_the_colour_of_its_pressure(total: int, tone: str) -> None:
    budget = make(BudgetChanged, total=total, window=200_000, trigger=170_000)
    (context,) = (
        s for s in status_segments(new_state(budget), NOW, "◐", "") if s.name == "context"
    )
    assert context.pieces[1][1] == tone
    assert context.pieces[1][0].startswith("≈")


@given(STREAM, st.integers(1, 200))
def test_the_row_never_overflows_and_segments_never_overlap(
    events: list[HostEvent], width: int
) -> None:
    state = new_state(*events)
    end = -1
    for placed in row(state, width):
        if placed.segment.name in ("mode", "activity", "approvals") and width < 24:
            continue
        assert placed.at > end
        end = placed.at + placed.segment.width
        assert width < 24 or end <= width
        assert all("\x1b" not in part and "\n" not in part for part, _ in placed.segment.pieces)
