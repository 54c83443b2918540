import asyncio
import json
import sys
from types import FrameType, SimpleNamespace
from typing import Any

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_tui.kernel.message_models import (
    Message,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from amplifier_tui.modules.provider_openai.chat_request import prepare_chat
from amplifier_tui.modules.provider_openai.errors import OpenAIErrors
from amplifier_tui.modules.provider_openai.responses_answer import ResponsesAnswer
from amplifier_tui.modules.provider_openai.responses_request import prepare_responses
from amplifier_tui.modules.provider_openai.settings import OpenAISettings
from tests.modules.provider_openai.support import APIS, gpt
from tests.modules.provider_strategies import HISTORIES, IMAGE, PDF
from tests.modules.provider_support import READ_FILE, ask, assistant, tool, user
from tests.servers import Text, Thinking, ToolUse, reply
from tests.servers.checks_openai import chat_violation, responses_violation

CALL = ToolCallBlock(id="call_a", name="read_file", input={"path": "a.py"})
SYSTEM = Message(role="system", content="You are brief.")
LOCAL = {"base_url": "http://127.0.0.1:1/v1"}


def chat(
    *messages: Any, config: dict[str, Any] | None = None, model: str = "m", **options: Any
) -> dict[str, Any]:
    """The chat request as it would be sent, refused here if the vendor would refuse it."""
    chosen = OpenAISettings.model_validate(config or {})
    sent = prepare_chat(ask(*messages, **options), chosen, model, "key").arguments
    assert chat_violation({**sent, "stream": chosen.stream}) is None
    return sent


def responses(
    *messages: Any, config: dict[str, Any] | None = None, model: str = "m", **options: Any
) -> dict[str, Any]:
    """The Responses request as it would be sent, refused here if the vendor would refuse it."""
    chosen = OpenAISettings.model_validate(config or {})
    sent = prepare_responses(ask(*messages, **options), chosen, model, "key").arguments
    assert responses_violation(sent) is None
    return sent


async def test_responses_get_reasoning_and_calls_back_as_they_were() -> None:
    first = reply(
        Thinking("Look first.", signature="encrypted"),
        "Reading.",
        ToolUse("read_file", {"path": "a.py"}, id="call_a"),
    )
    config = {"default_model": "gpt-6-astra"}
    async with gpt(first, "Done.", api="responses", config=config) as (provider, server, _):
        answer = await provider.complete(ask("Read it", tools=[READ_FILE]))
        stored = [block.model_dump(mode="json") for block in answer.content]
        history = [user("Read it"), Message(role="assistant", content=stored), tool("call_a", "A")]
        await provider.complete(ask(*history, tools=[READ_FILE]))
        sent = (await server.request(1)).json
    reasoning, message, call, output = sent["input"][1:]
    assert answer.content[0].content == ["encrypted", reasoning["id"]]
    assert reasoning["id"].startswith("rs_")
    assert reasoning == {
        "type": "reasoning",
        "id": reasoning["id"],
        "summary": [{"type": "summary_text", "text": "Look first."}],
        "encrypted_content": "encrypted",
    }
    assert message == {"type": "message", "role": "assistant", "content": "Reading."}
    assert call["call_id"] == output["call_id"] == "call_a"
    assert json.loads(call["arguments"]) == {"path": "a.py"}
    assert output["output"] == "A"
    assert sent["store"] is False
    assert sent["include"] == ["reasoning.encrypted_content"]


def test_the_parts_of_a_summary_go_back_as_they_were() -> None:
    told = [SimpleNamespace(text=text) for text in ("**One**\n", "**Two**")]
    item = SimpleNamespace(type="reasoning", id="rs_1", summary=told, encrypted_content="e")
    answer = ResponsesAnswer("m", {}, OpenAIErrors(openai, OpenAISettings(), "m"))
    asyncio.run(answer.read_whole(SimpleNamespace(status="completed", output=[item])))
    (thought,) = answer.response().content
    assert thought.thinking == "**One**\n\n\n**Two**"
    stored = thought.model_dump(mode="json")
    sent = responses(
        "Hi",
        Message(role="assistant", content=[stored, TextBlock(text="Ok")]),
        "Go",
        model="gpt-6-astra",
    )
    assert sent["input"][1]["summary"] == [
        {"type": "summary_text", "text": "**One**\n"},
        {"type": "summary_text", "text": "**Two**"},
    ]


def test_a_model_that_does_not_reason_gets_no_reasoning_of_the_one_before() -> None:
    thought = ThinkingBlock(thinking="Hm.", content=["encrypted", "rs_1"])
    history = ("Hi", assistant([thought, TextBlock(text="Ok")]), "Go on")
    sent = responses(*history, model="gpt-4.1", config={"effort": "high"})
    assert [item.get("role") for item in sent["input"]] == ["user", "assistant", "user"]
    assert "reasoning" not in sent
    assert "reasoning_effort" not in chat("Hi", model="gpt-4o", config={"effort": "high"})
    assert chat("Hi", model="local", config={"effort": "low", **LOCAL})["reasoning_effort"] == "low"


async def test_a_local_servers_reasoning_goes_back_within_the_tool_turn_only() -> None:
    first = reply(Thinking("Look first."), ToolUse("read_file", {"path": "a.py"}, id="call_a"))
    async with gpt(first, "Done.", "Bye.", server={"reasoning_field": "reasoning"}) as (
        provider,
        server,
        _,
    ):
        answer = await provider.complete(ask("Read it", tools=[READ_FILE]))
        stored = [block.model_dump(mode="json") for block in answer.content]
        history = [user("Read it"), Message(role="assistant", content=stored), tool("call_a", "A")]
        await provider.complete(ask(*history, tools=[READ_FILE]))
        await provider.complete(ask(*history, assistant("Done."), "Thanks", tools=[READ_FILE]))
        within, after = (server.requests[number].json["messages"] for number in (1, 2))
    assert within[1]["reasoning"] == "Look first."
    assert within[1]["content"] is None
    assert within[1]["tool_calls"][0]["function"]["arguments"] == '{"path": "a.py"}'
    assert within[2] == {"role": "tool", "tool_call_id": "call_a", "content": "A"}
    assert "reasoning" not in after[1]


async def test_the_phase_of_a_message_goes_back_with_it() -> None:
    block = TextBlock.model_validate({"text": "On it.", "phase": "commentary"})
    sent = responses("Hi", assistant([block]), "Go on")
    assert sent["input"][1]["phase"] == "commentary"


def test_system_messages_go_where_each_api_wants_them() -> None:
    assert responses(SYSTEM, "Hi")["instructions"] == "You are brief."
    sent = chat(SYSTEM, Message(role="system", content="Kind."), "Hi")["messages"]
    assert sent[0] == {"role": "system", "content": "You are brief.\n\nKind."}
    assert [message["role"] for message in sent] == ["system", "user"]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_later_instruction_keeps_its_role_and_place_with_openai(role: Any) -> None:
    late = Message(role=role, content="Be quick.")
    sent = chat(SYSTEM, "Hi", assistant("Hello"), "Go on", late)["messages"]
    assert sent[-2:] == [
        {"role": "user", "content": "Go on"},
        {"role": role, "content": "Be quick."},
    ]
    items = responses(SYSTEM, "Hi", assistant("Hello"), "Go on", late)["input"]
    assert [item["role"] for item in items] == ["user", "assistant", "user", role]
    assert items[-1]["content"] == [{"type": "input_text", "text": "Be quick."}]


@pytest.mark.parametrize(
    ("role", "element"), [("system", "system-reminder"), ("developer", "developer")]
)
def test_with_other_servers_a_later_instruction_is_a_part_beside_the_users_words(
    role: Any, element: str
) -> None:
    late = Message(role=role, content="Be quick.")
    local = {"base_url": "http://localhost:1/v1"}
    sent = chat(SYSTEM, "Hi", assistant("Hello"), "Go on", late, config=local)["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert [part["text"] for part in sent[-1]["content"]] == [
        "Go on",
        f"<{element}>\nBe quick.\n</{element}>",
    ]


def test_images_are_sent_in_each_apis_way() -> None:
    url = "data:image/png;base64,eA=="
    assert chat([TextBlock(text="see"), IMAGE][0].text, user([IMAGE]))["messages"][0][
        "content"
    ] == [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}]
    assert responses(user([IMAGE]))["input"][0]["content"] == [
        {"type": "input_image", "image_url": url, "detail": "auto"}
    ]


