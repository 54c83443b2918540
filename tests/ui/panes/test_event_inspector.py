import json

import pytest
from rich.cells import cell_len

from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.panes.inspector import DISPLAY_LIMIT, EventInspector
from amplifier_tui.ui.widgets.messages import CopyRequested, InspectorClosed
from tests.ui.panes.stage import Stage, text
from tests.ui.state.make import handler, traced

PAYLOAD = {
    "tool_name": "bash",
    "tool_input": {"command": "pytest -q\nrm -rf x", "timeout": 30},
    "big": list(range(100)),
    "none": None,
    "yes": True,
}
EVENT = traced(
    419,
    "tool:pre",
    source="bash",
    verdict="modify",
    duration_ms=2.0,
    handlers=(
        handler("hooks-logging", ms=0.2),
        handler("hooks-redaction", "modify", ms=1.1, reason="one secret masked"),
    ),
    data=json.dumps(PAYLOAD),
    changed=json.dumps(PAYLOAD | {"tool_input": {"command": "***", "timeout": 30}}),
)


def stage() -> Stage:
    return Stage(EventInspector())


def show(app: Stage, event: HookTraced) -> EventInspector:
    inspector = app.query_one(EventInspector)
    inspector.show(event)
    inspector.focus()
    return inspector


def lines(inspector: EventInspector) -> list[str]:
    return [line for line in text(inspector) if line]


async def test_before_an_event_is_chosen_it_says_how() -> None:
    app = stage()
    async with app.run_test(size=(46, 20)):
        assert lines(app.query_one(EventInspector)) == ["Enter on an event shows it here"]


async def test_it_shows_the_event_its_handlers_and_the_payload() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, EVENT)
        await pilot.pause()
        shown = [" ".join(line.split()) for line in lines(inspector)]
        assert shown[0] == "tool:pre #419"
        assert shown[1].startswith("bash · main · modify")
        assert shown[2:5] == [
            "└ hooks-logging continue 0.2 ms",
            "└ hooks-redaction modify 1 ms",
            "one secret masked",
        ]
        assert shown[5] == "payload · = shows what hooks changed"
        assert shown[6:] == [
            "tool_name: bash",
            "▾ tool_input {2}",
            "▸ command: pytest -q ↵ rm -rf x",
            "timeout: 30",
            "▸ big [100]",
            "none: null",
            "yes: true",
        ]


async def test_values_fold_and_unfold() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, EVENT)
        await pilot.pause()
        await pilot.press("j", "enter")
        assert "  command" not in "\n".join(lines(inspector))
        await pilot.press("l", "l")
        assert any("▸ command" in line for line in lines(inspector))
        await pilot.press("l")
        shown = [line.strip() for line in lines(inspector)]
        assert shown[shown.index("▾ command: 18 characters") + 1 :][:2] == ["pytest -q", "rm -rf x"]
        await pilot.press("j", "h")
        assert any("▸ command" in line for line in lines(inspector))
        await pilot.press("h", "h")
        assert "▸ tool_input {2}" in lines(inspector)


async def test_a_long_list_is_scrolled_with_the_cursor() -> None:
    app = stage()
    async with app.run_test(size=(60, 12)) as pilot:
        inspector = show(app, EVENT)
        await pilot.pause()
        await pilot.press("j", "j", "j", "j", "enter", "G")
        await pilot.pause()
        assert lines(inspector)[-1].strip() == "yes: true"
        await pilot.press("g")
        await pilot.pause()
        assert lines(inspector)[0].startswith("tool:pre")


async def test_y_copies_the_value_and_shift_y_its_path() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        show(app, EVENT)
        await pilot.pause()
        await pilot.press("j", "y", "j", "y", "Y", "g", "y")
        copies = [(m.text, m.what) for m in app.posted if isinstance(m, CopyRequested)]
        assert json.loads(copies[0][0]) == PAYLOAD["tool_input"]
        assert copies[1:] == [
            ("pytest -q\nrm -rf x", "value"),
            ("tool_input.command", "path"),
            (EVENT.data, "payload"),
        ]


