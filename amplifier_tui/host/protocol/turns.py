"""Prompts, turns, the sub-agents of a turn, and commands of the user's own."""

from concurrent.futures import Future
from typing import Protocol


class TurnClient(Protocol):
    """Sends prompts, steers and stops turns, and runs the user's own commands."""

    def submit(
        self,
        text: str,
        attachments: tuple[str, ...] = (),
        prompt_id: str = "",
        *,
        typed: str | None = None,
    ) -> None:
        """Send a prompt. While a turn runs it is queued.

        Args:
            attachments: Paths of files, absolute or in the session's working directory, or images
                as `data:` addresses. Images and PDFs are shown to the model.
            prompt_id: What it is called in `QueueChanged` and `TurnStarted`; empty for any name.
            typed: The part of the text that the user wrote: what the rest mentions, such as the
                text of a file, is not read. None for all of it.
        """

    def steer(self, text: str) -> None:
        """Give the running turn a message at its next step; without a turn, submit it."""

    def queue(self, text: str) -> None:
        """Send a prompt after the running turn; without a turn, at once."""

    def unqueue(self, prompt_id: str) -> None:
        """Take a waiting prompt back; one that is gone is ignored.

        Args:
            prompt_id: As in `QueueChanged.ids`.
        """

    def edit_queued(self, prompt_id: str, text: str) -> None:
        """Give a waiting prompt other words; without any it is taken back."""

    def move_queued(self, prompt_id: str, to: int) -> None:
        """Give a waiting prompt another place, counted from 0."""

    def send_queued(self, prompt_id: str = "") -> None:
        """Send a waiting prompt now, the first one without an id.

        While a turn runs it steers that, at its next step.
        """

    def keep_draft(self, text: str) -> None:
        """Store what was written and not sent, for when the session is opened again.

        It is in `SessionOpened.draft` then; the next turn takes it away. Secrets are taken out. A
        session in which nothing was said is not stored, nor is its draft.
        """

    def retry(self, *, without: str = "") -> None:
        """Go on with the prompt whose turn failed, which is in the conversation already.

        Args:
            without: A context source to leave out until its module is mounted anew; see
                `Failed.source`.

        Leads to `TurnStarted`. A turn that cannot be gone on with (none failed, or one runs) is
        said in a `Notice`.
        """

    def interrupt(self, immediate: bool = False, turn: int = 0) -> None:
        """Stop the running turn: after the current step, or at once.

        Args:
            turn: The number of the one that is meant, as in `TurnStarted`; when that has ended
                nothing is stopped. 0 for whichever runs.
        """

    def tell_agent(self, lane: str, text: str) -> None:
        """Give a sub-agent that works a message at its next step; it becomes a row of its own.

        Leads to a `QueueChanged` and then a `SteerApplied` in its lane, or to a `Notice` that says
        why not.

        Args:
            lane: As in `LaneOpened`.
        """

    def stop_agent(self, lane: str, immediate: bool = False) -> None:
        """Stop one sub-agent, with those it called: after the current step, or at once.

        The call that asked for it gets a result that says so, and the turn goes on. Leads to
        `LaneClosed`, or to a `Notice` where it does not work any more.
        """

    def shell(self, command: str, *, tell: bool = True, in_terminal: bool = False) -> None:
        """Run a command line in the session's folder, as the user and not as the agent.

        Nobody is asked and there is no sandbox. Leads to `ShellStarted` and `ShellEnded`; where it
        draws on the terminal or reads keys, to `TerminalWanted`.

        Args:
            tell: Command and output go along with the next prompt.
            in_terminal: It needs the terminal, whatever it looks like.
        """

    def stop_shell(self) -> None:
        """End the command that was started last with `shell`, if one runs."""

    def job_text(self, job_id: str) -> "Future[str]":
        """Return what a command of the agent's in the background printed; see `JobChanged`.

        The future raises `RuntimeError`, with a sentence, where there is no such job.
        """

    def stop_job(self, job_id: str) -> None:
        """End a command of the agent's in the background: `JobChanged`."""

    def image(self, key: str, lane: str = "main") -> "Future[bytes]":
        """Return an image of the conversation, as it is stored; see `ImagesAdded`.

        The future raises `RuntimeError`, with why, where it can't be had.

        Args:
            key: As in `ImageCard`.
            lane: `agent` of the event.
        """

    def note_shell(
        self, command: str, *, exit_code: int, seconds: float, tell: bool = True
    ) -> None:
        """Have a command in the conversation that a front end ran in its own terminal.

        Leads to `ShellEnded`.
        """

    def withhold_shell(self) -> None:
        """Send nothing along of the commands that wait for the next prompt."""
