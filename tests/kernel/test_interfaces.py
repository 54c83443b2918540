from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_tui.kernel import interfaces
from amplifier_tui.kernel.interfaces import (
    ApprovalProvider,
    ApprovalRequest,
    ApprovalResponse,
    ContextManager,
    HookHandler,
    Orchestrator,
    Provider,
    Tool,
)

MEMBERS: dict[Any, str] = {
    Orchestrator: "execute",
    Provider: "name get_info list_models complete parse_tool_calls",
    Tool: "name description execute",
    ContextManager: "add_message get_messages_for_request get_messages set_messages clear",
    ApprovalProvider: "request_approval",
}
PROTOCOLS = [*MEMBERS, HookHandler]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.__name__)
def test_protocols_are_not_runtime_checkable(protocol: Any) -> None:
    assert getattr(protocol, "_is_runtime_protocol", False) is False
    assert getattr(protocol, "_is_protocol", False) is True


@pytest.mark.parametrize("protocol", MEMBERS, ids=lambda p: p.__name__)
def test_isinstance_looks_at_the_members_all_the_same(protocol: Any) -> None:
    names = MEMBERS[protocol].split()
    whole = SimpleNamespace(**dict.fromkeys(names, print))
    assert isinstance(whole, protocol)
    for name in names:
        lacking = SimpleNamespace(**{n: print for n in names if n != name})
        assert not isinstance(lacking, protocol)


def test_a_handler_is_what_can_be_called() -> None:
    assert isinstance(print, HookHandler)
    assert not isinstance("text", HookHandler)


def test_a_tool_that_inherits_has_an_empty_schema_by_default() -> None:
    class Mine(Tool):
        name = "mine"
        description = "d"

        async def execute(self, input: dict[str, Any]) -> Any:
            return None

    class Other:
        name, description, execute = "o", "d", None

    mine = Mine()
    assert mine.input_schema == {}
    assert isinstance(mine, Tool)
    assert isinstance(mine, Mine)
    assert not isinstance(Other(), Mine)
    assert isinstance(Other(), Tool)


def test_an_approval_request_waits_for_a_while_or_for_ever() -> None:
    request = ApprovalRequest(tool_name="bash", action="run", risk_level="high")
    assert (request.details, request.timeout) == ({}, None)
    assert ApprovalRequest(tool_name="b", action="r", risk_level="h", timeout=1).timeout == 1.0
    message = "Timeout must be positive or None"
    for timeout in (0, -1.5):
        with pytest.raises(ValueError, match=message):
            ApprovalRequest(tool_name="b", action="r", risk_level="h", timeout=timeout)
    with pytest.raises(ValidationError):
        ApprovalRequest(tool_name="b", action="r")


def test_an_approval_response_says_yes_or_no() -> None:
    assert ApprovalResponse(approved=True).model_dump() == {
        "approved": True,
        "reason": None,
        "remember": False,
    }


def test_all_contracts_are_exported() -> None:
    assert set(interfaces.__all__) == {
        *(protocol.__name__ for protocol in PROTOCOLS),
        "ApprovalRequest",
        "ApprovalResponse",
    }
