from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amplifier_tui.host.events import HostEvent
from amplifier_tui.ui.panes.context.rows import context_rows, full_context_rows
from amplifier_tui.ui.panes.modules import module_details, module_row, modules_head
from amplifier_tui.ui.widgets.styled import Piece, fit, fit_pieces, pieces_width, spread
from tests.ui.state.make import NOW, new_state
from tests.ui.state.streams import STREAM


def check(row: list[Piece], width: int) -> None:
    line = "".join(text for text, _ in row)
    assert not set(line) & {"\x1b", "\n", "\r", "\u202e", "\x07"}
    assert width < 8 or cell_len(line) <= width


@given(STREAM, st.integers(1, 200))
def test_any_stream_can_be_drawn_at_any_width(events: list[HostEvent], width: int) -> None:
    state = new_state(*events)
    rows = context_rows(state.budget, width, groups=5)
    rows += full_context_rows(state.budget, width, model=state.facts.model, clock=lambda: NOW)
    rows.append(modules_head(state.modules, width))
    for module in state.modules.ordered():
        rows.append(module_row(module, width))
        rows += module_details(module, width)
    for row in rows:
        check(row, width)


PIECES = st.lists(st.tuples(st.text(max_size=12), st.just("text")), max_size=4)


@given(PIECES, PIECES, st.integers(0, 40))
def test_a_row_is_spread_to_exactly_its_width(
    left: list[Piece], right: list[Piece], width: int
) -> None:
    assert pieces_width(spread(left, right, width)) == width


@given(PIECES, st.integers(0, 40))
def test_pieces_are_cut_to_the_width_and_say_so(pieces: list[Piece], width: int) -> None:
    cut = fit_pieces(pieces, width)
    assert pieces_width(cut) <= width
    if pieces_width(pieces) <= width:
        assert cut == pieces
    elif width > 0:
        assert "".join(text for text, _ in cut).endswith("…")


@given(st.text(max_size=30), st.integers(0, 40))
def test_text_is_cut_to_the_width(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) <= width
