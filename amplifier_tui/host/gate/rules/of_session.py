"""The rules of one session that go with it wherever it goes on: those that deny and those that ask.

What allows holds until the session is closed: after that it is asked about again.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from amplifier_tui.host.gate.modes import Verdict
from amplifier_tui.host.gate.rules.text import Rule

_VERDICTS: Final[tuple[Verdict, ...]] = ("deny", "ask")
_FIELDS: Final = ("tool", "inside", "asker")


def go_along(rules: Iterable[Rule]) -> list[Rule]:
    """Return those of a session's own rules that hold for as long as there is the session."""
    return [
        rule
        for rule in rules
        if rule.scope == "session" and rule.verdict in _VERDICTS and not rule.planned
    ]


def as_stored(rules: Iterable[Rule]) -> dict[str, Any]:
    """Return rules as the session keeps them, by what they do."""
    found: dict[str, Any] = {}
    for rule in rules:
        # Not as text: a rule of a dialog is about exactly one call, whatever it looks like.
        words = [getattr(rule, name) for name in _FIELDS]
        found.setdefault(rule.verdict, []).append(words)
    return found


def read_stored(stored: Mapping[str, Any]) -> list[Rule]:
    """Return the rules that a session has kept.

    Raises:
        TypeError, ValueError: One of them is none.
    """
    return [_read(name, words) for name, listed in stored.items() for words in listed]


def _read(name: str, words: Any) -> Rule:
    verdict = next((each for each in _VERDICTS if each == name), None)
    texts = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
    if verdict is None or len(texts) != len(_FIELDS):
        raise ValueError(f"{name}: {words!r} is no rule")
    tool, inside, asker = texts
    return Rule(tool, inside, verdict, asker=asker)
