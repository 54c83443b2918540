"""Themes from YAML files: the eleven roles of the look, checked key by key."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.paths import shipped_themes_dir, user_config_dir

DEFAULT_THEME = "ink"
LIGHT_THEME = "paper"
AUTO = "auto"
"""What `--theme` and `/theme` take for the one of these two that fits the terminal."""
_PLAIN = {"dark": DEFAULT_THEME, "light": LIGHT_THEME}
"""What else they take, unless a file is named like that."""

_OTHERS = ("name", "description", "dark")

Roles = dict[str, str]
"""A checked theme file: the roles, and `name`, `description`, `dark` (`yes` or empty)."""

DEFAULT_ROLES: Roles = {
    "name": DEFAULT_THEME,
    "description": "Dark, cool, quiet.",
    "dark": "yes",
    "background": "#12141C",
    "surface": "#181B26",
    "panel": "#1F2335",
    "foreground": "#C8D0E7",
    "secondary": "#9AA5CE",
    "muted": "#858DB0",
    "primary": "#7AA2F7",
    "accent": "#E0AF68",
    "success": "#9ECE6A",
    "warning": "#E0AF68",
    "error": "#F7768E",
}
"""`themes/ink.yaml` as it is shipped: the first frame ever drawn need not read YAML."""

FITTING: Roles = {
    "name": AUTO,
    "description": "The default: light or dark as the terminal's background is.",
}
"""What is shown for `AUTO`; it has no colours of its own."""

ROLES: tuple[str, ...] = tuple(key for key in DEFAULT_ROLES if key not in _OTHERS)
"""The colours a theme file gives; all of them are required."""

LEAST_CONTRAST = 3.0
"""Between a text and what it stands on; below it a theme is refused."""

_SURFACES = ("background", "surface", "panel")
_TEXTS = tuple(role for role in ROLES if role not in _SURFACES)

_VARIABLES = {
    "background": "block-cursor-background block-cursor-blurred-background block-hover-background",
    "surface": "border-blurred input-cursor-foreground scrollbar-background "
    "scrollbar-background-hover scrollbar-background-active scrollbar-corner-color",
    "foreground": "text block-cursor-foreground block-cursor-blurred-foreground "
    "input-cursor-background screen-selection-foreground",
    "muted": "text-muted text-disabled foreground-muted foreground-disabled scrollbar-hover "
    "scrollbar-active",
    "primary": "border link-color",
}
"""Textual's variables that are a role itself."""


class ThemeError(ValueError):
    """A theme file is wrong; the message names the file and the key."""


def theme_dirs() -> tuple[Path, ...]:
    """Return the folders with theme files; later ones win."""
    return (shipped_themes_dir(), user_config_dir() / "themes")


