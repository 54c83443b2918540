"""What surely names packages of a registry, among the words and lists of what installs.

All else may be a file that was written here, however it is spelled, and its code would be run.
"""

import os
import re
from collections.abc import Iterator
from glob import glob
from itertools import chain, islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.text import one_line

MOST_BYTES: Final = 2_000_000
_MOST_TEXT: Final = 80
_MOST_WITHIN: Final = 1_000
_NAME: Final = r"[A-Za-z0-9_](?:[\w.-]*[\w-])?"
_VERSION: Final = r"(?:===?|[<>!~]=|[<>]) *[\w.*+!-]+"
_RANGE: Final = r"(?:[\^<>=]|~>?(?= *\d))* *[\w*][\w.^~<>=*|+ -]*"
_ADDRESS: Final = (
    r"(?:(?:https|git\+https|git\+ssh|ssh)://|git@[\w.-]+[:/]"
    r"|(?:github|gitlab|bitbucket|gist):)(?!\S*@-)[\w$][\w./:@~%#=&?+,${}-]*"
)
_SURE: Final = re.compile(
    rf"(?:@[\w.~-]+/|[\w-]+::)?{_NAME} *(?:\[[\w ,.-]*\])?"
    rf"(?: *\(?{_VERSION}(?: *, *{_VERSION})*,?\)?|={{1,2}}[\w.*]+(?:=[\w.*]+)?"
    rf"|@(?:npm:(?:@[\w.~-]+/)?{_NAME}(?:@{_RANGE})?|{_RANGE})| *@ *{_ADDRESS})?"
    rf"(?: *;[\w .,<>=!~\"'()-]*)?"
    rf"|{_ADDRESS}|{_RANGE}|npm:(?:@[\w.~-]+/)?{_NAME}(?:@{_RANGE})?",
    re.ASCII,
)
_HOSTED: Final = re.compile(rf"{_NAME}/{_NAME}(?:#[\w.^~:-]+)?", re.ASCII)
"""What npm and the like get from GitHub, never from a folder of that name."""
_ONLY_ADDRESS: Final = re.compile(rf"(?:[\w-]+=)?{_ADDRESS}", re.ASCII)
_ARCHIVED: Final = re.compile(
    r"\.(?:whl|egg|zip|gem|conda|tar(?:\.\w+)?|t(?:gz|bz2?|xz|lz|zst)|gz|bz2|xz|lz(?:ma)?|zst?)"
    r"\W*(?:;.*)?\Z",
    re.IGNORECASE,
)
_EXTRAS: Final = re.compile(r"\[[^\]]*\]")
_HERE: Final = re.compile(r"(?:[\w.+-]* *@ *)?(?:[\w-]+\+)?(?:file:(?://)?)?([^#@;]*)")
_CODED: Final = re.compile(r"coding[:=]\s*(?!utf-?8\b)", re.IGNORECASE)
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_MOST_CODED: Final = 2

NAMED_IN: Final = ", named in"

Ran = tuple[Path, str, str]
"""A place, what of it is run, in words with the place behind them, and a text that says what."""


def is_address(text: str) -> bool:
    """Whether a text is an address of another machine, maybe with a name before it."""
    return _ONLY_ADDRESS.fullmatch(text.strip()) is not None


def is_of_registry(text: str, *, hosted: bool = False) -> bool:
    """Whether a requirement is surely one of a registry, or of an address of another machine.

    Args:
        text: With its extras, versions and markers.
        hosted: Two names with a slash are such an address too.
    """
    text = text.strip()
    if text in (":all:", ":none:"):
        return True
    if len(text) > _MOST_WITHIN:
        return False
    if _ONLY_ADDRESS.fullmatch(text.partition("@")[2].strip()) or is_address(text):
        return _SURE.fullmatch(text) is not None
    if _ARCHIVED.search(text) or _ARCHIVED.search(_EXTRAS.sub("", text)):
        return False
    return bool(_SURE.fullmatch(text) or (hosted and _HOSTED.fullmatch(text)))


def stands_for_others(text: str, folder: Path) -> bool:
    """Whether a shell would put names of files in place of a word."""
    return any(each in text for each in "*?[") and bool(glob(text, root_dir=folder))


def unsure(value: str, named_in: Path, folder: Path) -> Ran:
    """Return what is asked about something that is not surely of a registry. Blocking.

    Args:
        value: That.
        named_in: The folder of the command, or the file that it is in.
        folder: Where its paths begin.
    """
    found = _HERE.match(value)
    at = folder / os.path.expanduser(found[1].strip() if found else value)
    texts = [value, content(at)]
    if os.path.isdir(at):
        # An address of git names a repository, not the files that are out.
        texts.append(git_output_now(at, "for-each-ref") or "")
        within = islice(chain(at.glob("*"), at.glob("*/*")), _MOST_WITHIN)
        texts += sorted(f"{place} {content(place)}" for place in within)
    return named_in, f"`{one_line(value, _MOST_TEXT)}`{NAMED_IN}", "\0".join(texts)


def lines_of(listed: Path) -> Iterator[str]:
    """Yield the requirements and options of a list, and as they are what is none of them.

    Args:
        listed: A list for pip or conda.

    Raises:
        OSError: It can't be read.
        UnicodeDecodeError: It is no text.
    """
    text = read_regular(listed, MOST_BYTES).decode("utf-8-sig")
    before = ""
    for number, whole in enumerate(text.splitlines()):
        if number < _MOST_CODED and whole.startswith("#") and _CODED.search(whole):
            yield whole
        line = _COMMENT.sub("", whole).rstrip()
        # What is put together of two lines is neither of them.
        line = line.strip() if not before or line.lstrip().startswith("-") else before + line
        before = f"{line[:-1].rstrip()} " if line.endswith(" \\") else ""
        if line := before.rstrip() or line:
            yield line


def content(place: Path) -> str:
    """Return a text that is another one when a file was changed."""
    try:
        found = place.stat()
    except (OSError, ValueError):
        return ""
    return f"{found.st_size} {found.st_ino} {found.st_ctime_ns}"
