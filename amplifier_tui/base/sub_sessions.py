"""Sub-sessions: how their ids are written, and what a tool's result says of them to the model."""

import json
import re
from typing import Final

_ID: Final = "[0-9a-f]{16}-[0-9a-f]{16}_[a-z0-9-]{1,200}"
SUB_SESSION_ID: Final = re.compile(rf"\b{_ID}")
"""`<parent's span>-<own span>_<agent>`, as the ecosystem names them."""

_NOTE: Final = re.compile(rf"\[session_id {_ID}, to ask .*\]")


def resume_note(session_id: str, agent: str) -> str:
    """Return the line by which a model learns how to ask an agent again."""
    return f"[session_id {session_id}, to ask {agent} something more]"


def for_people(text: str) -> str:
    """Return the result of a tool without what it says of a sub-session to the model alone.

    That is the note at its end; of an object with the sub-session's id, all but the answer.
    """
    if text.startswith("{") and SUB_SESSION_ID.search(text):
        return _answer_in(text)
    kept = text.rstrip()
    begin = kept.rfind("\n") + 1
    return kept[:begin].rstrip() if _NOTE.fullmatch(kept, begin) else text


def _answer_in(text: str) -> str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict) or not isinstance(found.get("session_id"), str):
        return text
    answers = (found.get(key) for key in ("response", "output", "result"))
    return next((answer for answer in answers if isinstance(answer, str)), text)