def load_roles(path: Path) -> Roles:
    """Read and check one theme file.

    Raises:
        ThemeError: It cannot be read, or a key or a colour in it is wrong or missing.
    """
    import yaml

    where = f"{path.parent.name}/{path.name}"
    try:
        text = path.read_text("utf-8")
        # The C loader is eight times faster; it is missing where PyYAML was built without libyaml.
        data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, UnicodeDecodeError) as error:
        raise ThemeError(f"{where}: cannot be read: {error}") from error
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise ThemeError(f"{where}{line}: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, LookupError) as error:
        # The last two for what is written like a date or a number and is none.
        raise ThemeError(f"{where}: {' '.join(str(error).split())}") from error
    roles = check_roles(data, where)
    if roles["name"] != path.stem:
        raise ThemeError(f"{where}: name is {roles['name']!r}, but the file is {path.name}")
    return roles


def check_roles(data: Any, where: str) -> Roles:
    """Check the parsed content of a theme file, read from `where`; raises as `load_roles`."""
    if not isinstance(data, Mapping):
        raise ThemeError(f"{where}: must be a mapping of roles to colours")
    for key in data:
        if key not in ROLES and key not in _OTHERS:
            near = did_you_mean(str(key), (*ROLES, *_OTHERS))
            raise ThemeError(f"{where}: unknown key {key!r}{near}")
    name = data.get("name")
    if not isinstance(name, str) or not name.replace("-", "").isalnum() or name != name.lower():
        raise ThemeError(f"{where}: name must be lower case letters, digits and -")
    if name == AUTO:
        raise ThemeError(f"{where}: the name {AUTO} means the theme that fits the terminal")
    roles: Roles = {"name": name, "description": str(data.get("description") or "")}
    dark = data.get("dark", True)
    if not isinstance(dark, bool):
        raise ThemeError(f"{where}: dark must be true or false")
    roles["dark"] = "yes" if dark else ""
    for role in ROLES:
        if role in data and data[role] is None:
            words = "has no colour: without quotes, YAML takes #7AA2F7 for a comment"
            raise ThemeError(f"{where}: {role} {words}")
        roles[role] = _colour(data.get(role), f"{where}: {role}")
    for role in _TEXTS:
        for surface in _SURFACES:
            ratio = contrast(Color.parse(roles[role]), Color.parse(roles[surface]))
            if ratio < LEAST_CONTRAST:
                raise ThemeError(
                    f"{where}: {role} can't be read on {surface}: their contrast is {ratio:.1f}:1, "
                    f"and {LEAST_CONTRAST:g}:1 is the least"
                )
    return roles


def plain_roles(roles: Roles) -> dict[str, str | bool]:
    """Return roles as `check_roles` takes them, for a file that remembers them."""
    return {**roles, "dark": bool(roles["dark"])}


def contrast(one: Color, other: Color) -> float:
    """Return how well one colour can be read on the other, from 1 to 21 (WCAG 2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Color) -> float:
    """Return how bright a colour is to the eye, from 0 to 1."""
    linear = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    )
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def _colour(value: Any, where: str) -> str:
    if value is None:
        raise ThemeError(f"{where}: is missing")
    if not isinstance(value, str):
        raise ThemeError(f'{where}: must be a colour in quotes, such as "#7AA2F7"')
    try:
        colour = Color.parse(value)
    except ColorParseError as error:
        raise ThemeError(f"{where}: {value!r} is not a colour") from error
    if colour.a != 1 or colour.ansi is not None or colour.auto:
        raise ThemeError(f"{where}: {value!r} must be a plain colour without transparency")
    return colour.hex


def build_theme(roles: Roles) -> Theme:
    """Make Textual's theme of checked roles.

    Textual blends muted and tinted text; here each is the role itself, whose contrast is tested.
    """
    variables = {name: roles[role] for role, names in _VARIABLES.items() for name in names.split()}
    scrollbar = Color.parse(roles["panel"]).blend(Color.parse(roles["muted"]), 0.45).hex
    variables |= {"scrollbar": scrollbar, "link-background": "transparent"}
    # What is selected is the foreground's colour on this: tints could not be read there.
    selected = Color.parse(roles["background"]).blend(Color.parse(roles["primary"]), 0.4).hex
    variables |= {"screen-selection-background": selected}
    variables["link-style"] = "underline"
    # Derived by Textual, a colour comes out one step off.
    variables |= {role: roles[role] for role in ROLES if role != "muted"}
    hues = ("primary", "secondary", "accent", "success", "warning", "error")
    variables |= {f"text-{role}": roles[role] for role in hues}
    surfaces = ("background", "surface", "panel", "foreground")
    colours: dict[str, Any] = {role: roles[role] for role in (*surfaces, *hues)}
    return Theme(name=roles["name"], dark=bool(roles["dark"]), variables=variables, **colours)


def find_theme(name: str) -> Roles:
    """Load one theme by name; raises ThemeError also where there is none of that name."""
    for folder in reversed(theme_dirs()):
        path = folder / f"{name}.yaml"
        # Not every name can be one of a file.
        if path in folder.glob("*.yaml"):
            return load_roles(path)
    if name in _PLAIN:
        return find_theme(_PLAIN[name])
    # One that is broken would only be refused next.
    near = did_you_mean(name, [roles["name"] for roles in load_all()[0]]) or "; /theme lists them."
    raise ThemeError(f"There is no theme {name!r}{near}")


def load_all(folders: Iterable[Path] | None = None) -> tuple[list[Roles], list[str]]:
    """Load every theme file: the themes by name, and one line for each file that is wrong."""
    found: dict[str, Roles] = {}
    errors: list[str] = []
    for folder in folders if folders is not None else theme_dirs():
        for path in sorted(folder.glob("*.yaml")):
            try:
                roles = load_roles(path)
                found[roles["name"]] = roles
            except ThemeError as error:
                errors.append(str(error))
    return [found[name] for name in sorted(found)], errors
