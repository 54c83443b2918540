"""A session's state in a file beside its transcript."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import move_aside, write_atomic
from amplifier_tui.context.compaction.decisions import packed, unpacked
from amplifier_tui.context.pipeline import STATE_KEY

logger = logging.getLogger(__name__)


def write_state(path: Path, data: Mapping[str, Any]) -> list[str]:
    """Write a state, in one step.

    A part that has no JSON form is left out, so that the rest can be saved.

    Args:
        path: The file.
        data: What ``to_dict()`` of a pipeline or a session returned.

    Returns:
        What was left out, in words for the user.

    Raises:
        OSError: The file can't be written; it is as it was.
    """
    kept: dict[str, Any] = {}
    problems: list[str] = []
    state = data.get("state")
    for name, part in state.items() if isinstance(state, Mapping) else ():
        try:
            _encode({str(name): part})
        except (TypeError, ValueError, RecursionError) as error:
            problems.append(f"What '{name}' remembers of this session can't be saved: {error}")
            logger.warning("%s", problems[-1])
        else:
            kept[str(name)] = part
    write_atomic(path, _encode({**data, "state": kept}), mode=0o600)
    return problems


def read_state(path: Path) -> tuple[dict[str, Any] | None, str]:
    """Read a state.

    Args:
        path: The file. One that can't be read as a state is moved aside.

    Returns:
        The state, None where there is none; and what was wrong, in words for the user, or "".

    Raises:
        OSError: The file can't be read, or can't be moved aside.
    """
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None, ""
    except (ValueError, RecursionError) as error:
        return None, _spoiled(path, str(error))
    if not isinstance(data, dict):
        return None, _spoiled(path, "it is no object")
    return data, ""


def _spoiled(path: Path, why: str) -> str:
    aside = move_aside(path, "corrupt")
    problem = f"The session's state can't be read ({why}); it is now in {aside.name}."
    logger.warning("%s", problem)
    return problem


def _encode(data: Any) -> bytes:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


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
    return {
        kind: packed([key for key in unpacked(keys) if _is_before(key, row)])
        for kind, keys in kinds
        if isinstance(keys, list)
    }


def _summaries(saved: Any, row: int) -> list[Any]:
    found = saved if isinstance(saved, list) else []
    return [
        summary for summary in found if all(_is_before(key, row) for key in summary.get("keys", ()))
    ]


def _is_before(key: str, row: int) -> bool:
    number = _SEQ.match(key)
    return number is None or int(number.group()) < row
