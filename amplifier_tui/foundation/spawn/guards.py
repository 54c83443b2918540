"""Hooks of a child session that can't be mounted: what they guard must not go through unseen."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from amplifier_tui.foundation.dicts import module_entries

if TYPE_CHECKING:
    from amplifier_tui.kernel.hooks import HookTrace
    from amplifier_tui.kernel.session import AmplifierSession


@contextmanager
def watched_hooks(child: "AmplifierSession", parent: "AmplifierSession | None") -> Iterator[None]:
    """Mount a child's modules within this block: no child runs without a hook that it is to have.

    Of a session the user is told when it opens, and goes on or not. A child is begun by a model:
    nobody is there to say that it may go on unguarded. What its parent runs without as well, the
    user knows of.

    Raises:
        ModuleLoadError: A hook could not be mounted; its text says which, why and where.
    """
    from amplifier_tui.kernel.events import MODULE_LOAD_FAILED
    from amplifier_tui.kernel.mounting.errors import ModuleLoadError

    failed: list[Mapping[str, Any]] = []

    def listen(trace: "HookTrace") -> None:
        if trace.event == MODULE_LOAD_FAILED and trace.data.get("module_type") == "hook":
            failed.append(trace.data)

    stop = child.coordinator.hooks.observe(listen)
    try:
        yield
    finally:
        stop()
    for each in failed:
        if parent is not None and not _goes_without(parent, child, str(each["module_id"])):
            raise ModuleLoadError(
                f"Its hook {each['module_id']} can't be mounted, and without it nothing holds back "
                f"what it guards: {each['problem']}"
            )


def _goes_without(parent: "AmplifierSession", child: "AmplifierSession", module_id: str) -> bool:
    """Whether a parent has the very same hook in its plan, and could not mount it either."""
    own, theirs = (
        [each for each in module_entries(plan.get("hooks")) if each.get("module") == module_id]
        for plan in (child.config, parent.config)
    )
    mounted = parent.coordinator.mounted_modules
    return own == theirs and not any(each.module_id == module_id for each in mounted)
