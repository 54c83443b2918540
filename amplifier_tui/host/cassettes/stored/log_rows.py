"""What a row of the event log says, whichever loop or tool wrote it."""

from datetime import datetime
from typing import Any

Data = dict[str, Any]


def judged_in(row: Data) -> dict[str, str]:
    """Return what handlers answered otherwise than `continue`, by their names."""
    return {
        str(each.get("name")): str(each.get("verdict"))
        for each in objects_in(row.get("handlers"))
        if each.get("verdict") != "continue"
    }


def asker_in(row: Data) -> str:
    """Return whose question an emit ended in, as the user is told it; empty where in none."""
    handlers = objects_in(row.get("handlers")) if row.get("verdict") == "ask_user" else []
    asks = next((each for each in handlers if each.get("verdict") == "ask_user"), {})
    return str(asks.get("module") or asks.get("name") or "")


def result_after_hooks(data: Data, after: Data, row: Data) -> Data | None:
    """Return what hooks made of a result, under whichever of its names; None for nothing."""
    for handler in objects_in(row.get("handlers")):
        if handler.get("verdict") == "deny":
            return {"output": f"withheld by a hook: {handler.get('reason') or 'no reason given'}"}
    for key in ("result", "tool_result"):
        if key in data and after.get(key, data[key]) != data[key]:
            return mapping_of(after[key], "output")
    return None


def mapping_of(value: Any, name: str) -> Data:
    """Return a mapping as it is, and what is none under a name."""
    return value if isinstance(value, dict) else {name: value}


def objects_in(value: Any) -> list[Data]:
    """Return the objects in a list; none where it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def blocks_in(response: Data) -> list[Data]:
    """Return the blocks of an answer; a provider may tell of its calls beside what it says."""
    said = response.get("content")
    blocks = objects_in([{"type": "text", "text": said}] if isinstance(said, str) else said)
    there = {str(block.get("id")) for block in blocks}
    for call in objects_in(response.get("tool_calls")):
        if str(call.get("id")) not in there:
            block = {"type": "tool_call", "id": call.get("id"), "name": call.get("name")}
            blocks.append({**block, "input": call.get("arguments")})
    return blocks


def fault_in(data: Data) -> Data:
    """Return what went wrong, however who emits it says so."""
    error = mapping_of(data.get("error"), "msg")
    said = error.get("msg") or error.get("message") or ""
    status = data.get("status_code")
    return {
        "type": str(error.get("type") or "")[:300],
        "msg": str(said),
        "status_code": status if isinstance(status, int) else None,
    }


def time_of(row: Data) -> float:
    """Return when it was written, in Unix seconds; 0 where it does not say."""
    try:
        return datetime.fromisoformat(str(row.get("ts"))).timestamp()
    except ValueError:
        return 0.0
