"""Prompts that were sent and that the engine has not taken up: a module blocks it."""

import threading
from collections.abc import Callable
from dataclasses import replace

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.turns.prompts import Prompt


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A prompt on its way; `steers`: as a message for the running turn. `late`: it is shown."""

    prompt: Prompt
    steers: bool = False
    late: bool = False


class ArrivingPrompts:
    """Those of one session; used from any thread.

    Args:
        tell: Writes and shows what waits. It takes as long as the disk does: not for the UI loop.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell
        self._sent: dict[str, SentPrompt] = {}
        self._lock = threading.Lock()

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """What is to be shown as queued, first sent first."""
        return tuple(each.prompt for each in self._late() if not each.steers)

    @property
    def steering(self) -> tuple[str, ...]:
        """What is to be shown as a message for the running turn."""
        return tuple(each.prompt.text for each in self._late() if each.steers)

    def add(
        self,
        text: str,
        attachments: tuple[str, ...] = (),
        prompt_id: str = "",
        typed: str | None = None,
        *,
        steers: bool = False,
    ) -> str:
        """Take note of a prompt that is sent; see `Prompt`. Returns its id."""
        prompt = Prompt(text, attachments, typed=typed)
        if prompt_id:
            prompt = replace(prompt, prompt_id=prompt_id)
        with self._lock:
            self._sent[prompt.prompt_id] = SentPrompt(prompt, steers)
        return prompt.prompt_id

    def late(self) -> None:
        """The engine is blocked: show what was sent, and write it down."""
        with self._lock:
            self._sent = {key: replace(each, late=True) for key, each in self._sent.items()}
        if self._sent:
            self.tell()

    def take(self, prompt_id: str) -> SentPrompt | None:
        """Take out what the engine has taken up; None when the user has taken it back."""
        with self._lock:
            return self._sent.pop(prompt_id, None)

    def edit(self, prompt_id: str, text: str) -> bool:
        """Give a prompt other words; say whether it was still on its way. See `tell`."""
        with self._lock:
            sent = self._sent.get(prompt_id)
            if sent is not None:
                self._sent[prompt_id] = replace(sent, prompt=sent.prompt.with_text(text))
            return sent is not None

    def _late(self) -> list[SentPrompt]:
        with self._lock:
            return [each for each in self._sent.values() if each.late]
