import colorsys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from amplifier_tui.paths import shipped_themes_dir
from amplifier_tui.ui.app.appearance import add_theme
from amplifier_tui.ui.app.themes import contrast, load_roles
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.terminal.colors.color_depth import Palette256, channels, nearest
from amplifier_tui.ui.terminal.guard import takes_true_color
from tests.ui.driving import running
from tests.ui.looking import _rows
from tests.ui.requests import DIFF, ask

CHANNEL = st.integers(0, 255)
THEMES = sorted(shipped_themes_dir().glob("*.yaml"))


def is_grey(number: int) -> bool:
    return len(set(channels(number))) == 1


@given(CHANNEL, CHANNEL, CHANNEL)
def test_no_palette_colour_is_nearer_than_the_one_chosen(red: int, green: int, blue: int) -> None:
    def distance(number: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(channels(number), (red, green, blue), strict=True))

    least = min(map(distance, range(16, 256)))
    chosen = nearest(red, green, blue)
    greys = [number for number in range(16, 256) if distance(number) == least and is_grey(number)]
    plain = max(red, green, blue) - min(red, green, blue) >= 64
    assert distance(chosen) == least or (plain and greys)


@given(CHANNEL, CHANNEL, CHANNEL)
def test_a_plain_colour_is_never_shown_as_a_grey(red: int, green: int, blue: int) -> None:
    if max(red, green, blue) - min(red, green, blue) >= 64:
        assert not is_grey(nearest(red, green, blue))


@pytest.mark.parametrize("path", THEMES, ids=lambda path: path.stem)
def test_green_and_red_stay_what_they_are_in_256_colours(path: Path) -> None:
    roles = yaml.safe_load(path.read_text())
    shown = [channels(nearest(*Color.parse(roles[name]).rgb)) for name in ("success", "error")]

    green = shown[0]
    assert green[1] == max(green) and green[1] > green[2], "a teal is too near to a blue"
    assert len(set(green)) > 1
    assert shown[1][0] == max(shown[1]) > shown[1][1]


@pytest.mark.parametrize("path", THEMES, ids=lambda path: path.stem)
def test_the_surfaces_of_a_theme_stay_apart_in_256_colours(path: Path) -> None:
    roles = yaml.safe_load(path.read_text())
    surfaces = [Color.parse(roles[name]) for name in ("background", "surface", "panel")]
    shown = [channels(nearest(*surface.rgb)) for surface in surfaces]

    assert len(set(shown)) == 3
    for surface in shown:
        assert colorsys.rgb_to_hls(*(value / 255 for value in surface))[2] < 0.25, (
            "a tinted surface"
        )


def test_a_line_loses_nothing_but_the_depth_of_its_colours() -> None:
    style = Style.parse("bold #7aa2f7 on #1f2335")
    line = [Segment("word", style), Segment(" plain"), Segment("ansi", Style.parse("red"))]

    shown = Palette256().apply(line, Color.parse("#1f2335"))

    assert [segment.text for segment in shown] == ["word", " plain", "ansi"]
    first = shown[0].style
    assert first is not None
    assert first.bold
    assert first.color is not None
    assert first.color.downgrade(ColorSystem.EIGHT_BIT) == first.color
    assert first.bgcolor is not None
    assert first.bgcolor.number == 235
    assert shown[1:] == line[1:]


@pytest.mark.parametrize(
    ("environ", "takes"),
    [
        ({"TMUX": "/tmp/socket,1,0", "TERM": "screen"}, True),
        ({"TERM": "screen"}, False),
        ({"TMUX": "x", "COLORTERM": "truecolor"}, False),
        ({"TMUX": "x", "TEXTUAL_COLOR_SYSTEM": "256"}, False),
        ({"TMUX": "x", "NO_COLOR": "1"}, False),
    ],
)
def test_tmux_gets_24_bit_colours_unless_somebody_chose_others(
    environ: dict[str, str], takes: bool
) -> None:
    assert takes_true_color(environ) is takes


@pytest.mark.parametrize("path", THEMES, ids=lambda path: path.stem)
async def test_added_and_removed_lines_have_colours_of_their_own_that_can_be_read_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "screen-256color")
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "256")
    monkeypatch.delenv("COLORTERM", raising=False)
    async with running() as drive:
        add_theme(drive.app, load_roles(path))
        drive.app.theme = path.stem
        await drive.push(ask(payload="", payload_kind="text", diff=DIFF, tool="edit_file"))
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        palette = drive.app._palette[-1]
        grounds: dict[str, set[int]] = {"−": set(), "+": set()}
        for row in _rows(drive.app):
            text = "".join(segment.text for segment in row)
            sign = next((each for each in grounds if f" {each} " in text[:14]), "")
            for text, style, _ in palette.apply(row, Color.parse("#000000")) if sign else []:
                if not text.strip() or not style or not style.bgcolor or not style.color:
                    continue
                ground, ink = style.bgcolor.number or 0, style.color.number or 0
                if ground >= 16 and not is_grey(ground):
                    grounds[sign].add(ground)
                    found = contrast(Color(*channels(ink)), Color(*channels(ground)))
                    assert round(found, 1) >= (7 if path.stem == "contrast" else 4.5)
        removed, added = (min(each) for each in grounds.values())
        assert channels(removed)[0] == max(channels(removed)) > channels(removed)[1]
        assert channels(added)[1] == max(channels(added)) > channels(added)[0]
