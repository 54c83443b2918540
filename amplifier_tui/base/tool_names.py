"""Names of tools that rules know, and the kinds of tools that a name in a rule stands for."""

import re
from fnmatch import fnmatchcase
from typing import Any, Final

from amplifier_tui.base.capabilities.mcp import TOOL_PREFIX
from amplifier_tui.base.nearest import is_slip

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

WITHOUT_BRACKETS: Final = AGENT_TOOLS | OTHER_TOOLS - {"memory"}
"""Tools whose rules are about any call, or about exact arguments as JSON."""

_TOOLS: Final = COMMAND_TOOLS | READ_TOOLS | WRITE_TOOLS | AGENT_TOOLS | WEB_TOOLS | GROUPS.keys()


_OWN: Final = (
    GROUPS.keys()
    | OTHER_TOOLS
    | {
        *("apply_patch", "bash", "edit_file", "glob", "grep", "read_file", "task", "write_file"),
        *("web_fetch", "web_search"),
    }
)
"""What a rule may be about without a module of others."""

_OF_OTHERS: Final = {
    "bash": "bash cmd containerexec exec execcommand executecommand localshell powershell"
    " runcommand runinterminal runshellcommand runterminalcmd runterminalcommand shell terminal"
    " unifiedexec",
    "bash_job": "bashoutput killbash killshell taskoutput taskstop writestdin",
    "read": "notebookread read readmanyfiles view viewfile viewimage",
    "write": "createfile delete deletefile edit editfiles editnotebook inserteditintofile multiedit"
    " notebookedit patch replace replaceinfile replacestringinfile searchreplace strreplace"
    " strreplacebasededittool strreplaceeditor texteditor write writetofile",
    "apply_patch": "applydiff applypatch",
    "edit_file": "editfile",
    "read_file": "readfile",
    "write_file": "writefile",
    "glob": "filesearch findfiles glob listdir listdirectory listfiles ls",
    "grep": "codebasesearch grep grepsearch searchfilecontent searchfiles searchtext",
    "web": "browser browseraction fetch web",
    "web_fetch": "fetchwebpage webfetch",
    "web_search": "googlewebsearch websearch",
    "task": "agent delegate newtask spawnagent subagent task",
    "todo": "managetodolist todo todoread todowrite updateplan updatetodolist writetodos",
    "memory": "memory savememory",
    "load_skill": "activateskill skill",
    "ask_user": "askfollowupquestion askuser askuserquestion requestuserinput",
    "tool_search": "toolsearch",
}
"""What other agents call their tools, without case, `_`, `-` and `.`, by the program's names."""


def meant_tool(name: str) -> str:
    """Return the tool or kind of tools that is most likely meant; empty where it may be another's.

    A name that is like one may be a module's all the same, and so may one that other agents use.
    """
    if name in _OWN:
        return ""
    if name.startswith(TOOL_PREFIX):
        # Others mean every tool of a server by its name.
        alone = "__" not in name.removeprefix(TOOL_PREFIX) and "*" not in name
        return f"{name}__*" if alone else ""
    if "*" in name and any(fnmatchcase(tool, name) for tool in _OWN):
        return ""
    plain = re.sub(r"[*._-]", "", name).casefold()
    found = (tool for tool, names in _OF_OTHERS.items() if plain in names.split())
    slips = (tool for tool in sorted(_TOOLS) if "*" not in name and is_slip(name, tool))
    return next(found, "") or next(slips, "")


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
    server = inside.removeprefix("domain:")  # As others write it.
    server = server.partition("://")[2] or server
    server = server.rpartition("@")[2].partition("/")[0]
    return server.partition(":")[0] if server.count(":") == 1 else server


def spelt(tool: str, inside: str) -> str:
    """Return the rule for a tool that says what a rule for another's name was meant to say.

    Args:
        tool: As the program calls it.
        inside: What stood in the brackets, as other agents write it.
    """
    inside = inside.strip()
    if inside in ("", "*") or tool in WITHOUT_BRACKETS:
        return tool
    if tool in COMMAND_TOOLS:
        inside = inside.replace(":*", " *")
    return f"{tool}({server_of(inside) if tool in SERVER_TOOLS else inside})"
