"""The searching process: a request as JSON on its input, findings as lines of JSON on its output.

It imports nothing but the standard library, pathspec and a table of names. It is ended from outside
when it takes too long, so it says at once what it finds.
"""

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from amplifier_tui.base.opened.folders import spot_of
from amplifier_tui.base.protected import holds_secrets_at
from amplifier_tui.modules.tool_search.globs import compile_globs
from amplifier_tui.modules.tool_search.walking import Walk, read_file

_WIDTH: Final = 400
"""Characters of a line that are shown."""

_MOST_SLOW: Final = 3
"""Files it may be too slow on before the search ends."""
_MOST_PATHS: Final = 50_000
T = TypeVar("T")


class TooSlowError(Exception):
    """The pattern takes too long on a file."""


def read_text(name: str, folder: int | None, largest: int) -> str | None:
    """Return a file's text, or None when it is binary or larger than `largest` bytes.

    Args:
        name: In the folder, or a path where that is None.
        folder: An open one.
        largest: Bytes beyond which it is not read.

    Raises:
        OSError: It can't be read.
    """
    data = read_file(name, folder, largest, _is_text)
    if data is None:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _is_text(head: bytes) -> bool:
    return b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))


def matching_lines(text: str, pattern: re.Pattern[str], *, multiline: bool) -> list[int]:
    """Return the numbers of the lines that match, counted from 0.

    With `multiline` a match may span lines, all of which count.
    """
    if not multiline:
        search = pattern.search
        return [
            number
            for number, line in enumerate(text.split("\n"))
            if search(line[:-1] if line.endswith("\r") else line)
        ]
    numbers: dict[int, None] = {}
    number, place = 0, 0
    for match in pattern.finditer(text):
        number += text.count("\n", place, match.start())
        place = match.start()
        spanned = text.count("\n", match.start(), max(match.start(), match.end() - 1))
        numbers.update(dict.fromkeys(range(number, number + spanned + 1)))
    return list(numbers)


def shown_lines(
    text: str, numbers: list[int], pattern: re.Pattern[str], before: int, after: int
) -> Iterator[dict[str, Any]]:
    """Yield the matching lines (`hit`) with those around them, as findings.

    `n` is the number of the line, from 1; `gap` says that lines are left out before it.
    """
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    matches, around = set(numbers), before + after > 0
    last = -1
    for number in numbers:
        first = max(last + 1, number - before)
        until = min(len(lines) - 1, number + after)
        for each in range(first, until + 1):
            gap = around and each == first and last >= 0 and first > last + 1
            line = _shortened(lines[each].rstrip("\r"), pattern if each in matches else None)
            yield {"n": each + 1, "text": line, "hit": each in matches, "gap": gap}
        last = max(last, until)


