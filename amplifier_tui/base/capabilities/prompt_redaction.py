"""Keeping secrets in what the user says while the agent works: no event carries those words.

A module that changes prompts registers the capability `redaction.prompt` (`RedactPrompt`).
"""

from collections.abc import Callable
from typing import Final

CAPABILITY: Final = "redaction.prompt"

RedactPrompt = Callable[[str], str]
"""Returns words of the user as the model may have them."""
