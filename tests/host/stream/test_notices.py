from amplifier_tui.host.stream.notices import line_of, retry_facts


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
