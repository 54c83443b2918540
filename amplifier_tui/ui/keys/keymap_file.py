"""The user's own keys: `keymap.toml` in the config directory, by action id.

```toml
[keys]
"pane.modules" = "f9"
"prompt.newline" = ["ctrl+j", "alt+enter"]
"app.leader" = "ctrl+k"

[chords]
"session.bundles" = "B"
```
"""

import difflib
import tomllib
from pathlib import Path
from typing import Any

from amplifier_tui.ui.keys.actions import ACTIONS, LEADER, OVERLAPPING, Action, KeyScope
from amplifier_tui.ui.keys.keymap import EDITING_KEYS, Keymap, show_key
from amplifier_tui.ui.keys.pane_keys import pane_actions
from amplifier_tui.ui.terminal.input import key_name

_MODIFIERS = frozenset(("ctrl", "alt", "shift", "super", "hyper", "meta"))
_TYPING: frozenset[KeyScope] = frozenset(("screen", "prompt"))


def _all_actions() -> dict[str, Action]:
    return {action.id: action for action in (*ACTIONS, *pane_actions())}


def load_keymap(path: Path) -> Keymap:
    """Read a keymap file; a missing one is the default, a bad entry is an error line.

    Never raises for what the file says: a broken file leaves every default in force.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Keymap()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        keymap = Keymap()
        keymap.errors.append(f"{path}: {error}. All keys keep their defaults.")
        return keymap
    return build_keymap(data, where=path.name)


def build_keymap(data: dict[str, Any], where: str = "keymap.toml") -> Keymap:
    """Check parsed keymap data entry by entry and return what holds.

    Args:
        data: Tables `keys` (id to key, list of keys, or `""` to unbind) and `chords` (id to key).
        where: Name of the file, for the error lines.
    """
    result = Keymap()
    for name in data:
        if name not in ("keys", "chords"):
            result.errors.append(f"{where}: unknown table [{name}]; use [keys] and [chords].")
    keys = _entries(data, "keys", where, result.errors)
    chords = _entries(data, "chords", where, result.errors)
    actions = _all_actions()
    for action_id, wanted in keys.items():
        _set_keys(result, actions[action_id], wanted, keys, where)
    for action_id, wanted in chords.items():
        _set_chord(result, actions[action_id], wanted, chords, where)
    _drop_clashes(result, actions, where)
    return result


def _drop_clashes(keymap: Keymap, actions: dict[str, Action], where: str) -> None:
    """Take back what counted on another change that was refused in the end."""
    clashing = True
    while clashing:
        clashing = False
        for action_id, keys in list(keymap.keys.items()):
            owners = (_owner(keymap, actions[action_id], key, {}) for key in keys.split(",") if key)
            owner = next((owner for owner in owners if owner is not None), None)
            if owner is not None:
                clashing = True
                del keymap.keys[action_id]
                keymap.errors.append(
                    f"{where}: [keys] {action_id}: {keys} is still the key of {owner.id}."
                )
        for action_id, chord in list(keymap.chords.items()):
            others = (a for a in ACTIONS if a.id != action_id and keymap.chord_of(a) == chord)
            if chord and (other := next(others, None)) is not None:
                clashing = True
                del keymap.chords[action_id]
                keymap.errors.append(
                    f"{where}: [chords] {action_id}: {chord} is still the chord of {other.id}."
                )


def _entries(
    data: dict[str, Any], table: str, where: str, errors: list[str]
) -> dict[str, list[str]]:
    rows = data.get(table, {})
    if not isinstance(rows, dict):
        errors.append(f"{where}: [{table}] must be a table of action ids.")
        return {}
    found: dict[str, list[str]] = {}
    actions = _all_actions()
    for action_id, value in rows.items():
        spot = f"{where}: [{table}] {action_id}"
        if action_id not in actions:
            near = difflib.get_close_matches(action_id, actions, n=1)
            errors.append(f"{spot}: no such action{f'; did you mean {near[0]}?' if near else '.'}")
            continue
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(p, str) for p in parts):
            errors.append(f"{spot}: must be a key or a list of keys.")
            continue
        clean = [p.strip() for p in parts if p.strip()]
        bad = next((p for p in clean if not _is_key(p)), None)
        if bad is not None:
            errors.append(f"{spot}: {bad!r} is not a key name.")
            continue
        found[action_id] = list(dict.fromkeys(_normal(p) for p in clean))
    return found


def _is_key(key: str) -> bool:
    *modifiers, name = key.split("+") if key != "+" else [key]
    return bool(name) and all(m in _MODIFIERS for m in modifiers) and not any(map(str.isspace, key))


def _normal(key: str) -> str:
    """Return the long form Textual uses: `?` is `question_mark`, `shift+ctrl+a` is sorted."""
    *modifiers, name = key.split("+") if key != "+" else [key]
    return "+".join([*sorted(modifiers), key_name(name) if len(name) == 1 else name])


def _set_keys(
    keymap: Keymap, action: Action, wanted: list[str], all_wanted: dict[str, list[str]], where: str
) -> None:
    spot = f"{where}: [keys] {action.id}"
    if not wanted and action.id in (LEADER, "prompt.send"):
        keymap.errors.append(f"{spot}: cannot be left without a key.")
        return
    for key in wanted:
        if action.scope in _TYPING and (_types_text(key) or key in EDITING_KEYS):
            keymap.errors.append(f"{spot}: {show_key(key)} edits the prompt.")
            return
        owner = _owner(keymap, action, key, all_wanted)
        if owner is not None:
            keymap.errors.append(f"{spot}: {show_key(key)} is taken by {owner.id} ({owner.title}).")
            return
    keymap.keys[action.id] = ",".join(wanted)


def _types_text(key: str) -> bool:
    from textual.keys import key_to_character

    character = None if "+" in key else key_to_character(key)
    return character is not None and character.isprintable()


def _owner(
    keymap: Keymap, action: Action, key: str, all_wanted: dict[str, list[str]]
) -> Action | None:
    """Return who else would hear the key, counting what the file is going to change."""
    for other in _all_actions().values():
        if other.id == action.id or not _together(action, other):
            continue
        planned = all_wanted.get(other.id)
        held = planned if planned is not None else keymap.keys_of(other).split(",")
        if key in held:
            return other
    return None


def _together(one: Action, other: Action) -> bool:
    """Whether two actions listen at the same time. A pane hears its keys before the screen."""
    if one.scope == "pane" or other.scope == "pane":
        return one.group == other.group
    return any(one.scope in group and other.scope in group for group in OVERLAPPING)


def _set_chord(
    keymap: Keymap, action: Action, wanted: list[str], all_wanted: dict[str, list[str]], where: str
) -> None:
    spot = f"{where}: [chords] {action.id}"
    if len(wanted) > 1:
        keymap.errors.append(f"{spot}: a chord is one key.")
        return
    chord = wanted[0] if wanted else ""
    for other in ACTIONS:
        planned = all_wanted.get(other.id)
        held = planned if planned is not None else [keymap.chord_of(other)]
        if chord and other.id != action.id and chord in held:
            keymap.errors.append(
                f"{spot}: {show_key(chord)} is taken by {other.id} ({other.title})."
            )
            return
    if not action.listed and chord:
        keymap.errors.append(f"{spot}: only makes sense as a key.")
        return
    keymap.chords[action.id] = chord
