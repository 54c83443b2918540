from pathlib import Path

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from amplifier_tui.paths import shipped_themes_dir
from amplifier_tui.ui.app.themes import load_roles
from amplifier_tui.ui.terminal.colors.sixteen_colors import Palette16, ground_of, text_of

THEMES = sorted(shipped_themes_dir().glob("*.yaml"))
DARK_TEXT, LIGHT_TEXT = {0, 1, 2, 3, 4, 5, 6}, {7, *range(9, 16)}


@pytest.mark.parametrize("path", THEMES, ids=lambda path: path.stem)
def test_every_text_of_a_theme_stands_out_and_a_panel_from_the_background(path: Path) -> None:
    roles = load_roles(path)
    dark = bool(roles["dark"])
    background, panel = (Color.parse(roles[name]).rgb for name in ("background", "panel"))
    assert ground_of(background, background, panel) == (0 if dark else 15)
    assert ground_of(panel, background, panel) == (8 if dark else 7)
    texts = ("foreground", "secondary", "muted", "primary", "accent", "success", "error")
    shown = {name: text_of(Color.parse(roles[name]).rgb, dark=dark) for name in texts}
    assert set(shown.values()) <= (LIGHT_TEXT if dark else DARK_TEXT)
    assert len({shown[name] for name in ("foreground", "success", "error")}) == 3


@pytest.mark.parametrize("path", THEMES, ids=lambda path: path.stem)
def test_the_ground_of_changed_lines_is_a_surface_and_a_mark_has_its_own(path: Path) -> None:
    roles = load_roles(path)
    background, panel, success = (
        Color.parse(roles[name]) for name in ("background", "panel", "success")
    )
    tinted = background.blend(success, 0.1)
    assert ground_of(tinted.rgb, background.rgb, panel.rgb) in (0, 7, 8, 15)
    assert ground_of(success.rgb, background.rgb, panel.rgb) in (2, 10, 11)


def test_a_line_is_drawn_with_the_terminals_own_colours() -> None:
    line = [
        Segment("a", Style.parse("bold #7AA2F7 on #1F2335")),
        Segment("b"),
        Segment("c", Style()),
    ]
    palette = Palette16(lambda: ("#12141C", "#1F2335"))
    coloured, plain, unstyled = palette.apply(line, Color.parse("#12141C"))
    assert coloured.style is not None
    assert coloured.style.render("x", color_system=ColorSystem.STANDARD) == "\x1b[1;96;100mx\x1b[0m"
    assert plain.style is None and unstyled.style == Style()
