"""How the screen looks: the theme, chosen or fit to the terminal, its colours, and what moves."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Final

from amplifier_tui.ui.app import pace
from amplifier_tui.ui.app.themes import (
    AUTO,
    DEFAULT_ROLES,
    DEFAULT_THEME,
    LIGHT_THEME,
    ThemeError,
    build_theme,
    check_roles,
    find_theme,
    load_all,
    plain_roles,
)
from amplifier_tui.ui.terminal import background, guard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.filter import LineFilter

    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.app.themes import Roles

_NOT_KEPT: Final = "The theme is not remembered"


def first_theme(app: SessionApp, wanted: str) -> str:
    """Put the theme of the first frame in force; remembered colours spare reading YAML.

    Nothing is asked for it: where the terminal decides, it is the one that fitted last.

    Args:
        wanted: The theme for this run; empty for the remembered one.

    Returns:
        What is wrong with it; empty for nothing.
    """
    preferences = app.preferences
    name = wanted or preferences.theme or AUTO
    app.fits_terminal = name == AUTO
    problem, roles = "", DEFAULT_ROLES
    try:
        if app.fits_terminal or name == preferences.theme:
            kept = preferences.fitting if app.fits_terminal else preferences.palette
            if kept is not None:
                roles = check_roles(kept, str(preferences.path))
        elif name != DEFAULT_THEME:
            roles = find_theme(name)
    except ThemeError as error:
        problem = str(error)
    add_theme(app, roles)
    app.theme = roles["name"]
    return problem


def line_filters(app: SessionApp) -> tuple[list[LineFilter], list[LineFilter]]:
    """Return what changes colours to suit the terminal, before Textual's own filters and after.

    Those before make up for colours the user does without, those after put in place of colours
    the ones that the terminal has.
    """
    before: list[LineFilter] = []
    after: list[LineFilter] = []
    if app.no_color:
        from amplifier_tui.ui.terminal.colors.no_color import Strong

        before.append(Strong())
    if app.console.color_system == "256":
        from amplifier_tui.ui.terminal.colors.color_depth import (
            RGB,
            Ground,
            Palette256,
            change_grounds,
        )

        def grounds() -> Mapping[RGB, Ground]:
            roles = app.themes.get(app.theme, DEFAULT_ROLES)
            surfaces = (roles["background"], roles["surface"], roles["panel"])
            tints = (roles["success"], roles["error"], roles["muted"])
            return change_grounds(surfaces, *tints, dark=bool(roles["dark"]))

        after.append(Palette256(grounds))
    elif app.console.color_system == "standard":
        from amplifier_tui.ui.terminal.colors.sixteen_colors import Palette16

        def surfaces() -> tuple[str, str]:
            roles = app.themes.get(app.theme, DEFAULT_ROLES)
            return roles["background"], roles["panel"]

        after.append(Palette16(surfaces))
    return before, after


def follow_terminal(app: SessionApp) -> None:
    """Set up the terminal now, and again when another program has had it."""
    _take_terminal(app)
    app.app_suspend_signal.subscribe(app, lambda _: guard.write(app, guard.OWN_MODES_OFF))
    app.app_resume_signal.subscribe(app, lambda _: _take_again(app))


def _take_again(app: SessionApp) -> None:
    _take_terminal(app)
    # Textual does so after another program only, and not where the shell had the terminal.
    app.refresh(layout=True)


def _take_terminal(app: SessionApp) -> None:
    guard.write(app, guard.own_modes(os.environ))
    ask_terminal(app)


def ask_terminal(app: SessionApp) -> None:
    """Ask what the background is; the answer comes as a message, or never."""
    if app.fits_terminal:
        guard.write(app, f"{background.question(os.environ)}{background.CAN_REPORT}")


def take_reports(app: SessionApp) -> None:
    """Have the terminal say when its colours change."""
    guard.write(app, background.REPORTS_ON)


def fit(app: SessionApp, light: bool | None) -> None:
    """Put the theme in force that fits a light or a dark terminal, unless the user chose one."""
    if light is None or not app.fits_terminal:
        return
    name = LIGHT_THEME if light else DEFAULT_THEME
    try:
        roles = app.themes.get(name) or find_theme(name)
    except ThemeError as error:
        app.say(str(error), "warning")
        return
    _put_in_force(app, roles)
    _keep(app, roles)


async def load_themes(app: SessionApp) -> None:
    """Make every theme known, read in a thread; the one in force is shown as its file says now."""
    found, app.theme_errors = await asyncio.to_thread(load_all)
    for roles in found:
        if roles["name"] != app.theme:
            add_theme(app, roles)
        elif roles != app.themes.get(roles["name"]):
            _put_in_force(app, roles)
            _keep(app, roles)


def _put_in_force(app: SessionApp, roles: Roles) -> None:
    """Show a theme, also in place of one of its name with other colours."""
    name = roles["name"]
    if app.theme == name and app.themes.get(name) != roles:
        # Setting the same name again would be taken for no change.
        app.theme = "textual-dark"
    add_theme(app, roles)
    app.theme = name


def _keep(app: SessionApp, roles: Roles) -> None:
    """Remember the colours of the theme in force for the next start."""
    kept = plain_roles(roles)
    if not app.fits_terminal:
        app.write(_NOT_KEPT, app.preferences.set_theme, roles["name"], kept)
    elif app.preferences.fitting != kept:
        app.write(_NOT_KEPT, app.preferences.set_fitting, kept)


def add_theme(app: SessionApp, roles: Roles) -> None:
    """Make a theme known to Textual."""
    app.themes[roles["name"]] = roles
    app.register_theme(build_theme(roles))


def themes(app: SessionApp, name: str = "") -> None:
    """Put a theme in force, or open the picker."""
    if name:
        choose(app, name)
        return
    from amplifier_tui.ui.dialogs.pickers import ThemePicker

    def show(found: str) -> None:
        if found in app.themes and found != app.theme:
            app.theme = found

    async def load() -> tuple[list[Roles], list[str]]:
        found, app.theme_errors = await asyncio.to_thread(load_all)
        for roles in found:
            # The one in force would not be drawn anew for it.
            if roles["name"] != app.theme:
                add_theme(app, roles)
        return known(), app.theme_errors

    def known() -> list[Roles]:
        return [app.themes[each] for each in sorted(app.themes)]

    errors, fits = app.theme_errors, app.fits_terminal
    picker = ThemePicker(known(), errors, app.theme, show, load, fits=fits)
    app.ask(picker, lambda found: choose(app, found))


def choose(app: SessionApp, name: str) -> None:
    """Put a theme in force and remember it; `AUTO` leaves it to the terminal from now on."""
    if name == AUTO:
        app.fits_terminal = True
        app.write(_NOT_KEPT, app.preferences.set_theme, "", None)
        kept = app.preferences.fitting
        # Not every terminal answers: until one does it is what the next start would show.
        fit(app, isinstance(kept, dict) and kept.get("name") == LIGHT_THEME)
        ask_terminal(app)
        app.say("The theme follows the terminal's background, where the terminal tells it.")
        return
    try:
        # As its file is by now: it is edited beside the program.
        roles = find_theme(name)
    except ThemeError as error:
        app.say(str(error), "warning")
        return
    app.fits_terminal = False
    _put_in_force(app, roles)
    _keep(app, roles)


def motion(app: SessionApp, wanted: str = "") -> None:
    """Choose how much may move; without a choice say it."""
    wanted = wanted.strip().lower()
    words = {"auto": "reduced over a network", "full": "all of it", "reduced": "nothing spins"}
    if wanted not in words:
        now = app.preferences.motion or "auto"
        app.say(f"Motion: {now} ({words[now]}). /motion auto, full or reduced.")
        return
    app.write("That is not remembered", app.preferences.set_motion, wanted.replace("auto", ""))
    still = pace.is_reduced({**os.environ, pace.MOTION: wanted})
    app.animation_level = "none" if still else "full"
    app.say(
        f"Motion: {wanted} ({words[wanted]}); answers are drawn that often from the next start."
    )
