"""What models cost where their provider does not say: as the package `genai-prices` lists it.

The list takes half a second and 20 MB to load, and holds up every other thread meanwhile, so
another process reads it, once for each model.
"""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import Future
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Final, NamedTuple
from urllib.parse import urlsplit

logger = logging.getLogger(__name__)

_READING: Final = Path(__file__).with_name("reading.py")
_PATIENCE: Final = 20.0
"""Seconds the process may take."""


class ListPrice(NamedTuple):
    """US dollars per million tokens, as decimal text; None where it is not known.

    `start` is the number of input tokens of a request above which the prices hold; `source` says
    which data this is, and of when.
    """

    start: int
    input: str
    output: str
    cache_read: str | None = None
    cache_write: str | None = None
    source: str = ""


Asked = tuple[str, str]
"""An API's address, or its vendor's id; and the model."""

_known: dict[Asked, tuple[ListPrice, ...]] = {}
_running: dict[Asked, "Future[None]"] = {}


async def list_prices(asked: Iterable[Asked]) -> dict[Asked, tuple[ListPrice, ...]]:
    """Return the prices of models, from small requests to large ones; none where unknown.

    What runs on this machine or in its network has none.
    """
    wanted = [pair for pair in dict.fromkeys(asked) if all(pair) and not is_near(pair[0])]
    missing = [pair for pair in wanted if pair not in _known and pair not in _running]
    if missing:
        done = Future[None]()
        # Whoever no longer waits ends nothing for others.
        done.set_running_or_notify_cancel()
        _running.update(dict.fromkeys(missing, done))
        # Not a task: an event loop may end while the process runs.
        Thread(target=_read, args=(missing, done), name="prices", daemon=True).start()
    running = {future for pair in wanted if (future := _running.get(pair)) is not None}
    if running:
        await asyncio.wait([asyncio.wrap_future(future) for future in running])
    return {pair: _known.get(pair, ()) for pair in wanted}


def price_at(prices: Iterable[ListPrice], input_tokens: int) -> ListPrice | None:
    """Return the prices of a request of some size."""
    found = [price for price in prices if price.start < max(1, input_tokens)]
    return found[-1] if found else None


def is_near(place: str) -> bool:
    """Whether an address is on this machine or in its network, where nobody lists prices."""
    host = urlsplit(place).hostname if "://" in place else ""
    if not host:
        return False
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host


def _read(pairs: list[Asked], done: "Future[None]") -> None:
    """Have a process look models up, and keep what it finds."""
    try:
        _known.update(zip(pairs, _found(pairs), strict=True))
    except Exception as error:  # so that whoever waits is told, and may ask again
        logger.warning("The prices can't be read: %s", error)
    finally:
        for pair in pairs:
            _running.pop(pair, None)
        done.set_result(None)


def _found(pairs: list[Asked]) -> list[tuple[ListPrice, ...]]:
    try:
        ended = subprocess.run(
            [sys.executable, "-I", str(_READING)],
            input=json.dumps(pairs).encode(),
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        )
        told = json.loads(ended.stdout)
        return [tuple(_price(row, told["source"]) for row in rows or ()) for rows in told["found"]]
    except subprocess.CalledProcessError as error:
        logger.warning("The prices can't be read: %s", error.stderr.decode(errors="replace")[-500:])
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError, TypeError) as error:
        logger.warning("The prices can't be read: %s", error)
    # Not tried again in this run.
    return [()] * len(pairs)


def _price(row: list[str | None], source: str) -> ListPrice:
    start, paid, earned, read, written = row
    return ListPrice(int(start or 0), paid or "", earned or "", read, written, source)
