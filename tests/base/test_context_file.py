"""Files in the text of a message: written in blocks, found again, shown by their names."""

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.messages.context_file import context_file, file_blocks, without_contents


def test_a_block_has_the_last_mention_as_its_name_else_its_path() -> None:
    blocks = context_file("@a.md → /p/a.md, @b:a.md → /p/a.md", "A") + context_file("/p/c", "")
    assert [block.name for block in file_blocks(blocks)] == ["@b:a.md", "/p/c"]


def test_a_name_can_not_end_the_mark_it_stands_in() -> None:
    assert context_file('a"\n>b', "x") == '<context_file paths="a\' >b">\nx\n</context_file>'


def test_names_stand_for_the_contents_and_the_rest_stays() -> None:
    text = f"{context_file('app.py', 'long')}\n\nfix it"
    assert without_contents(text) == "[app.py]\n\nfix it"
    assert (
        without_contents('<context_file paths="a">\nno end') == '<context_file paths="a">\nno end'
    )


@given(st.lists(st.sampled_from(['<context_file paths="a">\n', "\n</context_file>", "\n", "x"])))
def test_blocks_do_not_overlap_and_lie_in_the_text(pieces: list[str]) -> None:
    text, at = "".join(pieces), 0
    for block in file_blocks(text):
        assert at <= block.start < block.end <= len(text)
        at = block.end
