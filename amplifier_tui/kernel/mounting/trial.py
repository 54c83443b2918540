"""A coordinator to mount modules on that are only being looked at.

It is what ``testing.MockCoordinator`` is made of, without ``unittest.mock``, which no running
session should have to import because a module is validated.
"""

import sys
from collections.abc import Coroutine
from inspect import CORO_CREATED, getcoroutinestate
from types import SimpleNamespace
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator


class _Approving:
    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        return "Allow"


class _Silent:
    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        return None


class TrialCoordinator(ModuleCoordinator):
    """A coordinator of a session that does not exist; it notes what is mounted.

    Attributes:
        mount_history: One dict ``{mount_point, module, name}`` for each mount.
        unmount_history: One dict ``{mount_point, name}`` for each unmount.
    """

    def __init__(self) -> None:
        session = SimpleNamespace(
            session_id="test-session",
            parent_id=None,
            config={"session": {"orchestrator": "test-orchestrator", "context": "test-context"}},
        )
        super().__init__(session, _Approving(), _Silent())
        self.mount_history: list[dict[str, Any]] = []
        self.unmount_history: list[dict[str, Any]] = []

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None:
        """Note a mount, also one that fails, and do it; see ``ModuleCoordinator.mount``."""
        self.mount_history.append({"mount_point": mount_point, "module": module, "name": name})
        await super().mount(mount_point, module, name)

    async def unmount(self, mount_point: str, name: str | None = None) -> None:
        """Note an unmount, also one that fails, and do it; see ``ModuleCoordinator.unmount``."""
        self.unmount_history.append({"mount_point": mount_point, "name": name})
        await super().unmount(mount_point, name)


class WatchingCoordinator(TrialCoordinator):
    """A coordinator that knows which calls of ``mount`` nobody awaited."""

    def __init__(self) -> None:
        super().__init__()
        self._mountings: list[tuple[Coroutine[Any, Any, None], str]] = []

    def mount(
        self, mount_point: str, module: Any, name: str | None = None
    ) -> Coroutine[Any, Any, None]:
        """See ``TrialCoordinator.mount``."""
        mounting = super().mount(mount_point, module, name)
        caller = sys._getframe(1)
        self._mountings.append((mounting, f"{caller.f_code.co_filename}:{caller.f_lineno}"))
        return mounting

    def close_unawaited(self) -> list[str]:
        """Return file and line of the calls of ``mount`` that nobody awaited, and close them.

        Python would warn of each, in words of its own.
        """
        mountings, self._mountings = self._mountings, []
        created = [each for each in mountings if getcoroutinestate(each[0]) == CORO_CREATED]
        for mounting, _ in created:
            mounting.close()
        return [place for _, place in created]
