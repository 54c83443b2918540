"""The one table of actions: keys, leader chords, slash commands, palette, help and footer.

Bindings are made from it, the leader popup and the help list it, `/name` and the palette run it,
and `keymap.toml` remaps it by id (`ui/keys/keymap_file.py`).
"""

from collections.abc import Iterable, Iterator

from textual.binding import Binding, BindingType

from amplifier_tui.ui.keys.action import Action, KeyScope
from amplifier_tui.ui.keys.dialog_keys import DIALOG_ACTIONS
from amplifier_tui.ui.keys.slash_commands import SCREEN_ACTIONS

ACTIONS: tuple[Action, ...] = (*SCREEN_ACTIONS, *DIALOG_ACTIONS)

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}
BY_SLASH: dict[str, Action] = {name: action for action in ACTIONS for name in action.commands}


def in_scope(scope: KeyScope) -> list[Action]:
    """Return the actions of one scope."""
    return [action for action in ACTIONS if action.scope == scope]


def bindings(scope: KeyScope, *, priority: bool = False) -> list[BindingType]:
    """Return the bindings of one scope, each with its action's id so that a keymap finds it.

    With `priority` they are heard before a field that is typed into. An action without a key is
    bound to a name no key has, so that a keymap can give it one.
    """
    return [
        Binding(
            a.keys or f"unbound-{a.id}",
            a.run,
            a.title,
            show=False,
            tooltip=a.help,
            id=a.id,
            priority=priority,
        )
        for a in in_scope(scope)
    ]


def groups(actions: Iterable[Action] = ACTIONS) -> Iterator[tuple[str, list[Action]]]:
    """Yield each group's name with its actions, in the order given."""
    found: dict[str, list[Action]] = {}
    for action in actions:
        found.setdefault(action.group, []).append(action)
    yield from found.items()
