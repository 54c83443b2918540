from typing import Any

import pytest

from amplifier_tui.kernel.models import HookResult
from tests.modules.loops.support import Bench, ScriptedProvider, Tool, call, calls, says


def three() -> dict[str, Any]:
    return {name: ScriptedProvider(says(name), name=name) for name in ("one", "two", "three")}


async def test_the_first_mounted_provider_answers():
    assert await Bench(providers=three()).run() == "one"


@pytest.mark.parametrize("wanted", ["two", "provider-two"])
async def test_a_configured_default_wins(wanted: str):
    assert await Bench(providers=three(), config={"default_provider": wanted}).run() == "two"


async def test_a_default_that_is_not_mounted_gives_way():
    assert await Bench(providers=three(), config={"default_provider": "four"}).run() == "one"


@pytest.mark.parametrize(
    "entry",
    [
        {"module": "provider-three", "config": {"priority": 0}},
        {"module": "provider-x", "instance_id": "three", "config": {"priority": 1.5}},
        {"module": "provider-x", "id": "three", "config": {"priority": 1}},
    ],
)
async def test_the_lowest_priority_in_the_plan_wins(entry: dict[str, Any]):
    plan = {"session": {}, "providers": [{"module": "provider-one"}, "junk", entry]}
    assert await Bench(providers=three(), plan=plan).run() == "three"


async def test_a_priority_of_the_provider_itself_counts_too():
    providers = three()
    providers["two"].config = {"priority": 5}
    assert await Bench(providers=providers).run() == "two"


async def test_the_options_of_a_turn_name_its_provider():
    bench = Bench(providers=three(), config={"default_provider": "two"})
    assert await bench.run(request_options={"provider": "three"}) == "three"
    assert await bench.run(request_options={}) == "two"


async def test_a_turn_for_a_provider_that_is_not_mounted_asks_no_other():
    bench = Bench(providers=three())
    with pytest.raises(RuntimeError, match="'four' is not mounted; mounted are: one, two, three"):
        await bench.run(request_options={"provider": "four"})
    assert bench.of("execution:end")[0]["status"] == "error"
    assert [one.requests for one in bench.providers.values()] == [[], [], []]


def send_to(bench: Bench, *names: str) -> None:
    """Let a hook choose the provider of each request, in their order."""
    left = list(names)

    def choose(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "provider": left.pop(0)})

    bench.hooks.register("provider:request", choose)


async def test_a_hook_chooses_the_provider_of_one_request():
    one = ScriptedProvider(says("from one"))
    two = ScriptedProvider(calls(call("t")))
    bench = Bench(providers={"one": one, "two": two}, tools={"t": Tool("t")})
    asked: list[Any] = []
    rows = bench.context.get_messages_for_request

    async def note(token_budget: int | None = None, provider: Any = None) -> Any:
        asked.append(provider)
        return await rows()

    bench.context.get_messages_for_request = note
    send_to(bench, "provider-two", "one")
    assert await bench.run() == "from one"
    assert [data["provider"] for data in bench.of("provider:response")] == ["two", "one"]
    assert asked == [one, two, one]


async def test_a_provider_of_a_hook_that_is_not_mounted_asks_no_other():
    bench = Bench(providers=three())
    send_to(bench, "local")
    answer = await bench.run()
    assert "'local' is not mounted; mounted are: one, two, three" in answer
    assert [one.requests for one in bench.providers.values()] == [[], [], []]
    assert bench.of("orchestrator:complete")[0]["status"] == "incomplete"
