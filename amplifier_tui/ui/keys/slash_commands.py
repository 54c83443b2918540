"""What `/x` and keys do on the main screen and in its prompt: a row each."""

from collections.abc import Iterable, Iterator

from amplifier_tui.ui.keys.action import DIGITS, LEADER, Action, rows
from amplifier_tui.ui.panes.table import PANES

_IN_SESSION = (
    *(
        "session.fork",
        "session.rewind",
        "session.undo",
        "session.redo",
        "session.report",
        "session.export",
        "session.worktree",
        "session.take_over",
        "agents.show",
        "agents.tell",
        "agents.stop",
        "context.compact",
        "context.items",
        "context.item",
        "skills.list",
        "jobs.show",
        "jobs.stop",
        "aside.show",
        "mcp.servers",
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
    *("prompt.queue", "prompt.clear", "prompt.end"),
)
"""They are not listed: they only make sense as keys."""

_PANE_NAMES = {
    "context": "budget,cost,usage",
    "modules": "modules,tools,hooks",
}
"""Slash commands of panes that are not only called by their own name."""


# id, title, run, keys, chord, slash, takes
_ROWS = (
    *rows(
        "Session",
        Action(
            "session.bundles", "Switch bundle", "app.bundles", "", "b", "bundle,bundles", "name"
        ),
        Action(
            "session.sessions",
            "Resume a session",
            "app.sessions",
            "",
            "l",
            "resume,sessions,continue",
            "id",
        ),
        Action(
            "session.search", "Search all sessions", "app.search", "", "slash", "search", "words"
        ),
        Action("session.left_open", "Sessions left open", "app.left_open", "", "J", "left-open"),
        Action("session.new", "New session", "app.new_session", "", "n", "new,clear"),
        Action(
            "session.beside",
            "New session beside this one",
            "app.session_beside",
            "",
            "plus",
            "beside",
            "bundle",
        ),
        Action(
            "session.worktree",
            "Session in a git worktree of its own",
            "app.worktree",
            slash="worktree",
            takes="name, diff, merge, leave or remove",
            help="diff shows what one changed, merge brings it back; leave, remove end it.",
        ),
        Action(
            "session.resume_beside",
            "Resume a session beside this one",
            "app.resume_beside",
            "",
            "equals_sign",
            "resume-beside",
            "id",
        ),
        Action("session.show", "Go to a session", "app.show_session", "", DIGITS, "go", "number"),
        Action("session.next", "Next session", "app.next_session", "", "full_stop", "next"),
        Action(
            "session.previous",
            "Previous session",
            "app.next_session(-1)",
            "",
            "comma",
            "previous",
        ),
        Action(
            "session.waiting",
            "Next session that waits for you",
            "app.waiting_session",
            "",
            "0",
            "waiting",
        ),
        Action("session.close", "Close this session", "app.close_session", "", "minus", "close"),
        Action(
            "session.take_over",
            "Go on with a session that was open elsewhere",
            "app.take_over",
            "",
            "less_than_sign",
            "take-over",
        ),
        Action("session.demo", "Try the offline demo", "app.demo", "", "w", "demo"),
        Action(
            "session.rename", "Name this session", "app.rename", "", "j", "rename,title", "title"
        ),
        Action("session.fork", "Fork this session", "app.fork", "", "f", "fork"),
        Action("session.rewind", "Go back", "app.rewind", "", "Z", "rewind", "turn"),
        Action("session.undo", "Take back the last turn", "app.undo", "", "X", "undo"),
        Action("session.redo", "Bring back what was taken back", "app.redo", "", "C", "redo"),
        Action(
            "session.export",
            "Export this session",
            "app.export",
            "",
            "greater_than_sign",
            "export",
            "file",
        ),
        Action(
            "session.import",
            "Sessions of other programs",
            "app.imported",
            slash="import",
            takes="id",
        ),
        Action(
            "session.report", "What is missing, and why", "app.report", "", "O", "report,missing"
        ),
        Action(
            "setup.key",
            "Paste an API key",
            "app.paste_key",
            "",
            "number_sign",
            "key,login",
            "variable",
        ),
        Action("setup.local", "Use a model on this machine", "app.use_local", "", "at", "local"),
        Action("app.quit", "Quit", "app.leave", "", "q", "quit,exit"),
    ),
    *rows(
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
        Action("turn.queue", "What is queued, to change it", "app.queue", "", "ampersand", "queue"),
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
        Action("jobs.show", "What runs in the background", "app.jobs", slash="jobs,tasks"),
        Action(
            "jobs.stop",
            "Stop what runs in the background",
            "app.stop_job",
            slash="stop-job",
            takes="id",
        ),
        Action("aside.show", "What was moved aside", "app.set_aside", slash="aside"),
        Action("mode.next", "Next mode: plan, ask, edits", "app.next_mode", "shift+tab"),
        Action("mode.choose", "Choose the mode", "app.mode", "", "u", "mode", "name"),
        Action("model.choose", "Choose the model", "app.model", "", "L", "model,models", "name"),
        Action("model.effort", "Choose the effort", "app.effort", "", "E", "effort", "level"),
        Action(
            "model.back", "Go back to the model before", "app.model_back", "", "K", "model-back"
        ),
        Action(
            "limit.set", "Limit what is spent", "app.limit", "", "dollar_sign", "limit", "limit"
        ),
        Action("limit.once", "Send what waits at the limit", "app.limit_once", "", "colon", "once"),
        Action(
            *("limit.raise", "Double the limit, until it is enough", "app.limit_raise"),
            *("", "asterisk", "double-limit"),
        ),
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
    *rows(
        "Conversation",
        Action("view.up", "Page up", "screen.page_up", "pageup"),
        Action("view.down", "Page down", "screen.page_down", "pagedown"),
        Action("view.top", "To the first message", "app.top", "ctrl+home"),
        Action("view.bottom", "To the newest message", "screen.bottom", "ctrl+end"),
        Action(
            "view.expand", "Expand or collapse details", "screen.expand", "ctrl+o", "o", "expand"
        ),
        Action("view.whole", "Show all of a long output", "app.whole", "", "semicolon", "whole"),
        Action("view.find", "Find in the conversation", "app.find", "ctrl+f", "", "find", "words"),
        Action(
            "view.previous_prompt",
            "To the previous prompt",
            "app.seek('prompt', -1)",
            "alt+up",
            slash="previous-prompt",
        ),
        Action(
            "view.next_prompt",
            "To the next prompt",
            "app.seek('prompt', 1)",
            "alt+down",
            slash="next-prompt",
        ),
        Action("view.error", "To the next error", "app.seek('error', 1)", slash="next-error"),
        Action("view.answer", "To the last answer", "app.last_answer", slash="last-answer"),
        Action(
            "view.code", "Copy a code block", "app.copy_code", slash="copy-code", takes="number"
        ),
        Action("view.pager", "Read it in $PAGER", "app.page_entry", slash="pager"),
        Action("view.editor", "Open it in $EDITOR", "app.open_entry", slash="open"),
        Action("view.diff", "Show a change in full", "app.show_diff", "", "D", "diff"),
        Action("view.image", "Show an image in full", "app.show_image", slash="image"),
        Action("view.copy", "Copy the last answer", "app.copy_answer", "", "y", "copy"),
        Action("view.plan", "Show the plan", "app.plan", "ctrl+t", "t", "plan,todo"),
        Action("view.notices", "Notices", "app.notices", "", "i", "notices"),
    ),
    *rows(
        "Agents",
        Action("agents.show", "Agents", "app.agents", "f7", "A", "agents", "name"),
        Action(
            "agents.tell", "Tell an agent something", "app.tell_agent", "", "T", "tell", "name text"
        ),
        Action("agents.stop", "Stop an agent", "app.stop_agent", "", "S", "stop-agent", "name"),
        Action("agents.back", "Back to the main conversation", "screen.main", "", "H", "main"),
    ),
    *rows(
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
        Action(
            "context.items",
            "The biggest items of the context",
            "app.items",
            "",
            "percent_sign",
            "items",
        ),
        Action(
            "memory.remember", "Remember something", "app.remember", "", "R", "remember", "text"
        ),
        Action("skills.list", "Skills and other commands", "app.skills", slash="skills"),
        Action("memory.list", "Memories", "app.memories", "", "M", "memories,memory"),
        Action("memory.forget", "Forget a memory", "app.forget", "", "", "forget", "id"),
    ),
    *rows(
        "Modules",
        Action("mcp.servers", "MCP servers", "app.mcp_servers", slash="mcp"),
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
    *rows(
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
    *rows(
        "Program",
        Action("app.palette", "Command palette", "app.palette", "ctrl+p", "space", "commands"),
        Action("app.theme", "Theme", "app.themes", "", "h", "theme", "name"),
        Action("app.images", "Images", "app.images", "", "", "images", "auto or text"),
        Action("app.motion", "Motion", "app.motion", "", "", "motion", "auto, full or reduced"),
        Action(
            "app.notify",
            "Notifications",
            "app.notifications",
            "",
            "",
            "notify",
            "auto, bell or off",
        ),
        Action("app.help", "Keys and commands", "app.help", "f1", "k", "help,keys"),
        Action("app.suspend", "Suspend to the shell", "app.suspend", "", "", "suspend"),
        Action(LEADER, "Leader", "app.leader", "ctrl+x"),
    ),
    *rows(
        "Prompt",
        Action("prompt.send", "Send", "send", "enter"),
        Action("prompt.newline", "New line", "newline", "ctrl+j,alt+enter,shift+enter"),
        Action("prompt.queue", "Complete, or queue", "complete_or_queue", "tab"),
        Action(
            "prompt.search", "Search the history", "app.search_history", "ctrl+r", slash="history"
        ),
        Action("prompt.editor", "Edit in $EDITOR", "app.editor", "ctrl+g", "e", "editor"),
        Action("prompt.clear", "Copy, clear, stop, quit", "copy_clear_or_quit", "ctrl+c"),
        Action("prompt.end", "Delete forward, or quit", "delete_or_quit", "ctrl+d"),
        scope="prompt",
    ),
)


def _noted(actions: Iterable[Action]) -> Iterator[Action]:
    """Yield the actions, each with what the tables above say about it."""
    for action in actions:
        listed, in_session = action.id not in _ONLY_KEYS, action.id in _IN_SESSION
        yield action._replace(listed=listed, in_session=in_session)


SCREEN_ACTIONS: tuple[Action, ...] = tuple(_noted(_ROWS))
