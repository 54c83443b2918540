"""What becomes of a secret in the user's words; the screen and the disk never have it."""

from typing import Final

from amplifier_tui.base.capabilities.prompt_redaction import CAPABILITY, RedactPrompt
from amplifier_tui.host.redaction import hides_more
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.coordinator import ModuleCoordinator

SOURCE: Final = "secrets"
_KEPT: Final = "A secret in your prompt is kept from the model: it gets [REDACTED] in its place"
_SENT: Final = (
    "{} goes to the model as it is; only here and on disk it is hidden. Revoke it if that was not "
    "meant. `prompts: true` of `hooks-redaction` keeps secrets in prompts from the model."
)


class PromptSecrets:
    """Says what became of secrets, so that nobody believes a key never left the machine.

    Args:
        lane: The agent that hears the words.
    """

    def __init__(self, coordinator: ModuleCoordinator, sender: Sender, lane: str) -> None:
        self._coordinator = coordinator
        self._sender = sender
        self._lane = lane

    def redacted(self, text: str) -> str:
        """Return words said while the agent works as the model may have them."""
        redact: RedactPrompt | None = self._coordinator.get_capability(CAPABILITY)
        return text if redact is None else self.left(text, redact(text))

    def left(self, text: str, changed: str) -> str:
        """Take note of what hooks made of the user's words; returns that."""
        if hides_more(text, changed):
            self._sender.notice("info", _KEPT, SOURCE, self._lane)
        return changed

    def heard(self, typed: str, sent: str) -> None:
        """The model gets the user's words, and what goes along with them."""
        clean = self._sender.redactor.text
        if clean(sent) != sent:
            where = "your prompt" if clean(typed) != typed else "what goes along with your prompt"
            self._sender.notice("warning", _SENT.format(f"A key in {where}"), SOURCE, self._lane)
