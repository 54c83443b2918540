"""A request's messages as alternating turns that any chat API accepts.

Contexts hand out messages of many makes: compacted, resumed from disk, written by another
provider or cut off in the middle of a tool call. Every API refuses a tool call without its result
and a result without its call, so providers start from here (PROVIDER_SPECIFICATION: validate and
repair tool call and result pairs).
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from amplifier_tui.base.messages.tool_calls import NO_RESULT, match_calls, read_call
from amplifier_tui.base.plain import copy_plain, plain
from amplifier_tui.base.text import encodable
from amplifier_tui.kernel.message_models import (
    ContentBlockUnion,
    ImageBlock,
    Message,
    ReasoningBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from amplifier_tui.kernel.utils.tool_calls import parse_tool_arguments
from amplifier_tui.kernel.utils.turns import (
    AssistantBlock,
    AssistantTurn,
    Conversation,
    EphemeralText,
    InstructionTurn,
    Repair,
    ToolOutput,
    ToolTurn,
    Turn,
    UserBlock,
    UserTurn,
)

logger = logging.getLogger(__name__)

_UNSAFE: Final = re.compile(r"[^a-zA-Z0-9_-]")

Item = UserTurn | InstructionTurn | AssistantTurn | ToolOutput


def clean_name(name: str) -> str:
    """A tool name or call id in the characters every API takes, at most 64 of them."""
    return _UNSAFE.sub("_", name)[:64] or "tool"


def valid_unicode(text: str) -> str:
    """The text with lone surrogates replaced: for reasoning, where nothing else may change."""
    return text.encode("utf-8", "replace").decode("utf-8")


class MessageMemory:
    """What messages were read as, kept from one request to the next.

    A message that comes again, as the same object, is not read again. What the last request did not
    hold is forgotten.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Message, tuple[Item, ...]]] = {}

    def items_of(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        system: list[str],
        *,
        keeps_roles: bool = False,
    ) -> list[Item]:
        """Return a request's messages as turns and single outputs.

        `system` takes the texts of the system messages at the start; `keeps_roles` is that of
        `read_conversation`.
        """
        before, self._known = self._known, {}
        items: list[Item] = []
        for each in messages:
            message = _as_message(each)
            if message.role in ("system", "developer"):
                items.extend(_instructions(message, system, not items, keeps_roles))
                continue
            known = before.get(id(message))
            if known is None:
                known = (message, tuple(_items_of(message)))
            self._known[id(message)] = known
            items.extend(known[1])
        return items


def sendable_message(row: Mapping[str, Any]) -> Message:
    """Return a context's row as a message; what has an unknown shape goes as the user's text."""
    data = copy_plain(dict(row))
    content = data.get("content")
    if content is None:
        data["content"] = ""
    elif not isinstance(content, str | list):
        data["content"] = json.dumps(content, ensure_ascii=False, default=str)
    try:
        return Message.model_validate(data)
    except ValidationError as error:
        logger.warning(
            "A row of the conversation has an unknown shape, sent as text: %s",
            error.errors(include_url=False, include_input=False)[0]["msg"],
        )
    text = data["content"]
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False, default=str)
    return Message(role="user", content=text)


def read_conversation(
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    clean_id: Callable[[str], str] | None = None,
    keeps_roles: bool = False,
    memory: MessageMemory | None = None,
) -> Conversation:
    """Turn a request's messages into a conversation.

    System messages after the first other message, and developer messages, stay where they are:
    moved to the front they would lose their place and spoil the prompt cache. Where the API knows
    such roles only at the start, they become blocks of their own in the user's turn, in a
    ``<system-reminder>`` or ``<developer>`` element.

    In the conversation calls have results, ids are unique and empty text is gone.

    Args:
        messages: Messages of a `ChatRequest`, or their dictionary forms.
        clean_id: Maps a call id to one the API accepts.
        keeps_roles: Whether the API takes system and developer messages anywhere.
        memory: What is known from the request before.
    """
    system: list[str] = []
    memory = memory or MessageMemory()
    items = memory.items_of(messages, system, keeps_roles=keeps_roles)
    conversation = Conversation(system="\n\n".join(system))
    for turn in _paired(items, conversation.repairs, clean_id or str):
        _append(conversation.turns, turn)
    return conversation


