"""What a command in the sandbox made and may not take effect: it is moved aside, and said."""

import os
import shutil
import threading
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.beside import is_others, made_beside, unwatch, watch
from amplifier_tui.base.text import one_line, printable
from amplifier_tui.modules.tool_bash.sandbox.aside import move_aside, rename_here, write_into
from amplifier_tui.modules.tool_bash.sandbox.configuring import Look
from amplifier_tui.modules.tool_bash.sandbox.git_folders import (
    Named,
    Runs,
    is_of_git,
    is_one_line,
    leads_back,
    named_beside,
    remote_tips,
    rest_of_list,
    tips_of,
)
from amplifier_tui.modules.tool_bash.sandbox.git_outside import (
    given_outside,
    makes_repository_outside,
)
from amplifier_tui.modules.tool_bash.sandbox.git_writing import TAKES_EFFECT, GitWriting
from amplifier_tui.modules.tool_bash.sandbox.kept import Aside
from amplifier_tui.modules.tool_bash.sandbox.opened import Identity, identity_of
from amplifier_tui.modules.tool_bash.sandbox.taken_up import Staged, committed, staged, unstage
from amplifier_tui.modules.tool_bash.sandbox.tracked import (
    Commits,
    is_as_tracked,
    repository_around,
)
from amplifier_tui.modules.tool_bash.telling import LONGEST_NAME, Telling, reason_of
from amplifier_tui.modules.tool_bash.users_places import UsersPlaces

_MOST_LOOKS: Final = 5
_SHOWS_OTHERS: Final = "show other contents for what is there (`git replace`): they are deleted"
_WHERE_CHECKED_OUT: Final = "would take effect on other programs where it is checked out"
_SHORT: Final = 10
"""Digits of a commit's name."""
_RUNS_LATER: Final = "would run commands when a rebase or a cherry-pick is continued"


