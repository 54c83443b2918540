from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amplifier_tui.ui.transcript.markdown.render import column_widths, markdown_lines


def texts(source: str, measure: int = 60) -> list[str]:
    return [line.text.rstrip() for line in markdown_lines(source, measure)]


def test_columns_align_and_wide_characters_count_double() -> None:
    assert texts("| a | n | c |\n|:--|--:|:-:|\n| x | 12 | mid |\n| 漢字 | 7 | m |") == [
        "a      n   c",
        "────  ──  ───",
        "x     12  mid",
        "漢字   7   m",
    ]


def test_cells_wrap_when_the_table_is_too_wide() -> None:
    rows = texts("| name | why |\n|---|---|\n| one | a long reason that wraps |", 20)
    assert rows == [
        "name  why",
        "────  ──────────────",
        "one   a long reason",
        "      that wraps",
    ]


def test_a_table_without_room_for_columns_becomes_records() -> None:
    rows = texts("| name | n | why |\n|---|---|---|\n| one | 1 | because |\n| two | 2 | |", 14)
    assert rows == ["one", "  n: 1", "  why: because", "two", "  n: 2"]


def test_rows_that_come_later_move_no_column() -> None:
    head = "| a | b |\n|---|---|\n" + "| x | y |\n" * 16
    late = head + "| a much longer cell than all before | y |\n"
    assert texts(late)[: len(texts(head))] == texts(head)


@given(st.lists(st.integers(1, 80), min_size=1, max_size=9), st.integers(1, 120))
def test_columns_fit_and_narrow_ones_keep_their_width(naturals: list[int], measure: int) -> None:
    widths = column_widths(naturals, measure)
    if widths is None:
        return
    assert sum(widths) + 2 * (len(widths) - 1) <= measure
    for natural, width in zip(naturals, widths, strict=True):
        assert 1 <= width <= max(natural, 6)


@given(
    st.lists(st.text(alphabet="a漢 `*|\\", max_size=30), min_size=1, max_size=12),
    st.integers(4, 60),
)
def test_no_row_is_wider_than_the_column(cells: list[str], measure: int) -> None:
    rows = "\n".join(
        "| " + " | ".join(cells[index : index + 3]) + " |" for index in range(0, 12, 3)
    )
    for line in markdown_lines(f"| a | b | c |\n|---|---|---|\n{rows}", measure):
        assert cell_len(line.text) <= max(measure, 2)
