from decimal import Decimal
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.session import inject_additional_events
from amplifier_tui.foundation.spawn.child import generate_sub_session_id, sum_cost_usd
from amplifier_tui.foundation.spawn.preferences import (
    ModelResolutionResult,
    ProviderPreference,
    apply_provider_preferences,
    apply_provider_preferences_with_resolution,
    is_glob_pattern,
    resolve_model_pattern,
)


class Coordinator:
    def __init__(self, **providers: Any) -> None:
        self.config: dict[str, Any] = {}
        self.providers = {name.replace("_", "-"): value for name, value in providers.items()}

    def get(self, mount_point: str) -> dict[str, Any]:
        assert mount_point == "providers"
        return self.providers


class Provider:
    def __init__(self, *models: str) -> None:
        self.models = models

    def list_models(self) -> Any:
        return list(self.models)


class Broken:
    async def list_models(self) -> Any:
        raise RuntimeError("no network")


PLAN = {
    "providers": [
        {"module": "provider-a", "config": {"api_key": "k", "priority": 5, "x": {"y": 1}}},
        {"module": "provider-a", "id": "second"},
        {"module": "b"},
    ]
}


def test_a_preference_comes_back_from_plain_data() -> None:
    wish = ProviderPreference("a", "m", {"t": 1})
    assert ProviderPreference.from_dict(wish.to_dict()) == wish
    assert ProviderPreference("a", "m").to_dict() == {"provider": "a", "model": "m"}


@pytest.mark.parametrize(
    "data", [{}, {"provider": "a"}, {"model": "m"}, {"provider": "", "model": "m"}]
)
def test_a_preference_needs_provider_and_model(data: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="needs"):
        ProviderPreference.from_dict(data)


@pytest.mark.parametrize(
    ("name", "index"),
    [("a", 0), ("provider-a", 0), ("second", 1), ("b", 2), ("provider-b", 2)],
)
def test_a_provider_is_found_by_module_or_id(name: str, index: int) -> None:
    result = apply_provider_preferences(PLAN, [ProviderPreference(name, "m")])
    changed = [
        position
        for position, entry in enumerate(result["providers"])
        if entry.get("config", {}).get("default_model") == "m"
    ]
    assert changed == [index]


def test_the_first_preference_that_has_a_provider_wins_and_the_plan_is_copied() -> None:
    wishes = [
        ProviderPreference("no", "x"),
        ProviderPreference("a", "y"),
        ProviderPreference("b", "z"),
    ]
    result = apply_provider_preferences(PLAN, wishes)
    config = result["providers"][0]["config"]
    assert config == {"api_key": "k", "priority": 0, "x": {"y": 1}, "default_model": "y"}
    config["x"]["y"] = 2
    assert PLAN["providers"][0]["config"] == {"api_key": "k", "priority": 5, "x": {"y": 1}}


def test_a_preference_cannot_say_where_requests_go() -> None:
    config = {
        "api_key": "stolen",
        "base_url": "http://evil",
        "auth_token": "x",
        "Host": "x",
        "proxies": {},
        "tenant": "x",
        "tls": False,
        "max_tokens": 5,
        "temperature": 1,
    }
    result = apply_provider_preferences(PLAN, [ProviderPreference("a", "m", config)])
    merged = result["providers"][0]["config"]
    assert merged["api_key"] == "k"
    assert (merged["max_tokens"], merged["temperature"]) == (5, 1)
    assert not {"base_url", "auth_token", "Host", "proxies", "tenant", "tls"} & set(merged)


def test_without_a_match_the_plan_is_the_same_and_a_warning_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert apply_provider_preferences(PLAN, [ProviderPreference("no", "m")]) is PLAN
    assert "no" in caplog.text
    assert apply_provider_preferences({}, []) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a*", True), ("a?", True), ("[ab]", True), ("a-b.c", False), ("", False)],
)
def test_patterns_are_recognised(text: str, expected: bool) -> None:
    assert is_glob_pattern(text) is expected