def test_a_pdf_is_a_file_and_a_note_where_the_server_takes_none() -> None:
    url = "data:application/pdf;base64,JVBERi0="
    history = ("Hi", assistant([CALL]), tool("call_a", [TextBlock(text="see"), PDF]))
    (output,) = [i for i in responses(*history)["input"] if i["type"] == "function_call_output"]
    file = {"type": "input_file", "filename": "document.pdf", "file_data": url}
    assert output["output"] == [{"type": "input_text", "text": "see"}, file]
    at_openai = chat(user([PDF]))["messages"][0]["content"]
    assert at_openai == [{"type": "file", "file": {"filename": "document.pdf", "file_data": url}}]
    elsewhere = chat(*history, config={"base_url": "http://localhost:1/v1"})["messages"]
    assert "which this server does not take" in str(elsewhere[-1]["content"])
    assert "JVBERi0=" not in str(elsewhere)


def test_images_of_tool_results_follow_the_results_in_chat() -> None:
    other = ToolCallBlock(id="call_b", name="read_file", input={})
    history = (
        "Hi",
        assistant([CALL, other]),
        tool("call_a", [TextBlock(text="see"), IMAGE]),
        tool("call_b", "B"),
        "Go on",
    )
    sent = chat(*history)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert sent[2]["content"] == "see"
    kinds = [part["type"] for part in sent[4]["content"]]
    assert kinds == ["text", "image_url", "text"]
    output = responses(*history)["input"][3]["output"]
    assert [part["type"] for part in output] == ["input_text", "input_image"]


