"""tool-bash: runs a command line in the workspace.

With ``run_in_background`` a call returns at once; ``bash_job`` reads on in what it prints, and
stops it. Such a job ends with the session. The model is told once when one has ended by itself.
Events: ``job:started``, ``job:progress`` (once a second at most) and ``job:ended``, with
``{job_id, command, started, seconds, ended, state, exit_code, earlier}`` and, but for the first,
``tail``, the last line it printed. Capability ``shell.jobs``: ``cards()``, ``text(job_id)``, async
``stop(job_id)``, and ``take_up(messages)``, which makes the jobs of a
stored conversation known as ended; the model is told that once.

Where the session's client has terminals (capability ``client.terminals``) and no command of the
session is run in a sandbox, calls run there, but for those in the background and with ``persist``;
nothing streams then.

With ``terminal`` what a command prints goes to a terminal; it reads from none.

A call begins in the workspace, or in the folder of its ``cwd``. With ``persist`` it begins where
the last such call ended, with the variables that one exported, and leaves both to the next, as long
as the session is open. What is kept is written into the call before it is judged, as ``cwd`` and as
``export`` in front of the command, so rules hold for what really runs. Secrets, functions, aliases
and options of the shell are not kept.

Each call is a shell of its own in its own process group. While it runs, its output streams as
``tool:progress`` events ``{tool_name, tool_call_id, text}``; the model gets the beginning and the
end of it. Stopping the call, or running out of time, ends the whole group.

Config:
    timeout: Seconds a command may take unless the call says otherwise. Default 120.
    max_timeout: Most seconds a call may ask for. Default 600.
    max_jobs: Most commands in the background at once; 0 for none. Default 8.
    max_output_chars: Characters of output the model gets. Default 30000.
    shell: Path of the shell. Default ``bash``, else ``sh``.
    persist: Whether calls keep folder and variables unless they say otherwise. Default false: a
        command then means the same whenever it runs.
    denied_commands: Regular expressions; a command line one of them is found in is refused.
    builtin_denials: Whether the module's own list of catastrophic commands counts. Default true.
    keep_env: Names (``*`` allowed) of variables commands may see although they look like secrets.
    pass_secrets: Whether commands see every variable, API keys included. Default false.
    env: Variables to set.
    working_dir: Where commands run when no capability ``session.working_dir`` tells it.
"""

import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules.tool_bash import jobs
from amplifier_tui.modules.tool_bash.job_tool import BashJobTool
from amplifier_tui.modules.tool_bash.settings import BashSettings
from amplifier_tui.modules.tool_bash.tool import PROGRESS, BashTool

__all__ = ["PROGRESS", "BashTool", "mount"]

__amplifier_module_type__ = "tool"

logger = logging.getLogger(__name__)


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]] | None:
    """Mount the tool as ``bash``, unless there are no POSIX process groups.

    Returns:
        A cleanup that ends what commands left running.

    Raises:
        ValueError: A value of the config makes no sense, or there is no shell.
    """
    settings = BashSettings.read(config)
    if os.name != "posix":
        logger.warning("tool-bash needs a POSIX system; it is not mounted")
        return None
    tool = BashTool(settings, coordinator)
    await coordinator.mount("tools", tool, name=tool.name)
    writing_in = coordinator.hooks.register(
        events.TOOL_PRE, tool.keeping.write_in, priority=-1_000, name="tool-bash"
    )
    tool.at_end.append(writing_in)
    told = [PROGRESS]
    if tool.in_background:
        reader = BashJobTool(tool.jobs)
        await coordinator.mount("tools", reader, name=reader.name)
        coordinator.register_capability(jobs.JOBS, tool.jobs)
        reminding = coordinator.hooks.register(
            events.PROVIDER_REQUEST, tool.jobs.remind, priority=20, name="tool-bash"
        )
        tool.at_end.append(reminding)
        told += [jobs.STARTED, jobs.PROGRESS, jobs.ENDED]
    coordinator.register_contributor("observability.events", "tool-bash", lambda: told)
    return tool.close
