from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.host.events import PlanStep
from amplifier_tui.host.session.budget import BudgetMeter
from amplifier_tui.host.session.modules.facts import ModuleFacts, ProviderFacts, default_provider
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.testing import MockContextManager, MockTool

PROVIDER = ProviderFacts("p", "m", 100_000, 8_000)
SENDER: Any = SimpleNamespace(
    stamp=lambda: {"session_id": "s", "agent": "main", "at": 1.0}, send=lambda event: None
)


class Bench:
    def __init__(self, context: Any) -> None:
        self.context = context
        self.coordinator = ModuleCoordinator()
        self.facts = ModuleFacts(tools={"echo": "tool-test"})
        self.parts = [("bundle:test", "You are a test. " * 50)]

    async def meter(self, **config: Any) -> BudgetMeter:
        await self.coordinator.mount("context", self.context)
        await self.coordinator.mount("tools", MockTool("echo"))

        async def parts() -> list[tuple[str, str]]:
            return self.parts

        return BudgetMeter(
            self.coordinator, self.facts, lambda: PROVIDER, parts, config, lambda: None, SENDER
        )


def messages() -> list[dict[str, Any]]:
    hook = {"source": "hook", "hook_name": "linter"}
    return [
        {"role": "system", "content": "replaced by the factory " * 100},
        {"role": "user", "content": "go " * 40},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "echo"}]},
        {"role": "tool", "tool_call_id": "c", "content": "out " * 400},
        {"role": "user", "content": "lint " * 10, "metadata": hook},
        {"role": "assistant", "content": "done"},
    ]


async def test_every_token_has_a_source() -> None:
    bench = Bench(MockContextManager(messages()))
    event = await (await bench.meter()).measure()
    sources = {s.source: s for s in event.sources}
    assert set(sources) == {
        "bundle:test",
        "tools:tool-test",
        "user",
        "assistant",
        "tool:echo",
        "hook:linter",
    }
    assert sum(s.tokens for s in event.sources) == event.total
    assert event.kind == "estimated" and sources["assistant"].messages == 2
    assert event.window == 100_000 and event.reserve == 8_000


async def test_the_provider_s_count_is_the_total_and_what_came_after_is_added() -> None:
    context = MockContextManager(messages())
    bench = Bench(context)
    meter = await bench.meter()
    meter.counted(5_000)
    event = await meter.measure()
    assert (event.kind, event.total) == ("usage", 5_000)
    context.messages.append({"role": "tool", "tool_call_id": "d", "content": "x" * 4_000})
    later = await meter.measure()
    assert later.kind == "usage" and 5_900 < later.total < 6_100
    assert sum(s.tokens for s in later.sources) == later.total


async def test_a_count_waits_for_the_answer_it_belongs_to() -> None:
    context = MockContextManager(messages()[:2])
    meter = await Bench(context).meter()
    meter.counted(5_000)
    assert (await meter.measure()).kind == "estimated"
    context.messages += messages()[2:]
    assert (await meter.measure()).total == 5_000


async def test_a_floor_above_the_target_is_warned_of() -> None:
    bench = Bench(MockContextManager([]))
    bench.parts = [("bundle:huge", "word " * 100_000)]
    event = await (await bench.meter()).measure()
    assert event.floor >= event.target and "bundle:huge" in event.warning


async def test_the_turns_until_compaction_are_told_from_their_growth() -> None:
    bench = Bench(MockContextManager([]))
    meter = await bench.meter()
    assert (await meter.measure()).turns_left is None
    totals = []
    for size in (1_000, 11_000, 21_000):
        bench.context.messages = [{"role": "user", "content": "word " * size}]
        totals.append((await meter.measure()).total)
        await meter.send(turn_over=True)
    event = await meter.measure()
    growth = (totals[-1] - totals[0]) / 2
    assert growth > 5_000
    assert event.turns_left == int((event.trigger - event.total) / growth)


