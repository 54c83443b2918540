"""The text of a patch as changes of files."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass

ChangeKind = Literal["add", "update", "delete"]
Sign = Literal[" ", "-", "+"]

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
_END_OF_FILE: Final = "*** End of File"
_PATH: Final = r"(?P<path>[^\t\r\n]+)"
_FILE: Final = re.compile(rf"\*\*\* (Add|Update|Delete) File: {_PATH}")
_MOVE: Final = re.compile(rf"\*\*\* Move to: {_PATH}")
_UNIFIED: Final = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@(.*)")
_HEAD: Final = re.compile(
    rf"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |--- |\+\+\+ ){_PATH}",
    re.MULTILINE,
)


class PatchProblem(Exception):
    """A patch can't be read, or does not fit its file.

    Args:
        message: What is wrong, as a sentence.
        line: The line of the patch it is about, from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line} of the patch: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Hunk:
    """A passage of a file and what becomes of it.

    Attributes:
        lines: Signs and texts, in order: " " stays, "-" goes, "+" comes.
        headings: Lines somewhere above the passage, each below the one before it.
        at_end: Whether the passage ends the file.
        line: Where its first line stands in the patch, from 1.
    """

    lines: tuple[tuple[Sign, str], ...]
    headings: tuple[str, ...] = ()
    at_end: bool = False
    line: int = 1

    @property
    def old(self) -> list[str]:
        """The passage as the patch expects it."""
        return [text for sign, text in self.lines if sign != "+"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a patch does to one file.

    Attributes:
        path: As the patch writes it.
        move_to: Its new path, empty if it stays.
        content: The lines of a new file.
        line: Where the change stands in the patch, from 1.
    """

    kind: ChangeKind
    path: str
    move_to: str = ""
    hunks: tuple[Hunk, ...] = ()
    content: tuple[str, ...] = ()
    line: int = 1


def patched_paths(text: str) -> tuple[str, ...]:
    """Return the files named in the heads of a patch, each once, as written.

    Heads of unified diffs count as well; nothing that `read_patch` would change is missing, also
    where the patch as a whole can't be read.
    """
    found: dict[str, None] = {}
    for match in _HEAD.finditer(text):
        path = match["path"].strip()
        if match.group().startswith(("--- ", "+++ ")):
            path = re.sub(r"^[ab]/", "", path)
        if path and path != "/dev/null":
            found[path] = None
    return tuple(found)


def read_patch(text: str) -> list[FileChange]:
    """Return the changes of a patch in order; what stands before and after it is left out.

    Raises:
        PatchProblem: It is no whole patch, or a line is not understood.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    marks = [line.strip() for line in lines]
    if BEGIN not in marks:
        raise PatchProblem(f"a patch begins with the line `{BEGIN}`", 1)
    if END not in marks:
        raise PatchProblem(f"a patch ends with the line `{END}`", len(lines))
    first = marks.index(BEGIN) + 1
    last = len(marks) - 1 - marks[::-1].index(END)
    reader = _PatchReader(lines[:last], first)
    changes = []
    while reader.more:
        changes.append(reader.change())
    if not changes:
        raise PatchProblem("the patch changes no file", first)
    return changes


class _PatchReader:
    def __init__(self, lines: Sequence[str], first: int) -> None:
        self._lines = lines
        self._at = first
        self._skip_blank()

    @property
    def more(self) -> bool:
        return self._at < len(self._lines)

    @property
    def _line(self) -> str:
        return self._lines[self._at]

    def change(self) -> FileChange:
        named = _FILE.match(self._line)
        if named is None:
            raise self._problem(
                "expected `*** Add File: PATH`, `*** Update File: PATH` or `*** Delete File: PATH`,"
                f" not `{self._line[:80]}`"
            )
        number, path = self._at + 1, self._path(named["path"])
        self._at += 1
        if named[1] == "Delete":
            change = FileChange("delete", path, line=number)
        elif named[1] == "Add":
            change = FileChange("add", path, content=self._content(), line=number)
        else:
            change = self._update(path, number)
        self._skip_blank()
        return change

    def _content(self) -> tuple[str, ...]:
        content = []
        while self.more and not self._line.startswith("*** "):
            if not self._line.startswith("+"):
                if not self._line.strip():
                    break
                raise self._problem("each line of a new file begins with `+`")
            content.append(self._line[1:])
            self._at += 1
        return tuple(content)

    def _update(self, path: str, number: int) -> FileChange:
        move_to = ""
        if self.more and (moved := _MOVE.match(self._line)):
            move_to = self._path(moved["path"])
            self._at += 1
        hunks = []
        while self.more and not self._line.startswith("*** "):
            if not self._line.strip() and self._only_blank_follows():
                break
            hunks.append(self._hunk())
        if not hunks and not move_to:
            raise PatchProblem(f"the update of {path} changes nothing", number)
        return FileChange("update", path, move_to, tuple(hunks), line=number)

    def _hunk(self) -> Hunk:
        headings = []
        while self.more and self._line.startswith("@@"):
            unified = _UNIFIED.match(self._line)
            # Line numbers are guesses of the model: the lines themselves say where it is.
            heading = (unified[1] if unified else self._line[2:]).strip()
            if heading:
                headings.append(heading)
            self._at += 1
        number = self._at + 1
        lines: list[tuple[Sign, str]] = []
        while self.more and not self._line.startswith(("*** ", "@@")):
            lines.append(self._hunk_line())
            self._at += 1
        at_end = self.more and self._line.strip() == _END_OF_FILE
        self._at += at_end
        while lines and lines[-1] == (" ", "") and not at_end and self._ended():
            lines.pop()  # Blank lines between two files, or before the end.
        if not any(sign != " " for sign, _ in lines):
            raise PatchProblem("the hunk has no line that begins with `+` or `-`", number)
        return Hunk(tuple(lines), tuple(headings), at_end, number)

    def _hunk_line(self) -> tuple[Sign, str]:
        line = self._line
        for sign in (" ", "-", "+"):
            if line.startswith(sign):
                return sign, line[1:]
        if not line:
            return " ", ""  # Models leave out the space in front of an empty line.
        raise self._problem(
            f"a line of a hunk begins with a space, `+` or `-`, not `{line[:1]}`; a new hunk begins"
            " with `@@`"
        )

    def _ended(self) -> bool:
        return not self.more or self._line.startswith("*** ")

    def _only_blank_follows(self) -> bool:
        rest = (line for line in self._lines[self._at :] if line.strip())
        return next(rest, "*** ").startswith("*** ")

    def _path(self, text: str) -> str:
        path = text.strip()
        if not path:
            raise self._problem("the path is missing")
        return path

    def _skip_blank(self) -> None:
        while self.more and not self._line.strip():
            self._at += 1

    def _problem(self, message: str) -> PatchProblem:
        return PatchProblem(message, self._at + 1)
