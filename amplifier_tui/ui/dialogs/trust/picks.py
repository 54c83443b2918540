"""What is ticked and folded in the question of trust: items, publishers and a folder for good."""

from typing import Final

from amplifier_tui.host.events import TrustAsked, TrustItem

About = tuple[str, ...]
"""What a row stands for: `item KEY`, `owner GROUP OWNER`, `later OWNER` or `folder`."""

FOLDER: Final[About] = ("folder",)
_FOLDED_ABOVE: Final = 3
"""An owner with more new sources than this is folded at first; nothing else ever is."""


def _is_long(items: list[TrustItem]) -> bool:
    return sum(item.group == "code" and not item.was for item in items) > _FOLDED_ABOVE


def owner_of(item: TrustItem) -> About:
    """Return what an item's row is folded into."""
    return ("owner", item.group, item.owner)


class TrustPicks:
    """What the user ticked and folded; outlives a dialog that gave way to typing.

    Attributes:
        folded: Rows of owners whose items are not shown.
        choosing: Only what is ticked would count; else everything does.
        publishers: Owners that can be trusted for good, as asked about.
        offers_folder: Whether anything asked about is of the user's own folder.
    """

    def __init__(self, asked: TrustAsked) -> None:
        self.items = asked.items
        self.choosing = False
        owners = dict.fromkeys(item.owner for item in asked.items)
        published = (item.owner for item in asked.items if item.is_published)
        self.publishers = tuple(dict.fromkeys(published))
        self.offers_folder = bool(asked.folder) and asked.folder in owners
        self._folder = asked.folder
        self._members: dict[About, list[TrustItem]] = {}
        for item in asked.items:
            for about in (("item", item.key), owner_of(item)):
                self._members.setdefault(about, []).append(item)
        self.folded = {about for about, each in self._members.items() if _is_long(each)}
        self._ticked: set[str] = set()
        self._later: set[About] = set()

    @property
    def owners(self) -> tuple[str, ...]:
        """Publishers whose things count from now on."""
        return tuple(owner for owner in self.publishers if ("later", owner) in self._later)

    @property
    def folder(self) -> bool:
        """Whether the folder is the user's own from now on."""
        return FOLDER in self._later

    @property
    def accepted(self) -> frozenset[str]:
        """Keys of the items that would count."""
        return frozenset(item.key for item in self.items if not self.choosing or self.has(item))

    def has(self, item: TrustItem) -> bool:
        """Whether an item is ticked, by itself or with all of its owner."""
        return item.key in self._ticked or self._is_implied(item)

    def _is_implied(self, item: TrustItem) -> bool:
        return item.owner in self.owners or (self.folder and item.owner == self._folder)

    def members(self, about: About) -> list[TrustItem]:
        """Return the items of a row."""
        return self._members.get(about, [])

    def mark(self, about: About) -> str:
        """Return the box before a row; empty where nothing is to be ticked."""
        if about == FOLDER or about[0] == "later":
            return "[✓] " if about in self._later else "[ ] "
        if not self.choosing:
            return ""
        ticked = [self.has(item) for item in self.members(about)]
        return "[✓] " if all(ticked) else "[-] " if any(ticked) else "[ ] "

    def toggle(self, about: About) -> None:
        """Tick a row, or take its tick away; a tick on an item or an owner begins to choose."""
        if about == FOLDER or about[0] == "later":
            self._later ^= {about}
            return
        self.choosing = True
        keys = {item.key for item in self.members(about)}
        if keys <= self._ticked:
            self._ticked -= keys
        else:
            self._ticked |= keys
