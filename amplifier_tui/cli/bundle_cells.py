"""How wide a text is in a terminal, and where to break it."""

from collections.abc import Iterator


def cells(text: str) -> int:
    """Return the columns a cleaned text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many columns, with an ellipsis where something is missing."""
    if cells(text) <= most:
        return text
    return f"{_fitting(text, most - 1)}…"


def wrapped(text: str, most: int) -> list[str]:
    """Return a text on one line as lines of at most so many columns, at least one line."""
    lines: list[str] = []
    line = ""
    for piece in _pieces(text, most):
        longer = f"{line} {piece}" if line else piece
        if cells(longer) > most:
            lines.append(line)
            longer = piece
        line = longer
    return [*lines, line]


def _pieces(text: str, most: int) -> Iterator[str]:
    """Yield the words, too long ones in parts."""
    for word in text.split(" "):
        rest = word
        while cells(rest) > most:
            part = _fitting(rest, most) or rest[0]
            yield part
            rest = rest[len(part) :]
        yield rest


def _fitting(text: str, most: int) -> str:
    room, end = most, 0
    for character in text:
        room -= cells(character)
        if room < 0:
            break
        end += 1
    return text[:end]
