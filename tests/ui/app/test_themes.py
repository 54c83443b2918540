import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.color import Color

from amplifier_tui.base.files import locked
from amplifier_tui.paths import shipped_themes_dir, user_config_dir
from amplifier_tui.ui.app.preferences import Preferences
from amplifier_tui.ui.app.themes import (
    DEFAULT_ROLES,
    DEFAULT_THEME,
    FITTING,
    LIGHT_THEME,
    ROLES,
    ThemeError,
    build_theme,
    find_theme,
    load_all,
    load_roles,
)
from amplifier_tui.ui.app.themes import contrast as between
from amplifier_tui.ui.terminal.colors.color_depth import channels, nearest
from tests.ui.driving import running

SHIPPED = sorted(path.stem for path in shipped_themes_dir().glob("*.yaml"))
SURFACES = ("background", "surface", "panel")
TEXTS = ("foreground", "secondary", "muted", "primary", "accent", "success", "warning", "error")


def contrast(one: str, other: str) -> float:
    return between(Color.parse(one), Color.parse(other))


def test_the_contrast_of_colours_is_that_of_wcag() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_there_are_a_dark_a_light_and_a_high_contrast_theme() -> None:
    themes = {roles["name"]: roles for roles in load_all([shipped_themes_dir()])[0]}
    assert len(themes) >= 6
    assert themes["ink"]["dark"] and not themes["paper"]["dark"]
    assert "contrast" in themes


def test_one_choice_alone_calls_itself_the_default() -> None:
    choices = (FITTING, *load_all([shipped_themes_dir()])[0])
    said = [each["name"] for each in choices if "default" in each["description"].lower()]
    assert said == ["auto"]


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("text", TEXTS)
def test_every_text_can_be_read_on_every_surface(name: str, text: str, surface: str) -> None:
    roles = load_roles(shipped_themes_dir() / f"{name}.yaml")
    wanted = 7.0 if name == "contrast" else 4.5
    assert contrast(roles[text], roles[surface]) >= wanted


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("tint", ["success", "error"])
def test_code_can_be_read_on_the_ground_of_added_and_removed_lines(name: str, tint: str) -> None:
    roles = load_roles(shipped_themes_dir() / f"{name}.yaml")
    wanted = 7.0 if name == "contrast" else 4.5
    ground = Color.parse(roles["background"]).blend(Color.parse(roles[tint]), 0.10)
    for text in TEXTS:
        assert contrast(roles[text], ground.hex) >= wanted, text
    changed = ground.blend(Color.parse(roles[tint]), 0.12)
    assert contrast(roles["foreground"], changed.hex) >= wanted


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_drawn_is_what_the_file_says(name: str) -> None:
    roles = find_theme(name)
    app = App()
    app.register_theme(build_theme(roles))
    app.theme = name
    colours = app.get_css_variables()
    for role in ROLES:
        assert colours["text-muted" if role == "muted" else role] == roles[role], role
    for role in ("primary", "secondary", "accent", "success", "warning", "error"):
        assert colours[f"text-{role}"] == roles[role]
    # What is drawn under the cursor of a list.
    for text in TEXTS:
        assert contrast(roles[text], colours["block-cursor-background"]) >= 4.5


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_selected_can_be_read_also_with_256_colours(name: str) -> None:
    app = App()
    app.register_theme(build_theme(find_theme(name)))
    app.theme = name
    variables = app.get_css_variables()
    text = Color.parse(variables["screen-selection-foreground"])
    ground = Color.parse(variables["screen-selection-background"])
    assert ground.a == 1 and between(text, ground) >= 4.5
    assert between(*(Color(*channels(nearest(*each.rgb))) for each in (text, ground))) >= 4.5
    # And it stands out.
    assert between(ground, Color.parse(variables["background"])) >= 1.8


def test_the_colours_of_the_first_frame_are_those_of_the_default_file() -> None:
    assert load_roles(shipped_themes_dir() / f"{DEFAULT_THEME}.yaml") == DEFAULT_ROLES


