"""Files that are dropped on the terminal: it pastes their paths, each in its own way of quoting."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from amplifier_tui.base.files import images, open_regular
from amplifier_tui.base.messages.mentions import mention_of

_SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
_LONGEST: Final = 8_192
"""Characters of a paste that may be paths."""


def may_be_dropped(text: str) -> bool:
    """Whether a pasted text can be paths of images, as far as its words say."""
    text = text.strip(" '\"\n")
    return len(text) <= _LONGEST and "\n" not in text and text.lower().endswith(_SUFFIXES)


def mentions_of_dropped(text: str) -> str:
    """Return the mentions of the images whose paths a text is, or else the text; blocking.

    A path counts where it is absolute and an image or a PDF is there.
    """
    ways = [mention_of(_image(reading)) for reading in _readings(text.strip())]
    return " ".join(ways) + " " if ways and all(ways) else text


def _readings(text: str) -> Iterator[str]:
    if _image(text):
        # With blanks in it, and no quotes.
        yield text
        return
    try:
        yield from shlex.split(text)
    except ValueError:
        return


def _image(text: str) -> str:
    """Return the path that a text is of; empty where it is no image's."""
    name = unquote(urlsplit(text).path) if text.startswith("file://") else text
    try:
        path = Path(name)
        if not path.is_absolute():
            return ""
        with open_regular(path) as file:
            return name if images.media_type(file.read(images.HEAD)) is not None else ""
    except (OSError, ValueError):
        return ""
