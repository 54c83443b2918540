from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel import utils
from amplifier_tui.kernel.utils import retry, truncate
from amplifier_tui.kernel.utils.truncate import (
    CIRCULAR,
    MAX_DEPTH,
    REDACTED,
    SENSITIVE_KEYS,
    TOO_DEEP,
    redact_secrets,
    truncate_values,
    without_cycles,
)


def test_long_strings_are_cut_all_the_way_down() -> None:
    given_data = {"a": "x" * 181, "b": ["y" * 180, {"c": "z" * 200}], "d": 5}
    assert truncate_values(given_data) == {
        "a": "x" * 180 + "... (truncated 1 chars)",
        "b": ["y" * 180, {"c": "z" * 180 + "... (truncated 20 chars)"}],
        "d": 5,
    }
    assert truncate_values("abc", 2) == "ab... (truncated 1 chars)"
    assert len(given_data["b"][1]["c"]) == 200


def test_the_secret_keys_are_these() -> None:
    names = (
        "api_key apikey api-key secret password token credential credentials private_key "
        "privatekey auth authorization"
    )
    assert set(SENSITIVE_KEYS) == set(names.split())


def test_secrets_are_replaced_whatever_their_case_and_depth() -> None:
    given_data = {
        "API_Key": "sk",
        "nested": [{"Authorization": {"deep": 1}}, ("t", {"token": None})],
        "tokens": 5,
        5: "number",
    }
    assert redact_secrets(given_data) == {
        "API_Key": "[REDACTED]",
        "nested": [{"Authorization": "[REDACTED]"}, ["t", {"token": "[REDACTED]"}]],
        "tokens": 5,
        5: "number",
    }
    assert given_data["API_Key"] == "sk"


def test_other_keys_can_be_named() -> None:
    assert redact_secrets({"pin": 1, "token": 2}, {"pin"}) == {"pin": "[REDACTED]", "token": 2}


def test_the_published_helpers_are_at_hand_in_utils() -> None:
    homes = {
        truncate: ("SENSITIVE_KEYS", "redact_secrets", "truncate_values"),
        retry: ("RetryConfig", "classify_error_message", "retry_with_backoff"),
    }
    assert sorted(utils.__all__) == sorted(name for names in homes.values() for name in names)
    for home, names in homes.items():
        assert all(getattr(utils, name) is getattr(home, name) for name in names)


nested = st.recursive(
    st.text(max_size=30) | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a", "token"]), inner),
    max_leaves=10,
)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() if key != "token" for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


@given(nested)
def test_redaction_changes_nothing_else(value: Any) -> None:
    assert leaves(redact_secrets(value)) == leaves(value)


@given(nested, st.integers(0, 10))
def test_truncated_strings_start_as_they_did(value: Any, limit: int) -> None:
    for before, after in zip(leaves(value), leaves(truncate_values(value, limit)), strict=True):
        if isinstance(before, str):
            assert after.startswith(before[:limit])
            assert len(before) > limit or after == before


@pytest.mark.parametrize("function", [redact_secrets, truncate_values, without_cycles])
def test_what_is_circular_is_cut_where_it_begins_again(function: Any) -> None:
    config: dict[str, Any] = {"name": "x", "token": 1, "list": [1]}
    config["self"] = config
    config["list"].append(config["list"])
    cut = function(config)
    assert cut["self"] == CIRCULAR
    assert cut["list"] == [1, CIRCULAR]
    assert cut["token"] == (REDACTED if function is redact_secrets else 1)
    assert config["self"] is config


@pytest.mark.parametrize("function", [redact_secrets, truncate_values])
def test_what_is_far_too_deep_is_cut(function: Any) -> None:
    deep: Any = "end"
    for _ in range(5000):
        deep = [deep]
    text = str(function(deep))
    assert TOO_DEEP in text
    assert text.count("[[") < 100


@pytest.mark.parametrize("function", [redact_secrets, truncate_values])
def test_what_lies_beside_it_changes_nothing_about_the_depth(function: Any) -> None:
    deep: Any = "end"
    for _ in range(MAX_DEPTH):
        deep = [deep]
    beside: list[Any] = [[] for _ in range(MAX_DEPTH)]
    assert TOO_DEEP not in str(function(deep))
    assert function([*beside, deep]) == [*beside, function([deep])[0]]
    assert TOO_DEEP in str(function([*beside, deep]))


@pytest.mark.parametrize("function", [redact_secrets, truncate_values])
def test_many_references_to_one_thing_are_rebuilt_once(function: Any) -> None:
    bomb: Any = ["x"]
    for _ in range(60):
        bomb = [bomb, bomb]
    assert function(bomb) is not None


def test_a_thing_that_is_there_twice_is_no_circle() -> None:
    shared = {"a": 1}
    assert redact_secrets([shared, shared, [shared]]) == [shared, shared, [shared]]
