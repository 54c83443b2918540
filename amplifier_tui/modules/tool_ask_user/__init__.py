"""tool-ask-user: the agent asks the user one to four questions, in one dialog.

Each has two to eight options to choose from, one or several, or none at all; the user may always
answer in their own words, and may decline. Who can ask the user registers the capability
`session.ask_user` (`base/capabilities/questions.py`); where nobody has, a call fails and says so.

It has no config.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from amplifier_tui.base.capabilities.questions import (
    CAPABILITY,
    LEAST_OPTIONS,
    LONGEST,
    MOST_OPTIONS,
    MOST_QUESTIONS,
    Question,
    QuestionAnswer,
    QuestionsReply,
    read_questions,
)
from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument

__amplifier_module_type__ = "tool"

_DECLINED: Final = (
    "The user declined to answer. Don't ask the same again: go on as you think best and say what "
    "you assumed, or say what you can't do without an answer."
)
_UNAVAILABLE: Final = (
    "Nobody can be asked in this session. Decide yourself, take what is easily undone, and say in "
    "your answer what you assumed."
)


class AskUserSettings(ModuleSettings):
    """The module's configuration: none."""

    module: ClassVar[str] = "tool-ask-user"


def _text(key: str, description: str) -> dict[str, Any]:
    return argument("string", description, maxLength=LONGEST[key])


_OPTION: Final = {
    "type": "object",
    "properties": {
        "label": _text("label", "The answer, in a few words."),
        "description": _text("description", "What choosing it means."),
    },
    "required": ["label"],
    "additionalProperties": False,
}
_QUESTION: Final = {
    "type": "object",
    "properties": {
        "question": _text("question", "The whole question, in one or two sentences."),
        "header": _text("header", "Its name in one or two words: Database."),
        "options": argument(
            "array",
            "Answers to choose from, the one you would take first; leave them out for an answer in "
            "the user's own words. Don't add one like 'other': the user may always write.",
            items=_OPTION,
            minItems=LEAST_OPTIONS,
            maxItems=MOST_OPTIONS,
        ),
        "multi_select": argument("boolean", "Several options may be chosen."),
    },
    "required": ["question"],
    "additionalProperties": False,
}


class AskUserTool(ModuleTool):
    """Asks through whoever has registered the capability."""

    name = "ask_user"
    description = (
        "Ask the user, and wait for the answers. For what only they can decide and what changes "
        "the work that follows; find out yourself what the files can tell. Put what belongs "
        "together into one call."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "questions": argument(
            "array", "What to ask.", items=_QUESTION, minItems=1, maxItems=MOST_QUESTIONS
        ),
    }
    required = ("questions",)

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        self._coordinator = coordinator

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Ask, and return the answers in words."""
        unknown = [str(name) for name in given if name not in self.parameters]
        if unknown:
            raise ToolProblem(
                f"`{unknown[0][:40]}` is unknown; all goes into `questions`.", "invalid_input"
            )
        try:
            questions = read_questions(given.get("questions"))
        except ValueError as error:
            raise ToolProblem(str(error), "invalid_input") from error
        ask = self._coordinator.get_capability(CAPABILITY)
        if ask is None:
            raise ToolProblem(_UNAVAILABLE, "unavailable")
        reply: QuestionsReply = await ask(questions)
        if reply.outcome == "unavailable":
            raise ToolProblem(_UNAVAILABLE, "unavailable")
        if reply.outcome == "withdrawn":
            words = f"The questions were not answered: {reply.reason or 'they were withdrawn'}."
            raise ToolProblem(words, "interrupted")
        if reply.outcome == "declined":
            return ToolResult(output=_declined(reply.reason))
        return ToolResult(output=in_words(questions, reply.answers))


def _declined(reason: str) -> str:
    return f"{_DECLINED} They said: {reason}" if reason else _DECLINED


def in_words(questions: Sequence[Question], answers: Sequence[QuestionAnswer]) -> str:
    """Return questions with their answers, as the model reads them."""
    parts = ["The user answered."]
    for number, (question, answer) in enumerate(zip(questions, answers, strict=True), start=1):
        lines = [f"{number}. {question.question}"]
        lines += [f"   - {question.options[at].label}" for at in answer.chosen]
        if answer.text:
            lines.append(f"   In their own words: {answer.text}")
        if len(lines) == 1:
            lines.append("   Not answered: use your own judgement.")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the tool as ``ask_user``."""
    AskUserSettings.read(config)
    tool = AskUserTool(coordinator)
    await coordinator.mount("tools", tool, name=tool.name)
