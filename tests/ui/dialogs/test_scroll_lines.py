from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.approval_words import diff_rows
from amplifier_tui.ui.diffs.lines import DiffLines
from amplifier_tui.ui.widgets.folded_rows import FoldedRows
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.text_lines import LinePair, TextLine
from tests.ui.driving import running
from tests.ui.requests import ask


class Stage(App[None]):
    CSS = "ScrollLines { max-height: 5; }"

    def __init__(self, lines: Sequence[TextLine | LinePair]) -> None:
        super().__init__()
        self.lines = lines
        self.lead = 0

    def compose(self) -> ComposeResult:
        yield ScrollLines(self.lines, self.lead)


@pytest.mark.parametrize("count", [2, 30])
async def test_no_character_is_hidden_by_the_scrollbar(count: int) -> None:
    text = "0123456789" * 9
    app = Stage([TextLine(text, note=f"end{n}") for n in range(count)])
    async with app.run_test(size=(40, 12)) as pilot:
        lines = app.query_one(ScrollLines)
        await pilot.pause()
        shown = ""
        for _ in range(len(lines.rows)):
            for y in range(lines.size.height):
                shown += lines.render_line(y).text.rstrip().removeprefix("» ")
            lines.scroll_relative(y=lines.size.height, animate=False, force=True)
            await pilot.pause()
            if shown.count("end") >= count:
                break
        assert text in shown
        assert all(f"end{n}" in shown for n in range(min(count, 3)))


async def test_it_is_as_high_as_its_lines() -> None:
    app = Stage([TextLine("x" * 39), TextLine("y" * 40)])
    async with app.run_test(size=(40, 12)):
        lines = app.query_one(ScrollLines)
        assert len(lines.rows) == lines.size.height == 3


async def test_who_is_at_the_end_stays_there_when_the_screen_becomes_narrower() -> None:
    app = Stage([TextLine(f"{n} {'word ' * 12}") for n in range(30)])
    async with app.run_test(size=(80, 12)) as pilot:
        lines = app.query_one(ScrollLines)
        lines.action_scroll_edge(1)
        await pilot.pause()
        for width in (40, 60, 30):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            assert lines.is_vertical_scroll_end and lines.scroll_offset.y, width


texts = st.text(st.sampled_from("ab 漢\t‹"), max_size=60)


@given(st.lists(texts, max_size=12), st.integers(4, 40), st.booleans())
def test_rows_that_are_folded_when_they_are_asked_for_are_those_of_all_lines(
    changed: list[str], width: int, split: bool
) -> None:
    head = "--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@ a name of some length\n"
    body = "".join(f"{'+- '[n % 3]}{text}\n" for n, text in enumerate(changed))
    lines = DiffLines(diff_rows(head + body), [TextLine("below " * 9, note="1")], split=split)
    rows = FoldedRows(lines, width, lines.lead)
    assert list(rows) == list(FoldedRows(list(lines), width, lines.lead))
    for number, line in enumerate(lines):
        sides = [line] if isinstance(line, TextLine) else line
        for side, part in enumerate(sides):
            found = [row.sides[side] for row in rows if row.number == number]
            assert "".join(row.text for row in found if row) == (part.text if part else "")


def test_of_a_large_change_only_what_is_seen_is_laid_out() -> None:
    text = "--- a/x\n+++ b/x\n@@ -0,0 +1,5000 @@\n" + "+a line\n" * 5_000
    lines = DiffLines(diff_rows(text), split=True)
    rows = FoldedRows(lines, 80, lines.lead)
    assert len(rows) == 5_001 and isinstance(lines[rows[4_000].number], LinePair)
    assert len(lines._made) <= 3


def taken(lines: ScrollLines, start: tuple[int, int], end: tuple[int, int]) -> str:
    found = lines.get_selection(Selection(Offset(*start), Offset(*end)))
    assert found is not None
    return found[0]


async def test_what_is_selected_is_copied_as_it_was_before_it_was_folded() -> None:
    given = [
        TextLine("word " * 10, lead="1 ", note="a note"),
        TextLine("\u2192   tabbed", lead="2 "),
        TextLine("end", lead="3 "),
    ]
    app = Stage(given)
    app.lead = 2
    async with app.run_test(size=(32, 12)) as pilot:
        lines = app.query_one(ScrollLines)
        await pilot.pause()
        last = len(lines.rows) - 1
        assert taken(lines, (0, 0), (31, last)) == "word " * 10 + "\n\ttabbed\nend"
        assert taken(lines, (7, 0), (11, 0)) == "word"
        assert taken(lines, (0, 0), (1, 0)) == "", "the column is not copied"
        everything = lines.get_selection(Selection(None, None))
        assert everything is not None and everything[0].endswith("\nend")


async def test_of_two_sides_that_one_is_copied_on_which_the_selection_begins() -> None:
    pairs = [LinePair(TextLine(f"old {n}"), TextLine(f"new {n}")) for n in range(3)]
    app = Stage(pairs)
    async with app.run_test(size=(40, 12)) as pilot:
        lines = app.query_one(ScrollLines)
        await pilot.pause()
        assert taken(lines, (0, 0), (30, 2)) == "old 0\nold 1\nold 2"
        assert taken(lines, (20, 0), (23, 2)) == "new 0\nnew 1\nnew"


async def test_a_part_of_the_command_can_be_selected_and_copied_without_an_answer() -> None:
    async with running() as drive:
        await drive.push(ask(payload="rm -rf build && make"))
        dialog = await drive.dialog(ApprovalDialog)
        body = dialog.reader.body
        assert body.allow_select
        dialog.selections = {body: Selection(Offset(7, 0), Offset(12, 0))}
        await drive.press("ctrl+c")
        assert drive.app.clipboard == "build"
        await drive.until(lambda: "Copied the selection, 5 characters." in drive.text())
        assert drive.app.screen is dialog and not drive.client.named("decide")
