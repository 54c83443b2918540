"""tool-filesystem: ``read_file``, ``write_file`` and ``edit_file`` inside the workspace.

The workspace is the capability ``session.working_dir``. What is outside is denied unless the config
allows it, or the user allowed this very call; links are followed before that is checked.

Config:
    tools: Which of the three to offer. Default all; an agent that only looks gets ``[read_file]``.
    allowed_read_paths: Files and folders that may be read beside the workspace.
    allowed_write_paths: Files and folders that may be written (and read) beside the workspace.
    denied_read_paths: Files and folders that may not be read, whatever else allows it.
    denied_write_paths: Files and folders that may not be written, whatever else allows it.
    max_read_bytes: Most bytes of text one read returns. Default 262144.
    line_numbers: Whether reads number the lines unless the call says otherwise. Default true.
    images: Whether reading an image or a PDF shows it to the model. Default true.
    working_dir: The workspace where no capability tells it.

Relative paths in the config start in the workspace; ``~`` is the home folder.
"""

from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._shared.workspace import ToolWorkspace
from amplifier_tui.modules.tool_filesystem.editing import EditFileTool, WriteFileTool
from amplifier_tui.modules.tool_filesystem.reading import ReadFileTool
from amplifier_tui.modules.tool_filesystem.settings import FilesystemSettings

__all__ = ["EditFileTool", "ReadFileTool", "WriteFileTool", "mount"]

__amplifier_module_type__ = "tool"


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the tools."""
    settings = FilesystemSettings.read(config)
    workspace = ToolWorkspace(settings, coordinator)
    for tool in (
        ReadFileTool(workspace, settings),
        WriteFileTool(workspace),
        EditFileTool(workspace),
    ):
        if tool.name in settings.tools:
            await coordinator.mount("tools", tool, name=tool.name)
