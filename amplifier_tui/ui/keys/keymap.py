"""The keys in force, and keys in the words of the screen."""

from amplifier_tui.ui.keys.action import LEADER, Action, KeyScope
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID, in_scope

# Readline's where they do not clash with a terminal's own. They replace TextArea's list, which
# also claims ctrl+x, f6 and f7.
EDITING: tuple[tuple[str, str], ...] = (
    ("up", "cursor_up"),
    ("down", "cursor_down"),
    ("left", "cursor_left"),
    ("right", "cursor_right"),
    ("ctrl+left", "cursor_word_left"),
    ("ctrl+right", "cursor_word_right"),
    ("home,ctrl+a", "cursor_line_start"),
    ("end,ctrl+e", "cursor_line_end"),
    ("shift+up", "cursor_up(True)"),
    ("shift+down", "cursor_down(True)"),
    ("shift+left", "cursor_left(True)"),
    ("shift+right", "cursor_right(True)"),
    ("ctrl+shift+left", "cursor_word_left(True)"),
    ("ctrl+shift+right", "cursor_word_right(True)"),
    ("shift+home", "cursor_line_start(True)"),
    ("shift+end", "cursor_line_end(True)"),
    ("backspace", "delete_left"),
    ("delete", "delete_right"),
    ("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left"),
    ("alt+delete", "delete_word_right"),
    ("ctrl+u,super+backspace", "delete_to_start_of_line"),
    ("ctrl+k", "delete_to_end_of_line_or_delete_line"),
    ("ctrl+v", "paste"),
    ("ctrl+z,super+z", "undo"),
    ("ctrl+y,super+y", "redo"),
)
"""Keys, comma separated, and TextArea's action."""

EDITING_KEYS: frozenset[str] = frozenset(key for keys, _ in EDITING for key in keys.split(","))
"""Keys that edit the draft and can be given to nothing else."""

SHOWN = {
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "question_mark": "?",
    "exclamation_mark": "!",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "slash": "/",
    "full_stop": ".",
    "semicolon": ";",
    "comma": ",",
    "minus": "-",
    "plus": "+",
    "equals_sign": "=",
    "dollar_sign": "$",
    "colon": ":",
    "asterisk": "*",
    "number_sign": "#",
    "at": "@",
    "ampersand": "&",
    "percent_sign": "%",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
"""What the screen calls keys by their names."""


def show_key(key: str) -> str:
    """Return one key in the words of the screen: `question_mark` is `?`, `f2` is `F2`."""
    *modifiers, name = key.split("+")
    name = SHOWN.get(name, name)
    if len(name) > 1 and name[0] == "f" and name[1:].isdigit():
        name = name.upper()
    return "+".join([*modifiers, name])


def show_keys(keys: str, limit: int = 1) -> str:
    """Return the first keys of a comma separated list, as `show_key` words joined by ` / `."""
    parts = [part.strip() for part in keys.split(",") if part.strip()]
    return " / ".join(show_key(part) for part in parts[:limit])


class Keymap:
    """The keys of the table, with the user's on top (`ui/keys/keymap_file.py` reads them).

    Both are by action id: `keys` comma separated, empty for unbound. Of what was refused, `errors`
    has a line each, and the default stays in force.
    """

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}
        self.chords: dict[str, str] = {}
        self.errors: list[str] = []

    def keys_of(self, action: Action) -> str:
        """Return the keys of an action, comma separated, empty when it has none."""
        return self.keys.get(action.id, action.keys)

    def chord_of(self, action: Action) -> str:
        """Return the key after the leader, empty when it has none."""
        return self.chords.get(action.id, action.chord)

    def by_key(self, scope: KeyScope) -> dict[str, str]:
        """Return what the keys of one scope run."""
        actions = in_scope(scope)
        return {key: a.run for a in actions for key in self.keys_of(a).split(",") if key}

    def binds(self, key: str) -> bool:
        """Return whether a key runs anything in any scope."""
        return any(key in self.keys_of(action).split(",") for action in ACTIONS)

    def by_chord(self) -> dict[str, Action]:
        """Return the actions by the key that follows the leader."""
        return {chord: a for a in ACTIONS if (chord := self.chord_of(a))}

    def leader(self) -> str:
        """Return the leader key as the screen shows it."""
        return show_key(self.keys_of(BY_ID[LEADER]).split(",")[0])

    def way_to(self, action_id: str) -> str:
        """Return how to reach an action, as the screen shows it: key, chord or slash command."""
        action = BY_ID[action_id]
        if keys := self.keys_of(action):
            return show_keys(keys)
        chord, leader = self.chord_of(action), self.leader()
        if chord and leader:
            return f"{leader} {show_key(chord)}"
        return f"/{action.commands[0]}" if action.slash else ""
