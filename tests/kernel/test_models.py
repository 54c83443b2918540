import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from amplifier_tui.kernel import models
from amplifier_tui.kernel.models import (
    ConfigField,
    ContextInjection,
    HookResult,
    ModelInfo,
    ModuleInfo,
    Pricing,
    ProviderInfo,
    SessionStatus,
    _sanitize_for_llm,
    hook_result,
)

REQUIRED: dict[type[BaseModel], dict[str, Any]] = {
    HookResult: {},
    ContextInjection: {"content": "c"},
    ModelInfo: {"id": "m", "display_name": "M", "context_window": 1, "max_output_tokens": 2},
    Pricing: {"input_per_million": 2.5, "output_per_million": 10.0},
    ConfigField: {"id": "f", "display_name": "F", "prompt": "p"},
    ProviderInfo: {"id": "p", "display_name": "P"},
    ModuleInfo: {
        "id": "m",
        "name": "M",
        "version": "1",
        "type": "tool",
        "mount_point": "tools",
        "description": "d",
    },
    SessionStatus: {"session_id": "s"},
}
DEFAULTS: dict[type[BaseModel], dict[str, Any]] = {
    HookResult: {
        "action": "continue",
        "data": None,
        "reason": None,
        "context_injection": None,
        "context_injection_role": "system",
        "ephemeral": False,
        "approval_prompt": None,
        "approval_options": None,
        "approval_timeout": 300.0,
        "approval_default": "deny",
        "suppress_output": False,
        "user_message": None,
        "user_message_level": "info",
        "user_message_source": None,
        "append_to_last_tool_result": False,
        "context_injections": [],
    },
    ContextInjection: {
        "role": "system",
        "ephemeral": False,
        "append_to_last_tool_result": False,
        "hook_name": "unknown",
        "event": "",
    },
    ModelInfo: {"capabilities": [], "defaults": {}, "pricing": None},
    Pricing: {
        "cache_read_per_million": None,
        "cache_write_per_million": None,
        "currency": "USD",
        "source": None,
    },
    ConfigField: {
        "field_type": "text",
        "env_var": None,
        "choices": None,
        "required": True,
        "default": None,
        "show_when": None,
        "requires_model": False,
    },
    ProviderInfo: {
        "credential_env_vars": [],
        "capabilities": [],
        "defaults": {},
        "config_fields": [],
    },
    ModuleInfo: {"config_schema": None},
    SessionStatus: {
        "ended_at": None,
        "status": "running",
        "total_messages": 0,
        "tool_invocations": 0,
        "tool_successes": 0,
        "tool_failures": 0,
        "total_input_tokens": 0,
        "total_output_tokens": 0,
        "cost_usd": None,
        "last_activity": None,
        "last_error": None,
    },
}


@pytest.mark.parametrize("model", REQUIRED, ids=lambda model: model.__name__)
def test_each_model_has_these_fields_and_defaults(model: type[BaseModel]) -> None:
    dumped = model(**REQUIRED[model]).model_dump()
    dumped.pop("started_at", None)
    assert dumped == {**REQUIRED[model], **DEFAULTS[model]}


@pytest.mark.parametrize("model", REQUIRED, ids=lambda model: model.__name__)
def test_each_required_field_is_required(model: type[BaseModel]) -> None:
    for name in REQUIRED[model]:
        incomplete = {key: value for key, value in REQUIRED[model].items() if key != name}
        with pytest.raises(ValidationError, match=name):
            model(**incomplete)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (HookResult, {"action": "explode"}),
        (HookResult, {"context_injection_role": "tool"}),
        (HookResult, {"approval_default": "maybe"}),
        (HookResult, {"user_message_level": "loud"}),
        (ConfigField, {"field_type": "colour"}),
        (Pricing, {"currency": "usd"}),
        (Pricing, {"currency": "EURO"}),
        (ModuleInfo, {"type": "gadget"}),
        (SessionStatus, {"status": "asleep"}),
        (SessionStatus, {"cost_usd": 0.1}),
    ],
)
def test_values_outside_of_the_choices_are_refused(
    model: type[BaseModel], fields: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        model(**{**REQUIRED[model], **fields})


def test_hook_results_ignore_what_they_do_not_know() -> None:
    odd: dict[str, Any] = {"mood": "good"}
    assert not hasattr(HookResult(**odd), "mood")
    assert not hasattr(ContextInjection(content="c", **odd), "mood")


def test_two_results_do_not_share_their_list() -> None:
    HookResult().context_injections.append(ContextInjection(content="c"))
    assert HookResult().context_injections == []
    assert hook_result.continue_with(None).context_injections == []


def test_the_quick_way_to_a_result_makes_the_same_as_the_slow_one() -> None:
    data = {"a": 1}
    quick, slow = hook_result.continue_with(data), HookResult(action="continue", data=data)
    assert quick == slow
    assert quick.data is data
    assert quick.model_dump_json() == slow.model_dump_json()
    assert quick.model_fields_set == slow.model_fields_set
    assert repr(quick) == repr(slow)
    assert quick.model_copy(deep=True) == slow
    changed = hook_result.changed(quick, reason="r")
    assert (changed.reason, quick.reason) == ("r", None)
    assert changed.model_fields_set == {"action", "data", "reason"}


def test_a_status_dumps_to_json_without_what_is_not_known() -> None:
    status = SessionStatus(session_id="s", cost_usd=Decimal("0.10"))
    assert status.started_at.tzinfo is UTC
    dumped = status.to_dict()
    assert json.loads(json.dumps(dumped)) == dumped
    assert dumped["cost_usd"] == "0.10"
    assert datetime.fromisoformat(dumped["started_at"]) == status.started_at
    assert "ended_at" not in dumped
    assert status.model_dump()["cost_usd"] == "0.10"


@pytest.mark.parametrize("cost", [Decimal("1.23"), "1.23", 1])
def test_a_cost_is_exact(cost: Any) -> None:
    status = SessionStatus(session_id="s", cost_usd=cost)
    assert status.cost_usd == Decimal(str(cost))
    assert SessionStatus.model_validate(status.model_dump()) == status


def test_prices_are_numbers_that_can_be_reckoned_and_dumped() -> None:
    pricing = Pricing.model_validate(
        {"input_per_million": Decimal("2.50"), "output_per_million": "10", "currency": "EUR"}
    )
    assert pricing.input_per_million * 0.5 == 1.25
    assert json.loads(pricing.model_dump_json(exclude_none=True)) == {
        "input_per_million": 2.5,
        "output_per_million": 10.0,
        "currency": "EUR",
    }


@given(st.text())
def test_text_for_a_model_keeps_everything_but_controls_and_surrogates(text: str) -> None:
    clean = _sanitize_for_llm(text)
    clean.encode("utf-8")
    assert clean == "".join(
        c
        for c in text
        if c in "\t\n\r"
        or not (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000)
    )
    assert _sanitize_for_llm(clean) == clean


def test_models_is_where_the_old_names_are() -> None:
    assert set(models.__all__) >= {"HookResult", "ToolResult", "_sanitize_for_llm"}
