"""A prompt before it is sent: what it mentions and what is attached goes along."""

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from amplifier_tui.foundation.mentions.context_block import expand_mentions_in_instruction

logger = logging.getLogger(__name__)

ATTACHMENT_LIMIT: Final = 512 * 1024
"""Bytes of an attached file that goes along."""


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


@dataclass(frozen=True, slots=True)
class Expanded:
    """What the orchestrator gets.

    Attributes:
        text: The prompt with the files.
        problems: Attachments that could not go along, each with the reason.
    """

    text: str
    problems: tuple[str, ...] = ()


async def expand(prompt: Prompt, resolver: Any, deduplicator: Any, workspace: Path) -> Expanded:
    """Put the files a prompt mentions, and those attached to it, before its text.

    Args:
        prompt: What the user sends.
        resolver: Capability `mention_resolver` of the session; None leaves mentions alone.
        deduplicator: Capability `mention_deduplicator`: what the model has seen already.
        workspace: Where relative attachments are.
    """
    text = prompt.text
    if resolver is not None and "@" in text:
        text = await expand_mentions_in_instruction(
            text, resolver=resolver, deduplicator=deduplicator
        )
    blocks: list[str] = []
    problems: list[str] = []
    for name in prompt.attachments:
        content, problem = await asyncio.to_thread(_read, workspace, name)
        if content is None:
            problems.append(f"{name}: {problem}")
        else:
            label = name.replace('"', "'").replace("\n", " ")
            blocks.append(f'<context_file paths="{label}">\n{content}\n</context_file>')
    return Expanded("\n\n".join((*blocks, text)), tuple(problems))


def _read(workspace: Path, name: str) -> tuple[str | None, str]:
    try:
        path = workspace / Path(name).expanduser()
        if not path.is_file():
            return None, "no such file"
        if path.stat().st_size > ATTACHMENT_LIMIT:
            return None, f"larger than {ATTACHMENT_LIMIT // 1024} KiB"
        return path.read_text(encoding="utf-8-sig"), ""
    except UnicodeDecodeError:
        return None, "not a text file"
    except (OSError, ValueError, RuntimeError) as error:
        return None, str(getattr(error, "strerror", None) or error)
