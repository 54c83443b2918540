from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amplifier_tui.host.events import Failed, ModuleFailed, ModuleMounted, Notice, OpeningReported
from tests.host.driving import Driver

KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY", "sk-ant-test-key-of-nobody"),
    "openai": ("OPENAI_API_KEY", "sk-test-key-of-nobody"),
}
VENDORS = ("coding", "minimal", "research")


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Callable[[], Driver]]:
    drivers: list[Driver] = []

    def make() -> Driver:
        drivers.append(Driver(tmp_path))
        return drivers[-1]

    yield make
    for driver in drivers:
        driver.close()


def mounted_providers(driver: Driver) -> set[str]:
    return {event.module_id for event in driver.of(ModuleMounted) if event.kind == "provider"}


@pytest.mark.parametrize("bundle", VENDORS)
@pytest.mark.parametrize("vendors", [("anthropic",), ("openai",), ("anthropic", "openai")])
def test_a_bundle_works_with_whichever_provider_has_a_key(
    drive: Callable[[], Driver],
    monkeypatch: pytest.MonkeyPatch,
    bundle: str,
    vendors: tuple[str, ...],
) -> None:
    for vendor in vendors:
        monkeypatch.setenv(*KEYS[vendor])
    driver = drive()
    opened = driver.open(bundle)
    assert opened.provider == vendors[0] and opened.model
    assert mounted_providers(driver) == {f"provider-{vendor}" for vendor in vendors}
    assert driver.of(ModuleFailed) == [] and driver.of(Failed) == []
    other = [f"{KEYS[vendor][0]} is not set" for vendor in KEYS if vendor not in vendors]
    told = driver.wait(OpeningReported).items if other else ()
    assert [(item.kind, item.why) for item in told] == [("unused", why) for why in other]
    assert not driver.of(Notice)


@pytest.mark.parametrize("bundle", VENDORS)
def test_without_any_key_it_opens_and_names_both(drive: Callable[[], Driver], bundle: str) -> None:
    driver = drive()
    driver.open(bundle)
    failed = driver.wait(Failed)
    assert (failed.kind, failed.missing) == (
        "no_provider",
        ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
    )
    assert {event.module_id for event in driver.of(ModuleFailed)} == {
        "provider-anthropic",
        "provider-openai",
    }
    assert all(event.missing and event.remedy for event in driver.of(ModuleFailed))


@pytest.mark.parametrize(("bundle", "provider"), [("local", "openai"), ("demo", "mock")])
@pytest.mark.parametrize("vendors", [(), ("anthropic", "openai")])
def test_what_needs_no_key_opens_with_and_without_one(
    drive: Callable[[], Driver],
    monkeypatch: pytest.MonkeyPatch,
    bundle: str,
    provider: str,
    vendors: tuple[str, ...],
) -> None:
    for vendor in vendors:
        monkeypatch.setenv(*KEYS[vendor])
    driver = drive()
    assert driver.open(bundle).provider == provider
    assert driver.of(ModuleFailed) == [] and driver.of(Failed) == []


def test_a_server_of_this_machine_in_the_environment_needs_no_key(
    drive: Callable[[], Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    driver = drive()
    assert driver.open("minimal").provider == "openai"
    assert driver.of(ModuleFailed) == [] and driver.of(Failed) == []
    cards = {card.name: card for card in driver.client.bundles().result(10)}
    assert cards["coding"].state == "ready"
