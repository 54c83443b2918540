"""Rows, requests and ledgers for the tests of the context."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import Random
from typing import Any

from hypothesis import strategies as st

from amplifier_tui.context.entries import Entry, read_entry
from amplifier_tui.context.request.budget import Budget
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, TextBlock, Usage
from amplifier_tui.kernel.models import ProviderInfo
from amplifier_tui.kernel.utils.tool_calls import response_tool_calls

Row = dict[str, Any]


def user(text: str = "hello") -> Row:
    return {"role": "user", "content": text}


def assistant(text: str = "fine") -> Row:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def system(text: str = "be kind") -> Row:
    return {"role": "system", "content": text}


def calling(*ids: str, tool: str = "bash", text: str = "") -> Row:
    calls = [{"id": i, "name": tool, "tool": tool, "arguments": {"command": "ls"}} for i in ids]
    return {"role": "assistant", "content": text or None, "tool_calls": calls}


def result(call_id: str, text: str = "done", tool: str | None = "bash") -> Row:
    row: Row = {"role": "tool", "tool_call_id": call_id, "content": text}
    return {**row, "name": tool} if tool else row


def hooked(text: str = "lint", name: str = "linter", role: str = "user") -> Row:
    metadata = {"source": "hook", "hook_name": name, "event": "tool:post"}
    return {"role": role, "content": text, "metadata": metadata}


def read_entries(rows: Iterable[Row], names: dict[str, str]) -> list[Entry]:
    """Read a conversation; the keys are the positions."""
    return [read_entry(row, str(i), names, seq=i) for i, row in enumerate(rows)]


def entries(*rows: Row) -> list[Entry]:
    return read_entries(rows, {})


def budget(limit: int, *, trigger: float = 0.85, target: float = 0.5) -> Budget:
    return Budget(0, 0, 0, limit, int(limit * trigger), int(limit * target), "configured", "m")


def long_session(turns: int = 20, output: int = 4_000) -> list[Row]:
    rows = [system("You are an agent.")]
    for n in range(turns):
        rows += [
            user(f"Question {n}"),
            calling(f"c{n}", tool="read_file"),
            result(f"c{n}", f"line {n}\n" * (output // 8), "read_file"),
            assistant(f"Answer {n}"),
        ]
    return [*rows, user("The last question")]


def call_ids(row: Any) -> set[str]:
    return {str(call["id"]) for call in row.get("tool_calls") or ()}


def unpaired(rows: list[Any]) -> tuple[set[str], set[str]]:
    """The calls without a result right after them, and the results without such a call."""
    pending: set[str] = set()
    missing: set[str] = set()
    orphans: set[str] = set()
    for row in rows:
        if row["role"] == "tool":
            if row["tool_call_id"] not in pending:
                orphans.add(row["tool_call_id"])
            pending.discard(row["tool_call_id"])
            continue
        missing |= pending
        pending = call_ids(row)
    return missing | pending, orphans


_TEXTS = st.one_of(
    st.text(max_size=40),
    st.integers(1, 3_000).map(lambda n: "word " * n),
    st.integers(1, 300).map(lambda n: "漢字" * n),
)


@st.composite
def exchanges(draw: st.DrawFn, prefix: str) -> list[Row]:
    rows: list[Row] = []
    if draw(st.booleans()):
        rows.append(hooked(draw(_TEXTS), role=draw(st.sampled_from(["user", "system"]))))
    rows.append(user(draw(_TEXTS)))
    for step in range(draw(st.integers(0, 6))):
        ids = [f"{prefix}.{step}.{n}" for n in range(draw(st.integers(1, 3)))]
        if draw(st.integers(0, 5)) == 0:
            rows.append({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]})
        rows.append(calling(*ids, text=draw(_TEXTS)))
        rows += [result(i, draw(_TEXTS)) for i in draw(st.permutations(ids))]
        if draw(st.integers(0, 5)) == 0:
            rows.append(hooked(draw(_TEXTS)))
    if draw(st.booleans()):
        rows.append(assistant(draw(_TEXTS)))
    return rows


@st.composite
def ledgers(draw: st.DrawFn, *, broken: bool = False) -> list[Row]:
    """A conversation; a broken one lacks rows here and there, or has them elsewhere."""
    rows = [system(draw(_TEXTS))] if draw(st.booleans()) else []
    for number in range(draw(st.integers(1, 6))):
        rows += draw(exchanges(f"c{number}"))
    if broken:
        for _ in range(draw(st.integers(1, 4))):
            place = draw(st.integers(0, len(rows) - 1))
            match draw(st.sampled_from(["lose", "move", "twice"])):
                case "lose" if len(rows) > 1:
                    del rows[place]
                case "move":
                    row = rows.pop(place)
                    rows.insert(draw(st.integers(0, len(rows))), row)
                case "twice":
                    rows.insert(place, dict(rows[place]))
    return rows


def random_ledger(seed: int) -> list[Row]:
    """A conversation, always the same for a seed."""
    rng = Random(seed)

    def text() -> str:
        piece = rng.choice(("word ", "漢字", "x = {'a': 1}\n", ""))
        return piece * rng.choice((0, 1, 5, 40, 400, 1_500))

    rows = [system(text())] if rng.random() < 0.7 else []
    for turn in range(rng.randint(1, 8)):
        if rng.random() < 0.3:
            rows.append(hooked(text(), role=rng.choice(("user", "system"))))
        rows.append(user(text()))
        for step in range(rng.randint(0, 8)):
            ids = [f"{turn}.{step}.{n}" for n in range(rng.randint(1, 3))]
            rows.append(calling(*ids, text=text(), tool=rng.choice(("bash", "read_file"))))
            rows += [result(call_id, text(), tool=None) for call_id in ids]
        if rng.random() < 0.9:
            rows.append(assistant(text()))
    # A session that was cut off in the middle of something.
    return rows[: len(rows) - rng.choice((0, 0, 0, 1, 2))] or [user("hello")]


class Recorder:
    """Stands for the hook registry where only what is emitted matters."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        json.dumps(data)
        self.events.append((event, data))

    def of(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.events if name == event]


class ScriptedProvider:
    """A kernel provider that answers what it is told to, and remembers what it was asked."""

    name = "scripted"

    def __init__(
        self,
        *answers: str | ChatResponse | Exception,
        window: int = 200_000,
        output: int = 8_000,
        model: str = "scripted-1",
    ) -> None:
        self.requests: list[ChatRequest] = []
        self._answers = list(answers)
        self._defaults = {"context_window": window, "max_output_tokens": output, "model": model}

    def will_answer(self, *answers: str | ChatResponse | Exception) -> None:
        self._answers += answers

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id=self.name, display_name=self.name, defaults=dict(self._defaults))

    async def list_models(self) -> list[Any]:
        return []

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        self.requests.append(request)
        answer = self._answers.pop(0) if self._answers else f"Answer {len(self.requests)}"
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ChatResponse) else said(answer)

    def parse_tool_calls(self, response: ChatResponse) -> list[Any]:
        return response_tool_calls(response)

    def texts(self, request: int = -1) -> list[str]:
        return [
            m.content
            if isinstance(m.content, str)
            else " ".join(getattr(block, "text", "") for block in m.content)
            for m in self.requests[request].messages
        ]


def said(text: str, input_tokens: int = 10) -> ChatResponse:
    usage = Usage(input_tokens=input_tokens, output_tokens=2, total_tokens=input_tokens + 2)
    return ChatResponse(content=[TextBlock(text=text)], usage=usage)