def _shortened(line: str, pattern: re.Pattern[str] | None) -> str:
    if len(line) <= _WIDTH:
        return line
    found = pattern.search(line) if pattern is not None else None
    middle = found.start() if found is not None else 0
    start = max(0, min(middle - _WIDTH // 4, len(line) - _WIDTH))
    end = start + _WIDTH
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End the block with a `TooSlowError` after so many seconds, where the system can.

    The expression engine looks for signals every few thousand steps; elsewhere than on POSIX the
    process is ended from outside instead.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise TooSlowError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Carry out the request."""
    request = json.loads(sys.stdin.buffer.read())
    _REQUESTS[request["kind"]](request)


def say(**finding: Any) -> None:
    """Write one finding at once: what was written counts when the process is ended."""
    sys.stdout.write(json.dumps(finding) + "\n")
    sys.stdout.flush()


def glob(request: dict[str, Any]) -> None:
    """Find files and folders by a pattern of their paths."""
    walk = Walk(request["start"], tuple(request["denied"]), request["everything"])
    wanted = compile_globs([request["pattern"]])
    kind, found = request["type"], 0
    for path, entry, _ in walk.entries(folders=kind != "file"):
        is_folder = entry.is_dir(follow_symlinks=False)
        if (kind == "dir") > is_folder or wanted.fullmatch(path) is None:
            continue
        if found == _MOST_PATHS:
            say(note=f"Only the first {_MOST_PATHS} were looked at.")
            break
        found += 1
        say(path=f"{path}/" if is_folder else path, changed=_changed(entry))
    say(end=True, unreadable=walk.unreadable)


def _changed(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def grep(request: dict[str, Any]) -> None:
    """Find files and lines by a pattern of their text."""
    Grep(request).run()


class Grep:
    """One search for text.

    Args:
        request: `start` (a folder or file), `denied`, `everything`, `pattern`, `flags`,
            `multiline`, `globs` (of paths or names), `mode` (`files_with_matches`, `content` or
            `count`),
            `before`, `after`, `skip` and `most` (results), `largest` (bytes of a file),
            `slow` (seconds a pattern may take on one file).
    """

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request
        self._pattern = re.compile(request["pattern"], request["flags"])
        globs = request["globs"]
        self._wanted = compile_globs([_anywhere(text) for text in globs]) if globs else None
        self._to_skip: int = request["skip"]
        self._room: int = request["most"]
        self._matches = self._files = self._searched = self._skipped = 0
        self._secret = 0
        self._slow: list[str] = []

    def run(self) -> None:
        """Search."""
        request, start = self._request, self._request["start"]
        walk = Walk(start, tuple(request["denied"]), request["everything"])
        whole = all(self._search(*each) for each in self._candidates(walk))
        say(
            end=True,
            more=not whole,
            matches=self._matches,
            files=self._files,
            searched=self._searched,
            skipped=self._skipped,
            secret=self._secret,
            unreadable=walk.unreadable,
            slow=self._slow,
        )

    def _candidates(self, walk: Walk) -> Iterator[tuple[str, int | None, str]]:
        """Yield what is opened, in which open folder, and the path that is shown."""
        if os.path.isfile(walk.start):
            try:
                with spot_of(walk.start) as spot:
                    yield spot.name, spot.folder, os.path.basename(walk.start)
            except OSError:
                self._skipped += 1
            return
        for path, entry, folder in walk.entries():
            if self._wanted is not None and self._wanted.fullmatch(path) is None:
                continue
            # Of what is named, whoever judged the call knew.
            if holds_secrets_at(path.split("/")):
                self._secret += 1
            else:
                yield entry.path, folder, path

    def _search(self, file: str, folder: int | None, path: str) -> bool:
        """Search one file; False when nothing more is wanted."""
        request = self._request
        try:
            text = read_text(file, folder, request["largest"])
        except OSError:
            text = None
        if text is None:
            self._skipped += 1
            return True
        self._searched += 1
        try:
            with time_limit(request["slow"]):
                numbers = matching_lines(text, self._pattern, multiline=request["multiline"])
                if not numbers:
                    return True
                if request["mode"] == "content":
                    return self._show(text, path, numbers)
        except TooSlowError:
            self._slow.append(path)
            return len(self._slow) < _MOST_SLOW
        shown, whole = self._page([path])
        for each in shown:
            self._count(len(numbers))
            say(path=each, count=len(numbers))
        return whole

    def _show(self, text: str, path: str, numbers: list[int]) -> bool:
        request = self._request
        shown, whole = self._page(numbers)
        if shown:
            self._count(len(shown))
        lines = shown_lines(text, shown, self._pattern, request["before"], request["after"])
        for line in lines:
            say(path=path, **line)
        return whole

    def _count(self, matches: int) -> None:
        self._files += 1
        self._matches += matches

    def _page(self, results: list[T]) -> tuple[list[T], bool]:
        """Return what of these results is on the page, and whether they end on it."""
        skipped = min(self._to_skip, len(results))
        self._to_skip -= skipped
        shown = results[skipped : skipped + self._room]
        self._room -= len(shown)
        return shown, skipped + len(shown) == len(results)


def _anywhere(pattern: str) -> str:
    """A pattern without a slash is about the name, wherever the file is."""
    return pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"


_REQUESTS: Final = {"glob": glob, "grep": grep}