@pytest.mark.parametrize("build", [chat, responses])
def test_calls_and_results_are_put_in_order(build: Any) -> None:
    sent = build(
        "Hi",
        assistant([CALL]),
        "Hurry",
        tool("call_a", "A"),
        tool("gone", "lost words"),
        assistant([ToolCallBlock(id="call_c", name="read_file", input={})]),
        "Never mind",
    )
    text = json.dumps(sent, ensure_ascii=False)
    assert text.index('"A"') < text.index("Hurry") < text.index("lost words")
    assert text.index("interrupted") < text.index("Never mind")


async def test_repairs_are_told_once_each() -> None:
    history = [user("Hi"), assistant([CALL]), user("Well?")]
    async with gpt("One.", "Two.") as (provider, _, heard):
        await provider.complete(ask(*history))
        await provider.complete(ask(*history))
    (told,) = heard.of("provider:tool_sequence_repaired")
    assert told["repairs"] == [
        {"kind": "missing_result", "tool_call_id": "call_a", "tool_name": "read_file"}
    ]


def test_a_local_server_gets_its_own_ids_back_and_openai_acceptable_ones() -> None:
    call = ToolCallBlock(id="functions.read:0", name="read_file", input={})
    history = ("Hi", assistant([call]), tool("functions.read:0", "x"))
    local = chat(*history, config=LOCAL)["messages"]
    assert local[1]["tool_calls"][0]["id"] == local[2]["tool_call_id"] == "functions.read:0"
    long = ToolCallBlock(id="x" * 80, name="read_file", input={})
    sent = chat("Hi", assistant([long]), tool("x" * 80, "y"))["messages"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] == "x" * 40


def test_openai_and_compatible_servers_get_the_limit_under_the_name_they_know() -> None:
    assert chat("Hi", max_output_tokens=9)["max_completion_tokens"] == 9
    local = chat("Hi", max_output_tokens=9, config=LOCAL)
    assert local["max_tokens"] == 9
    assert "max_completion_tokens" not in local
    assert "prompt_cache_key" not in local
    assert "max_tokens" not in chat("Hi", config=LOCAL)
    assert responses("Hi", max_output_tokens=9)["max_output_tokens"] == 9


def test_reasoning_models_get_reasoning_options_and_others_none() -> None:
    thinking = responses("Hi", model="gpt-6-astra", temperature=0.3)
    assert thinking["reasoning"] == {"summary": "auto"}
    assert "temperature" not in thinking
    plain = responses("Hi", model="gpt-4.1", temperature=0.3)
    assert "reasoning" not in plain
    assert "include" not in plain
    assert plain["temperature"] == 0.3
    asked = responses("Hi", model="gpt-6-astra", reasoning_effort="high")
    assert asked["reasoning"] == {"effort": "high", "summary": "auto"}
    assert chat("Hi", model="gpt-6-astra", config={"effort": "low"})["reasoning_effort"] == "low"
    assert chat("Hi", model="gpt-6-astra", config={"temperature": 0})["temperature"] == 0


