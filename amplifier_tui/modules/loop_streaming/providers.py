"""Which of the mounted providers answers, and which tools it is told about."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, TypeGuard

from amplifier_tui.kernel.message_models import ToolSpec

logger = logging.getLogger(__name__)

_LAST = 100.0
"""Priority of a provider that has none; lower is preferred."""

_NO_INPUT: dict[str, Any] = {"type": "object", "properties": {}}


def choose_provider(
    providers: Mapping[str, Any], wanted: str | None, coordinator: Any | None
) -> tuple[str, Any]:
    """Return the provider of a turn and its name.

    Args:
        providers: Mounted providers in the order they were mounted.
        wanted: Name of the configured one, if any.
        coordinator: Its config says each provider's ``priority``; None where there is none.

    Raises:
        RuntimeError: None is mounted.
    """
    if not providers:
        raise RuntimeError(
            "No providers mounted: add one to the bundle, or set the API key of the one it has"
        )
    if wanted is not None:
        for name in (wanted, wanted.removeprefix("provider-")):
            if name in providers:
                return name, providers[name]
        logger.warning(
            "default_provider '%s' is not mounted; mounted are: %s", wanted, ", ".join(providers)
        )
    planned = _planned_priorities(coordinator)
    name = min(providers, key=lambda name: planned.get(name, _own_priority(providers[name])))
    return name, providers[name]


def _planned_priorities(coordinator: Any | None) -> dict[str, float]:
    config = getattr(coordinator, "config", None)
    entries = config.get("providers") if isinstance(config, Mapping) else None
    found: dict[str, float] = {}
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping):
            continue
        name = entry.get("instance_id") or entry.get("id") or entry.get("module")
        settings = entry.get("config")
        priority = settings.get("priority") if isinstance(settings, Mapping) else None
        if isinstance(name, str) and _is_number(priority):
            found[name.removeprefix("provider-")] = float(priority)
    return found


def _own_priority(provider: Any) -> float:
    config = getattr(provider, "config", None)
    own = getattr(provider, "priority", None)
    if not _is_number(own):
        own = config.get("priority") if isinstance(config, Mapping) else None
    return float(own) if _is_number(own) else _LAST


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def model_of(provider: Any) -> str | None:
    """Return the model a provider uses by default, if it says so."""
    try:
        model = provider.get_info().defaults.get("model")
    except Exception as error:
        logger.debug("A provider does not say which model it uses: %s", error)
        return None
    return model if isinstance(model, str) else None


def tool_specs(tools: Mapping[str, Any]) -> list[ToolSpec]:
    """Return what the model is told about the tools, in the order they were mounted."""
    return [
        ToolSpec(name=name, description=_description(tool), parameters=_schema(name, tool))
        for name, tool in tools.items()
    ]


def _description(tool: Any) -> str:
    text = getattr(tool, "description", "")
    return text if isinstance(text, str) else ""


def _schema(name: str, tool: Any) -> dict[str, Any]:
    """The tool's schema: ``input_schema``, or ``get_schema()`` of older tools."""
    try:
        schema = getattr(tool, "input_schema", None)
        if not isinstance(schema, dict) or not schema:
            getter = getattr(tool, "get_schema", None)
            schema = getter() if callable(getter) else None
    except Exception as error:
        logger.warning("The schema of tool '%s' can't be read: %s", name, error)
        schema = None
    return schema if isinstance(schema, dict) and schema else _NO_INPUT
