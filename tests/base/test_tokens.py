from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.tokens import (
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    content_tokens,
    message_tokens,
    schema_tokens,
    text_tokens,
)


def calling(call_id: str) -> dict[str, Any]:
    call = {"id": call_id, "name": "bash", "arguments": {"command": "ls"}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def test_four_ascii_characters_make_a_token() -> None:
    assert text_tokens("x" * 4_000) == 1_000


def test_writing_without_ascii_takes_more_tokens_for_its_length() -> None:
    assert text_tokens("漢" * 1_500) == 1_000
    assert text_tokens("漢" * 150 + "x" * 400) == 200


def test_an_empty_text_takes_none_and_the_shortest_takes_one() -> None:
    assert text_tokens("") == 0
    assert text_tokens("a") == 1


def test_a_pdf_has_the_price_of_its_pages_about() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "A" * 700_000}
    assert content_tokens({"type": "image", "source": source}) == 10 * IMAGE_TOKENS


def test_an_image_has_a_fixed_price_however_large_it_is() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 1_000_000}}
    assert content_tokens([image, {"type": "text", "text": "x" * 40}]) == IMAGE_TOKENS + 10


def test_a_call_that_is_listed_and_a_block_too_counts_once() -> None:
    listed = calling("c1")
    block = {"type": "tool_call", "id": "c1", "name": "bash", "input": {"command": "ls"}}
    both = {**listed, "content": [block]}
    assert message_tokens(both) == message_tokens({"role": "assistant", "content": [block]})
    assert message_tokens(listed) == message_tokens(both)


def test_arguments_in_openai_form_count() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "x" * 400}}
    assert message_tokens({"role": "assistant", "tool_calls": [call]}) == MESSAGE_TOKENS + 101


def test_signatures_are_not_read_by_the_model() -> None:
    block = {"type": "thinking", "thinking": "x" * 40, "signature": "s" * 4_000}
    assert content_tokens([block]) == 10


@given(st.recursive(st.none() | st.text() | st.integers() | st.floats(), st.lists))
def test_any_content_can_be_measured(content: object) -> None:
    assert content_tokens(content) >= 0
    assert message_tokens({"role": "user", "content": content}) >= MESSAGE_TOKENS


def test_schemas_that_have_no_json_are_measured_too() -> None:
    assert schema_tokens({"type": object()}) > 0
    assert schema_tokens({}) == 0
