"""The rows of the table: what was measured, against what, and whether that is good enough."""

import json
import sys
from collections.abc import Callable, Iterable
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

    @property
    def ratio(self) -> float | None:
        """The value in multiples of the reference, or else of the goal."""
        base = self.reference if self.reference is not None else self.goal
        return self.value / base if base else None

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


def number(value: float) -> str:
    """Return a value with as many digits as mean something."""
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


HEAD = ("", "measured", "reference", "ratio", "goal", "")


def cells(row: Row) -> tuple[str, str, str, str, str, str]:
    """Return a row as the columns of the table."""
    sign = "≥" if row.more_is_better else "≤"
    goal = ""
    if row.goal is not None:
        unit = "x" if row.relative else f" {row.unit}"
        goal = f"{sign} {number(row.goal)}{unit}"
    reference = ""
    if row.reference is not None:
        reference = f"{number(row.reference)} {row.unit}"
    ratio = f"{row.ratio:.2f}x" if row.ratio is not None else ""
    verdict = "" if row.goal is None else "ok" if row.met else "MISS"
    return (row.what, f"{number(row.value)} {row.unit}", reference, ratio, goal, verdict)


def table(rows: Iterable[Row], *, notes: bool = True) -> str:
    """Lay rows out.

    Args:
        rows: The rows.
        notes: Say under each group of rows how it was measured.
    """
    rows = list(rows)
    body = [cells(row) for row in rows]
    widths = [max(len(line[at]) for line in (HEAD, *body)) for at in range(len(HEAD))]
    lines = [_line(HEAD, widths), "─" * (sum(widths) + 2 * len(widths))]
    for at, row in enumerate(rows):
        lines.append(_line(body[at], widths))
        last = at + 1 == len(rows) or rows[at + 1].how != row.how
        if notes and last and row.how:
            lines.append(f"    {row.how}")
    return "\n".join(lines)


def _line(texts: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = zip(texts, widths, strict=True)
    parts = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]
    return "  ".join(parts).rstrip()


def show(measure: Callable[[bool], list[Row]]) -> None:
    """Measure and print, for a file that is run alone; `--quick` measures less."""
    print(table(measure("--quick" in sys.argv[1:])))
