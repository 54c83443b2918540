"""The system prompt in parts, each with the id of who wrote it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.context_file import file_blocks
from amplifier_tui.base.messages.tool_calls import tool_spec
from amplifier_tui.base.python import awaited
from amplifier_tui.base.tokens import MESSAGE_TOKENS, schema_tokens, text_tokens
from amplifier_tui.context.entries import Entry

logger = logging.getLogger(__name__)

SystemPromptFactory = Callable[[], Awaitable[str] | str]
"""Makes the prompt. One with a method ``parts()`` says who wrote what of it: it returns, or is a
coroutine function that returns, ``[(source_id, text), ...]``."""

Part = tuple[str, str]

SEPARATOR: Final = "\n\n---\n\n"
"""Between the parts, but for files, which have only an empty line between them."""


@dataclass(frozen=True, slots=True)
class AttributedPrompt:
    """What the model gets as system prompt, and who wrote what of it, in order."""

    text: str = ""
    parts: tuple[Part, ...] = ()

    def extended(self, parts: Iterable[Part]) -> AttributedPrompt:
        """Return the prompt with instructions of context providers after it, a line each."""
        added = tuple((source, text) for source, text in parts if text)
        if not added:
            return self
        lines = "\n".join(text for _, text in added)
        text = f"{self.text}\n\n{lines}" if self.text else lines
        return AttributedPrompt(text, (*self.parts, *added))

    def entry(self) -> Entry | None:
        """Return the system message of a request; None where there is nothing to say."""
        if not self.text:
            return None
        sizes: dict[str, int] = {}
        for source, text in self.parts:
            sizes[source] = sizes.get(source, 0) + text_tokens(text)
        first = next(iter(sizes))
        sizes[first] += MESSAGE_TOKENS
        return Entry(
            message={"role": "system", "content": self.text},
            tokens=sum(sizes.values()),
            key="system",
            role="system",
            source=first,
            parts=tuple(sizes.items()),
        )


class SystemPrompt:
    """Asks the factory for every request, and falls back on the last answer where it fails."""

    def __init__(self) -> None:
        self._factory: SystemPromptFactory | None = None
        self._last: AttributedPrompt | None = None

    def use(self, factory: SystemPromptFactory) -> None:
        """Have the prompt made by a factory."""
        self._factory = factory
        self._last = None

    async def known(self) -> AttributedPrompt:
        """Return the prompt as it was made last; it is made where it never was."""
        return self._last if self._last is not None else await self.make()

    async def make(self) -> AttributedPrompt:
        """Make the prompt anew; an empty one without a factory.

        What the factory raises gets out only if it never worked before.
        """
        if self._factory is None:
            return AttributedPrompt()
        try:
            self._last = await _ask(self._factory)
        except Exception:
            if self._last is None:
                raise
            logger.exception("The system prompt could not be made anew; the last one is used")
        return self._last


async def _ask(factory: SystemPromptFactory) -> AttributedPrompt:
    ask_parts: Callable[[], Any] | None = getattr(factory, "parts", None)
    if callable(ask_parts):
        answer = await awaited(ask_parts())
        parts = tuple((str(source), str(text)) for source, text in answer if text)
        return AttributedPrompt(join_parts(parts), parts)
    text = str(await awaited(factory()) or "")
    return AttributedPrompt(text, tuple(split_prompt(text)))


def split_prompt(prompt: str) -> list[Part]:
    """Split a prompt on its ``<context_file paths="…">`` blocks; the texts together are the prompt.

    The source of a block is ``file:<path or mention>``, that of the rest ``system``.
    """
    parts: list[Part] = []
    end = 0
    for block in file_blocks(prompt):
        if block.start > end:
            parts.append(("system", prompt[end : block.start]))
        parts.append((f"file:{block.name}", prompt[block.start : block.end]))
        end = block.end
    if end < len(prompt):
        parts.append(("system", prompt[end:]))
    return parts


def join_parts(parts: Iterable[Part]) -> str:
    """Return the prompt that parts of a factory make."""
    joined, last = "", ""
    for source, text in parts:
        kind = "file" if source.startswith("file:") else "text"
        if joined:
            joined += "\n\n" if kind == last == "file" else SEPARATOR
        joined += text
        last = kind
    return joined


def tool_schema_tokens(tools: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return how many tools each source offers, and the tokens of what the model is told of them.

    The sources are ``tools:<module>``, or the provider that added a tool.
    """
    sizes: dict[str, tuple[int, int]] = {}
    for name, tool in tools.items():
        source = tool_source(tool)
        count, tokens = sizes.get(source, (0, 0))
        sizes[source] = (count + 1, tokens + schema_tokens(tool_spec(name, tool)))
    return sizes


def tool_source(tool: Any) -> str:
    """Return who offers a tool: the context provider that added it, or the module it is from."""
    for place in ("additional_properties", "metadata"):
        marks = getattr(tool, place, None)
        source = marks.get("context_source") if isinstance(marks, Mapping) else None
        if isinstance(source, str) and source:
            return source
    # Not `type`: a tool may have a stand-in that says it is of the tool's class.
    return f"tools:{_module_id(tool.__class__.__module__)}"


def _module_id(path: str) -> str:
    """The module id in a Python path: `tool-bash` of `amplifier_module_tool_bash.tool`."""
    names = path.split(".")
    for name in names:
        if name.startswith("amplifier_module_"):
            return name.removeprefix("amplifier_module_").replace("_", "-")
    for name in names:
        if name.startswith("tool_"):
            return name.replace("_", "-")
    return names[0]
