"""The text files of a client that edits them itself, such as an editor.

The host registers the capability `client.files` (`ClientFiles`) where the client offers it.
"""

from pathlib import Path
from typing import Final, Protocol

CAPABILITY: Final = "client.files"


class ClientFiles(Protocol):
    """Text files as the client has them: what it has not saved yet is in them.

    Attributes:
        root: The folder whose files the client knows, absolute and without links.
        reads: Whether it gives files.
        writes: Whether it takes them.
    """

    root: Path
    reads: bool
    writes: bool

    async def read(self, path: Path) -> str:
        """Return the text of a file.

        Raises:
            OSError: The client does not give it; says why.
        """

    async def write(self, path: Path, text: str) -> None:
        """Replace the text of a file, or make one.

        Raises:
            OSError: The client does not take it; says why.
        """
