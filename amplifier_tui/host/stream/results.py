"""What a tool gave back: as text, in a few words for its line, and as the agent's plan."""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.text import shortened
from amplifier_tui.host.events import TodoItem
from amplifier_tui.host.messages import text_of
from amplifier_tui.host.redaction import hides_more
from amplifier_tui.host.stream.diffs import unified
from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.hooks.results import prompt_left
from amplifier_tui.kernel.models.tool_result import IMAGE_OMITTED

OUTPUT_LIMIT: Final = 64 * 1024
"""Characters of output an event carries."""
ERROR_LIMIT: Final = 500
_COUNTED: Final = (
    ("matches", "hit", "hits"),
    ("results", "result", "results"),
    ("hits", "hit", "hits"),
    ("files", "file", "files"),
    ("entries", "entry", "entries"),
    ("items", "item", "items"),
)
_CUT: Final = lazy_pattern(r"(?m)^\[… [\d,]+ (?:of [\d,]+ )?characters left out\b")
"""The line that a tool, or this program, puts where the middle of a long output was."""


def output_text(result: Any) -> str:
    """Return a tool result as the model is given it, without the images beside its text.

    They are shown below it, or counted as `[image]` where there is nothing but them.

    Args:
        result: A result's dict with `success`, `output` and `error`, or the bare output.
    """
    if not isinstance(result, Mapping) or not {"success", "output", "error"} & result.keys():
        return _text(result)
    output = result.get("output")
    content = result.get("content")
    blocks = _text_beside_images(content) if isinstance(content, list) else ""
    text = _text(output) if output is not None else ""
    if not text and result.get("success") is False:
        text = error_text(result.get("error"))
    return "\n".join(part for part in (text, blocks if blocks != text else "") if part)


def _text_beside_images(content: list[Any]) -> str:
    omitted = {"type": "text", "text": IMAGE_OMITTED}
    beside = text_of([block for block in content if block != omitted])
    return beside or text_of([{"type": "image"} for block in content if block == omitted])


def result_of(data: Mapping[str, Any]) -> Any:
    """Return the result in the data of `tool:post`."""
    return data.get("result", data.get("tool_result", data.get("tool_response")))


def with_changed_result(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the data of `tool:post` as hooks left it, its `result` as the model is given it.

    Hooks see a result under two names and may change either; the loop takes the one that changed.
    """
    for key in ("result", "tool_result"):
        if key in before and after.get(key, before[key]) != before[key]:
            return {**after, "result": after[key]}
    return after


def error_text(error: Any) -> str:
    """Return an error of any shape as text."""
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("msg") or error.get("type") or "")
    return "" if error is None else str(error)


def first_line(text: str) -> str:
    """Return the first line that says something, bounded."""
    return shortened(next(filter(None, map(str.strip, text.split("\n"))), ""), ERROR_LIMIT)


def summary_words(result: Any, text: str, diff: str) -> str:
    """Return a few words about a result, such as `exit 1`, `12 hits`, `64 lines`.

    Nothing where there is a diff: that says more, and whoever shows it counts its lines.
    """
    if diff:
        return ""
    output = result.get("output") if isinstance(result, Mapping) else result
    if isinstance(output, Mapping):
        for key in ("exit_code", "returncode", "exit_status"):
            if isinstance(output.get(key), int):
                return f"exit {output[key]}"
        for key, one, many in _COUNTED:
            value = output.get(key)
            number = len(value) if isinstance(value, list) else value
            if isinstance(number, int) and not isinstance(number, bool):
                return f"{number:,} {one if number == 1 else many}"
        for key in ("content", "text", "stdout"):
            if isinstance(output.get(key), str):
                return _lines(str(output[key]))
    if isinstance(output, list):
        return f"{len(output):,} {'item' if len(output) == 1 else 'items'}"
    return _lines(text)


def _lines(text: str) -> str:
    if not text.strip():
        return "no output"
    number = text.rstrip("\n").count("\n") + 1
    if _CUT.search(text):
        return f"{number:,} lines, cut"
    return "" if number == 1 else f"{number:,} lines"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)


_LISTS: Final = ("todos", "items", "tasks", "plan")
_TEXTS: Final = ("content", "text", "title", "description", "step")
_DONE: Final = frozenset({"completed", "complete", "done"})
_RUNNING: Final = frozenset({"in_progress", "in-progress", "active", "doing", "running"})


def is_todo_tool(name: str) -> bool:
    """Whether a tool keeps the plan, told by its name."""
    plain = name.casefold().replace("-", "_")
    return "todo" in plain or plain in ("update_plan", "write_plan")


def read_plan(arguments: Any, result: Any) -> tuple[TodoItem, ...] | None:
    """Return the plan after a call of a todo tool, None when the call does not show it.

    Args:
        result: What the tool answered; it has the last word.
    """
    output = result.get("output", result) if isinstance(result, Mapping) else result
    for source in (output, arguments):
        found = _items(source)
        if found is not None:
            return found
    return None


def _items(source: Any) -> tuple[TodoItem, ...] | None:
    if isinstance(source, Mapping):
        source = next((source[key] for key in _LISTS if isinstance(source.get(key), list)), None)
    if not isinstance(source, list):
        return None
    items = [_item(entry) for entry in source]
    return tuple(item for item in items if item is not None)


def _item(entry: Any) -> TodoItem | None:
    if isinstance(entry, str):
        return TodoItem(content=entry, status="pending")
    if not isinstance(entry, Mapping):
        return None
    content = next((entry[key] for key in _TEXTS if isinstance(entry.get(key), str)), "")
    if not content:
        return None
    active = entry.get("activeForm", entry.get("active_form"))
    return TodoItem(
        content=content,
        status=_status(entry.get("status")),
        active_form=active if isinstance(active, str) else "",
    )


def _status(value: Any) -> Literal["pending", "in_progress", "completed"]:
    word = str(value).casefold()
    if value is True or word in _DONE:
        return "completed"
    return "in_progress" if word in _RUNNING else "pending"


def data_after(trace: HookTrace) -> Mapping[str, Any]:
    """Return the data of an emit as the handlers left it."""
    after = trace.result.data
    kept = trace.result.action in ("continue", "ask_user", "inject_context")
    if not kept or after is None:
        return trace.data
    return with_changed_result(trace.data, after) if trace.event == "tool:post" else after


def module_that(verdict: str, trace: HookTrace) -> str:
    """Return the last module whose hook gave a verdict; the program's own hooks are of none."""
    modules = [each.module for each in trace.handlers if each.verdict == verdict]
    return next(filter(None, reversed(modules)), "")


def prompt_change(trace: HookTrace) -> str:
    """Return what hooks of modules made of a prompt, as a diff; empty where they left it.

    That secrets are kept from the model is told on its own.
    """
    before = prompt_left("", trace.data)
    after = prompt_left(before, data_after(trace))
    told = trace.result.action == "deny" or hides_more(before, after)
    # Without the names, and without the marks of ends that have no line end.
    diff = "" if told else unified("", f"{before}\n", f"{after}\n")
    return diff.partition("\n")[2].partition("\n")[2]
