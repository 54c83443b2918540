"""What configures programs in a workspace, and what of it a command made."""

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Set
from itertools import chain, islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.held.renames import Renames
from amplifier_tui.base.commands.programs import folders_on_path, own_code, shadows
from amplifier_tui.base.files.nearby import (
    FolderListing,
    goes_on,
    leads_past,
    links_behind,
    links_below,
    marks_environment,
    nearby,
    obeyed_from_home,
    target_of,
)
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.opened.folders import files_below
from amplifier_tui.base.protected import configures_as_link, configuring, starts_from_home
from amplifier_tui.base.repositories.places import is_git_folder
from amplifier_tui.base.repositories.settings import places_named_by_settings
from amplifier_tui.modules.tool_bash.sandbox.aside import Reopening
from amplifier_tui.modules.tool_bash.sandbox.git_folders import (
    folders_of_git,
    is_head,
    is_link_of_git,
    is_of_git,
    is_repository,
    links_that_git_runs,
    places_of_git,
    repository_named,
)
from amplifier_tui.modules.tool_bash.sandbox.opened import Identity, has_one_name, identity_of
from amplifier_tui.modules.tool_bash.sandbox.seen import Entry, Known
from amplifier_tui.modules.tool_bash.sandbox.tracked import checkouts

_MOST_FOLDERS: Final = 40_000
"""Of a hundred thousand files and more."""
_MOST_INSIDE: Final = 2_000
_SETTLED: Final = 100_000_000
"""Nanoseconds by which the clock of a disk may be behind."""


def _entry(place: Path, identity: Identity) -> Entry:
    return place.name, identity, identity_of(place.parent)


def _is_folder(identity: Identity | None) -> bool:
    return identity is not None and stat.S_ISDIR(identity[2])