def good() -> dict[str, Any]:
    return {**DEFAULT_ROLES, "name": "mine", "dark": True}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"primary": None}, "primary has no colour: without quotes, YAML takes"),
        ({"primary": "bluish"}, "primary: 'bluish' is not a colour"),
        ({"primary": 123}, "primary: must be a colour in quotes"),
        ({"primary": "#12345678"}, "without transparency"),
        ({"primary": "ansi_red"}, "primary"),
        ({"primery": "#123456"}, "unknown key 'primery'; did you mean 'primary'?"),
        ({"muted": "#404560"}, "muted can't be read on background: their contrast is 2.0:1"),
        ({"dark": "yes"}, "dark must be true or false"),
        ({"name": "My Theme"}, "name must be"),
        ({"name": "other"}, "name is 'other'"),
    ],
)
def test_a_wrong_theme_file_is_refused_with_file_and_key(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(json.dumps({**good(), **change}))
    with pytest.raises(ThemeError, match=r"mine\.yaml") as caught:
        load_roles(path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text", ["- a\n- b\n", "a: [", "\x00", "just words", "", "dark: 2020-13-45", 'x: !!int ""']
)
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ThemeError, match=r"bad\.yaml"):
        load_roles(path)


def test_a_theme_that_is_no_yaml_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("name: bad\nprimary: [a\nx: {\n")
    with pytest.raises(ThemeError, match=r"^[^<]*/bad\.yaml:3: did not find [^<]*$"):
        load_roles(path)


def test_a_user_theme_takes_the_place_of_a_shipped_one_of_its_name(tmp_path: Path) -> None:
    mine = tmp_path / "ink.yaml"
    mine.write_text(json.dumps({**good(), "name": "ink", "primary": "#FF0000"}))
    themes, errors = load_all([shipped_themes_dir(), tmp_path])
    assert not errors
    assert next(r for r in themes if r["name"] == "ink")["primary"] == "#FF0000"


async def test_a_user_theme_can_be_chosen_and_a_broken_one_is_reported() -> None:
    folder = user_config_dir() / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(json.dumps({**good(), "background": "#010203"}))
    (folder / "broken.yaml").write_text("name: broken\nprimary: '#GGGGGG'\n")
    async with running(theme="mine") as drive:
        assert drive.app.theme == "mine"
        assert drive.app.main.styles.background == Color.parse("#010203")
        assert "broken.yaml" in drive.text()
        await drive.press("ctrl+x", "h")
        await drive.until(lambda: "✗" in drive.text())


@pytest.mark.parametrize("name", ["mine", "ink"])
async def test_a_theme_that_is_chosen_again_has_the_colours_its_file_gives_by_now(
    name: str,
) -> None:
    folder = user_config_dir() / "themes"
    folder.mkdir(parents=True)
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({**good(), "name": name}))
    async with running(theme=name) as drive:
        path.write_text(json.dumps({**good(), "name": name, "background": "#070809"}))
        drive.app.action_themes(name)
        await drive.settle()
        assert drive.app.main.styles.background == Color.parse("#070809")
        path.write_text(json.dumps({**good(), "name": name, "background": "#0708"}))
        drive.app.action_themes(name)
        await drive.until(lambda: "without transparency" in drive.text())
        assert drive.app.main.styles.background == Color.parse("#070809")


async def test_the_picker_lists_what_was_written_since_the_start_and_what_is_refused_of_it() -> (
    None
):
    folder = user_config_dir() / "themes"
    folder.mkdir(parents=True)
    async with running() as drive:
        (folder / "mine.yaml").write_text(json.dumps(good()))
        (folder / "dim.yaml").write_text(json.dumps({**good(), "name": "dim", "muted": "#202020"}))
        await drive.press("ctrl+x", "h")
        await drive.until(lambda: "themes/dim.yaml: muted can't be read" in drive.text())
        assert "mine" in drive.text()
        await drive.write("dim")
        assert "themes/dim.yaml: muted can't be read" in drive.text()
        await drive.write("zzz")
        assert "Nothing matches" in drive.text()


async def test_why_a_theme_is_refused_is_said_once() -> None:
    folder = user_config_dir() / "themes"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text("name: broken\nprimary: '#GGGGGG'\n")
    async with running(theme="broken") as drive:
        assert drive.app.state is not None
        said = [each.notice.text for each in drive.app.state.notices.history]
        assert sum("broken.yaml" in text for text in said) == 1


async def test_an_unknown_theme_falls_back_to_the_default_and_says_so() -> None:
    async with running(theme="nope") as drive:
        assert drive.app.theme == DEFAULT_THEME
        assert "There is no theme 'nope'" in drive.text()


async def test_light_and_dark_are_the_two_that_fit_the_terminal() -> None:
    async with running(theme="light") as drive:
        assert drive.app.theme == LIGHT_THEME
        await drive.write("/theme dark")
        await drive.press("enter")
        await drive.settle()
        assert drive.app.theme == DEFAULT_THEME
        assert drive.app.preferences.theme == DEFAULT_THEME


