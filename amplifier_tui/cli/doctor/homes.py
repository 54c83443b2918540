"""Where things are kept: whether it is there, whose it is, and how much of it there is."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.doctor.findings import Diagnosis, State
from amplifier_tui.paths import amplifier_home, user_config_dir, user_log_dir, user_state_dir

if TYPE_CHECKING:
    from amplifier_tui.foundation.workspace import Workspace

_MEBIBYTE: Final = 1024 * 1024
_LEAST_FREE: Final = 500
"""Mebibytes."""
_LOOK_SECONDS: Final = 1.0


def look_at_homes(workspace: "Workspace") -> Iterator[Diagnosis]:
    """Yield what is found out about the program's folders, settings, rules, keymap, themes and
    preferences.
    """
    home = amplifier_home()
    for what, place in (
        ("home", home),
        ("configuration", user_config_dir()),
        ("state", user_state_dir()),
        ("log", user_log_dir()),
    ):
        yield _folder(what, place)
    yield _space(home)
    yield _size("cache", home / "cache")
    yield _size("sessions", home / "projects")
    for problem in workspace.problems:
        where = f"{problem.path}:{problem.line}" if problem.line else str(problem.path)
        yield _setting(f"{where}: {problem.message}", "until then it does not count")
    yield from _values(workspace)
    yield from _rules()
    yield from _keymap()
    yield from _themes()
    yield from _preferences()


def _values(workspace: "Workspace") -> Iterator[Diagnosis]:
    """Yield which settings have a value that means nothing."""
    from amplifier_tui.host.gate.modes import first_mode
    from amplifier_tui.host.session.gating import sandbox_terms

    _, wrong = first_mode("mode", workspace.settings.get("mode"))
    if wrong:
        yield _setting(wrong, "until then the bundle says how a session begins")
    _, problem = sandbox_terms(workspace)
    if problem is not None:
        yield _setting(f"{problem.path}: {problem.message}", "until then it counts as said here")


def _setting(said: str, until: str) -> Diagnosis:
    remedy = f"Correct that place; {until}."
    return Diagnosis(what="settings", state="warning", said=said, remedy=remedy)


def _rules() -> Iterator[Diagnosis]:
    from amplifier_tui.host.gate.rules.file import load_rules

    for problem in load_rules(Path.cwd())[1]:
        said, remedy = str(problem), problem.remedy
        yield Diagnosis(what="rules", state="warning", said=said, remedy=remedy)


def _keymap() -> Iterator[Diagnosis]:
    from amplifier_tui.ui.keys.keymap_file import load_keymap

    file = user_config_dir() / "keymap.toml"
    for said in load_keymap(file).errors:
        keys = as_typed("amplifier-tui keys")
        remedy = f"Correct {file}; `{keys}` lists what holds until then."
        yield Diagnosis(what="keys", state="warning", said=said, remedy=remedy)


def _themes() -> Iterator[Diagnosis]:
    from amplifier_tui.ui.app.themes import load_all

    folder = user_config_dir() / "themes"
    for said in load_all((folder,))[1]:
        remedy = f"Correct that file in {folder}; until then there is no such theme."
        yield Diagnosis(what="theme", state="warning", said=said, remedy=remedy)


def _preferences() -> Iterator[Diagnosis]:
    from amplifier_tui.ui.app.preferences import Preferences

    if said := Preferences().error:
        remedy = "Correct or remove that file; the next change in the program puts a new one there."
        yield Diagnosis(what="preferences", state="warning", said=said, remedy=remedy)


def _folder(what: str, place: Path) -> Diagnosis:
    nearest = place
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    state: State = "ok"
    said, remedy = str(place), ""
    lines: tuple[str, ...] = ()
    if place.exists() and not place.is_dir():
        state, said = "error", f"{place} is no folder"
        remedy = "Move it away."
    elif not os.access(nearest, os.W_OK | os.X_OK):
        state, said = "error", f"{nearest} can't be written: nothing is kept"
        remedy, lines = "Make it yours.", (f'chown -R "$USER" {nearest}',)
    elif not place.exists():
        said = f"{place} is made when it is needed"
    elif place.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        state, said = "warning", f"{place} can be written by other users of this machine"
        remedy, lines = "Keep them out.", (f"chmod go-w {place}",)
    return Diagnosis(what=what, state=state, said=said, remedy=remedy, lines=lines)


def _space(home: Path) -> Diagnosis:
    place = next(path for path in (home, *home.parents) if path.exists())
    free = shutil.disk_usage(place).free // _MEBIBYTE
    short = free < _LEAST_FREE
    return Diagnosis(
        what="disk",
        state="warning" if short else "ok",
        said=f"{free} MiB free",
        remedy="Make room: sessions can't be saved on a full disk." if short else "",
    )


def _size(what: str, folder: Path) -> Diagnosis:
    """Count what is below a folder, for as long as that takes no time."""
    size = count = 0
    until = monotonic() + _LOOK_SECONDS
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                continue  # removed meanwhile
            count += 1
        if monotonic() > until:
            return Diagnosis(what=what, said=f"more than {size // _MEBIBYTE} MiB in {folder}")
    return Diagnosis(what=what, said=f"{size / _MEBIBYTE:.1f} MiB in {count} files")
