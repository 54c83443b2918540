"""From what the user typed to what the orchestrator gets, before a turn and at its steps."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from amplifier_tui.foundation.mentions.loading import expand_mentions_in_instruction
from amplifier_tui.foundation.mentions.secrets import holds_users_secrets
from amplifier_tui.host.store.replay import STEER_HOOK
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.abandoned import is_abandoned
from amplifier_tui.host.turns.closing import mend_broken_answer
from amplifier_tui.host.turns.recorder import ContextRecorder
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult

ATTACHMENT_LIMIT: Final = 512 * 1024
"""Bytes of an attached file that goes along."""


class PromptDeniedError(Exception):
    """A hook refused the prompt."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the user sends.

    Attributes:
        text: As typed.
        attachments: Paths of files, absolute or in the session's working directory.
        again: Whether its turn failed and is gone on with.
    """

    text: str
    attachments: tuple[str, ...] = ()
    again: bool = False


def _read(workspace: Path, name: str) -> tuple[str | None, str]:
    try:
        path = workspace / Path(name).expanduser()
        if holds_users_secrets(path):
            return None, "it holds keys or the program's own state, which no model gets"
        if not path.is_file():
            return None, "no such file"
        if path.stat().st_size > ATTACHMENT_LIMIT:
            return None, f"larger than {ATTACHMENT_LIMIT // 1024} KiB"
        return path.read_text(encoding="utf-8-sig"), ""
    except UnicodeDecodeError:
        return None, "not a text file"
    except (OSError, ValueError, RuntimeError) as error:
        return None, str(getattr(error, "strerror", None) or error)


_SUBMIT: Final = "prompt:submit"


class PromptPath:
    """Takes the prompts of a session to its orchestrator.

    Args:
        workspace: Where relative attachments are.
    """

    def __init__(
        self,
        coordinator: ModuleCoordinator,
        recorder: ContextRecorder,
        workspace: Path,
        sender: Sender,
    ) -> None:
        self._coordinator = coordinator
        self._recorder = recorder
        self._workspace = workspace
        self._sender = sender
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
        return prompt.again and self._recorder.taken and self._recorder.watches

    @property
    def can_only_repeat(self) -> bool:
        """Whether going on with the last prompt would put it into the conversation again."""
        return self._recorder.taken and not self._recorder.watches

    async def prepare(self, prompt: Prompt) -> str:
        """Return what the orchestrator gets.

        Raises:
            PromptDeniedError: A hook refuses it.
        """
        if self.is_taken(prompt):
            await mend_broken_answer(self._coordinator.get("context"))
            self._recorder.expect_again()
            return self._recorder.sent
        text = await self._announce(await self._with_files(prompt))
        self._recorder.expect(text, prompt.text, prompt.attachments)
        return text

    async def _with_files(self, prompt: Prompt) -> str:
        """Return the prompt with the files it mentions, and those attached to it, before it."""
        text = prompt.text
        resolver = self._coordinator.get_capability("mention_resolver")
        if resolver is not None and "@" in text:
            seen = self._coordinator.get_capability("mention_deduplicator")
            text = await expand_mentions_in_instruction(text, resolver=resolver, deduplicator=seen)
        blocks: list[str] = []
        for name in prompt.attachments:
            content, problem = await asyncio.to_thread(_read, self._workspace, name)
            if content is None:
                self._sender.notice("warning", f"Not attached: {name}: {problem}")
            else:
                label = name.replace('"', "'").replace("\n", " ")
                blocks.append(f'<context_file paths="{label}">\n{content}\n</context_file>')
        return "\n\n".join((*blocks, text))

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


_LAST_WORD: Final = 1_000
"""After the modules' own hooks: the user has the last word."""


class Steering:
    """Holds the messages until the orchestrator asks for the next answer.

    Args:
        changed: Called when other messages wait than before.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._waiting: list[str] = []
        self._handed: list[str] = []

    def attach(self, hooks: HookRegistry) -> Callable[[], None]:
        """Listen on a session's hooks; returns what ends it."""
        return hooks.register("provider:request", self._step, _LAST_WORD, STEER_HOOK)

    @property
    def waiting(self) -> tuple[str, ...]:
        """What is not part of the conversation yet, in the order in which it was said."""
        return (*self._handed, *self._waiting)

    def add(self, text: str) -> None:
        """Have the model read a message at its next step."""
        self._waiting.append(text)
        self._changed()

    def arrived(self) -> None:
        """What was handed over is a row of the conversation now."""
        if self._handed:
            self._handed.clear()
            self._changed()

    def take_back(self) -> list[str]:
        """Return what did not reach the model: the turn is over."""
        left, self._waiting, self._handed = [*self._handed, *self._waiting], [], []
        return left

    async def _step(self, event: str, data: dict[str, Any]) -> HookResult | None:
        if not self._waiting or is_abandoned():
            return None
        messages, self._waiting = self._waiting, []
        # An orchestrator that ignores injections must not make the user's words vanish.
        self._handed += messages
        return HookResult(
            action="inject_context",
            context_injection="\n\n".join(messages),
            context_injection_role="user",
        )
