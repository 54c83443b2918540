from textual.geometry import Offset
from textual.selection import Selection

from amplifier_tui.ui.state.conversation.entries import TextEntry, ToolEntry, UserEntry
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.selection import rows_of, selected_text, selection_at
from tests.ui.transcript.documents import document, measure_all


def selected(made: Document, start: tuple[int, int] | None, end: tuple[int, int] | None) -> str:
    measure_all(made)
    selection = Selection(
        Offset(*start) if start is not None else None, Offset(*end) if end is not None else None
    )
    return selected_text(rows_of(made, selection), selection)


def everything(made: Document) -> str:
    measure_all(made)
    return selected(made, (0, 0), (500, made.heights.total - 1))


def test_soft_wraps_are_joined_and_hard_breaks_stay() -> None:
    made = document(40)
    made.add(TextEntry(key="t", text="alpha beta " * 8 + "\n\nsecond\nthird"))
    assert everything(made) == "\n" + "alpha beta " * 7 + "alpha beta\n\nsecond\nthird"


def test_a_long_word_is_joined_without_a_space() -> None:
    made = document(30)
    made.add(TextEntry(key="t", text="https://example.org/" + "x" * 60))
    assert everything(made).strip() == "https://example.org/" + "x" * 60


def test_code_is_copied_without_indentation_and_filling() -> None:
    made = document(40)
    made.add(TextEntry(key="t", text="```py\ndef f():\n    return " + "1 + " * 12 + "1\n```"))
    assert everything(made).strip() == "def f():\n    return " + "1 + " * 12 + "1"


def test_nested_lists_keep_their_shape() -> None:
    made = document(40)
    made.add(TextEntry(key="t", text="- one two three four five six seven eight\n  - nested"))
    assert everything(made).strip() == "• one two three four five six seven eight\n  – nested"


def test_the_edge_and_the_column_gap_are_not_copied() -> None:
    made = document()
    made.add(UserEntry(key="u", text="do it"))
    made.add(
        ToolEntry(key="c", tool="bash", arguments={"command": "ls"}, state="ok", duration_ms=3)
    )
    assert everything(made) == "\ndo it\n\n✓ bash    ls  3 ms"


def test_a_part_of_a_row_counts_characters_not_cells() -> None:
    made = document()
    made.add(TextEntry(key="t", text="漢字 and kana かな end"))
    assert selected(made, (4 + 1, 1), (4 + 6, 1)) == "字 and"
    assert selected(made, (0, 1), (4 + 2, 1)) == "漢字"


def test_an_open_end_reaches_to_the_end() -> None:
    made = document()
    made.add(UserEntry(key="u", text="first"))
    made.add(UserEntry(key="v", text="second"))
    assert selected(made, (6, 1), None) == "rst\n\nsecond"
    assert selected(made, None, (6, 1)) == "\nfi"


def test_a_word_or_a_paragraph_is_found_at_a_character() -> None:
    made = document(30)
    made.add(TextEntry(key="t", text="see src/retry.py:12 for more words than fit in a row"))
    measure_all(made)
    word = selection_at(made, 1, 2 + 6, word=True)
    assert word is not None
    assert selected_text(rows_of(made, word), word) == "src/retry.py:12"
    whole = selection_at(made, 2, 6, word=False)
    assert whole is not None
    assert selected_text(rows_of(made, whole), whole).startswith(
        "see src/retry.py:12 for more words"
    )
    assert selection_at(made, 1, 2 + 3, word=True) is None
    assert selection_at(made, 99, 0, word=True) is None
