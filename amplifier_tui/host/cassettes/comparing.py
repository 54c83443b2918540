"""What differs between a conversation as it was and as it went now."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from amplifier_tui.base.text import one_line
from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedAgent,
    TapedAnswer,
    TapedCall,
    TapedCompaction,
    TapedEnd,
    TapedHook,
    TapedModules,
    TapedRequest,
    TapedSystem,
    TapedTools,
)
from amplifier_tui.host.cassettes.names import steady
from amplifier_tui.host.cassettes.playing import ToolsFrom

_SHOWN: Final = 160
"""Characters of a value that are shown."""
_TURN: Final = re.compile(r"\d+")
_NONE: Final = "nothing"


class CassetteDifference(NamedTuple):
    """One difference.

    Attributes:
        place: Where it is, such as `turn 3, call 3.2.1 (bash)`.
        what: What differs, such as `arguments`.
        before: As it was.
        after: As it is now.
        times: How often it comes, from that place on.
    """

    place: str
    what: str
    before: str
    after: str
    times: int = 1

    def __str__(self) -> str:
        more = f" (and {self.times - 1} more times)" if self.times > 1 else ""
        return f"{self.place}: {self.what}: {self.before} → {self.after}{more}"


def differences(
    was: Cassette, now: Cassette, tools: ToolsFrom = "cassette"
) -> tuple[CassetteDifference, ...]:
    """Return what differs, the first one first.

    Args:
        tools: Where results came from now. Those of a cassette are not compared.
    """
    told: dict[tuple[str, str, str], CassetteDifference] = {}
    for found in _Comparison(was, now, tools).all():
        repeated = found.what in _REPEATED
        key = (found.what, found.before, found.after if repeated else found.place)
        if repeated and key in told:
            told[key] = told[key]._replace(times=told[key].times + 1)
        else:
            told[key] = found
    return tuple(told.values())


_REPEATED: Final = frozenset({"system prompt", "tools", "hooks", "told"})
"""What one change makes differ in every request."""


class _Comparison:
    def __init__(self, was: Cassette, now: Cassette, tools: ToolsFrom) -> None:
        self._was, self._now, self._tools = was, now, tools
        self._parts = [
            {
                (kind.__name__, each.id): each
                for kind in (TapedSystem, TapedTools)
                for each in side.of(kind)
            }
            for side in (was, now)
        ]
        self._named: set[str] = set()
        """The lanes in which what was seen differs, which is told once."""

    def all(self) -> Iterator[CassetteDifference]:
        known: dict[tuple[str, str], Any] = {(row.kind, row.id): row for row in self._was.rows}
        found: dict[tuple[str, str], Any] = {(row.kind, row.id): row for row in self._now.rows}
        shapes = any(True for _ in self._was.of(TapedRequest))
        keys = list(known)
        # What is new comes where it happened.
        for key in found:
            if key not in known:
                at = _after(keys, key)
                keys.insert(at, key)
        for key in keys:
            old, new = known.get(key), found.get(key)
            row = old if old is not None else new
            if isinstance(row, TapedRequest | TapedModules) and not shapes:
                continue
            yield from self._row(row, old, new)

    def _row(self, row: Any, old: Any, new: Any) -> Iterator[CassetteDifference]:
        place = _place(row)
        match row:
            case TapedModules():
                yield from _mapping("modules", "module", old, new, "modules")
            case TapedAnswer() if old is None or new is None:
                gone = "an answer" if new is None else _NONE
                yield CassetteDifference(
                    place, "request", gone, _NONE if new is None else "a request"
                )
            case TapedCall():
                yield from self._call(place, old, new)
            case TapedHook():
                yield from _mapping(place, "hooks", old, new, "hooks")
            case TapedAgent():
                yield from _fields(place, old, new, ("name", "instruction", "status"), "agent")
            case TapedCompaction():
                before, after = _facts(old), _facts(new)
                if before != after:
                    yield CassetteDifference(place, "compaction", before, after)
            case TapedEnd():
                yield from _fields(place, old, new, ("status", "text"), "end")
            case TapedRequest() if old is not None and new is not None:
                yield from self._request(place, old, new)

    def _call(
        self, place: str, old: TapedCall | None, new: TapedCall | None
    ) -> Iterator[CassetteDifference]:
        if old is None or new is None:
            yield CassetteDifference(place, "call", _call(old), _call(new))
            return
        yield from _fields(place, old, new, ("tool", "arguments"), "")
        if old.became != new.became:
            yield _told(place, "arguments after hooks", old.became, new.became)
        yield from _mapping(place, "hooks", old, new, "hooks")
        before, after = _verdict(old), _verdict(new)
        if before != after:
            yield CassetteDifference(place, "decision", before, after)
        if (old.result is None) != (new.result is None):
            yield CassetteDifference(
                place, "ran", *(("yes", "no") if old.result else ("no", "yes"))
            )
        elif self._tools == "real" and _steady(old.result) != _steady(new.result):
            yield _told(place, "output", _output(old.result), _output(new.result))
        if _steady(old.seen) != _steady(new.seen):
            yield _told(place, "output after hooks", _output(old.seen), _output(new.seen))
        faults = [each.error.msg if each.error is not None else "" for each in (old, new)]
        if all(faults) and steady(faults[0]) != steady(faults[1]):
            yield _told(place, "error", *faults)
        if self._tools == "real":
            for path in sorted(old.files.keys() | new.files.keys()):
                if steady(old.files.get(path, "")) != steady(new.files.get(path, "")):
                    yield _told(place, f"file {path}", old.files.get(path), new.files.get(path))

    def _request(
        self, place: str, old: TapedRequest, new: TapedRequest
    ) -> Iterator[CassetteDifference]:
        lane = old.id.rpartition("/")[0]
        if old.system != new.system:
            texts = [
                getattr(side.get(("TapedSystem", name)), "text", "")
                for side, name in zip(self._parts, (old.system, new.system), strict=True)
            ]
            yield _told(place, "system prompt", *texts)
        if old.tools != new.tools:
            offers: list[dict[str, str]] = [
                getattr(side.get(("TapedTools", name)), "tools", {})
                for side, name in zip(self._parts, (old.tools, new.tools), strict=True)
            ]
            yield from _offers(place, *offers)
        before, after = "\n\n".join(old.told), "\n\n".join(new.told)
        if steady(before) != steady(after):
            yield _told(place, "told", before, after)
        if lane not in self._named:
            for name in sorted(old.seen.keys() | new.seen.keys()):
                if old.seen.get(name) != new.seen.get(name):
                    self._named.add(lane)
                    words = f"what the model sees of {name}"
                    yield CassetteDifference(
                        place, words, old.seen.get(name, _NONE), new.seen.get(name, _NONE)
                    )
                    break


def _offers(place: str, old: dict[str, str], new: dict[str, str]) -> Iterator[CassetteDifference]:
    """Compare the digests of what the model is told of each tool."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield CassetteDifference(place, "tools", name, _NONE)
        elif name not in old:
            yield CassetteDifference(place, "tools", _NONE, name)
        elif old[name] != new[name]:
            yield CassetteDifference(
                place, "tools", f"{name} as it was", f"{name} described otherwise"
            )


