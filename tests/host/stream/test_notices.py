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
    strange = {"attempt": True, "max_retries": "many", "delay": "soon", "error": None}
    assert set(retry_facts(strange).values()) == {"", 0} == set(retry_facts({}).values())
    assert line_of("user:notification", {"message": "m", "level": "WARN"}) == ("warning", "m", "")
