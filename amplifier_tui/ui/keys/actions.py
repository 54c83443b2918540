"""The one table of actions: keys, leader chords, slash commands, palette, help and footer.

Everything a user can do from the screen is a row here. Bindings are made from it, the leader
popup and the help screen list it, `/name` and the palette run it, and `keymap.toml` remaps it
by id (`ui/keys/keymap.py`).
"""

from collections.abc import Iterable, Iterator

from textual.binding import Binding, BindingType

from amplifier_tui.ui.keys.action import Action, KeyScope
from amplifier_tui.ui.keys.dialog_keys import DIALOG_ACTIONS

OVERLAPPING: tuple[frozenset[KeyScope], ...] = (
    frozenset(("screen", "prompt")),
    frozenset(("approval",)),
    frozenset(("picker",)),
)
"""Scopes that are listened to at the same time: within one set a key has one meaning."""


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
        "session.fork",
        "Fork this session",
        "Session",
        "app.fork",
        chord="f",
        slash=("fork",),
        help="A copy of the conversation in a new session; this one stays as it is.",
        in_session=True,
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
        help="After the running step; a second time, at once. Also a summary being written.",
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
        "turn.without",
        "Go on without the source that failed",
        "Turn",
        "app.retry_without",
        chord="g",
        slash=("without",),
        help="When a source of the context broke the turn: without it for this session.",
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
    # --- context
    Action(
        "context.compact",
        "Compact the conversation",
        "Context",
        "app.compact",
        chord="c",
        slash=("compact",),
        takes="instructions",
        help="Shows first what would become of it.",
        in_session=True,
    ),
    Action(
        "memory.remember",
        "Remember something",
        "Context",
        "app.remember",
        chord="R",
        slash=("remember",),
        takes="text",
        help="For this project; for every one with --everywhere before the text.",
        in_session=True,
    ),
    Action(
        "memory.list",
        "Memories",
        "Context",
        "app.memories",
        chord="M",
        slash=("memories",),
        help="What was remembered; d forgets.",
        in_session=True,
    ),
    Action(
        "memory.forget",
        "Forget a memory",
        "Context",
        "app.forget",
        slash=("forget",),
        takes="id",
        in_session=True,
    ),
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
    *DIALOG_ACTIONS,
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
