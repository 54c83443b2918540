"""hooks-checkpoint: keeps a copy of every file before a tool changes it, so that it can go back.

Before a file of the workspace is written, edited, patched or deleted by a file tool, its content is
copied once per turn into the folder ``checkpoints`` of the session. What commands change is not
seen. Links are followed to see where a file is, and what is outside of the workspace is left alone.

Capabilities:
    ``checkpoint.list``: async function without arguments; returns a list of dicts, oldest first,
        one for each turn in which files changed: ``id``, ``turn`` (counted from 1), ``prompt``
        (its beginning), ``at`` (ISO time) and ``files``: dicts with ``path`` (relative to the
        workspace), ``action`` (``changed`` or ``created``), ``size`` (bytes of the copy) and
        ``skipped`` (why there is no copy; empty when there is one).
    ``checkpoint.restore``: async function ``(id, paths=None, force=False)``; puts files back to
        what they were when that turn began, undoing later turns too. Returns a dict of lists of
        paths: ``restored``, ``removed`` (they did not exist), ``unchanged``, ``conflicts`` (they
        were changed since by another program; ``force`` restores them all the same) and ``failed``
        (a mapping of path to reason). Raises ``KeyError`` for an unknown id.

Config:
    tools: More tools that change files, a mapping of name (``*`` allowed) to the name of the
        argument with the path.
    max_file_bytes: Larger files are not copied. Default 5000000.
    max_binary_bytes: The same for files that are no text. Default 1000000.
    max_total_bytes: Most that is kept for a session. Default 200000000.
    folder: Where the copies are kept, below the session's folder, the user's log folder or the
        project; default the session's folder.
    priority: Of the handler. Default 95, after the hooks that ask for approval.
"""

import asyncio
import logging
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import Bytes, ModuleSettings, PathText
from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules._shared.places import shown_path
from amplifier_tui.modules._shared.session_paths import session_folder, state_place, working_dir
from amplifier_tui.modules.hooks_checkpoint.store import (
    ChangedTurn,
    CopyStore,
    inside,
    restore,
)

__amplifier_module_type__ = "hook"

logger = logging.getLogger(__name__)

STORE_CAPABILITY: Final = "checkpoint.store"
_CONTINUE: Final = HookResult(action="continue")
_PROMPT: Final = 200
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
_HEAD: Final = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |--- |\+\+\+ )(?P<path>[^\t\r\n]+)",
    re.MULTILINE,
)


class CheckpointSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-checkpoint"

    tools: dict[str, str] = Field({}, description="a mapping of tool names to an argument each")
    max_file_bytes: Bytes = 5_000_000
    max_binary_bytes: Bytes = 1_000_000
    max_total_bytes: Bytes = 200_000_000
    folder: PathText | None = None
    priority: int = 95

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


def _chosen_folder(coordinator: Any, settings: CheckpointSettings) -> Path | None:
    if settings.folder is None:
        return None
    text = os.path.join(settings.folder, "{session_id}")
    return state_place(text, coordinator, module=settings.module, setting="folder")


