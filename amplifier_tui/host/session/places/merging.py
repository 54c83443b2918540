"""What a session did in its git worktree: shown as a diff, and merged back.

The merge is reckoned without touching a file of either checkout. Only a result without conflicts
is then put into the original one, as a fast-forward, which git refuses where anything that is not
committed would be overwritten.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.git import change_now, git_bytes_now, own_settings_now, run_now
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.text import one_line
from amplifier_tui.host.cards import WorktreeCard, WorktreeMerge
from amplifier_tui.host.session.places.submodules import STATUS, commits_only_in, git_folder_of
from amplifier_tui.host.session.places.worktrees import (
    CHECKOUT_TIME,
    MOST_SAID,
    WorktreeError,
    ask_git,
    find_worktree,
    place_of,
    refuse_filters,
)
from amplifier_tui.host.stream.diffs import Snapshot, changes, snapshot

_MERGE_TIME: Final = 60.0
"""Seconds that git has to reckon a merge, or to write a diff."""
_MOST_DIFF: Final = 512 * 1024
"""Bytes of the diff of committed files, and characters of that of new ones."""
_MOST_NAMES: Final = 1024 * 1024
_NAMED: Final = 3
"""Files that are named of those that stand in the way."""
_ALL: Final = "--untracked-files=all"
_IN_THE_WAY: Final = ("--untracked-files=no", "--ignore-submodules=all")
"""A merge writes in no submodule; one that is not at its commit yet is no work of anybody's."""
_SUBMODULE: Final = "160000"
_OLD_GIT: Final = 129
"""The exit code of a git that does not know an option."""
_PROGRAMS: Final = r"^(merge\..*\.driver|branch\..*\.mergeoptions)$"
_PLAIN_HEAD: Final = lazy_pattern(
    r"(?m)^diff --git .*\n(?:index .*\n(?=--- )"
    r"|new file mode 100644\nindex .*\n(--- /dev/null\n\+\+\+ )(?:b/)?"
    r"|deleted file mode \d+\nindex .*\n(--- )(?:a/)?)"
)
"""What git writes above the names of a file, where it says no more than they do.

Without it nobody could tell git's mark from a folder, where a file has only one name.
"""
_DIFF: Final = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--submodule=short", "--ignore-submodules=dirty", f"-O{os.devnull}"),
)


def worktree_diff(folder: Path) -> str:
    """Return what was changed in a folder's worktree since it left the original checkout. Blocking.

    Files that are not committed are in it, new ones too, but for those that git ignores. A last
    line that begins with a backslash says what was cut.

    Raises:
        WorktreeError: The folder is in no worktree that was made here, or git can't tell.
    """
    card = find_worktree(folder)
    top = Path(card.path)
    base = _base(card, _commit(Path(card.original or card.path)))
    found = git_bytes_now(top, *_DIFF, base, timeout=_MERGE_TIME, most_bytes=_MOST_DIFF)
    listed = git_bytes_now(
        top, "ls-files", "--others", "--exclude-standard", "-z", most_bytes=_MOST_NAMES
    )
    if found is None or listed is None:
        raise WorktreeError(f"git can't tell what is changed in {top}")
    text = _PLAIN_HEAD.sub(r"\1\2", found.decode("utf-8", "replace"))
    if len(found) == _MOST_DIFF:
        text = text[: text.rfind("\n") + 1] + "\\ The rest of this diff is not shown\n"
    return text + "".join(_new_files(top, [name for name in listed.split(b"\0") if name]))


def _new_files(top: Path, names: list[bytes]) -> Iterator[str]:
    left = _MOST_DIFF
    for number, name in enumerate(names):
        if left <= 0:
            yield f"\\ {len(names) - number:,} more new files are not shown\n"
            return
        path = top / os.fsdecode(name)
        after = Snapshot(None, True, "a link") if path.is_symlink() else snapshot(path)
        shown = name.decode("utf-8", "replace")
        # A name with line ends in it could pass for lines of the diff.
        shown = shown if shown.isprintable() else one_line(shown)
        part = changes(shown, Snapshot(), after)
        left -= len(part)
        yield part


def merge_worktree(folder: Path) -> WorktreeMerge:
    """Merge the branch of a folder's worktree into that of the original checkout. Blocking.

    Raises:
        WorktreeError: It can't be merged; nothing has changed.
    """
    card = find_worktree(folder)
    _refuse_uncommitted("Commit first, or have the agent do it", Path(card.path), _ALL)
    if not card.original:
        raise WorktreeError("The repository has no checkout to merge into: use git merge yourself")
    original = Path(card.original)
    place_of(original)
    _refuse_programs(folder, original)
    into = ask_git(original, "symbolic-ref", "--quiet", "--short", "HEAD")
    if not into:
        raise WorktreeError(f"No branch is checked out in {original}: git switch to one first")
    _refuse_uncommitted("Commit, stash or discard first", original, *_IN_THE_WAY)
    ours, theirs = _commit(original), _commit(Path(card.path))
    commits = ask_git(original, "rev-list", "--count", theirs, "--not", ours)
    if commits is None:
        raise WorktreeError(f"git can't tell what is new in {card.branch}")
    if commits == "0":
        raise WorktreeError(f"All commits of {card.branch} are in {into} already")
    base, target = _base(card, ours), theirs
    submodules = _submodules(card, base, theirs)
    if base != ours:
        target = _merged(card, into, ours, theirs)
    _move(original, into, target)
    commit = "" if target == theirs else target
    return WorktreeMerge(
        branch=card.branch,
        into=into,
        original=card.original,
        commits=int(commits),
        commit=commit,
        submodules=submodules,
    )


