"""What `doctor` finds out: one record for each thing it looked at."""

from collections.abc import Iterable
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass

State = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One thing that was looked at.

    Attributes:
        what: The thing, in a word or two.
        state: `note` is worth knowing, `warning` takes something away, with an `error` the program
            does not work.
        said: How it is.
        remedy: What to do about it; empty where nothing is to be done.
        lines: What to add to a file, or to run, as it is written there.
    """

    what: str
    state: State = "ok"
    said: str
    remedy: str = ""
    lines: tuple[str, ...] = ()


def worst(findings: Iterable[Diagnosis]) -> State:
    """Return the worst state of them."""
    order: tuple[State, ...] = ("ok", "note", "warning", "error")
    return max((each.state for each in findings), key=order.index, default="ok")
