"""Commands that the agent runs in the background: what they printed, and stopping them."""

from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.base.python import awaited
from amplifier_tui.base.text import one_line, span
from amplifier_tui.host.events import MAIN_LANE, JobChanged
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.coordinator import ModuleCoordinator

CAPABILITY: Final = "shell.jobs"
EVENTS: Final = ("job:started", "job:progress", "job:ended")
SOURCE: Final = "jobs"
"""Of the notices that say how a job ended."""
_STOPPED: Final = "stopped"
"""How a job stands that the user, the model or the end of the session ended."""
_GONE: Final = "No command runs in the background here: those of this session have ended with it."


def job_changed(sender: Sender, lane: str, data: Mapping[str, Any]) -> JobChanged:
    """Return what an event of a job says."""
    clean = sender.redactor.text
    started = data.get("started")
    return JobChanged(
        **sender.stamp(lane),
        job_id=str(data.get("job_id") or ""),
        command=clean(str(data.get("command") or "")),
        # Whatever a module says: years that no clock shows are no time.
        started=float(started) if isinstance(started, int | float) and 0 <= started < 1e11 else 0.0,
        running=data.get("ended") is not True,
        state=str(data.get("state") or ""),
        tail=clean(str(data.get("tail") or "")),
        no_network=data.get("no_network") is True,
        earlier=data.get("earlier") is True,
    )


def tell_job(sender: Sender, event: str, lane: str, data: Mapping[str, Any]) -> None:
    """Tell what an event of a job says; of one that ended by itself also in a line."""
    job = job_changed(sender, lane, data)
    sender.send(job)
    if event != "job:ended" or job.state == _STOPPED:
        return
    # None is that of one that was lost sight of.
    failed, seconds = data.get("exit_code", 0) != 0, data.get("seconds")
    after = "at once"
    if isinstance(seconds, int | float) and seconds >= 1:
        after = f"after {span(seconds)}"
    text = f"{one_line(job.job_id, 12)} ended {after}"
    if failed and job.state:
        text += f" · {one_line(job.state, 40).removeprefix('ended ')}"
    text += f": {one_line(job.command, 200)}"
    sender.notice("warning" if failed else "info", text, SOURCE, lane)


class BackgroundJobs:
    """The jobs of one session, of whichever module has them."""

    def __init__(self, coordinator: ModuleCoordinator, sender: Sender) -> None:
        self._coordinator = coordinator
        self._sender = sender

    @property
    def running(self) -> bool:
        """Whether one runs."""
        jobs: Any = self._coordinator.get_capability(CAPABILITY)
        return jobs is not None and any(not card["ended"] for card in jobs.cards())

    def running_since(self, at: float) -> list[tuple[str, str]]:
        """Return id and command of each that runs and began then or later, the oldest first.

        Args:
            at: In Unix seconds; 0 for all.
        """
        jobs: Any = self._coordinator.get_capability(CAPABILITY)
        cards = reversed(jobs.cards() if jobs is not None else ())
        found = (job_changed(self._sender, MAIN_LANE, card) for card in cards)
        return [(job.job_id, job.command) for job in found if job.running and job.started >= at]

    def take_up(self, messages: list[dict[str, Any]]) -> None:
        """Let the module know of a stored conversation, whose jobs have ended."""
        take_up = getattr(self._coordinator.get_capability(CAPABILITY), "take_up", None)
        if callable(take_up):
            take_up(messages)

    def tell_earlier(self) -> None:
        """Say which jobs ran before the session was opened."""
        jobs: Any = self._coordinator.get_capability(CAPABILITY)
        for card in reversed(jobs.cards() if jobs is not None else ()):
            if (changed := job_changed(self._sender, MAIN_LANE, card)).earlier:
                self._sender.send(changed)

    async def text(self, job_id: str) -> str:
        """Return what a job printed, the middle of very much left out.

        Raises:
            RuntimeError: There is no such job.
        """
        jobs: Any = self._coordinator.get_capability(CAPABILITY)
        try:
            if jobs is None:
                raise RuntimeError(_GONE)
            return self._sender.redactor.text(str(await awaited(jobs.text(job_id))))
        except KeyError as error:
            raise RuntimeError(_GONE) from error

    async def stop(self, job_id: str) -> None:
        """End a job, or say that it has ended."""
        jobs: Any = self._coordinator.get_capability(CAPABILITY)
        if jobs is None or not await awaited(jobs.stop(job_id)):
            self._sender.notice("info", f"{job_id} does not run")
