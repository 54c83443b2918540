"""The text files of a session as the editor has them, with what is not saved yet."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from acp import schema

from amplifier_tui.cli.acp.editor.protocol import EDITOR_ERRORS, PATIENCE, Editor, words_of


class EditorFiles:
    """Reads and writes files through the editor; a `ClientFiles`, called from any thread.

    Args:
        offered: What the editor does.
        root: The session's folder; the editor is asked about the files below it only.
    """

    def __init__(
        self, editor: Editor, offered: schema.FileSystemCapabilities | None, root: Path
    ) -> None:
        self.root = root.resolve()
        self.reads = bool(offered and offered.read_text_file)
        self.writes = bool(offered and offered.write_text_file)
        self.session_id = ""
        """Known once the session is open; no tool runs before."""
        self._editor = editor
        self._loop = asyncio.get_running_loop()

    async def read(self, path: Path) -> str:
        """Return the text of a file; see `ClientFiles`."""
        asking = self._editor.read_text_file(session_id=self.session_id, path=str(path))
        return str((await self._answer(asking)).content)

    async def write(self, path: Path, text: str) -> None:
        """Replace the text of a file; see `ClientFiles`."""
        await self._answer(
            self._editor.write_text_file(session_id=self.session_id, path=str(path), content=text)
        )

    async def _answer(self, asking: Coroutine[Any, Any, Any]) -> Any:
        """Ask on the connection's own loop; what the editor refuses is an `OSError`."""
        asked = asyncio.run_coroutine_threadsafe(asyncio.wait_for(asking, PATIENCE), self._loop)
        try:
            return await asyncio.wrap_future(asked)
        except (*EDITOR_ERRORS, TimeoutError) as error:
            raise OSError(words_of(error)) from error
