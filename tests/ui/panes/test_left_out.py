"""A module whose context source is left out does not look as if all were well."""

import pytest

from amplifier_tui.host.events import ModuleLeftOut
from amplifier_tui.ui.panes.modules import module_details, module_row
from tests.ui.panes.test_modules_pane import mounted
from tests.ui.state.make import make, new_state


@pytest.mark.parametrize("width", [20, 34, 100])
def test_a_module_whose_source_is_left_out_says_so_until_it_is_mounted_anew(width: int) -> None:
    left = make(ModuleLeftOut, module_id="hooks-x", kind="hook", sources=("weather",))
    state = new_state(mounted("hooks-x", "hook"), left)
    (module,) = state.modules.ordered()
    row = module_row(module, width)
    assert row[0] == ("● ", "warning") and "left out" in "".join(piece for piece, _ in row)
    details = ["".join(piece for piece, _ in row) for row in module_details(module, 80)]
    assert any("weather: r brings it back" in line for line in details)
    state.apply([mounted("hooks-x", "hook")])
    assert module_row(module, width)[0] == ("● ", "success")
