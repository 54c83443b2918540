"""Checks plain dicts that are meant as tool or hook results, before they become models."""

from typing import Any, Final, get_args

from amplifier_tui.kernel.models.hook_result import HookAction, InjectionRole

VALID_HOOK_ACTIONS: Final = frozenset(get_args(HookAction))
VALID_CONTEXT_INJECTION_ROLES: Final = frozenset(get_args(InjectionRole))
VALID_APPROVAL_DEFAULTS: Final = frozenset({"allow", "deny"})
VALID_USER_MESSAGE_LEVELS: Final = frozenset({"info", "warning", "error"})

_WORDS: Final = {
    "action": VALID_HOOK_ACTIONS,
    "context_injection_role": VALID_CONTEXT_INJECTION_ROLES,
    "user_message_level": VALID_USER_MESSAGE_LEVELS,
    "approval_default": VALID_APPROVAL_DEFAULTS,
}


def validate_tool_result(data: dict[str, Any]) -> list[str]:
    """Return what is wrong with the fields of a tool result."""
    if "success" not in data:
        return ["Missing required field: 'success'"]
    if not isinstance(data["success"], bool):
        return [f"Field 'success' must be bool, got {type(data['success']).__name__}"]
    return []


def validate_hook_result(data: dict[str, Any]) -> list[str]:
    """Return what is wrong with the fields of a hook result; missing ones have defaults."""
    return [
        f"Invalid {field} {data[field]!r}: must be one of {sorted(words)}"
        for field, words in _WORDS.items()
        if field in data and not _is_one_of(data[field], words)
    ]


def _is_one_of(value: Any, words: frozenset[str]) -> bool:
    return isinstance(value, str) and value in words
