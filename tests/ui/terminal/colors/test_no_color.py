from pathlib import Path

import pytest
import yaml
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome

from amplifier_tui.paths import shipped_themes_dir
from amplifier_tui.ui.app.themes import contrast
from amplifier_tui.ui.terminal.colors.no_color import Strong

THEMES = sorted(shipped_themes_dir().glob("*.yaml"))


def shown(color: str, ground: str, own: str = "") -> Color:
    """The colour of a text after the filters that NO_COLOR has a line go through."""
    line = [Segment("word", Style.parse(f"{color} on {own}" if own else color))]
    background = Color.parse(ground)
    [after] = Monochrome().apply(Strong().apply(line, background), background)
    assert after.style is not None and after.style.color is not None
    return Color.from_rich_color(after.style.color)


@pytest.mark.parametrize("role", ["error", "warning", "success"])
@pytest.mark.parametrize("path", THEMES, ids=lambda path: path.stem)
def test_without_colours_a_warning_is_no_paler_than_the_words_around_it(
    path: Path, role: str
) -> None:
    roles = yaml.safe_load(path.read_text())
    ground = Color.parse(roles["background"])

    warning = contrast(shown(roles[role], roles["background"]), ground)
    coloured = contrast(Color.parse(roles[role]), ground)
    quiet = contrast(shown(roles["muted"], roles["background"]), ground)

    assert warning > quiet
    assert warning >= coloured


def test_a_text_on_a_ground_of_its_own_is_set_off_from_that() -> None:
    assert shown("#f7768e", "#12141c", own="#ffffff").rgb[0] < 0x80
    assert shown("#f7768e", "#ffffff", own="#12141c").rgb[0] > 0xF0


def test_greys_and_lines_without_colours_stay_as_they_are() -> None:
    line = [Segment("a", Style.parse("#c8d0e7")), Segment("b"), Segment("c", Style(bold=True))]
    assert Strong().apply(line, Color.parse("#12141c")) == line
