"""What is found in a conversation, and on which rows of it."""

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    NoteEntry,
    TextEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.finder import Finder, FoundPlace


def finder_of(*entries: ConversationEntry) -> tuple[Finder, Document]:
    document = Document()
    for entry in entries:
        document.add(entry)
    return Finder(document), document


def searched(finder: Finder, words: str) -> FoundPlace:
    finder.search(words, 0)
    while finder.slice(1.0):
        pass
    return finder.place


def marked(finder: Finder, document: Document) -> list[str]:
    """The marked characters, row by row."""
    found = []
    for piece in document.pieces:
        document.measure(piece)
    for piece in document.pieces:
        for row, marks in finder.marks(piece).items():
            text = document.lines(piece)[row].text
            found += [text[mark.start : mark.end] for mark in marks]
    return found


def test_all_occurrences_are_counted_and_gone_through_in_their_order() -> None:
    finder, _ = finder_of(
        UserEntry(key="u", text="retry it"),
        TextEntry(key="t", text="A retry, and one more retry."),
    )
    assert searched(finder, "retry") == (0, 3, False)
    seen = []
    for _ in range(4):
        assert finder.step(1, 0)
        assert finder.here is not None
        seen.append((finder.place.number, finder.here.entry.key))
    assert seen == [(1, "u"), (2, "t"), (3, "t"), (1, "u")]
    finder.step(-1, 0)
    assert finder.place.number == 3


def test_words_of_the_interface_are_not_marked() -> None:
    prompt = "\n".join(f"pasted {n}" for n in range(30))
    finder, document = finder_of(
        UserEntry(key="u", text=f"{prompt}\none more", steered=True),
        ToolEntry(key="c", tool="bash", state="failed", output="x\n" * 40, output_size=90_000),
        TextEntry(key="t", text="more of it, interrupted", interrupted=True),
    )
    assert searched(finder, "more").total == 2 and marked(finder, document) == ["more", "more"]
    assert "more lines" in "".join(line.text for p in document.pieces for line in document.lines(p))
    for words in ("interrupted", "while it worked", "… the first"):
        count = int(words == "interrupted")
        assert searched(finder, words).total == count == len(marked(finder, document))


def test_only_capitals_tell_cases_apart() -> None:
    finder, _ = finder_of(TextEntry(key="t", text="Error error ERROR"))
    assert searched(finder, "error").total == 3
    assert searched(finder, "Error").total == 1


def test_what_is_looked_for_is_no_pattern() -> None:
    finder, _ = finder_of(TextEntry(key="t", text="a.c abc [a-z]"))
    assert searched(finder, "a.c").total == 1
    assert searched(finder, "[a-z]").total == 1


def test_words_that_are_wrapped_are_marked_on_both_rows() -> None:
    long = "word " * 12 + "needle point " + "word " * 5
    finder, document = finder_of(UserEntry(key="u", text=long))
    searched(finder, "word needle point word")
    assert "".join(marked(finder, document)).replace(" ", "") == "wordneedlepointword"
    assert len(marked(finder, document)) == 2


def test_what_a_folded_call_gave_back_is_found_though_no_row_has_it() -> None:
    call = ToolEntry(key="c", tool="bash", arguments={"command": "ls"}, output="x\nneedle\n")
    call.state = "ok"
    finder, document = finder_of(call)
    assert searched(finder, "needle").total == 1
    finder.step(1, 0)
    assert finder.settle() is None
    document.items["c"].opened = True
    document.refresh(document.items["c"])
    at = finder.settle()
    assert at is not None
    assert "needle" in document.lines(at[0])[at[1]].text


def test_the_first_place_is_the_nearest_below_the_top_of_the_screen() -> None:
    finder, document = finder_of(*(UserEntry(key=f"u{n}", text=f"prompt {n}") for n in range(9)))
    finder.search("prompt", 5)
    while finder.slice(1.0):
        pass
    finder.step(1, 5)
    assert finder.here is document.pieces[5].item
    assert finder.place == (6, 9, False)


def test_what_comes_changes_or_goes_while_one_searches_is_counted() -> None:
    finder, document = finder_of(UserEntry(key="u", text="one fish"))
    searched(finder, "fish")
    answer = TextEntry(key="t", text="two fish, red fish")
    document.add(answer)
    finder.look_again(["t"])
    finder.slice(1.0)
    assert finder.place.total == 3
    answer.text = "none"
    finder.look_again(["t"])
    finder.slice(1.0)
    assert finder.place.total == 1
    document.remove(document.items["u"])
    finder.look_again([])
    assert finder.place.total == 0
    assert not finder.step(1, 0)


@given(
    st.lists(st.text("ab *_`#\n|中", max_size=60), min_size=1, max_size=5),
    st.text("ab *中", min_size=1, max_size=4),
)
def test_every_place_that_is_counted_can_be_gone_to(texts: list[str], words: str) -> None:
    finder, document = finder_of(
        *(TextEntry(key=f"t{n}", text=text) for n, text in enumerate(texts))
    )
    total = searched(finder, words).total
    for number in range(1, total + 1):
        assert finder.step(1, 0)
        assert finder.place.number == number
        at = finder.settle()
        if at is not None:
            piece, row = at
            assert any(finder.is_here(piece, mark) for mark in finder.marks(piece)[row])
            assert 0 <= row < len(document.lines(piece))


def test_what_a_compaction_replaced_is_found_once_where_it_was_said() -> None:
    finder, _ = finder_of(
        UserEntry(key="u", text="the needle"),
        NoteEntry(key="n", text="Compacted", detail="About a needle.", repeats="user · the needle"),
    )
    assert searched(finder, "needle").total == 2, "the prompt and the summary"