async def test_equals_shows_what_hooks_changed() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, EVENT)
        await pilot.pause()
        await pilot.press("equals_sign")
        assert [line.strip() for line in lines(inspector)][-3:] == [
            "tool_input.command",
            '− "pytest -q\\nrm -rf x"',
            '+ "***"',
        ]
        await pilot.press("equals_sign")
        assert any("▸ big" in line for line in lines(inspector))


async def test_equals_does_nothing_when_nothing_was_changed() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, traced(1, data='{"a": 1}'))
        await pilot.pause()
        await pilot.press("equals_sign")
        assert inspector.view == "payload"


async def test_a_payload_that_was_cut_is_shown_as_text_until_the_whole_arrives() -> None:
    whole = json.dumps({"text": "x" * 500, "last": "here"})
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, traced(7, data=whole[:100], size=len(whole)))
        await pilot.pause()
        assert f"the first 100 of {len(whole)} characters" in lines(inspector)
        inspector.set_payload(6, "another event's")
        assert "last" not in "\n".join(lines(inspector))
        inspector.set_payload(7, whole)
        assert [line.strip() for line in lines(inspector)][-1] == "last: here"


async def test_a_payload_that_left_memory_says_where_it_is() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, traced(7, data="", size=9000))
        await pilot.pause()
        assert "payload of 9000 characters is on disk" in lines(inspector)


async def test_a_huge_payload_is_shown_up_to_the_limit_and_copied_whole() -> None:
    huge = json.dumps({"text": "x" * DISPLAY_LIMIT})
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, traced(7, data=huge, size=len(huge)))
        await pilot.pause()
        assert f"{len(huge)} characters, the first {DISPLAY_LIMIT} are shown" in lines(inspector)
        await pilot.press("y")
        (copy,) = app.posted
        assert isinstance(copy, CopyRequested)
        assert copy.text == huge


async def test_escape_closes() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        show(app, EVENT)
        await pilot.press("escape")
        assert [type(m) for m in app.posted] == [InspectorClosed]


async def test_a_click_folds() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        inspector = show(app, EVENT)
        await pilot.pause()
        row = text(inspector).index("▾ tool_input {2}")
        await pilot.click(inspector, offset=(3, row))
        assert "▸ tool_input {2}" in lines(inspector)


@pytest.mark.parametrize("width", [1, 2, 5, 12, 20, 34, 46, 120, 200])
async def test_hostile_payloads_are_harmless_at_any_width(width: int) -> None:
    evil = "\x1b[31m[bold]漢字👍🏽\r\n\u202e\x1b]8;;http://x\x07" * 4
    nested: object = evil
    for _ in range(60):
        nested = {evil: nested, "text": [evil, 1, None]}
    event = traced(
        1,
        evil,
        source=evil,
        verdict=evil,
        handlers=(handler(evil, evil, reason=evil),),
        data=json.dumps(nested),
        changed=json.dumps([nested]),
    )
    app = stage()
    async with app.run_test(size=(width, 30)) as pilot:
        inspector = show(app, event)
        await pilot.pause()
        for key in ("G", "enter", "G", "l", "l", "equals_sign"):
            await pilot.press(key)
            for y in range(inspector.size.height):
                line = inspector.render_line(y)
                assert line.cell_length == cell_len(line.text) == inspector.size.width
                assert not set(line.text) & {"\x1b", "\n", "\r", "\u202e", "\x07"}


async def test_what_a_handler_failed_of_is_shown_whole_with_place_and_remedy() -> None:
    error = (
        "ValidationError: "
        + "long " * 30
        + "(/home/me/modules/amplifier_module_hooks_x/init.py:12)"
    )
    failed = traced(1, handlers=(handler("hooks-x", "error", error=error),))
    app = stage()
    async with app.run_test(size=(46, 30)) as pilot:
        inspector = show(app, failed)
        await pilot.pause()
        shown = "".join(line[2:] for line in lines(inspector))
        assert "/amplifier_module_hooks_x/init.py:12). Correct it there and reload" in shown


def test_what_was_ended_by_a_stop_is_not_to_be_corrected() -> None:
    stopped = handler("hooks-x", "error", error="ended by CancelledError")
    assert stopped.problem == stopped.error
