"""The text files of a session as the editor has them, with what is not saved yet."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final

from acp import RequestError, schema

from amplifier_tui.base.text import one_line
from amplifier_tui.cli.acp.asking import Editor

_PATIENCE: Final = 30.0
"""Seconds for an answer of the editor."""


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
        asked = asyncio.run_coroutine_threadsafe(asyncio.wait_for(asking, _PATIENCE), self._loop)
        try:
            return await asyncio.wrap_future(asked)
        except TimeoutError as error:
            raise OSError(f"the editor gave no answer in {_PATIENCE:.0f} s") from error
        except ConnectionError as error:
            raise OSError("the editor is gone") from error
        except (RequestError, ValueError) as error:
            said = [str(error), str(getattr(error, "data", None) or "")]
            raise OSError(f"the editor says: {one_line(' '.join(said), 300)}") from error
