from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.client import Decision, OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    ModuleFailed,
    ModuleMounted,
    SessionOpened,
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


def opening(driver: Driver, bundle: str) -> ApprovalRequested:
    driver.client.open(OpenRequest(cwd=driver.cwd, bundle=bundle))
    return driver.wait(ApprovalRequested)


def test_the_user_is_asked_before_a_key_goes_to_a_server_a_bundle_names(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    request = opening(driver, project.bundle(providers=PROVIDERS))
    assert request.asker == "trust" and request.risk == "high"
    for word in ("OPENAI_API_KEY", "https://gate.example", "provider-openai", "test"):
        assert word in request.prompt
    assert KEY not in request.prompt
    driver.client.decide(request.request_id, Decision(allow=True))
    driver.wait(SessionOpened)
    assert "provider-openai" in {e.module_id for e in driver.of(ModuleMounted)}
    driver.close()
    again = drive(LocalClient())
    again.open("test")
    assert again.of(ApprovalRequested) == []


def test_without_consent_the_provider_is_not_mounted_and_says_why(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    request = opening(driver, project.bundle(providers=PROVIDERS))
    driver.client.decide(request.request_id, Decision(allow=False))
    driver.wait(SessionOpened)
    (failed,) = driver.of(ModuleFailed)
    assert (failed.module_id, failed.kind, failed.origin) == ("provider-openai", "provider", "test")
    assert "would be sent to https://gate.example" in failed.error and "settings" in failed.remedy
    assert driver.turn("hello").status == "success", "the other provider answers"


def test_when_it_was_the_only_provider_the_failure_says_what_to_do(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    request = opening(driver, project.bundle(providers=PROVIDERS[:1]))
    driver.client.decide(request.request_id, Decision(allow=False))
    failed = driver.wait(Failed)
    assert failed.kind == "no_provider" and "https://gate.example" in failed.message
    assert "settings.yaml" in failed.remedy


def test_consent_to_one_key_is_none_for_another(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = drive(LocalClient())
    request = opening(driver, project.bundle(providers=PROVIDERS))
    driver.client.decide(request.request_id, Decision(allow=True))
    driver.wait(SessionOpened)
    driver.close()
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    other = [{"module": "provider-anthropic", "config": {"base_url": "https://gate.example"}}]
    asked = opening(drive(LocalClient()), project.bundle("other", providers=other))
    assert "ANTHROPIC_API_KEY" in asked.prompt


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
    assert driver.of(ApprovalRequested) == [] and driver.of(ModuleFailed) == []