class Made:
    """What one command makes. Make it before the first look.

    Args:
        workspace: Where it may write.
        aside: Keeps what it made.
        users: What is kept from it.
    """

    def __init__(self, workspace: Path, aside: Aside, users: UsersPlaces) -> None:
        self._workspace = workspace
        self._aside = aside
        self._before: Look | None = None
        self._git = GitWriting()
        self._of_git = self._fetches = self._takes_up = False
        self._tips: dict[Path, Set[str]] = {}
        self._places: Set[Path] = frozenset()
        self._named: dict[Path, Named] = {}
        self._staged: dict[Path, Staged] = {}
        self._commits: dict[Path, Commits] = {}
        self._runs: Runs = {}
        self._told_of: Runs = {}
        self._telling = Telling(workspace, aside.folder, aside.tell)
        self._renamed = False
        self._patience = 0.0
        self._looking = threading.Lock()
        self._users = users
        self._early: list[Path] = []
        self._excused: list[Callable[[Path], bool]] = []
        watch(self)

    def begin(
        self, before: Look, git: GitWriting, *, of_git: bool, fetches: bool, takes_up: bool
    ) -> None:
        """Take what was there before the command. Blocking.

        Args:
            before: The look.
            git: The folders of git in which it may write.
            of_git: Whether it is git, and may change what git knows.
            fetches: Whether a rule of the user's lets it fetch: then what remotes have counts as
                theirs.
            takes_up: Whether it may change files of a checkout, or the index.
        """
        self._fetches = fetches
        self._git, self._of_git = git, of_git
        if of_git:
            before.remember_inside()
            self._places = places = before.with_ways()
            around = before.checkouts
            for checkout in around:
                self._aside.distrusted.forgive(checkout, self._aside.known.seen, places)
            self._tips = {checkout: tips_of(checkout) for checkout in around}
            self._named = {checkout: named_beside(checkout) for checkout in around}
            distrusted = self._aside.distrusted.all()
            self._staged = {checkout: staged(checkout, distrusted, places) for checkout in around}
            self._takes_up = self._users.takes_up = takes_up
            self._aside.take_commits()
        self._runs = {
            place: runs
            for place, runs in git.runs().items()
            if self._aside.left.get(place, ()) != identity_of(place)
        }
        if before.left_out:
            self.tell(
                "This workspace has more folders than can be looked at: what commands in the "
                "sandbox make in the last of them and would take effect is not found"
            )
        self._before = before
        for place in self._early:
            self._users.add(before.take_now(place, alone=True))
        self._aside.begun(self)

    def take_commits(self) -> None:
        """Tell of commits that came and hold what would take effect. Blocking."""
        came: set[str] = set()
        found: dict[str, list[Path]] = {}
        for checkout, tips in self._tips.items():
            tips |= self._tips_of_remotes(checkout)
            known, was = self._known_commits(checkout), self._staged[checkout]
            named = self._named[checkout]
            new, holding = committed(checkout, tips, named, known, was, self._places)
            # Worktrees share commits: in one of them it may be a file of the user's.
            found = {each: found[each] for each in found if each in holding or each not in new}
            found |= {each: holding[each] for each in holding if each not in came}
            came |= new
        telling = found.keys() - self._aside.distrusted.all()
        if telling:
            self._aside.distrusted.add(telling)
        for commit in sorted(telling):
            holds = f"holds {self._telling.names(found[commit])}, which {_WHERE_CHECKED_OUT}"
            self._telling.note(
                f"Commit {commit[:_SHORT]} {holds}",
                f"Commit {commit[:_SHORT]}, of a command in the sandbox, {holds}: look at it "
                f"before you check it out (`git show {commit[:_SHORT]}`)",
            )

    def _take_staged(self) -> None:
        """Take out of the index what a command had git take up there."""
        for checkout, was in self._staged.items() if self._takes_up else ():
            found, done = unstage(checkout, self._known_commits(checkout), was, self._places)
            if found:
                names = self._telling.names(found)
                end = (
                    "taken out of git's index again"
                    if done
                    else f"it is staged, and `git reset -- {names}` takes it out"
                )
                out = f"{names} {_WHERE_CHECKED_OUT}: {end}"
                self._telling.note(out, f"{out}. A command in the sandbox had put it there")

    def made_in(self, look: Look) -> list[Path]:
        """Return what of a look the command made."""
        return [] if self._before is None else self._before.made_since(look)

    def take(self, place: Path) -> None:
        """Take a file as it is now, and the folders it is in, for what was there before."""
        if place.is_relative_to(self._workspace):
            self._early.append(place)
            if self._before is not None:
                self._users.add(self._before.take_now(place, alone=True))

    def leave(self, places: Set[Path], runs: Runs) -> None:
        """Only tell of these when they are changed, and let git run these."""
        self._users.add(places)
        for place, commands in runs.items():
            self._runs[place] = self._runs.get(place, frozenset()) | commands

    def excuse(self, makes: Callable[[Path], bool]) -> None:
        """Know what others may have made before the first look, of which there is none yet."""
        if self._before is None:
            self._excused.append(makes)

    def look(self, *, last: bool = False) -> None:
        """Move aside what was made so far. Blocking.

        Args:
            last: Nothing is put off.
        """
        with self._looking:
            self._patience = self._aside.patience()
            for _ in range(_MOST_LOOKS):
                self._renamed = False
                if self._before is not None:
                    self._look(self._before, last)
                if not self._renamed:
                    break
                # What is in a folder with another name may take effect by itself.

    def _look(self, before: Look, last: bool) -> None:
        self._telling.begin_look()
        before.lose()
        self._commits.clear()
        now = Look(self._workspace, self._aside.known, before)
        for folder in now.opened:
            said = f"{self._telling.name(folder)} could not be listed any more; its owner may again"
            self._telling.to_model(said)
        self._users.lose()
        beside: dict[str, list[Path]] = {}
        for place in before.made_since(now):
            if self._is_others(before, place):
                before.take(place, now)
                self._aside.leave({place})
            elif is_one_line(place) and leads_back(place):
                before.take(place, now)
            elif self._came_with_git(before, place):
                before.take(place, now)
                self._aside.leave({place})
            elif (call := made_beside(place)) is not None:
                # Until it ends it may make more, of which the user is told at once.
                if call.has_settled or last:
                    beside.setdefault(call.command, []).append(place)
                    before.take(place, now)
            elif place in self._users or (
                is_of_git(place) and makes_repository_outside(self._workspace)
            ):
                self._tell_changed(before, place, now)
            elif not self._is_left(place, now=now):
                self._move(place, now.places[place], TAKES_EFFECT)
        for command, places in beside.items():
            new = [each for each in places if (each, now.places[each]) not in self._aside.told]
            self._aside.told |= {(each, now.places[each]) for each in places}
            self._telling.beside(new, command)
            self._aside.leave({*new})
        for place in before.changed_since(now):
            if self._came_with_git(before, place):
                before.take(place, now)
            else:
                self._tell_changed(before, place, now)
        self._excused.clear()
        if now.missed:
            said = "made more than can be looked at; what of it takes effect is looked for later"
            self._telling.note(f"This command {said}", f"A command in the sandbox {said}")
        for place, does in self._git.came():
            others = does == TAKES_EFFECT and self._is_others(before, place)
            if others or self._is_left(place):
                self._git.leave(place)
            else:
                self._move(place, identity_of(place), does)
        for git, names in self._git.show_all_as_it_is():
            had = f"{self._telling.name(git)} had references put into it that"
            said = f"{had} {_SHOWS_OTHERS} ({names})"
            self._telling.note(said, f"{said}, while a command in the sandbox ran")
        for place, runs in self._git.runs().items():
            staying = self._runs.get(place, frozenset())
            if runs <= staying or self._is_others(before, place):
                continue
            given = given_outside(place.parent.parent)
            if given is None:
                if not self._is_left(place, runs):
                    self._move(place, identity_of(place), _RUNS_LATER, staying)
            else:
                # Without its list it would end as if it had done all.
                self._runs[place] = staying | (runs & given)
                self._tell_running(place, runs - staying - given)
        self._telling.end_look()

    def _came_with_git(self, before: Look, place: Path) -> bool:
        """Whether git brought a place, and not what the command had it take up."""
        checkout = repository_around(place)
        if checkout is None or checkout not in before.checkouts:
            return False
        if self._of_git:
            return self._known_commits(checkout).brought(place, merging=True)
        # The command could not write what git knows. An earlier one could, and may have had git
        # take up what this one makes once more.
        return (
            before.keeps(checkout / ".git")
            and is_as_tracked(place, checkout)
            and self._known_commits(checkout).brought(place, merging=False)
        )

    def _known_commits(self, checkout: Path) -> Commits:
        """Return what git may bring: of what others commit meanwhile, where they alone can."""
        if checkout not in self._commits:
            tips = self._tips.get(checkout, frozenset()) if self._of_git else tips_of(checkout)
            tips |= self._tips_of_remotes(checkout)
            distrusted, seen = self._aside.distrusted.all(), self._aside.known.seen
            self._commits[checkout] = Commits(checkout, tips, distrusted, seen)
        return self._commits[checkout]

    def _tips_of_remotes(self, checkout: Path) -> frozenset[str]:
        """Return what remotes have, where the command fetched from them."""
        if not self._fetches:
            return frozenset()
        # What was fetched before may be of a command.
        new = named_beside(checkout).owned - self._named.get(checkout, Named()).owned
        return remote_tips(checkout) | new

    def _put_back(self, place: Path, kept: Path) -> bool:
        """Put back what a file held before: without it, git's next commit would take it away."""
        if self._before is None or not self._of_git or is_of_git(place):
            return False
        was = self._before.contents.get(place, b"")
        content = self._aside.known.seen.content(place, was)
        if content and kept.is_file() and not kept.is_symlink():
            write_into(self._workspace, place, content, self._aside.known.seen.mode(place))
            return True
        return False

    def _is_others(self, before: Look, place: Path) -> bool:
        """Whether something that the user let run may have made it, or a new folder it is in."""
        new = [each for each in place.parents if before.is_new(each)]
        return is_others(place, *new) or any(
            makes(each) for makes in self._excused for each in (place, *new)
        )

    def _tell_running(self, place: Path, runs: frozenset[bytes]) -> None:
        """Tell once what a rebase runs that goes on outside, and that it was not called with."""
        new = runs - self._told_of.get(place, frozenset())
        if new:
            self._told_of[place] = runs | self._told_of.get(place, frozenset())
            said = one_line(min(new).decode("utf-8", "replace"), LONGEST_NAME)
            self._aside.tell(
                f"{self._telling.name(place)} is another program's that goes on while a command in "
                f"the sandbox runs, and runs: {said}. If you did not write that, stop it"
            )

    def _tell_changed(self, before: Look, place: Path, now: Look) -> None:
        before.take(place, now)
        told = (place, now.places[place])
        if not self._is_others(before, place) and told not in self._aside.told:
            # Once, however many commands run.
            self._aside.told.add(told)
            was = self._aside.known.seen.content(place, before.contents.get(place, b""))
            self._telling.changed(place, was)

    def finish(self) -> list[str]:
        """Move aside what was made, once it has ended, and return what to tell the model of it.

        Blocking.
        """
        try:
            self.look(last=True)
        finally:
            # What is not told now would count as somebody else's when the next command begins.
            self.take_commits()
            self._take_staged()
            self._telling.end()
            self._aside.ended(self)
            self._users.end()
        unwatch(self)
        return self.take_notes()

    def tell(self, text: str) -> None:
        """Tell the user something of what the command made."""
        self._aside.tell(text)

    def take_notes(self) -> list[str]:
        """Return what to tell the model since the last time."""
        return self._telling.take_notes()

    def _move(
        self,
        place: Path,
        identity: Identity | None,
        does: str,
        staying: frozenset[bytes] | None = None,
    ) -> None:
        if identity is None:
            return
        effect = f"{self._telling.name(place)} {does}"
        root = self._git.root(place, self._workspace)
        try:
            kept = move_aside(root, place, identity, self._aside.folder)
        except FileNotFoundError:
            return  # The command, which may still run, has removed it.
        except (OSError, shutil.Error, RecursionError) as error:
            self._keep_here(place, identity, effect, reason_of(error))
            return
        self._aside.moved_to(kept, place)
        back = False
        with suppress(OSError):  # Somebody has written it anew meanwhile.
            back = self._put_back(place, kept)
            if staying is not None and (rest := rest_of_list(kept, place, staying)) is not None:
                write_into(root, place, rest)
        there = " (what else was in it is still there)" if os.path.lexists(place) else ""
        there = " (what it held before is back)" if back else there
        until = ""
        if place.name == ".git" and repository_around(place.parent) is not None:
            around = self._telling.name(place.parent)
            until = f". Until then git in {around} works on the repository around it"
        self._telling.note(
            f"{effect}, so it was moved to {printable(str(kept))}{there}. To make it, ask with "
            "`outside_sandbox`",
            f"{effect}, and was made while a command in the sandbox ran: it is in "
            f"{kept.parent} now{there}. If you made it, /aside puts it back, or "
            f"move it back yourself: it will stay{until}",
        )

    def _is_left(
        self, place: Path, runs: frozenset[bytes] = frozenset(), now: Look | None = None
    ) -> bool:
        """Whether the user has moved something back: then all commands that run leave it.

        Args:
            runs: What git would run for it.
            now: A look from before that is asked. What of a folder it has is the user's as well.
        """
        with self._aside.taking:
            if not self._aside.is_taken_back(place, self._patience):
                # Another command's look may have come first.
                return runs <= self._runs.get(place, frozenset()) if runs else place in self._users
            if self._before is not None:
                taken = frozenset() if runs else self._before.take_now(place)
                if now is not None and not runs:
                    taken |= self._before.take(place, now)
                # To the user it is no news.
                self._aside.told |= {(each, self._before.places[each]) for each in taken}
                self._aside.leave(taken, {place: runs} if runs else {})
        return True

    def _keep_here(self, place: Path, identity: Identity, effect: str, reason: str) -> None:
        try:
            here = rename_here(self._git.root(place, self._workspace), place, identity)
        except FileNotFoundError:
            return
        except OSError:
            # Another may still be moved, and this one after the next command.
            self._aside.left[place] = identity
            self._telling.note(f"{effect}, and could not be moved away ({reason}): remove it")
            return
        self._renamed = True
        self._telling.note(
            f"{effect}, and could not be moved away ({reason}), so it was renamed to "
            f"{self._telling.name(here)}. To make it, ask with `outside_sandbox`",
            f"{effect}, and was made while a command in the sandbox ran. It could not be moved "
            f"away ({reason}): it is {self._telling.name(here)} now",
        )