def _submodules(card: WorktreeCard, base: str, theirs: str) -> tuple[str, ...]:
    """Return the submodules of which another commit is named now.

    Raises:
        WorktreeError: Nobody else would find that commit, or git can't tell.
    """
    top = Path(card.path)
    place = place_of(top)
    listed = ask_git(top, "diff-tree", "-r", "-z", "--no-renames", base, theirs)
    if listed is None:
        raise WorktreeError(f"git can't tell what is new in {card.branch}")
    facts = iter(listed.split("\0"))
    moved = []
    for fact, name in zip(facts, facts, strict=False):
        _, mode, _, commit, _ = fact.split(" ")
        if mode != _SUBMODULE:
            continue
        moved.append(name)
        git = git_folder_of(top / name) if os.path.lexists(top / name / ".git") else None
        if git is not None and commits_only_in(git, place.private, place.common, commit) != 0:
            raise WorktreeError(
                f"{card.branch} names a commit of the submodule {one_line(name, 100)} that no other"
                " repository has: push it from there, or fetch it in that of the original checkout"
            )
    return tuple(moved)


def _merged(card: WorktreeCard, into: str, ours: str, theirs: str) -> str:
    """Make the merge commit, which no branch has yet, and return its name."""
    original = Path(card.original)
    if ask_git(original, "config", "--type=bool", "--get", "commit.gpgSign") == "true":
        raise WorktreeError(
            f"commit.gpgSign is set, and no program is run here that signs: merge {card.branch}"
            f" in {original} yourself"
        )
    names = ("--write-tree", "--name-only", "--no-messages", "-z")
    reckoned = run_now(original, "merge-tree", *names, ours, theirs, timeout=_MERGE_TIME)
    tree, *conflicts = reckoned.output.rstrip("\0").split("\0")
    if reckoned.code == 1:
        shown = one_line(", ".join(dict.fromkeys(conflicts)), MOST_SAID)
        raise WorktreeError(
            f"Conflict in {shown}: merge {into} into {card.branch} in this worktree, resolve it"
            " there, then merge again"
        )
    if reckoned.code == _OLD_GIT:
        raise WorktreeError(f"This takes git 2.38 or newer: merge {card.branch} yourself")
    message = f"Merge branch '{card.branch}' into {into}"
    parents = ("-p", ours, "-p", theirs)
    made = reckoned
    if not reckoned.problem:
        made = run_now(
            original, "commit-tree", *parents, "-m", message, tree, timeout=CHECKOUT_TIME
        )
    if made.problem:
        raise _failed(made.problem)
    return made.output.strip()


def _move(original: Path, into: str, target: str) -> None:
    """Let the branch that is checked out go forward to a commit, its files with it."""
    off = ("submodule.recurse=false", "gc.auto=0", "maintenance.auto=false")
    quietly = [part for setting in off for part in ("-c", setting)]
    options = (
        *("--ff-only", "--no-squash", "--no-autostash", "--no-verify-signatures"),
        *("--no-overwrite-ignore", "--no-stat", "--quiet"),
    )
    problem = change_now(original, *quietly, "merge", *options, target, timeout=CHECKOUT_TIME)
    if not problem:
        return
    if ask_git(original, *STATUS, *_IN_THE_WAY):
        raise WorktreeError(
            f"git stopped while it wrote the files of {original}, and {into} is where it was:"
            f" look at git status there. {one_line(problem, MOST_SAID)}"
        )
    raise _failed(problem)


def _refuse_programs(*folders: Path) -> None:
    """Refuse to merge where a repository says by its own configuration how, or names programs.

    It may say something else for each folder.
    """
    for folder in folders:
        refuse_filters(folder)
        try:
            found = own_settings_now(folder, _PROGRAMS)
        except OSError as error:
            raise _failed(str(error)) from error
        if found:
            raise WorktreeError(
                f"The repository's own configuration sets {one_line(found[0], 100)}, which says"
                " how git merges: use git merge yourself"
            )


def _base(card: WorktreeCard, ours: str) -> str:
    """Return the last commit that the worktree's branch shares with a commit."""
    base = ask_git(Path(card.path), "merge-base", ours, "HEAD")
    if base is None:
        raise WorktreeError(f"{card.branch} shares no commit with the original checkout")
    return base


def _commit(folder: Path) -> str:
    found = ask_git(place_of(folder).top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if found is None or not re.fullmatch(r"[0-9a-f]{40,64}", found):
        raise WorktreeError(f"{folder} has no commit checked out")
    return found


def _refuse_uncommitted(advice: str, folder: Path, *counting: str) -> None:
    """Refuse to merge where files are changed, and name the first of them.

    Args:
        counting: Options of git that say what counts.
    """
    entries = ask_git(folder, *STATUS, *counting)
    if entries is None:
        raise WorktreeError(f"git can't tell what is changed in {folder}")
    names = [one_line(entry[3:], 60) for entry in entries.split("\0") if entry]
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        are = "is" if len(names) == 1 else "are"
        named = ", ".join(names[:_NAMED])
        raise WorktreeError(f"{advice}: {named}{more} {are} not committed in {folder}")


def _failed(problem: str) -> WorktreeError:
    return WorktreeError(f"It can't be merged: {one_line(problem, MOST_SAID)}")
