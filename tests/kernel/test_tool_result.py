import base64
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_tui.kernel.message_models import ImageBlock, TextBlock, ThinkingBlock
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.models.tool_result import text_for_model

PIXEL = base64.b64encode(b"pixel").decode()


def image(**source: Any) -> dict[str, Any]:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL, **source},
    }


def test_a_result_is_a_success_with_nothing_to_say() -> None:
    result = ToolResult()
    assert (result.success, result.output, result.error, result.content) == (
        True,
        None,
        None,
        None,
    )


def test_unknown_fields_are_ignored() -> None:
    odd: dict[str, Any] = {"mood": "good"}
    assert ToolResult(**odd).model_dump() == {"success": True, "output": None, "error": None}


def test_a_failure_takes_its_message_as_output() -> None:
    result = ToolResult(success=False, error={"message": "no such file"})
    assert result.output == "no such file"
    assert ToolResult(success=False, output="own", error={"message": "m"}).output == "own"
    assert ToolResult(success=False, error={"type": "t"}).output is None
    assert ToolResult(error={"message": "m"}).output is None


@pytest.mark.parametrize(
    ("fields", "success"),
    [
        ({"is_error": True}, False),
        ({"is_error": False}, True),
        ({"is_error": True, "success": True}, False),
        ({"is_error": False, "success": False}, False),
    ],
)
def test_is_error_means_no_success(fields: dict[str, Any], success: bool) -> None:
    result = ToolResult(output="x", **fields)
    assert result.success is success
    assert "is_error" not in result.model_dump()
    assert ToolResult.model_validate({"output": "x", **fields}) == result


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult(output="done"), "done"),
        (ToolResult(output={"a": 1}), "{'a': 1}"),
        (ToolResult(), "Success"),
        (ToolResult(output=""), "Success"),
        (ToolResult(success=False, error={"message": "no"}), "Error: no"),
        (ToolResult(success=False, error={"type": "t"}), "Error: Unknown error"),
        (ToolResult(success=False), "Failed"),
        (ToolResult(success=False, output="ignored"), "Failed"),
    ],
)
def test_a_result_prints_as_what_happened(result: ToolResult, text: str) -> None:
    assert str(result) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult(output={"cost": Decimal("1.10")}), '{"cost": "1.10"}'),
        (ToolResult(output=["é", 1]), '["é", 1]'),
        (ToolResult(output="te\x00xt\ud800"), "text"),
        (ToolResult(output=5), "5"),
        (ToolResult(), "Success"),
        (ToolResult(success=False), "Error: Failed"),
        (ToolResult(success=False, error={"type": "t"}), "Error: Unknown error"),
        (ToolResult(success=False, error={"message": "no"}), "no"),
        (ToolResult(output={(1,): "odd key"}), "{(1,): 'odd key'}"),
    ],
)
def test_the_output_for_a_model_is_text(result: ToolResult, text: str) -> None:
    assert result.get_serialized_output() == text


def test_circular_output_is_still_text() -> None:
    loop: dict[str, Any] = {}
    loop["me"] = loop
    assert ToolResult.model_construct(output=loop).get_serialized_output() == "{'me': {...}}"


