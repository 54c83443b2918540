"""What a tool's result says to the model alone: how a command ended, what asks an agent again."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.base.lazy.pattern import lazy_pattern

if TYPE_CHECKING:
    from re import Pattern

_ID: Final = "[0-9a-f]{16}-[0-9a-f]{16}_[a-z0-9-]{1,200}"
SUB_SESSION_ID: Final = lazy_pattern(rf"\b{_ID}")
"""`<parent's span>-<own span>_<agent>`, as the ecosystem names them."""

_MOST_NOTES: Final = 20
"""Lines below the output of a command that are looked at."""
_FACT: Final = lazy_pattern(r"[\w.:/-]{0,200}")
"""A name or a word; a sentence is something that people must see."""
_NOTE: Final = lazy_pattern(rf"\[session_id {_ID}, to ask [\w.:/-]{{1,200}} something more\]")
_ANSWERS: Final = ("response", "output", "result")


_KILLING: Final = {
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL",
    6: "SIGABRT",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    13: "SIGPIPE",
    15: "SIGTERM",
}
"""Signals with one number on every system. Without 1: its 129 is how git says a wrong option."""


def exit_words(code: int) -> str:
    """Return how a command ended; a negative code is that of a signal.

    A shell and a sandbox give 128 and the signal for what was ended by one. A program may give the
    same code by itself: the code stays, beside what it most likely means.
    """
    if code < 0:
        name = _KILLING.get(-code)
        return f"ended by signal {-code}" + (f" ({name})" if name else "")
    likely = _KILLING.get(code - 128)
    return f"exit code {code}" + (f", as after {likely}" if likely else "")


def ending_note(state: str, seconds: float) -> str:
    """Return the line by which a model learns how a command ended, such as `exit code 0`."""
    return f"[{state} · {seconds:.1f} s]"


CONFINED: Final = "The command ran in a sandbox: "
NO_NETWORK: Final = " and had no network"
"""Of the note by which a model learns what kept a command that failed from what it needs."""

INTERRUPTED: Final = (
    "Interrupted by the user while it was running. It may have done a part of its work: "
    "check before you rely on it or repeat it."
)
"""What a model reads of a call that was stopped; in brackets below what came of it until then."""

_ENDING: Final = lazy_pattern(
    r"\[(?:(?:exit code \d{1,3}(?:, as after SIG[A-Z]{2,4})?"
    r"|ended by signal \d{1,3}(?: \(SIG[A-Z]{2,4}\))?"
    r"|timed out after [\d.e+]{1,12} s and was ended) · [\d.]{1,12} s"
    rf"|{INTERRUPTED.replace('.', r'[.]')})\]"
)


def resume_note(session_id: str, agent: str) -> str:
    """Return the line by which a model learns how to ask an agent again."""
    return f"[session_id {session_id}, to ask {agent} something more]"


def for_people(text: str) -> str:
    """Return the result of a tool without what it says to the model alone.

    That is the note at its end of how to ask an agent again; of an object with a sub-session's id,
    all but the answer, where that is no more than names and numbers: the result may be a
    stranger's words.
    """
    if text.startswith("{") and SUB_SESSION_ID.search(text):
        return _answer_in(text)
    return _without_last(text, _NOTE)


def without_ending(text: str) -> str:
    """Return the output of a command without the line of how it ended, for where that is shown."""
    return _without_last(text, _ENDING)


def printed_by(text: str) -> str:
    """Return what a command printed itself, without what is said below of how and where it ran."""
    lines = text.rstrip().rsplit("\n", _MOST_NOTES)
    for at in range(len(lines) - 1, -1, -1):
        if _ENDING.fullmatch(lines[at]):
            return "\n".join(lines[:at])
        if not (lines[at].startswith("[") and lines[at].endswith("]")):
            break
    return text


def confined_words(text: str) -> str:
    """Return in what a command ran, where the notes below its output say so; else nothing."""
    notes = text[len(printed_by(text)) :]
    if f"[{CONFINED}" not in notes:
        return ""
    return "in the sandbox" + (", without network" if NO_NETWORK in notes else "")


def _without_last(text: str, line: "Pattern[str]") -> str:
    kept = text.rstrip()
    begin = kept.rfind("\n") + 1
    return kept[:begin].rstrip() if line.fullmatch(kept, begin) else text


def _answer_in(text: str) -> str:
    try:
        found = json.loads(text, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict) or not isinstance(found.get("session_id"), str):
        return text
    answer = next((key for key in _ANSWERS if isinstance(found.get(key), str)), "")
    rest = {key: value for key, value in found.items() if key != answer}
    return str(found[answer]) if answer and all(map(_is_fact, _parts(rest))) else text


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("A key is there twice")
    return found


def _parts(facts: dict[str, Any]) -> Iterator[Any]:
    """Yield the keys and values of an object and of those in it."""
    for key, value in facts.items():
        yield key
        if isinstance(value, dict):
            yield from (*value, *value.values())
        else:
            yield value


def _is_fact(part: Any) -> bool:
    if isinstance(part, str):
        return _FACT.fullmatch(part) is not None
    return part is None or isinstance(part, int | float)
