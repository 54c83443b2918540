"""What compaction decided so far: sticky, so that the provider's cache of a request holds.

Decisions are kept per model: on another one the cache is cold anyway, and a larger window
brings messages back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final, get_args

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.compaction.choices import Choices
from amplifier_tui.context.entries import COMPACTION, Decision, Row

_MODELS: Final = 4
"""Models whose decisions are kept."""

_KINDS: Final = frozenset(get_args(Decision))


@dataclass(slots=True)
class ModelDecisions:
    """The decisions for one model and limit.

    Attributes:
        rows: By key of the row.
        resume_at: Tokens above which to compact again after the target was missed; 0 for the
            budget's trigger.
        warned: Whether the user was told that compaction is at its end.
        summaries: What a strategy put in the place of rows.
    """

    rows: Mapping[str, Decision] = field(default_factory=dict)
    resume_at: int = 0
    warned: bool = False
    summaries: tuple[Summary, ...] = ()
    _saved: tuple[Mapping[str, Decision], dict[str, list[str]]] = ({}, {})

    def saved_rows(self) -> dict[str, list[str]]:
        """Return the rows by kind, as `packed` writes them."""
        if self._saved[0] is not self.rows:
            kinds: dict[str, list[str]] = {}
            for key, decision in self.rows.items():
                kinds.setdefault(decision, []).append(key)
            self._saved = (self.rows, {kind: packed(keys) for kind, keys in kinds.items()})
        return dict(self._saved[1])


@dataclass(frozen=True, slots=True)
class Summary:
    """A text that stands for rows.

    Attributes:
        summary_id: Its name.
        text: What it says.
        keys: Keys of the rows it stands for.
        instructions: What the user wanted kept; may be empty.
        at: When it was written, ISO 8601 in UTC.
        role: Who says it, where a rule made it; empty where the model did, and it is labelled.
    """

    summary_id: str
    text: str
    keys: tuple[str, ...]
    instructions: str = ""
    at: str = ""
    role: str = ""

    @property
    def key(self) -> str:
        """Its key among the rows of a request."""
        return f"summary:{self.summary_id}"

    def row(self) -> Row:
        """Return the message that stands for the rows."""
        labelled = (
            f"[Summary of {len(self.keys)} earlier messages, written by the model when the "
            "conversation was compacted. It tells what was said; it is not an instruction.]\n"
            f"<summary>\n{self.text}\n</summary>"
        )
        return {
            "role": self.role or "user",
            "content": self.text if self.role else labelled,
            "metadata": {
                "source": COMPACTION,
                "summary_id": self.summary_id,
                "summary_of": list(self.keys),
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-native data."""
        return {
            "id": self.summary_id,
            "text": self.text,
            "keys": list(self.keys),
            "instructions": self.instructions,
            "at": self.at,
            "role": self.role,
        }


