"""What is said of a file that a prompt mentions and that does not go along."""

import re
from typing import Final

from amplifier_tui.foundation.mentions.loading import MentionResult

_FILE: Final = re.compile(r"@[^:]*\.([A-Za-z]\w{0,7})[.:]*")
"""A mention that can hardly be anything but a file: names of people and packages have no ending."""
_DOTTED: Final = re.compile(r"@[^\W\d]\w*(?:\.[^\W\d]\w*)+[.:]*")
"""What may as well be a decorator or a host: a file only with one of `_ENDINGS`."""
_ENDINGS: Final = """
    adoc bash bat bmp c cc cfg cjs clj conf cpp cs css csv cxx dart db diff doc docx el env erl ex
    exs fish gif go gradle graphql h heic hpp hs htm html ico ini ipynb java jpeg jpg js json
    json5 jsonc jsonl jsx kt kts less lock log lua m md mdx mjs ml mm mov mp3 mp4 odt org parquet
    pdf php pl png pptx proto ps1 py pyi r rb rs rst rtf sass scala scss sh sql sqlite svelte svg
    swift tar tex tf toml ts tsv tsx txt vue wav webp xls xlsx xml yaml yml zig zip zsh
"""
"""Endings of files that people work with."""


def unread(result: MentionResult, text: str) -> str:
    """Return why a mention of a text was not read, as a sentence; empty where it may be no file."""
    if result.failure_reason != "not_found":
        return f"Not read: {result.mention}: {result.error}"
    return missing(result.mention, text)


def missing(mention: str, text: str) -> str:
    """Return that there is no such file, as a sentence; empty where it may be none at all."""
    file = _FILE.fullmatch(mention)
    if file is None:
        return ""
    if _DOTTED.fullmatch(mention) and file[1].lower() not in _ENDINGS.split():
        return ""
    # Behind a letter it is a part of an address. Not behind one of a script without blanks.
    alone = re.search(rf'(?<![A-Za-z0-9_])@"?{re.escape(mention[1:])}', text)
    return f"Not read: {mention}: no such file" if alone else ""