class Look:
    """A look at what configures programs, the nearest first, and not into very many folders.

    Of a repository that is its folder, and in it what git obeys; of one that is not called `.git`
    without the folder. Blocking, a few hundredths of a second once the folders are known.

    Args:
        workspace: Where to look.
        known: What earlier looks found, and this one adds to.
        before: The look before the command. What it took the right to list from the owner, the
            owner gets back.

    Attributes:
        places: What was found, each with what tells it from another of its name.
        contents: Digests of the small files among them, once a command is held from them.
        opened: Folders whose owner was given back the right to list them.
        checkouts: The folders of repositories whose files a command may change.
        left_out: Whether there are folders that no look has come to, for the first time.
        missed: Whether the command made folders that were not looked into.
    """

    def __init__(self, workspace: Path, known: Known, before: "Look | None" = None) -> None:
        self.places: dict[Path, Identity] = {}
        self.contents: dict[Path, bytes] = {}
        self.opened: list[Path] = []
        self.missed = self.left_out = False
        self._workspace = workspace
        self._known = known
        self._held: dict[Path, list[Identity | None]] = {}
        self._targets: dict[Path, tuple[Path, Identity | None]] = {}
        self._ways: dict[Path, tuple[Path, dict[Path, Identity | None]]] = {}
        """Where links led before, and the links behind them that did."""
        self._appearing: dict[Path, str] = {}
        """What counts where it was not there before, and where it leads."""
        self._of_another: set[Path] = set()
        self._loose, self._forgotten = set[Path](), set[Path]()
        self._renames = Renames(())
        self._home = user_home().resolve()
        self._on_path = folders_on_path(workspace)
        self._first = before is None
        self._began = time.time_ns()
        if before is None:
            self._listing = FolderListing(self._counts, known.entries, _MOST_FOLDERS)
            self._walk(workspace)
            # What commands made may be nearer, and more than is looked at.
            self._walk_again(known.listed)
            self.left_out = self._listing.is_full and not known.left_out
            known.left_out |= self.left_out
        else:
            opening = Reopening(before._listing, workspace, self._counts, known.entries)
            self._listing = opening
            self._look_after(before)
            self.opened = sorted(opening.opened)
        for folder in self._on_path:
            for entry in self._listing.entries(folder):
                if shadows(Path(entry), workspace):
                    self._add([Path(entry)])
        self._add((*own_code(workspace), *obeyed_from_home(workspace)))
        self.checkouts = checkouts(self.places, workspace)
        for checkout in self.checkouts:
            named = places_named_by_settings(checkout)
            inside = [each for each in named if workspace in each.parents]
            self._add(chain(inside, *map(links_below, inside)))
            if checkout in workspace.parents:
                self._add(links_that_git_runs(checkout))

    def _look_after(self, before: "Look") -> None:
        listing, old = self._listing, before._listing
        self._walk(self._workspace)
        # Among very many entries these may not have been come across again.
        fresh = {folder for folder in listing.unknown if old.knew(folder)}
        come_across = old.listed | old.unknown
        found = self._walk_again(old.listed)
        fresh |= {folder for folder in found if folder not in come_across}
        loose = before._loose.copy()
        # By another name, too, where a folder above was renamed.
        renamed = {before.places.get(folder) for folder in loose} - {None}
        loose |= {place for place, identity in self.places.items() if identity in renamed}
        for folder in loose:
            self._add(files_below(folder))
        # A copy: what is taken meanwhile is added from other threads.
        self._add(set(before.places) - self.places.keys())
        for folder in sorted(fresh - listing.listed):
            if len(listing.listed) < _MOST_FOLDERS:
                listing.unknown.discard(folder)
                self._walk(folder)
        suspects = {folder for folder in listing.unknown | fresh if old.knew(folder)}
        suspects -= listing.listed
        self.missed = not suspects <= self._known.suspects
        self._known.suspects |= suspects

    def _walk_again(self, folders: Set[Path]) -> list[Path]:
        """Take what is in folders of an earlier look; returns the folders in them."""
        found = []
        for folder in sorted(folders - self._listing.listed):
            if ".git" not in folder.relative_to(self._workspace).parts:
                for entry in self._listing.entries(folder):
                    self._take(entry, folder)
                    if goes_on(entry):
                        found.append(Path(entry))
        self._listing.unknown -= self._listing.listed
        return found

    def hold(self, read_only: Iterable[Path]) -> None:
        """Keep in mind what a command can't change, unless it replaces a folder above it."""
        # What is mounted over a link is mounted over where it leads.
        for place in read_only:
            target = target_of(place)
            self._held[place if target is None else target] = self._above(target or place)
            if target is not None:
                self._targets[place] = (target, identity_of(target))
        above = {folder for place in self._held for folder in self._folders_above(place)}
        self._renames.close()
        self._renames = Renames(above)
        # From here on that is known; what is mounted may be another's from before.
        self._held = {
            place: found
            for place, found in self._held.items()
            if self.places.get(place) in (None, identity_of(place))
        }
        # In a folder that is renamed they may turn out not to be held.
        self._look_inside(
            place
            for place in self.places
            if not self._is_below_held(place)
            or (".git" not in place.parts and self._folders_above(place))
        )
        contents = ((place, self._known.seen.add(place)) for place in self.places)
        self.contents = {place: found for place, found in contents if found}
        self._known.listed |= self._listing.listed
        self._known.identities |= {_entry(place, each) for place, each in self.places.items()}

    def with_ways(self) -> frozenset[Path]:
        """Return the places, and the links behind those of them that are links."""
        return frozenset((*self.places, *(each for _, way in self._ways.values() for each in way)))

    def lose(self) -> None:
        """Hold nothing any more that is gone: what comes in its place may be a command's.

        Nor what has another name, which is not mounted over, nor what is in renamed folders.
        """
        renamed = self._renames.found()
        self._held = {
            place: above
            for place, above in self._held.items()
            if has_one_name(place) and renamed.isdisjoint(place.parents)
        }

    def remember_inside(self) -> None:
        """Know what is in the folders that a command can't change, too: git may take it up."""
        folders = [each for each in self.places if ".git" not in each.parts and each.is_dir()]
        for file in islice(chain.from_iterable(map(files_below, folders)), _MOST_INSIDE):
            self._known.seen.add(file)

    def made_since(self, now: "Look") -> list[Path]:
        """Return what a command made or changed, as a later look has it.

        What is in one of these is left out, and what was moved along with a folder, what could not
        be looked at before, and what it could not change (`changed_since`).
        """
        appeared = {
            place for place, leads in now._appearing.items() if self._appearing.get(place) != leads
        }
        now._add(appeared)
        found = {place for place, identity in now.places.items() if self._is_made(place, identity)}
        older = {place for place in found if self._only_counts_now(place, now)}
        for place in older:
            self.take(place, now)
        found -= older
        # Without it the rest of such a repository takes no effect.
        inert = {place.parent for place in found & appeared if is_head(place.name)}
        made = {
            self._led_by(place) or self._misled_by(place) or place
            for place in found
            if place in appeared or inert.isdisjoint(place.parents) or now._counts_itself(place)
        }
        now._add(made - found)
        self._known.listed |= now._listing.listed
        return sorted(place for place in made if made.isdisjoint(place.parents))

    def changed_since(self, now: "Look") -> list[Path]:
        """Return what was changed though the command was kept from it, unless others replaced it.

        What is mounted over a file goes when that is replaced from outside.
        """
        return [
            place
            for place, identity in now.places.items()
            if self.places.get(place, identity) != identity and self._is_held(place)
        ]

    def take(self, place: Path, now: "Look") -> set[Path]:
        """Take a place, and what is in it, as a later look has it for one that was there.

        Returns:
            What that is.
        """
        taken = {each: now.places[each] for each in now.places if place in (each, *each.parents)}
        self.places |= taken
        self._appearing |= {each: now._appearing[each] for each in taken.keys() & now._appearing}
        self._look_inside(taken)
        self._known.identities |= {_entry(each, identity) for each, identity in taken.items()}
        return set(taken)

    def is_new(self, folder: Path) -> bool:
        """Whether a folder was not there."""
        listing = self._listing
        known = folder in listing.listed or folder in listing.unknown
        return self._workspace in folder.parents and not known and listing.knew(folder)

    def take_now(self, place: Path, *, alone: bool = False) -> set[Path]:
        """Take what configures programs of a place, and of the folders it is in, as it is now.

        Args:
            alone: Nothing else that is in these folders.

        Returns:
            What that is.
        """
        taken = set()
        for each in (place, *place.parents):
            identity = identity_of(each)
            counts = (
                ".git" in each.parts
                or configuring(each.name, each.parent.name)
                or is_head(each.name)
            )
            if counts and self._workspace in each.parents and identity is not None:
                self.places[each] = identity
                self._known.identities.add(_entry(each, identity))
                taken.add(each)
        self._appearing |= {each: "" for each in taken if is_head(each.name)}
        self._look_inside(taken, {place} if alone else None)
        return taken

    def forget(self, place: Path) -> None:
        """Take a place for one that was not there."""
        self.places.pop(place, None)
        self._appearing.pop(place, None)
        self._forgotten.add(place)

    def _look_inside(self, places: Iterable[Path], only: set[Path] | None = None) -> None:
        """Take what is in folders that commands may write in: the folders stay the same.

        Args:
            only: Nothing else; all without it.
        """
        # Also where a job has taken it out of the way for the moment.
        folders = (place for place in places if _is_folder(self.places.get(place)))
        loose = {place for place in folders if not is_repository(place)}
        self._loose |= {folder for folder in loose if not os.path.islink(folder)}
        for folder in self._loose & loose:
            self._add(files_below(folder) if only is None else only)

    def _is_below_held(self, place: Path) -> bool:
        return any(self._is_held(each) for each in (place, *place.parents))

    def _counts(self, name: str, folder: Path) -> bool:
        """Whether a file is one to look at."""
        counts = configuring(name, folder.name) and not marks_environment(name, folder)
        return counts or is_head(name) or folder == self._home or folder in self._on_path

    def _counts_itself(self, place: Path) -> bool:
        """Whether a place, or a folder that it is in, counts by its name, in whatever folder."""
        return any(
            configuring(each.name, each.parent.name)
            for each in (place, *place.parents)
            if self._workspace in each.parents
        )

    def _led_by(self, place: Path) -> Path | None:
        """Return the link that was put in the way to a place: no look follows one."""
        folders = (each for each in reversed(place.parents) if self._workspace in each.parents)
        return next(filter(os.path.islink, folders), None)

    def _is_made(self, place: Path, identity: Identity) -> bool:
        was, known = self.places.get(place), self._known
        if was == identity:
            return self._leads_elsewhere(place)
        if _entry(place, identity) in known.identities or any(
            self._is_held(folder) and self.places.get(folder) == identity_of(folder)
            for folder in place.parents
        ):
            return False
        # What could not be mounted may be touched, and what was there may come back.
        if known.seen.is_as_it_was(place) or self._is_held(place):
            return False
        return was is not None or (
            self._listing.knew(place)
            or place.parent in known.listed
            or not known.suspects.isdisjoint(place.parents)
        )

    def _only_counts_now(self, place: Path, now: "Look") -> bool:
        """Whether settings or links name a place only now, and it is older than the command."""
        known = place in self.places or not self._forgotten.isdisjoint((place, *place.parents))
        if known or is_of_git(place) or now._counts_itself(place):
            return False
        inodes, until = self._listing.inodes, self._began - _SETTLED
        try:
            for folder in place.parents:
                found = folder.lstat()
                if folder == self._workspace:
                    break
                # One of another name may have been put there, with what is older in it.
                same = inodes.get(folder) == (found.st_dev, found.st_ino)
                if not same and found.st_ctime_ns >= until:
                    return False
            inside = islice(place.rglob("*"), _MOST_INSIDE)
            return all(each.lstat().st_ctime_ns < until for each in (place, *inside))
        except OSError:
            return False

    def _leads_elsewhere(self, link: Path) -> bool:
        """Whether a link leads elsewhere by another one, or something else was put there."""
        if self._misled_by(link) is not None:
            return True
        if link not in self._targets:
            return False
        target, was = self._targets[link]
        return not self._is_held(target) and (target_of(link), identity_of(target)) != (target, was)

    def _misled_by(self, link: Path) -> Path | None:
        """Return the link behind another that is not the one it was, and leads it elsewhere."""
        target, way = self._ways.get(link, (link, {}))
        if not way or target_of(link) == target:
            return None
        return next((each for each, was in way.items() if identity_of(each) != was), None)

    def keeps(self, place: Path) -> bool:
        """Whether a command can't have changed or replaced a place, and nobody else did."""
        if self._workspace not in place.parents:
            return True
        return self._is_held(place) and self.places.get(place) == identity_of(place)

    def _is_held(self, place: Path) -> bool:
        return (
            place in self._held
            and place not in self._targets
            and self._held[place] == self._above(place)
        )

    def _above(self, place: Path) -> list[Identity | None]:
        return [identity_of(each) for each in self._folders_above(place)]

    def _folders_above(self, place: Path) -> list[Path]:
        return [each for each in place.parents if self._workspace in each.parents]

    def _walk(self, folder: Path) -> None:
        for entry, at in nearby(folder, self._listing):
            self._take(entry, at)

    def _take(self, entry: "os.DirEntry[str]", folder: Path) -> None:
        if entry.name == ".git" and entry.is_dir(follow_symlinks=False):
            self._add(places_of_git(Path(entry), self._listing))
        elif entry.name == ".git":
            self._add([Path(entry)])
            kept = repository_named(Path(entry))
            # One of another name that worktrees beside it are made of.
            if self._first and kept is not None and self._workspace in kept.parents:
                self._add([kept] if ".git" not in kept.parts else ())
        elif is_head(entry.name):
            # By this file a folder becomes a repository. Of one that was, git writes it itself.
            if is_git_folder(folder) and folder not in self._of_another:
                self._appearing[Path(entry)] = ""
                self._of_another |= dict(folders_of_git(folder, self._listing)).keys() - {folder}
                self._add(set(places_of_git(folder, self._listing)) - {folder})
        elif (
            configuring(entry.name, folder.name)
            or (folder == self._home and starts_from_home(Path(entry.name)))
            or (configures_as_link(entry.name) and entry.is_symlink())
        ):
            self._add([Path(entry), *links_below(Path(entry))])
        elif entry.is_symlink() and leads_past(Path(entry)):
            with contextlib.suppress(OSError):
                self._appearing[Path(entry)] = os.readlink(entry)

    def _add(self, places: Iterable[Path]) -> None:
        for place in places:
            identity = identity_of(place)
            if identity is not None:
                self.places[place] = identity
            # What is written where a link leads takes effect as well. One that a command makes goes
            # itself, and not what it leads to.
            target = target_of(place) if self._first and not is_link_of_git(place) else None
            if target is None or place in self._ways:
                continue
            way = (each for each in links_behind(place) if self._workspace in each.parents)
            self._ways[place] = (target, {each: identity_of(each) for each in way})
            if self._workspace in target.parents:
                self._add([target, *links_below(target)])
