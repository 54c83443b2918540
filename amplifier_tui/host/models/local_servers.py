"""Model servers: the one whose address is set, and those on usual ports of this machine."""

import asyncio
import json
import logging
import os
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import LocalServer

logger = logging.getLogger(__name__)

USUAL_PORTS: Final = {"Ollama": 11434, "LM Studio": 1234, "vLLM": 8000, "llama.cpp": 8080}
ADDRESS: Final = "LOCAL_LLM_BASE_URL"
"""The variable with the address of a server."""
_MODEL: Final = "LOCAL_LLM_MODEL"
_PATIENCE: Final = 1.0
"""Seconds a server has to list its models."""
_MOST: Final = 1_000_000
"""Bytes that are read of an answer."""
_MODELS: Final = 50
_HOST_ALONE: Final = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d{1,9})", re.IGNORECASE)


async def find_local_servers(
    ports: Mapping[str, int] = USUAL_PORTS,
) -> tuple[LocalServer, ...]:
    """Return the servers that list a model; the one whose address the user has set comes first.

    Beside that one, this machine alone is asked.
    """
    names = _addresses(ports)
    found = await asyncio.gather(*(server_at(url, name) for url, name in names.items()))
    return tuple(server for server in found if server is not None)


def no_server() -> str:
    """Return that no server was found, what to set, and where one was looked for."""
    # What to do comes first: where there is little room the end is cut off.
    return f"No model server: set {ADDRESS} to yours. {asked_servers()}"


def asked_servers(typed: str = "") -> str:
    """Return where a server was looked for.

    Args:
        typed: An address that was asked beside those of `find_local_servers`.
    """
    own = [_shown(each) for each in (typed, os.environ.get(ADDRESS, "")) if each.strip()]
    ports = f"port {', '.join(map(str, USUAL_PORTS.values()))} of this machine"
    return f"Asked: {', '.join([*own, ports])}"


def _addresses(ports: Mapping[str, int]) -> dict[str, str]:
    """Return what the servers are called, by the addresses to ask."""
    usual = {f"http://127.0.0.1:{port}/v1": name for name, port in ports.items()}
    own = os.environ.get(ADDRESS, "").strip().rstrip("/")
    if not own:
        return usual
    name = usual.pop(own.replace("//localhost:", "//127.0.0.1:"), "")
    return {own: name, **usual}


def _shown(url: str) -> str:
    """Return an address without the name and the password that may be in it."""
    scheme, mark, rest = url.rpartition("://")
    place, slash, path = rest.partition("/")
    return one_line(f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}", 200)


async def server_at(url: str, name: str = "") -> LocalServer | None:
    """Return the server at an address; None where none lists a model.

    Args:
        url: The address of its API, with the `/v1` that most have, which is tried where no path is
            given; without a scheme it is http.
        name: What it is called; empty for its host and port.
    """
    url = url.strip().rstrip("/")
    url = url if not url or "://" in url else f"http://{url}"
    found = await _listing_at(url, name)
    if found is None and _HOST_ALONE.fullmatch(url):
        return await _listing_at(f"{url}/v1", name)
    return found


async def _listing_at(url: str, name: str) -> LocalServer | None:
    try:
        async with asyncio.timeout(_PATIENCE):
            models = _models(await _answer(url))
    except (
        OSError,
        EOFError,
        asyncio.LimitOverrunError,
        ValueError,
        RecursionError,
    ) as error:
        logger.debug("No server at %s: %s", _shown(url), error)
        return None
    # The one that the user has set answers, where the server has it.
    own = os.environ.get(_MODEL, "")
    models = tuple(sorted(models, key=lambda model: model != own))
    called = name or urlsplit(url).netloc
    return LocalServer(name=called, url=url, models=models) if models else None


async def _answer(url: str) -> bytes:
    parts = urlsplit(url)
    host, secure = parts.hostname, parts.scheme == "https"
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        raise ValueError("not the address of a server, or one with a password")
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(host, port, ssl=secure or None)
    try:
        # An answer to this old version comes in one piece.
        asked = f"GET {parts.path}/models HTTP/1.0"
        lines = f"{asked}\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
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
