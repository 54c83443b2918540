"""The source text of an entry, for copying."""

from amplifier_tui.base.text import clean, printed
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    ErrorEntry,
    NoteEntry,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.entries.tool_words import describe


def plain_text(entry: ConversationEntry) -> str:
    """Return what an entry says: Markdown as it was written, a tool's words and its result."""
    match entry:
        case UserEntry() | TextEntry() | ThinkingEntry() | NoteEntry():
            return clean(entry.text)
        case ToolEntry():
            words = describe(entry.tool, entry.arguments)
            command = entry.arguments.get("command")
            said = "".join(span.text for span in words.parts)
            line = command if isinstance(command, str) else f"{words.verb} {said}"
            parts = [
                clean(line),
                clean(entry.error),
                clean(entry.diff) or clean(printed(entry.output)),
            ]
        case ErrorEntry():
            parts = [clean(entry.message), clean(entry.remedy), clean(entry.detail)]
        case _:
            return ""
    return "\n".join(part.rstrip("\n") for part in parts if part)


def name_of(entry: ConversationEntry) -> str:
    """Return what an entry is, in a word or two."""
    match entry:
        case UserEntry():
            return "prompt"
        case TextEntry():
            return "answer"
        case ThinkingEntry():
            return "thinking"
        case ToolEntry():
            return "tool call"
        case ErrorEntry():
            return "error"
        case _:
            return "note"
