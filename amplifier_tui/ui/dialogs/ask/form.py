"""What the user has answered so far to the questions of an agent, and the rows that show it."""

from textual.content import Content

from amplifier_tui.base.capabilities.questions import Question, QuestionAnswer
from amplifier_tui.base.text import clean, one_line
from amplifier_tui.host.events import QuestionsAsked
from amplifier_tui.ui.widgets.pick_list import PickRow
from amplifier_tui.ui.widgets.question_strip import strip_row

WORDS = "words"
"""Id of the row for the user's own words."""
_LONGEST = 600
_INDENT = 8


class AskForm:
    """The questions of one request and their answers; kept while they are put off.

    Attributes:
        at: The question that is shown, from 0.
        words: The user's own words to each question.
    """

    def __init__(self, asked: QuestionsAsked) -> None:
        self.asked = asked
        self.at = 0
        self.words = [""] * len(asked.questions)
        self._chosen: list[set[int]] = [set() for _ in asked.questions]

    @property
    def question(self) -> Question:
        """The question that is shown."""
        return self.asked.questions[self.at]

    @property
    def is_open(self) -> bool:
        """Whether the one that is shown has no options: the user's own words are its answer."""
        return not self.question.options

    @property
    def is_last(self) -> bool:
        """Whether no question follows."""
        return self.at == len(self.asked.questions) - 1

    def step(self, by: int) -> None:
        """Go so many questions on, from the last to the first."""
        self.at = (self.at + by) % len(self.asked.questions)

    def choose(self, option: int) -> None:
        """Choose an option, or no longer; where one is asked for, in place of another."""
        chosen = self._chosen[self.at]
        chosen ^= {option}
        if not self.question.multi_select:
            chosen &= {option}

    def is_chosen(self, option: int) -> bool:
        """Whether an option of the question that is shown is chosen."""
        return option in self._chosen[self.at]

    def is_answered(self, at: int) -> bool:
        """Whether there is an answer to a question."""
        return bool(self._chosen[at] or self.words[at].strip())

    @property
    def others_left(self) -> int:
        """How many of the questions that are not shown have no answer."""
        every = range(len(self.asked.questions))
        return sum(at != self.at and not self.is_answered(at) for at in every)

    @property
    def answers(self) -> tuple[QuestionAnswer, ...]:
        """The answers, empty where there is none."""
        return tuple(
            QuestionAnswer(tuple(sorted(chosen)), words.strip())
            for chosen, words in zip(self._chosen, self.words, strict=True)
        )


def tabs(form: AskForm) -> Content:
    """Return the names of the questions: the one that is shown, and which are answered."""
    parts: list[Content] = []
    for at, question in enumerate(form.asked.questions):
        name = one_line(question.header, 40) or f"Question {at + 1}"
        mark = "✓ " if form.is_answered(at) else ""
        here = "$primary bold" if at == form.at else "$text-muted"
        parts.append(Content.assemble((mark, "$text-success"), (name, here)))
    return Content("   ").join(parts)


def ask_rows(form: AskForm, width: int, key: str) -> list[PickRow]:
    """Return the question and its options in rows of `width` cells, nothing of them cut.

    `key` leads to the user's own words; where these are the only answer no row is for them.
    """
    question = form.question
    text = Content.styled(clean(question.question)[:_LONGEST], "bold")
    rows = [PickRow("", line) for line in _wrapped(text, width)]
    if form.is_open:
        return rows
    rows.append(PickRow("", Content()))
    marks = ("[x]", "[ ]") if question.multi_select else ("(●)", "( )")
    for at, option in enumerate(question.options):
        label = Content.styled(one_line(option.label, _LONGEST), "bold")
        about = one_line(option.description, _LONGEST)
        if about:
            label = Content.assemble(label, ("  " + about, "$text-muted"))
        mark = marks[0] if form.is_chosen(at) else marks[1]
        rows += _hanging(f" {at + 1}  {mark} ", label, str(at), width)
    words = one_line(form.words[form.at], _LONGEST)
    shown = Content(words) if words else Content.styled("In your own words", "$text-muted")
    # What was written goes along with an option, also where only one of them can be chosen.
    beside = not question.multi_select and any(map(form.is_chosen, range(len(question.options))))
    mark = ("(+) " if beside else f"{marks[0]} ") if words else "    "
    lead = f" {key}  {mark}"
    return [*rows, *_hanging(lead, shown, WORDS, width)]


def _hanging(lead: str, text: Content, row_id: str, width: int) -> list[PickRow]:
    """Return a text with something before its first row, the cursor stopping at that."""
    lead = lead.ljust(_INDENT if len(lead) > _INDENT // 2 else 0)
    first, *more = _wrapped(text, max(8, width - len(lead)))
    rows = [PickRow(row_id, Content.assemble((lead, "$text-secondary"), first))]
    indent = " " * len(lead)
    return rows + [PickRow("", Content.assemble(indent, line), goes_on=True) for line in more]


def _wrapped(text: Content, width: int) -> list[Content]:
    return text.wrap(max(8, width)) or [Content()]


def strip(form: AskForm, who: str, key: str, count: int, width: int) -> Content:
    """Return the row of `width` cells that says what waits; `key` opens one of `count`."""
    words = one_line(form.question.question, 300)
    left = Content.assemble(("? ", "$text-secondary bold"), f"{who}: ", (words, "$text-muted"))
    return strip_row(left, [], key, count, width)


def asker(name: str) -> str:
    """Return who asks, in words; empty for the main agent."""
    return f"{one_line(name, 40)} asks" if name else "The agent asks"
