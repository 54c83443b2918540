import pytest
from textual.app import App, ComposeResult

from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.text_lines import TextLine


class Stage(App[None]):
    CSS = "ScrollLines { max-height: 5; }"

    def __init__(self, lines: list[TextLine]) -> None:
        super().__init__()
        self.lines = lines

    def compose(self) -> ComposeResult:
        yield ScrollLines(self.lines)


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
