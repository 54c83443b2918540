"""Actions as rows, for the palette, the help and the leader popup."""

from textual.content import Content

from amplifier_tui.ui.fuzzy import match
from amplifier_tui.ui.keys.actions import Action
from amplifier_tui.ui.keys.keymap import Keymap, show_key, show_keys
from amplifier_tui.ui.widgets.pick_list import PickRow, marked


def action_text(action: Action) -> str:
    """Return the text a filter looks at."""
    return f"{action.title} {' '.join('/' + name for name in action.slash)} {action.help}"


def action_row(action: Action, keymap: Keymap, query: str = "", *, full: bool = False) -> PickRow:
    """Return one action with the ways to reach it.

    Args:
        action: The action.
        keymap: The keys in force.
        query: What was typed, to mark it.
        full: Show every key, the chord, the command and the long help, not only the first key.
    """
    hit = match(query, action.title) if query else None
    left = marked(action.title, hit[1] if hit else ())
    if full and action.help:
        left = Content.assemble(left, (f"  {action.help}", "$text-muted"))
    keys = show_keys(keymap.keys_of(action), 3 if full else 1)
    chord = keymap.chord_of(action)
    chord_words = f"{keymap.leader()} {show_key(chord)}" if chord else ""
    slash = f"/{action.slash[0]}" if action.slash else ""
    if full:
        right = Content.assemble(
            (keys.rjust(12), "bold"),
            "  ",
            (chord_words.ljust(12), "$text-muted"),
            (slash.ljust(12), "$text-muted"),
        )
    else:
        right = Content.assemble(
            (slash, "$text-muted"), "   ", ((keys or chord_words).rjust(10), "")
        )
    return PickRow(action.id, left, right)
