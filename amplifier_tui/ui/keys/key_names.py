"""Keys in the words of the screen."""

_NAMES = {
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "minus": "-",
    "plus": "+",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def show_key(key: str) -> str:
    """Return one key in the words of the screen: `question_mark` is `?`, `f2` is `F2`."""
    *modifiers, name = key.split("+")
    name = _NAMES.get(name, name)
    if len(name) > 1 and name[0] == "f" and name[1:].isdigit():
        name = name.upper()
    return "+".join([*modifiers, name])


def show_keys(keys: str, limit: int = 1) -> str:
    """Return the first keys of a comma separated list, as `show_key` words joined by ` / `."""
    parts = [part.strip() for part in keys.split(",") if part.strip()]
    return " / ".join(show_key(part) for part in parts[:limit])
