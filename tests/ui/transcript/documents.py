"""Documents without a screen, for tests of what is drawn."""

from amplifier_tui.ui.state.conversation.entries import TextEntry
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.streams import Streams
from amplifier_tui.ui.transcript.text.column import Column
from amplifier_tui.ui.transcript.text.lines import StyledLine


def document(width: int = 80) -> Document:
    made = Document()
    made.fit(Column.fit(width))
    return made


def lines_of(made: Document) -> list[StyledLine]:
    made.measure_all()
    return [line for piece in made.pieces for line in made.lines(piece)]


def texts_of(made: Document) -> list[str]:
    return [line.text.rstrip() for line in lines_of(made)]


def whole(text: str, width: int = 80) -> list[str]:
    made = document(width)
    made.add(TextEntry(key="t", text=text))
    return texts_of(made)


def streamed(chunks: list[str], width: int = 80) -> Document:
    made = document(width)
    live = Streams(made)
    entry = TextEntry(key="t", text="", streaming=True)
    item = made.add(entry)
    live.begin(item)
    for chunk in chunks:
        entry.text += chunk
        live.more(item)
        live.flush()
    entry.streaming = False
    live.update(item)
    while live.active:
        live.flush()
    return made


def chunked(text: str, sizes: list[int]) -> list[str]:
    chunks, position = [], 0
    for size in sizes:
        if position >= len(text):
            break
        chunks.append(text[position : position + size])
        position += size
    return [*chunks, text[position:]]
