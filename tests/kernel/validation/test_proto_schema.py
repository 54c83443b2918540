from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.models import HookResult
from amplifier_tui.kernel.validation.base import (
    VALID_APPROVAL_DEFAULTS,
    VALID_CONTEXT_INJECTION_ROLES,
    VALID_HOOK_ACTIONS,
    VALID_USER_MESSAGE_LEVELS,
    validate_hook_result,
    validate_tool_result,
)


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, ["Missing required field: 'success'"]),
        ({"success": 1}, ["Field 'success' must be bool, got int"]),
        ({"success": False, "output": object(), "error": None}, []),
    ],
)
def test_a_tool_result_says_whether_it_worked(data: dict[str, Any], problems: list[str]) -> None:
    assert validate_tool_result(data) == problems


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, []),
        ({"action": "deny", "unknown": 1}, []),
        (
            {"action": "x"},
            [
                "Invalid action 'x': must be one of "
                "['ask_user', 'continue', 'deny', 'inject_context', 'modify']"
            ],
        ),
        (
            {"context_injection_role": 5, "user_message_level": [], "approval_default": "x"},
            [
                "Invalid context_injection_role 5: must be one of ['assistant', 'system', 'user']",
                "Invalid user_message_level []: must be one of ['error', 'info', 'warning']",
                "Invalid approval_default 'x': must be one of ['allow', 'deny']",
            ],
        ),
    ],
)
def test_a_hook_result_uses_the_words_there_are(data: dict[str, Any], problems: list[str]) -> None:
    assert validate_hook_result(data) == problems


@given(
    st.sampled_from(sorted(VALID_HOOK_ACTIONS)),
    st.sampled_from(sorted(VALID_CONTEXT_INJECTION_ROLES)),
    st.sampled_from(sorted(VALID_USER_MESSAGE_LEVELS)),
    st.sampled_from(sorted(VALID_APPROVAL_DEFAULTS)),
)
def test_the_words_are_those_of_the_model(action: str, role: str, level: str, default: str) -> None:
    data = {
        "action": action,
        "context_injection_role": role,
        "user_message_level": level,
        "approval_default": default,
    }
    assert validate_hook_result(data) == []
    assert HookResult.model_validate(data).action == action