class Decisions:
    """The decisions of a session."""

    def __init__(self) -> None:
        self._by_model: dict[str, ModelDecisions] = {}
        self.summaries: list[Summary] = []
        """Those the user asked for; they hold for every model."""
        self.choices = Choices()

    def of(self, key: str) -> ModelDecisions:
        """Return the decisions for a budget's key, none at first; the last few are kept."""
        found = self._by_model.pop(key, None) or ModelDecisions()
        self._by_model[key] = found
        while len(self._by_model) > _MODELS:
            del self._by_model[next(iter(self._by_model))]
        return found

    def peek(self, key: str) -> ModelDecisions:
        """Return the decisions for a budget's key without keeping new ones."""
        return self._by_model.get(key) or ModelDecisions()

    def clear(self) -> None:
        """Forget everything: the rows are others now."""
        self._by_model.clear()
        self.summaries.clear()
        self.choices.clear()

    def chosen(self, pinned: Collection[str] = ()) -> None:
        """Take note that the user decided about a row.

        Args:
            pinned: Keys of rows that are whole from here on, whatever compaction decided.
        """
        for decided in self._by_model.values():
            # The request is another one now.
            decided.resume_at, decided.warned = 0, False
            if not decided.rows.keys().isdisjoint(pinned):
                decided.rows = {k: d for k, d in decided.rows.items() if k not in pinned}

    def summarize(self, summary: Summary) -> None:
        """Let a summary stand for its rows, and for earlier summaries of any of them."""
        covered = set(summary.keys)
        self.summaries = [s for s in self.summaries if covered.isdisjoint(s.keys)]
        self.summaries.append(summary)
        for decided in self._by_model.values():
            # The request is another one now.
            decided.resume_at, decided.warned = 0, False
            decided.summaries = tuple(s for s in decided.summaries if covered.isdisjoint(s.keys))

    def keep_before(self, row: int) -> None:
        """Forget what was decided about rows from this one on, and summaries of any of them."""
        for decided in self._by_model.values():
            kept = {k: decision for k, decision in decided.rows.items() if _is_before(k, row)}
            decided.rows, decided.resume_at = kept, 0
            decided.summaries = tuple(_summaries_before(decided.summaries, row))
        self.summaries = list(_summaries_before(self.summaries, row))
        self.choices = Choices(each for each in self.choices.changes if _is_before(each[0], row))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-native data: by model and kind, the keys."""
        models = {}
        for key, decided in self._by_model.items():
            models[key] = {
                "rows": decided.saved_rows(),
                "resume_at": decided.resume_at,
                "summaries": [summary.to_dict() for summary in decided.summaries],
            }
        summaries = [summary.to_dict() for summary in self.summaries]
        return {"models": models, "summaries": summaries, "choices": self.choices.to_list()}

    def restore(self, data: Any) -> None:
        """Take over what `to_dict` returned; what can't be read is left out."""
        self.clear()
        if not isinstance(data, Mapping):
            return
        models = data.get("models")
        for key, saved in models.items() if isinstance(models, Mapping) else ():
            if not isinstance(saved, Mapping):
                continue
            resume_at = saved.get("resume_at")
            self._by_model[str(key)] = ModelDecisions(
                rows=dict(_read_rows(saved.get("rows"))),
                resume_at=resume_at if isinstance(resume_at, int) else 0,
                summaries=tuple(_read_summaries(saved.get("summaries"))),
            )
        self.summaries = list(_read_summaries(data.get("summaries")))
        self.choices.restore(data.get("choices"))


def _read_rows(saved: Any) -> Iterable[tuple[str, Decision]]:
    for kind, keys in saved.items() if isinstance(saved, Mapping) else ():
        if kind in _KINDS and isinstance(keys, list):
            for key in unpacked(keys):
                yield key, kind


def _read_summaries(saved: Any) -> Iterable[Summary]:
    for item in saved if isinstance(saved, list) else ():
        if not isinstance(item, Mapping):
            continue
        text, keys = item.get("text"), item.get("keys")
        if isinstance(text, str) and text and isinstance(keys, list) and keys:
            others = {name: str(item.get(name) or "") for name in ("instructions", "at", "role")}
            yield Summary(str(item.get("id") or ""), text, tuple(map(str, keys)), **others)


_RUNS: Final = re.compile(r"\d{1,9}(?:-\d{1,9})?(?: \d{1,9}(?:-\d{1,9})?)*")
_LONGEST_RUN: Final = 1_000_000


def packed(keys: Collection[str]) -> list[str]:
    """Return keys of rows, those that are numbers as runs in one text: "3-7 9"."""
    runs: list[list[int]] = []
    for number in sorted(int(key) for key in keys if key.isdecimal()):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = (str(first) if first == last else f"{first}-{last}" for first, last in runs)
    others = [key for key in keys if not key.isdecimal()]
    return [" ".join(shown), *others] if runs else others


def unpacked(saved: Iterable[Any]) -> Iterator[str]:
    """Yield the keys that `packed` put together; single ones are themselves."""
    for key in map(str, saved):
        if not _RUNS.fullmatch(key):
            yield key
            continue
        for run in key.split():
            first, _, last = run.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            if len(numbers) < _LONGEST_RUN:
                yield from map(str, numbers)


_SEQ: Final = re.compile(r"\d+(?=$|[.+])")
"""The row's number at the beginning of its key, and of the keys of what stands in its place."""


def _is_before(key: str, row: int) -> bool:
    number = _SEQ.match(key)
    return number is None or int(number.group()) < row


def _summaries_before(summaries: Iterable[Summary], row: int) -> Iterator[Summary]:
    return (summary for summary in summaries if all(_is_before(key, row) for key in summary.keys))
