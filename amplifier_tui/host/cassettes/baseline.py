"""A cassette that expects what came of playing it."""

import re
from collections.abc import Iterator, Set
from typing import Any, Final

from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedCall,
    TapedEnd,
    TapedFiles,
    TapedHook,
    TapedModules,
    TapedSide,
    TapedSystem,
    TapedTools,
)
from amplifier_tui.host.cassettes.conversing import ANSWERED, Replayed

_NAMED: Final = (TapedSystem, TapedTools)


def baseline(was: Cassette, replayed: Replayed) -> Cassette:
    """Return a cassette that expects what came of playing it.

    What only the recorded session can know stays: results, changed files, times, what was decided
    and what was said on the side; and what real tools left, where they did not run now. A turn that
    asked for an answer the cassette does not hold stays as it was: how it went on nobody knows.
    """
    now, incomplete = replayed.cassette, replayed.incomplete
    calls = {each.id: each for each in was.of(TapedCall)}
    hooks = {each.id: each for each in was.of(TapedHook)}
    seconds = {each.id: each.seconds for each in was.of(TapedEnd)}
    rows: list[Any] = []
    for row in _with_turns_of(was, now, incomplete):
        if _turn_of(row) in incomplete:
            rows.append(row)
        elif isinstance(row, TapedEnd):
            rows.append(row.model_copy(update={"seconds": seconds.get(row.id, row.seconds)}))
        elif isinstance(row, TapedCall) and row.id in calls:
            rows.append(_kept(calls[row.id], row))
        elif isinstance(row, TapedHook) and row.id in hooks:
            rows.append(row.model_copy(update=_decision(hooks[row.id], row)))
        elif not isinstance(row, TapedSide):
            rows.append(row)
    files = () if any(now.of(TapedFiles)) else was.of(TapedFiles)
    return was.model_copy(update={"rows": (*rows, *was.of(TapedSide), *files)})


def _with_turns_of(was: Cassette, now: Cassette, turns: Set[str]) -> Iterator[Any]:
    """Yield the rows of now, but some turns, and what their requests name, from what was."""
    known = {(row.kind, row.id) for row in now.rows}
    if turns:
        named = (row for row in was.rows if isinstance(row, _NAMED))
        yield from (row for row in named if (row.kind, row.id) not in known)
    left = set(turns)
    for row in now.rows:
        turn = _turn_of(row)
        if turn not in turns:
            yield row
        elif turn in left:
            left.remove(turn)
            yield from (each for each in was.rows if _turn_of(each) == turn)


def _turn_of(row: Any) -> str:
    """Return the number of the turn that a row is of; empty for those of the session."""
    of_session = isinstance(row, (*_NAMED, TapedModules, TapedFiles, TapedSide))
    return "" if of_session else re.split(r"\D", row.id, maxsplit=1)[0]


def _kept(was: TapedCall, now: TapedCall) -> TapedCall:
    kept: dict[str, Any] = {"files": was.files, "seconds": was.seconds}
    if (was.result is None) == (now.result is None):
        kept |= {"result": was.result, "error": was.error}
    return now.model_copy(update=kept | _decision(was, now))


def _decision(was: TapedCall | TapedHook, now: TapedCall | TapedHook) -> dict[str, Any]:
    """Return the decision that stays, under its name, if one does: one that was given again."""
    both = was.decision, now.decision
    answered = all(each is not None and each.by in ANSWERED for each in both)
    return {"decision": was.decision} if answered else {}
