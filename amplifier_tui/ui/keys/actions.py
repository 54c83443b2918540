"""The one table of actions: keys, leader chords, slash commands, palette, help and footer.

Everything a user can do from the screen is a row here. Bindings are made from it, the leader
popup and the help screen list it, `/name` and the palette run it, and `keymap.toml` remaps it
by id (`ui/keys/keymap_file.py`).
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

LEADER = "app.leader"
"""Id of the action that opens the leader popup."""


class Action(NamedTuple):
    """One thing a user can do.

    Attributes:
        id: Stable name; the key in `keymap.toml`.
        title: A few words, for the palette and the help.
        run: Textual action; with `app.` or `screen.` before it where it is not the widget's own.
        keys: Default keys in Textual's names, comma separated; may be empty.
        chord: The key after the leader, in Textual's name; may be empty.
        slash: Slash command names, the first one is the one shown.
        takes: What the slash command's argument is; empty when it takes none.
        help: One sentence more, for the help screen.
        in_session: It acts on the session that is open; sent before that, it waits for it.
        listed: False keeps it out of the palette (keys that only make sense as keys).
        group: Heading it is listed under.
        scope: Where the keys are heard.
    """

    id: str
    title: str
    run: str
    keys: str = ""
    chord: str = ""
    slash: tuple[str, ...] = ()
    takes: str = ""
    help: str = ""
    in_session: bool = False
    listed: bool = True
    group: str = ""
    scope: KeyScope = "screen"


def _rows(group: str, *actions: Action, scope: KeyScope = "screen") -> Iterator[Action]:
    """Yield the actions with their group and scope; the keys of dialogs are never listed."""
    for action in actions:
        listed = action.listed and scope not in ("approval", "picker")
        yield action._replace(group=group, scope=scope, listed=listed)


ACTIONS: tuple[Action, ...] = (
    *_rows(
        "Session",
        Action(
            "session.bundles",
            "Switch bundle",
            "app.bundles",
            chord="b",
            slash=("bundle", "bundles"),
            takes="name",
            help="Open another bundle; the conversation comes along.",
        ),
        Action(
            "session.sessions",
            "Resume a session",
            "app.sessions",
            chord="l",
            slash=("resume", "sessions"),
            takes="id",
        ),
        Action("session.new", "New session", "app.new_session", chord="n", slash=("new",)),
        Action(
            "session.demo",
            "Try the offline demo",
            "app.demo",
            chord="w",
            slash=("demo",),
            help="A scripted agent in a sample project; no key, nothing sent anywhere.",
        ),
        Action(
            "session.rename",
            "Name this session",
            "app.rename",
            chord="j",
            slash=("rename",),
            takes="title",
        ),
        Action(
            "session.fork",
            "Fork this session",
            "app.fork",
            chord="f",
            slash=("fork",),
            help="A copy of the conversation in a new session; this one stays as it is.",
            in_session=True,
        ),
        Action(
            "app.quit",
            "Quit",
            "app.leave",
            chord="q",
            slash=("quit", "exit"),
            help="The last answer and the command that resumes the session stay in the terminal.",
        ),
    ),
    *_rows(
        "Turn",
        Action(
            "turn.back",
            "Back, or stop",
            "screen.escape",
            keys="escape",
            help="Closes what is open; then stops the turn; a second time, at once.",
            listed=False,
        ),
        Action(
            "turn.stop",
            "Stop the turn",
            "screen.stop",
            chord="s",
            slash=("stop",),
            help="After the running step; a second time, at once. Also a summary being written.",
        ),
        Action(
            "turn.retry", "Retry the prompt that failed", "app.retry", chord="r", slash=("retry",)
        ),
        Action(
            "turn.without",
            "Go on without the source that failed",
            "app.retry_without",
            chord="g",
            slash=("without",),
            help="When a source of the context broke the turn: without it for this session.",
        ),
        Action(
            "turn.unqueue",
            "Take back the last queued prompt",
            "app.unqueue",
            chord="d",
            slash=("unqueue",),
        ),
        Action(
            "approval.show",
            "Answer what waits for you",
            "app.approvals",
            keys="f8",
            chord="a",
            slash=("approvals",),
        ),
    ),
    *_rows(
        "Conversation",
        Action("view.up", "Page up", "screen.page_up", keys="pageup", listed=False),
        Action("view.down", "Page down", "screen.page_down", keys="pagedown", listed=False),
        Action("view.top", "To the first message", "screen.top", keys="ctrl+home"),
        Action("view.bottom", "To the newest message", "screen.bottom", keys="ctrl+end"),
        Action(
            "view.expand",
            "Expand or collapse details",
            "screen.expand",
            keys="ctrl+o",
            chord="o",
            slash=("expand",),
        ),
        Action("view.copy", "Copy the last answer", "app.copy_answer", chord="y", slash=("copy",)),
        Action(
            "view.plan",
            "Show the plan",
            "app.plan",
            keys="ctrl+t",
            chord="t",
            slash=("plan", "todo"),
        ),
        Action("view.notices", "Notices", "app.notices", chord="i", slash=("notices",)),
    ),
    *_rows(
        "Context",
        Action(
            "context.compact",
            "Compact the conversation",
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
            "app.memories",
            chord="M",
            slash=("memories",),
            help="What was remembered; d forgets.",
            in_session=True,
        ),
        Action(
            "memory.forget",
            "Forget a memory",
            "app.forget",
            slash=("forget",),
            takes="id",
            in_session=True,
        ),
    ),
    *_rows(
        "Panes",
        Action(
            "pane.modules",
            "Modules",
            "screen.pane('modules')",
            keys="f2",
            chord="m",
            slash=("modules",),
        ),
        Action(
            "pane.events",
            "Hook events",
            "screen.pane('events')",
            keys="f3",
            chord="v",
            slash=("events",),
        ),
        Action(
            "pane.context",
            "Context budget",
            "screen.pane('context')",
            keys="f4",
            chord="x",
            slash=("context",),
        ),
        Action("pane.next", "Next pane", "screen.cycle(1)", keys="f6"),
        Action("pane.previous", "Previous pane", "screen.cycle(-1)", keys="shift+f6"),
        Action(
            "pane.zoom",
            "Zoom the focused pane",
            "screen.zoom",
            chord="z",
            slash=("zoom",),
            help="It takes the whole body; again, or esc, puts it back.",
        ),
    ),
    *_rows(
        "Program",
        Action(
            "app.palette",
            "Command palette",
            "app.palette",
            keys="ctrl+p",
            chord="space",
            slash=("commands",),
        ),
        Action("app.theme", "Theme", "app.themes", chord="h", slash=("theme",), takes="name"),
        Action(
            "app.help",
            "Keys and commands",
            "app.help",
            keys="f1",
            chord="k",
            slash=("help", "keys"),
        ),
        Action("app.suspend", "Suspend to the shell", "app.suspend_process", slash=("suspend",)),
        Action(
            LEADER, "Leader", "app.leader", keys="ctrl+x", help="Then one more key.", listed=False
        ),
    ),
    *_rows(
        "Prompt",
        Action(
            "prompt.send",
            "Send",
            "send",
            keys="enter",
            help="While the agent works: steer it, at its next step.",
            listed=False,
        ),
        Action(
            "prompt.newline",
            "New line",
            "newline",
            keys="ctrl+j,alt+enter,shift+enter",
            help="Also a backslash before enter.",
            listed=False,
        ),
        Action(
            "prompt.queue",
            "Complete, or queue",
            "complete_or_queue",
            keys="tab",
            help="While the agent works: send it after this turn.",
            listed=False,
        ),
        Action(
            "prompt.search", "Search the history", "app.search_history", keys="ctrl+r", listed=False
        ),
        Action(
            "prompt.editor",
            "Edit in $EDITOR",
            "app.editor",
            keys="ctrl+g",
            chord="e",
            slash=("editor",),
        ),
        Action(
            "prompt.clear",
            "Copy, clear, quit",
            "copy_clear_or_quit",
            keys="ctrl+c",
            help="Copies the selection; else clears the draft; twice on an empty prompt quits.",
            listed=False,
        ),
        Action(
            "prompt.end", "Delete forward, or quit", "delete_or_quit", keys="ctrl+d", listed=False
        ),
        scope="prompt",
    ),
    *_rows(
        "Approval",
        Action("approval.deny", "Deny", "deny", keys="d"),
        Action("approval.reason", "Deny and say why", "reason", keys="f"),
        Action("approval.allow", "Allow", "allow", keys="a"),
        Action("approval.scope", "Remember", "cycle_scope", keys="r"),
        Action("approval.why", "Why", "why", keys="question_mark"),
        Action("approval.all", "Allow all identical", "allow_all", keys="A"),
        Action(
            "approval.later",
            "Later",
            "later",
            keys="escape",
            help="It stays pending; F8 brings it back.",
        ),
        Action("approval.full", "Full height", "full", keys="z"),
        Action("approval.hunk_next", "Next hunk", "hunk(1)", keys="right_square_bracket"),
        Action("approval.hunk_previous", "Previous hunk", "hunk(-1)", keys="left_square_bracket"),
        scope="approval",
    ),
    *_rows(
        "Lists",
        Action("picker.choose", "Choose", "choose", keys="enter"),
        Action("picker.close", "Close", "close", keys="escape"),
        Action("picker.up", "Up", "move(-1)", keys="up,ctrl+p"),
        Action("picker.down", "Down", "move(1)", keys="down,ctrl+n"),
        Action("picker.page_up", "Page up", "page(-1)", keys="pageup"),
        Action("picker.page_down", "Page down", "page(1)", keys="pagedown"),
        scope="picker",
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
