"""What a session may use: asked before it is passed, and what the answers do."""

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import pytest

from amplifier_tui.base.prices import ListPrice
from amplifier_tui.host.client import SpendLimit
from amplifier_tui.host.events import (
    MAIN_LANE,
    BlockDelta,
    LimitAsked,
    LimitChanged,
    LimitResolved,
    ModelChanged,
    Notice,
    SessionOpened,
    TurnEnded,
    UsageChanged,
)
from amplifier_tui.host.events import Usage as Used
from amplifier_tui.host.models.limits import SpendGuard
from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.correlation import aside
from amplifier_tui.kernel.message_models import ChatRequest
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo
from amplifier_tui.modules.provider_mock import ScriptedProvider
from amplifier_tui.paths import amplifier_home
from tests.host.asking import chat
from tests.host.driving import Driver, Project
from tests.servers import LoopbackServer, Stall, Text, ToolUse, reply
from tests.servers.replies import Usage
from tests.waiting import within

PRICE = {"input_per_million": 1000, "output_per_million": 1000}
"""A tenth of a cent for each token: an answer of the test's server costs 3 cents."""


@pytest.fixture(autouse=True, scope="module")
def sdk() -> None:
    """Imported before anything is waited for: it takes seconds."""
    import_module("openai.resources.chat.completions")


def priced(project: Project, server: LoopbackServer, **more: Any) -> str:
    return project.bundle(providers=[chat(server, pricing=PRICE)], tools=("tool-test",), **more)


def answer(text: str, tokens: int = 1_000) -> Any:
    return reply(text, usage=Usage(input=tokens - 10, output=10))


