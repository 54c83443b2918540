"""The options that the manual pages of this machine document, with what is said of them."""

import re
import subprocess
from functools import cache
from typing import NamedTuple


class Documented(NamedTuple):
    """An option as documented: its names, whether it takes a value ("", "=", "[=]"), its text."""

    names: tuple[str, ...]
    value: str
    text: str


_HEAD = re.compile(r"^ {1,14}(-{1,2}[\w?#\[].*)$")
_NAME = re.compile(r"(--\[no-\]|--?)([A-Za-z0-9?#][\w-]*)(.*)$", re.DOTALL)


@cache
def page(name: str) -> str:
    """Return a manual page as plain text; empty when there is none."""
    environment = {"PATH": "/usr/bin:/bin", "MANWIDTH": "300", "LC_ALL": "C.UTF-8"}
    environment["MAN_DISABLE_SECCOMP"] = "1"  # To confine each of its programs takes a third more.
    done = subprocess.run(
        ["man", "-P", "cat", name], capture_output=True, text=True, check=False, env=environment
    )
    return re.sub(r".\x08", "", done.stdout)


@cache
def documented(name: str) -> tuple[Documented, ...]:
    """Return the options of a page, in its order."""
    found: list[Documented] = []
    lines = page(name).splitlines()
    for at, line in enumerate(lines):
        match = _HEAD.match(line)
        if match is None:
            continue
        head, _, rest = re.sub(r"\s{2,}", "\0", match[1], count=1).partition("\0")
        read = _names(head)
        if not read[0]:
            continue
        indent = len(line) - len(line.lstrip())
        text = [rest.strip()]
        for more in lines[at + 1 :]:
            if more.strip() and len(more) - len(more.lstrip()) <= indent:
                break
            text.append(more.strip())
        found.append(Documented(*read, " ".join(filter(None, text))))
    return tuple(found)


def _names(head: str) -> tuple[tuple[str, ...], str]:
    names: list[str] = []
    value = ""
    for part in re.split(r",\s*(?=-)|\s+or\s+(?=-)|\s+(?=-\w\b)", head):
        match = _NAME.match(part.strip())
        if match is None:
            continue
        dashes, word, rest = match.groups()
        if dashes == "-" and len(word) > 1 and "<" not in rest and name_is_letter(word):
            word, rest = word[0], word[1:] + rest
        names.append(f"{'--' if dashes.startswith('--') else '-'}{word}")
        if "[no-]" in dashes:
            names.append(f"--no-{word}")
        if rest.lstrip().startswith("["):
            value = value or "[=]"
        elif rest.strip() and not rest.strip().startswith((")", ".")):
            value = "="
    return tuple(names), value


def name_is_letter(word: str) -> bool:
    """Whether a word like `eSCRIPT` is a letter with its value."""
    return bool(re.fullmatch(r"[A-Za-z0-9][A-Z]+(\[.*)?", word))
