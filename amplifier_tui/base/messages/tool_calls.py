"""Tool calls in message rows, whichever program wrote them: read, matched with their results.

A row lists its calls under ``tool_calls``, holds them as content blocks, or both. A result is a
row of its own (``tool_call_id``) or a content block of another row.
"""

import json
import logging
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass

logger = logging.getLogger(__name__)

CALL_BLOCKS: Final = ("tool_call", "tool_use")
"""Types of content blocks that are tool calls. A tuple: a foreign type may be unhashable."""

NO_RESULT: Final = (
    "No result: the call was interrupted before it finished. It may have done nothing, a part, or "
    "all of it: look before you call the tool again."
)
"""What the model reads in place of a result that never came."""


FOLDER_KEYS: Final = ("cwd", "working_dir", "workdir", "working_directory", "directory")
"""The arguments in which tools of many makers are told where a command runs, the first counts."""

_MISSING: Final = object()


BACKGROUND_KEYS: Final = ("run_in_background", "background", "is_background")
"""The arguments in which such tools are told that a command goes on when the call has returned."""


def in_background(arguments: Mapping[str, Any]) -> bool:
    """Whether a command is to go on after its call has returned."""
    given = (arguments.get(name) for name in BACKGROUND_KEYS)
    return any(value not in (None, False, 0, "", "false") for value in given)


