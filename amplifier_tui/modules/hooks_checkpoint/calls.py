"""Which files a tool call changes, and which calls run commands."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import Bytes, ModuleSettings, PathText, Seconds
from amplifier_tui.base.patches import patched_paths
from amplifier_tui.modules.hooks_checkpoint.store import CopyLimits

_TOOLS: Final = (
    "write_file",
    "edit_file",
    "create_file",
    "delete_file",
    "multi_edit",
    "notebook_*",
)
_ARGUMENTS: Final = ("file_path", "path", "notebook_path", "filename")
_PATCHES: Final = ("apply_patch",)
_COMMANDS: Final = ("bash", "shell", "sh", "run_command", "execute_command", "run_shell_command")
_COMMAND_ARGUMENTS: Final = ("command", "cmd", "script")


class CheckpointSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-checkpoint"

    tools: dict[str, str] = Field({}, description="a mapping of tool names to an argument each")
    max_file_bytes: Bytes = 5_000_000
    max_binary_bytes: Bytes = 1_000_000
    max_total_bytes: Bytes = 200_000_000
    compare_commands: bool = True
    own_seconds: Seconds = Field(2.0, ge=0.0)
    folder: PathText | None = None
    priority: int = 95

    @property
    def limits(self) -> CopyLimits:
        """How much is kept."""
        return CopyLimits(self.max_file_bytes, self.max_binary_bytes, self.max_total_bytes)

    def paths(self, tool: str, given: Mapping[str, Any]) -> list[str]:
        """Return the files a call would change, as the model wrote them."""
        for pattern, argument in self.tools.items():
            if fnmatchcase(tool, pattern):
                return _texts(given.get(argument))
        if tool in _PATCHES:
            found = [text for text in given.values() if isinstance(text, str)]
            return list(dict.fromkeys(path for text in found for path in patched_paths(text)))
        if any(fnmatchcase(tool, pattern) for pattern in _TOOLS):
            return next((paths for name in _ARGUMENTS if (paths := _texts(given.get(name)))), [])
        return []


def command_of(tool: str, given: Mapping[str, Any]) -> str:
    """Return the command a call runs, if it may change files; empty for every other call."""
    if tool not in _COMMANDS:
        return ""
    found = (given.get(name) for name in _COMMAND_ARGUMENTS)
    command = next((text for text in found if isinstance(text, str) and text.strip()), "")
    if not command:
        return ""
    # A session opens without the reader of shell lines, which takes long to import.
    from amplifier_tui.base.shell import only_reads, read_shell_line

    return "" if only_reads(read_shell_line(command)) else command


def _texts(value: Any) -> list[str]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        return []
    return [text for text in listed if isinstance(text, str) and text.strip()]
