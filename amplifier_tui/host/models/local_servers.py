"""Model servers on this machine, looked for on the ports they usually have."""

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.host.events import LocalServer

logger = logging.getLogger(__name__)

USUAL_PORTS: Final = {"Ollama": 11434, "LM Studio": 1234, "vLLM": 8000, "llama.cpp": 8080}
_HOST: Final = "127.0.0.1"
_PATIENCE: Final = 1.0
"""Seconds a server has to list its models."""
_MOST: Final = 1_000_000
"""Bytes that are read of an answer."""
_MODELS: Final = 50
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d{1,9})", re.IGNORECASE)


async def find_local_servers(
    ports: Mapping[str, int] = USUAL_PORTS,
) -> tuple[LocalServer, ...]:
    """Return the servers that list a model; asks this machine only."""
    found = await asyncio.gather(*(_asked(name, port) for name, port in ports.items()))
    return tuple(server for server in found if server is not None)


async def _asked(name: str, port: int) -> LocalServer | None:
    try:
        async with asyncio.timeout(_PATIENCE):
            models = _models(await _answer(port))
    except (
        OSError,
        EOFError,
        asyncio.LimitOverrunError,
        ValueError,
        RecursionError,
    ) as error:
        logger.debug("No %s on port %d: %s", name, port, error)
        return None
    url = f"http://{_HOST}:{port}/v1"
    return LocalServer(name=name, url=url, models=models) if models else None


async def _answer(port: int) -> bytes:
    reader, writer = await asyncio.open_connection(_HOST, port)
    try:
        # An answer to this old version comes in one piece.
        lines = f"GET /v1/models HTTP/1.0\r\nHost: {_HOST}:{port}\r\nConnection: close\r\n\r\n"
        writer.write(lines.encode())
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if length is not None:
            return head + await reader.readexactly(min(int(length[1]), _MOST))
        while len(head) < _MOST and (piece := await reader.read(65536)):
            head += piece
        return head
    finally:
        writer.close()


def _models(answer: bytes) -> tuple[str, ...]:
    """Return the models an answer lists.

    Raises:
        ValueError: It is no list.
        RecursionError: It is JSON that is nested too deeply.
    """
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise ValueError("it does not list models")
    listed: Any = json.loads(body)
    rows = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(rows, list):
        raise ValueError("its answer is no list of models")
    ids = [row.get("id") for row in rows if isinstance(row, dict)]
    return tuple(each for each in ids if isinstance(each, str) and each)[:_MODELS]
