"""tool-apply-patch: ``apply_patch`` adds, changes, moves and deletes files by one patch.

The patch has the format that models are trained on (`base.patches`). It is applied whole or not at
all: where one passage is not found, no file is changed, and the answer says which line of the patch
does not fit. The workspace is the capability ``session.working_dir``; what is outside is denied
unless the config allows it.

Config:
    allowed_write_paths: Files and folders that may be changed beside the workspace.
    denied_write_paths: Files and folders that may not be changed, whatever else allows it.
    working_dir: The workspace where no capability tells it.

Events: ``artifact:write`` for each file that was changed, with its diff.

Relative paths in the config start in the workspace; ``~`` is the home folder.
"""

from typing import Any, ClassVar

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._shared.workspace import ToolWorkspace, WorkspaceSettings
from amplifier_tui.modules.tool_apply_patch.tool import ApplyPatchTool

__all__ = ["ApplyPatchTool", "mount"]

__amplifier_module_type__ = "tool"


class ApplyPatchSettings(WorkspaceSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-apply-patch"


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the tool."""
    workspace = ToolWorkspace(ApplyPatchSettings.read(config), coordinator)
    tool = ApplyPatchTool(workspace)
    await coordinator.mount("tools", tool, name=tool.name)