def _after(keys: list[tuple[str, str]], key: tuple[str, str]) -> int:
    """Return where among keys in order of the conversation another one belongs."""
    number = _number(key[1])
    later = (at for at, (_, name) in enumerate(keys) if _number(name) > number)
    return next(later, len(keys))


def _number(name: str) -> tuple[int, ...]:
    return tuple(int(each) for each in _TURN.findall(name.partition(" ")[0])) or (0,)


def _place(row: Any) -> str:
    name, _, event = row.id.partition(" ")
    agent, slash, within = name.rpartition("/")
    turn = _TURN.match(name)
    parts = [f"turn {turn[0]}"] if turn else []
    if slash:
        parts.append(f"agent of call {agent}")
    if isinstance(row, TapedCall):
        parts.append(f"call {name} ({row.tool})")
    elif isinstance(row, TapedAgent):
        parts.append(f"agent of call {name}")
    elif "." in within and isinstance(row, TapedRequest | TapedAnswer | TapedHook):
        parts.append(f"request {within.rpartition('.')[2]}")
    elif slash:
        parts.append(f"request {within}")
    if event:
        parts.append(event)
    return ", ".join(parts) or row.kind


def _fields(
    place: str, old: Any, new: Any, names: tuple[str, ...], whole: str
) -> Iterator[CassetteDifference]:
    if old is None or new is None:
        there = old if old is not None else new
        words = _shown(getattr(there, names[0]) or there.kind)
        pair = (words, _NONE) if new is None else (_NONE, words)
        yield CassetteDifference(place, whole, *pair)
        return
    for name in names:
        before, after = getattr(old, name), getattr(new, name)
        if _steady(before) != _steady(after):
            what = f"{whole} {name}" if whole else name
            yield _told(place, what, before, after)


