"""The rows of the question of trust: by group and owner, each item with all that it says."""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, reveal
from amplifier_tui.ui.dialogs.trust.picks import FOLDER, About, TrustPicks, owner_of
from amplifier_tui.ui.state.formats import plural, short_path
from amplifier_tui.ui.widgets.question_strip import strip_row
from amplifier_tui.ui.widgets.styled import Role, Row, pieces_width, spread

if TYPE_CHECKING:
    from amplifier_tui.host.events import TrustAsked, TrustItem

_GROUPS: Final = {
    "code": ("Code", "would be fetched, installed and run", "source"),
    "skills": ("Skills", "instructions the model may follow, and their scripts", "skill"),
    "power": ("Power", "settings of what guards you", "setting"),
    "files": ("Files", "of yours, to be put before the model", "file"),
    "keys": ("Keys", "of yours, or what is said, and where they would go", "key"),
}
_ALONG: Final = "with what it brings of the same publisher; all else is asked about"
_LEAST = 12
"""Cells for words in a row."""


@dataclass(frozen=True, slots=True)
class TrustRow:
    """One row of the list; `about` is empty where there is nothing to tick."""

    row: Row
    about: About = ()
    own: bool = False
    """Whether it is the first row of what it is about."""


def counts(asked: "TrustAsked") -> str:
    """Return how much is asked about: `23 sources · 1 setting`."""
    found = [(noun, _count(asked, group)) for group, (_, _, noun) in _GROUPS.items()]
    return " · ".join(plural(count, noun) for noun, count in found if count)


def strip(asked: "TrustAsked", key: str, count: int, width: int) -> Content:
    """Return the row of `width` cells that says what waits; `key` opens one of `count`."""
    title = one_line(asked.title, 200)
    what = Content.assemble(
        ("! ", "$text-warning bold"), title, (f"  {counts(asked)}", "$text-muted")
    )
    return strip_row(what, (), key, count, width)


def _count(asked: "TrustAsked", group: str) -> int:
    return sum(item.group == group for item in asked.items)


def trust_rows(asked: "TrustAsked", picks: TrustPicks, width: int) -> list[TrustRow]:
    """Return the whole list in `width` cells, without what is folded."""
    rows: list[TrustRow] = []
    for group, (name, what, noun) in _GROUPS.items():
        owners = dict.fromkeys(owner_of(item) for item in asked.items if item.group == group)
        if owners:
            rows += _heading(name, what, width, after=rows)
        if group == "code" and any(item.is_published for item in asked.items):
            rows += _block(_ALONG, "muted", [("  ", "text")], width, (), own=False)
        for about in owners:
            members = picks.members(about)
            lead: Row = [
                ("▸ " if about in picks.folded else "▾ ", "muted"),
                (picks.mark(about), "text"),
            ]
            rows += _owner_rows(about, plural(len(members), noun), lead, asked, width)
            for item in () if about in picks.folded else members:
                rows += _item_rows(item, picks.mark(("item", item.key)), asked.folder, width)
    later: list[tuple[About, str]] = [
        (("later", owner), f"all of {owner}, also later") for owner in picks.publishers
    ]
    if picks.offers_folder:
        later.append((FOLDER, f"this folder, also later: {_path(asked.folder)}"))
    if later:
        rows += _heading("From now on", "counts without a question", width, after=rows)
    for about, text in later:
        rows += _block(text, "text", [("  ", "text"), (picks.mark(about), "text")], width, about)
    return rows


def _heading(name: str, what: str, width: int, after: list[TrustRow]) -> Iterator[TrustRow]:
    if after:
        yield TrustRow([])
    yield TrustRow(spread([(name, "head"), (f"  {what}", "muted")], [], width))


def _owner_rows(
    about: About, count: str, lead: Row, asked: "TrustAsked", width: int
) -> Iterator[TrustRow]:
    owner = about[2]
    name = "this folder" if owner and owner == asked.folder else _path(owner) or "unknown"
    yield from _block(name, "strong", lead, width, about, after=[(f" · {count}", "muted")])


def _item_rows(item: "TrustItem", mark: str, folder: str, width: int) -> Iterator[TrustRow]:
    """Yield everything an item says: nothing that is decided on is cut off."""
    about: About = ("item", item.key)
    lead: Row = [("    ", "text"), (mark, "text")]
    deeper: Row = [(" " * (pieces_width(lead) + 2), "text")]
    title, where = _shown(item.title) or "unnamed", _path(item.where, folder)
    beside = not item.was and cell_len(title + where) < width - pieces_width(lead)
    right: Row = [("changed", "warning")] if item.was else [(where, "muted")] if beside else []
    yield from _block(title, "text", lead, width, about, right=right)
    if item.was:
        was, now = [*deeper, ("was  ", "muted")], [*deeper, ("now  ", "muted")]
        yield from _block(_shown(item.was), "warning", was, width, about, own=False)
        # What is said of a file may be the same words while what stands in it is not.
        same = "its content is another" if item.was.endswith(item.detail) else ""
        words = " · ".join(filter(None, (_shown(item.detail), same)))
        yield from _block(words, "text", now, width, about, own=False)
    elif item.detail:
        role: Role = "text" if item.group == "power" else "muted"
        yield from _block(_shown(item.detail), role, deeper, width, about, own=False)
    if where and not beside:
        yield from _block(where, "muted", deeper, width, about, own=False)


def _block(
    text: str,
    role: Role,
    lead: Row,
    width: int,
    about: About,
    *,
    after: Row | None = None,
    right: Row | None = None,
    own: bool = True,
) -> Iterator[TrustRow]:
    """Yield a text in as many rows as it needs; `after` and `right` are on the first of them.

    Where that leaves no room for words there is no indent, and those two have a row of their own.
    """
    after, right = after or [], right or []
    if width - pieces_width(lead) < _LEAST:
        lead = [(part.lstrip(), each) for part, each in lead]
    indent = pieces_width(lead)
    beside = pieces_width([*after, *right]) + bool(right)
    if beside and width - indent - beside < _LEAST:
        yield from _block(text, role, lead, width, about, own=own)
        yield TrustRow(spread([(" " * indent, "text"), *after, *right], [], width), about)
        return
    first, *more = wrapped(text, width - indent - beside)
    yield TrustRow(spread([*lead, (first, role), *after], right, width), about, own)
    for part in more:
        yield TrustRow([(" " * indent, "text"), (part, role)], about)


def _shown(text: str) -> str:
    """Return text as it is, on one line: what is hidden in it is written out."""
    return reveal(text).expandtabs(1).replace("\n", "‹U+000A›")


def _path(text: str, folder: str = "") -> str:
    inside = text.removeprefix(f"{folder}/") if folder else text
    return _shown(short_path(inside, str(user_home()))) if text else ""


@lru_cache(4096)
def wrapped(text: str, room: int) -> tuple[str, ...]:
    """Return text in rows of at most `room` cells, broken at words where there are any."""
    return tuple(row.plain for row in Content(text).wrap(max(1, room))) or ("",)
