"""A session's state in a file beside its transcript."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import move_aside, write_atomic
from amplifier_tui.base.jsonl import read_object
from amplifier_tui.context.compaction.decisions import Decisions
from amplifier_tui.context.request.view import ContextView

logger = logging.getLogger(__name__)


STATE_KEY: Final = "context"
"""Part of a session's state that is the context's own."""


class ViewState:
    """The state of a context without providers, in the form of a pipeline's."""

    def __init__(self, view: ContextView) -> None:
        self._view = view

    def to_dict(self) -> dict[str, Any]:
        """Return the state, see `write_state`."""
        return {"state": {STATE_KEY: self._view.to_dict()}}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `to_dict` returned, once the ledger has its rows."""
        state = data.get("state")
        self._view.restore(state.get(STATE_KEY) if isinstance(state, Mapping) else None)


def write_state(
    path: Path, data: Mapping[str, Any], places: Mapping[str, str] | None = None
) -> list[str]:
    """Write what ``to_dict()`` of a pipeline or a session returned, in one step.

    A part that has no JSON form is left out, so that the rest can be saved.

    Args:
        places: File and line of the code that keeps the part of a name, where they are known.

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
            place = (places or {}).get(str(name), "")
            at = f" ({place})" if place else ""
            what = f"What '{name}' remembers of this session can't be saved: {error}{at}"
            problems.append(f"{what}. Keep JSON values, or call register_state_type")
            logger.warning("%s", problems[-1])
        else:
            kept[str(name)] = part
    write_atomic(path, _encode({**data, "state": kept}), mode=0o600)
    return problems


def read_state(path: Path) -> tuple[dict[str, Any] | None, str]:
    """Read a state; a file that can't be read as one is moved aside.

    Returns:
        The state, None where there is none; and what was wrong, in words for the user, or "".

    Raises:
        OSError: The file can't be read, or can't be moved aside.
    """
    try:
        return read_object(path) or None, ""
    except ValueError as error:
        aside = move_aside(path)
        problem = f"The session's state can't be read ({error}); it is now in {aside.name}."
        logger.warning("%s", problem)
        return None, problem


def own_part(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the part of a state that is the context's own; empty where there is none."""
    state = data.get("state") if data is not None else None
    own = state.get(STATE_KEY) if isinstance(state, Mapping) else None
    return dict(own) if isinstance(own, Mapping) else {}


def _encode(data: Any) -> bytes:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def state_before(data: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Return a state as it may be for the rows of a ledger before ``row``.

    What was compacted later goes, of earlier rows, too: the model has them as it had them then. So
    does what the user chose about later rows, as other rows will have their numbers, and the
    provider's count. What providers remember stays.
    """
    state = data.get("state")
    state = dict(state) if isinstance(state, Mapping) else {}
    own = state.get(STATE_KEY)
    if isinstance(own, Mapping):
        decisions = Decisions()
        decisions.restore(own.get("decisions"))
        decisions.keep_before(row)
        state[STATE_KEY] = {**own, "decisions": decisions.to_dict(), "anchor": None}
    return {**data, "state": state}


def state_again(data: Mapping[str, Any], own: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Return a state for a ledger whose rows from ``row`` on are back.

    Args:
        data: The state of the rows before.
        own: What `own_part` returned when the rows were taken out. It holds again, unless something
            else was decided since about those that stayed.
        row: The first that is back.
    """
    kept = state_before(data, row)
    left = own_part(state_before({"state": {STATE_KEY: own}}, row))
    if own_part(kept).get("decisions") == left.get("decisions"):
        kept["state"][STATE_KEY] = dict(own)
    return kept
