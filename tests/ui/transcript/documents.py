"""Documents without a screen, for tests of what is drawn."""

from amplifier_tui.ui.state.conversation.entries import EntryChange, TextEntry
from amplifier_tui.ui.transcript.arriving import Arrivals
from amplifier_tui.ui.transcript.entries.scene import Column
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.lines import StyledLine


def document(width: int = 80) -> Document:
    made = Document()
    made.fit(Column.fit(width))
    return made


def measure_all(made: Document) -> None:
    """Make every height real."""
    index = 0
    while index < len(made.pieces):
        made.measure(made.pieces[index])
        made.trim(index, index)
        index += 1


def lines_of(made: Document) -> list[StyledLine]:
    measure_all(made)
    return [line for piece in made.pieces for line in made.lines(piece)]


def texts_of(made: Document) -> list[str]:
    return [line.text.rstrip() for line in lines_of(made)]


def whole(text: str, width: int = 80) -> list[str]:
    made = document(width)
    made.add(TextEntry(key="t", text=text))
    return texts_of(made)


def streamed(chunks: list[str], width: int = 80) -> Document:
    made = document(width)
    arrivals = Arrivals(made, lambda: 0.0)
    entry = TextEntry(key="t", text="", streaming=True)
    arrivals.apply([EntryChange(op="add", entry=entry)])
    for chunk in chunks:
        entry.text += chunk
        arrivals.apply([EntryChange(op="stream", entry=entry, text=chunk)])
        arrivals.flush()
    entry.streaming = False
    arrivals.apply([EntryChange(op="update", entry=entry)])
    while arrivals.active:
        arrivals.flush()
    return made


def chunked(text: str, sizes: list[int]) -> list[str]:
    chunks, position = [], 0
    for size in sizes:
        if position >= len(text):
            break
        chunks.append(text[position : position + size])
        position += size
    return [*chunks, text[position:]]
