"""Going back behind a compaction by rule: the model has again what it had then."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import pytest

from amplifier_tui.host.events import BudgetChanged, Compacted, HostEvent, Rewound, SessionOpened
from tests.host.asking import CONTEXT, chat, seen
from tests.host.driving import Driver, Project
from tests.servers import LoopbackServer

TURNS = 6
Way = Literal["at once", "after a restart", "as a fork"]


def answer(turn: int) -> str:
    return f"Answer {turn}. " + "word " * 1_000


def bundle(project: Project, server: LoopbackServer, **config: Any) -> str:
    model = chat(server, default_model="gpt-6-astra")
    config = {"providers": [], **config}
    return project.bundle(context=CONTEXT, context_config=config, providers=[model])


def talk(project: Project, driver: Driver, server: LoopbackServer) -> SessionOpened:
    """A session that was compacted by itself, at the latest prompts and not before."""
    opened = driver.open(bundle(project, server, max_tokens=5_000))
    server.script.add(*map(answer, range(1, TURNS + 1)))
    for turn in range(1, TURNS + 1):
        driver.turn(f"prompt {turn}")
    return opened


def go(driver: Driver, step: Callable[[], object]) -> list[HostEvent]:
    """Go back or forward; returns what came of it."""
    known = len(driver.drain())
    step()
    driver.wait(Rewound)
    driver.client.rewind_points().result(5)
    return driver.drain()[known:]


def compacted(events: list[HostEvent]) -> bool:
    return any(isinstance(event, Compacted) for event in events)


def is_whole(asked: list[str]) -> bool:
    return not any("left out here" in line for line in asked)


@pytest.mark.parametrize("way", ["at once", "after a restart", "as a fork"])
def test_the_model_is_sent_what_it_was_sent_with_that_prompt(
    project: Project, driver: Driver, server: LoopbackServer, way: Way
) -> None:
    opened = talk(project, driver, server)
    asked = [seen(server, index) for index in range(TURNS)]
    first = next(index for index, lines in enumerate(asked) if not is_whole(lines))
    assert 3 <= first < TURNS - 1, "it is compacted in between"
    turn = first  # They are counted from one: it is the last that was sent whole.
    known = len(driver.drain())
    if way == "as a fork":
        driver.client.fork(turn)
        driver.wait(SessionOpened)
    else:
        go(driver, lambda: driver.client.rewind(turn, "conversation"))
    if way == "after a restart":
        driver.close()
        driver, known = Driver(project.folder), 0
        driver.open(resume=opened.session_id)
    driver.client.rewind_points().result(5)
    shown = driver.drain()[known:]
    assert not compacted(shown), "no row says it on screen either"
    budget = [event for event in shown if isinstance(event, BudgetChanged)][-1]
    said = sum(map(len, asked[turn - 1])) // 4
    assert said < sum(source.tokens for source in budget.sources) < 1.3 * said
    server.script.add("Done.")
    driver.turn(f"prompt {turn}")
    assert seen(server, -1) == asked[turn - 1]
    driver.close()


def test_what_was_left_out_is_left_out_again_when_the_turns_are_brought_back(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    talk(project, driver, server)
    left_out = {line for line in seen(server, -1) if "Answer" in line}
    assert not compacted(go(driver, lambda: driver.client.rewind(2, "conversation")))
    assert compacted(go(driver, driver.client.undo_rewind)), "the screen says it again"
    server.script.add("Done.")
    driver.turn("on")
    asked = seen(server, -1)
    assert not is_whole(asked)
    assert {line for line in asked if "Answer" in line} == {*left_out, f"assistant: {answer(6)}"}


def test_a_compaction_by_hand_stays_where_somebody_goes_back_to_the_prompt_after_it(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    driver.open(bundle(project, server, max_tokens=20_000, target=0.2))
    server.script.add(*map(answer, (1, 2, 3, 4)))
    for turn in (1, 2, 3, 4):
        driver.turn(f"prompt {turn}")
    driver.client.compact()
    driver.wait(Compacted)
    server.script.add("Fifth.", "Again.", "Fourth.")
    driver.turn("prompt 5")
    for turn, whole in ((5, False), (4, True)):
        back = go(driver, partial(driver.client.rewind, turn, "conversation"))
        assert compacted(back) is not whole
        driver.turn(f"prompt {turn}")
        assert is_whole(seen(server, -1)) is whole
