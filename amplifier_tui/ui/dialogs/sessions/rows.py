"""How a stored session is shown: on a row, and in full beside the list."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from time import time
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from amplifier_tui.base.text import clean, one_line
from amplifier_tui.host.client import SessionCard, SessionDetails, named_alike
from amplifier_tui.ui.state.formats import ago, plural, short_model, spent_words
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow
from amplifier_tui.ui.widgets.styled import fit

_LABEL = 9
"""Cells of the first column of the facts."""
_LONGEST = 4_000
_GAP = "  "
_BRANCH = 1
"""The place of its column."""
_LEAVE = ((2, 0), (3, 0), (_BRANCH, 12), (5, 0), (_BRANCH, 8), (4, 0), (_BRANCH, 0), (0, 0))
"""Which columns become how narrow where there is no room, in this order; the age stays."""


class Shown(NamedTuple):
    """How rows are shown.

    Attributes:
        width: Cells of the list.
        open_now: The ids of the sessions that are open in the window.
        folders: Whether they are of several folders.
        here: The folder whose name says nothing; where it is given, every other one is named.
    """

    width: int
    open_now: Collection[str] = ()
    folders: bool = False
    here: str = ""


def session_rows(cards: Mapping[str, SessionCard], shown: Shown) -> Sequence[PickRow]:
    """Return the rows of sessions, by key, each with what tells it from others."""
    columns = _columns(list(cards.values()), shown)
    alike = named_alike(cards.values())
    return LazyRows(
        list(zip(cards.items(), columns, strict=True)),
        lambda item: PickRow(
            item[0][0], _called(item[0][1], alike), Content.styled(item[1], "$text-muted")
        ),
        lambda item: item[0][0],
    )


def _called(card: SessionCard, alike: Collection[str]) -> Content:
    taken = card.parent_id if card.called in alike else ""
    title, first = one_line(card.title, 200), one_line(card.first_prompt, 200)
    about = one_line(card.description, 200) or first
    return Content.assemble(
        ("◆ " if card.pinned else "", "$text-primary"),
        (title or first or card.session_id[:8], "bold"),
        (f"  from {one_line(taken[:8], 8)}" if taken else "", "$text-muted"),
        *((f"  #{one_line(tag, 24)}", "$text-secondary") for tag in card.tags),
        (f"  {about}" if title and about and about != title else "", "$text-muted"),
    )


def _columns(cards: Sequence[SessionCard], shown: Shown) -> list[str]:
    """Return what stands at the right of each row: the columns that half of it has room for.

    A folder, branch or bundle that all have tells none from the others, and is left out.
    """
    now = time()
    columns = [
        _folder_column(cards, shown),
        _if_several([one_line(card.branch, 20) for card in cards]),
        _if_several([one_line(card.bundle, 24) for card in cards]),
        [plural(card.agent_count, "agent") if card.agent_count else "" for card in cards],
        [plural(card.turns, "turn") for card in cards],
        [spent_words(card) for card in cards],
        [_when(card, shown, now) for card in cards],
    ]
    widths = [max(map(cell_len, column), default=0) for column in columns]
    room = max(shown.width - 2, 0) // 2
    for place, most in _LEAVE:
        if sum(width + len(_GAP) for width in widths if width) - len(_GAP) <= room:
            break
        widths[place] = min(widths[place], most)
    kept = [
        [_at_right(text, width) for text in column]
        for column, width in zip(columns, widths, strict=True)
        if width
    ]
    return [_GAP.join(row) for row in zip(*kept, strict=True)]


def _when(card: SessionCard, shown: Shown, now: float) -> str:
    if card.session_id in shown.open_now:
        return "open now"
    return "open elsewhere" if card.held else ago(now - card.updated)


def _at_right(text: str, width: int) -> str:
    text = fit(text, width)
    return f"{' ' * (width - cell_len(text))}{text}"


def _if_several(texts: list[str]) -> list[str]:
    return texts if len(set(texts)) > 1 else [""] * len(texts)


def _joined(parts: Sequence[str]) -> str:
    return " · ".join(part for part in parts if part)


def _folder_column(cards: Sequence[SessionCard], shown: Shown) -> list[str]:
    if not shown.folders:
        return [""] * len(cards)
    if not shown.here:
        return _if_several(_folders(cards))
    named = _folders([*cards, SessionCard(session_id="", cwd=shown.here)])
    pairs = zip(cards, named, strict=False)  # The last name is that of the folder here.
    return ["" if card.cwd == shown.here else name for card, name in pairs]


def _folders(cards: Sequence[SessionCard]) -> list[str]:
    """Return the names of the folders; of two with one name also what they are in."""
    places = {card.cwd: PurePath(card.cwd) for card in cards}
    alike = Counter(place.name for place in places.values())
    names = {
        cwd: place.name
        if alike[place.name] == 1
        else f"{one_line(place.parent.name, 8)}/{place.name}"
        for cwd, place in places.items()
    }
    return [one_line(names[card.cwd], 20) if card.cwd else "folder unknown" for card in cards]


def facts_line(card: SessionCard) -> str:
    """Return what the row may have no room for, on one line."""
    parts = (
        one_line(card.branch, 30),
        one_line(card.cwd, 60) or "folder unknown",
        one_line(card.bundle, 30),
        short_model(one_line(card.model, 40)),
        spent_words(card),
        plural(card.agent_count, "agent") if card.agent_count else "",
        card.session_id[:8],
    )
    return _joined(parts)


def details_content(card: SessionCard, details: SessionDetails | None, problem: str) -> Content:
    """Lay out what is known of a session, and what was said last in it."""
    title = one_line(card.title or card.first_prompt, 200) or card.session_id[:8]
    counts = (plural(card.turns, "turn"), spent_words(card), ago(time() - card.updated))
    ids = details.agents if details is not None else ()
    agents = [one_line(each.partition("_")[2] or each, 40) for each in ids]
    facts = (
        ("about", one_line(card.description, 300)),
        ("tags", " ".join(f"#{one_line(tag, 40)}" for tag in card.tags)),
        ("folder", one_line(card.cwd, 300) or "unknown"),
        ("branch", one_line(card.branch, 80)),
        ("bundle", one_line(card.bundle, 80)),
        ("model", one_line(card.model, 80)),
        ("size", _joined(counts)),
        ("agents", ", ".join(dict.fromkeys(agents))),
        ("from", one_line(details.parent_id, 80) if details is not None else ""),
        ("id", one_line(card.session_id, 80)),
    )
    rows = [Content.styled(title, "bold")]
    rows += [
        Content.assemble((name.ljust(_LABEL), "$text-secondary"), value)
        for name, value in facts
        if value
    ]
    if problem:
        rows += [Content(), Content.styled(problem, "$text-error")]
    elif details is not None:
        if details.prompt:
            prompt = clean(details.prompt)[:_LONGEST]
            rows += [Content(), Content.assemble(("› ", "$primary"), (prompt, "bold"))]
        if details.answer:
            rows += [Content(), Content(clean(details.answer)[:_LONGEST])]
    return Content("\n").join(rows)
