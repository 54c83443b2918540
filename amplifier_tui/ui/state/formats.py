"""Numbers and names in the words of the screen: `62.1k`, `820 ms`, `4:32`, `$0.42`."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionCard, SpendLimit
    from amplifier_tui.host.events import Usage

_DATE = re.compile(r"[-@](20\d{2}-?\d{2}-?\d{2}|latest)$")
_VERSION = re.compile(r"-(\d+)-(\d+)$")


def milliseconds(ms: float) -> str:
    """Return a duration for a column of six cells: `0.4 ms`, `12 ms`, `1.2 s`, `3 min`."""
    if not ms >= 0.05:  # also what is no number
        return "0 ms"
    if ms < 0.95:
        return f"{ms:.1f} ms"
    if ms < 999.5:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    if seconds < 5969.5:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"


def size(count: int) -> str:
    """Return an amount of bytes or text: `800 B`, `64 kB`, `1.2 MB`."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def elapsed(seconds: float) -> str:
    """Return a running clock: `0:07`, `12:04`, `1:02:33`. Negative reads as zero."""
    whole = max(0, int(seconds)) if math.isfinite(seconds) else 0
    hours, rest = divmod(whole, 3600)
    minutes, second = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{second:02}" if hours else f"{minutes}:{second:02}"


def money(amount: str | None, places: int = 2) -> str:
    """Return a decimal string in US dollars as `$0.42`; empty for None or what is no number."""
    if not amount:
        return ""
    try:
        value = Decimal(amount)
    except InvalidOperation:
        return ""
    if not value.is_finite():
        return ""
    least = Decimal(1).scaleb(-places)
    if 0 < value < least / 2:
        return f"<${least:f}"
    return f"${value:,.{places}f}" if value < 1000 else f"${value:,.0f}"


NO_PRICE = "no price"
"""What was spent, where no price of the model is known."""


def spent_words(used: Usage | SessionCard, places: int = 2) -> str:
    """Return what was spent, ` + ?` behind it where a part has no known price; empty for nothing.

    The known part alone may be a title's, of a cheap model: it says nothing of the rest.
    """
    known = money(used.cost, places)
    if used.unpriced_tokens:
        return f"{known} + ?" if known else NO_PRICE
    return known


def typed_number(text: str) -> int | None:
    """Return the number that digits mean; None for other text, and for more than anything has."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


_UNITS = {"k": 1_000, "m": 1_000_000}
_LIMIT = re.compile(r"\$?(\d{1,9}(?:\.\d{1,6})?)\s*([kmt]?)\s*(?:tokens?)?", re.IGNORECASE)


def read_limit(text: str) -> SpendLimit | None:
    """Return the limit of dollars (`5`, `$2.50`) or of tokens (`200k`, `900 tokens`)."""
    from amplifier_tui.host.client import SpendLimit

    found = _LIMIT.fullmatch(text.strip())
    if found is None or not float(found[1]):
        return None
    unit = found[2].lower()
    if not unit and "token" not in text.lower():
        return SpendLimit(cost=found[1])
    return (
        SpendLimit(tokens=int(Decimal(found[1]) * _UNITS.get(unit, 1))) if "$" not in text else None
    )


def price(per_million: str | None) -> str:
    """Return dollars per million tokens: `$0.25`, `$3`, `$12.50`; `~` where it is not known."""
    known = money(per_million)
    return known.removesuffix(".00") if known else "~"


def limit_money(limit: str) -> str:
    """Return a limit in dollars as it was set: `$5`, `$12.50`, `$0.015`."""
    shown = price(limit)
    if shown == "~" or Decimal(limit) == round(Decimal(limit), 2):
        return shown
    return f"${Decimal(limit).normalize():f}"


def limit_places(limit: str) -> int:
    """Return the decimal places in which what is spent of a limit in dollars is told."""
    return max(2, len(limit_money(limit).partition(".")[2]))


def short_model(model: str) -> str:
    """Return a model's name without vendor, family prefix and date.

    `anthropic/claude-sonnet-4-5-20250929` reads `sonnet 4.5`.
    """
    name = _DATE.sub("", model.rsplit("/", 1)[-1])
    if name.startswith("claude-"):
        name = _VERSION.sub(r" \1.\2", name.removeprefix("claude-"))
        name = re.sub(r"-(\d+)$", r" \1", name)
    return name


def short_path(path: str, home: str) -> str:
    """Return an absolute path with the home directory, where it is known, as `~`."""
    if home and path and PurePath(path).is_relative_to(home):
        rest = PurePath(path).relative_to(home)
        return "~" if str(rest) == "." else f"~/{rest.as_posix()}"
    return path


def plural(count: int, word: str) -> str:
    """Return `1 row`, `3 rows`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def ago(seconds: float) -> str:
    """Return an age in words: `just now`, `5 min ago`, `3 h ago`, `2 days ago`."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 60 * 24:
        return f"{minutes // 60} h ago"
    return f"{plural(minutes // (60 * 24), 'day')} ago"
