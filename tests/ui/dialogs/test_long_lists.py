from collections.abc import Sequence

import pytest
from textual.content import Content

from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow, row_ids
from tests.ui.driving import running


def test_rows_of_a_long_list_are_made_when_they_are_drawn() -> None:
    made: list[int] = []

    def row(number: int) -> PickRow:
        made.append(number)
        return PickRow(str(number), Content(f"row {number}"))

    rows = LazyRows(range(1_000), row, str)
    assert (len(rows), row_ids(rows)[-1], made) == (1_000, "999", [])
    assert [rows[-1].id, rows[3].id, rows[3].id] == ["999", "3", "3"]
    assert [each.id for each in rows[5:7]] == ["5", "6"]
    assert made == [999, 3, 5, 6]
    with pytest.raises(IndexError):
        rows[1_000]


@pytest.mark.parametrize("keep", ["", "70"])
async def test_a_picker_makes_no_more_rows_than_fit(keep: str) -> None:
    made: set[str] = set()

    class Long(Picker):
        def _rows_for(self, query: str) -> Sequence[PickRow]:
            return LazyRows([str(n) for n in range(100)], self._row, str)

        def _row(self, name: str) -> PickRow:
            made.add(name)
            return PickRow(name, Content(name))

        def _first(self) -> str:
            return keep

    async with running() as drive:
        drive.app.push_screen(Long())
        picker = await drive.dialog(Long)
        assert picker.rows.row is not None and picker.rows.row.id == (keep or "0")
        assert 0 < len(made) <= 2 * picker.rows.size.height
        assert "100" in drive.text()


async def test_what_is_said_of_a_row_comes_with_the_rows() -> None:
    said: list[str] = []

    class Spoken(Picker):
        def _rows_for(self, query: str) -> Sequence[PickRow]:
            return [PickRow(name, Content(name)) for name in ("one", "two") if query in name]

        def _highlighted(self, row: PickRow | None) -> None:
            said.append(row.id if row is not None else "")

    async with running() as drive:
        drive.app.push_screen(Spoken())
        picker = await drive.dialog(Spoken)
        assert said == ["one"]
        # Nothing waits for a message, which would come after the frame with the rows.
        picker.refill("two")
        assert said == ["one", "two"]
        await drive.press("up")
        assert said == ["one", "two", "one"]
