import pytest

from amplifier_tui.ui.transcript.lines import Span, StyledLine
from amplifier_tui.ui.transcript.markdown.blocks import ROOT, Context, OpenBlock
from amplifier_tui.ui.transcript.markdown.inline import CHUNK
from amplifier_tui.ui.transcript.markdown.render import markdown_lines, presentable


def texts(source: str, measure: int = 60) -> list[str]:
    return [line.text.rstrip() for line in markdown_lines(source, measure)]


def spans(source: str) -> list[Span]:
    return [span for line in markdown_lines(source, 60) for span in line.spans]


def test_emphasis_becomes_weight() -> None:
    assert spans("a **b *c*** ~~d~~ `e`") == [
        Span("a "),
        Span("b ", "text+b"),
        Span("c", "text+bi"),
        Span(" "),
        Span("d", "text+s"),
        Span(" "),
        Span("e", "code"),
    ]


def test_blocks_are_one_row_apart_and_list_items_none() -> None:
    assert texts("# Head\ntext\n\n- a\n- b\n\n\n\nend") == [
        "Head",
        "",
        "text",
        "",
        "• a",
        "• b",
        "",
        "end",
    ]


def test_lists_nest_number_and_tick() -> None:
    source = "3. three\n   - inner\n     1. deep\n4. four\n\n   more\n- [x] done\n- [ ] open"
    assert texts(source) == [
        " 3. three",
        "    – inner",
        "       1. deep",
        " 4. four",
        "",
        "    more",
        "",
        "✓ done",
        "○ open",
    ]


def test_numbers_align_on_their_last_digit() -> None:
    rows = texts("\n".join(f"{n}. x" for n in range(8, 12)))
    assert rows == [" 8. x", " 9. x", "10. x", "11. x"]


def test_a_wrapped_item_hangs_under_its_text() -> None:
    assert texts("- one two three four", 10) == ["• one two", "  three", "  four"]


def test_quotes_are_marked_on_every_row() -> None:
    assert texts("> one two three\n>\n> - four", 10) == ["> one two", "> three", ">", "> • four"]


def test_a_short_line_ends_where_its_writer_ended_it() -> None:
    assert texts("roses\nviolets") == ["roses", "violets"]


def test_a_line_that_was_wrapped_by_its_writer_flows_on() -> None:
    long = "word " * 13 + "end"
    assert texts(f"{long}\nmore", 200) == [f"{long} more"]


def test_links_are_clickable_and_bare_addresses_are_links() -> None:
    assert Span("docs", "link", "https://a.b/c") in spans("[docs](https://a.b/c)")
    assert Span("https://a.b/c", "link", "https://a.b/c") in spans("see https://a.b/c.")
    assert Span("https://a.b/(c)", "link", "https://a.b/(c)") in spans("(https://a.b/(c))")


@pytest.mark.parametrize("address", ["javascript:alert(1)", "vbscript:x", "data:text/html,x"])
def test_an_address_that_runs_something_is_no_link(address: str) -> None:
    assert all(not span.link for span in spans(f"[x]({address}) <{address}>"))


def test_html_and_markup_are_text() -> None:
    assert texts("<b>x</b> [red]y[/red]\n\n<script>alert(1)</script>") == [
        "<b>x</b> [red]y[/red]",
        "",
        "<script>alert(1)</script>",
    ]


def test_entities_cannot_smuggle_control_characters() -> None:
    assert texts("a&#x202e;b&#27;c&#8203;d&NewLine;e&Tab;f") == ["ab\ufffdcd e f"]


@pytest.mark.parametrize("note", ["word", "two words", "https://a.b/c"])
def test_a_footnote_is_shown_though_it_reads_like_a_reference(note: str) -> None:
    assert texts(f"So.[^1]\n\n[^1]: {note}") == ["So.[^1]", "", f"[^1]: {note}"]


def test_a_reference_is_resolved_wherever_it_is_defined() -> None:
    assert Span("x", "link", "http://a.b") in spans("[x][y]\n\n[y]: http://a.b")


def test_a_nested_quote_and_list_keep_their_width() -> None:
    for line in markdown_lines("> > - 1. a long enough text to wrap more than once", 20):
        assert len(line.text) <= 20


def test_an_overlong_paragraph_is_broken_into_chunks_at_spaces() -> None:
    lines = markdown_lines("word " * 4000, 100)
    rejoined = "".join(line.text + ("\n" if line.join is None else line.join) for line in lines)
    assert rejoined.split() == ["word"] * 4000
    assert rejoined.count("\n") == 20_000 // CHUNK + 1


def test_too_many_brackets_are_plain_text() -> None:
    source = "[" * 400 + "x"
    assert "".join(texts(source)) == source


@pytest.mark.parametrize("measure", [1, 2, 3, 5, 8])
def test_a_tiny_column_still_renders(measure: int) -> None:
    source = "# h\n\n- a\n  1. b\n\n> q\n\n```py\nx = 1\n```\n\n---\n"
    source += "\n| a | b |\n|---|---|\n| 漢字 | y |\n"
    assert markdown_lines(source, measure)


def test_a_piece_goes_on_inside_its_construct() -> None:
    context = Context("1. x\n\n", (OpenBlock("sibling", 4),))
    lines = markdown_lines("1. five\n1. six\n", 40, context=context, first=False)
    assert [line.text for line in lines] == [" 5. five", " 6. six"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("some **bo", "some **bo**"),
        ("some **", "some "),
        ("a `co", "a `co`"),
        ("see [the docs](http://x", "see the docs"),
        ("text\n-", "text"),
        ("```py\nx = **1", "```py\nx = **1"),
        ("- a **b\n- c", "- a **b\n- c"),
        ("**done** and", "**done** and"),
    ],
)
def test_half_a_construct_reads_as_what_it_becomes(source: str, shown: str) -> None:
    assert presentable(source, ROOT) == shown


def test_soft_wraps_say_how_they_join() -> None:
    lines = markdown_lines("alpha beta gamma", 11)
    assert [line.join for line in lines] == [" ", None]
    assert lines[0] == StyledLine((Span("alpha beta"),), join=" ")


def test_a_paragraph_that_turns_out_to_be_a_heading_goes_on_without_a_stand_in() -> None:
    context = Context("x ", (OpenBlock("text"),))
    lines = markdown_lines("rest\n===\n\nafter", 40, context=context, first=False)
    assert [line.text for line in lines] == ["rest", "", "after"]
