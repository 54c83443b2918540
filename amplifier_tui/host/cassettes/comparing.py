"""What differs between a conversation as it was and as it went now."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedAgent,
    TapedAnswer,
    TapedCall,
    TapedCompaction,
    TapedDecision,
    TapedEnd,
    TapedFiles,
    TapedHook,
    TapedModules,
    TapedRequest,
    TapedStop,
)
from amplifier_tui.host.cassettes.difference import (
    NONE,
    CassetteDifference,
    as_text,
    difference_of,
    quoted,
    steady_text,
)
from amplifier_tui.host.cassettes.names import steady
from amplifier_tui.host.cassettes.playing import ToolsFrom

_TURN: Final = re.compile(r"\d+")
_BY_A_HOOK: Final = "denied by a hook"
_DENIED_BY_HOOKS: Final = (_BY_A_HOOK, "denied by hook", "denied by rule")


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
        self._rows: list[dict[tuple[str, str], Any]] = [
            {(row.kind, row.id): row for row in side.rows} for side in (was, now)
        ]
        self._digests: list[dict[str, str]] = [{}, {}]
        """Of what the model first saw of answers and results; a compaction may shorten them."""
        for digests, side in zip(self._digests, (was, now), strict=True):
            for row in side.of(TapedRequest):
                digests.update(row.seen | digests)
        self._named: set[str] = set()
        """The lanes in which what was seen differs, which is told once."""

    def all(self) -> Iterator[CassetteDifference]:
        known, found = self._rows
        requests = [sum(1 for _ in each.of(TapedRequest)) for each in (self._was, self._now)]
        # One that was recorded without being played knows neither.
        shapes = requests[0] > 0 or any(True for _ in self._was.of(TapedModules))
        if shapes and not requests[0] and requests[1]:
            yield CassetteDifference("requests", "what they hold", NONE, f"that of {requests[1]}")
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
            case TapedFiles() if old is not None and new is not None:
                yield from _mapping("workspace", "file", old, new, "files")
            case TapedAnswer() if old is None or new is None:
                gone = "an answer" if new is None else NONE
                yield CassetteDifference(
                    place, "request", gone, NONE if new is None else "a request"
                )
            case TapedCall():
                yield from self._call(place, old, new)
            case TapedHook():
                yield from _mapping(place, "hooks", old, new, "hooks")
                before, after = (_who(each.decision) if each else "" for each in (old, new))
                if before and after and before != after:
                    yield CassetteDifference(place, "decision", before, after)
            case TapedAgent():
                yield from _fields(place, old, new, ("name", "instruction", "status"), "agent")
            case TapedCompaction():
                before, after = _facts(old), _facts(new)
                if before != after:
                    yield CassetteDifference(place, "compaction", before, after)
            case TapedEnd():
                yield from _fields(place, old, new, ("status", "text"), "end")
            case TapedStop() if old is None or new is None:
                pair = (f"after {row.id}", NONE) if new is None else (NONE, f"after {row.id}")
                yield CassetteDifference(place, "stop", *pair)
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
            yield difference_of(place, "arguments after hooks", old.became, new.became)
        before, after = _verdict(old), _verdict(new)
        ruled = old.decision is not None and old.decision.by == "rule" and before == after
        for hooks in _mapping(place, "hooks", old, new, "hooks"):
            # Whether a call came up just before its rule was made is a matter of time.
            if not (ruled and hooks.before.startswith("gate ")):
                yield hooks
        if before and after and not _agree(before, after):
            yield CassetteDifference(place, "decision", before, after)
        if (old.result is None) != (new.result is None):
            yield CassetteDifference(place, "ran", _ran(old), _ran(new))
        elif self._tools == "real" and steady_text(old.result) != steady_text(new.result):
            yield difference_of(place, "output", _output(old.result), _output(new.result))
        if old.seen is not None or new.seen is not None:
            yield from self._after_hooks(place, old, new)
        faults = [each.error.msg if each.error is not None else "" for each in (old, new)]
        if all(faults) and steady(faults[0]) != steady(faults[1]):
            yield difference_of(place, "error", *faults)
        if self._tools == "real":
            for path in sorted(old.files.keys() | new.files.keys()):
                if steady(old.files.get(path, "")) != steady(new.files.get(path, "")):
                    pair = old.files.get(path), new.files.get(path)
                    yield difference_of(place, f"file {path}", *pair)

    def _after_hooks(
        self, place: str, old: TapedCall, new: TapedCall
    ) -> Iterator[CassetteDifference]:
        before, after = (call.seen or call.result for call in (old, new))
        digests = [side.get(old.id) for side in self._digests]
        # A cassette may not know what hooks left of it, and yet what the model saw.
        same = digests[0] is not None and digests[0] == digests[1]
        if not same and steady_text(before) != steady_text(after):
            yield difference_of(place, "output after hooks", _output(before), _output(after))

    def _request(
        self, place: str, old: TapedRequest, new: TapedRequest
    ) -> Iterator[CassetteDifference]:
        lane = old.id.rpartition("/")[0]
        if old.system != new.system:
            texts = [
                getattr(side.get(("system", name)), "text", "")
                for side, name in zip(self._rows, (old.system, new.system), strict=True)
            ]
            if not texts[0] or _in_one_place(texts[0]) != _in_one_place(texts[1]):
                yield difference_of(place, "system prompt", *texts)
        if old.tools != new.tools:
            offers: list[dict[str, str]] = [
                getattr(side.get(("tools", name)), "tools", {})
                for side, name in zip(self._rows, (old.tools, new.tools), strict=True)
            ]
            yield from _offers(place, *offers)
        before, after = "\n\n".join(old.told), "\n\n".join(new.told)
        if _in_one_place(before) != _in_one_place(after):
            yield difference_of(place, "told", before, after)
        if lane not in self._named:
            for name in old.seen | new.seen:
                before, after = old.seen.get(name, ""), new.seen.get(name, "")
                if before != after:
                    self._named.add(lane)
                    yield self._seen(place, name, before, after)
                    break

    def _seen(self, place: str, name: str, old: str, new: str) -> CassetteDifference:
        """Name what the model sees of an answer or a call, in words as far as they are told."""
        what = f"what the model sees of {name}"
        before, after = (_words(rows, name) for rows in self._rows)
        if not old or not new or not after:
            # Some loops tell nobody what they answer a call with that did not run.
            was = quoted(before) if before else "something"
            now = quoted(after) if after else "something else"
            return CassetteDifference(place, what, was if old else NONE, now if new else NONE)
        if steady(before) == steady(after):
            # The line was changed in the cassette since it was recorded.
            return CassetteDifference(place, what, "other words", quoted(after))
        return difference_of(place, what, before, after)


def _in_one_place(text: str) -> str:
    """Return a text as it is in a copy of its project: older cassettes tell the two apart."""
    return steady(text).replace("{{project}}", "{{workspace}}")


def _words(rows: Mapping[tuple[str, str], Any], name: str) -> str:
    """Return what an answer says, or what a call gave."""
    answer, call = rows.get(("answer", name)), rows.get(("call", name))
    if answer is not None:
        return as_text(answer.content)
    if call is None:
        return ""
    given = call.seen or call.result
    return as_text(_output(given) if given is not None else call.error and call.error.msg)


def _offers(place: str, old: dict[str, str], new: dict[str, str]) -> Iterator[CassetteDifference]:
    """Compare the digests of what the model is told of each tool."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield CassetteDifference(place, "tools", name, NONE)
        elif name not in old:
            yield CassetteDifference(place, "tools", NONE, name)
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
        words = quoted(getattr(there, names[0]) or there.kind)
        pair = (words, NONE) if new is None else (NONE, words)
        yield CassetteDifference(place, whole, *pair)
        return
    for name in names:
        before, after = getattr(old, name), getattr(new, name)
        if steady_text(before) != steady_text(after):
            what = f"{whole} {name}" if whole else name
            yield difference_of(place, what, before, after)


