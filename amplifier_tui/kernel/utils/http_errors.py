"""Reading the error answers of HTTP APIs."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_LONGEST: Final = 300


def one_line(text: str) -> str:
    """An API's words on one line, without the final stop, not too long: gateways send pages."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds an API asks to wait, from `retry-after-ms` or `retry-after` (RFC 9110 10.2.3).

    Header names are case-insensitive or lower-case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
