"""Git worktrees of the program's own: a session may work in one beside the user's checkout."""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.git import brings_filters_now, change_now, git_output_now
from amplifier_tui.base.repositories.places import main_checkout
from amplifier_tui.base.text import one_line
from amplifier_tui.host.cards import WorktreeCard
from amplifier_tui.host.events import WORKTREE_PREFIX
from amplifier_tui.host.session.places.submodules import STATUS, look_into_submodules

CHECKOUT_TIME: Final = 120.0
"""Seconds that git has to write or remove all files of a worktree."""
_LONGEST_NAME: Final = 60
MOST_SAID: Final = 400


class WorktreeError(RuntimeError):
    """A worktree can't be made, found or removed; nothing has changed."""


class CheckoutPlace(NamedTuple):
    """Where a folder is in a repository.

    Attributes:
        top: The top folder of its checkout.
        private: The git folder of that checkout alone; `common` is that of all checkouts.
    """

    top: Path
    private: Path
    common: Path

    @property
    def main(self) -> Path | None:
        """The checkout that the repository began with; None for a bare one or a submodule."""
        return self.common.parent if self.common.name == ".git" else None


def make_worktree(folder: Path, name: str, bundle: Path | None = None) -> WorktreeCard:
    """Check the commit of a folder's checkout out beside that, on a new branch. Blocking.

    The new folder is called like the original one, a hyphen and the name. One that was made so
    and is still there is found again.

    Args:
        name: Of the branch, after the prefix; what a file name should not have becomes a hyphen.
        bundle: The file of what is to be opened there, where that is known.

    Raises:
        WorktreeError: It can't be made, or would not have the bundle.
    """
    place = place_of(folder)
    name = re.sub(r"[^\w.-]+|\.\.+", "-", name).strip("-.")[:_LONGEST_NAME].strip("-.")
    if not name:
        raise WorktreeError("A worktree needs a name of letters or digits")
    original = place.main or place.top
    branch, path = WORKTREE_PREFIX + name, original.with_name(f"{original.name}-{name}")
    there = main_checkout(path) == original
    found = there and _branch_in(path) == branch
    if there and not found:
        _refuse_left(place_of(path), _branch_in(path))
    if not found:
        _make(folder, place, branch, path, bundle)
    inside = path / folder.resolve().relative_to(place.top)
    return WorktreeCard(
        path=str(path),
        branch=branch,
        original=str(original),
        cwd=str(inside if inside.is_dir() else path),
        found=found,
    )


