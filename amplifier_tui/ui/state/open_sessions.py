"""The sessions of the window in one row: what each is called and what it is doing."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from rich.cells import cell_len

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import WORKTREE_PREFIX
from amplifier_tui.ui.state.conversation.entries import UserEntry
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.styled import Role, Row, fit, pieces_width

SessionStatus = Literal["waits", "works", "failed", "done", "idle"]

GLYPHS: Final[dict[SessionStatus, str]] = {
    "waits": "!",
    "works": "◐",
    "failed": "✗",
    "done": "✓",
    "idle": "·",
}

_ROLES: Final[dict[SessionStatus, Role]] = {
    "waits": "warning",
    "works": "primary",
    "failed": "error",
    "done": "success",
    "idle": "muted",
}

NAME_WIDTH: Final = 24
"""Characters of a name."""

_SHOWN: Final = "▸"
"""Stands in the strip before the session that is shown."""

_FRAME: Final = 6
"""Cells of a session in the strip besides its name: number, glyph, sign, and spaces."""

_LEAST: Final = 4
"""Cells of a name that still say something."""


class SessionLook(NamedTuple):
    """A session in the strip; `name` is one line."""

    name: str
    status: SessionStatus
    shown: bool


def title_of(state: SessionState, width: int) -> str:
    """Return the title of a session, else its first prompt, as one line; empty where it has none.

    Args:
        width: Characters at most.
    """
    facts = state.facts
    said = facts.first_prompt
    if not facts.title and not facts.earlier:
        # What is on screen: it may have gone back to before its first prompt since it was opened.
        said = next((entry.text for entry in state.entries if isinstance(entry, UserEntry)), "")
    return one_line(facts.title or said, width)


def name_of(state: SessionState, width: int = NAME_WIDTH) -> str:
    """Return what a session is called: its title, else its first prompt, else its bundle.

    One in a git worktree of its own has the branch of that in place of the bundle.
    """
    branch = state.facts.branch if state.facts.branch.startswith(WORKTREE_PREFIX) else ""
    bundle = one_line(branch or state.facts.bundle or "new session", width)
    return title_of(state, width) or bundle


def is_empty(state: SessionState) -> bool:
    """Return whether nothing was said in a session."""
    said = any(isinstance(entry, UserEntry) for entry in state.entries)
    return not (said or state.facts.earlier)


def status_of(state: SessionState, *, ended: bool) -> SessionStatus:
    """Return what a session is doing; `ended`: a turn of it has ended that nobody saw."""
    asks = state.approvals.pending or state.questions.pending or state.trust.pending
    if asks or state.usage.at_limit:
        return "waits"
    failures = state.conversation.failures
    if state.activity.phase is not None:
        return "works"
    if not state.facts.opened:
        return "failed" if failures.in_turn or state.facts.closed else "works"
    if failures.newest is not None:
        return "failed"
    return "done" if ended else "idle"


def strip_row(looks: Sequence[SessionLook], width: int) -> tuple[Row, list[int]]:
    """Return the row of the strip in `width` cells, and the cell each session begins at.

    Where there is no room for names only numbers and glyphs are left.
    """
    room = width - sum(_FRAME for _ in looks)
    names = [fit(look.name, cells) for look, cells in zip(looks, _shares(looks, room), strict=True)]
    row: Row = []
    places: list[int] = []
    for number, (look, name) in enumerate(zip(looks, names, strict=True), start=1):
        role: Role = "strong" if look.shown else "muted"
        # A sign, since without colours bold alone would tell which one is shown.
        row.append((_SHOWN if look.shown else " ", "primary"))
        places.append(pieces_width(row))
        row.append((f"{number} ", "primary" if look.shown else "muted"))
        row.append((GLYPHS[look.status], _ROLES[look.status]))
        row.append((f" {name} " if name else " ", role))
    return row, places


def _shares(looks: Sequence[SessionLook], room: int) -> list[int]:
    """Divide `room` cells among the names; short ones leave what they do not need to the others."""
    wanted = [cell_len(look.name) for look in looks]
    shares = [0] * len(looks)
    for done, at in enumerate(sorted(range(len(looks)), key=wanted.__getitem__)):
        shares[at] = min(max(0, room) // (len(looks) - done), wanted[at])
        room -= shares[at]
    enough = all(share >= min(_LEAST, cells) for share, cells in zip(shares, wanted, strict=True))
    return shares if enough else [0] * len(looks)
