"""tool-search: ``grep`` and ``glob`` over the workspace.

A search runs in a small process of its own, which ends with the call: neither a slow pattern nor a
huge folder holds up the session. What ``.gitignore`` and ``.ignore`` files leave out, and folders
such as ``node_modules``, are left out unless the call says otherwise; ``.git`` always is. Links are
not followed. Files of keys and passwords (``.env`` and the like) are searched by ``grep`` only
where the call names one.

Config:
    allowed_read_paths: Folders that may be searched beside the workspace.
    denied_read_paths: Files and folders that are never searched. Where programs keep keys and
        passwords (``~/.ssh`` and the like) is searched only by a call that names it.
    timeout: Seconds a search may take. Default 20.
    max_results: Most lines or files one call returns. Default 200.
    max_file_bytes: Files beyond this size are skipped by ``grep``. Default 5000000.
    working_dir: The workspace where no capability ``session.working_dir`` tells it.

Relative paths in the config start in the workspace; ``~`` is the home folder.
"""

# The searching process imports this package too: nothing heavy here.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator
    from amplifier_tui.modules.tool_search.search_tool import SearchSettings

__all__ = ["SearchSettings", "mount"]

__amplifier_module_type__ = "tool"


def __getattr__(name: str) -> Any:
    if name == "SearchSettings":
        from amplifier_tui.modules.tool_search.search_tool import SearchSettings

        return SearchSettings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the two tools."""
    from amplifier_tui.modules.tool_search.glob_tool import GlobTool
    from amplifier_tui.modules.tool_search.grep_tool import GrepTool
    from amplifier_tui.modules.tool_search.search_tool import Places, Searcher, SearchSettings

    settings = SearchSettings.read(config)
    places = Places(settings, coordinator)
    searcher = Searcher(settings.timeout)
    for tool in (GrepTool(places, searcher, settings), GlobTool(places, searcher, settings)):
        await coordinator.mount("tools", tool, name=tool.name)
