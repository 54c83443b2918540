"""What kind of call it is, and the decision about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from amplifier_tui.base.text import printable, shortened
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules.hooks_approval.settings import ApprovalSettings, Policy, ToolRule

if TYPE_CHECKING:
    from amplifier_tui.base.shell import ShellCommand, ShellLine

CallKind = Literal["read", "look", "write", "command", "unknown"]
""""read" is reading in the workspace, "look" looking elsewhere or delegating."""

_KINDS: Final[tuple[tuple[CallKind, tuple[str, ...]], ...]] = (
    (
        "read",
        (
            *("read_file", "glob", "grep", "ls", "list_*", "search_files", "find_files"),
            *("todo", "todo_*", "load_skill", "bash_job"),
        ),
    ),
    ("look", ("web_search", "web_fetch", "task", "delegate")),
    ("write", ("write_file", "edit_file", "apply_patch", "create_file", "delete_file")),
    ("command", ("bash", "shell", "run_command")),
)

_PATHS: Final = ("file_path", "path", "url", "query", "pattern", "text")


def kind_of(tool: str, given: Mapping[str, Any]) -> CallKind:
    """Return the kind of a call; whatever takes a command line runs it."""
    if tool == "memory":
        # Notes stay when the session ends, so making and removing them is writing.
        return "read" if given.get("action") in ("search", "list") else "write"
    for kind, patterns in _KINDS:
        if any(fnmatchcase(tool, pattern) for pattern in patterns):
            return kind
    return "command" if isinstance(given.get("command"), str) else "unknown"


def sentence(tool: str, kind: CallKind, given: Mapping[str, Any]) -> str:
    """Return what a call wants to do, in one sentence."""
    if kind == "command":
        return f"{tool} wants to run: {_short(given.get('command'))}"
    target = next((given[name] for name in _PATHS if isinstance(given.get(name), str)), None)
    if kind == "write":
        verb = "change" if tool == "edit_file" else "write"
        return f"{tool} wants to {verb} {_short(target)}" if target else f"{tool} wants to {verb}"
    return f"{tool} wants to run on {_short(target)}" if target else f"{tool} wants to run"


def _short(value: Any) -> str:
    return shortened(printable(" ".join(str(value or "").split())), 160)


OPTIONS: Final = ("Allow", "Allow once", "Allow always", "Deny")

_THROUGH: Final[dict[Policy, tuple[CallKind, ...]]] = {
    "careful": ("read",),
    "standard": ("read", "look"),
    "relaxed": ("read", "look", "write"),
}
"""What goes through without a rule."""


class _Call(NamedTuple):
    tool: str
    kind: CallKind
    line: ShellLine | None


class ApprovalHook:
    """Handler of ``tool:pre``.

    Args:
        settings: The rules.
        mistake: A mistake in the config; then nearly everything asks.
        gated: Whether the host judges every call itself.
    """

    def __init__(
        self,
        settings: ApprovalSettings,
        mistake: str = "",
        gated: Callable[[], bool] = lambda: False,
    ) -> None:
        self._settings = settings
        self._mistake = mistake
        self._gated = gated

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Decide about the call in the data of a ``tool:pre``."""
        tool = str(data.get("tool_name") or "")
        given = data.get("tool_input")
        given = given if isinstance(given, Mapping) else {}
        kind = kind_of(tool, given)
        command = given.get("command")
        line = _line(command) if isinstance(command, str) else None
        call = _Call(tool, kind, line)
        denied = _first_caught(self._settings.deny, call)
        if denied is not None:
            return HookResult(
                action="deny",
                reason=f"hooks-approval: the rule {denied.text} denies this.",
                # Who keeps an audit log counts it as that rule's doing.
                data={"rule": denied.text},
            )
        why = self._why_ask(call)
        if why is None:
            return HookResult(action="continue")
        return HookResult(
            action="ask_user",
            reason=why,
            approval_prompt=sentence(tool, kind, given),
            approval_options=list(OPTIONS),
            approval_timeout=self._settings.timeout,
            approval_default="deny",
        )

    def _why_ask(self, call: _Call) -> str | None:
        """Why the user has to decide; None if nothing has to stop."""
        asked = _first_caught(self._settings.ask, call)
        if asked is not None:
            return f"the rule {asked.text} asks"
        if self._gated() and not self._mistake:
            return None
        if self._allowed(call) or call.kind in _THROUGH[self._settings.policy]:
            return None
        if call.line is not None:
            from amplifier_tui.base.shell import reads_here

            if self._settings.policy == "relaxed" and reads_here(call.line):
                return None
            hidden = call.line.hidden or (_writes(call.line) and "a redirection into a file")
            if hidden and any(rule.names(call.tool) for rule in self._settings.allow):
                return f"the command has {hidden}, which no rule can allow"
        if self._mistake:
            return f"the config of hooks-approval has a mistake: {self._mistake}"
        return f"{call.tool} is not on the allow list"

    def _allowed(self, call: _Call) -> bool:
        rules = [rule for rule in self._settings.allow if rule.names(call.tool)]
        if any(rule.words is None for rule in rules):
            return True
        line = call.line
        if line is None or line.hidden or _writes(line) or not line.commands:
            return False
        return all(any(rule.allows(command) for rule in rules) for command in line.commands)


def _line(command: str) -> ShellLine:
    # A session opens without the reader of shell lines, which takes long to import.
    from amplifier_tui.base.shell import read_shell_line

    return read_shell_line(command)


def _writes(line: ShellLine) -> bool:
    return any(
        redirection.writes and redirection.target != "/dev/null"
        for command in line.commands
        for redirection in command.redirections
    )


def _first_caught(rules: Sequence[ToolRule], call: _Call) -> ToolRule | None:
    commands: Sequence[ShellCommand] = call.line.commands if call.line is not None else ()
    for rule in rules:
        if not rule.names(call.tool):
            continue
        if rule.words is None or any(rule.catches(command) for command in commands):
            return rule
    return None
