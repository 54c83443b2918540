"""hooks-checkpoint: keeps a copy of every file before a tool changes it, so that it can go back.

Before a file of the workspace is written, edited, patched or deleted by a file tool, its content is
copied once per turn into the folder ``checkpoints`` of the session. Around a command that may
change files the workspace is compared: with git's index where there is one, else file by file as
long as there are not too many. What is ignored, or outside of the workspace, is left alone. Of a
path that a tool names, links are followed to see where the file is. A link itself is kept like a
file, as where it leads, when a command makes, changes or removes it, and so are permissions.

Capabilities:
    ``checkpoint.list``: async function without arguments; returns a list of dicts, oldest first,
        one for each turn in which files changed or a command ran: ``id``, ``turn`` (counted from
        1), ``prompt`` (its beginning), ``at`` (ISO time), ``unseen`` (why further files may have
        changed, a list), ``git`` (whether it is known where the repository stood then),
        ``taken_back`` (paths of those that were put back) and ``files``, the others: dicts with
        ``path`` (relative to the workspace), ``action`` (``changed`` or ``created``), ``size``
        (bytes of the copy), ``skipped`` (why there is no copy; empty when there is one) and
        ``command`` (during which it changed, or empty).
    ``checkpoint.preview``: async function ``(id)``; returns a dict: ``damaged`` (the record is not
        whole, and files may be missing), ``unseen``, ``git`` (where the repository stood ``then``
        and stands ``now``, a dict with ``branch`` and ``commit`` each, and ``staged``, whether
        something is staged that was not then; None where it is the same, or not known: git is
        never taken back), and ``files``: dicts with ``path``, ``action``
        (``restored``, ``removed`` or ``unchanged``), ``conflict`` (why it is not done unless
        forced), ``perhaps`` (the conflict is no more than that it changed while a command ran,
        perhaps by the user), ``problem`` (why it can't be done), ``command``, ``together`` (how
        many commands ran together, any of which may be the one; 0 where it is known) and ``note``
        (what it becomes again beside its content: ``mode 755``, ``link to a.py``).
    ``checkpoint.content``: async function ``(id, path)``; returns the bytes a file is put back to,
        of a link where it leads; None where it did not exist.
    ``checkpoint.restore``: async function ``(id, paths=None, force=False)``; puts files back to
        what they were when that turn began, undoing later turns too. Returns a dict of lists of
        paths: ``restored``, ``removed`` (they did not exist), ``unchanged``, ``conflicts`` (they
        were changed by another program, or perhaps; ``force``, True or a collection of paths,
        restores them all the same), ``failed`` (a mapping of path to reason), and ``id``: given to
        this function it undoes what was done; empty where nothing was.
    ``checkpoint.uncopied``: function without arguments, to be called in a thread; returns why no
        copies are kept of what commands change, empty where they are.

    Of an unknown id they raise ``KeyError``.

Config:
    tools: More tools that change files, a mapping of name (``*`` allowed) to the name of the
        argument with the path.
    compare_commands: Whether the workspace is compared around commands. Default true.
    own_seconds: What changed while a command ran is its own where it took less than that; where it
        took longer, only what its text names is sure to be, as long as that was not written again
        after a pause of half of that. Default 2.
    max_file_bytes: Larger files are not copied. Default 5000000.
    max_binary_bytes: The same for files that are no text. Default 1000000.
    max_total_bytes: Most that is kept for a session. Default 200000000.
    folder: Where the copies are kept, below the session's folder, the user's log folder or the
        project; default the session's folder.
    priority: Of the handler. Default 95, after the hooks that ask for approval.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules.hooks_checkpoint.calls import CheckpointSettings
from amplifier_tui.modules.hooks_checkpoint.checkpoints import STORE_CAPABILITY, Checkpoints

__amplifier_module_type__ = "hook"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handlers and the capabilities; returns the cleanup."""
    settings = CheckpointSettings.read(config)
    checkpoints = Checkpoints(coordinator, settings)
    cleanup = ExitStack()
    for event, handler, priority in (
        (events.EXECUTION_START, checkpoints.turn_begins, 0),
        (events.TOOL_PRE, checkpoints.before, settings.priority),
        (events.APPROVAL_REQUIRED, checkpoints.asked, 0),
        (events.APPROVAL_GRANTED, checkpoints.granted, 0),
        (events.APPROVAL_DENIED, checkpoints.denied, 0),
        (events.TOOL_POST, checkpoints.after, 0),
        (events.TOOL_ERROR, checkpoints.after, 0),
    ):
        cleanup.callback(coordinator.hooks.register(event, handler, priority, "hooks-checkpoint"))
    cleanup.callback(checkpoints.stop)
    coordinator.register_capability(STORE_CAPABILITY, checkpoints)
    coordinator.register_capability("checkpoint.list", checkpoints.listed)
    coordinator.register_capability("checkpoint.preview", checkpoints.preview)
    coordinator.register_capability("checkpoint.content", checkpoints.content)
    coordinator.register_capability("checkpoint.restore", checkpoints.restore)
    coordinator.register_capability("checkpoint.uncopied", checkpoints.uncopied)
    return cleanup.close
