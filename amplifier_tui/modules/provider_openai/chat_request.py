"""A kernel request in the format of Chat Completions.

Source: OpenAI API, Chat Completions. Compatible servers differ: many apply templates that want one
system message at the start and strictly alternating turns, so that is what they get.
"""

import json

from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
)
from amplifier_tui.kernel.utils.conversation import (
    MessageMemory,
    clean_name,
    read_conversation,
    valid_unicode,
)
from amplifier_tui.kernel.utils.turns import (
    AssistantTurn,
    Conversation,
    InstructionTurn,
    ToolTurn,
    UserTurn,
)
from amplifier_tui.modules._provider.request import (
    BEGIN,
    GO_ON,
    PreparedRequest,
    Wire,
    is_pdf,
    output_text,
    tool_names,
)
from amplifier_tui.modules.provider_openai.settings import OpenAISettings
from amplifier_tui.modules.provider_openai.wire import (
    PDF_NAME,
    data_url,
    effort_for,
    finished,
    function,
    json_format,
    sampling_for,
    tool_choice,
)

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""What servers call reasoning text; a block remembers the name, to be sent back under it."""

_LONGEST_ID = 40
_NO_PDF = "(A PDF stands here, which this server does not take. Read its text with another tool.)"


def prepare_chat(
    request: ChatRequest,
    settings: OpenAISettings,
    model: str,
    cache_key: str | None,
    memory: MessageMemory | None = None,
) -> PreparedRequest:
    """Write a request for Chat Completions.

    Args:
        request: What to complete.
        settings: The provider's configuration.
        model: The model to ask.
        cache_key: Tells OpenAI which requests belong together.
        memory: What is known of the messages from the request before.
    """
    conversation = read_conversation(
        request.messages,
        clean_id=_short_id if settings.is_openai else None,
        keeps_roles=settings.is_openai,
        memory=memory,
    )
    limit = request.max_output_tokens or settings.max_tokens
    optional: Wire = {
        **sampling_for(request, settings, model),
        "tools": [{"type": "function", "function": function(t)} for t in request.tools or []],
        "tool_choice": tool_choice(request.tool_choice, _one_tool) if request.tools else None,
        "stop": request.stop,
        # Compatible servers know the old name, OpenAI's newer models only the new one.
        "max_completion_tokens" if settings.is_openai else "max_tokens": limit,
        "reasoning_effort": effort_for(request, settings, model),
        "response_format": _response_format(request),
        "prompt_cache_key": cache_key if settings.is_openai else None,
        "timeout": request.timeout,
    }
    if settings.stream and settings.stream_usage:
        optional["stream_options"] = {"include_usage": True}
    required = {"model": model, "messages": wire_messages(conversation, settings.is_openai)}
    return PreparedRequest(finished(required, optional), conversation, tool_names(request.tools))


def wire_messages(conversation: Conversation, takes_files: bool = False) -> list[Wire]:
    """The conversation as messages: system, then user and assistant in turn.

    `takes_files` says whether the server knows PDFs; others refuse the whole request for one.
    """
    writer = _Writer(takes_files)
    last_user = max(
        (place for place, turn in enumerate(conversation.turns) if isinstance(turn, UserTurn)),
        default=-1,
    )
    for place, turn in enumerate(conversation.turns):
        match turn:
            case UserTurn():
                writer.user([writer.part(block) for block in turn.content])
            case InstructionTurn():
                writer.instruction(turn)
            case AssistantTurn():
                writer.assistant(turn, with_reasoning=place > last_user)
            case ToolTurn():
                writer.tools(turn)
    messages = writer.finished()
    if conversation.system:
        messages.insert(0, {"role": "system", "content": conversation.system})
    return messages


class _Writer:
    """Collects messages; user parts wait until something else follows them."""

    def __init__(self, takes_files: bool) -> None:
        self._takes_files = takes_files
        self._messages: list[Wire] = []
        self._waiting: list[Wire] = []

    def user(self, parts: list[Wire]) -> None:
        self._waiting.extend(parts)

    def part(self, block: TextBlock | ImageBlock) -> Wire:
        if isinstance(block, TextBlock):
            return {"type": "text", "text": block.text}
        if not is_pdf(block):
            return {"type": "image_url", "image_url": {"url": data_url(block)}}
        if not self._takes_files:
            return {"type": "text", "text": _NO_PDF}
        file = {"filename": PDF_NAME, "file_data": data_url(block)}
        return {"type": "file", "file": file}

    def instruction(self, turn: InstructionTurn) -> None:
        self._flush()
        self._messages.append({"role": turn.role, "content": turn.text})

    def assistant(self, turn: AssistantTurn, *, with_reasoning: bool) -> None:
        texts = [block.text for block in turn.content if isinstance(block, TextBlock)]
        calls = turn.calls
        if not texts and not calls:
            return
        if not self._messages and not self._waiting:
            self.user([{"type": "text", "text": BEGIN}])
        self._flush()
        message: Wire = {"role": "assistant", "content": "\n\n".join(texts) or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": clean_name(call.name),
                        "arguments": json.dumps(call.input, ensure_ascii=False),
                    },
                }
                for call in calls
            ]
        if with_reasoning:
            message.update(_reasoning(turn))
        self._messages.append(message)

    def tools(self, turn: ToolTurn) -> None:
        images: list[Wire] = []
        for output in turn.outputs:
            text = output_text(output)
            self._messages.append({"role": "tool", "tool_call_id": output.call_id, "content": text})
            images += [self.part(image) for image in output.images]
        if images:
            # Tool messages hold text only, so the images follow as the user's.
            self.user(
                [{"type": "text", "text": "Images and documents from the tool results:"}, *images]
            )

    def finished(self) -> list[Wire]:
        if not self._waiting and (not self._messages or self._messages[-1]["role"] == "assistant"):
            self.user([{"type": "text", "text": GO_ON if self._messages else BEGIN}])
        self._flush()
        return self._messages

    def _flush(self) -> None:
        if self._waiting:
            self._messages.append(_user(self._waiting))
            self._waiting = []


def _user(parts: list[Wire]) -> Wire:
    # Parts stay apart: what a hook adds is not part of what the user says.
    alone = parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else None
    return {"role": "user", "content": parts if alone is None else alone}


def _reasoning(turn: AssistantTurn) -> Wire:
    """Reasoning under the name the server gave it: some insist on it within a tool turn."""
    found: Wire = {}
    for block in turn.content:
        if not isinstance(block, ThinkingBlock):
            continue
        name = (block.model_extra or {}).get("reasoning_field")
        if name in REASONING_FIELDS and block.thinking:
            found[name] = found.get(name, "") + valid_unicode(block.thinking)
    return found


def _short_id(identity: str) -> str:
    return clean_name(identity)[:_LONGEST_ID]


def _one_tool(name: str) -> Wire:
    return {"type": "function", "function": {"name": name}}


def _response_format(request: ChatRequest) -> Wire | None:
    match json_format(request):
        case {"type": "json_schema" as kind, **schema}:
            return {"type": kind, "json_schema": schema}
        case other:
            return other
