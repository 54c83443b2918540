"""What a scripted session answers of git worktrees."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.host.client import WorktreeCard, WorktreeMerge
from tests.ui.fake_images import FakeImages
from tests.ui.fake_imported import answer


@dataclass
class FakeWorktrees(FakeImages):
    """Implements `WorktreeClient`.

    Attributes:
        calls: Every call with its arguments, in order.
        made: What every method answers that has no other; an exception makes it fail.
        worked: What `worktree_diff` answers; an exception makes it fail.
        merged: What `merge_worktree` answers; an exception makes it fail.
    """

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    made: WorktreeCard | Exception = field(default_factory=lambda: RuntimeError("no repository"))
    worked: str | Exception = ""
    merged: WorktreeMerge | Exception = field(default_factory=lambda: RuntimeError("no worktree"))

    def make_worktree(self, name: str) -> Future[WorktreeCard]:
        self.calls.append(("make_worktree", name))
        return answer(self.made)

    def worktree(self) -> Future[WorktreeCard]:
        return answer(self.made)

    def worktree_diff(self) -> Future[str]:
        return answer(self.worked)

    def merge_worktree(self) -> Future[WorktreeMerge]:
        self.calls.append(("merge_worktree",))
        return answer(self.merged)

    def remove_worktree(self) -> Future[WorktreeCard]:
        self.calls.append(("remove_worktree",))
        return answer(self.made)
