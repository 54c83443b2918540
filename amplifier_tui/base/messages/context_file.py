"""Files in the text that a model gets: `<context_file paths="…">` blocks (bundle specification)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from amplifier_tui.base.lazy.pattern import lazy_pattern

_HEAD: Final = lazy_pattern(r'<context_file paths="([^"\n]*)">\n')
_FOOT: Final = "\n</context_file>"


class FileBlock(NamedTuple):
    """A file's block in a text: `text[start:end]`.

    Attributes:
        name: By which the file was asked for: the last mention, or its path.
    """

    start: int
    end: int
    name: str


def context_file(label: str, content: str) -> str:
    """Return a file's content in its block; `label` is its path, or mentions with their paths."""
    attribute = label.replace('"', "'").replace("\n", " ")
    return f'<context_file paths="{attribute}">\n{content}{_FOOT}'


def file_blocks(text: str) -> Iterator[FileBlock]:
    """Yield the blocks of a text in order; one that is not closed is just text."""
    at = 0
    while (head := _HEAD.search(text, at)) is not None:
        foot = text.find(_FOOT, head.end())
        if foot < 0:
            return
        at = foot + len(_FOOT)
        yield FileBlock(head.start(), at, _name(head.group(1)))


def without_contents(text: str) -> str:
    """Return a text with `[name]` in place of each file's block."""
    parts, at = list[str](), 0
    for block in file_blocks(text):
        parts += (text[at : block.start], f"[{block.name}]")
        at = block.end
    return "".join((*parts, text[at:]))


def _name(paths: str) -> str:
    labels = [label.partition(" → ") for label in paths.split(", ")]
    mentions = [mention for mention, arrow, _ in labels if arrow]
    return mentions[-1] if mentions else labels[0][0]
