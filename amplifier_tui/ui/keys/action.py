"""One thing a user can do: a row of the table in `ui/keys/actions.py`."""

from typing import Literal, NamedTuple

KeyScope = Literal["screen", "prompt", "approval", "picker", "pane"]
"""Where a key is heard: the main screen, its prompt, the approval dialog, a fuzzy list, a pane."""


class Action(NamedTuple):
    """One thing a user can do.

    Attributes:
        id: Stable name; the key in `keymap.toml`.
        title: A few words, for the palette and the help.
        group: Heading it is listed under.
        run: Textual action, with the namespace (`app.`, `screen.`) it lives in.
        keys: Default keys in Textual's names, comma separated; may be empty.
        chord: The key after the leader, in Textual's name; may be empty.
        slash: Slash command names, the first one is the one shown.
        takes: What the slash command's argument is; empty when it takes none.
        scope: Where the keys are heard.
        help: One sentence more, for the help screen.
        in_session: It acts on the session that is open; sent before that, it waits for it.
        listed: False keeps it out of the palette (keys that only make sense as keys).
    """

    id: str
    title: str
    group: str
    run: str
    keys: str = ""
    chord: str = ""
    slash: tuple[str, ...] = ()
    takes: str = ""
    scope: KeyScope = "screen"
    help: str = ""
    in_session: bool = False
    listed: bool = True
