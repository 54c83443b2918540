"""What is wrong with what a tool answered, for its author and for who waits for it.

Such an answer is used as far as it goes: what it says in a misspelt field is lost.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from amplifier_tui.base.nearest import nearest
from amplifier_tui.base.text import shortened
from amplifier_tui.kernel.models import ToolResult, unknown_fields
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.errors import named_text

_FIELDS: Final = (*ToolResult.model_fields, "is_error")
_FAIL: Final = 'Correct it there, or return ToolResult(success=False, error={"message": ...})'
_LONGEST: Final = 300
"""Characters of what a tool raised."""
_RETURN: Final = "Return ToolResult(output=...)"


def wrong_answer(name: str, tool: Any, result: Any) -> str:
    """Return what is wrong with a tool's result, with its place; empty where nothing is.

    A further field is none of it where the result has an output: published tools give some.
    """
    if isinstance(result, ToolResult):
        unknown, place = unknown_fields(result)
        empty = result.output is None and not result.error and not result.content
        return _misspelt(name, unknown, place, empty=empty)
    if isinstance(result, Mapping) and isinstance(result.get("success"), bool):
        empty = not any(result.get(field) for field in ("output", "error", "content"))
        unknown = tuple(str(field) for field in result if field not in _FIELDS)
        return _misspelt(name, unknown, place_of(tool.execute), empty=empty)
    if isinstance(getattr(result, "success", None), bool):
        return ""
    where = f" ({place})" if (place := place_of(tool.execute)) else ""
    if result is None:
        return f'{name} returned nothing{where}: the model reads "Success". {_RETURN}'
    kind = type(result).__name__
    fields = [str(field) for field in result] if isinstance(result, Mapping) else []
    near = [told for field in fields if (told := _with_near(field)) and field not in _FIELDS]
    names = f"; it has {', '.join(near)}" if near else ""
    wrong = f"{name} returned {kind}, which is no ToolResult{where}"
    return f"{wrong}: the model reads all of it as the output{names}. {_RETURN}"


def raised(name: str, error: Exception, place: str) -> str:
    """Return what a tool raised, at a place in its code."""
    return f"{name} failed: {shortened(named_text(error), _LONGEST)} ({place}). {_FAIL}"


def _misspelt(name: str, unknown: Iterable[str], place: str, *, empty: bool) -> str:
    told = [_with_near(field) or (f"{field!r:.80}" if empty else "") for field in unknown]
    if not any(told):
        return ""
    where = f" ({place})" if place else ""
    fields = ", ".join(filter(None, told))
    known = "" if "meant" in fields else f"; its fields are {', '.join(_FIELDS)}"
    return f"The ToolResult of {name} has no field {fields}{known}{where}: what it says is lost"


def _with_near(field: str) -> str:
    near = nearest(field, _FIELDS)
    return f"{field!r:.80} ({near!r} is meant?)" if near else ""
