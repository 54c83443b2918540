"""What a session asks of the user, as numbered questions that answer through the client."""

from collections.abc import Callable
from functools import partial
from typing import Final

from amplifier_tui.base.text import one_line, reveal
from amplifier_tui.cli.plain.changing import Asking, CallChange
from amplifier_tui.cli.plain.choices import (
    Next,
    NumberedChoice,
    NumberedQuestion,
    Words,
    quoted,
)
from amplifier_tui.host.client import (
    Decision,
    QuestionAnswer,
    QuestionsReply,
    Remember,
    SessionClient,
    TrustDecision,
)
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    LimitAsked,
    Mode,
    QuestionsAsked,
    Scope,
    TrustAsked,
)

_SCOPES: Final[dict[Scope, str]] = {
    "once": "Allow just now",
    "session": "Allow, and also later in this session",
    "project": "Allow, and also later in this project",
    "always": "Allow, and also later everywhere",
}
_TRUST_HEADS: Final = {
    "code": "Code that would be fetched, installed and run",
    "skills": "Instructions the model may follow, and their scripts",
    "power": "Setting of what guards you",
    "files": "File outside of the project",
    "keys": "Would get a key",
}
_NOBODY: Final = "nobody can be asked"


def approval(asking: Asking, asked: ApprovalRequested) -> NumberedQuestion:
    """Ask about a tool call, with all of what would be done and why it is asked."""
    client = asking.client

    def decide(allow: bool, scope: Scope = "once", reason: str = "") -> Next:
        client.decide(asked.request_id, Decision(allow=allow, scope=scope, reason=reason))
        return None

    def give_up() -> Next:
        unasked = Decision(allow=False, reason=_NOBODY, unasked=True)
        client.decide(asked.request_id, unasked)
        return None

    def question(
        lines: list[str], *choices: NumberedChoice, words: Words | None = None
    ) -> NumberedQuestion:
        return NumberedQuestion(
            lines,
            choices,
            request_id=asked.request_id,
            given_up=give_up,
            words=words,
            began=asked.began,
        )

    deny = NumberedChoice("Deny", partial(decide, False))

    def allow(scope: Scope) -> Next:
        if asked.risk != "critical":
            return decide(True, scope)
        sure = NumberedChoice("Allow it all the same", partial(decide, True, scope))
        return question(["The risk is critical."], deny, sure)

    def reasoned() -> Next:
        return question(["Why not?"], words=lambda text: decide(False, reason=text.strip()))

    choices = [
        NumberedChoice(_SCOPES[scope] + _remembered(asked, scope), partial(allow, scope))
        for scope in asked.scopes
    ]
    choices += [deny, NumberedChoice("Deny, and say why", reasoned)]
    if asked.editable:
        change = CallChange(asking, asked.request_id, give_up, lambda: approval(asking, asked))
        choices.append(NumberedChoice("Change the call first", change.begin))
    lines = approval_lines(asked)
    if asked.timeout is not None:
        lines.append("An empty line stops that clock, and says the question again.")
    return question(lines, *choices)


def _remembered(asked: ApprovalRequested, scope: Scope) -> str:
    """Return the rule that would be kept, what it speaks of, and where."""
    if scope == "once":
        return ""
    means = f" ({asked.meaning})" if asked.meaning not in ("", asked.rule) else ""
    kept = f", kept in {asked.kept_in}" if asked.kept_in and scope != "session" else ""
    network = ", with the network" if asked.network else ""
    return f": {asked.rule}{means}{network}{kept}"


def approval_lines(asked: ApprovalRequested) -> list[str]:
    """Return all that a person decides by; what is foreign is marked at the head of each line."""
    who = "" if asked.agent == MAIN_LANE else " (a sub-agent)"
    reasons = f": {', '.join(asked.reasons)}" if asked.reasons else ""
    lines = [f"Approval: {asked.action}{who}", f"It says: {asked.prompt}" if asked.prompt else ""]
    lines += quoted(asked.payload)
    if len(asked.segments) > 1:
        lines.append(f"These are {len(asked.segments)} commands:")
    for part in asked.segments if asked.payload_kind == "command" else ():
        lines += quoted(part.text) if len(asked.segments) > 1 else []
        lines.append(f"  {part.note}" if part.note else "")
    lines += quoted(asked.diff)
    lines += [
        f"In {asked.cwd}" if asked.cwd else "",
        f"Touches {', '.join(asked.paths)}" if asked.paths else "",
        "Outside of the workspace" if asked.outside else "",
        f"It would fail: {asked.problem}" if asked.problem else "",
        f"Asked by: {asked.asker}" if asked.asker else "",
        f"Asked because: {asked.why}" if asked.why else "",
        f"It offers: {', '.join(asked.options)} (only Allow grants)" if asked.options else "",
        f"Risk: {asked.risk}{reasons}",
    ]
    if asked.timeout is not None:
        lines.append(f"Without an answer within {asked.timeout:g} seconds: {asked.default}")
    return [line for line in lines if line.strip()]


