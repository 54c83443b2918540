"""A request: who answers it, the tools it offers, and the rows around it."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, TypeGuard

from pydantic import BaseModel

from amplifier_tui.base.messages.tool_calls import tool_spec
from amplifier_tui.kernel.message_models import ChatRequest, Message, ToolCall, ToolSpec
from amplifier_tui.kernel.models import ContextInjection, ToolResult
from amplifier_tui.kernel.models.tool_result import text_for_model
from amplifier_tui.kernel.utils.conversation import sendable_message

logger = logging.getLogger(__name__)

_LAST = 100.0
"""Priority of a provider that has none; lower is preferred."""

_NO_INPUT: dict[str, Any] = {"type": "object", "properties": {}}


def choose_provider(
    providers: Mapping[str, Any],
    default: str | None,
    coordinator: Any | None,
    named: Any = None,
) -> tuple[str, Any]:
    """Return the name of a turn's provider, and the provider.

    Args:
        providers: Mounted providers in the order they were mounted.
        default: Name of the configured one, if any; where it is not mounted, another answers.
        coordinator: Its config says each provider's ``priority``; None where there is none.
        named: Name of the one this turn has to be answered by, if any.

    Raises:
        RuntimeError: None is mounted, or not the one that was named.
    """
    if not providers:
        raise RuntimeError(
            "No providers mounted: add one to the bundle, or set the API key of the one it has"
        )
    if named is not None:
        if (found := find_provider(providers, named)) is None:
            raise RuntimeError(not_mounted(providers, named))
        return found
    if default is not None:
        if (found := find_provider(providers, default)) is not None:
            return found
        logger.warning("default_provider: %s", not_mounted(providers, default))
    planned = _planned_priorities(coordinator)
    name = min(providers, key=lambda name: planned.get(name, _own_priority(providers[name])))
    return name, providers[name]


def find_provider(providers: Mapping[str, Any], name: Any) -> tuple[str, Any] | None:
    """Return a mounted provider by its name or module id; None if it is not mounted."""
    for key in (str(name), str(name).removeprefix("provider-")):
        if key in providers:
            return key, providers[key]
    return None


def not_mounted(providers: Mapping[str, Any], name: Any) -> str:
    """Return the words for a provider that is not mounted."""
    return f"The provider '{name}' is not mounted; mounted are: {', '.join(providers)}."


def _planned_priorities(coordinator: Any | None) -> dict[str, float]:
    config = getattr(coordinator, "config", None)
    entries = config.get("providers") if isinstance(config, Mapping) else None
    found: dict[str, float] = {}
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping):
            continue
        name = entry.get("instance_id") or entry.get("id") or entry.get("module")
        settings = entry.get("config")
        priority = settings.get("priority") if isinstance(settings, Mapping) else None
        if isinstance(name, str) and _is_number(priority):
            found[name.removeprefix("provider-")] = float(priority)
    return found


def _own_priority(provider: Any) -> float:
    config = getattr(provider, "config", None)
    own = getattr(provider, "priority", None)
    if not _is_number(own):
        own = config.get("priority") if isinstance(config, Mapping) else None
    return float(own) if _is_number(own) else _LAST


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def model_of(provider: Any) -> str | None:
    """Return the model a provider uses by default, if it says so."""
    try:
        model = provider.get_info().defaults.get("model")
    except Exception as error:
        logger.debug("A provider does not say which model it uses: %s", error)
        return None
    return model if isinstance(model, str) else None


def answering(found: tuple[str, Any]) -> tuple[str, Any]:
    """Return a provider with the name of the one that answers in its place, if it says so."""
    name, provider = found
    told = getattr(provider, "answers_as", None)
    return (told if isinstance(told, str) else name), provider


def answered_by(provider: Any, name: str) -> tuple[str, str | None]:
    """Return name and model of who was asked last in a provider's place, else of itself."""
    told = getattr(provider, "answered_as", None)
    return told if isinstance(told, tuple) else (name, model_of(provider))


def tool_specs(tools: Mapping[str, Any]) -> list[ToolSpec]:
    """Return what the model is told about the tools, in the order they were mounted."""
    specs = [tool_spec(name, tool) for name, tool in tools.items()]
    return [ToolSpec(**{**spec, "parameters": spec["parameters"] or _NO_INPUT}) for spec in specs]


Row = dict[str, Any]
"""One message as contexts keep it (spec 000, message format)."""


