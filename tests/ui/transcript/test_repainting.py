"""Which rows are painted again while an answer streams: those that changed, and few others."""

import pytest
from textual.geometry import Region

from amplifier_tui.ui.state.conversation.entries import EntryChange, TextEntry
from amplifier_tui.ui.transcript.view import TranscriptView
from tests.ui.transcript.conversation import ANSWER
from tests.ui.transcript.stage import Stage, stage, until


@pytest.fixture
def regions(monkeypatch: pytest.MonkeyPatch) -> list[Region]:
    """What of the view was to be painted again."""
    found: list[Region] = []
    refresh = TranscriptView.refresh

    def noted(view, *these, **how):
        found.extend(these or [Region(0, 0, *view.size)])
        return refresh(view, *these, **how)

    monkeypatch.setattr(TranscriptView, "refresh", noted)
    return found


def rows(app: Stage) -> list[object]:
    return [list(app.view.render_line(y)) for y in range(app.view.size.height)]


async def grow(app: Stage, pilot, entry: TextEntry, text: str) -> None:
    entry.text = text
    app.view.apply([EntryChange(op="stream", entry=entry, text=text)])
    await until(pilot, lambda: not app.view._arrivals.waiting)


async def test_a_word_at_the_end_of_a_long_paragraph_paints_its_row_alone(regions) -> None:
    entry = TextEntry(key="t", text="", streaming=True)
    async with stage([entry]) as (app, pilot):
        await grow(app, pilot, entry, "word " * 152)
        regions.clear()
        before = rows(app)
        last = max(y for y, row in enumerate(app.rows) if row)
        await grow(app, pilot, entry, entry.text + "end")
        assert app.rows[last].endswith("end")
        assert last > 5 and rows(app)[:last] == before[:last]
        assert {region.y for region in regions} == {last}


@pytest.mark.parametrize("chunk", [3, 17, 90])
async def test_every_row_that_changed_while_a_text_streams_is_painted(regions, chunk: int) -> None:
    entry = TextEntry(key="t", text="", streaming=True)
    texts = [ANSWER[:end] for end in range(chunk, len(ANSWER) + chunk, chunk)]
    # Then another answer comes in its place, which is shorter.
    texts += ["Another answer.", "Another answer.\n\n- and more"]
    async with stage([entry], (60, 30)) as (app, pilot):
        before = rows(app)
        for text in texts:
            regions.clear()
            await grow(app, pilot, entry, text)
            now = rows(app)
            changed = {y for y, row in enumerate(now) if row != before[y]}
            assert changed <= {y for region in regions for y in region.line_range}, text
            before = now
