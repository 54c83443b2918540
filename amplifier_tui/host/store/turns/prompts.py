"""Where the turns of a stored conversation begin."""

from collections.abc import Iterable, Mapping

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.messages import is_from_hook


class NoSuchTurnError(Exception):
    """A session has no turn of that number."""


@dataclass(frozen=True, slots=True)
class PromptRow:
    """The prompt of a turn.

    Attributes:
        turn: Its number, as `TurnStarted` has it.
        start: The first row of the turn.
        index: The prompt's own row.
    """

    turn: int
    start: int
    index: int
    row: Row


def prompt_rows(rows: Iterable[tuple[int, Row]], begun: Mapping[int, int]) -> list[PromptRow]:
    """Return the prompts of a conversation, in order.

    Args:
        begun: How many rows there were when a turn began, of the turns since it was opened.
    """
    found: list[PromptRow] = []
    for index, row in rows:
        if row.get("role") != "user" or is_from_hook(row):
            continue
        before = found[-1].index if found else -1
        numbers = [turn for turn, start in begun.items() if before < start <= index]
        turn = max(numbers, default=len(found) + 1)
        found.append(PromptRow(turn, begun.get(turn, index), index, row))
    return found


def start_of(turn: int, prompts: list[PromptRow], begun: Mapping[int, int], count: int) -> int:
    """Return the row a turn begins with, of `count` rows.

    Raises:
        NoSuchTurnError: There is no such turn.
    """
    if turn in begun:
        return min(begun[turn], count)
    start = next((prompt.start for prompt in prompts if prompt.turn == turn), None)
    if start is None:
        raise NoSuchTurnError(f"This session has no turn {turn}")
    return start
