from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import (
    Failed,
    ModuleFailed,
    ModuleMounted,
    SessionOpened,
    TrustAsked,
)
from tests.host.driving import Driver, Project

KEY = "sk-real-0123456789abcdef"
PROVIDERS = [
    {"module": "provider-openai", "config": {"base_url": "https://gate.example/v1"}},
    {"module": "provider-mock", "config": {}},
]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def opening(driver: Driver, bundle: str, *, use: bool) -> str:
    """Answer the question; returns its words about keys."""
    driver.client.open(OpenRequest(cwd=driver.cwd, bundle=bundle))
    items = [item for item in driver.answer_trust(use=use).items if item.group == "keys"]
    return " ".join(f"{item.title} {item.detail} {item.owner}" for item in items)


def test_the_user_is_asked_before_a_key_goes_to_a_server_a_bundle_names(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    words = opening(driver, project.bundle(providers=PROVIDERS), use=True)
    for word in ("OPENAI_API_KEY", "https://gate.example", "provider-openai", "test"):
        assert word in words
    assert KEY not in words
    driver.wait(SessionOpened)
    assert "provider-openai" in {e.module_id for e in driver.of(ModuleMounted)}
    driver.close()
    again = drive(LocalClient())
    again.open("test")
    assert again.of(TrustAsked) == []


def test_without_consent_the_provider_is_not_mounted_and_says_why(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    opening(driver, project.bundle(providers=PROVIDERS), use=False)
    driver.wait(SessionOpened)
    (failed,) = driver.of(ModuleFailed)
    assert (failed.module_id, failed.kind, failed.origin) == ("provider-openai", "provider", "test")
    assert "would be sent to https://gate.example" in failed.error and "settings" in failed.remedy
    assert driver.turn("hello").status == "success", "the other provider answers"


def test_when_it_was_the_only_provider_the_failure_says_what_to_do(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    opening(driver, project.bundle(providers=PROVIDERS[:1]), use=False)
    failed = driver.wait(Failed)
    assert failed.kind == "no_provider" and "https://gate.example" in failed.message
    assert "settings.yaml" in failed.remedy


def test_consent_to_one_key_is_none_for_another(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = drive(LocalClient())
    opening(driver, project.bundle(providers=PROVIDERS), use=True)
    driver.wait(SessionOpened)
    driver.close()
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    other = [{"module": "provider-anthropic", "config": {"base_url": "https://gate.example"}}]
    asked = opening(drive(LocalClient()), project.bundle("other", providers=other), use=False)
    assert "ANTHROPIC_API_KEY" in asked


def test_an_address_in_the_users_own_settings_needs_no_question(
    project: Project, drive: Callable[..., Driver], own_home: Path
) -> None:
    settings = own_home / ".amplifier" / "settings.yaml"
    settings.parent.mkdir()
    settings.write_text(
        "overrides:\n  provider-openai: {config: {base_url: 'https://gate.example/v1'}}\n"
    )
    driver = drive(LocalClient())
    driver.open(project.bundle(providers=PROVIDERS, hooks=(("hooks-redaction", {}),)))
    assert driver.of(TrustAsked) == [] and driver.of(ModuleFailed) == []
