"""The one table of actions: keys, leader chords, slash commands, palette, help and footer.

Everything a user can do from the screen is a row here. Bindings are made from it, the leader
popup and the help screen list it, `/name` and the palette run it, and `keymap.toml` remaps it
by id (`ui/keymap.py`).
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from textual.binding import Binding, BindingType

KeyScope = Literal["screen", "prompt", "approval", "picker", "pane"]
"""Where a key is heard: the main screen, its prompt, the approval dialog, a fuzzy list, a pane."""

OVERLAPPING: tuple[frozenset[KeyScope], ...] = (
    frozenset(("screen", "prompt")),
    frozenset(("approval",)),
    frozenset(("picker",)),
)
"""Scopes that are listened to at the same time: within one set a key has one meaning."""


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
    listed: bool = True


LEADER = "app.leader"
"""Id of the action that opens the leader popup."""

ACTIONS: tuple[Action, ...] = (
    # --- session
    Action(
        "session.bundles",
        "Switch bundle",
        "Session",
        "app.bundles",
        chord="b",
        slash=("bundle", "bundles"),
        takes="name",
        help="Open another bundle; the conversation comes along.",
    ),
    Action(
        "session.sessions",
        "Resume a session",
        "Session",
        "app.sessions",
        chord="l",
        slash=("resume", "sessions"),
        takes="id",
    ),
    Action("session.new", "New session", "Session", "app.new_session", chord="n", slash=("new",)),
    Action(
        "session.demo",
        "Try the offline demo",
        "Session",
        "app.demo",
        chord="w",
        slash=("demo",),
        help="A scripted agent in a sample project; no key, nothing sent anywhere.",
    ),
    Action(
        "session.rename",
        "Name this session",
        "Session",
        "app.rename",
        chord="j",
        slash=("rename",),
        takes="title",
    ),
    Action(
        "app.quit",
        "Quit",
        "Session",
        "app.leave",
        chord="q",
        slash=("quit", "exit"),
        help="The last answer and the command that resumes the session stay in the terminal.",
    ),
    # --- turn
    Action(
        "turn.back",
        "Back, or stop",
        "Turn",
        "screen.escape",
        keys="escape",
        listed=False,
        help="Closes what is open; then stops the turn; a second time, at once.",
    ),
    Action(
        "turn.stop",
        "Stop the turn",
        "Turn",
        "screen.stop",
        chord="s",
        slash=("stop",),
        help="After the running step; a second time, at once.",
    ),
    Action(
        "turn.retry",
        "Retry the prompt that failed",
        "Turn",
        "app.retry",
        chord="r",
        slash=("retry",),
    ),
    Action(
        "turn.unqueue",
        "Take back the last queued prompt",
        "Turn",
        "app.unqueue",
        chord="d",
        slash=("unqueue",),
    ),
    Action(
        "approval.show",
        "Answer what waits for you",
        "Turn",
        "app.approvals",
        keys="f8",
        chord="a",
        slash=("approvals",),
    ),
    # --- conversation
    Action("view.up", "Page up", "Conversation", "screen.page_up", keys="pageup", listed=False),
    Action(
        "view.down", "Page down", "Conversation", "screen.page_down", keys="pagedown", listed=False
    ),
    Action("view.top", "To the first message", "Conversation", "screen.top", keys="ctrl+home"),
    Action(
        "view.bottom", "To the newest message", "Conversation", "screen.bottom", keys="ctrl+end"
    ),
    Action(
        "view.expand",
        "Expand or collapse details",
        "Conversation",
        "screen.expand",
        keys="ctrl+o",
        chord="o",
        slash=("expand",),
    ),
    Action(
        "view.copy",
        "Copy the last answer",
        "Conversation",
        "app.copy_answer",
        chord="y",
        slash=("copy",),
    ),
    Action(
        "view.plan",
        "Show the plan",
        "Conversation",
        "app.plan",
        keys="ctrl+t",
        chord="t",
        slash=("plan", "todo"),
    ),
    Action("view.notices", "Notices", "Conversation", "app.notices", chord="i", slash=("notices",)),
    # --- panes
    Action(
        "pane.modules",
        "Modules",
        "Panes",
        "screen.pane('modules')",
        keys="f2",
        chord="m",
        slash=("modules",),
    ),
    Action(
        "pane.events",
        "Hook events",
        "Panes",
        "screen.pane('events')",
        keys="f3",
        chord="v",
        slash=("events",),
    ),
    Action(
        "pane.context",
        "Context budget",
        "Panes",
        "screen.pane('context')",
        keys="f4",
        chord="x",
        slash=("context",),
    ),
    Action("pane.next", "Next pane", "Panes", "screen.cycle(1)", keys="f6"),
    Action("pane.previous", "Previous pane", "Panes", "screen.cycle(-1)", keys="shift+f6"),
    Action(
        "pane.zoom",
        "Zoom the focused pane",
        "Panes",
        "screen.zoom",
        chord="z",
        slash=("zoom",),
        help="It takes the whole body; again, or esc, puts it back.",
    ),
    # --- program
    Action(
        "app.palette",
        "Command palette",
        "Program",
        "app.palette",
        keys="ctrl+p",
        chord="space",
        slash=("commands",),
    ),
    Action(
        "app.theme",
        "Theme",
        "Program",
        "app.themes",
        chord="h",
        slash=("theme",),
        takes="name",
    ),
    Action(
        "app.help",
        "Keys and commands",
        "Program",
        "app.help",
        keys="f1",
        chord="k",
        slash=("help", "keys"),
    ),
    Action(
        "app.suspend", "Suspend to the shell", "Program", "app.suspend_process", slash=("suspend",)
    ),
    Action(
        LEADER,
        "Leader",
        "Program",
        "app.leader",
        keys="ctrl+x",
        listed=False,
        help="Then one more key.",
    ),
    # --- prompt
    Action(
        "prompt.send",
        "Send",
        "Prompt",
        "send",
        keys="enter",
        scope="prompt",
        listed=False,
        help="While the agent works: steer it, at its next step.",
    ),
    Action(
        "prompt.newline",
        "New line",
        "Prompt",
        "newline",
        keys="ctrl+j,alt+enter,shift+enter",
        scope="prompt",
        listed=False,
        help="Also a backslash before enter.",
    ),
    Action(
        "prompt.queue",
        "Complete, or queue",
        "Prompt",
        "complete_or_queue",
        keys="tab",
        scope="prompt",
        listed=False,
        help="While the agent works: send it after this turn.",
    ),
    Action(
        "prompt.search",
        "Search the history",
        "Prompt",
        "search_history",
        keys="ctrl+r",
        scope="prompt",
        listed=False,
    ),
    Action(
        "prompt.editor",
        "Edit in $EDITOR",
        "Prompt",
        "app.editor",
        keys="ctrl+g",
        chord="e",
        slash=("editor",),
        scope="prompt",
    ),
    Action(
        "prompt.clear",
        "Copy, clear, quit",
        "Prompt",
        "copy_clear_or_quit",
        keys="ctrl+c",
        scope="prompt",
        listed=False,
        help="Copies the selection; else clears the draft; twice on an empty prompt quits.",
    ),
    Action(
        "prompt.end",
        "Delete forward, or quit",
        "Prompt",
        "delete_or_quit",
        keys="ctrl+d",
        scope="prompt",
        listed=False,
    ),
    # --- approval dialog
    Action("approval.deny", "Deny", "Approval", "deny", keys="d", scope="approval", listed=False),
    Action(
        "approval.reason",
        "Deny and say why",
        "Approval",
        "reason",
        keys="f",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.allow", "Allow", "Approval", "allow", keys="a", scope="approval", listed=False
    ),
    Action(
        "approval.scope",
        "Remember",
        "Approval",
        "cycle_scope",
        keys="r",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.why",
        "Why",
        "Approval",
        "why",
        keys="question_mark",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.all",
        "Allow all identical",
        "Approval",
        "allow_all",
        keys="A",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.later",
        "Later",
        "Approval",
        "later",
        keys="escape",
        scope="approval",
        listed=False,
        help="It stays pending; F8 brings it back.",
    ),
    Action(
        "approval.full", "Full height", "Approval", "full", keys="z", scope="approval", listed=False
    ),
    Action(
        "approval.hunk_next",
        "Next hunk",
        "Approval",
        "hunk(1)",
        keys="right_square_bracket",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.hunk_previous",
        "Previous hunk",
        "Approval",
        "hunk(-1)",
        keys="left_square_bracket",
        scope="approval",
        listed=False,
    ),
    # --- fuzzy lists
    Action(
        "picker.choose", "Choose", "Lists", "choose", keys="enter", scope="picker", listed=False
    ),
    Action("picker.close", "Close", "Lists", "close", keys="escape", scope="picker", listed=False),
    Action("picker.up", "Up", "Lists", "move(-1)", keys="up,ctrl+p", scope="picker", listed=False),
    Action(
        "picker.down", "Down", "Lists", "move(1)", keys="down,ctrl+n", scope="picker", listed=False
    ),
    Action(
        "picker.page_up",
        "Page up",
        "Lists",
        "page(-1)",
        keys="pageup",
        scope="picker",
        listed=False,
    ),
    Action(
        "picker.page_down",
        "Page down",
        "Lists",
        "page(1)",
        keys="pagedown",
        scope="picker",
        listed=False,
    ),
)

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}
BY_SLASH: dict[str, Action] = {name: action for action in ACTIONS for name in action.slash}


def in_scope(scope: KeyScope) -> list[Action]:
    """Return the actions of one scope."""
    return [action for action in ACTIONS if action.scope == scope]


def bindings(scope: KeyScope) -> list[BindingType]:
    """Return the bindings of one scope, each with its action's id so that a keymap finds it.

    An action without a key is bound to a name no key has, so that a keymap can give it one.
    """
    return [
        Binding(a.keys or f"unbound-{a.id}", a.run, a.title, id=a.id, tooltip=a.help, show=False)
        for a in in_scope(scope)
    ]


def groups(actions: Iterable[Action] = ACTIONS) -> Iterator[tuple[str, list[Action]]]:
    """Yield each group's name with its actions, in the order given."""
    found: dict[str, list[Action]] = {}
    for action in actions:
        found.setdefault(action.group, []).append(action)
    yield from found.items()
