"""From what the user typed to what the orchestrator gets."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from amplifier_tui.host.turns.closing import mend_broken_answer
from amplifier_tui.host.turns.control import PromptDeniedError
from amplifier_tui.host.turns.prompts import Prompt, expand
from amplifier_tui.host.turns.recorder import ContextRecorder
from amplifier_tui.kernel.coordinator import ModuleCoordinator

_SUBMIT: Final = "prompt:submit"


class PromptPath:
    """Takes the prompts of a session to its orchestrator.

    Args:
        coordinator: The session's.
        recorder: Knows what the conversation has of a prompt.
        workspace: Where relative attachments are.
        warn: Shows a line to the user.
    """

    def __init__(
        self,
        coordinator: ModuleCoordinator,
        recorder: ContextRecorder,
        workspace: Path,
        warn: Callable[[str], None],
    ) -> None:
        self._coordinator = coordinator
        self._recorder = recorder
        self._workspace = workspace
        self._warn = warn
        self._loop_submits = False
        self._submits = 0

    def turn_begins(self) -> None:
        """A prompt is about to run."""
        self._submits = 0

    def watch(self, event: str) -> None:
        """Take an event of a running turn."""
        if event == _SUBMIT:
            self._submits += 1
            if self._submits > 1:
                # This orchestrator says it itself; from the next turn on it is said once.
                self._loop_submits = True

    def is_taken(self, prompt: Prompt) -> bool:
        """Whether a prompt whose turn failed can be gone on with: the conversation has it."""
        return prompt.again and self._recorder.taken and self._recorder.wraps

    @property
    def can_only_repeat(self) -> bool:
        """Whether going on with the last prompt would put it into the conversation again."""
        return self._recorder.taken and not self._recorder.wraps

    async def prepare(self, prompt: Prompt) -> str:
        """Return what the orchestrator gets.

        Raises:
            PromptDeniedError: A hook refuses it.
        """
        if self.is_taken(prompt):
            await mend_broken_answer(self._coordinator.get("context"))
            self._recorder.expect_again()
            return self._recorder.sent
        expanded = await expand(
            prompt,
            self._coordinator.get_capability("mention_resolver"),
            self._coordinator.get_capability("mention_deduplicator"),
            self._workspace,
        )
        for problem in expanded.problems:
            self._warn(f"Not attached: {problem}")
        text = await self._announce(expanded.text)
        self._recorder.expect(text, prompt.text, prompt.attachments)
        return text

    async def _announce(self, text: str) -> str:
        """Emit `prompt:submit`; returns the prompt as the hooks left it."""
        if self._loop_submits:
            return text
        coordinator = self._coordinator
        result = await coordinator.hooks.emit(_SUBMIT, {"prompt": text})
        changed = result.data.get("prompt") if result.action == "continue" and result.data else None
        processed = await coordinator.process_hook_result(result, _SUBMIT, _SUBMIT)
        if processed.action == "deny":
            raise PromptDeniedError(processed.reason or "A hook refused the prompt")
        injection = processed.context_injection
        if processed.action == "inject_context" and injection:
            # For this turn only: it goes along with the prompt.
            return f"{injection}\n\n{text}"
        return changed if isinstance(changed, str) else text