def _mapping(place: str, what: str, old: Any, new: Any, name: str) -> Iterator[CassetteDifference]:
    before: Mapping[str, str] = getattr(old, name, {})
    after: Mapping[str, str] = getattr(new, name, {})
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            old_word, new_word = before.get(key) or NONE, after.get(key) or NONE
            yield CassetteDifference(place, what, f"{key} {old_word}", f"{key} {new_word}")


def _verdict(call: TapedCall) -> str:
    """Return who decided how; empty where it did not come to that."""
    taped, fault = call.decision, call.error.type if call.error is not None else ""
    if taped is None and fault in ("unknown_tool", "invalid_arguments", "stopped"):
        return ""
    if taped is None and call.result is None and call.error is None:
        # A loop told nothing of it, in a cassette of before decisions were looked up even so.
        return ""
    if taped is None:
        return _BY_A_HOOK if fault == "denied" else "goes"
    return _who(taped)


def _who(taped: TapedDecision | None) -> str:
    if taped is None:
        return ""
    return " ".join(
        part for part in (taped.outcome, "by", taped.by, taped.rule, taped.mode or "") if part
    )


def _agree(before: str, after: str) -> bool:
    """Whether two decisions are the same, also where a cassette is of before they were noted so.

    What a hook denied was in no record once, and what the clock allowed was noted as timed out.
    """
    if _BY_A_HOOK in (before, after):
        return all(each.startswith(_DENIED_BY_HOOKS) for each in (before, after))
    clock = "timed_out by timeout", "allowed by timeout"
    return before == after or (before.startswith(clock[0]) and after.startswith(clock[1]))


def _ran(call: TapedCall) -> str:
    if call.result is not None:
        return "yes"
    return f"no, {quoted(call.error.msg)}" if call.error is not None else "no"


def _call(call: TapedCall | None) -> str:
    return NONE if call is None else quoted(f"{call.tool} {as_text(call.arguments)}")


def _facts(row: TapedCompaction | None) -> str:
    if row is None:
        return NONE
    return ", ".join(f"{key} {value}" for key, value in row.facts.items()) or "as it is"


def _output(result: Mapping[str, Any] | None) -> Any:
    return None if result is None else result.get("output") or result.get("error")