def test_a_request_that_may_pass_the_limit_waits_for_the_user(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(answer("one"), answer("two"), answer("three"))
    driver.open(priced(project, server), limit=SpendLimit(cost="1.20"))
    assert driver.wait(LimitChanged).cost == "1.20"
    driver.turn("first")
    assert not driver.of(LimitAsked)
    driver.client.submit("second")
    asked = driver.wait(LimitAsked)
    assert float(asked.used_cost or 0) == 1 and float(asked.next_cost or 0) > 0.2
    assert len(server.requests) == 1, "it was asked before, not afterwards"
    driver.client.answer_limit(asked.request_id, go=True)
    driver.wait(TurnEnded)
    driver.client.submit("third")
    asked = driver.wait(LimitAsked)
    driver.client.set_limit(SpendLimit(cost="9"))
    assert driver.wait(LimitResolved).request_id == asked.request_id
    driver.wait(TurnEnded)
    assert driver.answers() == ["one", "two", "three"]
    assert driver.of(UsageChanged)[-1].session.cost == "3.0"


def test_stop_at_the_limit_sends_nothing_and_a_stop_withdraws_the_question(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(answer("never"))
    driver.open(priced(project, server), limit=SpendLimit(tokens=10))
    for stop in ("answer", "interrupt"):
        driver.client.submit("go")
        asked = driver.wait(LimitAsked)
        assert (asked.tokens, asked.used_tokens) == (10, 0) and asked.next_tokens > 10
        if stop == "answer":
            driver.client.answer_limit(asked.request_id, go=False)
        else:
            driver.client.interrupt(immediate=True)
        assert driver.wait(LimitResolved).request_id == asked.request_id
        assert driver.wait(TurnEnded).status == "cancelled"
    assert not server.requests and not driver.failures()


def test_a_stop_in_order_withdraws_what_waits_at_the_limit(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(reply(ToolUse("echo", {"text": "x"})), answer("never"))
    driver.open(priced(project, server), limit=SpendLimit(tokens=10))
    driver.client.submit("go")
    driver.client.answer_limit(driver.wait(LimitAsked).request_id, go=True)
    driver.wait(LimitAsked)
    driver.client.interrupt()
    driver.wait(LimitResolved)
    assert driver.wait(TurnEnded).status == "cancelled"
    assert len(server.requests) == 1 and not driver.failures()


def test_a_request_is_expected_as_large_as_its_provider_counts(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(answer("one"), answer("two"))
    driver.open(priced(project, server), limit=SpendLimit(cost="1.9"))
    driver.turn("first")
    driver.client.submit("second")
    asked = driver.wait(LimitAsked)
    # The first one cost a dollar, and this one is a little longer.
    assert float(asked.used_cost or 0) == 1 and 1 <= float(asked.next_cost or 0) < 1.2


def test_answers_that_are_stopped_count_so_that_a_limit_holds(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    stalled = reply(Text(["x" * 4_000, Stall()]), usage=Usage(input=990, output=10))
    server.script.add(stalled, answer("never"))
    driver.open(priced(project, server), limit=SpendLimit(cost="1.5"))
    driver.client.submit("first")
    driver.wait(BlockDelta)
    driver.client.interrupt(True)
    assert driver.wait(TurnEnded).status == "cancelled"
    used = driver.of(UsageChanged)[-1]
    assert float(used.session.cost or 0) > 1 and used.session.unpriced_tokens == 0
    assert used.turn.output_tokens == 1_000
    driver.client.submit("second")
    asked = driver.wait(LimitAsked)
    assert asked.used_cost == used.session.cost
    assert len(server.requests) == 1


def test_what_sub_agents_use_counts_and_they_wait_as_well(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    call = reply(ToolUse("delegate", {"text": "look"}), usage=Usage(input=990, output=10))
    server.script.add(call, answer("child"), answer("done"))
    driver.open(priced(project, server), limit=SpendLimit(cost="1.3"))
    driver.client.submit("go")
    asked = driver.wait(LimitAsked)
    assert asked.agent != "main"
    driver.client.answer_limit(asked.request_id, go=True)
    asked = driver.wait(LimitAsked)
    assert (asked.agent, float(asked.used_cost or 0)) == ("main", 2)
    driver.client.answer_limit(asked.request_id, go=True)
    assert driver.wait(TurnEnded).status == "success"


def test_the_limit_comes_from_the_settings_and_is_what_it_was_after_a_resume(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text("max_cost: 4\n")
    local = project.folder / ".amplifier" / "settings.yaml"
    local.write_text("max_cost: 900\n")
    server.script.add(answer("one"))
    first = drive()
    opened = first.open(priced(project, server))
    assert first.wait(LimitChanged).cost == "4", "a project can't raise it"
    first.turn("go")
    first.client.set_limit(SpendLimit(tokens=70_000))
    first.wait(LimitChanged)
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    assert again.wait(LimitChanged).tokens == 70_000
    again.client.fork()
    again.wait(SessionOpened)
    assert again.wait(LimitChanged).cost == "4"


def test_another_bundle_goes_on_counting_what_the_conversation_has_spent(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    project.bundle("other", providers=[chat(server, pricing=PRICE)], tools=("tool-test",))
    server.script.add(answer("one"), answer("two"), answer("three"))
    first = drive()
    first.open(priced(project, server))
    first.turn("go")
    first.client.set_limit(SpendLimit(tokens=500))
    first.drain()
    for bundle in ("other", "test"):
        first.client.switch_bundle(bundle)
        opened = first.wait(SessionOpened)
        assert first.wait(UsageChanged).session.input_tokens == 990
    first.client.submit("again")
    asked = first.wait(LimitAsked)
    assert (asked.tokens, asked.used_tokens) == (500, 1_000)
    first.client.answer_limit(asked.request_id, go=True)
    first.wait(TurnEnded)
    assert first.of(UsageChanged)[-1].session.cost == "2.0"
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    assert again.wait(UsageChanged).session.cost == "2.0", "and no part of it twice"
    again.client.switch_bundle("other")
    again.wait(SessionOpened)
    assert again.wait(LimitChanged).tokens == 500, "the limit of what was resumed comes along, too"
    assert again.wait(UsageChanged).session.cost == "2.0"


def test_the_first_request_of_a_server_next_door_counts_with_the_price_that_is_given(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.models = ["small"]
    server.script.add(answer("never"))
    provider = chat(server, default_model="small", pricing=PRICE)
    driver.open(project.bundle(providers=[provider]), limit=SpendLimit(cost="0.50"))
    driver.client.submit("go")
    asked = driver.wait(LimitAsked)
    assert float(asked.next_cost or 0) > 0.5 and not driver.failures()
    driver.client.answer_limit(asked.request_id, go=False)
    driver.wait(TurnEnded)
    assert not [each for each in server.requests if each.path.endswith("completions")]


def test_another_model_is_counted_with_its_own_price_and_not_with_that_of_the_one_before(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.models = ["small", "gpt-4.1"]
    server.script.add(answer("one"), answer("two"), answer("three"))
    driver.open(project.bundle(providers=[chat(server, default_model="small")]))
    driver.turn("a")
    driver.client.set_limit(SpendLimit(cost="0.0005"))
    assert driver.wait(Notice, lambda notice: notice.source == "limit").text == UNKNOWN
    driver.client.switch_model("gpt-4.1")
    driver.client.submit("b")
    asked = driver.wait(LimitAsked)
    assert asked.used_cost in (None, "0") and float(asked.next_cost or 0) > 0.0005
    driver.client.answer_limit(asked.request_id, go=True)
    driver.wait(TurnEnded)
    assert [event.source for event in driver.of(Notice)].count("limit") == 1, "its price is known"


UNKNOWN = (
    "A limit in dollars does not hold small, whose price is not known. "
    "One in tokens does, /limit 200k; in a run --max-turns"
)


def test_a_price_nobody_knows_is_said_where_a_limit_needs_it(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("one", "two", "three")
    driver.open(
        project.bundle(providers=[chat(server, default_model="small")]),
        limit=SpendLimit(cost="0.01"),
    )
    for prompt in "abc":
        driver.turn(prompt)
        said = [event.text for event in driver.of(Notice) if event.source == "limit"]
        assert said == [UNKNOWN], "with the first answer, and once"
    used = driver.of(UsageChanged)[-1].session
    assert used.cost is None and used.unpriced_tokens == 90
    (card,) = driver.client.sessions().result(5).cards
    assert card.unpriced_tokens == 90, "and is stored"


def test_a_price_nobody_knows_is_said_when_the_limit_is_set(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("one")
    driver.open(project.bundle(providers=[chat(server, default_model="small")]))
    driver.turn("a")
    driver.client.set_limit(SpendLimit(tokens=70_000))
    driver.wait(LimitChanged)
    driver.client.set_limit(SpendLimit(cost="5"))
    said = driver.wait(Notice, lambda notice: notice.source == "limit")
    assert said.text == UNKNOWN
    assert said.until == "limit"
    # Of tokens there was nothing to say.
    assert [event.source for event in driver.of(Notice)].count("limit") == 1


def test_a_limit_that_is_set_after_a_switch_is_about_the_model_that_answers_next(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.models = ["small", "other"]
    server.script.add("one")
    driver.open(project.bundle(providers=[chat(server, default_model="small")]))
    driver.turn("a")
    driver.client.switch_model("other")
    driver.wait(ModelChanged, lambda event: event.model == "other")
    driver.client.set_limit(SpendLimit(cost="5"))
    said = driver.wait(Notice, lambda notice: notice.source == "limit", timeout=30)
    assert said.text.startswith("No price of other is known")
    assert said.until == "limit", "another limit makes it untrue"


@pytest.mark.parametrize(
    ("listed", "more"), [("small", {}), ("other", {"pricing": PRICE})], ids=["unpriced", "unlisted"]
)
def test_before_the_first_answer_a_limit_in_dollars_says_that_no_price_is_known(
    project: Project, driver: Driver, server: LoopbackServer, listed: str, more: dict[str, Any]
) -> None:
    server.script.add("one", "two")
    server.models, told = [listed], not more
    driver.open(project.bundle(providers=[chat(server, default_model="small", **more)]))
    driver.client.set_limit(SpendLimit(tokens=70_000))
    driver.client.set_limit(SpendLimit(cost="500"))
    if told:
        said = driver.wait(Notice, lambda notice: notice.source == "limit", timeout=30)
        assert said.text.startswith("No price of small is known") and "/limit" in said.text
    driver.turn("a")
    assert [event.source for event in driver.of(Notice)].count("limit") == told, "once"
    driver.client.set_limit(SpendLimit(cost="600"))
    driver.turn("b")
    said = "once for each limit that is set"
    assert [event.source for event in driver.of(Notice)].count("limit") == 2 * told, said


@pytest.mark.parametrize(
    ("spent", "said"),
    [
        ({"tokens": 150_000, "used_tokens": 159_830}, "The limit is passed: 159,830 of 150,000"),
        ({"tokens": 150_000, "used_tokens": 150_000}, "The next request may pass the limit: "),
        ({"cost": "5", "used_cost": "5.01"}, "The limit is passed: $5.01 of $5"),
        ({"cost": "5", "used_cost": None}, "The next request may pass the limit: $0.00"),
    ],
)
def test_a_limit_that_is_passed_already_is_said_to_be(spent: dict[str, Any], said: str) -> None:
    assert LimitAsked(session_id="s", request_id="l", **spent).said.startswith(said)


async def test_of_an_unknown_price_the_sessions_model_is_blamed_and_not_that_of_its_title() -> None:
    said: list[str] = []
    sender = SimpleNamespace(notice=lambda level, text, source, until: said.append(text))
    used = Used(input_tokens=10, output_tokens=5)
    usage = SimpleNamespace(
        last={MAIN_LANE: used},
        models={MAIN_LANE: "opus"},
        session=used,
        average_output=5,
        model="opus",
    )
    guard = SpendGuard(cast("Any", sender), cast("Any", usage))
    guard.limit = SpendLimit(cost="1")
    with aside():
        async with guard.spending(ChatRequest(messages=[], model="haiku"), None, MAIN_LANE):
            pass
    assert not said
    async with guard.spending(ChatRequest(messages=[], model="opus"), None, MAIN_LANE):
        pass
    assert said == [UNKNOWN.replace("small", "opus")]


@pytest.mark.parametrize("answered", [False, True])
async def test_no_list_of_prices_stops_what_its_provider_gives_no_price(
    monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    async def listed(asked: Any) -> Any:
        return {pair: (ListPrice(0, "100", "100"),) for pair in asked}

    monkeypatch.setattr("amplifier_tui.host.models.limits.list_prices", listed)
    sent: list[Any] = []
    sender = SimpleNamespace(
        send=sent.append,
        notice=lambda *_, **__: None,
        stamp=lambda _: {"session_id": "s", "at": 0.0},
    )
    model = ModelInfo(
        id="opus",
        display_name="Opus",
        context_window=1_000,
        max_output_tokens=100,
        capabilities=[] if answered else [capabilities.LOCAL],
    )
    provider = SimpleNamespace(
        get_info=lambda: ProviderInfo(id="vendor", display_name="Vendor"),
        list_models=lambda: [model],
    )
    used = Used(input_tokens=10, output_tokens=5)
    usage = SimpleNamespace(
        last={MAIN_LANE: used} if answered else {},
        models={MAIN_LANE: "opus"},
        session=used,
        average_output=5,
        model="opus",
    )
    guard = SpendGuard(cast("Any", sender), cast("Any", usage))
    guard.limit = SpendLimit(cost="0.0001")
    request = ChatRequest(messages=[], model="opus")
    async with within(20), guard.spending(request, provider, MAIN_LANE):
        assert not sent


def _raise() -> None:
    raise RuntimeError("no information")


@pytest.mark.parametrize("described", [_raise, lambda: None], ids=["raises", "nothing"])
def test_a_provider_that_does_not_describe_itself_answers_under_a_limit_and_lists_its_models(
    project: Project,
    driver: Driver,
    monkeypatch: pytest.MonkeyPatch,
    described: Callable[[], None],
) -> None:
    monkeypatch.setattr(ScriptedProvider, "get_info", lambda _: described())
    driver.open(project.bundle(), limit=SpendLimit(cost="5"))
    assert driver.turn("hi").status == "success"
    cards = driver.client.models().result(10)
    assert cards and not any(card.problem for card in cards)


def test_no_more_requests_are_sent_than_may_be(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    for number in range(5):
        server.script.add(reply(ToolUse("echo", {"text": str(number)})))
    driver.open(priced(project, server), max_requests=2)
    assert driver.turn("go").status != "success"
    assert len(server.requests) == 2
    assert not [event.text for event in driver.of(Notice) if event.level == "error"], (
        "nothing failed at the provider"
    )


def test_a_limit_in_dollars_that_cannot_hold_is_told_as_the_session_opens(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.models = ["small"]
    limit = SpendLimit(cost="500")
    driver.open(project.bundle(providers=[chat(server, default_model="small")]), limit=limit)
    said = driver.wait(Notice, lambda notice: notice.source == "limit", timeout=30)
    assert said.text.startswith("No price of small is known") and "--max-turns" in said.text
    server.script.add("one")
    driver.turn("a")
    assert [event.source for event in driver.of(Notice)].count("limit") == 1, "once"
