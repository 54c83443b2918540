import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amplifier_tui.host.events import Failed, ModuleFailed, ModuleMounted, Notice, OpeningReported
from amplifier_tui.paths import amplifier_home
from tests.host.driving import Driver
from tests.servers import LoopbackServer

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
    assert [f"{item.missing[0]} is not set" for item in told] == other
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


@pytest.mark.parametrize("bundle", ["coding", "local"])
def test_what_the_project_and_the_user_wrote_for_agents_reaches_the_model_and_no_link_leads_out(
    drive: Callable[[], Driver], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bundle: str
) -> None:
    with LoopbackServer(["Done.", "Done."]) as server:
        monkeypatch.setenv(*KEYS["anthropic"])
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("LOCAL_LLM_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("LOCAL_LLM_MODEL", "small")
        driver = drive()
        amplifier_home().mkdir(parents=True, exist_ok=True)
        (amplifier_home() / "AGENTS.md").write_text("Rules of the user.")
        (driver.cwd / "AGENTS.md").write_text("Rules of the project, also @../elsewhere.md")
        (driver.cwd.parent / "elsewhere.md").write_text("What is elsewhere.")
        (driver.cwd / "CLAUDE.md").symlink_to(driver.cwd.parent / "elsewhere.md")
        driver.open(bundle)
        driver.turn("hi")
        sent = json.dumps(server.requests[0].json)
    assert "Rules of the user." in sent and "Rules of the project" in sent
    assert "What is elsewhere." not in sent
    rows = [item for event in driver.of(OpeningReported) for item in event.items]
    assert [(item.what, item.kind, item.why) for item in rows if item.part == "context"] == [
        ("CLAUDE.md", "skipped", "it leads out of the project: not read")
    ]


@pytest.mark.parametrize(
    ("content", "why", "remedy"),
    [
        (b"RULES caf\xe9\n", "it is not UTF-8 text", "Save it as UTF-8."),
        (b"x" * 2_000_001, "it is too large", "Keep it below 2,000,000 bytes."),
    ],
)
def test_what_was_written_for_agents_and_can_not_be_read_is_said(
    drive: Callable[[], Driver],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    why: str,
    remedy: str,
) -> None:
    monkeypatch.setenv(*KEYS["anthropic"])
    driver = drive()
    (driver.cwd / "AGENTS.md").write_bytes(content)
    driver.open("coding")
    rows = [item for event in driver.of(OpeningReported) for item in event.items]
    assert [
        (item.what, item.kind, item.why, item.remedy) for item in rows if item.part == "context"
    ] == [("AGENTS.md", "failed", why, remedy)]
