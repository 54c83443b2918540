"""Where in a file its mentions stand."""

from pathlib import Path

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.messages.mentions import parse_mentions


def lines_of_mentions(path: Path | None) -> dict[str, int]:
    """Return in which line of a file each mention comes first; of none where it can't be read."""
    try:
        lines = read_regular(path).decode("utf-8-sig").splitlines() if path is not None else []
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        for mention in parse_mentions(line):
            found.setdefault(mention, number)
    return found