def _append(turns: list[Turn], turn: Turn) -> None:
    last = turns[-1] if turns else None
    match turn:
        case UserTurn() if isinstance(last, UserTurn):
            last.content.extend(turn.content)
        case AssistantTurn() if isinstance(last, AssistantTurn):
            last.content.extend(turn.content)
        case UserTurn():
            turns.append(UserTurn(list(turn.content)))
        case _:
            turns.append(turn)


def _as_message(message: Message | Mapping[str, Any]) -> Message:
    if isinstance(message, Message):
        return message
    data = dict(message)
    if data.get("content") is None:
        data["content"] = ""
    return Message.model_validate(data)


_ELEMENTS: Final = {"system": "system-reminder", "developer": "developer"}


def _instructions(
    message: Message, system: list[str], at_start: bool, keeps_roles: bool
) -> Iterator[Item]:
    text = _text(message).strip()
    if not text:
        return
    if at_start and message.role == "system":
        system.append(text)
    elif keeps_roles:
        yield InstructionTurn("system" if message.role == "system" else "developer", text)
    else:
        element = _ELEMENTS[message.role]
        wrapped = text if text.startswith(f"<{element}") else f"<{element}>\n{text}\n</{element}>"
        yield UserTurn([_text_block(message, TextBlock(text=wrapped))])


def _items_of(message: Message) -> Iterator[Item]:
    match message.role:
        case "assistant":
            if content := list(_assistant_blocks(message)):
                yield AssistantTurn(content)
        case "tool" | "function" if message.tool_call_id is not None:
            yield _tool_output(message, message.tool_call_id)
        case _:
            yield from _user_items(message)


def _user_items(message: Message) -> Iterator[Item]:
    for block in _blocks(message):
        match block:
            case ToolResultBlock():
                yield ToolOutput(block.tool_call_id, _output(block.output), _failed(block))
            case TextBlock():
                yield UserTurn([_text_block(message, block)])
            case ImageBlock():
                yield UserTurn([block])


def _text_block(message: Message, block: TextBlock) -> TextBlock:
    return EphemeralText(text=block.text) if _is_ephemeral(message) else block


def _is_ephemeral(message: Message) -> bool:
    return (message.metadata or {}).get("ephemeral") is True


def _blocks(message: Message) -> Iterator[ContentBlockUnion]:
    """The message's blocks; text without the characters that no API accepts, or not at all."""
    content = message.content
    for block in [TextBlock(text=content)] if isinstance(content, str) else content:
        if not isinstance(block, TextBlock):
            yield block
        elif (text := encodable(block.text)).strip():
            yield block if text == block.text else block.model_copy(update={"text": text})


def _text(message: Message) -> str:
    return "\n\n".join(block.text for block in _blocks(message) if isinstance(block, TextBlock))


def _assistant_blocks(message: Message) -> Iterator[AssistantBlock]:
    seen: set[str] = set()
    for block in _blocks(message):
        match block:
            case ToolCallBlock():
                seen.add(block.id)
                yield block.model_copy(update={"input": _clean(block.input)})
            case TextBlock() | ThinkingBlock() | RedactedThinkingBlock() | ReasoningBlock():
                yield block
    calls = (message.model_extra or {}).get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        found = _call(call)
        if found is not None and found.id not in seen:
            yield found


def _call(item: Any) -> ToolCallBlock | None:
    """A call that a message carries beside its content, in any of the forms in use."""
    call = read_call(item)
    if not call.name:
        return None
    arguments = call.given
    if isinstance(arguments, str):
        arguments, _ = parse_tool_arguments(arguments, call.name)
    if not isinstance(arguments, Mapping):
        arguments = {}
    return ToolCallBlock(id=call.call_id, name=call.name, input=_clean(dict(arguments)))


def _tool_output(message: Message, call_id: str) -> ToolOutput:
    content, failed = message.content, _failed(message)
    output: Any = content
    if isinstance(content, list) and len(content) == 1:
        only = content[0]
        if isinstance(only, ToolResultBlock):
            output, failed = only.output, _failed(only) or failed
    return ToolOutput(call_id, _output(output), failed, _is_ephemeral(message))