def _make(folder: Path, place: CheckoutPlace, branch: str, path: Path, bundle: Path | None) -> None:
    refuse_filters(folder)
    if git_output_now(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        raise WorktreeError("The repository has no commit yet: commit something first")
    if bundle is not None and bundle.is_relative_to(place.top):
        file = bundle.relative_to(place.top).as_posix()
        if git_output_now(place.top, "cat-file", "-e", f"HEAD:{file}") is None:
            raise WorktreeError(
                f"The worktree would not have the bundle of this session: commit {file} first"
            )
    if path.exists() or path.is_symlink():
        raise WorktreeError(f"{path} is there already: choose another name")
    if git_output_now(folder, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
        raise WorktreeError(f"The branch {branch} is there already: choose another name")
    add = ("worktree", "add", "--quiet", "--no-checkout", "-b", branch, "--", str(path), "HEAD")
    try:
        _change("made", place.top, *add)
        # Some of a repository's configuration may hold in that folder or on that branch alone.
        refuse_filters(path)
        _change("made", path, "-c", "submodule.recurse=false", "reset", "--quiet", "--hard")
    except WorktreeError:
        # What was begun is of no use; `-d` keeps a branch that has commits of its own.
        undo = ("worktree", "remove", "--force", "--", str(path))
        change_now(place.common, *undo, timeout=CHECKOUT_TIME)
        change_now(place.common, "branch", "--quiet", "-d", "--", branch, timeout=CHECKOUT_TIME)
        raise


def find_worktree(folder: Path) -> WorktreeCard:
    """Describe the worktree that a folder is in, and the work in it. Blocking.

    Raises:
        WorktreeError: The folder is in none that was made here, or its work can't be told.
    """
    place = place_of(folder)
    branch = _branch_in(folder)
    if place.private == place.common or not branch.startswith(WORKTREE_PREFIX):
        _refuse_left(place, branch)
        raise WorktreeError(
            "This session works in no worktree of its own: /worktree NAME makes or opens one"
        )
    refuse_filters(folder)
    entries = ask_git(place.top, *STATUS, "--ignored", "--untracked-files=all")
    others = ("--not", f"--exclude={branch}", "--branches", "--remotes")
    commits = ask_git(place.top, "rev-list", "--count", "HEAD", *others)
    if entries is None or commits is None:
        raise WorktreeError(f"git can't tell what is changed in {place.top}")
    try:
        below = look_into_submodules(place.top, place.private, place.common)
    except OSError as error:
        raise WorktreeError(str(error)) from error
    found = [entry for entry in entries.split("\0") if entry]
    ignored = sum(entry.startswith("!!") for entry in found)
    return WorktreeCard(
        path=str(place.top),
        branch=branch,
        original=str(place.main or ""),
        cwd=str(folder),
        changes=len(found) - ignored,
        commits=int(commits),
        ignored=ignored + below.ignored,
        submodules=below.there,
        below=below.work,
    )


def remove_worktree(folder: Path) -> WorktreeCard:
    """Remove the worktree that a folder is in, and its branch. Blocking.

    A branch stays that the original checkout has not merged.

    Raises:
        WorktreeError: There is work in it, or git refuses; it is still there.
    """
    card = find_worktree(folder)
    if card.work:
        raise WorktreeError(f"{card.path} has {card.work}: it stays")
    common = place_of(folder).common
    if card.original and Path.cwd().is_relative_to(card.path):
        # The program was started there: nothing can be opened from a folder that is gone.
        os.chdir(card.original)
    # Without `--force` git looks for itself that nothing was changed in between, and removes none
    # that has submodules.
    force = ("--force",) if card.submodules else ()
    _change("removed", common, "worktree", "remove", *force, "--", card.path)
    change_now(common, "branch", "--quiet", "-d", "--", card.branch, timeout=CHECKOUT_TIME)
    return card


def place_of(folder: Path) -> CheckoutPlace:
    """Return where a folder is in its repository.

    Raises:
        WorktreeError: It is in none that has files checked out, or has them elsewhere.
    """
    asked = ("--show-toplevel", "--git-dir", "--git-common-dir")
    found = ask_git(folder, "rev-parse", "--path-format=absolute", *asked)
    if found is None or len(paths := found.split("\n")) != len(asked):
        raise WorktreeError(f"This needs a git repository with files checked out, not {folder}")
    place = CheckoutPlace(*(Path(path).resolve() for path in paths))
    if not folder.resolve().is_relative_to(place.top):
        raise WorktreeError(f"core.worktree puts the files of {folder} elsewhere: use git yourself")
    return place


def refuse_filters(folder: Path) -> None:
    """Refuse a checkout for which the repository's own configuration names filters.

    Raises:
        WorktreeError: It names some.
    """
    if brings_filters_now(folder):
        raise WorktreeError(
            "The repository's own configuration names filters, which are programs that git would"
            " run: use git worktree yourself"
        )


def _refuse_left(place: CheckoutPlace, branch: str) -> None:
    """Refuse a worktree that is no longer on the branch it was made for.

    Raises:
        WorktreeError: That branch is there, and the folder is called after it.
    """
    if place.private == place.common or place.main is None:
        return
    # `make_worktree` calls the folder so.
    beside, name = place.main.with_name(f"{place.main.name}-"), place.top.name
    if place.top.parent != beside.parent or not name.startswith(beside.name):
        return
    made_for = WORKTREE_PREFIX + name.removeprefix(beside.name)
    there = ("rev-parse", "--verify", "--quiet", f"refs/heads/{made_for}")
    if git_output_now(place.top, *there) is not None:
        now = f"the branch {one_line(branch, MOST_SAID)}" if branch else "no branch"
        raise WorktreeError(
            f"{place.top} is on {now}, not on {made_for}, which it was made for: finish what git is"
            f" in the middle of there, if anything, then git switch {made_for}"
        )


def ask_git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints, without the last line's end; None where it fails."""
    output = git_output_now(folder, *arguments)
    return None if output is None else output.rstrip("\n")


def _branch_in(folder: Path) -> str:
    return (ask_git(folder, "symbolic-ref", "--quiet", "HEAD") or "").removeprefix("refs/heads/")


def _change(what: str, folder: Path, *arguments: str) -> None:
    if problem := change_now(folder, *arguments, timeout=CHECKOUT_TIME):
        raise WorktreeError(f"The worktree can't be {what}: {one_line(problem, MOST_SAID)}")
