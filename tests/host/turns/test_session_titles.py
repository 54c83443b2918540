"""The title a model gives a session: counted, shown, and never asked about."""

import pytest

from amplifier_tui.host.client import SpendLimit
from amplifier_tui.host.events import LimitAsked, TitleChanged, TurnEnded, UsageChanged
from tests.host.asking import chat
from tests.host.driving import Driver, Project
from tests.servers import LoopbackServer, reply
from tests.servers.replies import Usage

NAMING = (("hooks-session-naming", {"model": "gpt-6-luna"}),)
PRICE = {"input_per_million": 1000, "output_per_million": 1000}


def named_by(project: Project, server: LoopbackServer) -> str:
    return project.bundle(providers=[chat(server, pricing=PRICE)], hooks=NAMING)


def test_the_first_turn_gives_a_title_whose_cost_counts(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.title = "Prices of heavy parcels"
    server.script.add(reply("A bug.", usage=Usage(input=990, output=10)))
    opened = driver.open(named_by(project, server))
    driver.turn("Why is 2 kg so dear?")
    assert driver.wait(TitleChanged).title == "Prices of heavy parcels"
    (asked,) = server.titles_asked
    assert asked.json["model"] == "gpt-6-luna"
    assert float(driver.of(UsageChanged)[-1].session.cost or 0) > 1
    assert driver.answers() == ["A bug."]
    assert [row["role"] for row in project.rows(opened.session_id)] == ["user", "assistant"]


def test_at_a_limit_there_is_no_title_and_no_question(
    project: Project, driver: Driver, server: LoopbackServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.title = "Never"
    server.script.add(reply("A bug.", usage=Usage(input=990, output=10)))
    driver.open(named_by(project, server), limit=SpendLimit(cost="1.00001"))
    with caplog.at_level("INFO"):
        driver.turn("Why?")
        driver.wait_until(lambda: "has no title yet" in caplog.text, "it was not given up")
    assert "The limit of this session is reached" in caplog.text
    assert server.titles_asked == []
    assert driver.of(LimitAsked) == []
    assert [event.status for event in driver.of(TurnEnded)] == ["success"]
