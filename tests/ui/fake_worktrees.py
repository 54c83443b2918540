"""What a scripted session answers of git worktrees."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.host.client import WorktreeCard
from tests.ui.fake_imported import answer


@dataclass
class FakeWorktrees:
    """Implements `WorktreeClient`.

    Attributes:
        calls: Every call with its arguments, in order.
        made: What every method answers; an exception makes it fail.
    """

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    made: WorktreeCard | Exception = field(default_factory=lambda: RuntimeError("no repository"))

    def make_worktree(self, name: str) -> Future[WorktreeCard]:
        self.calls.append(("make_worktree", name))
        return answer(self.made)

    def worktree(self) -> Future[WorktreeCard]:
        return answer(self.made)

    def remove_worktree(self) -> Future[WorktreeCard]:
        self.calls.append(("remove_worktree",))
        return answer(self.made)
