"""What waits for the user, as an editor asks it, and the editor's answers."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from acp import schema

from amplifier_tui.base.capabilities.questions import Question, QuestionAnswer
from amplifier_tui.base.text import one_line, reveal
from amplifier_tui.cli.acp.calls import (
    code_line,
    kind_of,
    text_of,
    whole_of,
    whole_path,
    words_line,
)
from amplifier_tui.host.client import Decision, QuestionsReply
from amplifier_tui.host.events import MAIN_LANE, ApprovalRequested, LimitAsked, Scope

_DENY: Final = "deny"
_WORDS: Final[dict[Scope, str]] = {
    "once": "Allow this once",
    "session": "Allow {rule} in this session",
    "project": "Allow {rule} in this project",
    "always": "Allow {rule} everywhere",
}


def options_of(request: ApprovalRequested) -> list[schema.PermissionOption]:
    """Return the answers there are; their ids are scopes, and `deny`."""
    rule = one_line(reveal(request.rule), 300) or "this"
    found = [
        schema.PermissionOption(
            option_id=scope,
            name=_WORDS[scope].format(rule=rule),
            kind="allow_once" if scope == "once" else "allow_always",
        )
        for scope in request.scopes
    ]
    return [*found, schema.PermissionOption(option_id=_DENY, name="Deny", kind="reject_once")]


def asked_call(request: ApprovalRequested, cwd: str) -> schema.ToolCallUpdate:
    """Return the call an editor shows with the question; `cwd` is the session's folder."""
    # Beside a diff there is a payload only where the diff is not all of it.
    content = [*whole_of(request.diff), *whole_of(request.payload)]
    return schema.ToolCallUpdate(
        tool_call_id=request.call_id or request.request_id,
        title=one_line(request.action, 200),
        kind=kind_of(request.tool),
        status="pending",
        content=[*content, *text_of("\n\n".join(_about(request)))],
        locations=[schema.ToolCallLocation(path=whole_path(path, cwd)) for path in request.paths],
    )


def _about(request: ApprovalRequested) -> Iterator[str]:
    """Yield what a person decides by beside the call itself, in sentences."""
    said = [request.risk, request.prompt, request.problem, *request.reasons]
    yield f"Risk: {' '.join(f'{words_line(text)}.' for text in said if text)}"
    why = f": {words_line(request.why)}" if request.why else ""
    whose = "" if request.agent == MAIN_LANE else ", for a sub-agent"
    yield f"Asked by {one_line(request.asker, 80)}{whose}{why}."
    if request.cwd:
        outside = "; it reaches outside of the workspace" if request.outside else ""
        yield f"In {code_line(request.cwd)}{outside}."
    if request.rule:
        means = f" ({code_line(request.meaning)})" if request.meaning else ""
        kept = f", in {code_line(request.kept_in)}" if request.kept_in else ""
        network = ", with the network" if request.network else ""
        yield f"Remembering keeps the rule {code_line(request.rule)}{means}{network}{kept}."
    if request.timeout is not None:
        yield f"Without an answer within {request.timeout:g} seconds: {request.default}."


def decision_of(request: ApprovalRequested, outcome: Any) -> Decision:
    """Return the decision an editor's answer means; what is not understood denies."""
    chosen = getattr(outcome, "option_id", "")
    for scope in request.scopes:
        if chosen == scope:
            return Decision(allow=True, scope=scope)
    return Decision(allow=False)


def limit_options() -> list[schema.PermissionOption]:
    """Return the answers to a request that may pass the session's limit."""
    return [
        schema.PermissionOption(option_id="go", name="Send it, this once", kind="allow_once"),
        schema.PermissionOption(option_id=_DENY, name="Stop the turn", kind="reject_once"),
    ]


def asked_limit(asked: LimitAsked) -> schema.ToolCallUpdate:
    """Return the request that may pass the session's limit as a call to be allowed."""
    return schema.ToolCallUpdate(
        tool_call_id=asked.request_id,
        title=asked.said,
        kind="other",
        status="pending",
    )


def plan_options() -> list[schema.PermissionOption]:
    """Return what may become of a plan; the ids are modes, and `deny`."""
    return [
        schema.PermissionOption(
            option_id="edits", name="Do it, edits go through", kind="allow_always"
        ),
        schema.PermissionOption(option_id="ask", name="Do it, and ask", kind="allow_once"),
        schema.PermissionOption(option_id=_DENY, name="Go on planning", kind="reject_once"),
    ]


def form_of(questions: Sequence[Question]) -> schema.ElicitationSchema:
    """Return questions as a form: one field each, named by its number."""
    fields: dict[str, Any] = {}
    for number, question in enumerate(questions):
        title, text = question.header or None, one_line(question.question, 600)
        choices = [
            schema.EnumOption(const=str(at), title=one_line(each.label))
            for at, each in enumerate(question.options)
        ]
        made: Any
        if question.multi_select and choices:
            items = schema.TitledMultiSelectItems(any_of=choices)
            made = schema.ElicitationMultiSelectPropertySchema(
                type="array", items=items, title=title, description=text
            )
        else:
            made = schema.ElicitationStringPropertySchema(
                type="string", one_of=choices or None, title=title, description=text
            )
        fields[str(number)] = made
    return schema.ElicitationSchema(type="object", properties=fields)


def reply_of(questions: Sequence[Question], answer: Any) -> QuestionsReply:
    """Return what an editor's answer to a form means."""
    if getattr(answer, "action", "") != "accept":
        return QuestionsReply("declined")
    content = answer.content if isinstance(answer.content, dict) else {}
    return QuestionsReply(
        "answered",
        tuple(_answer(question, content.get(str(at))) for at, question in enumerate(questions)),
    )


def _answer(question: Question, value: Any) -> QuestionAnswer:
    known = {str(at): at for at in range(len(question.options))}
    values = value if isinstance(value, list) else [value]
    chosen = tuple(known[each] for each in values if isinstance(each, str) and each in known)
    if chosen or not isinstance(value, str):
        return QuestionAnswer(chosen)
    return QuestionAnswer(text=value)
