"""``bash_job``."""

from collections.abc import Mapping
from typing import Any, ClassVar

from amplifier_tui.base.text import printed
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument
from amplifier_tui.modules.tool_bash.jobs import Jobs

_ACTIONS = ("list", "read", "stop")


class BashJobTool(ModuleTool):
    """Reads on in background commands, and stops them."""

    name = "bash_job"
    description = (
        "What became of commands that bash runs in the background. `read` returns what one printed "
        "since it was read last, and whether it still runs."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "action": argument("string", "What to do.", enum=list(_ACTIONS)),
        "job_id": argument("string", "Which one, as bash named it. Not for `list`."),
    }
    required = ("action",)

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """List, read on or stop."""
        action, job_id = given.get("action"), given.get("job_id")
        if action not in _ACTIONS:
            raise ToolProblem(
                f"`action` must be one of {', '.join(_ACTIONS)}, not {action!r}.",
                "invalid_arguments",
            )
        if action == "list":
            return ToolResult(output=self._listed() or "No command was run in the background.")
        if not isinstance(job_id, str):
            raise ToolProblem("`job_id` must be a text, such as job-1.", "invalid_arguments")
        stopped = action == "stop" and await self._jobs.stop(job_id)
        found = self._jobs.take(job_id)
        if found is None:
            known = self._listed() or "none; jobs end with their session"
            raise ToolProblem(f"There is no job {job_id!r}. There are:\n{known}", "not_found")
        job, text = found
        if action == "stop" and not stopped:
            job.notes.append("it had ended before")
        words = "; ".join((job.state, *job.notes))
        job.notes.clear()
        body = printed(text).rstrip("\n")
        return ToolResult(output="\n".join(filter(None, (body, f"[{job.job_id}: {words}]"))))

    def _listed(self) -> str:
        return "\n".join(
            f"{job['job_id']}: {job['state']}, {job['seconds']:.0f} s, {job['command']}"
            for job in self._jobs.cards()
        )
