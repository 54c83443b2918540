"""What the tools on offer take of a request, by the module that mounts them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from amplifier_tui.base.tokens import schema_tokens

logger = logging.getLogger(__name__)


def tool_schema_tokens(tools: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Measure what the model is told about the tools.

    Args:
        tools: Mounted tools by name.

    Returns:
        By source, ``tools:<module>`` or the provider that added it: how many tools, and their
        tokens.
    """
    sizes: dict[str, tuple[int, int]] = {}
    for name, tool in tools.items():
        source = tool_source(tool)
        count, tokens = sizes.get(source, (0, 0))
        spec = {"name": name, "description": _description(tool), "parameters": _schema(tool)}
        sizes[source] = (count + 1, tokens + schema_tokens(spec))
    return sizes


def tool_source(tool: Any) -> str:
    """Return who offers a tool: the context provider that added it, or the module it is from."""
    for place in ("additional_properties", "metadata"):
        marks = getattr(tool, place, None)
        source = marks.get("context_source") if isinstance(marks, Mapping) else None
        if isinstance(source, str) and source:
            return source
    return f"tools:{_module_id(type(tool).__module__)}"


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


def _description(tool: Any) -> str:
    text = getattr(tool, "description", "")
    return text if isinstance(text, str) else ""


def _schema(tool: Any) -> Any:
    try:
        return getattr(tool, "input_schema", None) or {}
    except Exception as error:
        logger.debug("The schema of tool '%s' can't be read: %s", tool, error)
        return {}
