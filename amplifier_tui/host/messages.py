"""Reading messages of any make: what they say, and what their metadata says of them."""

from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.base.messages.context_file import file_blocks

Message = Mapping[str, Any]

INTERRUPTED: Final = "interrupted"
"""Metadata key: the row was cut short."""
PROMPT_KEY: Final = "prompt"
"""Metadata key: what the user typed, where the row holds more than that."""
COMMANDS_KEY: Final = "user_commands"
"""Metadata key: ids of the user's own commands whose output the row holds."""

IMAGES_KEY: Final = "images"
"""Metadata key: names of the images in the row, in their order."""

STEER_HOOK: Final = "amplifier-tui-steer"
"""The hook that puts there what the user says while the agent works."""
IMPORT_HOOK: Final = "import"
"""As the hook that put a row there: it is of another program, and no message of a person."""


def metadata_of(message: Message) -> Mapping[str, Any]:
    """Return a message's metadata; empty when it has none."""
    metadata = message.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def commands_of(message: Message) -> tuple[str, ...]:
    """Return the ids of the user's own commands whose output a row holds."""
    found = metadata_of(message).get(COMMANDS_KEY)
    return tuple(map(str, found)) if isinstance(found, list | tuple) else ()


def text_of(content: Any) -> str:
    """Return what a content says, reasoning and tool calls left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list | tuple):
        return "" if content is None else str(content)
    return "\n\n".join(filter(None, map(_block_text, content)))


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    match block.get("type"):
        case "text" | "input_text" | "output_text" | None:
            text = block.get("text")
            return text if isinstance(text, str) else ""
        case "image" | "image_url":
            source = block.get("source")
            is_pdf = isinstance(source, Mapping) and source.get("media_type") == "application/pdf"
            return "[PDF]" if is_pdf else "[image]"
    return ""


def thinking_of(block: Mapping[str, Any]) -> str:
    """Return the reasoning in a content block; empty when it is none or is not readable."""
    if block.get("type") not in ("thinking", "reasoning"):
        return ""
    for key in ("thinking", "text", "thinking_text"):
        value = block.get(key)
        if isinstance(value, str) and value:
            return value
    parts = block.get("summary") or block.get("content") or []
    return "\n\n".join(_part_text(part) for part in parts) if isinstance(parts, list) else ""


def _part_text(part: Any) -> str:
    if isinstance(part, Mapping):
        return str(part.get("text") or "")
    return part if isinstance(part, str) else ""


def attachments_of(message: Message) -> tuple[str, ...]:
    """Return what is attached to a user's message, as it is shown."""
    found = metadata_of(message).get("attachments")
    return tuple(map(str, found)) if isinstance(found, list) else ()


def typed_prompt(message: Message) -> str:
    """Return what the user typed for a user's message."""
    typed = metadata_of(message).get(PROMPT_KEY)
    return typed if isinstance(typed, str) else text_of(message.get("content"))


def mentioned_files(message: Message) -> tuple[str, ...]:
    """Return the files whose text a user's message has because the prompt mentions them.

    They are as mentioned, such as `path` or `path:3-9`.
    """
    if message.get("role") != "user" or PROMPT_KEY not in metadata_of(message):
        return ()
    names = (block.name for block in file_blocks(text_of(message.get("content"))))
    files = (name[1:].rstrip(".:") for name in names if name.startswith("@"))
    return tuple(dict.fromkeys(files))


def is_from_hook(message: Message) -> bool:
    """Whether a hook put the message there, not the user."""
    return metadata_of(message).get("source") == "hook"


def is_steering(message: Message) -> bool:
    """Whether it is what the user said while the agent worked."""
    return metadata_of(message).get("hook_name") == STEER_HOOK


def is_import_note(message: Message) -> bool:
    """Whether a row is something of another program that is neither said nor called."""
    return is_from_hook(message) and metadata_of(message).get("hook_name") == IMPORT_HOOK


def last_words(messages: list[dict[str, Any]]) -> str:
    """Return the latest words of the assistant; empty when it said none."""
    answers = (m for m in reversed(messages) if m.get("role") == "assistant")
    texts = (text_of(answer.get("content")) for answer in answers)
    return next((text for text in texts if text.strip()), "")
