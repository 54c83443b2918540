"""Syntax colours in what tool calls show."""

from amplifier_tui.ui.state.conversation.entries import ToolEntry
from amplifier_tui.ui.transcript.entries.colours import Code, Colours, numbered_lines, paint
from amplifier_tui.ui.transcript.entries.scene import Column, Scene
from amplifier_tui.ui.transcript.entries.tool import tool_lines
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.lines import PAD, Span, StyledLine
from amplifier_tui.ui.transcript.markdown.code import BASE, code_lines

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n import os\n-a = 1\n+a = 'one'\n"
FILE = "     9\timport os\n    10\ttext = 'x'\n[Lines 9–10 of 40; continue with offset=11]"


def read(output: str, path: str = "src/x.py") -> ToolEntry:
    return ToolEntry(
        key="c",
        tool="read_file",
        arguments={"file_path": path},
        output=output,
        state="ok",
    )


def drawn(entry: ToolEntry, width: int = 60) -> list[StyledLine]:
    """Return the lines of an opened call, when its colours were made."""
    colours, item = Colours(), DrawnEntry(entry)

    def lines() -> list[StyledLine]:
        def of(text: str, path: str) -> object:
            return colours.of(item, text, path)

        return tool_lines(entry, Scene(Column.fit(width), expanded=True, paint=of))

    plain = [line.text for line in lines()]
    colours.keep(paint(colours.wanted))
    found = lines()
    assert [line.text for line in found] == plain, "colours move nothing"
    return found


def style_of(lines: list[StyledLine], text: str) -> str:
    spans = [span for line in lines for span in line.spans]
    return next(span.style for span in spans if span.text == text)


def test_the_code_of_a_diff_has_colours_on_the_ground_of_its_row() -> None:
    lines = drawn(ToolEntry(key="c", tool="edit_file", diff=DIFF, state="ok"))
    assert style_of(lines, "import") == "syn-keyword@text"
    assert style_of(lines, "'one'").startswith("syn-string@added-ground")
    assert style_of(lines, "1").startswith("syn-number@removed-ground")
    assert {line.spans[-1].style for line in lines[-2:]} == {
        "text@removed-ground",
        "text@added-ground",
    }


def test_a_file_that_was_read_has_the_colours_of_its_language_and_its_own_numbers() -> None:
    lines = drawn(read(FILE))
    assert [line.text.strip() for line in lines[1:]] == [
        "9  import os",
        "10  text = 'x'",
        "[Lines 9–10 of 40; continue with offset=11]",
    ]
    assert style_of(lines, "import") == "syn-keyword@text"
    assert style_of(lines, "'x'") == "syn-string@text"


def test_what_is_no_code_stays_as_it_was() -> None:
    for entry in (read("no numbers\nhere"), read(FILE, "notes.unknown"), read("")):
        assert not any("syn-" in span.style for line in drawn(entry) for span in line.spans)
    assert numbered_lines("a\n     1\tb") is None and numbered_lines("") is None


def test_colours_are_asked_for_once_and_of_few_at_a_time() -> None:
    colours = Colours()
    for n in range(100):
        colours.of(DrawnEntry(read(FILE)), f"{n}", "")
    assert len(colours.wanted) < 50
    colours.wanted.clear()
    colours.keep({Code(str(n), ""): {} for n in range(1_000)})
    assert colours.of(DrawnEntry(read(FILE)), "999", "") == {} and not colours.wanted


def test_a_long_line_of_code_is_folded_with_its_colours() -> None:
    lines = drawn(read("     1\ttext = '" + "word " * 20 + "'"), 40)
    assert all(span.style for line in lines for span in line.spans if span.text.strip())
    assert Span("  » ".rjust(3), "muted").text.strip() == "»" and "»" in lines[2].text


def test_a_folded_row_of_a_diff_stands_on_its_ground_from_edge_to_edge() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+" + "word " * 30
    lines = drawn(ToolEntry(key="c", tool="edit_file", diff=diff, state="ok"), 40)
    rows = [line for line in lines if "word" in line.text]
    assert len(rows) > 3
    for row in rows:
        grounds = {"@added-ground" in span.style for span in row.spans if span.style != PAD}
        assert grounds == {True} and len(row.text) == len(rows[0].text)


def test_a_block_of_code_stands_on_its_surface_from_edge_to_edge() -> None:
    lines = code_lines("import os\n" + "word " * 30, "", 40)
    assert len(lines) > 3
    for line in lines:
        assert sum(len(span.text) for span in line.spans) == 40
        assert all(span.style == BASE or f"@{BASE}" in span.style for span in line.spans)
