"""What the user answered to the questions of a tool call."""

from amplifier_tui.base.text import clean, one_line
from amplifier_tui.ui.state.conversation.entries import ToolEntry

_TOOL = "ask_user"
_DECLINED = "The user declined to answer."
_OWN_WORDS = "In their own words: "
_LIMIT = 400


def answers(entry: ToolEntry) -> list[str]:
    """Return a line for each question of a call, or that the user declined.

    Empty where the result can't be read as answers.
    The questions are left out as they were asked: what a model wrote there is no answer.
    """
    if entry.tool != _TOOL or entry.state != "ok":
        return []
    if entry.output.startswith(_DECLINED):
        return ["declined"]
    asked = entry.arguments.get("questions")
    parts: list[str] = []
    rest = entry.output
    for number, question in enumerate(asked if isinstance(asked, list) else [], start=1):
        text = str(question.get("question")) if isinstance(question, dict) else ""
        # Whoever asks joins the lines of a question.
        before, found, rest = rest.partition(f"{number}. {' '.join(text.split())}\n")
        if not found:
            return []
        parts.append(before)
    lines = [_line(part) for part in [*parts[1:], rest]] if parts else []
    return [f"{n}. {line}" for n, line in enumerate(lines, 1)] if len(lines) > 1 else lines


def _line(part: str) -> str:
    words = [line.strip().removeprefix("- ") for line in clean(part).split("\n")]
    said = " · ".join(word.removeprefix(_OWN_WORDS) for word in words if word)
    return one_line(said, _LIMIT)
