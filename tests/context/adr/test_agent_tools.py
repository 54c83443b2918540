from typing import Literal

import pytest

from amplifier_tui.context.adr.agent_tools import FunctionTool, named_tools, run_call
from amplifier_tui.kernel.message_models import ToolCall


def test_the_schema_of_a_function_is_read_from_its_annotations() -> None:
    def look(
        path: str,
        limit: int | None = None,
        how: Literal["fast", "deep"] = "fast",
        either: int | str = 1,
        plain=None,
        *rest: str,
        **options: str,
    ) -> str:
        """Look into a file."""
        return path

    tool = FunctionTool(look)
    assert (tool.name, tool.description) == ("look", "Look into a file.")
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer"},
            "how": {"enum": ["fast", "deep"]},
            "either": {},
            "plain": {},
        },
        "required": ["path"],
    }


def test_annotations_nobody_can_read_are_none() -> None:
    def look(path: "Nowhere") -> str:  # noqa: F821
        return path

    schema = FunctionTool(look).input_schema
    assert schema["properties"] == {"path": {}}
    assert schema["required"] == ["path"]


def test_two_tools_of_one_name_are_refused_and_one_twice_is_one() -> None:
    def look() -> str:
        return "a"

    first = FunctionTool(look)
    assert named_tools([first], [first], None) == {"look": first}
    with pytest.raises(ValueError, match="Two tools are called 'look'"):
        named_tools([first], [look])


async def test_arguments_that_could_not_be_read_are_told_to_the_model() -> None:
    ran: list[str] = []

    def look(path: str) -> str:
        ran.append(path)
        return path

    call = ToolCall(id="c", name="look", arguments={})
    object.__setattr__(call, "arguments_error", "The arguments are no JSON: Expecting value")
    message = await run_call(call, named_tools([look]))
    assert message.contents[0].result == "The arguments are no JSON: Expecting value"
    assert message.additional_properties == {"is_error": True}
    assert ran == []