@pytest.mark.parametrize(
    ("choice", "in_chat", "in_responses"),
    [
        ("auto", "auto", "auto"),
        ("any", "required", "required"),
        ({"type": "any"}, "required", "required"),
        (
            "read_file",
            {"type": "function", "function": {"name": "read_file"}},
            {"type": "function", "name": "read_file"},
        ),
        (
            {"type": "tool", "name": "read_file"},
            {"type": "function", "function": {"name": "read_file"}},
            {"type": "function", "name": "read_file"},
        ),
        (
            {"type": "function", "function": {"name": "read_file"}},
            {"type": "function", "function": {"name": "read_file"}},
            {"type": "function", "name": "read_file"},
        ),
    ],
)
def test_tool_choices_of_either_vendor_are_understood(
    choice: Any, in_chat: Any, in_responses: Any
) -> None:
    assert chat("Hi", tools=[READ_FILE], tool_choice=choice)["tool_choice"] == in_chat
    assert responses("Hi", tools=[READ_FILE], tool_choice=choice)["tool_choice"] == in_responses


def test_response_formats_are_translated() -> None:
    schema = ResponseFormatJsonSchema(json_schema={"type": "object"}, strict=True)
    named = {"name": "response", "schema": {"type": "object"}, "strict": True}
    assert chat("Hi", response_format=schema)["response_format"] == {
        "type": "json_schema",
        "json_schema": named,
    }
    assert responses("Hi", response_format=schema)["text"] == {
        "format": {"type": "json_schema", **named}
    }
    wanted = ResponseFormatJson()
    assert chat("Hi", response_format=wanted)["response_format"] == {"type": "json_object"}
    assert responses("Hi", response_format=wanted)["text"] == {"format": {"type": "json_object"}}


async def test_stop_sequences_are_sent_where_they_exist_and_degraded_where_not() -> None:
    assert chat("Hi", stop=["END"])["stop"] == ["END"]
    async with gpt("Hi.", api="responses") as (provider, server, _):
        response = await provider.complete(ask(stop=["END"]))
    assert response.degradation.requested == "stop sequences"
    assert "stop" not in server.requests[0].json


def test_thinking_of_other_vendors_is_left_out() -> None:
    foreign = [ThinkingBlock(thinking="signed", signature="sig"), TextBlock(text="Hello")]
    assert "signed" not in str(chat("Hi", assistant(foreign), "Go on"))
    assert "signed" not in str(responses("Hi", assistant(foreign), "Go on"))


@pytest.mark.parametrize("build", [chat, responses])
def test_a_conversation_the_assistant_ended_goes_on(build: Any) -> None:
    assert "Continue." in str(build("Hi", assistant("Half an ans")))


async def test_a_tool_name_with_a_dot_comes_back_as_it_was() -> None:
    spec = READ_FILE.model_copy(update={"name": "fs.read"})
    for api in APIS:
        async with gpt(reply(ToolUse("fs_read", {})), api=api) as (provider, _, heard):
            response = await provider.complete(ask(tools=[spec]))
        assert response.tool_calls[0].name == "fs.read"
        assert heard.of("llm:stream_block_start")[0]["name"] == "fs.read"


async def test_openai_learns_which_requests_belong_together() -> None:
    assert chat("Hi")["prompt_cache_key"] == "key"
    async with gpt("Hi.", api="responses") as (provider, _, _heard):
        assert provider._cache_key(ask()) == "s-1"
        assert provider._cache_key(ask(conversation_id="c")) == "c"


async def test_a_raw_session_shows_the_request_without_secrets() -> None:
    async with gpt(reply(Text("Hi.")), raw=True) as (provider, _, heard):
        await provider.complete(ask("the prompt"))
    (data,) = heard.of("llm:request")
    assert data["raw"]["messages"] == [{"role": "user", "content": "the prompt"}]


@pytest.mark.parametrize(("api", "part"), [("chat", "messages"), ("responses", "input")])
async def test_a_long_conversation_takes_the_sdk_no_longer_than_a_short_one(
    api: str, part: str
) -> None:
    calls: list[int] = []

    def count(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_filename.endswith("_transform.py"):
            calls[-1] += 1

    for turns in (1, 40):
        async with gpt(reply(Text("Hi.")), api=api) as (provider, server, _):
            request = ask(*[user("Go on."), assistant("Well.")] * turns, "And?", tools=[READ_FILE])
            calls.append(0)
            sys.setprofile(count)
            try:
                await provider.complete(request)
            finally:
                sys.setprofile(None)
        sent = server.requests[0].json
        assert len(sent[part]) == 2 * turns + 1 and len(sent["tools"]) == 1
    assert calls[1] <= calls[0]


@pytest.mark.parametrize("build", [chat, responses])
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES, st.sampled_from([{}, LOCAL]))
def test_whatever_the_history_the_request_is_one_the_api_accepts(
    build: Any, messages: list[Message], config: dict[str, Any]
) -> None:
    sent = build(*messages, config=config, tools=[READ_FILE])
    json.dumps(sent, ensure_ascii=False).encode()
