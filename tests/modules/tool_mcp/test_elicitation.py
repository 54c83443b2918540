"""What servers ask of the user, in words that can't mislead."""

from typing import Any

import pytest

from amplifier_tui.base.capabilities.questions import Question, QuestionAnswer, QuestionsReply
from amplifier_tui.modules.tool_mcp.elicitation import Elicited, ask_form, ask_to_open, may_sign_in


class User:
    """Says yes to everything."""

    def __init__(self) -> None:
        self.read: list[str] = []

    async def __call__(self, questions: tuple[Question, ...]) -> QuestionsReply:
        self.read += [each.question for each in questions]
        return QuestionsReply("answered", tuple(QuestionAnswer((0,)) for _ in questions))


async def test_where_one_signs_in_is_where_the_browser_goes() -> None:
    user = User()
    named = "accounts.example.com" + "-" * 400
    assert await may_sign_in("sample", f"https://{named}@elsewhere.example:81/x", user)
    assert "to sign in at elsewhere.example:81?" in user.read[0]


async def test_an_address_to_open_is_shown_however_much_a_server_says() -> None:
    user = User()
    said = "Go to https://example.com/, please. " * 40
    answer = await ask_to_open("sample", said, "https://elsewhere.example/x", user)
    assert answer.action == "accept"
    assert "if you trust it: https://elsewhere.example/x — Go to" in user.read[0]


@pytest.mark.parametrize("required", [3, [{}], {"a": 1}, None])
async def test_a_form_that_needs_what_makes_no_sense_is_asked_all_the_same(required: Any) -> None:
    schema = {"properties": {"sure": {"type": "boolean"}}, "required": required}
    assert await ask_form("sample", "", schema, User()) == Elicited("accept", {"sure": True})
