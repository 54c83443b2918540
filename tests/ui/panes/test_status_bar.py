from dataclasses import replace

import pytest
from rich.cells import cell_len

from amplifier_tui.host.events import (
    ApprovalRequested,
    BudgetChanged,
    ModeChanged,
    Notice,
    ProviderRetrying,
    QuestionsAsked,
    QuestionsResolved,
    QueueChanged,
    Usage,
    UsageChanged,
)
from amplifier_tui.ui.state.notices import LIFETIME
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.messages import ActionWanted
from amplifier_tui.ui.widgets.status_bar import StatusBar
from tests.ui.panes.stage import Stage, text, until
from tests.ui.state.make import NOW, make, opened, started, tool, turn, turn_ended

EVENTS = [
    opened(cwd="/src/app", branch="main", model="claude-sonnet-5"),
    make(UsageChanged, session=Usage(cost="0.42")),
    make(BudgetChanged, total=62_000, window=200_000, trigger=170_000, kind="usage"),
]
ASK = make(ApprovalRequested, request_id="r", asker="h", action="x")


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Bar(Stage):
    def __init__(self, *events: object) -> None:
        self.clock = Clock()
        self.bar = StatusBar(clock=self.clock)
        super().__init__(self.bar)
        self.state = SessionState(clock=self.clock)
        self.state.apply(EVENTS)

    @property
    def line(self) -> str:
        return text(self.bar)[0]


async def test_a_quiet_session_is_one_row() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)):
        assert app.line.startswith(" ▸ ask  ctx 31%  sonnet 5  $0.42  coding  /src/app  main")
        assert app.line.endswith("F1 keys")


async def test_all_that_waits_for_the_user_is_one_number() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)):
        app.feed(make(QuestionsAsked, request_id="q", questions=()))
        assert "! 1 question" in app.line
        app.feed(ASK)
        assert "! 2 waiting" in app.line
        app.feed(make(QuestionsResolved, request_id="q", outcome="answered"))
        assert "! 1 approval" in app.line


async def test_a_running_tool_shows_its_time_and_an_end_takes_it_away() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)) as pilot:
        app.feed(turn(at=NOW), tool("c", at=NOW))
        assert "◐ bash 0:00" in app.line
        app.clock.now += 65.0
        app.feed(ASK)
        assert "◐ bash 1:05" in app.line
        assert "! 1 approval" in app.line
        app.feed(turn_ended())
        await pilot.pause()
        assert "bash" not in app.line
        assert app.bar._spin is None


async def test_the_clock_goes_on_by_itself() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)) as pilot:
        app.feed(turn(at=NOW), tool("c", at=NOW))
        app.clock.now += 5.0
        await until(pilot, lambda: "◐ bash 0:05" in app.line)


async def test_a_notice_comes_and_goes_by_itself() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)) as pilot:
        app.feed(make(Notice, level="warning", source="hook:guard", text="[red]careful[/red]"))
        assert "! guard [red]careful[/red]" in app.line
        app.clock.now += LIFETIME - 0.01
        app.feed(turn())
        app.clock.now += 0.02
        await until(pilot, lambda: "careful" not in app.line)


async def test_a_notice_that_waits_for_an_answer_to_the_user_comes_by_itself() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)) as pilot:
        app.feed(make(Notice, level="info", text="Forked", session_id=""))
        app.feed(make(Notice, level="warning", text="no server"))
        assert "Forked" in app.line and "no server" not in app.line
        app.clock.now += 2.99
        app.feed(turn())
        app.clock.now += 0.02
        await until(pilot, lambda: "no server" in app.line)


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("ask", "mode.choose"),
        ("! 1", "approval.show"),
        ("31%", "pane.context"),
        ("sonnet", "model.choose"),
        ("coding", "session.bundles"),
        ("F1", "app.help"),
    ],
)
async def test_a_click_asks_for_what_belongs_to_the_segment(words: str, action: str) -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)) as pilot:
        app.feed(ASK)
        await pilot.click(StatusBar, offset=(app.line.index(words) + 1, 0))
        (message,) = app.posted
        assert message == ActionWanted(action)


