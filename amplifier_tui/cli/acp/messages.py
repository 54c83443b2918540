"""The messages of an editor: JSON-RPC, one a line. What is none is answered, and ends nothing."""

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, cast

if TYPE_CHECKING:
    from amplifier_tui.cli.acp.agent import EditorAgent

logger = logging.getLogger(__name__)

_PARSE_ERROR: Final = -32700
_INVALID: Final = -32600


class Out(Protocol):
    """Where messages are written; `asyncio.StreamWriter` is one."""

    def write(self, data: bytes) -> None:
        """Write."""

    async def drain(self) -> None:
        """Wait until there is room for more."""


class FileOut:
    """An output that never waits: a file, or a device."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        """Write.

        Raises:
            ConnectionError: It can't be written.
        """
        try:
            self._file.write(data)
        except OSError as error:
            raise ConnectionError(f"standard output can't be written: {error.strerror}") from error

    async def drain(self) -> None:
        """Do nothing: what is written is written."""


class EditorMessages:
    """A transport as `acp.Connection` takes one.

    Args:
        reader: Its limit is that of a line; longer ones are skipped.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: Out) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message.

        Raises:
            ConnectionError: The editor is gone.
        """
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the editor has gone."""
        while line := await self._line():
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError) as error:
                await self._refuse(_PARSE_ERROR, f"This is no JSON: {error}")
                continue
            if _is_message(message):
                return cast("dict[str, Any]", message)
            await self._refuse(_INVALID, "This is no message of JSON-RPC")
        return None

    async def close(self) -> None:
        """Do nothing: whoever opened the streams closes them."""

    async def _line(self) -> bytes:
        """Return the next line, cut off where the stream ends; empty at its end."""
        too_long = False
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                too_long = True
            except asyncio.IncompleteReadError as error:
                return b"" if too_long else error.partial
            except ConnectionError as error:
                logger.info("The editor is gone: %s", error)
                return b""
            else:
                if not too_long:
                    return line
                too_long = False
                await self._refuse(_INVALID, "The message is too long")

    async def _refuse(self, code: int, text: str) -> None:
        logger.warning("A line of the editor: %s", text)
        error = {"code": code, "message": text}
        await self.send({"jsonrpc": "2.0", "id": None, "error": error})


def _is_message(value: Any) -> bool:
    """Whether a connection can take a value; it would end with most others."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("id"), str | int | None)
        and isinstance(value.get("method"), str | None)
        and isinstance(value.get("error"), dict | None)
        and ("method" in value or "id" in value)
    )


async def serve(agent: "EditorAgent", reader: asyncio.StreamReader, writer: Out) -> None:
    """Serve an editor until it goes, and close its sessions."""
    from acp import run_agent

    try:
        served = cast("Any", agent)  # It takes fewer names than the protocol lists.
        messages = EditorMessages(reader, writer)
        await run_agent(served, messages, use_unstable_protocol=True)
    except ConnectionError as error:
        # It may go in the middle of a message.
        logger.info("The editor is gone: %s", error)
    finally:
        await agent.close()