def _failed(carrier: Message | ToolResultBlock) -> bool:
    extra = carrier.model_extra or {}
    metadata = carrier.metadata if isinstance(carrier, Message) else None
    return extra.get("is_error") is True or (metadata or {}).get("is_error") is True


def _output(value: Any) -> list[UserBlock]:
    """A tool's output as text and image blocks."""
    if isinstance(value, list):
        blocks = [_output_block(item) for item in value]
        if blocks and all(block is not None for block in blocks):
            return [block for block in blocks if block is not None]
    if value is None or value == []:
        text = ""
    elif isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, default=plain)
    return [TextBlock(text=encodable(text))]


def _output_block(item: Any) -> UserBlock | None:
    if isinstance(item, TextBlock):
        return TextBlock(text=encodable(item.text))
    if isinstance(item, ImageBlock):
        return item
    match item:
        case {"type": "text", "text": str(text)}:
            return TextBlock(text=encodable(text))
        case {"type": "image", "source": dict(source)}:
            return ImageBlock(source=source)
    return None


def _clean(value: Any) -> Any:
    """JSON data without the characters that no API accepts."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


def _paired(
    items: list[Item], repairs: list[Repair], clean_id: Callable[[str], str]
) -> Iterator[Turn]:
    """The items with every call answered right after its turn, and no other results."""
    called = [item.calls if isinstance(item, AssistantTurn) else [] for item in items]
    answers = match_calls(
        (
            [call.id for call in calls],
            [item.call_id] if isinstance(item, ToolOutput) else (),
        )
        for item, calls in zip(items, called, strict=True)
    ).results
    used = set(answers.values())
    ids: set[str] = set()
    for place, item in enumerate(items):
        match item:
            case UserTurn() | InstructionTurn():
                yield item
            case AssistantTurn() if calls := called[place]:
                renamed = {id(call): _unique(call, ids, clean_id, repairs) for call in calls}
                yield AssistantTurn([renamed.get(id(block), block) for block in item.content])
                pairs = [(call, renamed[id(call)]) for call in calls]
                yield ToolTurn(list(_outputs(place, pairs, items, answers, repairs)))
            case AssistantTurn():
                yield AssistantTurn(list(item.content))
            case ToolOutput() if place not in used:
                repairs.append(Repair("orphan_result", item.call_id))
                yield _orphan(item)


def _outputs(
    place: int,
    calls: list[tuple[ToolCallBlock, ToolCallBlock]],
    items: list[Item],
    answers: dict[tuple[int, int], int],
    repairs: list[Repair],
) -> Iterator[ToolOutput]:
    for number, (before, call) in enumerate(calls):
        found = answers.get((place, number))
        output = items[found] if found is not None else None
        if not isinstance(output, ToolOutput) or found is None:
            repairs.append(Repair("missing_result", before.id, call.name))
            yield ToolOutput(call.id, [TextBlock(text=NO_RESULT)], is_error=True)
            continue
        if any(not isinstance(item, ToolOutput) for item in items[place + 1 : found]):
            repairs.append(Repair("moved_result", before.id, call.name))
        same = output.call_id == call.id
        yield output if same else replace(output, call_id=call.id)


def _unique(
    call: ToolCallBlock, ids: set[str], clean_id: Callable[[str], str], repairs: list[Repair]
) -> ToolCallBlock:
    wanted = clean_id(call.id) if call.id else "call"
    identity, number = wanted, 1
    while identity in ids:
        number += 1
        identity = f"{wanted[:32]}_{number}"
    ids.add(identity)
    if identity == call.id:
        return call
    if identity != wanted or not call.id:
        repairs.append(Repair("renamed_call", call.id, call.name))
    return call.model_copy(update={"id": identity})


def _orphan(output: ToolOutput) -> UserTurn:
    label = TextBlock(text=f"Result of an earlier tool call ({output.call_id}):")
    shown = [
        block for block in output.content if not isinstance(block, TextBlock) or block.text.strip()
    ]
    return UserTurn([label, *shown])