async def test_a_click_between_segments_is_nothing() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)) as pilot:
        await pilot.click(StatusBar, offset=(80, 0))
        assert app.posted == []


async def test_a_narrow_bar_drops_and_a_wide_one_brings_back() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)) as pilot:
        assert "bundle" in app.bar.segments
        await pilot.resize_terminal(40, 3)
        await until(pilot, lambda: "bundle" not in app.bar.segments)
        await pilot.resize_terminal(100, 3)
        await until(pilot, lambda: "bundle" in app.bar.segments)


@pytest.mark.parametrize("width", [1, 2, 3, 10, 20, 21, 40, 80, 120, 200])
async def test_hostile_text_is_harmless_at_any_width(width: int) -> None:
    evil = "\x1b[31m[bold]漢字👍🏽\r\n\u202e\x1b]8;;http://x\x07" * 3
    app = Bar()
    async with app.run_test(size=(width, 3)):
        app.feed(
            opened(bundle=evil, cwd=evil, branch=evil, model=evil),
            make(Notice, level="error", source=evil, text=evil),
            turn(),
            tool("c", evil),
            ASK,
        )
        app.feed(make(ModeChanged, mode=evil))
        line = app.bar.render_line(0)
        assert line.cell_length == cell_len(line.text) == width
        assert not set(line.text) & {"\x1b", "\n", "\r", "\u202e", "\x07"}


async def test_without_colours_everything_is_still_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Bar()
    async with app.run_test(size=(100, 3)):
        app.feed(ASK, make(Notice, level="error", source="x", text="broken"))
        assert "! 1 approval" in app.line
        assert "✗ x broken" in app.line


async def test_a_request_that_is_tried_again_is_no_notice_to_be_looked_up() -> None:
    app = Bar()
    app.bar.notices_key = "ctrl+x i"
    async with app.run_test(size=(100, 3)):
        app.feed(make(ProviderRetrying, provider="anthropic", attempt=1, most=3, delay=9.0, at=NOW))
        assert "trying" in app.line and "ctrl+x i" not in app.line
        app.clock.now += 1.0
        app.feed(make(Notice, level="info", source="host", text="Written to /src/app " * 5))
        assert "Written to" in app.line and app.line.endswith("…  ctrl+x i")


async def test_behind_a_dialog_it_offers_no_key_and_nothing_moves() -> None:
    app = Bar()
    async with app.run_test(size=(100, 3)):
        before = app.line
        app.bar.stand_behind(True)
        assert "F1" not in app.line and app.line.rstrip() == before.removesuffix("F1 keys").rstrip()
        app.bar.stand_behind(False)
        assert app.line == before


async def test_a_countdown_of_the_conversation_pushes_no_model_bundle_or_help_out() -> None:
    app = Bar()
    again = make(ProviderRetrying, provider="openai", attempt=1, most=3, delay=9.0, at=NOW)
    async with app.run_test(size=(80, 3)) as pilot:
        app.feed(turn(at=NOW), again)
        for word in ("sonnet 5", "coding", "F1 keys"):
            assert word in app.line
        assert "…" not in app.line and "trying" not in app.line
        # Where there is room it says so too.
        await pilot.resize_terminal(140, 3)
        await until(pilot, lambda: "trying again in 9 s (1 of 3)" in app.line)
        assert "sonnet 5" in app.line and "coding" in app.line
        # What a sub-agent waits for stands nowhere else.
        await pilot.resize_terminal(80, 3)
        app.feed(turn_ended())
        app.feed(replace(again, agent="child"))
        assert "trying again" in app.line


@pytest.mark.parametrize(("seconds", "mode", "queued"), [(16, "careful", 1), (3_700, "ask", 0)])
async def test_the_words_about_a_silence_are_whole_in_eighty_columns(
    seconds: float, mode: str, queued: int
) -> None:
    app = Bar()
    async with app.run_test(size=(80, 3)):
        app.feed(turn(at=NOW), started("b", at=NOW), make(ModeChanged, mode=mode))
        app.feed(make(QueueChanged, items=("next",) * queued))
        app.clock.now += seconds
        app.bar._repaint()
        assert "esc stops" in app.line and "…" not in app.line
