"""What models cost where their provider does not say: as the package `genai-prices` lists it.

The list takes half a second and 20 MB to load, and holds up every other thread meanwhile, so
another process reads it, once for each model.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

logger = logging.getLogger(__name__)

_READING: Final = Path(__file__).with_name("reading.py")
_PATIENCE: Final = 20.0
"""Seconds the process may take."""


class ListPrice(NamedTuple):
    """US dollars per million tokens, as decimal text; None where it is not known.

    `start` is the number of input tokens of a request from which the prices hold.
    """

    start: int
    input: str
    output: str
    cache_read: str | None = None
    cache_write: str | None = None


Asked = tuple[str, str]
"""An API's address, or its vendor's id; and the model."""

_known: dict[Asked, tuple[ListPrice, ...]] = {}
_running: dict[Asked, "asyncio.Task[None]"] = {}


async def list_prices(asked: Iterable[Asked]) -> dict[Asked, tuple[ListPrice, ...]]:
    """Return the prices of models, from small requests to large ones; none where unknown.

    What runs on this machine or in its network has none.
    """
    wanted = [pair for pair in dict.fromkeys(asked) if all(pair) and not is_near(pair[0])]
    missing = [pair for pair in wanted if pair not in _known and _task_of(pair) is None]
    if missing:
        _running.update(dict.fromkeys(missing, asyncio.create_task(_read(missing))))
    tasks = {task for pair in wanted if (task := _task_of(pair)) is not None}
    if tasks:
        await asyncio.wait(tasks)
    return {pair: _known.get(pair, ()) for pair in wanted}


def price_at(prices: Iterable[ListPrice], input_tokens: int) -> ListPrice | None:
    """Return the prices of a request of some size."""
    found = [price for price in prices if price.start <= input_tokens]
    return found[-1] if found else None


def _task_of(pair: Asked) -> "asyncio.Task[None] | None":
    task = _running.get(pair)
    # One of a loop that has ended is never done.
    alive = task is not None and task.get_loop() is asyncio.get_running_loop()
    return task if alive else None


def is_near(place: str) -> bool:
    """Whether an address is on this machine or in its network, where nobody lists prices."""
    host = urlsplit(place).hostname if "://" in place else ""
    if not host:
        return False
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host


async def _read(pairs: list[Asked]) -> None:
    rows: list[list[list[str | None]] | None] = [None] * len(pairs)
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", str(_READING)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_PATIENCE):
                out, errors = await process.communicate(json.dumps(pairs).encode())
        finally:
            if process.returncode is None:
                process.kill()
        rows = json.loads(out) if process.returncode == 0 else rows
        if process.returncode:
            logger.warning("The prices can't be read: %s", errors.decode(errors="replace")[-500:])
    except (OSError, TimeoutError, ValueError) as error:
        logger.warning("The prices can't be read: %s", error)
    finally:
        # What ends in another way can be asked about again.
        for pair in pairs:
            _running.pop(pair, None)
    for pair, found in zip(pairs, rows, strict=True):
        _known[pair] = tuple(_price(row) for row in found or ())


def _price(row: list[str | None]) -> ListPrice:
    start, paid, earned, *cache = row
    return ListPrice(int(start or 0), paid or "", earned or "", *cache)