def test_a_file_named_light_is_another_theme() -> None:
    folder = user_config_dir() / "themes"
    folder.mkdir(parents=True)
    text = (shipped_themes_dir() / "moss.yaml").read_text().replace("name: moss", "name: light")
    (folder / "light.yaml").write_text(text)
    assert find_theme("light")["name"] == "light"


def test_a_misspelled_theme_is_offered_the_nearest() -> None:
    with pytest.raises(ThemeError, match="'papr'; did you mean 'paper'"):
        find_theme("papr")


def test_a_theme_that_is_broken_is_not_offered() -> None:
    folder = user_config_dir() / "themes"
    folder.mkdir(parents=True)
    (folder / "bad6.yaml").write_text("name: bad6\n")
    with pytest.raises(ThemeError, match=r"There is no theme 'bad7'; /theme lists them\."):
        find_theme("bad7")


async def test_a_remembered_theme_whose_file_changed_is_shown_as_it_is_now() -> None:
    folder = user_config_dir() / "themes"
    folder.mkdir(parents=True)
    path = folder / "mine.yaml"
    path.write_text(json.dumps(good()))
    async with running(theme="mine") as drive:
        drive.app.action_themes("mine")
    path.write_text(json.dumps({**good(), "background": "#070809"}))
    async with running() as drive:
        assert drive.app.theme == "mine"
        assert drive.app.main.styles.background == Color.parse("#070809")
    assert Preferences().palette["background"] == "#070809"


async def test_a_remembered_palette_that_was_tampered_with_is_not_fatal() -> None:
    path = user_config_dir() / "preferences.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"theme": "paper", "palette": {"primary": 3}}))
    async with running() as drive:
        assert drive.app.theme == DEFAULT_THEME
        assert "preferences.json" in drive.text()


# --- preferences -----------------------------------------------------------------------------


def test_two_programs_do_not_undo_each_others_preferences(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    one, two = Preferences(path), Preferences(path)
    one.set_theme("ink", {"name": "ink"})
    two.set_panes("/a", ["context"])
    one.set_panes("/b", [])
    again = Preferences(path)
    assert again.theme == "ink"
    assert again.panes("/a") == ["context"] and again.panes("/b") == []
    assert {p.name for p in tmp_path.iterdir()} == {path.name, f"{path.name}.lock"}


def test_a_choice_counts_also_when_another_window_chose_otherwise_since(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    one, two = Preferences(path), Preferences(path)
    one.set_theme("ink", {"name": "ink"})
    two.set_theme("paper", {"name": "paper"})
    one.set_theme("ink", {"name": "ink"})
    one.set_panes("/a", ["context"])
    two.set_panes("/a", [])
    one.set_panes("/a", ["context"])
    again = Preferences(path)
    assert again.theme == "ink" and again.panes("/a") == ["context"]


def test_windows_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"

    def write(window: int) -> None:
        preferences = Preferences(path)
        for n in range(5):
            preferences.set_panes(f"/{window}/{n}", ["events"])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    again = Preferences(path)
    assert all(again.panes(f"/{w}/{n}") == ["events"] for w in range(6) for n in range(5))


async def test_another_window_that_is_writing_holds_up_no_key_and_what_is_chosen_is_kept() -> None:
    path = Preferences().path
    async with running() as drive:
        with locked(path, 1):
            await drive.press("f2", "f2", "f3")
            await drive.press("f3")
            assert "not remembered" not in drive.text()
    assert Preferences(path).panes(str(drive.app.cwd)) == ["context"]


@pytest.mark.parametrize("text", ["", "[1]", "{", "\xff", '{"theme": 3, "panes": 4}'])
def test_broken_preferences_count_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "preferences.json"
    path.write_bytes(text.encode("latin-1"))
    preferences = Preferences(path)
    assert preferences.theme == "" and preferences.panes("/a") is None
    preferences.set_panes("/a", ["events"])
    assert Preferences(path).panes("/a") == ["events"]
    kept = path.with_name("preferences.json.broken")
    # What can't be read may have been written by hand.
    assert kept.exists() != text.endswith("4}")


def test_remembered_models_with_a_field_that_is_none_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text('{"models": {"a": {"model": "m"}, "b": {"other": null}}}')
    assert list(Preferences(path).models) == ["a"]


async def test_a_config_directory_that_cannot_be_written_is_said_and_survived() -> None:
    folder = user_config_dir()
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where the directory should be")
    async with running() as drive:
        drive.app.action_themes("paper")
        await drive.until(lambda: "not remembered" in drive.text())
        assert drive.app.theme == "paper"


def test_a_name_that_no_file_can_have_is_that_of_no_theme() -> None:
    with pytest.raises(ThemeError, match="There is no theme"):
        find_theme("a" * 5_000)
