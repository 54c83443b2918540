"""The end of a session: what its modules get to clean up, and the command that opens it again."""

import asyncio
import logging
import os
import shlex
from typing import Final

from amplifier_tui.host.events import SessionClosed
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.session import AmplifierSession

logger = logging.getLogger(__name__)

CLEANUP_TIME: Final = 1.2
"""Seconds that modules have to clean up."""


def resume_command(session_id: str, project: str) -> str:
    """Return the command that resumes a session of a project's folder."""
    command = f"amplifier-tui --resume {session_id}"
    shell = os.environ.get("PWD")
    # The shell that reads it may stand somewhere else than the session's project.
    if project and shell and os.path.realpath(shell) != project:
        command += f" --cwd {shlex.quote(project)}"
    return command


def session_closed(sender: Sender, session_id: str, reason: str, last_answer: str) -> SessionClosed:
    """Return the event that says a session is closed, before its store is."""
    said, project = sender.store.has_work, sender.store.metadata.project_dir
    return SessionClosed(
        **sender.stamp(),
        reason=reason,
        resume_command=resume_command(session_id, project) if said else "",
        last_answer=sender.redactor.text(last_answer) if said else "",
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