class RequestMaker:
    """Makes the requests of a session.

    A context of ours hands out the very same row for the same message, again and again; what was
    made of it is used again, so that a request costs what is new in it.
    """

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._messages: list[Message] = []

    def make(
        self,
        rows: list[Row],
        injections: Iterable[ContextInjection],
        tools: list[ToolSpec],
        *,
        shared: bool,
        stream: bool,
    ) -> ChatRequest:
        """Build the request for the next step.

        Args:
            rows: What the context wants the model to see.
            injections: Texts for this request only.
            tools: The tools on offer.
            shared: Whether the rows are never changed, so that what was made of them holds.
            stream: Whether the answer should arrive piece by piece.
        """
        if shared:
            known = len(self._rows)
            if rows[:known] != self._rows:
                pairs = enumerate(zip(rows, self._rows, strict=False))
                known = next((i for i, (new, old) in pairs if new is not old), len(rows))
            self._messages = [*self._messages[:known], *map(sendable_message, rows[known:])]
            self._rows = rows
        injections = list(injections)
        if shared and not injections:
            messages = self._messages
        else:
            seen = list(rows)
            for injection in injections:
                _inject(seen, injection)
            kept = self._messages if shared else []
            messages = [
                kept[i] if i < len(kept) and row is rows[i] else sendable_message(row)
                for i, row in enumerate(seen)
            ]
        return ChatRequest(messages=messages, tools=tools or None, stream=stream)


def _inject(rows: list[Row], injection: ContextInjection) -> None:
    last = rows[-1] if rows else {}
    if injection.append_to_last_tool_result and last.get("role") == "tool":
        content = last.get("content")
        added: Any
        if isinstance(content, list):
            added = [*content, {"type": "text", "text": injection.content}]
        else:
            added = f"{content or ''}\n\n{injection.content}"
        # The context's own row stays as it is.
        metadata = {**(last.get("metadata") or {}), "ephemeral": True}
        rows[-1] = {**last, "content": added, "metadata": metadata}
        return
    rows.append(
        {
            "role": injection.role,
            "content": injection.content,
            "metadata": {
                "source": "hook",
                "hook_name": injection.hook_name,
                "event": injection.event,
                "ephemeral": True,
            },
        }
    )


def block_rows(content: Any) -> list[Row]:
    """Return a response's content as block dicts that survive a round trip through JSON."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list | tuple):
        return []
    rows: list[Row] = []
    for block in content:
        if isinstance(block, BaseModel):
            rows.append(block.model_dump(mode="json", exclude_none=True, fallback=str))
        elif isinstance(block, Mapping):
            rows.append(dict(block))
    return rows


def told_apart(calls: Sequence[ToolCall], blocks: list[Row]) -> list[ToolCall]:
    """Return the calls of an answer with an id each, where a provider gave one to several.

    The blocks of the answer that name a call get its new id, too.
    """
    found: list[ToolCall] = []
    taken, seen = {call.id for call in calls}, set[str]()
    for call in calls:
        if call.id and call.id in seen:
            names = (f"{call.id}_{number}" for number in count(2))
            name = next(each for each in names if each not in taken)
            logger.warning(
                "The provider gave the id '%s' to several calls: one is %s", call.id, name
            )
            taken.add(name)
            for block in [each for each in blocks if each.get("id") == call.id][1:2]:
                block["id"] = name
            call = call.model_copy(update={"id": name})
        seen.add(call.id)
        found.append(call)
    return found


def text_of(blocks: Iterable[Row]) -> str:
    """Return what the model says in these blocks, its reasoning left out."""
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def assistant_row(blocks: list[Row], calls: Iterable[ToolCall]) -> Row:
    """Return the row of an answer, with everything its provider needs to send it again.

    Calls are named under ``name`` and, for the Amplifier CLI, ``tool``.
    """
    row: Row = {"role": "assistant", "content": blocks}
    tool_calls = [
        {"id": call.id, "name": call.name, "tool": call.name, "arguments": call.arguments}
        for call in calls
    ]
    if tool_calls:
        row["tool_calls"] = tool_calls
    return row


def tool_row(call: ToolCall, result: ToolResult, *marks: str) -> Row:
    """Return the row of a tool call's result; `marks` are what its metadata says of a failure."""
    row: Row = {
        "role": "tool",
        "tool_call_id": call.id,
        "name": call.name,
        "content": _result_content(result),
    }
    if not result.success:
        row["metadata"] = dict.fromkeys(("is_error", *marks), True)
    return row


def _result_content(result: ToolResult) -> str | list[Row]:
    if not result.content:
        return text_for_model(result)
    blocks = block_rows(result.content)
    if result.output is not None and not text_of(blocks):
        blocks.insert(0, {"type": "text", "text": text_for_model(result)})
    return blocks


def usage_data(usage: Any) -> dict[str, Any] | None:
    """Return a response's usage as plain data, or None where it has none."""
    if isinstance(usage, BaseModel):
        return usage.model_dump(mode="json", exclude_none=True, fallback=str)
    return dict(usage) if isinstance(usage, Mapping) else None
