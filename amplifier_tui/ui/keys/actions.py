"""The one table of actions: keys, leader chords, slash commands, palette, help and footer.

Bindings are made from it, the leader popup and the help list it, `/name` and the palette run it,
and `keymap.toml` remaps it by id (`ui/keys/keymap_file.py`).
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from textual.binding import Binding, BindingType

from amplifier_tui.ui.keys.help_words import HELP
from amplifier_tui.ui.panes.table import PANES

KeyScope = Literal[
    "screen", "prompt", "approval", "diff", "rewind", "trust", "picker", "pane", "rules", "decision"
]
"""Where a key is heard: the main screen, its prompt, one of the dialogs, a list, a pane."""

OVERLAPPING: tuple[frozenset[KeyScope], ...] = (
    frozenset(("screen", "prompt")),
    frozenset(("approval",)),
    frozenset(("diff",)),
    frozenset(("rewind",)),
    frozenset(("trust",)),
    frozenset(("picker", "rules")),
    frozenset(("decision",)),
)
"""Scopes that are listened to at the same time: within one set a key has one meaning."""

LEADER = "app.leader"
"""Id of the action that opens the leader popup."""


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


def _rows(group: str, *actions: Action, scope: KeyScope = "screen") -> Iterator[Action]:
    """Yield the actions, each with what the tables below say about it."""
    for action in actions:
        listed = action.id not in _ONLY_KEYS and scope in ("screen", "prompt", "pane")
        in_session, text = action.id in _IN_SESSION, HELP.get(action.id, "")
        yield action._replace(
            help=text, in_session=in_session, listed=listed, group=group, scope=scope
        )


_IN_SESSION = (
    *(
        "session.fork",
        "session.rewind",
        "session.undo",
        "session.redo",
        "session.report",
        "agents.show",
        "agents.tell",
        "agents.stop",
        "context.compact",
        "context.items",
        "context.item",
        "memory.remember",
        "memory.list",
        "memory.forget",
        "shell.run",
        "shell.quiet",
        "shell.terminal",
        "shell.withhold",
    ),
    *("module.reload", "module.switch", "module.unmount", "module.mount", "module.configure"),
)
"""They act on the session that is open."""

_ONLY_KEYS = (
    *("turn.back", "view.up", "view.down", LEADER, "prompt.send", "prompt.newline"),
    *("prompt.queue", "prompt.search", "prompt.clear", "prompt.end"),
)
"""They are not listed: they only make sense as keys."""

_PANE_NAMES = {"context": "budget"}
"""Slash commands of panes whose own name does more than show them."""

# id, title, run, keys, chord, slash, takes
ACTIONS: tuple[Action, ...] = (
    *_rows(
        "Session",
        Action(
            "session.bundles", "Switch bundle", "app.bundles", "", "b", "bundle,bundles", "name"
        ),
        Action(
            "session.sessions", "Resume a session", "app.sessions", "", "l", "resume,sessions", "id"
        ),
        Action("session.left_open", "Sessions left open", "app.left_open", "", "J", "left-open"),
        Action("session.new", "New session", "app.new_session", "", "n", "new"),
        Action("session.demo", "Try the offline demo", "app.demo", "", "w", "demo"),
        Action("session.rename", "Name this session", "app.rename", "", "j", "rename", "title"),
        Action("session.fork", "Fork this session", "app.fork", "", "f", "fork"),
        Action("session.rewind", "Go back", "app.rewind", "", "Z", "rewind", "turn"),
        Action("session.undo", "Take back the last turn", "app.undo", "", "X", "undo"),
        Action("session.redo", "Bring back what was taken back", "app.redo", "", "C", "redo"),
        Action(
            "session.report", "What is missing, and why", "app.report", "", "O", "report,missing"
        ),
        Action("setup.key", "Paste an API key", "app.paste_key", "", "4", "key", "variable"),
        Action("setup.local", "Use a model on this machine", "app.use_local", "", "5", "local"),
        Action("app.quit", "Quit", "app.leave", "", "q", "quit,exit"),
    ),
    *_rows(
        "Turn",
        Action("turn.back", "Back, or stop", "screen.escape", "escape"),
        Action("turn.stop", "Stop the turn", "screen.stop", "", "s", "stop"),
        Action("turn.retry", "Retry the prompt that failed", "app.retry", "", "r", "retry"),
        Action(
            "turn.without",
            "Go on without the source that failed",
            "app.retry_without",
            "",
            "g",
            "without",
        ),
        Action(
            "turn.unqueue", "Take back the last queued prompt", "app.unqueue", "", "d", "unqueue"
        ),
        Action("turn.queue", "What is queued, to change it", "app.queue", "", "6", "queue"),
        Action("turn.send", "Send what is queued first", "app.send_queued", "", "Y", "send"),
        Action(
            "shell.run", "Run a command", "app.shell", "", "exclamation_mark", "shell", "command"
        ),
        Action(
            "shell.quiet",
            "Run one without telling the agent",
            "app.shell_quietly",
            "",
            "Q",
            "shell-quiet",
            "command",
        ),
        Action(
            "shell.terminal",
            "Run a command in the terminal itself",
            "app.terminal",
            "",
            "V",
            "terminal,tty",
            "command",
        ),
        Action(
            "shell.withhold",
            "Keep back what your commands printed",
            "app.withhold",
            "",
            "W",
            "withhold",
        ),
        Action("mode.next", "Next mode: plan, ask, edits", "app.next_mode", "shift+tab"),
        Action("mode.choose", "Choose the mode", "app.mode", "", "u", "mode", "name"),
        Action("model.choose", "Choose the model", "app.model", "", "L", "model,models", "name"),
        Action("model.effort", "Choose the effort", "app.effort", "", "E", "effort", "level"),
        Action(
            "model.back", "Go back to the model before", "app.model_back", "", "K", "model-back"
        ),
        Action("limit.set", "Limit what is spent", "app.limit", "", "1", "limit", "limit"),
        Action("limit.once", "Send what waits at the limit", "app.limit_once", "", "2", "once"),
        Action("limit.raise", "Double the limit", "app.limit_raise", "", "3", "double-limit"),
        Action("plan.ask", "Do the plan, asking", "app.do_plan", "", "p", "do"),
        Action("plan.edits", "Do the plan, edits go through", "app.do_edits", "", "P", "do-edits"),
        Action("plan.dismiss", "Go on planning", "app.dismiss_plan", "", "G", "go-on-planning"),
        Action(
            "approval.show", "Answer what waits for you", "app.approvals", "f8", "a", "approvals"
        ),
        Action(
            "permissions.show", "Permissions", "app.permissions", "f5", "U", "permissions,rules"
        ),
        Action(
            "permissions.explain", "Explain a call", "app.explain", "", "I", "explain", "command"
        ),
        Action("permissions.audit", "Audit log", "app.audit", "", "F", "audit", "words"),
        Action("trust.again", "Ask again what you refused", "app.ask_trust_again", slash="trust"),
    ),
    *_rows(
        "Conversation",
        Action("view.up", "Page up", "screen.page_up", "pageup"),
        Action("view.down", "Page down", "screen.page_down", "pagedown"),
        Action("view.top", "To the first message", "screen.top", "ctrl+home"),
        Action("view.bottom", "To the newest message", "screen.bottom", "ctrl+end"),
        Action(
            "view.expand", "Expand or collapse details", "screen.expand", "ctrl+o", "o", "expand"
        ),
        Action("view.diff", "Show a change in full", "app.show_diff", "", "D", "diff"),
        Action("view.copy", "Copy the last answer", "app.copy_answer", "", "y", "copy"),
        Action("view.plan", "Show the plan", "app.plan", "ctrl+t", "t", "plan,todo"),
        Action("view.notices", "Notices", "app.notices", "", "i", "notices"),
    ),
    *_rows(
        "Agents",
        Action("agents.show", "Agents", "app.agents", "f7", "A", "agents", "name"),
        Action(
            "agents.tell", "Tell an agent something", "app.tell_agent", "", "T", "tell", "name text"
        ),
        Action("agents.stop", "Stop an agent", "app.stop_agent", "", "S", "stop-agent", "name"),
        Action("agents.back", "Back to the main conversation", "screen.main", "", "H", "main"),
    ),
    *_rows(
        "Context",
        Action(
            "context.compact",
            "Compact the conversation",
            "app.compact",
            "",
            "c",
            "compact",
            "instructions",
        ),
        Action(
            "context.item",
            "Pin, drop or shorten an item",
            "app.context",
            "",
            "N",
            "context",
            "pin|drop|shorten|show item",
        ),
        Action("context.items", "The biggest items of the context", "app.items", "", "8", "items"),
        Action(
            "memory.remember", "Remember something", "app.remember", "", "R", "remember", "text"
        ),
        Action("memory.list", "Memories", "app.memories", "", "M", "memories"),
        Action("memory.forget", "Forget a memory", "app.forget", "", "", "forget", "id"),
    ),
    *_rows(
        "Modules",
        Action("module.reload", "Reload a module", "app.reload_module", slash="reload", takes="id"),
        Action(
            "module.switch",
            "Switch a module off or on",
            "app.switch_module",
            slash="disable,enable",
            takes="id",
        ),
        Action(
            "module.unmount", "Unmount a module", "app.unmount_module", slash="unmount", takes="id"
        ),
        Action(
            "module.mount", "Mount a module", "app.mount_module", slash="mount", takes="id or path"
        ),
        Action(
            "module.configure",
            "Change a setting of a module",
            "app.configure_module",
            slash="configure",
            takes="id setting value",
        ),
    ),
    *_rows(
        "Panes",
        *(
            Action(
                f"pane.{p.name}",
                p.title,
                f"screen.pane('{p.name}')",
                p.key,
                p.chord,
                _PANE_NAMES.get(p.name, p.name),
            )
            for p in sorted(PANES, key=lambda pane: pane.key)
        ),
        Action("pane.next", "Next pane", "screen.cycle(1)", "f6"),
        Action("pane.previous", "Previous pane", "screen.cycle(-1)", "shift+f6"),
        Action("pane.zoom", "Zoom the focused pane", "screen.zoom", "", "z", "zoom"),
    ),
    *_rows(
        "Program",
        Action("app.palette", "Command palette", "app.palette", "ctrl+p", "space", "commands"),
        Action("app.theme", "Theme", "app.themes", "", "h", "theme", "name"),
        Action("app.help", "Keys and commands", "app.help", "f1", "k", "help,keys"),
        Action("app.suspend", "Suspend to the shell", "app.suspend", "", "", "suspend"),
        Action(LEADER, "Leader", "app.leader", "ctrl+x"),
    ),
    *_rows(
        "Prompt",
        Action("prompt.send", "Send", "send", "enter"),
        Action("prompt.newline", "New line", "newline", "ctrl+j,alt+enter,shift+enter"),
        Action("prompt.queue", "Complete, or queue", "complete_or_queue", "tab"),
        Action("prompt.search", "Search the history", "app.search_history", "ctrl+r"),
        Action("prompt.editor", "Edit in $EDITOR", "app.editor", "ctrl+g", "e", "editor"),
        Action("prompt.clear", "Copy, clear, stop, quit", "copy_clear_or_quit", "ctrl+c"),
        Action("prompt.end", "Delete forward, or quit", "delete_or_quit", "ctrl+d"),
        scope="prompt",
    ),
    *_rows(
        "Approval",
        Action("approval.deny", "Deny", "deny", "d"),
        Action("approval.reason", "Deny and say why", "reason", "f"),
        Action("approval.allow", "Allow", "allow", "a"),
        Action("approval.edit", "Edit the arguments", "edit", "e"),
        Action("approval.editor", "Edit them in $EDITOR", "edit_outside", "ctrl+g,E"),
        Action("approval.judge", "Judge what was edited", "judge", "ctrl+o"),
        Action("approval.scope", "Remember", "cycle_scope", "r"),
        Action("approval.why", "Why", "why", "question_mark"),
        Action("approval.all", "Allow all identical", "allow_all", "A"),
        Action("approval.later", "Later", "later", "escape"),
        Action("approval.full", "Full screen", "full", "z"),
        Action("approval.next", "Next change, or place found", "step(1)", "n,right_square_bracket"),
        Action(
            "approval.previous",
            "Previous change, or place found",
            "step(-1)",
            "p,left_square_bracket",
        ),
        Action("approval.search", "Search in what is asked", "search", "slash"),
        Action("approval.split", "Side by side, or unified", "split", "t"),
        Action("approval.whole", "The whole file, or the changes", "whole", "w"),
        scope="approval",
    ),
    *_rows(
        "Change",
        Action("diff.next", "Next change, or place found", "step(1)", "n,right_square_bracket"),
        Action(
            "diff.previous", "Previous change, or place found", "step(-1)", "p,left_square_bracket"
        ),
        Action("diff.search", "Search", "search", "slash"),
        Action("diff.split", "Side by side, or unified", "split", "t"),
        Action("diff.whole", "The whole file, or the changes", "whole", "w"),
        Action("diff.copy", "Copy the diff", "copy", "y"),
        Action("diff.close", "Close", "close", "escape,q"),
        scope="diff",
    ),
    *_rows(
        "Going back",
        Action("rewind.both", "Conversation and files", "both", "enter"),
        Action("rewind.conversation", "Conversation", "conversation", "c"),
        Action("rewind.files", "Files", "files", "f"),
        Action("rewind.fork", "Fork instead", "fork", "n"),
        Action("rewind.diff", "What it does to a file", "diff", "d"),
        Action("rewind.overwrite", "Overwrite a file that you changed", "overwrite", "o"),
        Action("rewind.up", "Up", "move(-1)", "up,k"),
        Action("rewind.down", "Down", "move(1)", "down,j"),
        Action("rewind.close", "Stay", "close", "escape"),
        scope="rewind",
    ),
    *_rows(
        "Trust",
        Action("trust.use", "Use it", "use", "u"),
        Action("trust.session", "For this session", "use_once", "s"),
        Action("trust.choose", "Choose", "choose", "c"),
        Action("trust.tick", "Tick", "tick", "space"),
        Action("trust.fold", "Fold or open", "fold", "enter"),
        Action("trust.without", "Open without it", "without", "o"),
        Action("trust.cancel", "Cancel", "cancel", "escape"),
        scope="trust",
    ),
    *_rows(
        "Permissions",
        Action("rule.add", "Add a rule", "add_rule", "a"),
        Action("rule.edit", "Change a rule", "edit_rule", "e"),
        Action("rule.revoke", "Revoke a rule", "revoke_rule", "d,delete"),
        Action("rule.undo", "Undo", "undo_revoke", "u"),
        Action("rule.explain", "Explain a call", "leave_for('explain')", "question_mark"),
        Action("rule.audit", "Audit log", "leave_for('audit')", "l"),
        Action("rule.filter", "Filter", "filter", "slash"),
        scope="rules",
    ),
    *_rows(
        "Audit log",
        Action("decision.go", "Go to it in the conversation", "take('go')", "g"),
        Action("decision.copy", "Copy the call", "take('copy')", "y"),
        Action("decision.list", "Back to the log", "take('list')", "l"),
        Action("decision.another", "Explain another call", "take('another')", "enter,a"),
        scope="decision",
    ),
    *_rows(
        "Lists",
        Action("picker.choose", "Choose", "choose", "enter"),
        Action("picker.close", "Close", "close", "escape"),
        Action("picker.up", "Up", "move(-1)", "up,ctrl+p"),
        Action("picker.down", "Down", "move(1)", "down,ctrl+n"),
        Action("picker.page_up", "Page up", "page(-1)", "pageup"),
        Action("picker.page_down", "Page down", "page(1)", "pagedown"),
        scope="picker",
    ),
)

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}
BY_SLASH: dict[str, Action] = {name: action for action in ACTIONS for name in action.commands}


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
