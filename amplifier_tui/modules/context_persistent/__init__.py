"""context-persistent: the conversation in a file of its own, which is the truth (spec 000).

Every message is appended to the file when it is added. A session that finds its file goes on from
it, and then ignores the transcript it is handed: that may be a filtered one.

Config:
    path: The file, below the session's folder, the user's log folder or the project;
        ``{session_id}`` in it stands for the session's id. Default
        ``context-messages.jsonl`` in the session's folder, where the coordinator knows it (its
        attribute ``session_dir``), else in ``contexts/<session id>`` of the Amplifier home.
    memory_files: Files whose texts become system messages of a fresh session.
    max_tokens, window, threshold, target: As for context-pipeline.

Events: ``context:pre_compact``, ``context:post_compact``, ``context:compaction`` and
``context:budget``.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import PathText
from amplifier_tui.base.jsonl import append_rows, read_rows, write_rows
from amplifier_tui.context.adr.history import safe_name
from amplifier_tui.context.ledger import check_message
from amplifier_tui.context.manager import SessionContextManager, mount_context
from amplifier_tui.context.request.budget import BudgetPolicy, BudgetSettings
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._shared.session_paths import amplifier_home, state_place

__amplifier_module_type__ = "context"

logger = logging.getLogger(__name__)


class PersistentContextManager(SessionContextManager):
    """Keeps the conversation in memory and in a file; further arguments are its base's.

    Attributes:
        path: The file.
        loaded_from_file: Whether the session goes on from its file.
    """

    def __init__(
        self,
        path: Path,
        policy: BudgetPolicy | None = None,
        hooks: Any | None = None,
        tools: Callable[[], Mapping[str, Any]] | None = None,
        name: str = "context-persistent",
    ) -> None:
        super().__init__(policy, hooks, tools, None, name)
        self.path = path
        self.loaded_from_file = False
        self._writing = asyncio.Lock()
        self._unwritten: list[dict[str, Any]] = []
        self._failing = False

    async def load(self, memory_files: Iterable[Path] = (), *, most: int) -> None:
        """Go on from the file, or start a fresh session with the memory files.

        Args:
            memory_files: Their texts become system messages.
            most: Tokens they may take together.

        Raises:
            RuntimeError: They take more.
            OSError: A file can't be read.
        """
        rows, _ = await asyncio.to_thread(read_rows, self.path)
        usable = [row for row in rows if row.get("role")]
        if usable:
            self.ledger.replace(usable)
            self.loaded_from_file = True
            return
        memories = [await asyncio.to_thread(_memory_row, path) for path in memory_files]
        self.ledger.replace(memories)
        tokens = sum(entry.tokens for entry in self.ledger.entries)
        if tokens > most:
            self.ledger.clear()
            raise RuntimeError(
                f"The memory files take about {tokens:,} tokens, more than the {most:,} of the "
                "context window. Use fewer or shorter `memory_files`."
            )
        # They come into the file with the first message: a session where nobody says anything
        # leaves none.
        self._unwritten = memories

    async def _add(self, message: Mapping[str, Any]) -> None:
        """Add a message; it is in the file when this returns, or if the disk fails, later."""
        async with self._writing:
            await super()._add(message)
            self._unwritten.append(_plain(self.ledger.entries[-1].message))
            try:
                await self._write()
            except OSError as error:
                await self._tell(error)

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Replace the history; ignored where the session goes on from its own file.

        Raises:
            ValueError: A message has no role; the history is as it was.
            OSError: The file can't be written; the history is as it was.
        """
        if self.loaded_from_file:
            logger.info("Ignoring set_messages - loaded from persistent file")
            return
        for message in messages:
            check_message(message)
        async with self._writing:
            rows = [_plain(message) for message in messages]
            await asyncio.to_thread(write_rows, self.path, rows)
            await super().set_messages(messages)
            self._unwritten = []

    async def clear(self) -> None:
        """Forget everything, in the file, too.

        Raises:
            OSError: The file can't be written; nothing is forgotten.
        """
        async with self._writing:
            await asyncio.to_thread(write_rows, self.path, [])
            await super().clear()
            self.loaded_from_file = False
            self._unwritten = []

    async def _write(self) -> None:
        """Append what is not in the file yet."""
        rows = list(self._unwritten)
        writing = asyncio.ensure_future(asyncio.to_thread(append_rows, self.path, rows))
        cancelled: asyncio.CancelledError | None = None
        while not writing.done():
            try:
                await asyncio.wait([writing])
            except asyncio.CancelledError as error:
                # The thread goes on. What it wrote must be known, else it is written twice.
                cancelled = error
        if writing.exception() is None:
            self._unwritten = []
            self._failing = False
        if cancelled is not None:
            raise cancelled
        writing.result()

    async def _tell(self, error: OSError) -> None:
        if not self._failing:
            self._failing = True
            logger.error("%s can't be written: %s", self.path, error)
            await self.view.events.notice(
                f"The conversation can't be saved to {self.path}: {error}. It goes on in memory."
            )


def _memory_row(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    return {
        "role": "system",
        "content": text,
        "metadata": {"_attribution": {"source_id": f"file:{path}"}},
    }


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as JSON has it: what it has no form for is written as text."""
    plain: dict[str, Any] = json.loads(json.dumps(row, default=str, skipkeys=True))
    return plain


NAME: Final = "context-persistent"
FILE_NAME: Final = "context-messages.jsonl"


class PersistentContextSettings(BudgetSettings):
    """The module's configuration; see the module's docstring."""

    module: ClassVar[str] = NAME

    path: PathText | None = None
    memory_files: list[str] = Field([], description="a list of paths")

    @property
    def memories(self) -> list[Path]:
        """The memory files."""
        return [Path(path).expanduser() for path in self.memory_files]

    def file(self, coordinator: ModuleCoordinator) -> Path:
        """Return the file of a session; raise a `SettingsError` where no state belongs."""
        name = safe_name(coordinator.session_id)
        if self.path is not None:
            text = self.path.replace("{session_id}", name)
            return state_place(text, coordinator, module=NAME, setting="path")
        folder = getattr(coordinator, "session_dir", None)
        if folder:
            return Path(folder) / FILE_NAME
        return amplifier_home() / "contexts" / name / FILE_NAME


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Mount the context manager; returns the cleanup.

    Raises:
        RuntimeError: The memory files alone exceed the context window.
        OSError: The file, or a memory file, can't be read.
    """
    settings = PersistentContextSettings.read(config)
    context = PersistentContextManager(
        settings.file(coordinator),
        policy=settings.policy,
        hooks=coordinator.hooks,
        tools=lambda: coordinator.get("tools"),
        name=NAME,
    )
    await context.load(settings.memories, most=settings.policy.budget().limit)
    return await mount_context(coordinator, context, NAME)
