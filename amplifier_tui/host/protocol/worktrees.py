"""Git worktrees: a folder of its own for a session, beside the user's checkout."""

from concurrent.futures import Future
from typing import Protocol

from amplifier_tui.host.cards import WorktreeCard, WorktreeMerge


class WorktreeClient(Protocol):
    """Makes worktrees, merges them, and removes those in which no work would be lost.

    Where something can't be done, the future raises `RuntimeError`, with one sentence, and nothing
    has changed. A repository's hooks do not run, and one that names filters of its own is refused.
    """

    def make_worktree(self, name: str) -> "Future[WorktreeCard]":
        """Make a worktree of the repository that the session works in, on a branch of its own.

        It begins at the commit that is checked out; what is not committed stays where it is. One
        of that name that is still there is found as it is. Open a session in `WorktreeCard.cwd` to
        work there.

        Args:
            name: The branch is `amplifier/NAME`, the folder is beside the checkout and called like
                it, with `-NAME` behind.
        """

    def worktree(self) -> "Future[WorktreeCard]":
        """Describe the worktree that the session works in, and the work in it."""

    def worktree_diff(self) -> "Future[str]":
        """Return what was changed in the session's worktree since it was made, as a unified diff.

        What is not committed is in it. After a merge it begins there.
        """

    def merge_worktree(self) -> "Future[WorktreeMerge]":
        """Merge the branch of the session's worktree into the one of the original checkout.

        Both have to be committed, the merge has to be without conflicts, and a commit that it names
        of a submodule has to be in another repository too. A repository that
        says by its own configuration how to merge is refused, and a merge commit where
        `commit.gpgSign` is set, as nothing is signed here.
        """

    def remove_worktree(self) -> "Future[WorktreeCard]":
        """Remove the worktree that the session works in, unless there is work in it.

        What is in its submodules counts.

        The session is left without its folder: close it, or open another. The branch stays where
        the original checkout has not merged it.
        """
