"""The rows of the table: what was measured, against what, and whether that is good enough."""

import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement.

    Attributes:
        what: What was measured.
        value: The result.
        unit: Its unit, such as `ms`.
        goal: What it should reach, in `unit`, or in multiples of the reference if `relative`;
            None where there is no goal.
        more_is_better: The goal is a least value.
        relative: The goal is a multiple of the reference.
        reference: What the value is compared with, in `unit`; None for nothing.
        against: What the reference is.
        how: How it was measured, one line.
        remark: What else is worth knowing of this value, in a few words.
    """

    what: str
    value: float
    unit: str
    goal: float | None = None
    more_is_better: bool = False
    relative: bool = False
    reference: float | None = None
    against: str = ""
    how: str = ""
    remark: str = ""

    @property
    def ratio(self) -> float | None:
        """The value in multiples of the reference; None where there is none."""
        return self.value / self.reference if self.reference else None

    @property
    def met(self) -> bool:
        """Whether the goal was reached; true where there is none."""
        if self.goal is None:
            return True
        reached = self.value
        if self.relative:
            reached = self.ratio if self.ratio is not None else float("inf")
        return reached >= self.goal if self.more_is_better else reached <= self.goal

    def as_json(self) -> str:
        """Return the row as one line for another process."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(line: str) -> "Row":
        """Read a row."""
        return Row(**json.loads(line))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What one file measured.

    Attributes:
        name: The file's.
        title: What it is about.
        rows: What it found; none when it failed.
        problem: Why it did not get to its end; empty when it did.
        seconds: How long it took.
    """

    name: str
    title: str
    rows: tuple[Row, ...] = ()
    problem: str = ""
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether it got to its end and met every goal."""
        return not self.problem and all(row.met for row in self.rows)


def number(value: float) -> str:
    """Return a value with as many digits as mean something."""
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


Cells = tuple[str, str, str, str, str, str, str]
HEAD: Cells = ("", "measured", "reference", "ratio", "goal", "", "")
_GAP = "  "


def cells(row: Row) -> Cells:
    """Return a row as the columns of the table."""
    sign = "≥" if row.more_is_better else "≤"
    goal = ""
    if row.goal is not None:
        unit = "x" if row.relative else f" {row.unit}"
        goal = f"{sign} {number(row.goal)}{unit}"
    reference = ""
    if row.reference is not None:
        reference = f"{number(row.reference)} {row.unit}"
    ratio = f"{number(row.ratio)}x" if row.ratio is not None else ""
    verdict = "" if row.goal is None else "ok" if row.met else "MISS"
    measured = f"{number(row.value)} {row.unit}"
    return (row.what, measured, reference, ratio, goal, verdict, row.remark)


def table(sections: Iterable[Section]) -> str:
    """Lay everything out as one table, a heading above each file's rows."""
    sections = list(sections)
    body = [HEAD, *(cells(row) for section in sections for row in section.rows)]
    widths = [max(len(line[at]) for line in body) for at in range(len(HEAD))]
    width = sum(widths) + len(_GAP) * (len(widths) - 1)
    lines = [_line(HEAD, widths)]
    for section in sections:
        lines += ["", _heading(section, width)]
        lines += _rows(section.rows, widths, width)
        if section.problem:
            lines.append("FAILED: this file did not get to its end")
            lines += [f"    {line}" for line in section.problem.splitlines()]
    return "\n".join(lines)


def verdict(sections: Sequence[Section]) -> str:
    """Return the last words: how many goals were met, and which were not."""
    rows = [row for section in sections for row in section.rows if row.goal is not None]
    missed = [
        f"  MISS    {section.name}: {row.what.strip()}: {number(row.value)} {row.unit}"
        for section in sections
        for row in section.rows
        if not row.met
    ]
    failed = [f"  FAILED  {section.name}" for section in sections if section.problem]
    words = f"{len(rows) - len(missed)} of {len(rows)} goals met"
    return "\n".join([words, *missed, *failed])


def _rows(rows: Sequence[Row], widths: Sequence[int], width: int) -> list[str]:
    """Return the lines of a section: under rows of one kind what they have in common, once."""
    lines: list[str] = []
    said: set[str] = set()
    for at, row in enumerate(rows):
        lines.append(_line(cells(row), widths))
        if at + 1 < len(rows) and _notes(rows[at + 1]) == _notes(row):
            continue
        news = [note for note in _notes(row) if note and note not in said]
        said.update(news)
        indent = "    "
        lines += textwrap.wrap(
            "; ".join(news), width, initial_indent=indent, subsequent_indent=indent
        )
    return lines


def _notes(row: Row) -> tuple[str, str]:
    return (row.how, f"reference: {row.against}" if row.against else "")


def _heading(section: Section, width: int) -> str:
    left, right = f"── {section.title} ", f" {section.name}, {section.seconds:.0f} s"
    return left + "─" * max(2, width - len(left) - len(right)) + right


def _line(texts: Cells, widths: Sequence[int]) -> str:
    first, *rest = zip(texts, widths, strict=True)
    *middle, last = rest
    parts = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in middle), last[0]]
    return _GAP.join(parts).rstrip()
