from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import Notice
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.host.stream.notices import line_of, retry_facts
from amplifier_tui.kernel.hooks import HookRegistry
from tests.host.stream.up import Up


def test_a_retry_says_when_and_why() -> None:
    data = {
        "provider": "anthropic",
        "attempt": 1,
        "max_retries": 3,
        "delay": 2.4,
        "error": {"type": "RateLimitError", "msg": "slow down"},
    }
    assert retry_facts({**data, "status_code": 529}) == {
        "provider": "anthropic",
        "attempt": 1,
        "most": 3,
        "delay": 2.4,
        "problem": "slow down",
        "status": 529,
    }
    # What is made of it goes on behind it.
    assert retry_facts({"error": "Retry in a moment."})["problem"] == "Retry in a moment"
    strange = {"attempt": True, "max_retries": "many", "delay": "soon", "error": None}
    assert set(retry_facts(strange).values()) == {"", 0} == set(retry_facts({}).values())
    assert line_of("user:notification", {"message": "m", "level": "WARN"}) == ("warning", "m", "")


def test_an_answer_that_is_cut_at_the_output_limit_is_said_to_be() -> None:
    line = line_of("provider:response", {"provider": "openai", "finish_reason": "length"})
    assert line is not None and "output limit" in line[1]
    assert line_of("provider:response", {"finish_reason": "stop"}) is None
    assert line_of("provider:response", {}) is None


@pytest.mark.parametrize(
    ("event", "data", "text"),
    [
        ("provider:throttle", {"retry_after": 4}, "The provider slows us down: waiting 4 s"),
        ("orchestrator:rate_limit_delay", {"delay": 4.0}, "Waiting 4 s for the rate limit"),
        ("provider:error", {"error": {"msg": "overloaded"}}, "overloaded"),
    ],
)
async def test_a_wait_for_an_answer_is_said_until_the_answer_comes(
    up: Up, tmp_path: Path, event: str, data: dict[str, Any], text: str
) -> None:
    hooks = HookRegistry()
    Normalizer(up.sender, tmp_path, ModuleFacts()).observe(hooks)
    await hooks.emit(event, data)
    (notice,) = up.of(Notice)
    assert (notice.text, notice.until) == (text, "answer")
