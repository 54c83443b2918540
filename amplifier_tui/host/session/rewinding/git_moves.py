"""Where a repository stands, as against where it stood when a turn began."""

import shlex
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

_SHORT: Final = 9
"""Characters of the name of a commit."""


class GitMove(NamedTuple):
    """What happened to a repository since; its fields are names of branches and commits.

    The branch is empty for a commit of no branch, the commit where there is none yet. `staged` is
    whether something is staged now that was not then.
    """

    branch: str
    commit: str
    branch_now: str
    commit_now: str
    staged: bool = False

    @property
    def switched(self) -> bool:
        """Whether something else is checked out; without a branch that is any other commit."""
        named = bool(self.branch or self.branch_now)
        return self.branch != self.branch_now if named else self.commit != self.commit_now

    @property
    def elsewhere(self) -> bool:
        """Whether the files then would be foreign to what is checked out now.

        A branch that was just made holds the same: there they go back as ever.
        """
        return self.switched and self.commit != self.commit_now

    def words(self, files: bool) -> str:
        """Return what stays as it is, and what to do; in one line.

        Args:
            files: Whether files would go back.
        """
        moved = (self.branch, self.commit) != (self.branch_now, self.commit_now)
        said = [self._moved(files)] if moved else []
        if self.staged:
            said.append("what is staged in git stays so. `git reset` unstages it")
        return "; ".join(said)

    def _moved(self, files: bool) -> str:
        now = _place(self.branch_now, self.commit_now)
        if self.switched:
            then = _place(self.branch, self.commit)
            way = self.branch or self.commit[:_SHORT]
            # Its name is the repository's, and the line may be copied into a shell.
            said = f"`git checkout {shlex.quote(way)}`"
            first = files and self.elsewhere
            said += " first, or go back without the files" if first else " goes back there"
            return f"the branch was {then} and is {now} now: git is not taken back. {said}"
        if not self.commit:
            done = f"{self.branch} had no commit and is at {self.commit_now[:_SHORT]} now"
            way = "git log"
        else:
            at = self.commit_now[:_SHORT] or "no commit"
            done = f"{self.branch} was at {self.commit[:_SHORT]} and is at {at} now"
            way = f"git log {self.commit[:_SHORT]}.."
        ends = ", and files that go back show as changes" if files else ""
        return f"{done}: commits stay, git is not taken back. `{way}` lists them{ends}"


def git_move(told: Any) -> GitMove | None:
    """Read what `checkpoint.preview` says of git; None where nothing moved."""
    if not isinstance(told, Mapping):
        return None
    then, now = told["then"], told["now"]
    staged = bool(told.get("staged"))
    return GitMove(then["branch"], then["commit"], now["branch"], now["commit"], staged)


def _place(branch: str, commit: str) -> str:
    return f"{branch or 'none'} ({commit[:_SHORT] or 'no commit'})"
