from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amplifier_tui.ui.transcript.markdown.render import column_widths, markdown_lines
from tests.ui.transcript.documents import streamed, texts_of


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


def test_numbers_are_not_broken_where_columns_have_to_be_narrow() -> None:
    head = "| name | asked | tokens in |\n|---|--:|--:|\n"
    rows = texts(f"{head}| a rather long name | 1,204 | 12,345,678 |", 30)
    assert rows == [
        "name         asked   tokens in",
        "───────────  ─────  ──────────",
        "a rather     1,204  12,345,678",
        "long name",
    ]
    # Where they have no room beside each other, each has a row of its own.
    rows = texts(f"{head}| one | $1,234,567.89 | 12,345,678ms |", 32)
    assert rows == ["one", "  asked: $1,234,567.89", "  tokens in: 12,345,678ms"]


def test_a_table_that_goes_on_keeps_the_columns_that_its_first_numbers_need() -> None:
    numbers = ["1,234,567.89"] * 18 + ["7"] * 80
    rows = [f"| {'word ' * 9}| {number} |\n" for number in numbers]
    made = streamed(["| name | n |\n|---|--:|\n", *rows], 22)
    assert len(made.pieces) > 1
    ends = [row for row in texts_of(made) if row.endswith(("1,234,567.89", "7"))]
    assert len(ends) == len(numbers) and len({len(row) for row in ends}) == 1


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
