"""The state of a session for a fork of it, which ends earlier."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.context.pipeline import STATE_KEY

_SEQ: Final = re.compile(r"\d+(?=$|[.+])")
"""The row's number at the beginning of its key, and of the keys of what stands in its place."""


def state_before(data: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Return a state as it may be for the first rows of a ledger.

    What was decided about later rows goes: other rows will have their numbers. So does a summary
    that stands for any of them, and the provider's count of a longer request. What providers
    remember is theirs and stays.

    Args:
        data: What ``to_dict()`` of a pipeline returned; it is not changed.
        row: The first row the fork does not have.
    """
    state = data.get("state")
    state = dict(state) if isinstance(state, Mapping) else {}
    own = state.get(STATE_KEY)
    if isinstance(own, Mapping):
        state[STATE_KEY] = {
            **own,
            "decisions": _decisions(own.get("decisions"), row),
            "anchor": None,
        }
    return {**data, "state": state}


def _decisions(saved: Any, row: int) -> dict[str, Any]:
    saved = saved if isinstance(saved, Mapping) else {}
    models = saved.get("models")
    return {
        "models": {
            model: {
                "rows": _rows(decided.get("rows"), row),
                "resume_at": 0,
                "summaries": _summaries(decided.get("summaries"), row),
            }
            for model, decided in (models.items() if isinstance(models, Mapping) else ())
            if isinstance(decided, Mapping)
        },
        "summaries": _summaries(saved.get("summaries"), row),
    }


def _rows(saved: Any, row: int) -> dict[str, list[str]]:
    kinds = saved.items() if isinstance(saved, Mapping) else ()
    return {kind: [key for key in keys if _is_before(key, row)] for kind, keys in kinds}


def _summaries(saved: Any, row: int) -> list[Any]:
    found = saved if isinstance(saved, list) else []
    return [
        summary for summary in found if all(_is_before(key, row) for key in summary.get("keys", ()))
    ]


def _is_before(key: str, row: int) -> bool:
    number = _SEQ.match(key)
    return number is None or int(number.group()) < row
