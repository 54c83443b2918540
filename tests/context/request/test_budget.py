from types import SimpleNamespace

import pytest

from amplifier_tui.context.request.budget import BudgetPolicy, BudgetSettings
from tests.context.support import ScriptedProvider


class Settings(BudgetSettings):
    module = "context-x"


def provider(window: int, output: int | None = 8_000, model: str = "m") -> SimpleNamespace:
    defaults = {"context_window": window, "max_output_tokens": output, "model": model}
    return SimpleNamespace(get_info=lambda: SimpleNamespace(defaults=defaults))


def test_an_explicit_limit_wins() -> None:
    budget = BudgetPolicy(max_tokens=50_000).budget(1_234, provider(200_000))
    assert (budget.limit, budget.provenance) == (1_234, "explicit")
    assert (budget.trigger, budget.target) == (1_048, 617)


def test_the_providers_window_less_answer_and_margin() -> None:
    budget = BudgetPolicy().budget(provider=ScriptedProvider(window=200_000, output=8_000))
    assert (budget.limit, budget.provenance) == (191_000, "provider")
    assert (budget.window, budget.output_reserve, budget.margin) == (200_000, 8_000, 1_000)
    assert budget.model == "scripted-1"
    assert budget.ceiling == 191_000


def test_the_configuration_caps_the_provider() -> None:
    capped = BudgetPolicy(max_tokens=50_000).budget(provider=provider(200_000))
    assert (capped.limit, capped.provenance) == (50_000, "capped")
    # What the model could take is not changed by what somebody wants to spend.
    assert capped.ceiling == 191_000
    narrow = BudgetPolicy(window=32_000).budget(provider=provider(200_000))
    assert (narrow.limit, narrow.window, narrow.provenance) == (23_000, 32_000, "capped")


def test_the_configuration_stands_in_for_a_silent_provider() -> None:
    window = BudgetPolicy(window=32_000).budget()
    assert (window.limit, window.provenance) == (32_000 - 4_000 - 1_000, "configured")
    tokens = BudgetPolicy(max_tokens=10_000).budget()
    assert (tokens.limit, tokens.provenance, tokens.ceiling) == (10_000, "configured", 0)


def test_without_anybody_who_says_so_there_is_a_fallback() -> None:
    budget = BudgetPolicy().budget()
    assert (budget.limit, budget.provenance) == (200_000, "fallback")


def test_a_window_without_an_output_limit_is_used_all_the_same() -> None:
    assert BudgetPolicy().budget(provider=provider(16_000, None)).limit == 13_000


def test_a_window_that_its_own_answer_fills_leaves_a_quarter() -> None:
    assert BudgetPolicy().budget(provider=provider(8_000, 8_000)).limit == 2_000


@pytest.mark.parametrize("window", [0, -5, "large", None, True])
def test_nonsense_of_a_provider_is_no_window(window: object) -> None:
    budget = BudgetPolicy().budget(provider=provider(window))
    assert budget.provenance == "fallback"


def test_a_provider_that_fails_to_tell_is_a_silent_one(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise OSError("no network")

    budget = BudgetPolicy().budget(provider=SimpleNamespace(get_info=fail))
    assert budget.provenance == "fallback"
    assert "no network" in caplog.text


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"window": -1}, "window"),
        ({"threshold": 1.5}, "threshold"),
        ({"compaction_threshold": "high"}, "compaction_threshold"),
        ({"target": 0}, "target"),
        ({"threshold": 0.4, "target": 0.5}, "must not exceed"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(config: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refused:
        Settings.read(config)
    assert "context-x" in str(refused.value)


def test_both_names_of_a_setting_are_read() -> None:
    assert Settings.read({"compaction_threshold": 0.4}).policy == BudgetPolicy(None, None, 0.4, 0.4)
    assert Settings.read({"threshold": 0.9, "target": 0.3}).policy.target == 0.3


def test_a_configured_window_is_capped_by_the_most_tokens() -> None:
    budget = BudgetPolicy(window=80_000, max_tokens=20_000).budget()
    assert (budget.window, budget.limit, budget.provenance) == (80_000, 20_000, "configured")
    assert BudgetPolicy(window=80_000).budget().limit == 80_000 - 10_000 - 1_000
    assert Settings.read({"max_tokens": 7, "window": 9}).policy == BudgetPolicy(7, 9)
