"""Which provider and model a session talks to, as far as its modules tell."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

logger = logging.getLogger(__name__)

_LAST = 100.0


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """One mounted provider.

    Attributes:
        name: The name it is mounted under.
        model: The model it uses by default; empty when it does not say.
        window: Tokens of that model's context window; 0 when unknown.
        reserve: Tokens of it kept for the answer; 0 when unknown.
    """

    name: str = ""
    model: str = ""
    window: int = 0
    reserve: int = 0


def default_provider(providers: Mapping[str, Any], plan: Mapping[str, Any]) -> ProviderFacts:
    """Return the provider an orchestrator takes when nobody names one.

    That is the one with the lowest `priority`, else the first that was mounted.

    Args:
        providers: Mounted ones by name.
        plan: The session's mount plan.
    """
    if not providers:
        return ProviderFacts()
    planned = _priorities(plan)
    wanted = _configured(plan)
    name = min(providers, key=lambda name: planned.get(name, _own_priority(providers[name])))
    for candidate in (wanted, wanted.removeprefix("provider-")):
        if candidate in providers:
            name = candidate
            break
    return describe_provider(name, providers[name])


def describe_provider(name: str, provider: Any) -> ProviderFacts:
    """Return what a provider says of itself."""
    try:
        defaults = provider.get_info().defaults or {}
    except Exception as error:
        logger.debug("%s does not describe itself: %s", name, error)
        defaults = {}
    if not isinstance(defaults, Mapping):
        defaults = {}
    model = defaults.get("model") or getattr(provider, "default_model", "")
    return ProviderFacts(
        name=name,
        model=model if isinstance(model, str) else "",
        window=_count(defaults.get("context_window")),
        reserve=_count(defaults.get("max_output_tokens") or defaults.get("max_tokens")),
    )


def _configured(plan: Mapping[str, Any]) -> str:
    session = plan.get("session")
    entry = session.get("orchestrator") if isinstance(session, Mapping) else None
    config = entry.get("config") if isinstance(entry, Mapping) else None
    wanted = config.get("default_provider") if isinstance(config, Mapping) else None
    return wanted if isinstance(wanted, str) else ""


def _priorities(plan: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    entries = plan.get("providers")
    for entry in entries if isinstance(entries, list) else ():
        config = entry.get("config") if isinstance(entry, Mapping) else None
        priority = config.get("priority") if isinstance(config, Mapping) else None
        if isinstance(priority, int | float) and not isinstance(priority, bool):
            name = str(entry.get("instance_id") or entry.get("id") or entry.get("module"))
            found[name.removeprefix("provider-")] = float(priority)
    return found


def _own_priority(provider: Any) -> float:
    own = getattr(provider, "priority", None)
    return float(own) if isinstance(own, int | float) and not isinstance(own, bool) else _LAST


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
