"""The end of a session: what its modules get to clean up, and the command that opens it again."""

import asyncio
import logging
import os
import shlex
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from amplifier_tui.host.events import SessionClosed
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.session import AmplifierSession

logger = logging.getLogger(__name__)

CLEANUP_TIME: Final = 1.2
"""Seconds that modules have to clean up."""


def resume_command(session_id: str, project: str) -> str:
    """Return the command that resumes a session of a project's folder; empty where that is gone."""
    if project and not os.path.isdir(project):
        return ""
    command = f"amplifier-tui --resume {session_id}"
    shell = os.environ.get("PWD")
    # The shell that reads it may stand somewhere else than the session's project.
    if project and shell and os.path.realpath(shell) != project:
        command += f" --cwd {shlex.quote(project)}"
    return command


def unsaved_words(store: SessionStore, begun: Mapping[int, int]) -> str:
    """Say what of a session the disk did not take, and why; empty when everything is there.

    Args:
        begun: How many rows there were when a turn began.
    """
    if (error := store.trouble) is None:
        return ""
    reason, on_disk = error.strerror or str(error), store.rows_on_disk
    bounds = pairwise([*begun.values(), store.rows])
    turns = sum(end > max(start, on_disk) for start, end in bounds)
    if turns == 0:
        return f"How the last turns went is not on disk: {reason}"
    what = "1 turn of this session is" if turns == 1 else f"{turns} turns of this session are"
    return f"{what} not on disk: {reason}"


def session_closed(
    sender: Sender,
    begun: Mapping[int, int],
    reason: str,
    last_answer: str,
    ends: str = "",
    aside: str = "",
) -> SessionClosed:
    """Return the event that says a session is closed, once its store is; say what is lost.

    Args:
        begun: As for `unsaved_words`.
        ends: What does not hold when it is opened again.
        aside: What was moved aside in it.
    """
    store = sender.store
    if unsaved := unsaved_words(store, begun):
        sender.notice("error", unsaved, "store")
    said, project = store.has_work, store.metadata.project_dir
    # Of one that the disk took nothing of there is nothing to open.
    there = said and (store.rows_on_disk > 0 or not store.rows)
    return SessionClosed(
        **sender.stamp(),
        reason=reason,
        resume_command=resume_command(sender.session_id, project) if there else "",
        last_answer=sender.redactor.text(last_answer) if said else "",
        unsaved=unsaved,
        ends=ends if there else "",
        aside=aside,
    )


async def clean_up(session: AmplifierSession, sender: Sender) -> None:
    """Have the modules clean up; one that takes too long is left to itself."""
    cleanup = asyncio.get_running_loop().create_task(session.cleanup())
    done, _ = await asyncio.wait({cleanup}, timeout=CLEANUP_TIME)
    if not done:
        cleanup.cancel()
        sender.notice(
            "warning", "A module did not clean up in time; the session was closed without it"
        )
        logger.error("Cleanup of session %s hangs; left to itself", sender.session_id)
    elif not cleanup.cancelled() and cleanup.exception() is not None:
        logger.error("Cleanup failed", exc_info=cleanup.exception())
