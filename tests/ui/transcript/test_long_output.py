"""What is shown of a long output, and how one gets to the rest of it."""

from typing import Any

from amplifier_tui.ui.state.conversation.entries import ToolEntry, UserEntry
from amplifier_tui.ui.transcript.view import TranscriptView
from tests.ui.transcript.documents import document, texts_of
from tests.ui.transcript.stage import stage, until, users

LONG = "".join(f"row {n}\n" for n in range(1000))


def shell(key: str, **fields: Any) -> ToolEntry:
    given = {"tool": "bash", "arguments": {"command": "x"}, "state": "ok"}
    return ToolEntry(key=key, **{**given, **fields})


def rows_of(entry: ToolEntry, *, opened: bool = False) -> list[str]:
    made = document()
    made.add(entry).opened = opened
    return [row.strip() for row in texts_of(made)]


def test_what_a_tool_says_that_it_left_out_stands_in_what_is_shown_of_its_output() -> None:
    cut = "[… 9 of 99 characters left out (99 bytes in all) …]"
    output = "\n".join([*(f"line {n}" for n in range(250)), cut, *(f"end {n}" for n in range(250))])
    rows = rows_of(shell("c", output=output), opened=True)
    assert rows[-83:-79] == [
        "… 130 more lines · ctrl+x ;",
        cut,
        "… 170 more lines · ctrl+x ;",
        "end 170",
    ]
    running = "\n".join(rows_of(shell("c", output=output, state="running")))
    assert "… at least 496 more lines" in running


def test_all_of_a_long_output_is_shown_when_it_is_wanted() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -0,0 +1,450 @@\n" + "+new\n" * 450
    numbered = "".join(f"{n}\tx = {n}\n" for n in range(1, 451))
    listed = shell("c", tool="read_file", arguments={"path": "a.py"}, output=numbered)
    for entry in (shell("c", output="row\n" * 450), shell("c", diff=diff), listed):
        made = document()
        item = made.add(entry)
        item.opened = True
        assert len(texts_of(made)) < 450
        item.whole = True
        made.redraw(item)
        shown = texts_of(made)
        assert len(shown) == 2 + 450 and "more" not in "".join(shown)


async def test_what_an_opened_output_leaves_out_is_shown_by_a_click_and_is_folded_with_it() -> None:
    async with stage([shell("c", output=LONG)]) as (app, pilot):
        app.view.toggle("c")
        await pilot.pause()
        app.view.scroll_to(y=115, animate=False)
        await pilot.pause()
        gap = next(n for n, row in enumerate(app.rows) if "… 800 more lines" in row)
        above = app.rows[gap - 1]
        await pilot.click(TranscriptView, offset=(20, gap))
        assert [row.strip() for row in app.rows[gap - 1 : gap + 2]] == [
            above.strip(),
            "row 120",
            "row 121",
        ]
        app.view.toggle("c")
        app.view.toggle("c")
        assert app.view.virtual_size.height < 250


async def test_the_lines_above_those_of_a_running_call_are_shown_by_a_click() -> None:
    async with stage([shell("c", output=LONG, state="running")]) as (app, pilot):
        gap = next(n for n, row in enumerate(app.rows) if "… 995 more lines" in row)
        await pilot.click(TranscriptView, offset=(20, gap))
        assert "row 1" in [row.strip() for row in app.rows]


async def test_the_rest_of_a_long_prompt_is_shown_by_a_click() -> None:
    prompt = UserEntry(key="u", text="\n".join(f"pasted {n}" for n in range(40)))
    async with stage([prompt]) as (app, pilot):
        gap = next(n for n, row in enumerate(app.rows) if "… 28 more lines" in row)
        await pilot.click(TranscriptView, offset=(20, gap))
        await until(pilot, lambda: app.view.virtual_size.height > 40)


async def test_a_key_shows_what_the_entry_under_the_cursor_leaves_out_from_there_on() -> None:
    async with stage([shell("c", output=LONG)]) as (app, pilot):
        app.view.focus()
        app.view.toggle("c")
        app.view.action_end()
        await pilot.pause()
        assert "a all of it" in app.view.hints()
        await pilot.press("a")
        assert app.rows[0].endswith(" row 120")
        assert "a all of it" not in app.view.hints()


async def test_of_what_is_in_sight_the_lowest_that_leaves_lines_out_is_shown() -> None:
    shown = [shell("c", output=LONG), *users(3), shell("d", output=LONG), *users(3, start=3)]
    async with stage(shown) as (app, _):
        assert not app.view.show_a_rest()
        app.view.toggle("c")
        app.view.toggle("d")
        app.view.follow = True
        assert app.view.show_a_rest()
        assert app.rows[0].strip() == "row 120"
        assert app.view.virtual_size.height > 1000
        assert not app.view.show_a_rest(), "it shows all, and the other one is out of sight"


async def test_a_place_that_is_found_in_what_is_left_out_is_shown() -> None:
    failed = shell("c", output=f"{LONG}\nrow 500", state="failed", error="exit code 1")
    async with stage([failed, *users(30)]) as (app, pilot):
        app.view.find("row 500")
        await until(pilot, lambda: any(row.strip() == "row 500" for row in app.rows))
        assert any(row.strip() == "row 501" for row in app.rows), "not the one at its end"
        app.view.find_step(1)
        await until(pilot, lambda: any("prompt 0" in row for row in app.rows))


async def test_a_place_that_is_found_on_the_line_of_a_call_does_not_open_it() -> None:
    call = shell("c", arguments={"command": "needle"}, output="x needle\n")
    async with stage([call]) as (app, pilot):
        app.view.find("needle")
        await pilot.pause()
        assert not app.view._document.items["c"].expanded
        app.view.find_step(1)
        await until(pilot, lambda: any("x needle" in row for row in app.rows))