def test_content_holds_text_and_images_and_nothing_more() -> None:
    result = ToolResult(
        content=[
            {"type": "text", "text": "t", "extra": 1, "visibility": "user"},
            {**image(extra=1), "more": 2},
            TextBlock(text="u"),
            ImageBlock(source=image()["source"]),
        ]
    )
    assert result.model_dump()["content"] == [
        {"type": "text", "text": "t"},
        image(),
        {"type": "text", "text": "u"},
        image(),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text", "invalid tool result content"),
        (["text"], "invalid tool result content"),
        ([{"type": "text"}], "invalid tool result content"),
        ([{"type": "text", "text": 5}], "invalid tool result content"),
        ([ThinkingBlock(thinking="t")], "invalid tool result content"),
        ([{"type": "image"}], "invalid tool result image source"),
        ([image(type="url")], "invalid tool result image source"),
        ([image(media_type=None)], "invalid tool result image media type"),
        ([image(media_type="image/")], "invalid tool result image media type"),
        ([image(media_type="Image/png")], "invalid tool result image media type"),
        ([image(media_type="text/plain")], "invalid tool result image media type"),
        ([image(data="")], "invalid tool result image data"),
        ([image(data=None)], "invalid tool result image data"),
        ([image(data="cGl4ZW")], "invalid tool result image data"),
        ([image(data="not base64!")], "invalid tool result image data"),
        ([image(data="é===")], "invalid tool result image data"),
    ],
)
def test_other_content_is_refused_by_name(content: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ToolResult(content=content)
    result = ToolResult()
    with pytest.raises(ValidationError, match=message):
        result.content = content
    with pytest.raises(ValidationError, match=message):
        ToolResult().model_copy(update={"content": content})


@pytest.mark.parametrize("content", [None, []])
def test_dumps_leave_empty_content_out(content: Any) -> None:
    result = ToolResult(output="x", content=content)
    assert "content" not in result.model_dump()
    assert "content" not in json.loads(result.model_dump_json())


def test_assignments_are_validated() -> None:
    result = ToolResult()
    odd: Any = "text"
    with pytest.raises(ValidationError):
        result.error = odd
    result.success = False
    assert result.success is False


def test_a_copy_with_changes_is_validated_and_leaves_the_original_alone() -> None:
    result = ToolResult(output="a", content=[TextBlock(text="t")])
    copy = result.model_copy(update={"output": "b", "unknown": 1})
    assert (copy.output, result.output) == ("b", "a")
    assert copy.content == result.content
    deep = result.model_copy(deep=True)
    assert deep == result
    assert deep.content is not result.content
    with pytest.raises(ValidationError):
        result.model_copy(update={"success": "perhaps"})


def test_events_get_a_line_of_text_for_an_image() -> None:
    result = ToolResult(output="o", content=[TextBlock(text="t"), ImageBlock(**image())])
    shown = result.safe_hook_presentation()
    assert shown["output"] == "o"
    assert [block["text"] for block in shown["content"]] == [
        "t",
        "[Image omitted from tool event; original retained for model request if unmodified.]",
    ]
    assert PIXEL not in json.dumps(shown)
    assert result.content is not None
    assert result.content[1].type == "image"
    assert ToolResult(output=object()).safe_hook_presentation()["output"].startswith("<object")


def test_an_event_has_what_no_json_can_hold_as_well_as_it_can_be_shown() -> None:
    image_block = ImageBlock(**image())
    result = ToolResult(output={"b": b"\xff", "n": 1}, content=[image_block])
    shown = result.safe_hook_presentation()
    assert (shown["success"], shown["output"]) == (True, {"b": "/w==", "n": 1})
    assert shown["content"][0]["type"] == "text"
    circle: dict[str, Any] = {}
    circle["again"] = circle
    assert json.dumps(ToolResult(output=circle).safe_hook_presentation())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(json_values, st.booleans())
def test_any_output_reaches_the_model_as_clean_text(output: Any, success: bool) -> None:
    text = ToolResult(success=success, output=output).get_serialized_output()
    text.encode("utf-8")
    assert "\x00" not in text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult(output="o"), "o"),
        (ToolResult(success=False, output="o", error={"message": "why"}), "why\no"),
        (ToolResult(success=False, output={"a": 1}, error={"message": "why"}), 'why\n{"a": 1}'),
        (ToolResult(success=False, output="that is why", error={"message": "why"}), "that is why"),
        (ToolResult(success=False, error={"message": "why"}), "why"),
        (ToolResult(success=False, output="o", error={"code": 1}), "o"),
        (ToolResult(success=False, output="o"), "o"),
        (ToolResult(output="o", error={"message": "why"}), "o"),
    ],
)
def test_a_model_reads_why_a_tool_failed_with_what_it_found(result: ToolResult, text: str) -> None:
    assert text_for_model(result) == text
