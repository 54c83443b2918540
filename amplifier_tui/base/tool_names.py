"""Names of tools that rules know, and the kinds of tools that a name in a rule stands for."""

from typing import Any, Final

from amplifier_tui.base.nearest import nearest

COMMAND_TOOLS: Final = frozenset({"bash", "shell", "run_command"})
READ_TOOLS: Final = frozenset(
    {"read_file", "glob", "grep", "ls", "list_files", "list_directory", "list_dir"}
    | {"search_files", "find_files"}
)
WRITE_TOOLS: Final = frozenset(
    {"write_file", "edit_file", "apply_patch", "create_file", "delete_file"}
)
AGENT_TOOLS: Final = frozenset({"task", "delegate"})
WEB_TOOLS: Final = frozenset({"web_fetch", "web_search"})
GROUPS: Final = {"read": READ_TOOLS, "write": WRITE_TOOLS, "web": WEB_TOOLS}
"""Names that stand for every tool of a kind."""
FILE_TOOLS: Final = frozenset({"read", "write", *READ_TOOLS, *WRITE_TOOLS})
SERVER_TOOLS: Final = frozenset({"web", *WEB_TOOLS})

OTHER_TOOLS: Final = frozenset(
    {"ask_user", "bash_job", "load_skill", "memory", "todo", "tool_search"}
)
"""Tools of the program that are of no kind."""

_TOOLS: Final = COMMAND_TOOLS | READ_TOOLS | WRITE_TOOLS | AGENT_TOOLS | WEB_TOOLS | GROUPS.keys()


def meant_tool(name: str) -> str:
    """Return the tool or kind of tools that is most likely meant; empty where it may be another's.

    A name with a `*` is none, and one that is like none may be a module's.
    """
    return "" if name in _TOOLS or "*" in name else nearest(name, _TOOLS) or ""


def is_known_tool(name: Any) -> bool:
    """Whether a name is that of a tool of the program, or of one that rules know the kind of."""
    return isinstance(name, str) and name in (_TOOLS - GROUPS.keys()) | OTHER_TOOLS


def in_brackets(rule: Any) -> str:
    """Return what a rule says in brackets of files, servers or arguments; empty for commands.

    As in `read(secrets/**)`, `web(docs.python.org)` and `own_tool({"name": 1})`.
    """
    name, _, rest = rule.strip().partition("(") if isinstance(rule, str) else ("", "", "")
    inside = rest[:-1].strip() if rest.endswith(")") else ""
    known = name in FILE_TOOLS or name in SERVER_TOOLS
    return inside if known or (inside[:1] == "{" and name not in COMMAND_TOOLS) else ""


def server_of(inside: str) -> str:
    """Return the server that a rule means: it is named without `https://`, port and path."""
    server = inside.partition("://")[2] or inside
    server = server.rpartition("@")[2].partition("/")[0]
    return server.partition(":")[0] if server.count(":") == 1 else server