def _mapping(place: str, what: str, old: Any, new: Any, name: str) -> Iterator[CassetteDifference]:
    before: Mapping[str, str] = getattr(old, name, {})
    after: Mapping[str, str] = getattr(new, name, {})
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            old_word, new_word = before.get(key) or _NONE, after.get(key) or _NONE
            yield CassetteDifference(place, what, f"{key} {old_word}", f"{key} {new_word}")


def _verdict(call: TapedCall) -> str:
    taped = call.decision
    if taped is None:
        return "denied by a hook" if _denied(call) else "goes"
    return " ".join(
        part for part in (taped.outcome, "by", taped.by, taped.rule, taped.mode or "") if part
    )


def _denied(call: TapedCall) -> bool:
    return call.error is not None and call.error.type == "denied"


def _call(call: TapedCall | None) -> str:
    return _NONE if call is None else _shown(f"{call.tool} {_text(call.arguments)}")


def _facts(row: TapedCompaction | None) -> str:
    if row is None:
        return _NONE
    return ", ".join(f"{key} {value}" for key, value in row.facts.items()) or "as it is"


def _output(result: Mapping[str, Any] | None) -> Any:
    return None if result is None else result.get("output") or result.get("error")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _steady(value: Any) -> str:
    return steady(_text(value))


def _told(place: str, what: str, before: Any, after: Any) -> CassetteDifference:
    """Return a difference of two texts, of longer ones the first line that differs."""
    texts = [_text(before), _text(after)]
    if max(map(len, texts)) <= _SHOWN and not any("\n" in text for text in texts):
        return CassetteDifference(place, what, _shown(texts[0]), _shown(texts[1]))
    lines = [text.split("\n") for text in texts]
    most = min(map(len, lines))
    at = next((n for n in range(most) if steady(lines[0][n]) != steady(lines[1][n])), most)
    first, second = (each[at] if at < len(each) else "" for each in lines)
    begin = _differs_at(first, second)
    mark = "…" if begin else ""
    where = f"line {at + 1}: " if max(map(len, lines)) > 1 else ""
    return CassetteDifference(
        place, what, f"{where}{_shown(first[begin:], mark)}", _shown(second[begin:], mark)
    )


def _differs_at(before: str, after: str) -> int:
    """Return where two long lines begin to differ, with some of what is before that."""
    if max(len(before), len(after)) <= _SHOWN:
        return 0
    pairs = enumerate(zip(before, after, strict=False))
    at = next((n for n, (old, new) in pairs if old != new), min(len(before), len(after)))
    return max(0, at - 20)


def _shown(text: str, begin: str = "") -> str:
    return f"“{begin}{one_line(text, _SHOWN)}”" if text else _NONE
