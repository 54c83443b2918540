"""From what the user typed to what the orchestrator gets, before a turn and at its steps."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.mentions.loading import (
    MentionResult,
    expand_mentions_in_instruction,
)
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.host.gate.mentions import refusal, users_mentions
from amplifier_tui.host.messages import STEER_HOOK
from amplifier_tui.host.shell.commands import ShellCommands
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.abandoned import is_abandoned
from amplifier_tui.host.turns.prompt.attachments import mentioned_images, read_attachments, shown
from amplifier_tui.host.turns.prompt.commands import PromptCommands
from amplifier_tui.host.turns.prompt.lines import MentionedLines, mentioned_lines
from amplifier_tui.host.turns.prompt.resources import mentioned_resources
from amplifier_tui.host.turns.prompt.secrets import PromptSecrets
from amplifier_tui.host.turns.prompt.unread import unread
from amplifier_tui.host.turns.recorder import ContextRecorder
from amplifier_tui.host.turns.unfinished import keep_prompt, mend_broken_answer
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.hooks.results import injections_of, projection, prompt_left
from amplifier_tui.kernel.models import ContextInjection, HookResult


class PromptDeniedError(Exception):
    """A hook refused the prompt."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the user sends.

    Attributes:
        text: The user's words, and what else is sent with them as text.
        attachments: Paths of files, absolute or in the session's working directory, or images
            as `data:` addresses.
        again: Whether its turn failed and is gone on with.
        typed: The user's words alone; None where the text is nothing else.
        prompt_id: Names it while it waits.
    """

    text: str
    attachments: tuple[str, ...] = ()
    again: bool = False
    typed: str | None = None
    prompt_id: str = field(default_factory=lambda: uuid4().hex[:12], compare=False)

    @property
    def mentioning(self) -> str:
        """The text whose mentions count: files and pages hold `@` as well."""
        return self.text if self.typed is None else self.typed

    def with_text(self, text: str) -> "Prompt":
        """Return it with another text; mentions count only in words that are left as they were."""
        typed = self.typed if self.typed is None or self.typed in text else ""
        return replace(self, text=text, typed=typed)


_SUBMIT: Final = "prompt:submit"
_COMPLETE: Final = "prompt:complete"
_REQUEST: Final = "provider:request"
_UNREAD: Final = (
    "The orchestrator did not add your prompt to the conversation: the model may not have read it. "
    "amplifier-tui module validate says where"
)


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
        shell: ShellCommands,
        commands: PromptCommands,
    ) -> None:
        self._commands = commands
        self._secrets = PromptSecrets(coordinator, sender, MAIN_LANE)
        recorder.on_words = self._secrets.heard
        self._coordinator = coordinator
        self._shell = shell
        self._recorder = recorder
        self._workspace = workspace
        self._sender = sender
        self._completed = self._asked = self._told = False
        self._begun = Prompt("")
        self._had = True
        """The conversation had it when its turn began."""
        self._expected = False
        """The recorder knows of it."""
        self._repeating: Callable[[], None] = lambda: None
        """Lets the orchestrator's own announcement of the prompt through again."""
        self._adding: Callable[[], None] = lambda: None
        """Ends what adds to the first request of the turn."""

    def turn_begins(self, prompt: Prompt) -> None:
        """A prompt is about to run."""
        self._completed = self._asked = False
        self._begun, self._had, self._expected = prompt, self.is_taken(prompt), False
        self._recorder.heard = False
        self._adding()
        self._repeating()

    def _add_to_first_request(self, items: list[ContextInjection]) -> None:
        """Give the turn's first request what hooks added to the prompt for that request only."""

        def add(event: str, data: dict[str, Any]) -> HookResult | None:
            if is_abandoned():
                return None
            self._adding()
            return HookResult(action="inject_context", **projection(items))

        # Early: what hooks say of the prompt comes before what they say of the request.
        hooks = self._coordinator.hooks
        self._adding = hooks.register(_REQUEST, add, -1_000, _SUBMIT)

    def watch(self, event: str) -> None:
        """Take an event of a running turn."""
        self._completed = self._completed or event == _COMPLETE
        self._asked = self._asked or event == _REQUEST

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
        text = await self._prepared(prompt)
        # Many orchestrators say it as well; hooks are told once.
        self._repeating = self._coordinator.hooks.announced(_SUBMIT)
        return text

    async def keep_prompt(self, *, needed: bool, answered: bool) -> bool:
        """Put the prompt of the turn into the conversation, where the orchestrator did not.

        Args:
            needed: What came of it is on the screen, and was only there.
            answered: The model was to have read it; that it has not, the user is told once.

        Returns:
            Whether it was put there.
        """
        if self._had or self._recorder.heard:
            return False
        if answered and self._asked and not self._told:
            self._told = True
            self._sender.notice("warning", _UNREAD)
        if not needed:
            return False
        if not self._expected:
            text, names = self._begun.text, tuple(map(shown, self._begun.attachments))
            self._recorder.expect(text, text, names)
        return await keep_prompt(self._coordinator.get("context"), self._recorder.sent)

    async def complete(self, prompt: Prompt, answer: str) -> None:
        """Say that a prompt is answered, unless the orchestrator has."""
        if not self._completed:
            data = {"prompt": prompt.text, "response": answer}
            await self._coordinator.hooks.emit(_COMPLETE, data)

    async def _prepared(self, prompt: Prompt) -> str:
        if self.is_taken(prompt):
            await mend_broken_answer(self._coordinator.get("context"))
            self._recorder.expect_again()
            return self._recorder.sent
        commands = [event.command_id for event in self._shell.waiting]
        resolver = users_mentions(self._coordinator.get_capability("mention_resolver"))
        lines = await asyncio.to_thread(mentioned_lines, prompt.mentioning, resolver)
        mentioned = await asyncio.to_thread(mentioned_images, lines.rest, resolver)
        wanted = (*prompt.attachments, *mentioned)
        attached = await asyncio.to_thread(read_attachments, self._workspace, wanted)
        if attached.images and not self._recorder.watches:
            # Such a context gets its messages from the orchestrator, which is given a text.
            attached.images.clear()
            attached.problems.append("images, which this session's context can't be given")
        for problem in attached.problems:
            self._sender.notice("warning", f"Not attached: {problem}")
        with_files = await self._with_files(prompt, lines, attached.texts, mentioned)
        text = await self._announce(self._shell.with_output(with_files))
        names = tuple(map(shown, prompt.attachments))
        self._recorder.expect(text, prompt.text, names, commands, attached.images, attached.names)
        self._expected = True
        return text

    def with_output(self, text: str) -> str:
        """Return a steering message as sent: with what the user's own commands printed since."""
        commands = [event.command_id for event in self._shell.waiting]
        sent = self._secrets.redacted(self._shell.with_output(text))
        if sent != text:
            self._recorder.expect_also(sent, text, commands=commands)
        return sent

    async def _with_files(
        self, prompt: Prompt, lines: MentionedLines, attached: list[str], images: Sequence[str]
    ) -> str:
        """Return the prompt with the files it mentions, and those attached to it, before it.

        Args:
            lines: What it mentions of lines.
            images: What it mentions that goes along as an image.
        """
        try:
            expanded = await self._commands.expanded(prompt.text)
        except ValueError as error:
            raise PromptDeniedError(str(error)) from error
        text = rest = lines.rest
        resolver = users_mentions(self._coordinator.get_capability("mention_resolver"))
        failed: list[MentionResult] = []
        if resolver is not None and "@" in text:
            seen = self._coordinator.get_capability("mention_deduplicator")
            text = await expand_mentions_in_instruction(
                text, resolver=resolver, deduplicator=seen, failed=failed
            )
        # The user's mentions count, those of a command's own text and of files do not.
        text = text.removesuffix(rest) + expanded

        def warn(message: str) -> None:
            self._sender.notice("warning", message, "mentions")

        for problem in lines.problems:
            warn(problem)
        for result in failed:
            refused = await asyncio.to_thread(refusal, resolver, result.mention)
            words = refused or unread(result, rest)
            if words and str(result.resolved_path) not in images:
                warn(words)
        blocks = await mentioned_resources(rest, self._coordinator, warn)
        return "\n\n".join((*blocks, *attached, *lines.texts, text))

    async def _announce(self, text: str) -> str:
        """Emit `prompt:submit`; returns the prompt as the hooks left it."""
        coordinator = self._coordinator
        result = await coordinator.hooks.emit(_SUBMIT, {"prompt": text})
        data = result.data if result.action != "deny" else None
        processed = await coordinator.process_hook_result(result, _SUBMIT, _SUBMIT)
        if processed.action == "deny":
            raise PromptDeniedError(processed.reason or "A hook refused the prompt")
        if processed.action == "inject_context":
            self._add_to_first_request(injections_of(processed, _SUBMIT, _SUBMIT))
        return self._secrets.left(text, prompt_left(text, data or {}))


_LAST_WORD: Final = 1_000
"""After the modules' own hooks: the user has the last word."""


class Steering:
    """Holds the messages until the orchestrator asks for the next answer.

    Args:
        changed: Called when other messages wait than before.
        with_output: Makes of a message what is sent.
    """

    def __init__(
        self, changed: Callable[[], None], with_output: Callable[[str], str] = str
    ) -> None:
        self._changed = changed
        self.with_output = with_output
        self._waiting: list[str] = []
        self._handed: list[str] = []

    def attach(self, hooks: HookRegistry) -> Callable[[], None]:
        """Listen on a session's hooks; returns what ends it."""
        return hooks.register(_REQUEST, self._step, _LAST_WORD, STEER_HOOK)

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
            context_injection=self.with_output("\n\n".join(messages)),
            context_injection_role="user",
        )
