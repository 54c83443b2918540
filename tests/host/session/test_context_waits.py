"""A context that does not answer is named."""

import pytest

from amplifier_tui.host.events import Notice, SessionOpened, TurnEnded
from amplifier_tui.host.requests import OpenRequest
from amplifier_tui.host.session.modules import context_waits
from tests.host.driving import Driver, Project


def stuck(project: Project, method: str) -> OpenRequest:
    bundle = project.bundle(context="context-stuck", context_config={"method": method})
    return OpenRequest(cwd=project.folder, bundle=bundle)


@pytest.fixture(autouse=True)
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_waits, "TOLD_AFTER", 0.01)


def test_in_a_turn_it_is_told_once_what_is_waited_for_and_the_turn_can_be_stopped(
    project: Project, driver: Driver
) -> None:
    method = "get_messages_for_request"
    driver.client.open(stuck(project, method))
    driver.wait(SessionOpened)
    for text in ("one", "two"):
        driver.client.submit(text)
        if text == "one":
            told = driver.wait(Notice, lambda notice: notice.source == "context-stuck")
            assert told.level == "warning"
            assert told.text == (
                f"Waiting for {method} of context-stuck, which has not answered yet"
            )
        driver.client.interrupt(immediate=True)
        assert driver.wait(TurnEnded).status == "cancelled"
    assert len([each for each in driver.of(Notice) if each.source == "context-stuck"]) == 1


@pytest.mark.parametrize("method", ["add_message", "get_messages"])
def test_while_a_session_opens_it_is_told_as_well(
    project: Project, driver: Driver, method: str
) -> None:
    driver.client.open(stuck(project, method))
    told = driver.wait(Notice, lambda notice: notice.source == "context-stuck")
    assert f"Waiting for {method} of context-stuck" in told.text
    assert not driver.of(SessionOpened)
