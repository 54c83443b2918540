"""A request ready to be sent, and what both of OpenAI's formats share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.kernel.message_models import ChatRequest, Degradation, ImageBlock, ToolSpec
from amplifier_tui.kernel.utils.conversation import clean_name
from amplifier_tui.kernel.utils.turns import Repair
from amplifier_tui.modules.provider_openai.models import reasons
from amplifier_tui.modules.provider_openai.settings import Settings

Wire = dict[str, Any]
"""One JSON object as the API takes it."""

NO_OUTPUT = "(no output)"
BEGIN = "(The conversation begins here.)"
GO_ON = "Continue."


@dataclass
class Prepared:
    """A request ready to be sent.

    Attributes:
        arguments: Keyword arguments of the SDK's `create`.
        tool_names: The tools' real names by the names the API knows.
        repairs: What was put right in the sequence of calls and results.
        degradation: What the API can't do as asked.
    """

    arguments: dict[str, Any]
    tool_names: dict[str, str] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)
    degradation: Degradation | None = None


def tool_names(tools: Iterable[ToolSpec] | None) -> dict[str, str]:
    """The tools' real names by the names the API knows."""
    return {clean_name(tool.name): tool.name for tool in tools or []}


def function(tool: ToolSpec) -> Wire:
    """A tool's name, description and schema."""
    return {
        "name": clean_name(tool.name),
        "description": tool.description or "",
        "parameters": {"type": "object", "properties": {}, **tool.parameters},
    }


def image_url(image: ImageBlock) -> str:
    """The image as a URL: its own, or its data in one."""
    source = image.source
    if isinstance(source.get("url"), str):
        return str(source["url"])
    return f"data:{source.get('media_type', 'image/png')};base64,{source.get('data', '')}"


def sampling(request: ChatRequest, settings: Settings, model: str) -> Wire:
    """Temperature and top_p. OpenAI's reasoning models take neither, unless the user insists."""
    wanted: Wire = {"temperature": request.temperature, "top_p": request.top_p}
    if settings.is_openai and reasons(model):
        wanted = {}
    if wanted.get("temperature") is None:
        wanted["temperature"] = settings.temperature
    return {name: value for name, value in wanted.items() if value is not None}
