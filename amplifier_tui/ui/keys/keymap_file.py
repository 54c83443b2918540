"""The user's own keys: `keymap.toml` in the config directory, by action id.

```toml
[keys]
"pane.modules" = "f9"
"prompt.newline" = ["ctrl+j", "alt+enter"]
"app.leader" = "ctrl+space"

[chords]
"session.bundles" = "B"
```
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from textual._keyboard_protocol import FUNCTIONAL_KEYS
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.ui.keys.action import LEADER, OVERLAPPING, Action, KeyScope
from amplifier_tui.ui.keys.actions import ACTIONS
from amplifier_tui.ui.keys.keymap import EDITING_KEYS, SHOWN, Keymap, show_key
from amplifier_tui.ui.panes.agents import AgentStrip
from amplifier_tui.ui.panes.inspector import EventInspector
from amplifier_tui.ui.panes.table import PANES
from amplifier_tui.ui.terminal.input import CTRL_SPACE, key_name
from amplifier_tui.ui.transcript.view import TranscriptView

_MODIFIERS = frozenset(("ctrl", "alt", "shift", "super", "hyper", "meta"))
_PICTURES = "\u3000"
"""Where the characters begin that no key of a keyboard types."""
_TYPING: frozenset[KeyScope] = frozenset(("screen", "prompt"))
_HEADER = re.compile(r"""\s*\[\s*["']?([^]"'.\s]+)""")
_ENTRY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[.=]""")

Wanted = dict[str, list[str]]
"""Key names by action id, as the file has them."""


@cache
def pane_actions() -> tuple[Action, ...]:
    """Return the keys of the conversation and the panes, from the bindings of their widgets."""
    widgets: list[tuple[str, type[DOMNode]]] = [
        ("In the conversation", TranscriptView),
        *((f"In the {pane.name}", widget) for pane in PANES for widget in pane.widgets()),
        ("In the list of agents", AgentStrip),
        ("In the inspector", EventInspector),
    ]
    return tuple(
        Action(binding.id, binding.description, binding.action, binding.key)._replace(
            help=binding.tooltip, listed=False, group=group, scope="pane"
        )
        for group, widget in widgets
        for binding in widget.BINDINGS
        if isinstance(binding, Binding) and binding.id and binding.description
    )


def load_keymap(path: Path) -> Keymap:
    """Read a keymap file. What is wrong in it is an error line, and leaves the default in force."""
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except FileNotFoundError:
        return Keymap()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        keymap = Keymap()
        keymap.errors.append(f"{_unread(path, error)}. All keys keep their defaults.")
        return keymap
    return build_keymap(data, where=str(path), text=text)


def build_keymap(data: dict[str, Any], where: str = "keymap.toml", text: str = "") -> Keymap:
    """Return what holds of parsed keymap data; errors name the file as `where`, lines of `text`."""
    return _KeymapBuilder(where, text).build(data)


def _unread(path: Path, error: OSError | ValueError) -> str:
    """Return why a file can't be read, after its path and the line."""
    if isinstance(error, OSError):
        return f"{path}: {error.strerror or error}"
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return f"{path}:{line}: This is not UTF-8"
    said, _, place = str(error).partition(" (at line ")
    line_said = place.partition(",")[0]
    return f"{path}:{line_said}: {said}" if line_said else f"{path}: {said}"


class _KeymapBuilder:
    def __init__(self, where: str, text: str) -> None:
        self._where = where
        self._text = text
        self._keymap = Keymap()
        self._actions = {action.id: action for action in (*ACTIONS, *pane_actions())}

    def build(self, data: dict[str, Any]) -> Keymap:
        for name in (name for name in data if name not in ("keys", "chords")):
            words = f"unknown table [{name}]; use [keys] and [chords]."
            self._keymap.errors.append(f"{self._place(name)}: {words}")
        keys, chords = self._entries(data, "keys"), self._entries(data, "chords")
        for action_id, wanted in keys.items():
            self._set_keys(self._actions[action_id], wanted, keys)
        for action_id, wanted in chords.items():
            self._set_chord(self._actions[action_id], wanted, chords)
        while self._drop_clash():
            pass
        return self._keymap

    def _refuse(self, table: str, action_id: str, words: str) -> None:
        place = self._place(table, action_id)
        self._keymap.errors.append(f"{place}: [{table}] {action_id}: {words}")

    def _place(self, table: str, action_id: str = "") -> str:
        """Return file and line of an entry; of its table where the entry is written otherwise."""
        inside, found = "", 0
        for number, row in enumerate(self._text.splitlines(), 1):
            header, entry = _HEADER.match(row), _ENTRY.match(row)
            name = entry.group(entry.lastindex or 0) if entry else ""
            if header:
                inside = header[1]
            elif inside == table and name == action_id:
                return f"{self._where}:{number}"
            if not found and table == (inside or name):
                found = number
        return f"{self._where}:{found}" if found else self._where

    def _entries(self, data: dict[str, Any], table: str) -> Wanted:
        """Return the rows of a table that name an action and keys."""
        rows = data.get(table, {})
        if not isinstance(rows, dict):
            words = f"[{table}] must be a table of action ids."
            self._keymap.errors.append(f"{self._place(table)}: {words}")
            return {}
        found: Wanted = {}
        for action_id, value in rows.items():
            parts = value.split(",") if isinstance(value, str) else value
            if action_id not in self._actions:
                dotted = isinstance(value, dict) and next(iter(value), "")
                hint = (
                    f'. Quote an id with its dot: "{action_id}.{dotted}".'
                    if dotted
                    else did_you_mean(action_id, self._actions, "") or "."
                )
                self._refuse(table, action_id, f"no such action{hint}")
            elif not isinstance(parts, list) or not all(isinstance(p, str) for p in parts):
                self._refuse(table, action_id, "must be a key or a list of keys.")
            else:
                clean = [p.strip() for p in parts if p.strip()]
                bad = next((p for p in clean if not _is_key(p)), None)
                if bad is None:
                    found[action_id] = list(dict.fromkeys(_normal(p) for p in clean))
                else:
                    hint = _meant(bad) or "."
                    self._refuse(table, action_id, f"{bad!r} is not a key name{hint}")
        return found

    def _set_keys(self, action: Action, wanted: list[str], planned: Wanted) -> None:
        if not wanted and action.id in (LEADER, "prompt.send"):
            self._refuse("keys", action.id, "cannot be left without a key.")
            return
        for key in wanted:
            if action.scope in _TYPING and (_types_text(key) or key in EDITING_KEYS):
                self._refuse("keys", action.id, f"{show_key(key)} edits the prompt.")
                return
            if (owner := self._owner(action, key, planned)) is not None:
                self._refuse("keys", action.id, _taken(key, owner))
                return
        self._keymap.keys[action.id] = ",".join(wanted)

    def _set_chord(self, action: Action, wanted: list[str], planned: Wanted) -> None:
        chord = wanted[0] if wanted else ""
        owner = self._chord_owner(action.id, chord, planned)
        if len(wanted) > 1:
            self._refuse("chords", action.id, "a chord is one key.")
        elif owner is not None:
            self._refuse("chords", action.id, _taken(chord, owner))
        elif chord and not action.listed:
            self._refuse("chords", action.id, "only makes sense as a key.")
        else:
            self._keymap.chords[action.id] = chord

    def _owner(self, action: Action, key: str, planned: Wanted) -> Action | None:
        """Return who else would hear the key, counting what the file is going to change."""
        for other in self._actions.values():
            held = planned.get(other.id, self._keymap.keys_of(other).split(","))
            if other.id != action.id and key in held and _together(action, other):
                return other
        return None

    def _chord_owner(self, action_id: str, chord: str, planned: Wanted) -> Action | None:
        for other in ACTIONS if chord else ():
            held = planned.get(other.id, [self._keymap.chord_of(other)])
            if other.id != action_id and chord in held:
                return other
        return None

    def _drop_clash(self) -> bool:
        """Take back an entry that counted on another one, which was refused in the end."""
        for action_id, keys in self._keymap.keys.items():
            for key in keys.split(",") if keys else ():
                if (owner := self._owner(self._actions[action_id], key, {})) is not None:
                    del self._keymap.keys[action_id]
                    self._refuse("keys", action_id, f"{keys} is still the key of {owner.id}.")
                    return True
        for action_id, chord in self._keymap.chords.items():
            if (owner := self._chord_owner(action_id, chord, {})) is not None:
                del self._keymap.chords[action_id]
                self._refuse("chords", action_id, f"{chord} is still the chord of {owner.id}.")
                return True
        return False


def _taken(key: str, owner: Action) -> str:
    return f"{show_key(key)} is taken by {owner.id} ({owner.title})."


def _is_key(key: str) -> bool:
    *modifiers, name = _parts(key)
    if not all(modifier in _MODIFIERS for modifier in modifiers):
        return False
    if len(name) == 1 or _long(name) in _key_names():
        return not name.isspace()
    character = key_to_character(name)
    # Others are keys by their Unicode names; pictures, a banana among them, are on no keyboard.
    return character is not None and character < _PICTURES and key_name(character) == name


def _meant(key: str) -> str:
    """Return the end of a sentence that offers what is like the part of a key that is none."""
    *modifiers, name = _parts(key)
    wrong = next((each for each in modifiers if each not in _MODIFIERS), None)
    return did_you_mean(name, _key_names()) if wrong is None else did_you_mean(wrong, _MODIFIERS)


@cache
def _key_names() -> frozenset[str]:
    """Return the names of keys that are more than a character."""
    names = {key.value.rpartition("+")[2] for key in Keys if not key.value.startswith("<")}
    return frozenset({*names, *FUNCTIONAL_KEYS.values(), *KEY_NAME_REPLACEMENTS.values()})


def _parts(key: str) -> list[str]:
    return key.split("+") if key != "+" else [key]


def _long(name: str) -> str:
    """Return Textual's name of a key, which may be written as the screen shows it: `pgdn`."""
    if len(name) == 1:
        return key_name(name)
    lower = name.lower()
    return next((long for long, shown in SHOWN.items() if shown == lower), lower)


def _normal(key: str) -> str:
    """Return the long form Textual uses: `?` is `question_mark`, `shift+ctrl+a` is sorted."""
    *modifiers, name = _parts(key)
    long = "+".join([*sorted(modifiers), _long(name)])
    # To most terminals they are the same.
    return CTRL_SPACE if long == "ctrl+at" else long


def _types_text(key: str) -> bool:
    character = None if "+" in key else key_to_character(key)
    return character is not None and character.isprintable()


def _together(one: Action, other: Action) -> bool:
    """Whether two actions listen at the same time. A pane hears its keys before the screen."""
    if one.scope == "pane" or other.scope == "pane":
        return one.group == other.group
    return any(one.scope in group and other.scope in group for group in OVERLAPPING)
