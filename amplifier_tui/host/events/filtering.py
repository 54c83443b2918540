"""The event log's filter language: `tool:* -delta mod:approval verdict:deny >100ms`.

Words are separated by spaces and all must hold; a leading `-` turns one around; commas in a
word mean "or". A bare word is looked for in event name, source and lane, and where names of
handlers begin; with `*` or `?` it must match the whole event name. `mod:` looks at the handlers
(and the source), `verdict:` at the verdict, `lane:`, `source:` and `event:` at their column,
`data:` in the payload; quotes keep spaces together. `>100ms`, `<=2s` compare the duration; without
a unit it is milliseconds.
"""

import operator
import re
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache, reduce
from typing import TypeVar

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.host.events.instruments import HookTraced

VERDICTS = ("continue", "deny", "modify", "inject_context", "ask_user", "error")
_TELLING = VERDICTS[1:]
"""Verdicts that a bare word finds; nearly every event has the first one."""

Test = Callable[[HookTraced], bool]
Names = tuple[str, ...]
"""Event, source, lane and verdict of a row, then the names of its handlers and their modules.

Lower case, and the same for very many rows.
"""
NameTest = Callable[[Names], bool]

_WORD = lazy_pattern(r'(?:[^\s"]|"[^"]*"?)+')
_KEYED = re.compile(r"(mod|module|verdict|lane|agent|source|src|event|data|text):(.*)", re.S)
_COMPARE = lazy_pattern(r"(>=|<=|>|<|=)(.*)", re.S)
_AMOUNT = lazy_pattern(r"(\d+(?:\.\d+)?|\.\d+)(us|µs|ms|s|m|min)?")
_UNITS = {"us": 0.001, "µs": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0, "min": 60_000.0}
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}
_COLUMNS = {"event": (0,), "source": (1,), "src": (1,), "lane": (2,), "agent": (2,)}
_MEMO_LIMIT = 10_000

SubjectT = TypeVar("SubjectT")


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A parsed filter. Words that make no sense are left out, and a sentence in `problems` each."""

    text: str
    matches: Test
    problems: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """True when every row passes because nothing was asked for."""
        return not self.text


def parse_filter(text: str) -> EventFilter:
    """Parse the filter language; never raises, see `EventFilter.problems`."""
    names: list[NameTest] = []
    rows: list[Test] = []
    problems: list[str] = []
    text = text.strip()
    for match in _WORD.finditer(text.lower()):
        word = match[0].replace('"', "")
        negated = word[:1] in "-!" and len(word) > 1
        word = word[1:] if negated else word
        try:
            test = _row_test(word)
            if test is not None:
                rows.append(_negated(test) if negated else test)
            elif word:
                by_name = _name_test(word)
                names.append(_negated(by_name) if negated else by_name)
        except ValueError as error:
            problems.append(str(error))
    return EventFilter(text, _combine(names, rows), tuple(problems))


def _negated(test: Callable[[SubjectT], bool]) -> Callable[[SubjectT], bool]:
    return lambda subject: not test(subject)


def _parts(key: str, value: str) -> list[str]:
    parts = [part for part in value.split(",") if part]
    if key and not parts:
        raise ValueError(f"{key}: needs a word after the colon")
    return parts


def _pattern(text: str) -> Callable[[str], bool]:
    if "*" in text or "?" in text:
        # Only the two wildcards that the page promises: brackets are plain text.
        expression = re.compile(translate(text.replace("[", "[[]")))
        return lambda value: expression.match(value) is not None
    return lambda value: text in value


def _name_test(word: str) -> NameTest:
    """Return the test of a word about a row's names: bare, or for one column."""
    keyed = _KEYED.fullmatch(word)
    key, value = keyed.groups() if keyed is not None else ("", word)
    parts = _parts(key, value)
    if key == "verdict":
        for part in parts:
            if not any(verdict.startswith(part) for verdict in VERDICTS):
                raise ValueError(f"No verdict begins with {part}: {', '.join(VERDICTS)}")
        return lambda names: names[3].startswith(tuple(parts))
    tests = [
        (_pattern(part), _COLUMNS.get(key) or ((0,) if "*" in part or "?" in part else (0, 1, 2)))
        for part in parts
    ]
    if not tests:
        return lambda names: True
    said = () if key else tuple(parts)
    return (
        lambda names: (
            any(found(names[at]) for found, columns in tests for at in columns)
            or (names[3] in _TELLING and names[3].startswith(said))
            # Not anywhere in them: of nearly every event there is one that logs.
            or any(name.startswith(said) for name in names[4:])
        )
    )


def _row_test(word: str) -> Test | None:
    """Return the test of a word about anything else of a row, or None."""
    compare = _COMPARE.fullmatch(word)
    if compare is not None:
        return _duration_test(compare[1], compare[2])
    keyed = _KEYED.fullmatch(word)
    if keyed is None or keyed[1] not in ("data", "text", "mod", "module"):
        return None
    parts, text = _parts(keyed[1], keyed[2]), keyed[2]
    if keyed[1] in ("mod", "module"):
        return _module_test(parts)
    return lambda row: text in row.data.lower() or text in row.changed.lower()


def _duration_test(sign: str, amount: str) -> Test:
    found = _AMOUNT.fullmatch(amount)
    if found is None:
        raise ValueError(f"{sign}{amount} is no duration: write {sign}100ms or {sign}2s")
    limit = float(found[1]) * _UNITS[found[2] or "ms"]
    holds = _OPERATORS[sign]
    return lambda row: holds(row.duration_ms, limit)


def _module_test(parts: list[str]) -> Test:
    patterns = [_pattern(part) for part in parts]

    @lru_cache(maxsize=_MEMO_LIMIT)
    def about(name: str) -> bool:
        lowered = name.lower()
        return any(found(lowered) for found in patterns)

    return lambda row: (
        about(row.source) or any(about(each.name) or about(each.module) for each in row.handlers)
    )


def _combine(names: list[NameTest], rows: list[Test]) -> Test:
    """Join all tests; those on names are answered once per distinct set of names."""

    @lru_cache(maxsize=_MEMO_LIMIT)
    def passes(*key: str) -> bool:
        lowered = tuple([part.lower() for part in key])
        return all(test(lowered) for test in names)

    def by_name(row: HookTraced) -> bool:
        key = [row.event, row.source, row.agent, row.verdict]
        for each in row.handlers:
            key += each.name, each.module
        return passes(*key)

    tests = ([by_name] if names else []) + rows
    return reduce(_both, tests) if tests else lambda row: True


def _both(first: Test, second: Test) -> Test:
    return lambda row: first(row) and second(row)