def first_text(arguments: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first of these arguments that is a text and not blank; else an empty one."""
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call as a message records it.

    Attributes:
        call_id: Its id; empty where the message has none.
        name: The tool; empty where the message does not say.
        given: The arguments as recorded: an object, its JSON text, or None.
    """

    call_id: str
    name: str
    given: Any = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as a dict."""
        return as_arguments(self.given)


def as_arguments(value: Any) -> dict[str, Any]:
    """Return tool arguments as a dict: they may come as JSON, and text that is none is kept."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"arguments": value}
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def read_call(item: Any) -> RecordedCall:
    """Read one call: a content block, an item of ``tool_calls``, or an object with such fields."""
    if not isinstance(item, Mapping):
        item = {key: getattr(item, key, None) for key in ("id", "name", "arguments")}
    function = item.get("function")
    inner = function if isinstance(function, Mapping) else item
    name = item.get("name") or item.get("tool") or inner.get("name")
    identity = item.get("id") or item.get("tool_call_id")
    return RecordedCall(
        call_id="" if identity is None else str(identity),
        name=name if isinstance(name, str) else "",
        given=inner.get("arguments", item.get("input")),
    )


def calls_of(message: Mapping[str, Any]) -> Iterator[RecordedCall]:
    """Yield the calls of a message, blocks first, each id once."""
    listed, content = message.get("tool_calls"), message.get("content")
    if not listed and not isinstance(content, list):
        return
    seen: set[str] = set()
    blocks = content if isinstance(content, list) else ()
    items = listed if isinstance(listed, list) else ()
    for item in (*(block for block in blocks if is_call_block(block)), *items):
        if isinstance(item, Mapping):
            call = read_call(item)
            if call.call_id not in seen:
                seen.add(call.call_id)
                yield call


def is_call_block(block: Any) -> bool:
    """Whether a content block is a tool call."""
    return isinstance(block, Mapping) and block.get("type") in CALL_BLOCKS


def answers_of(message: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the calls whose results a message holds."""
    if message.get("role") in ("tool", "function"):
        call_id = message.get("tool_call_id")
        if call_id is not None:
            return (str(call_id),)
    content = message.get("content")
    if message.get("role") == "assistant" or not isinstance(content, list):
        return ()
    return tuple(
        str(block.get("tool_call_id") or block.get("tool_use_id") or "")
        for block in content
        if isinstance(block, Mapping) and block.get("type") == "tool_result"
    )


def tool_names_of(messages: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tool names of a conversation's calls, by call id."""
    return {
        call.call_id: call.name for message in messages for call in calls_of(message) if call.name
    }


def unanswered(messages: Iterable[Mapping[str, Any]]) -> list[RecordedCall]:
    """Return the calls of the assistant that have an id and no result anywhere, in order."""
    messages = list(messages)
    answered = {call_id for message in messages for call_id in answers_of(message)}
    return [
        call
        for message in messages
        if message.get("role") == "assistant"
        for call in calls_of(message)
        if call.call_id and call.call_id not in answered
    ]


def answer_calls(
    messages: Iterable[Mapping[str, Any]],
    call_ids: Container[str],
    text: str = "",
    *,
    mark: str = "",
) -> list[dict[str, Any]]:
    """Return a conversation in which calls have a result that says there is none.

    Each stands behind the results that did come.

    Args:
        messages: The conversation.
        call_ids: The calls, see `unanswered`.
        text: What the model reads; empty for `NO_RESULT`.
        mark: See `failed_result`.
    """
    told: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for message in messages:
        if waiting and not answers_of(message):
            told += waiting
            waiting = []
        told.append(dict(message))
        if message.get("role") == "assistant":
            waiting += [
                failed_result(call.call_id, call.name, text or NO_RESULT, mark=mark)
                for call in calls_of(message)
                if call.call_id in call_ids
            ]
    return [*told, *waiting]


def failed_result(
    call_id: str, name: str, text: str = NO_RESULT, *, mark: str = ""
) -> dict[str, Any]:
    """Return the row that stands for a result that never came.

    Args:
        call_id: The call's id.
        name: Its tool; may be empty.
        text: What the model reads.
        mark: What else its metadata says is true, beside ``is_error``.
    """
    row: dict[str, Any] = {"role": "tool", "tool_call_id": call_id}
    if name:
        row["name"] = name
    metadata = {"is_error": True, mark: True} if mark else {"is_error": True}
    return {**row, "content": text, "metadata": metadata}


@dataclass(slots=True)
class CallMatches:
    """Which results belong to which calls in a sequence of messages.

    Attributes:
        results: Place of the message with the result, by the place of the message with the call
            and the call's number in it.
        orphans: Places of the messages with a result that no call before them waits for.
    """

    results: dict[tuple[int, int], int] = field(default_factory=dict)
    orphans: set[int] = field(default_factory=set)


def match_calls(messages: Iterable[tuple[Sequence[str], Sequence[str]]]) -> CallMatches:
    """Match calls and results, however far apart they are.

    An id used again starts afresh: what is still open under it stays without a result.

    Args:
        messages: For each message, the ids of its calls and the ids it holds results of.
    """
    found = CallMatches()
    waiting: dict[str, list[tuple[int, int]]] = {}
    for place, (calls, answers) in enumerate(messages):
        for call_id in answers:
            callers = waiting.get(call_id)
            if callers:
                found.results[callers.pop(0)] = place
            else:
                found.orphans.add(place)
        for call_id in calls:
            waiting.pop(call_id, None)
        for number, call_id in enumerate(calls):
            waiting.setdefault(call_id, []).append((place, number))
    return found


def told_schema(tool: Any) -> tuple[str, Any]:
    """Return by what a tool tells the schema of its arguments, and what it tells.

    That is ``input_schema``, or ``get_schema()`` where that is missing or empty. With neither, the
    name is empty and so is the schema. Raises whatever the tool does when it is asked.
    """
    schema = getattr(tool, "input_schema", _MISSING)
    getter = getattr(tool, "get_schema", None)
    if callable(getter) and not (isinstance(schema, dict) and schema):
        return "get_schema()", getter()
    return ("", {}) if schema is _MISSING else ("input_schema", schema)


def tool_spec(name: str, tool: Any) -> dict[str, Any]:
    """Return what a model is told about a tool: ``name``, ``description``, ``parameters``.

    Args:
        name: Under which it is mounted.
        tool: Has ``description`` and a schema, see `told_schema`; what it does not tell is empty.
    """
    try:
        _, schema = told_schema(tool)
    except Exception as error:
        logger.warning("The schema of tool '%s' can't be read: %s", name, error)
        schema = None
    text = getattr(tool, "description", "")
    return {
        "name": name,
        "description": text if isinstance(text, str) else "",
        "parameters": schema if isinstance(schema, dict) else {},
    }
