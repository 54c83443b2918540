"""What an action is: one row of the table of everything a user can do."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from amplifier_tui.ui.keys.help_words import HELP

KeyScope = Literal[
    "screen",
    "prompt",
    "find",
    "approval",
    "ask",
    "diff",
    "image",
    "rewind",
    "export",
    "imported",
    "trust",
    "picker",
    "sessions",
    "pane",
    "rules",
    "decision",
    "servers",
]
"""Where a key is heard: the main screen, its prompt, one of the dialogs, a list, a pane."""

OVERLAPPING: tuple[frozenset[KeyScope], ...] = (
    frozenset(("screen", "prompt")),
    frozenset(("screen", "find")),
    frozenset(("approval",)),
    frozenset(("ask",)),
    frozenset(("diff",)),
    frozenset(("image",)),
    frozenset(("rewind",)),
    frozenset(("export",)),
    frozenset(("imported",)),
    frozenset(("trust",)),
    frozenset(("picker", "rules")),
    frozenset(("picker", "sessions")),
    frozenset(("decision",)),
    frozenset(("picker", "servers")),
)
"""Scopes that are listened to at the same time: within one set a key has one meaning."""

LEADER = "app.leader"
"""Id of the action that opens the leader popup."""


DIGITS = "1…9"
"""In the place of a chord: each digit is one, and is what the action takes."""


class Action(NamedTuple):
    """One thing a user can do.

    Attributes:
        id: Stable name; the key in `keymap.toml`.
        run: Textual action; with `app.` or `screen.` before it where it is not the widget's own.
        keys: Default keys in Textual's names, comma separated; may be empty.
        chord: The key after the leader, in Textual's name; may be empty.
        slash: Names of its slash command, comma separated, the one that is shown first.
        takes: What the slash command's argument is; empty when it takes none.
        in_session: It acts on the session that is open; sent before that, it waits for it.
        listed: False keeps it out of the palette (keys that only make sense as keys).
    """

    id: str
    title: str
    run: str
    keys: str = ""
    chord: str = ""
    slash: str = ""
    takes: str = ""
    help: str = ""
    in_session: bool = False
    listed: bool = True
    group: str = ""
    scope: KeyScope = "screen"

    @property
    def commands(self) -> tuple[str, ...]:
        """Names of its slash command."""
        return tuple(self.slash.split(",")) if self.slash else ()


def rows(group: str, *actions: Action, scope: KeyScope = "screen") -> Iterator[Action]:
    """Yield the actions of one group and scope, each with its line of help."""
    listed = scope in ("screen", "prompt", "pane")
    for action in actions:
        text = HELP.get(action.id, "")
        yield action._replace(help=text, listed=listed, group=group, scope=scope)
