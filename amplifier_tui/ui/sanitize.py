"""Makes text from models, tools, bundles and users harmless to draw.

`clean` is for everything on screen: terminal control sequences are removed, and so are the
characters that reorder or hide what stands beside them. `reveal` is for what a person decides
on: it shows those characters instead. Neither parses markup; `[red]` is text.
"""

import re

_NEWLINES = "\x0b\x0c\x85\u2028\u2029"

# Characters that take no cell and change how their neighbours read: joiners, bidi controls,
# fillers, variation selectors, tags. Without them the width of a text is the sum of its cells
# in every terminal.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_SURROGATES = "\ud800-\udfff"

_SUSPECT = re.compile(f"[{_CONTROLS}{_INVISIBLE}{_SURROGATES}\u2028\u2029]")

# A string sequence (OSC, DCS, SOS, PM, APC) counts only when it ends on its own line; otherwise
# just its introducer goes, so that an unfinished one cannot hide the words behind it.
_STRING_LIMIT = 4096
_PAYLOAD = rf"[^\x07\x1b\x9c\n]{{0,{_STRING_LIMIT}}}"
_SEQUENCE = re.compile(
    rf"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]){_PAYLOAD}(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_UNFINISHED = re.compile(
    rf"(?:(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]){_PAYLOAD}\x1b?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*"
    r"|\x1b[ -/]*"
    r"|\r)\Z"
)
_OVERWRITTEN = re.compile(r"[^\n\r]*\r+(?![\n\r]|\Z)")
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """Return `text` without control sequences, control characters and invisible characters.

    Newlines and tabs stay; every other way to start a line becomes a newline. Lone surrogates,
    which no terminal can be sent, become U+FFFD.
    """
    if not _SUSPECT.search(text):
        return text
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _SUSPECT.sub(_harmless, text)


def clean_output(text: str) -> str:
    """`clean` for the output of a command: what a carriage return overwrote is dropped."""
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text.replace("\r\n", "\n"))
    return clean(text)


def one_line(text: str, limit: int = 400) -> str:
    """Return `text` cleaned and on one line of at most `limit` characters."""
    line = _SPACES.sub(" ", clean(text[: limit * 4])).strip()
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return line[: limit - 1].rstrip() + "…"


def reveal(text: str) -> str:
    """Return `text` with every control and invisible character written out, as `‹U+202E›`.

    Newlines and tabs stay. For payloads that a person approves: nothing is removed.
    """
    return _SUSPECT.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text)


class StreamCleaner:
    """Cleans a text that arrives in fragments exactly as `clean` does the whole of it.

    A control sequence cut in two by the fragments is held back until its end is known.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, fragment: str) -> str:
        """Return what is known to be text after `fragment` arrived."""
        text = self._held + fragment
        unfinished = _UNFINISHED.search(text)
        if unfinished is None:
            self._held = ""
            return clean(text)
        self._held = text[unfinished.start() :]
        return clean(text[: unfinished.start()])

    def finish(self) -> str:
        """Return what was held back, cleaned."""
        text, self._held = self._held, ""
        return clean(text)


def _harmless(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NEWLINES:
        return "\n"
    return "\ufffd" if "\ud800" <= character <= "\udfff" else ""
