import pytest

from amplifier_tui.kernel.models.content import (
    ContentBlock,
    ContentBlockType,
    TextContent,
    ThinkingContent,
    ToolCallContent,
    ToolResultContent,
)


def test_the_types_are_their_values() -> None:
    assert [kind.value for kind in ContentBlockType] == [
        "text",
        "thinking",
        "tool_call",
        "tool_result",
    ]
    assert ContentBlockType.TEXT == "text"


@pytest.mark.parametrize(
    ("block", "dumped"),
    [
        (ContentBlock(ContentBlockType.TEXT, raw=object()), {"type": "text"}),
        (TextContent(text="t", raw=object()), {"type": "text", "text": "t"}),
        (ThinkingContent(text="t"), {"type": "thinking", "text": "t"}),
        (
            ToolCallContent(id="1", name="n", arguments={"a": 1}),
            {"type": "tool_call", "id": "1", "name": "n", "arguments": {"a": 1}},
        ),
        (
            ToolResultContent(tool_call_id="1", output={"o": 1}),
            {"type": "tool_result", "tool_call_id": "1", "output": {"o": 1}},
        ),
        (
            ToolResultContent(tool_call_id="1", output=None, error="no"),
            {"type": "tool_result", "tool_call_id": "1", "output": None, "error": "no"},
        ),
    ],
)
def test_a_block_dumps_its_type_first_and_never_the_raw_object(
    block: ContentBlock, dumped: dict[str, object]
) -> None:
    assert block.to_dict() == dumped
    assert next(iter(block.to_dict())) == "type"


def test_two_calls_do_not_share_their_arguments() -> None:
    ToolCallContent(id="1", name="n").arguments["a"] = 1
    assert ToolCallContent(id="2", name="n").arguments == {}
