"""The event log's filter language: `tool:* -delta mod:approval verdict:deny >100ms`.

Words are separated by spaces and all must hold; a leading `-` turns one around; commas in a
word mean "or". A bare word is looked for in event name, source and lane, and with `*` or `?` it
must match the whole event name. `mod:` looks at the handlers (and the source), `verdict:` at
the verdict, `lane:`, `source:` and `event:` at their column, `data:` in the payload; quotes keep
spaces together. `>100ms`, `<=2s` compare the duration; without a unit it is milliseconds.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import translate
from functools import reduce

from amplifier_tui.host.events import HandlerTrace, HookTraced

VERDICTS = ("continue", "deny", "modify", "inject_context", "ask_user", "error")

Test = Callable[[HookTraced], bool]
_NameTest = Callable[[str, str, str, str], bool]
"""On event, source, lane and verdict, all lower case: the same for very many rows."""

_WORD = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_KEYED = re.compile(r"(mod|module|verdict|lane|agent|source|src|event|data|text):(.*)", re.S)
_COMPARE = re.compile(r"(>=|<=|>|<|=)(.*)", re.S)
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(us|µs|ms|s|m|min)?")
_UNITS = {"us": 0.001, "µs": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0, "min": 60_000.0}
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}
_MEMO_LIMIT = 10_000


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
    names: list[_NameTest] = []
    rows: list[Test] = []
    problems: list[str] = []
    text = text.strip()
    for match in _WORD.finditer(text.lower()):
        word = match[0].replace('"', "")
        negated = word[:1] in "-!" and len(word) > 1
        if negated:
            word = word[1:]
        if not word:
            continue
        try:
            _parse_word(word, negated, names, rows)
        except ValueError as error:
            problems.append(str(error))
    return EventFilter(text, _combine(names, rows), tuple(problems))


def _parse_word(word: str, negated: bool, names: list[_NameTest], rows: list[Test]) -> None:
    compare = _COMPARE.fullmatch(word)
    if compare is not None:
        rows.append(_negate(_duration_test(compare[1], compare[2]), negated))
        return
    keyed = _KEYED.fullmatch(word)
    if keyed is None:
        names.append(_negate_name(_any_name([_bare(part) for part in _parts(word)]), negated))
        return
    key, value = keyed[1], keyed[2]
    parts = _parts(value)
    if not parts:
        raise ValueError(f"{key}: needs a word after the colon")
    if key in ("data", "text"):
        rows.append(_negate(_data_test(value), negated))
    elif key in ("mod", "module"):
        rows.append(_negate(_module_test(parts), negated))
    else:
        names.append(_negate_name(_any_name([_column(key, part) for part in parts]), negated))


def _parts(value: str) -> list[str]:
    return [part for part in value.split(",") if part]


# --- tests on names ------------------------------------------------------------------------


def _pattern(text: str) -> Callable[[str], bool]:
    if "*" in text or "?" in text:
        # Only the two wildcards that the page promises: brackets are plain text.
        expression = re.compile(translate(text.replace("[", "[[]")))
        return lambda value: expression.match(value) is not None
    return lambda value: text in value


def _bare(text: str) -> _NameTest:
    found = _pattern(text)
    if "*" in text or "?" in text:
        return lambda event, source, lane, verdict: found(event)
    return lambda event, source, lane, verdict: found(event) or found(source) or found(lane)


def _column(key: str, text: str) -> _NameTest:
    found = _pattern(text)
    if key == "event":
        return lambda event, source, lane, verdict: found(event)
    if key in ("source", "src"):
        return lambda event, source, lane, verdict: found(source)
    if key in ("lane", "agent"):
        return lambda event, source, lane, verdict: found(lane)
    if not any(verdict.startswith(text) for verdict in VERDICTS):
        raise ValueError(f"No verdict begins with {text}: {', '.join(VERDICTS)}")
    return lambda event, source, lane, verdict: verdict.startswith(text)


def _any_name(tests: list[_NameTest]) -> _NameTest:
    if not tests:
        return lambda event, source, lane, verdict: True
    if len(tests) == 1:
        return tests[0]
    return lambda *names: any(test(*names) for test in tests)


def _negate_name(test: _NameTest, negated: bool) -> _NameTest:
    return (lambda *names: not test(*names)) if negated else test


# --- tests on rows -------------------------------------------------------------------------


def _duration_test(sign: str, amount: str) -> Test:
    found = _AMOUNT.fullmatch(amount)
    if found is None:
        raise ValueError(f"{sign}{amount} is no duration: write {sign}100ms or {sign}2s")
    limit = float(found[1]) * _UNITS[found[2] or "ms"]
    holds = _OPERATORS[sign]
    return lambda row: holds(row.duration_ms, limit)


def _data_test(text: str) -> Test:
    return lambda row: text in row.data.lower() or text in row.changed.lower()


def _module_test(parts: list[str]) -> Test:
    patterns = [_pattern(part) for part in parts]
    known: dict[str, bool] = {}

    def about(name: str) -> bool:
        answer = known.get(name)
        if answer is None:
            if len(known) >= _MEMO_LIMIT:
                known.clear()
            lowered = name.lower()
            answer = known[name] = any(found(lowered) for found in patterns)
        return answer

    def about_handler(handler: HandlerTrace) -> bool:
        return about(handler.name)

    def test(row: HookTraced) -> bool:
        return about(row.source) or any(map(about_handler, row.handlers))

    return test


def _negate(test: Test, negated: bool) -> Test:
    return (lambda row: not test(row)) if negated else test


def _combine(names: list[_NameTest], rows: list[Test]) -> Test:
    """Join all tests; those on names are answered once per distinct set of names."""
    known: dict[tuple[str, str, str, str], bool] = {}

    def by_name(row: HookTraced) -> bool:
        key = (row.event, row.source, row.agent, row.verdict)
        answer = known.get(key)
        if answer is None:
            if len(known) >= _MEMO_LIMIT:
                known.clear()
            lowered = [part.lower() for part in key]
            answer = known[key] = all(test(*lowered) for test in names)
        return answer

    tests = ([by_name] if names else []) + rows
    return reduce(_both, tests) if tests else lambda row: True


def _both(first: Test, second: Test) -> Test:
    return lambda row: first(row) and second(row)
