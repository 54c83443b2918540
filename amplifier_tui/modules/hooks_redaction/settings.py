"""What a bundle may say about redaction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

RULES: Final = ("secrets", "assignments", "fields", "pii")
_USUAL: Final = ("secrets", "assignments", "fields")
DEFAULT_PRIORITY: Final = 10


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    rules: frozenset[str] = frozenset(_USUAL)
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    allow: tuple[re.Pattern[str], ...] = ()
    prompts: bool = False
    tell: bool = True
    priority: int = DEFAULT_PRIORITY


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    priority = config.get("priority", DEFAULT_PRIORITY)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise ValueError("`priority` of hooks-redaction must be a whole number")
    return Settings(
        rules=_rules(config.get("rules")),
        patterns=_patterns(config.get("patterns")),
        allow=tuple(pattern for _, pattern in _listed(config.get("allow"), "allow")),
        prompts=_flag(config, "prompts", False),
        tell=_flag(config, "tell", True),
        priority=priority,
    )


def _rules(value: Any) -> frozenset[str]:
    if value is None:
        return frozenset(_USUAL)
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(name in RULES for name in listed):
        raise ValueError(f"`rules` of hooks-redaction must be a list of {', '.join(RULES)}")
    return frozenset(listed)


def _patterns(value: Any) -> tuple[tuple[str, re.Pattern[str]], ...]:
    if isinstance(value, Mapping):
        return tuple(
            (str(name), _compiled(text, f"patterns.{name}")) for name, text in value.items()
        )
    return _listed(value, "patterns")


def _listed(value: Any, name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    if value is None:
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        raise ValueError(f"`{name}` of hooks-redaction must be a list of regular expressions")
    return tuple(("pattern", _compiled(text, name)) for text in listed)


def _compiled(text: Any, name: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except (re.error, TypeError, OverflowError) as error:
        raise ValueError(
            f"`{name}` of hooks-redaction has {text!r}, which is no regular expression: {error}"
        ) from error
    if pattern.match("") is not None:
        raise ValueError(f"`{name}` of hooks-redaction has {text!r}, which matches nothing at all")
    return pattern


def _flag(config: Mapping[str, Any], name: str, default: bool) -> bool:
    value = config.get(name, default)
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` of hooks-redaction must be true or false, not {value!r}")
    return value
