"""What can follow the leader key: its chords by group, on as many pages as they need."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.keys.action import DIGITS, Action
from amplifier_tui.ui.keys.actions import groups
from amplifier_tui.ui.keys.keymap import Keymap, show_key

_COLUMN: Final = 26
"""The fewest cells of a column of chords."""
_ROOMY: Final = 3
"""Columns of chords that there are where they have room, though fewer would hold them."""
_TURNING: Final = (("tab", 1), ("right", 1), ("pagedown", 1), ("shift+tab", -1), ("left", -1))
"""Keys that turn the pages where they are no chords, and by how many."""

Chord = tuple[Content, str]
"""The key as it is shown, and what it does; a heading has no key."""
Group = tuple[str, list[list[Chord]]]
"""A heading, and the rows of each of its chords."""
_MORE: Final = Content(" ")
"""In place of the key where a title goes on."""


class LeaderPopup(Sheet[str]):
    """Takes one key and returns the id of its action, and what it takes; None for any other key.

    What has no room is on further pages, which one of a few keys turns.
    """

    HEARS_ALL = True
    DEFAULT_CSS = """
    LeaderPopup > #sheet { padding: 1 2; }
    LeaderPopup.-small > #sheet { padding: 0 2; }
    """

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._chords = keymap.by_chord()
        self._leader = keymap.leader()
        self.turning = {key: by for key, by in _TURNING if key not in self._chords}
        """Keys that turn the pages, and by how many."""
        self.pasted = ""
        """What was pasted in place of a key: it is no chord, whatever it begins with."""
        self._pages: list[list[Content]] = []
        self._page = 0

    def _content(self) -> ComposeResult:
        yield Static(id="chords")

    def _fit(self, rows: int) -> None:
        width = max(20, self.app.size.width - 4)
        rows -= 0 if self.has_class("-small") else 2
        self._pages = chord_pages(self._chords, width, rows - 1)
        self._show(self._page)

    def _show(self, page: int) -> None:
        self._page = page % len(self._pages)
        head = chord_head(self._leader, self._place(), max(20, self.app.size.width - 4))
        lines = [head, *self._pages[self._page]]
        self.query_one("#chords", Static).update(Content("\n").join(lines))

    def _place(self) -> list[str]:
        """Return which page is shown and what leads to the others, the first thing first."""
        if len(self._pages) == 1:
            return []
        found = [f"page {self._page + 1} of {len(self._pages)}"]
        found += [f"{show_key(key)}: next" for key, by in self.turning.items() if by > 0][:1]
        for key, action in self._chords.items():
            if action.id == "app.palette":
                found.append(f"{show_key(key)}: all")
        return found

    def on_key(self, event: events.Key) -> None:
        """Take the key, whatever it is."""
        event.stop()
        event.prevent_default()
        self.take(event.key)

    def on_paste(self, event: events.Paste) -> None:
        """Close, and leave what was pasted to what had the keys before."""
        event.stop()
        event.prevent_default()
        self.pasted = event.text
        self.finish()

    def take(self, key: str) -> None:
        """Close with what the key means, or with nothing; or show another page."""
        by_digit = self._chords.get(DIGITS)
        action = self._chords.get(key)
        if action is not None:
            self.finish(action.id)
        elif by_digit is not None and key in "123456789":
            self.finish(f"{by_digit.id} {key}")
        elif key in self.turning and len(self._pages) > 1:
            self._show(self._page + self.turning[key])
        else:
            self.finish()

    def on_click(self) -> None:
        """A click closes it."""
        self.finish()


def chord_head(leader: str, place: Sequence[str], width: int) -> Content:
    """Return the first row: the leader, and as much of where one is as `width` cells hold."""
    for lead in ("  then   ", "  "):
        for parts in range(len(place), 0, -1):
            said = lead + " · ".join(place[:parts])
            if len(leader) + len(said) <= width and (parts > 1 or lead == "  "):
                return Content.assemble((leader, "bold $text-secondary"), (said, "$text-muted"))
    return Content.assemble((leader, "bold $text-secondary"), ("  then", "$text-muted"))


def chord_pages(chords: dict[str, Action], width: int, rows: int) -> list[list[Content]]:
    """Lay chords, by their key, out in columns under the names of their groups; at least one page.

    There are as few columns as hold them, and up to three where these have room for every title.
    All pages have as many rows, so that nothing moves when one is turned.
    """
    keys = {action.id: _shown(chord) for chord, action in chords.items()}
    named = [
        (name, [(keys[action.id], action.title) for action in members])
        for name, members in groups(chords.values())
    ]
    lead = max((key.cell_length for key in keys.values()), default=0)
    longest = max((len(action.title) for action in chords.values()), default=0) + 3 + lead
    rows = max(2, rows)
    widest = max(1, width // _COLUMN)
    roomy = max(1, min(_ROOMY, width // longest))
    for columns in range(min(roomy, widest), widest + 1):
        wrapped = _wrapped(named, width // columns - lead - 3)
        laid = _one_page(wrapped, columns, rows)
        if laid:
            break
    else:
        laid = _columns(wrapped, rows, gap=0)
    size = min(width // columns, longest)
    height = max(map(len, laid), default=1)
    pages = [laid[at : at + columns] for at in range(0, len(laid), columns)] or [[]]
    return [_page_lines(page, size, height) for page in pages]


def _shown(chord: str) -> Content:
    return Content.styled(f" {show_key(chord)} ", "bold on $background")


def _wrapped(named: Iterable[tuple[str, list[Chord]]], room: int) -> list[Group]:
    """Return the groups with every title in rows of `room` cells."""

    def rows(key: Content, title: str) -> list[Chord]:
        first, *more = textwrap.wrap(title, max(8, room)) or [title]
        return [(key, first), *((_MORE, words) for words in more)]

    return [(name, [rows(*member) for member in members]) for name, members in named]


def _one_page(named: Iterable[Group], columns: int, rows: int) -> list[list[Chord]]:
    """Return columns of even heights that hold all, groups apart if they can be; else none."""
    for gap in (1, 0):
        for height in range(2, rows + 1):
            laid = _columns(named, height, gap)
            if len(laid) <= columns:
                return laid
    return []


def _columns(named: Iterable[Group], height: int, gap: int) -> list[list[Chord]]:
    """Fill columns of `height` rows, one after the other; each begins with a heading."""
    done: list[list[Chord]] = []
    column: list[Chord] = []
    for name, members in named:
        heading = (Content(), name)
        if column and len(column) + gap + 1 + len(members[0]) > height:
            done.append(column)
            column = []
        column += [(Content(), "")] * gap if column else []
        column.append(heading)
        for member in members:
            if len(column) + len(member) > height and len(column) > 1:
                done.append(column)
                column = [heading]
            column += member
    return [*done, column] if column else done


def _page_lines(page: Sequence[Sequence[Chord]], size: int, height: int) -> list[Content]:
    """Return the rows of a page, the titles of each column in line."""
    lines = [Content() for _ in range(height)]
    for column in page:
        lead = max(key.cell_length for key, _ in column) + 1
        for at in range(height):
            key, title = column[at] if at < len(column) else (Content(), "")
            cell = Content.styled(title, "$text-secondary bold")
            if key:
                cell = Content.assemble(key, " " * (lead - key.cell_length), title)
            cell = cell.truncate(size - 2, ellipsis=True)
            lines[at] = Content.assemble(lines[at], cell.pad_right(size - cell.cell_length))
    return lines
