"""Imports what the first answer needs, so that it does not wait for it."""

from amplifier_tui.ui.transcript.markdown.code import highlighted
from amplifier_tui.ui.transcript.markdown.parse import parse

_LANGUAGES = ("python", "bash", "json", "diff")


def preload() -> None:
    """Load the Markdown parser and the usual lexers; call it in a thread after the first frame."""
    parse("*warm* `up`\n\n| a |\n|---|\n| b |\n")
    for language in _LANGUAGES:
        highlighted("x", language)