async def test_a_pattern_means_the_newest_model_that_matches() -> None:
    models = Coordinator(a=Provider("m-1", "M-3", "m-2", "other"))
    result = await resolve_model_pattern("m-*", "provider-a", models)
    assert result == ModelResolutionResult(
        "m-2", "m-*", ["m-1", "M-3", "m-2", "other"], ["M-3", "m-1", "m-2"]
    )
    assert (await resolve_model_pattern("x*", "a", models)).resolved_model is None
    assert (await resolve_model_pattern("exact", "a", models)).resolved_model == "exact"
    assert (await resolve_model_pattern("m-*", None, models)).resolved_model == "m-*"


async def test_a_bare_provider_means_all_instances_of_its_module() -> None:
    models = Coordinator(work=Provider("m-1"), home=Provider("m-2", "m-1"), other=Provider("m-3"))
    entries = [
        {"module": "provider-a", "instance_id": "work"},
        {"module": "provider-a", "id": "home"},
    ]
    models.config = {"providers": [*entries, {"module": "provider-b", "id": "other"}]}
    for name in ("a", "provider-a"):
        result = await resolve_model_pattern("m-*", name, models)
        assert (result.resolved_model, result.available_models) == ("m-2", ["m-1", "m-2"])
    assert (await resolve_model_pattern("m-*", "work", models)).resolved_model == "m-1"
    assert (await resolve_model_pattern("m-*", "c", models)).resolved_model is None


def test_recording_hooks_get_the_events_that_are_named_and_no_others_do() -> None:
    plan: dict[str, Any] = {"hooks": [{"module": "hooks-mine"}, {"module": "hooks-logging"}]}
    inject_additional_events(plan, ["a:b"], target_modules=["hooks-mine"])
    inject_additional_events(plan, ["a:b"], target_modules=["hooks-mine"])
    assert plan["hooks"] == [
        {"module": "hooks-mine", "config": {"additional_events": ["a:b"]}},
        {"module": "hooks-logging"},
    ]


async def test_a_pattern_nobody_can_resolve_passes_to_the_next_preference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    models = Coordinator(a=Broken(), b=Provider("z-1"))
    wishes = [ProviderPreference("a", "m-*"), ProviderPreference("b", "z*")]
    result = await apply_provider_preferences_with_resolution(PLAN, wishes, models)
    assert "config" in result["providers"][2]
    assert result["providers"][2]["config"]["default_model"] == "z-1"
    assert "cannot be listed" in caplog.text
    same = await apply_provider_preferences_with_resolution(PLAN, wishes[:1], models)
    assert same is PLAN


def test_ids_of_children_carry_the_span_of_their_parent() -> None:
    root = generate_sub_session_id("My Agent!", None, "0123456789abcdef0123456789abcdef")
    parent, _, rest = root.partition("-")
    assert parent == "89abcdef01234567" and rest.endswith("_my-agent")
    child = generate_sub_session_id("ns:x", root)
    assert child.startswith(root.partition("-")[2].partition("_")[0] + "-")
    assert child.endswith("_ns-x")
    assert generate_sub_session_id().startswith("0" * 16 + "-")
    assert generate_sub_session_id("", "odd id", "odd").endswith("_agent")
    assert generate_sub_session_id("a") != generate_sub_session_id("a")


def test_costs_are_added_exactly_and_unknown_ones_left_out() -> None:
    assert sum_cost_usd(["0.1", Decimal("0.2"), 1, {"cost_usd": "0.05"}]) == Decimal("1.35")
    assert sum_cost_usd([0.1]) == Decimal("0.1")
    assert sum_cost_usd([None, "x", {}, "NaN", True, float("inf")]) is None
    assert sum_cost_usd([]) is None


@pytest.mark.parametrize(
    "key", ["api_key", "base_url", "host", "token", "proxies", "tls", "tenant"]
)
def test_no_preference_decides_about_connection_or_credentials(key: str) -> None:
    wish = ProviderPreference("a", "m", {key: "theirs", f"other_{key}x": "mine"})
    config = apply_provider_preferences(PLAN, [wish])["providers"][0]["config"]
    assert config.get(key) != "theirs" and config[f"other_{key}x"] == "mine"
