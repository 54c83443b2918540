"""The keys in force."""

from amplifier_tui.ui.keys.action import Action
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID, LEADER
from amplifier_tui.ui.keys.key_names import show_key, show_keys


class Keymap:
    """The keys of the table, with the user's on top (`ui/keys/keymap_file.py` reads them).

    Attributes:
        keys: Changed keys by action id, comma separated; empty means unbound.
        chords: Changed chords by action id.
        errors: One readable line per entry that was refused; the default stays in force for it.
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
        return f"/{action.slash[0]}" if action.slash else ""
