from typing import Any

import pytest

from amplifier_tui.kernel.validation import MountPlanValidationResult, MountPlanValidator

SESSION = {"orchestrator": {"module": "loop"}, "context": {"module": "ctx"}}


def failed(plan: Any) -> dict[str, str]:
    result = MountPlanValidator().validate(plan)
    return {check.name: check.message for check in result.checks if not check.passed}


def test_a_good_plan_passes_with_these_checks() -> None:
    result = MountPlanValidator().validate(
        {
            "session": SESSION,
            "providers": [{"module": "p", "source": "git+https://x", "config": {"a": 1}}],
            "tools": [{"module": "t", "source": None, "config": None}],
            "hooks": [],
            "agents": "not looked at",
        }
    )
    assert isinstance(result, MountPlanValidationResult)
    assert result.passed
    assert [check.name for check in result.checks] == [
        "root_type",
        "session_present",
        "session.orchestrator_module_valid",
        "session.context_module_valid",
        "providers[0]_module_valid",
        "tools[0]_module_valid",
    ]
    assert result.summary() == "PASSED: 6/6 checks passed (0 errors, 0 warnings)"
    assert result.format_errors() == "No errors"
    assert (result.errors, result.warnings) == ([], [])


@pytest.mark.parametrize(
    ("plan", "problems"),
    [
        (5, {"root_type": "Mount plan must be a dict, got int"}),
        (None, {"root_type": "Mount plan must be a dict, got NoneType"}),
        ({}, {"session_present": "Mount plan missing required 'session' section"}),
        ({"session": []}, {"session_type": "Session section must be a dict, got list"}),
        (
            {"session": {}},
            {
                "session_orchestrator_present": (
                    "Session section missing required 'orchestrator' field"
                ),
                "session_context_present": "Session section missing required 'context' field",
            },
        ),
        (
            {"session": {**SESSION, "orchestrator": "loop"}},
            {
                "session.orchestrator_type": (
                    "Module spec at session.orchestrator must be a dict, got str"
                )
            },
        ),
        (
            {"session": SESSION, "providers": {}, "tools": None},
            {
                "providers_type": "'providers' section must be a list, got dict",
                "tools_type": "'tools' section must be a list, got NoneType",
            },
        ),
        (
            {"session": SESSION, "hooks": [5, {"module": 5}, {"module": " "}]},
            {
                "hooks[0]_type": "Module spec at hooks[0] must be a dict, got int",
                "hooks[1]_module_type": "Module path at hooks[1] must be a string, got int",
                "hooks[2]_module_empty": "Module path at hooks[2] cannot be empty",
            },
        ),
        (
            {"session": SESSION, "tools": [{"module": "t", "config": 5, "source": 5}]},
            {
                "tools[0]_config_type": "Config at tools[0] must be a dict, got int",
                "tools[0]_source_type": "Source at tools[0] must be a string, got int",
            },
        ),
    ],
)
def test_a_plan_that_is_wrong_says_where(plan: Any, problems: dict[str, str]) -> None:
    assert failed(plan) == problems
    result = MountPlanValidator().validate(plan)
    assert not result.passed
    assert all(check.remedy for check in result.errors)


def test_a_module_that_is_not_named_says_how() -> None:
    message = failed({"session": SESSION, "tools": [{}]})["tools[0]_module_required"]
    assert message.startswith("Module spec at tools[0] missing required 'module' field")


def test_unknown_sections_and_top_level_configs_are_warned_of() -> None:
    plan = {"session": SESSION, "orchestrator": {"config": {}}, "nope": 1}
    result = MountPlanValidator().validate(plan)
    assert result.passed
    [warning] = result.warnings
    assert warning.message == "Unknown sections will be ignored: ['nope', 'orchestrator']"


def test_errors_are_formatted_as_a_numbered_list() -> None:
    assert MountPlanValidator().validate({"session": {}}).format_errors() == (
        "Mount Plan Validation Failed:\n\n"
        "  1. [session_orchestrator_present] "
        "Session section missing required 'orchestrator' field\n"
        "  2. [session_context_present] Session section missing required 'context' field\n\n"
        "Total: 2 error(s)"
    )
