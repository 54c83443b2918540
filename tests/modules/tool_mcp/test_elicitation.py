"""What servers ask of the user, in words that can't mislead."""

import asyncio
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.base.capabilities.questions import Question, QuestionAnswer, QuestionsReply
from amplifier_tui.base.files import locked
from amplifier_tui.modules.tool_mcp.callbacks import ServerCallbacks
from amplifier_tui.modules.tool_mcp.elicitation import (
    MOST_A_MINUTE,
    AskingLimit,
    Elicited,
    ask_form,
    ask_to_open,
    may_sign_in,
)


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


def test_a_server_asks_a_few_times_a_minute_and_no_more() -> None:
    now = [0.0]
    limit = AskingLimit(lambda: now[0])
    assert [limit.take() for _ in range(MOST_A_MINUTE + 2)] == [True] * MOST_A_MINUTE + [False] * 2
    now[0] = 59.9
    assert not limit.take()
    now[0] = 60.0
    assert limit.take()


def page(prompts: list[str], after: str | None) -> SimpleNamespace:
    found = [SimpleNamespace(name=name, arguments=None, description="") for name in prompts]
    return SimpleNamespace(prompts=found, next_cursor=after)


async def test_prompts_of_every_page_are_known_and_pages_without_end_are_not_read() -> None:
    from amplifier_tui.modules.tool_mcp.protocol.client import MOST_OTHERS, ServerClient

    pages = {None: page(["one"], "2"), "2": page(["two"], None)}

    async def two(cursor: str | None) -> SimpleNamespace:
        return pages[cursor]

    asked: list[str | None] = []

    async def endless(cursor: str | None) -> SimpleNamespace:
        asked.append(cursor)
        return page(["again"], "on")

    can = SimpleNamespace(tools=None, prompts=True, resources=None)
    for listing, count in ((two, 2), (endless, None)):
        client: Any = SimpleNamespace(server_capabilities=can, list_prompts=listing)
        found = (await ServerClient(client, "x").listing()).prompts
        assert len(found) == (count or len(asked)) <= MOST_OTHERS
    assert 1 < len(asked) <= 1_000


async def test_only_the_page_that_knows_the_state_ends_the_wait_for_a_sign_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sign_in = import_module("amplifier_tui.modules.tool_mcp.protocol.sign_in")
    monkeypatch.setattr(sign_in, "_browse", lambda url: None)
    ask = User()

    async def logged(level: str, text: str) -> None:
        raise AssertionError(text)

    callbacks = ServerCallbacks(
        wrote=lambda text: None,
        logged=logged,
        changed=lambda: None,
        closed=lambda why: None,
        ask=lambda: ask,
        patient=lambda seconds: None,
    )
    browser = sign_in._Browser("sample", sign_in._free_port(), callbacks)
    await browser.open("https://accounts.example.com/authorize?state=s3cr3t&x=1")
    waiting = asyncio.create_task(browser.wait())
    for query in (
        "code=evil&state=guessed",
        "error=denied",
        "code=evil",
        "code=right&state=s3cr3t",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", browser.port)
        writer.write(f"GET /callback?{query} HTTP/1.1\r\n\r\n".encode())
        await reader.read()
        writer.close()
    assert (await waiting).code == "right"


async def test_two_windows_that_keep_something_of_one_server_keep_both(own_home: Path) -> None:
    from mcp.shared.auth import OAuthToken

    from amplifier_tui.modules.tool_mcp.protocol.sign_in import TokenFile

    file = TokenFile("sample", "https://example.com/mcp")
    token = OAuthToken(access_token="t", token_type="Bearer")
    file.path.parent.mkdir(parents=True)
    with locked(file.path):
        keeping = asyncio.create_task(file.set_tokens(token))
        # Another window has read the file, and is about to write it.
        while not keeping.done() and not file.path.exists():
            _, pending = await asyncio.wait([keeping], timeout=0.05)
            if pending:
                break
        file.path.write_text('{"client": {"client_id": "c"}}')
    await keeping
    assert await file.get_tokens() == token
    assert "client_id" in file.path.read_text()