class Checkpoints:
    """The checkpoints of a session.

    Raises:
        SettingsError: `folder` leads to where no copies belong.
    """

    def __init__(self, coordinator: Any, settings: CheckpointSettings) -> None:
        self._coordinator = coordinator
        self._settings = settings
        # Now, so that a folder that is refused refuses the module.
        self._chosen = _chosen_folder(coordinator, settings)
        self._lock = asyncio.Lock()
        self._store: CopyStore | None = None
        self._turn: ChangedTurn | None = None
        self._number = 0
        self._prompt = ""
        self._told = False

    # --- handlers --------------------------------------------------------------------------

    async def turn_begins(self, event: str, data: dict[str, Any]) -> HookResult:
        """`execution:start`: a turn begins; it is noted with the first file that changes."""
        if self._owner is self:
            self._turn = None
            self._number = await self._count_prompts() + 1
            self._prompt = " ".join(str(data.get("prompt") or "").split())[:_PROMPT]
        return _CONTINUE

    async def before(self, event: str, data: dict[str, Any]) -> HookResult:
        """`tool:pre`: copy the files the call would change."""
        await self._owner._copy(self._files(data))
        return _CONTINUE

    async def after(self, event: str, data: dict[str, Any]) -> HookResult:
        """`tool:post` and `tool:error`: note what became of them."""
        await self._owner._note(self._files(data))
        return _CONTINUE

    @property
    def _owner(self) -> "Checkpoints":
        """Whose turn it is: a sub-agent works in the turn of the session that called it."""
        owner = self._coordinator.get_capability(STORE_CAPABILITY)
        return owner if isinstance(owner, Checkpoints) else self

    def _files(self, data: Mapping[str, Any]) -> list[Path]:
        given = data.get("tool_input")
        paths = self._settings.paths(
            str(data.get("tool_name") or ""), given if isinstance(given, Mapping) else {}
        )
        if not paths:
            return []
        root = self._workspace()
        return [path for text in paths if (path := inside(text, root)) is not None]

    async def _copy(self, files: list[Path]) -> None:
        if not files:
            return
        settings = self._settings
        async with self._lock:
            for file in files:
                try:
                    store = await self._opened()
                    if self._turn is None:
                        self._turn = await asyncio.to_thread(
                            store.begin, self._number, self._prompt
                        )
                    if str(file) not in self._turn.files:
                        await asyncio.to_thread(
                            store.add,
                            self._turn,
                            file,
                            largest=settings.max_file_bytes,
                            largest_binary=settings.max_binary_bytes,
                            room=settings.max_total_bytes,
                        )
                except OSError as error:
                    await self._trouble(file, error)

    async def _note(self, files: list[Path]) -> None:
        async with self._lock:
            if self._turn is None or self._store is None:
                return
            for file in files:
                try:
                    await asyncio.to_thread(self._store.note_after, self._turn, file)
                except OSError as error:
                    logger.warning("What became of %s is not noted: %s", file, error)

    async def _trouble(self, file: Path, error: OSError) -> None:
        logger.warning("No checkpoint of %s: %s", file, error)
        if self._told:
            return
        self._told = True
        reason = error.strerror or str(error)
        await self._coordinator.hooks.emit(
            "user:notification",
            {
                "message": f"There is no checkpoint of {file.name}, it can't be undone: {reason}",
                "level": "warning",
                "source": "hooks-checkpoint",
            },
        )

    def _workspace(self) -> Path:
        return working_dir(self._coordinator).resolve()

    async def _opened(self) -> CopyStore:
        if self._store is None:
            folder = self._chosen or session_folder(self._coordinator) / "checkpoints"
            self._store = await asyncio.to_thread(CopyStore, folder)
        return self._store

    async def _count_prompts(self) -> int:
        context = self._coordinator.get("context")
        if context is None:
            return 0
        messages = await awaited(context.get_messages())
        return sum(map(_is_prompt, messages))

    # --- capabilities ----------------------------------------------------------------------

    async def listed(self) -> list[dict[str, Any]]:
        """Return the checkpoints; see the package's docstring."""
        root = self._workspace()
        async with self._lock:
            store = await self._opened()
            described = [_described(turn, root) for turn in store.turns]
        return [turn for turn in described if turn["files"]]

    async def restore(
        self, id: str, paths: Collection[str] | None = None, force: bool = False
    ) -> dict[str, Any]:
        """Put files back; see the package's docstring.

        Raises:
            KeyError: There is no such checkpoint.
        """
        root = self._workspace()
        async with self._lock:
            store = await self._opened()
            return await asyncio.to_thread(restore, store, root, id, paths, force)


def _is_prompt(message: Any) -> bool:
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return False
    metadata = message.get("metadata")
    return not (isinstance(metadata, Mapping) and metadata.get("source") == "hook")


def _described(turn: ChangedTurn, root: Path) -> dict[str, Any]:
    return {
        "id": turn.id,
        "turn": turn.number,
        "prompt": turn.prompt,
        "at": turn.at,
        "files": [
            {
                "path": shown_path(entry.path, root),
                "action": "changed" if entry.existed else "created",
                "size": entry.size,
                "skipped": entry.skipped,
            }
            for entry in turn.files.values()
            if entry.differs
        ],
    }


def patched_paths(text: str) -> list[str]:
    """Return the files named in the heads of a patch, in both common formats, each once."""
    found: dict[str, None] = {}
    for match in _HEAD.finditer(text):
        path = match["path"].strip()
        if match.group().startswith(("--- ", "+++ ")):
            path = re.sub(r"^[ab]/", "", path)
        if path and path != "/dev/null":
            found[path] = None
    return list(found)


def _texts(value: Any) -> list[str]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        return []
    return [text for text in listed if isinstance(text, str) and text.strip()]


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handlers and the capabilities; returns the cleanup."""
    settings = CheckpointSettings.read(config)
    checkpoints = Checkpoints(coordinator, settings)
    cleanup = ExitStack()
    for event, handler, priority in (
        (events.EXECUTION_START, checkpoints.turn_begins, 0),
        (events.TOOL_PRE, checkpoints.before, settings.priority),
        (events.TOOL_POST, checkpoints.after, 0),
        (events.TOOL_ERROR, checkpoints.after, 0),
    ):
        cleanup.callback(coordinator.hooks.register(event, handler, priority, "hooks-checkpoint"))
    coordinator.register_capability(STORE_CAPABILITY, checkpoints)
    coordinator.register_capability("checkpoint.list", checkpoints.listed)
    coordinator.register_capability("checkpoint.restore", checkpoints.restore)
    return cleanup.close