async def test_a_context_s_own_report_is_taken() -> None:
    class Action:
        action, source, rows, before, after = "truncate", "tool:read", 3, 900, 90

    class Plan:
        actions = (Action(),)

    class Report:
        total, trigger, target, floor, kind = 500, 400, 200, 100, "usage"
        by_source = (("history", 4, 300, "compacted"), ("user", 1, 200, "full"))
        preview = Plan()

    class Reporting(MockContextManager):
        async def report(self) -> Report:
            return Report()

    event = await (await Bench(Reporting([])).meter()).measure()
    assert (event.total, event.trigger, event.kind) == (500, 400, "usage")
    assert event.sources[0].state == "compacted"
    assert event.preview == (
        PlanStep(action="truncate", source="tool:read", rows=3, before=900, after=90),
    )


async def test_the_pipeline_s_report_is_taken() -> None:
    from amplifier_tui.context.request.report import ContextReport
    from amplifier_tui.context.request.shares import SourceLine

    speakers = (SourceLine("user", 2, 40), SourceLine("assistant", 2, 60, "compacted"))
    report = ContextReport(
        total=150,
        limit=200,
        trigger=170,
        target=100,
        floor=50,
        by_source=(SourceLine("bundle:x", 1, 50), SourceLine("history", 4, 100, "full", speakers)),
        kind="usage",
        output_reserve=7,
        turns_left=3,
    )

    async def tell() -> ContextReport:
        return report

    bench = Bench(MockContextManager([]))
    bench.coordinator.register_capability("context.report", tell)
    event = await (await bench.meter()).measure()
    assert [(s.source, s.tokens, s.state) for s in event.sources] == [
        ("assistant", 60, "compacted"),
        ("bundle:x", 50, "full"),
        ("user", 40, "full"),
    ]
    assert (event.total, event.reserve, event.turns_left, event.kind) == (150, 7, 3, "usage")


@pytest.mark.parametrize(
    ("config", "provider", "trigger", "target"),
    [
        ({}, PROVIDER, 77_350, 45_500),
        ({"max_tokens": 10_000}, PROVIDER, 8_500, 5_000),
        ({"max_tokens": 10_000, "compaction_threshold": 0.5}, PROVIDER, 5_000, 5_000),
        ({"max_tokens": True, "compaction_target": 7}, ProviderFacts(), 0, 0),
    ],
)
async def test_limits_follow_the_window_and_the_configuration(
    config: dict[str, Any], provider: ProviderFacts, trigger: int, target: int
) -> None:
    meter = await Bench(MockContextManager([])).meter(**config)
    meter._provider = lambda: provider
    event = await meter.measure()
    assert (event.trigger, event.target) == (trigger, target)


async def test_a_conversation_that_was_shortened_is_measured_anew() -> None:
    context = MockContextManager(messages())
    meter = await Bench(context).meter()
    whole = (await meter.measure()).total
    context.messages = messages()[:2]
    part = (await meter.measure()).total
    assert part < whole
    context.messages = [{"role": "user", "content": "x" * 40_000}]
    assert (await meter.measure()).total > part + 5_000


def test_the_provider_with_the_lowest_priority_is_the_default() -> None:
    class Provider:
        def __init__(self, **defaults: Any) -> None:
            self._defaults = defaults

        def get_info(self) -> Any:
            return type("Info", (), {"defaults": self._defaults})

    mounted = {"a": Provider(model="x"), "b": Provider(model="y", context_window=9)}
    assert default_provider(mounted, {}).name == "a"
    plan = {"providers": [{"module": "provider-b", "config": {"priority": 1}}]}
    assert default_provider(mounted, plan) == ProviderFacts("b", "y", 9, 0)
    wanted = {"session": {"orchestrator": {"config": {"default_provider": "provider-b"}}}}
    assert default_provider(mounted, wanted).name == "b"
    assert default_provider({}, {}) == ProviderFacts()
    assert default_provider({"odd": object()}, {}) == ProviderFacts("odd")
