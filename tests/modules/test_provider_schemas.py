"""Schemas of tools, which come from anybody, in a form that no API refuses."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from amplifier_tui.kernel.message_models import ToolSpec
from tests.modules.provider_anthropic.support import claude
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import ask
from tests.servers import LoopbackServer

Case = Callable[..., AbstractAsyncContextManager[tuple[Any, LoopbackServer, Any]]]
TEXT = {"type": "string"}


@asynccontextmanager
async def _responses(*replies: Any) -> AsyncIterator[tuple[Any, Any, Any]]:
    async with gpt(*replies, api="responses") as running:
        yield running


@asynccontextmanager
async def _chat(*replies: Any) -> AsyncIterator[tuple[Any, Any, Any]]:
    async with gpt(*replies, api="chat") as running:
        yield running


async def sent(case: Case, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as a server gets it, which refuses what the vendor would."""
    async with case("Fine.") as (provider, server, _):
        await provider.complete(ask(tools=[ToolSpec(name="find", parameters=schema)]))
        (tool,) = server.requests[0].json["tools"]
    facts = tool.get("function", tool)
    found: dict[str, Any] = facts.get("parameters") or facts["input_schema"]
    return found


every_api = pytest.mark.parametrize("case", [claude, _responses, _chat])


@every_api
async def test_a_choice_at_the_top_becomes_an_object_with_all_that_may_be_given(
    case: Case,
) -> None:
    schema = {
        "type": "object",
        "properties": {"how": TEXT},
        "oneOf": [
            {"properties": {"name": TEXT, "how": {"type": "integer"}}, "required": ["name"]},
            {"properties": {"number": {"type": "integer"}}, "required": ["number"]},
        ],
        "allOf": [{"properties": {"where": TEXT}, "required": ["where"]}, True],
        "not": {"required": ["why"]},
        "required": ["how"],
    }
    found = await sent(case, schema)
    assert found == {
        "type": "object",
        "properties": {
            "how": TEXT,
            "where": TEXT,
            "name": TEXT,
            "number": {"type": "integer"},
        },
        "required": ["how", "where"],
    }
    assert "oneOf" in schema


@every_api
async def test_a_schema_that_may_be_nothing_is_that_of_an_object(case: Case) -> None:
    found = await sent(case, {"type": ["object", "null"], "properties": {"a": TEXT}})
    assert found == {"type": "object", "properties": {"a": TEXT}}


async def test_a_property_whose_name_anthropic_refuses_is_left_out_there() -> None:
    schema = {"properties": {"$filter": TEXT, "top": TEXT}, "required": ["top", "$filter"]}
    found = await sent(claude, schema)
    assert found == {"type": "object", "properties": {"top": TEXT}, "required": ["top"]}
    assert "$filter" in (await sent(_chat, schema))["properties"]
