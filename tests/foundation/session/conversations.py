# Rows of transcripts, as other programs write them.

from typing import Any

Row = dict[str, Any]


def user(text: str, **more: Any) -> Row:
    return {"role": "user", "content": text, **more}


def said(text: str, *call_ids: str) -> Row:
    calls = [{"id": each, "tool": "bash", "arguments": {}} for each in call_ids]
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def result(call_id: str) -> Row:
    return {"role": "tool", "tool_call_id": call_id, "content": f"of {call_id}"}


TWO_TURNS = [user("one"), said("", "a"), result("a"), said("first"), user("two"), said("second")]
CUT_OFF = [*TWO_TURNS[:4], user("two"), said("calling", "b", "c"), result("b")]
