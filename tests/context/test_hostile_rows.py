import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.adr.history import FileHistoryProvider
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.request.budget import BudgetPolicy

WORDS = st.sampled_from(
    (
        *("text", "tool_call", "tool_use", "tool_result", "thinking", "image", "function"),
        *("type", "id", "name", "input", "output", "content", "arguments", "tool_call_id"),
        *("source", "hook", "hook_name", "compaction", "_attribution", "source_id", "is_error"),
    )
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), WORDS
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(WORDS, st.text(max_size=3)), inner, max_size=4),
    ),
    max_leaves=12,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "developer", "function", "?"])
FIELDS = ("content", "tool_calls", "tool_call_id", "name", "metadata", "message_id")
ROWS = st.lists(
    st.fixed_dictionaries({"role": ROLES}, optional=dict.fromkeys(FIELDS, JSON)),
    min_size=1,
    max_size=6,
)
STORED = ("contents", "author_name", "message_id", "additional_properties")


@given(rows=ROWS, limit=st.sampled_from([20, 200, 10_000]))
async def test_rows_of_any_shape_are_kept_shown_and_compacted(
    rows: list[dict[str, Any]], limit: int
) -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=limit))
    for row in rows:
        await manager.add_message(row)
    await manager.get_messages_for_request()
    await manager.view.compact()
    view = await manager.get_messages_for_request()
    report = await manager.view.report()
    assert sum(line.tokens for line in report.by_source) == report.total
    assert json.dumps(view)
    assert await manager.get_messages() == rows


@given(ROWS)
def test_rows_of_any_shape_are_messages_and_come_back_as_they_were(
    rows: list[dict[str, Any]],
) -> None:
    for row in rows:
        message = Message.from_kernel(row)
        assert isinstance(message.text, str)
        again = Message.from_dict(json.loads(json.dumps(message.to_dict())))
        assert again.to_dict() == message.to_dict()
        kernel = message.to_kernel()
        assert kernel.get("content") == row.get("content")
        assert kernel["role"] == row["role"]


@given(
    st.lists(
        st.one_of(JSON, st.fixed_dictionaries({"role": JSON}, optional=dict.fromkeys(STORED, JSON)))
    )
)
async def test_a_history_file_of_any_shape_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any]
) -> None:
    history = FileHistoryProvider(tmp_path_factory.mktemp("h"))
    stored = [*lines, Message.user("good").to_dict()]
    history.path("s").write_text("".join(json.dumps(line) + "\n" for line in stored))
    messages = await history.get_messages("s")
    assert messages[-1] == Message.user("good")
    assert all(isinstance(message.text, str) for message in messages)


@given(st.lists(JSON, max_size=5), st.binary(max_size=30))
def test_a_ledger_file_of_any_shape_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any], end: bytes
) -> None:
    path: Path = tmp_path_factory.mktemp("l") / "transcript.jsonl"
    good = {"role": "user", "content": "good"}
    written = "".join(json.dumps(line) + "\n" for line in [good, *lines])
    path.write_bytes(written.encode("utf-8", "surrogatepass") + end)
    ledger, _ = Ledger.load(path)
    assert ledger.messages()[0] == good
    # What was torn is out of the way of what is appended next.
    assert path.read_bytes().endswith(b"\n")
