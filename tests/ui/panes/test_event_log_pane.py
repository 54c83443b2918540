import pytest
from rich.cells import cell_len
from textual.widgets import Input

from amplifier_tui.host.events import HookTraced, HostEvent
from amplifier_tui.ui.panes.events.pane import EventLogPane
from amplifier_tui.ui.widgets.messages import CopyRequested, InspectRequested
from amplifier_tui.ui.widgets.palette import RowWidget
from tests.ui.driving import running
from tests.ui.panes.stage import Stage, text, until
from tests.ui.state.make import handler, opened, traced

DELTA = "llm:stream_block_delta"


class Ticks:
    """A clock that is far ahead at every look, so that no repaint has to wait."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 10.0
        return self.now


class Rail(Stage):
    def __init__(self, *events: HostEvent) -> None:
        self.pane = EventLogPane(clock=Ticks())
        super().__init__(self.pane, events=events)

    @property
    def head(self) -> str:
        return " ".join(text(self.pane.query_one(RowWidget))[0].split())

    @property
    def rows(self) -> list[str]:
        return [line for line in text(self.pane.view) if line]

    @property
    def events(self) -> list[str]:
        """The event names (or what stands in their place) that are on screen."""
        return [row.split()[1] for row in self.rows]


def numbered(start: int, stop: int, **fields: object) -> list[HookTraced]:
    return [traced(n, f"event:{n}", **fields) for n in range(start, stop)]


SOME = [
    traced(1, "prompt:submit"),
    *(traced(n, DELTA, source="anthropic") for n in range(2, 52)),
    traced(
        52,
        "tool:pre",
        source="bash",
        verdict="ask_user",
        duration_ms=120.0,
        handlers=(handler("hooks-logging"), handler("hooks-approval", "ask_user")),
        data='{"tool_name": "bash"}',
    ),
    traced(53, "approval:required"),
]


async def test_before_the_first_event_it_says_when_they_come() -> None:
    app = Rail()
    async with app.run_test(size=(34, 12)):
        assert " ".join(app.rows) == "No events yet — they appear when a turn starts"
        assert app.head == "Events"


async def test_rows_runs_and_handlers_that_spoke() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        await pilot.pause()
        assert app.events == [
            "prompt:submit",
            DELTA,
            "tool:pre",
            "hooks-approval",
            "approval:required",
        ]
        assert app.rows[1].split()[2] == "×50"
        await until(pilot, lambda: app.head == "Events 53 · following")


async def test_events_of_a_resumed_session_are_said_to_be_the_last_of_its_log() -> None:
    app = Rail(*numbered(4_501, 4_701))
    async with app.run_test(size=(46, 12)) as pilot:
        await until(pilot, lambda: app.head == "Events last 200 of 4700 · following")
        app.feed(*numbered(4_701, 4_711))
        await until(pilot, lambda: app.head == "Events last 210 of 4710 · following")
        await pilot.resize_terminal(32, 12)
        app.feed(*numbered(4_711, 4_712))
        await until(pilot, lambda: app.head == "Events last 211 of 4711")


async def test_a_wide_pane_has_one_line_per_event() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(120, 12)) as pilot:
        await until(pilot, lambda: len(app.rows) == 4)
        assert "hooks-approval ask_user" in app.rows[2]


async def test_turning_wide_and_narrow_again_keeps_the_events() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        await pilot.resize_terminal(120, 12)
        await until(pilot, lambda: len(app.rows) == 4)
        await pilot.resize_terminal(46, 12)
        await until(pilot, lambda: len(app.rows) == 5)


async def test_the_newest_events_are_followed() -> None:
    app = Rail(*numbered(0, 100))
    async with app.run_test(size=(34, 12)) as pilot:
        await pilot.pause()
        assert app.events[-1] == "event:99"
        app.feed(*numbered(100, 150))
        await until(pilot, lambda: app.events[-1] == "event:149")


async def test_a_growing_run_shows_its_number() -> None:
    app = Rail(traced(1, DELTA))
    async with app.run_test(size=(46, 12)) as pilot:
        app.feed(*(traced(n, DELTA) for n in range(2, 5)))
        await until(pilot, lambda: "×4" in app.rows[0])


async def test_moving_the_cursor_up_stops_following_and_the_end_resumes_it() -> None:
    app = Rail(*numbered(0, 100))
    async with app.run_test(size=(34, 12)) as pilot:
        app.pane.focus()
        await pilot.press("k", "k")
        assert app.pane.view.cursor_seq == 98
        assert not app.pane.view.following
        before = app.rows
        app.feed(*numbered(100, 130))
        await until(pilot, lambda: app.head == "Events 130 · f follows")
        assert app.rows == before
        await pilot.press("G")
        await until(pilot, lambda: app.events[-1] == "event:129")
        assert app.pane.view.following


async def test_f_turns_following_on_and_off() -> None:
    app = Rail(*numbered(0, 100))
    async with app.run_test(size=(34, 12)) as pilot:
        app.pane.focus()
        # The keys take a row of the pane.
        await pilot.pause()
        await pilot.press("f")
        app.feed(*numbered(100, 130))
        await until(pilot, lambda: app.head == "Events 130 · f follows")
        assert app.events[-1] == "event:99"
        await pilot.press("f")
        await until(pilot, lambda: app.events[-1] == "event:129")


async def test_scrolling_away_from_the_end_stops_following() -> None:
    app = Rail(*numbered(0, 100))
    async with app.run_test(size=(34, 12)) as pilot:
        await pilot.pause()
        app.pane.view.scroll_to(y=10, animate=False)
        await until(pilot, lambda: not app.pane.view.following)
        app.pane.view.scroll_to(y=1000, animate=False)
        await until(pilot, lambda: app.pane.view.following)


async def test_a_pause_holds_the_display_and_counts() -> None:
    app = Rail(*numbered(0, 5))
    async with app.run_test(size=(34, 12)) as pilot:
        app.pane.focus()
        await pilot.press("p")
        app.feed(*numbered(5, 17))
        await until(pilot, lambda: app.head == "Events 5 · paused +12")
        assert len(app.rows) == 5
        await pilot.press("p")
        await until(pilot, lambda: app.events[-1] == "event:16")
        await until(pilot, lambda: app.head == "Events 17 · following")


async def test_a_filter_typed_while_paused_looks_at_what_was_shown() -> None:
    app = Rail(*numbered(0, 5))
    async with app.run_test(size=(34, 14)) as pilot:
        app.pane.focus()
        await pilot.press("p")
        app.feed(*numbered(5, 17))
        await pilot.press("slash", *"event", "enter")
        await until(pilot, lambda: not app.pane.view.filtering)
        assert app.events[-1] == "event:4"
        await pilot.press("p")
        await until(pilot, lambda: app.events[-1] == "event:16")


async def test_a_filter_narrows_the_list_while_it_is_typed() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("slash", *"tool:*")
        await until(pilot, lambda: app.pane.view.filter.text == "tool:*")
        assert app.events == ["tool:pre", "hooks-approval"]
        await until(pilot, lambda: app.head == "Events 1 of 53 · following")
        await pilot.press("enter")
        assert app.focused is app.pane.view
        assert app.query_one(Input).display
        app.feed(traced(60, "tool:post"), traced(61, "other"))
        await until(pilot, lambda: app.events[-1] == "tool:post")


@pytest.mark.parametrize("height", [9, 10, 11, 12, 13])
@pytest.mark.parametrize("words", ["tool:*", ""])
async def test_no_handler_stands_first_without_its_event(height: int, words: str) -> None:
    spoke = (handler("hooks-approval", "ask_user"), handler("hooks-other", "deny"))
    many = [traced(n, f"tool:{n}", source="bash", handlers=spoke[: 1 + n % 2]) for n in range(40)]
    app = Rail(*many)
    async with app.run_test(size=(46, height)) as pilot:
        app.pane.focus()
        if words:
            await pilot.press("slash", *words, "enter")
            await until(pilot, lambda: app.pane.view.filter.text == words)
        await until(pilot, lambda: app.pane.view.following and "hooks" in "".join(app.rows))
        for _ in range(4):
            assert app.events[0].startswith("tool:")
            event = app.pane.view.rows[app.pane.view.scroll_offset.y] >> 4
            assert app.events[0] == f"tool:{event}"
            app.pane.view.scroll_relative(y=-1, animate=False)
            await pilot.pause()


async def test_another_session_begins_without_the_filter_of_the_one_before() -> None:
    app = Rail(opened(), *SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("slash", *"nothing", "enter")
        await until(pilot, lambda: app.rows == ["No event passes the filter"])
        app.feed(opened(session_id="other"), traced(1, "begun", session_id="other"))
        await until(pilot, lambda: app.events == ["begun"])
        assert not app.query_one(Input).display


async def test_escape_takes_the_filter_back() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("slash", *"nothing")
        await until(pilot, lambda: app.rows == ["No event passes the filter"])
        await pilot.press("escape")
        await until(pilot, lambda: len(app.rows) == 5)
        assert app.focused is app.pane.view
        assert not app.query_one(Input).display


async def test_a_filter_that_makes_no_sense_is_explained() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(90, 12)) as pilot:
        app.pane.focus()
        await pilot.press("slash", *">fast")
        await until(pilot, lambda: ">fast is no duration" in app.head)


async def test_the_last_of_many_filters_wins() -> None:
    app = Rail(*numbered(0, 9_000))
    async with app.run_test(size=(34, 12)) as pilot:
        await until(pilot, lambda: app.pane.view.matched == 9_000)
        for word in ("event:1", "event:2", "event:8999"):
            app.pane.view.set_filter(word)
        await until(pilot, lambda: app.events == ["event:8999"])


async def test_enter_asks_for_the_inspector_and_y_for_a_copy() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("k", "k", "enter", "y")
        await pilot.press("j", "y")
        inspect, payload, line = app.posted
        assert isinstance(inspect, InspectRequested)
        assert inspect.seq == 52
        assert isinstance(payload, CopyRequested)
        assert payload.text == '{"tool_name": "bash"}'
        assert isinstance(line, CopyRequested)
        assert "approval:required" in line.text


async def test_a_second_click_on_an_event_opens_it() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        await pilot.click(app.pane.view, offset=(9, 2))
        assert app.pane.view.cursor_seq == 52
        assert app.posted == []
        await pilot.click(app.pane.view, offset=(9, 2))
        assert [type(m) for m in app.posted] == [InspectRequested]


async def test_a_click_is_on_the_event_under_the_pointer_when_the_button_went_down() -> None:
    app = Rail(*numbered(0, 60))
    async with app.run_test(size=(46, 12)) as pilot:
        await until(pilot, lambda: app.pane.view.matched == 60)
        view = app.pane.view
        app.set_focus(None)
        await until(pilot, lambda: view.size.height == 11)
        row = view.scroll_offset.y + 5
        await pilot.click(view, offset=(9, 5))
        found = app.state.log.find(view.cursor_seq or 0)
        assert found is not None and found.event == f"event:{row}"
        assert view.scroll_offset.y + 5 == row + 1, "with the focus came a line of keys"


async def test_the_cursor_steps_over_the_lines_of_handlers() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("g")
        seqs = []
        for _ in range(5):
            seqs.append(app.pane.view.cursor_seq)
            await pilot.press("j")
        assert seqs == [1, 2, 52, 53, 53]


async def test_what_is_read_stays_in_place_when_old_events_leave_memory() -> None:
    app = Rail()
    app.state.log.capacity = 200
    app.state.log._slack = 10
    async with app.run_test(size=(34, 12)) as pilot:
        app.feed(*numbered(0, 200))
        await until(pilot, lambda: app.events[-1] == "event:199")
        app.pane.focus()
        await pilot.press(*"kkkkk")
        before = app.rows
        app.feed(*numbered(200, 300))
        await until(pilot, lambda: app.pane.view.matched == 200)
        await until(pilot, lambda: app.rows == before)
        app.feed(*numbered(300, 600))
        await until(pilot, lambda: app.events[0] == "event:400")


async def test_repaints_keep_their_distance() -> None:
    now = [100.0]
    pane = EventLogPane(clock=lambda: now[0])
    app = Stage(pane)
    async with app.run_test(size=(34, 12)) as pilot:
        app.feed(*numbered(0, 1))
        await until(pilot, lambda: pane.view.matched == 1)
        app.feed(*numbered(1, 2))
        assert pane.view.matched == 1
        now[0] += 1.0
        app.feed(*numbered(2, 3))
        await until(pilot, lambda: pane.view.matched == 3)


async def test_a_new_session_empties_the_list() -> None:
    app = Rail(opened(), *SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("k")
        app.feed(opened(session_id="s2"), traced(1, "session:start", session_id="s2"))
        await until(pilot, lambda: app.events == ["session:start"])
        assert app.pane.view.cursor_seq is None


async def test_a_new_session_ends_the_pause() -> None:
    app = Rail(opened(), *SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("p")
        app.feed(opened(session_id="s2"), traced(1, "session:start", session_id="s2"))
        await until(pilot, lambda: app.head == "Events 1 · following")
        assert app.events == ["session:start"]


async def test_a_filter_survives_a_new_width_while_it_is_worked_out() -> None:
    app = Rail(*numbered(0, 9_000))
    async with app.run_test(size=(46, 12)) as pilot:
        await until(pilot, lambda: app.pane.view.matched == 9_000)
        app.pane.view.set_filter("event:8999")
        await pilot.resize_terminal(120, 12)
        await until(pilot, lambda: len(app.rows) == 1)
        assert "event:8999" in app.rows[0]


async def test_hooks_of_two_lanes_get_a_lane_column() -> None:
    app = Rail(traced(1, "tool:pre"), traced(2, "tool:pre", agent="coder"))
    async with app.run_test(size=(120, 12)) as pilot:
        await until(pilot, lambda: "coder" in " ".join(app.rows))


@pytest.mark.parametrize("width", [1, 2, 9, 17, 18, 23, 24, 34, 55, 56, 57, 83, 84, 86, 200])
async def test_hostile_text_is_harmless_at_any_width(width: int) -> None:
    evil = "\x1b[31m[bold]漢字👍🏽\r\n\u202e\x1b]8;;http://x\x07" * 3
    app = Rail(
        traced(
            1, evil, source=evil, verdict="deny", handlers=(handler(evil, "deny", reason=evil),)
        ),
        traced(2, evil, source=evil, verdict=evil, agent=evil),
    )
    async with app.run_test(size=(width, 12)) as pilot:
        await pilot.pause()
        view = app.pane.view
        for y in range(view.size.height):
            line = view.render_line(y)
            assert line.cell_length == cell_len(line.text) == view.size.width
            assert not set(line.text) & {"\x1b", "\n", "\r", "\u202e", "\x07"}


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_the_pane_names_its_keys_while_it_hears_them(size: tuple[int, int]) -> None:
    async with running(size=size) as driver:
        await driver.push(*(traced(n, f"event:{n}") for n in range(1, 30)))
        keys = "enter inspect   / filter   s go to"
        assert keys not in driver.text()
        await driver.press("f3")
        assert keys in driver.text()
        # While the filter is typed these keys work, and the foot stays.
        await driver.press("slash")
        await driver.until(lambda: "enter keep   esc show all" in driver.text())
        await driver.press("enter")
        await driver.until(lambda: keys in driver.text())
        await driver.press("escape")
        await driver.until(lambda: keys not in driver.text())
        assert "enter keep" not in driver.text()


async def test_enter_opens_the_newest_event_where_none_was_chosen() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("enter")
        (inspect,) = app.posted
        assert isinstance(inspect, InspectRequested)
        assert inspect.seq == app.pane.view.cursor_seq == 53


async def test_a_key_is_about_an_event_that_the_filter_shows() -> None:
    app = Rail(*SOME)
    async with app.run_test(size=(46, 12)) as pilot:
        app.pane.focus()
        await pilot.press("end", "slash", *"tool:*", "enter")
        await until(pilot, lambda: app.events == ["tool:pre", "hooks-approval"])
        await pilot.press("enter")
        (inspect,) = app.posted
        assert isinstance(inspect, InspectRequested)
        assert inspect.seq == app.pane.view.cursor_seq == 52
