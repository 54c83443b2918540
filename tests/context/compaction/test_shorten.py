from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.compaction.shorten import shortened, shortened_text


def test_beginning_and_end_stay_and_what_is_missing_is_said() -> None:
    text = shortened_text("a" * 500 + "b" * 500, 300)
    assert text.startswith("a" * 200)
    assert text.endswith("b" * 100)
    assert "700 characters left out" in text


@given(st.text(max_size=2_000), st.integers(10, 1_500))
def test_what_was_cut_once_is_not_cut_again(text: str, keep: int) -> None:
    once = shortened_text(text, keep)
    assert shortened_text(once, keep) == once
    assert len(once) <= max(len(text), keep + 100)


def test_a_short_message_is_the_very_same() -> None:
    row = {"role": "tool", "content": [{"type": "text", "text": "short"}]}
    assert shortened(row, 300) is row


def test_blocks_are_cut_and_images_give_way_to_a_line() -> None:
    row = {
        "role": "tool",
        "content": [
            {"type": "text", "text": "x" * 5_000, "visibility": "user"},
            {"type": "image", "source": {"data": "A" * 5_000}},
            {"type": "tool_result", "tool_call_id": "c", "output": "y" * 5_000},
            {"type": "thinking", "thinking": "z" * 5_000, "signature": "s"},
        ],
    }
    text, image, output, thinking = shortened(row, 300)["content"]
    assert len(text["text"]) < 400
    assert text["visibility"] == "user"
    assert image["type"] == "text"
    assert len(output["output"]) < 400
    assert thinking is row["content"][3]
    assert len(row["content"][0]["text"]) == 5_000


def test_data_of_any_kind_is_cut_as_its_json() -> None:
    row = {"role": "tool", "content": {"rows": list(range(5_000))}}
    cut = shortened(row, 300)["content"]
    assert cut.startswith('{"rows": [0, 1')
    assert len(cut) < 400


def test_what_says_nothing_is_left_alone() -> None:
    for content in (None, [None, 5], [{"type": "text"}], [{"type": "tool_result", "output": None}]):
        row = {"role": "tool", "content": content}
        assert shortened(row, 10) is row


def test_plain_texts_in_a_list_are_cut_too() -> None:
    cut = shortened({"role": "user", "content": ["x" * 1_000]}, 100)["content"]
    assert "900 characters left out" in cut[0]
