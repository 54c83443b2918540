"""A server that is a program: messages go over its stdin and stdout, a line each."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import jsonrpc_message_adapter

from amplifier_tui.base.commands.environment import quiet_environment, without_secrets
from amplifier_tui.base.commands.piped import PipedProcess
from amplifier_tui.modules.tool_mcp.callbacks import ServerCallbacks
from amplifier_tui.modules.tool_mcp.settings import ServerSettings

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]
LONGEST_MESSAGE: Final = 16 * 1024 * 1024
"""Bytes of a message; images are in them."""
_MOST_AT_ONCE: Final = 500
_AT_ONCE: Final = 0.25
"""Seconds in which so many messages are read at most: what floods waits in its own pipe."""
_LAST_WORDS: Final = 0.2
"""Seconds in which what a server that ended has left on stderr is still read."""


@asynccontextmanager
async def stdio_streams(
    settings: ServerSettings, folder: Path, callbacks: ServerCallbacks
) -> AsyncIterator[Streams]:
    """Start the program and exchange messages with it; it and what it started end with this.

    Args:
        folder: Where it starts, unless its settings say where.

    Raises:
        OSError: It can't be started; `strerror` says why, and what to do.
        ValueError: It holds a NUL.
    """
    environment = {**quiet_environment(without_secrets(os.environ)), **settings.env}
    place = folder / _without_tilde(settings.cwd) if settings.cwd else folder
    command = [_without_tilde(settings.command or ""), *settings.args]
    try:
        process = await PipedProcess.start(command, place, environment, LONGEST_MESSAGE)
    except OSError as error:
        raise OSError(error.errno, _why_not(error, command[0], place)) from error
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_complaints(process, callbacks)),
        asyncio.create_task(_receive(process, received, callbacks)),
        asyncio.create_task(_send(process, to_send)),
    ]

    def closed(task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            callbacks.closed(_ending(process))

    tasks[1].add_done_callback(closed)
    try:
        yield incoming, outgoing
    finally:
        for task in tasks[1:]:
            task.cancel()
        try:
            await process.end()
        finally:
            process.kill()
            await asyncio.wait(tasks, timeout=_LAST_WORDS)
            for task in tasks:
                task.cancel()
            for stream in (received, incoming, outgoing, to_send):
                stream.close()


async def _receive(
    process: PipedProcess,
    received: MemoryObjectSendStream[SessionMessage | Exception],
    callbacks: ServerCallbacks,
) -> None:
    loop = asyncio.get_running_loop()
    started, count = loop.time(), 0
    async with received:
        while True:
            try:
                line = await process.read_line()
            except ValueError:
                callbacks.wrote(f"[a message of more than {LONGEST_MESSAGE:,} bytes: it is ended]")
                return
            if not line:
                # How it ended is known a moment later.
                await _until_ended(process)
                return
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                callbacks.wrote(f"[on stdout, no message] {line[:500].decode(errors='replace')}")
            else:
                await received.send(SessionMessage(message))
            count += 1
            if count >= _MOST_AT_ONCE:
                await asyncio.sleep(max(0.0, started + _AT_ONCE - loop.time()))
                started, count = loop.time(), 0


async def _send(process: PipedProcess, to_send: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with to_send:
        async for message in to_send:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await process.write(text.encode() + b"\n")
            except OSError:
                return  # its end is seen where it is read from


async def _complaints(process: PipedProcess, callbacks: ServerCallbacks) -> None:
    while data := await process.read_complaint():
        callbacks.wrote(data.decode(errors="replace"))


def _without_tilde(path: str) -> str:
    """Return a path with the user's home in place of ``~``; that of nobody stays as it is."""
    return os.path.expanduser(path)


async def _until_ended(process: PipedProcess) -> None:
    for _ in range(20):
        if process.exit_code is not None:
            return
        await asyncio.sleep(0.01)


def _why_not(error: OSError, program: str, place: Path) -> str:
    """Return why a program can't be started in a folder, and what to do about it."""
    if not place.is_dir():
        return f"its folder {place} is not there: correct its `cwd`"
    if isinstance(error, FileNotFoundError):
        return f"no program {program} is found: install it, or correct its `command`"
    return f"{program} can't be started: {error.strerror}"


def _ending(process: PipedProcess) -> str:
    code = process.exit_code
    if code is None:
        return "it closed its output"
    return f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"