def from_agent(
    client: SessionClient, asked: QuestionsAsked, given: tuple[QuestionAnswer, ...] = ()
) -> NumberedQuestion:
    """Ask the first thing an agent asks that has no answer yet; the others follow."""
    question = asked.questions[len(given)]

    def then(answer: QuestionAnswer) -> Next:
        answers = (*given, answer)
        if len(answers) < len(asked.questions):
            return from_agent(client, asked, answers)
        client.answer_questions(asked.request_id, QuestionsReply("answered", answers))
        return None

    def choose(*chosen: int) -> Next:
        return then(QuestionAnswer(chosen))

    choices = [
        NumberedChoice(
            f"{option.label}: {option.description}" if option.description else option.label,
            partial(choose, number),
        )
        for number, option in enumerate(question.options)
    ]
    return NumberedQuestion(
        [f"The agent asks: {question.question}"],
        choices,
        request_id=asked.request_id,
        given_up=partial(client.answer_questions, asked.request_id, QuestionsReply("unavailable")),
        words=lambda text: then(QuestionAnswer(text=text.strip())),
        several=choose if question.multi_select else None,
    )


def plan(carry_out: Callable[[Mode], None], words: Words) -> NumberedQuestion:
    """Ask what becomes of a plan; own words go on with it."""

    def go(mode: Mode) -> Next:
        carry_out(mode)
        return None

    return NumberedQuestion(
        ["Do what the plan says?"],
        [
            NumberedChoice("Do it, and ask before files are written", partial(go, "ask")),
            NumberedChoice("Do it; edits go through", partial(go, "edits")),
            NumberedChoice("Go on planning", lambda: None),
        ],
        request_id="",
        given_up=lambda: None,
        words=words,
    )


def limit(client: SessionClient, asked: LimitAsked) -> NumberedQuestion:
    """Ask about a request that may pass the session's limit."""

    def answer(go: bool) -> Next:
        client.answer_limit(asked.request_id, go=go)
        return None

    return NumberedQuestion(
        [f"{asked.said}."],
        [
            NumberedChoice("Let it go, this once", partial(answer, True)),
            NumberedChoice("Stop the turn", partial(answer, False)),
        ],
        request_id=asked.request_id,
        given_up=partial(answer, False),
    )


def leave_out(asking: Asking, asked: TrustAsked) -> None:
    """Let nothing of a project's or a stranger's count, and say so."""
    asking.client.answer_trust(asked.request_id, TrustDecision(unasked=True))
    names = ", ".join(one_line(reveal(item.title), 100) for item in asked.items)
    asking.say(f"Not used without your trust: {names}.")
    asking.say("To be asked, open it at a terminal; --trust lets all of it count.")


def trust(client: SessionClient, asked: TrustAsked) -> NumberedQuestion:
    """Ask what of a project's or a stranger's may count: all, some or none."""

    def decide(
        accepted: frozenset[str] = frozenset(), remember: Remember = "run", cancel: bool = False
    ) -> Next:
        decision = TrustDecision(accepted=accepted, remember=remember, cancelled=cancel)
        client.answer_trust(asked.request_id, decision)
        return None

    def question(lines: list[str], *choices: NumberedChoice) -> NumberedQuestion:
        return NumberedQuestion(lines, choices, request_id=asked.request_id, given_up=decide)

    def one_by_one(at: int, accepted: frozenset[str]) -> Next:
        if at == len(asked.items):
            return decide(accepted, "session")
        item = asked.items[at]
        return question(
            [f"{at + 1} of {len(asked.items)}: {item.title}"],
            NumberedChoice("Use it", partial(one_by_one, at + 1, accepted | {item.key})),
            NumberedChoice("Leave it out", partial(one_by_one, at + 1, accepted)),
        )

    lines = [asked.title]
    for item in asked.items:
        lines.append(f"{_TRUST_HEADS[item.group]}: {item.title}")
        lines += [line for text in (item.detail, item.where) for line in quoted(text)]
    every = frozenset(item.key for item in asked.items)
    return question(
        lines,
        NumberedChoice("Open without any of it", decide),
        NumberedChoice("Use all of it in this session", partial(decide, every, "session")),
        NumberedChoice("Use all of it, also later", partial(decide, every, "always")),
        NumberedChoice("Choose one by one, for this session", partial(one_by_one, 0, frozenset())),
        NumberedChoice("Do not open", partial(decide, cancel=True)),
    )
