"""What is typed to filter the list of sessions, as a condition on the table of the index.

Words must all be there, anywhere in what a session is called, its first prompt, bundle, folder,
branch or id. `bundle:`, `model:`, `tag:`, `folder:` and `branch:` look at that alone; `before:` and
`after:` take a date or an age, `cost:` an amount of dollars.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from typing import Final, NamedTuple

from amplifier_tui.base.text import encodable

_TERM: Final = re.compile(r'(?:(\w+):)?(?:"([^"]*)"?|(\S+))')
_MOST: Final = 20
_LONGEST: Final = 400
_LIKE: Final = 0.7
_AGE: Final = re.compile(r"(\d{1,4})\s*([hdwmy])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_COST: Final = re.compile(r"(<=|>=|<|>|)\$?(\d{1,9}(?:\.\d{1,6})?)")
_TIME: Final = "takes a date such as 2026-03-31, today, yesterday, or an age such as 7d, 2w, 3m"
_AMOUNT: Final = "takes an amount of dollars such as 0.50, >2 or <1"
_OLDEST: Final = date(1970, 1, 2)


class Condition(NamedTuple):
    """A condition in SQL, its values, and what of it was not understood and is left out."""

    sql: str
    values: tuple[str | float, ...]
    problem: str = ""


def folded(text: str) -> str:
    """Return a text as it is compared: the case of letters does not count."""
    return text.casefold()


def condition(typed: str, now: datetime) -> Condition:
    """Return what is typed as a condition; an empty one where nothing is."""
    parts: list[str] = []
    values: list[str | float] = []
    problems: list[str] = []
    for match in list(_TERM.finditer(encodable(typed[:_LONGEST])))[:_MOST]:
        name, value = folded(match[1] or ""), match[2] or match[3] or ""
        if not name and value.endswith(":") and folded(value[:-1]) in _NAMES:
            name, value = folded(value[:-1]), ""
        read = _NAMES.get(name)
        if read is None and (near := get_close_matches(name, _NAMES, 1, _LIKE)):
            problems.append(f"{name}: is no filter; {near[0]}: is")
        elif read is None:
            parts.append("instr(called, ?) > 0")
            values.append(folded(f"{name}:{value}" if name else value))
        elif isinstance(found := read(value, now), str):
            problems.append(f"{name}: {found}")
        else:
            parts.append(found[0])
            values.append(found[1])
    return Condition(" AND ".join(parts), tuple(values), "; ".join(problems))


def filter_problem(typed: str) -> str:
    """Return what of that which is typed is not understood; empty where all is."""
    return condition(typed, datetime.now().astimezone()).problem


Term = tuple[str, str | float]
"""A condition with its one value."""


def _contains(column: str) -> Callable[[str, datetime], Term | str]:
    def read(value: str, now: datetime) -> Term | str:
        if not value:
            return f"takes a part of the {column}'s name"
        return f"instr({column}, ?) > 0", folded(value)

    return read


def _tag(value: str, now: datetime) -> Term | str:
    # Tags stand in lines of their own: the beginning of one is enough.
    return ("instr(tags, ?) > 0", "\n" + folded(value)) if value else "takes a tag"


def _time(sign: str) -> Callable[[str, datetime], Term | str]:
    def read(value: str, now: datetime) -> Term | str:
        moment = _moment(folded(value), now)
        if moment is None:
            return _TIME
        return f"changed {sign} ?", moment.timestamp() * 1e9

    return read


def _moment(value: str, now: datetime) -> datetime | None:
    """Return when a date begins, or how long ago an age was; None for what is neither."""
    if age := _AGE.fullmatch(value):
        try:
            return now - timedelta(hours=int(age[1]) * _HOURS[age[2]])
        except OverflowError:
            # Before the first year there is.
            return None
    days = {"today": 0, "yesterday": 1}
    try:
        day = now.date() - timedelta(days[value]) if value in days else date.fromisoformat(value)
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day).astimezone() if day > _OLDEST else None


def _cost(value: str, now: datetime) -> Term | str:
    found = _COST.fullmatch(value)
    return (f"cost {found[1] or '>='} ?", float(found[2])) if found else _AMOUNT


_NAMES: Final[dict[str, Callable[[str, datetime], Term | str]]] = {
    "bundle": _contains("bundle"),
    "model": _contains("model"),
    "tag": _tag,
    "folder": _contains("folder"),
    "branch": _contains("branch"),
    "before": _time("<"),
    "after": _time(">="),
    "cost": _cost,
}
