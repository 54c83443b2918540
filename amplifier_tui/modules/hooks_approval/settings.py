"""What a bundle may say about approvals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from amplifier_tui.modules.hooks_approval.rules import Rule

Policy = Literal["careful", "standard", "relaxed"]

DEFAULT_TIMEOUT: Final = 300.0
DEFAULT_PRIORITY: Final = 90


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring.

    Attributes:
        mistakes: What could not be read. With one, the policy is "careful" and no rule allows.
    """

    policy: Policy = "standard"
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    timeout: float = DEFAULT_TIMEOUT
    priority: int = DEFAULT_PRIORITY
    mistakes: tuple[str, ...] = ()


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Read a module's config; never fails, because without this hook nothing would ask.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.
    """
    mistakes: list[str] = []
    policy = _policy(config, mistakes)
    rules = {name: _rules(config, name, mistakes) for name in ("allow", "ask", "deny")}
    timeout = _number(config, "timeout", DEFAULT_TIMEOUT, mistakes)
    if timeout <= 0:
        mistakes.append("`timeout` must be more than 0 seconds")
        timeout = DEFAULT_TIMEOUT
    priority = int(_number(config, "priority", DEFAULT_PRIORITY, mistakes))
    if mistakes:
        policy = "careful"
        rules["allow"] = ()
    return Settings(
        policy=policy,
        allow=rules["allow"],
        ask=rules["ask"],
        deny=rules["deny"],
        timeout=timeout,
        priority=priority,
        mistakes=tuple(mistakes),
    )


def _policy(config: Mapping[str, Any], mistakes: list[str]) -> Policy:
    wanted = config.get("policy") or "standard"
    known: tuple[Policy, ...] = get_args(Policy)
    for policy in known:
        if policy == wanted:
            return policy
    mistakes.append(f"`policy` is {wanted!r}; known are {', '.join(known)}")
    return "careful"


def _rules(config: Mapping[str, Any], name: str, mistakes: list[str]) -> tuple[Rule, ...]:
    value = config.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        mistakes.append(f"`{name}` must be a list of rules, not {value!r}")
        return ()
    rules: list[Rule] = []
    for text in value:
        try:
            rules.append(Rule.parse(text))
        except ValueError as error:
            mistakes.append(f"`{name}`: {error}")
    return tuple(rules)


def _number(config: Mapping[str, Any], name: str, default: float, mistakes: list[str]) -> float:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        mistakes.append(f"`{name}` must be a number, not {value!r}")
        return default
    return value
