"""Images in cells: in their proportions, whole, two pixels a cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color

from amplifier_tui.ui.images.cells import PixelSize, fit, row_segments
from tests.pixels import BLUE, GREEN, RED, WHITE, quarters

SIDE = st.integers(1, 100_000)


@pytest.mark.parametrize(
    ("image", "size", "rows"),
    [
        ((800, 600), (32, 24), 12),
        ((600, 300), (40, 20), 10),
        ((600, 301), (40, 20), 10),
        ((600, 320), (40, 21), 11),
        ((16, 16), (16, 16), 8),
        ((1, 1), (1, 1), 1),
        ((1, 10_000), (1, 24), 12),
        ((10_000, 1), (40, 1), 1),
    ],
)
def test_an_image_keeps_its_proportions(
    image: tuple[int, int], size: tuple[int, int], rows: int
) -> None:
    found = fit(*image, 40, 12)
    assert (found, found.rows) == (size, rows)


def test_a_small_image_is_enlarged_where_it_has_a_screen_for_itself() -> None:
    assert fit(16, 16, 76, 20, enlarge=True) == (40, 40)


@given(SIDE, SIDE, st.integers(0, 300), st.integers(0, 100), st.booleans())
def test_any_image_has_room(width: int, height: int, columns: int, rows: int, large: bool) -> None:
    found = fit(width, height, columns, rows, enlarge=large)
    assert 1 <= found.width <= max(1, columns)
    assert 1 <= found.rows <= max(1, rows)


def test_the_upper_pixels_are_in_front_and_the_lower_behind() -> None:
    cells = list(row_segments(quarters().tobytes(), PixelSize(2, 2), 0))
    assert [cell.text for cell in cells] == ["▀", "▀"]
    found = [(cell.style.color, cell.style.bgcolor) for cell in cells if cell.style]
    wanted = [(RED, BLUE), (GREEN, WHITE)]
    assert found == [(Color.from_rgb(*up), Color.from_rgb(*down)) for up, down in wanted]


def test_equal_neighbours_are_one_and_the_half_below_the_last_pixels_stays_free() -> None:
    (cell,) = row_segments(bytes(RED) * 9, PixelSize(3, 3), 1)
    assert cell.text == "▀▀▀"
    assert cell.style is not None and cell.style.bgcolor is None
