from typing import Any

import pytest

from tests.modules.loop_streaming.support import Bench, ScriptedProvider, says


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
