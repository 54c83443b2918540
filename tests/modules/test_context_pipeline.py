import asyncio
from pathlib import Path

import pytest

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider
from amplifier_tui.context.errors import ContextSourceError
from amplifier_tui.context.memory.database import memory_path
from amplifier_tui.context.memory.store import MemoryStore
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.llm_errors import ContextLengthError
from amplifier_tui.kernel.message_models import ChatResponse, ToolCall, ToolCallBlock, Usage
from amplifier_tui.kernel.models import HookResult, ToolResult
from amplifier_tui.kernel.session import AmplifierSession
from tests.context.support import ScriptedProvider, long_session, said


def plan(**config: object) -> dict:
    return {
        "session": {
            "orchestrator": "loop-streaming",
            "context": {"module": "context-pipeline", "config": config},
        }
    }


async def opened(provider: ScriptedProvider, **config: object) -> AmplifierSession:
    session = AmplifierSession(plan(**config), session_id="s1")
    await session.initialize()
    await session.coordinator.mount("providers", provider, name="scripted")
    return session


def pipeline_of(session: AmplifierSession):
    return session.coordinator.get_capability("context.pipeline")


class Echo:
    name = "echo"
    description = "Says it again."
    input_schema = {"type": "object", "properties": {}}  # noqa: RUF012

    async def execute(self, input: dict) -> ToolResult:
        return ToolResult(output="echoed")


def calling_echo() -> ChatResponse:
    usage = Usage(input_tokens=600, output_tokens=5, total_tokens=605)
    return ChatResponse(
        content=[ToolCallBlock(id="c1", name="echo", input={})],
        tool_calls=[ToolCall(id="c1", name="echo", arguments={})],
        usage=usage,
    )


async def test_memories_reach_the_model_in_a_plain_session() -> None:
    store = MemoryStore(memory_path())
    await store.remember("Ada prefers tabs")
    await store.close()
    provider = ScriptedProvider("fine", "still fine")
    async with await opened(provider) as session:
        assert await session.execute("hello") == "fine"
        assert await session.execute("again") == "still fine"
        texts = provider.texts()
        assert texts[:2] == ["hello", "fine"]
        assert "Ada prefers tabs" in texts[2]
        assert texts[3] == "again"
        stored = await session.coordinator.get("context").get_messages()
        assert [row["role"] for row in stored] == ["user", "assistant", "user", "assistant"]
        report = await session.coordinator.get_capability("context.report")()
        assert "memory" in {line.source for line in report.by_source}
        shared = session.coordinator.get_capability("context.memory")
        assert shared.path == memory_path()


async def test_without_memories_no_file_is_made() -> None:
    async with await opened(ScriptedProvider()) as session:
        await session.execute("hello")
    assert not memory_path().exists()


async def test_memories_of_other_projects_stay_there(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "m.sqlite3")
    for scope in ("", "/here", "/there"):
        await store.remember(f"note of {scope or 'all'}", scope=scope)
    await store.close()
    provider = ScriptedProvider()
    session = AmplifierSession(
        plan(providers=[{"id": "memory", "path": str(tmp_path / "m.sqlite3")}])
    )
    session.coordinator.register_capability("session.working_dir", "/here")
    async with session:
        await session.coordinator.mount("providers", provider, name="scripted")
        await session.execute("hello")
    assert "note of all" in provider.texts()[0]
    assert "note of /here" in provider.texts()[0]
    assert "note of /there" not in provider.texts()[0]


async def test_the_report_names_tools_and_rests_on_the_providers_count() -> None:
    provider = ScriptedProvider(calling_echo(), said("done", 700))
    async with await opened(provider, providers=[]) as session:
        await session.coordinator.mount("tools", Echo())
        await session.execute("go " * 200)
        report = await pipeline_of(session).report()
        lines = {line.source: line.tokens for line in report.by_source}
        assert report.kind == "usage"
        assert sum(lines.values()) == report.total
        assert {"user", "assistant", "tool:echo", "tools:tests"} <= set(lines)
        assert report.total == 700 + 5
        assert "above our estimate" in lines


async def test_a_reminder_of_a_hook_is_named_in_the_report() -> None:
    provider = ScriptedProvider(said("done", 1_000))
    async with await opened(provider, providers=[]) as session:
        hooks: HookRegistry = session.coordinator.hooks
        hooks.register("provider:request", _remind, name="todo-reminder")
        await session.execute("go " * 500)
        report = await pipeline_of(session).report()
        states = {line.source: line.state for line in report.by_source}
        assert states["hook:todo-reminder"] == "ephemeral"


async def _remind(event: str, data: dict) -> HookResult:
    return HookResult(action="inject_context", context_injection="remember " * 40, ephemeral=True)


class Failing(ContextProvider):
    async def before_run(self, agent, session, context, state) -> None:
        raise OSError("index is down")


async def test_a_source_that_fails_comes_out_of_execute_and_the_model_is_not_asked() -> None:
    provider = ScriptedProvider()
    async with await opened(provider, providers=[]) as session:
        pipeline = pipeline_of(session)
        pipeline.add(Failing("rag"))
        with pytest.raises(ContextSourceError, match="'rag'"):
            await session.execute("hello")
        assert provider.requests == []
        pipeline.skip("rag")
        assert await session.execute("") == "Answer 1"
        assert provider.texts() == ["hello"]


async def test_a_session_larger_than_the_window_is_an_error_before_anything_is_sent() -> None:
    provider = ScriptedProvider(window=20_000, output=2_000)
    async with await opened(provider, providers=[]) as session:
        with pytest.raises(ContextLengthError, match="'user'"):
            await session.execute("x" * 400_000)
        assert provider.requests == []


async def test_a_cancelled_turn_loses_nothing_and_the_next_one_works() -> None:
    started = asyncio.Event()

    class Slow(ScriptedProvider):
        slow = True

        async def complete(self, request, **kwargs):
            if self.slow:
                started.set()
                await asyncio.Event().wait()
            return await super().complete(request)

    provider = Slow("fine")
    async with await opened(provider, providers=[]) as session:
        turn = asyncio.create_task(session.execute("first"))
        await started.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        provider.slow = False
        assert await session.execute("second") == "fine"
        assert provider.texts() == ["first", "second"]


async def test_compaction_is_announced_and_the_transcript_stays_whole() -> None:
    told: list[dict] = []
    provider = ScriptedProvider(window=14_000, output=1_000)
    async with await opened(provider, providers=[]) as session:
        session.coordinator.hooks.register(
            "context:compaction", lambda event, data: told.append(data)
        )
        context = session.coordinator.get("context")
        rows = long_session(20)[:-1]
        await context.set_messages(rows)
        await session.execute("go on")
        assert len(told) == 1
        assert told[0]["budget"] == 12_000
        assert (await context.get_messages())[: len(rows)] == rows
        events = await session.coordinator.collect_contributions("observability.events")
        assert any("context:budget" in names for names in events)


async def test_a_strategy_can_be_configured() -> None:
    provider = ScriptedProvider(window=14_000, output=1_000)
    strategy = {"id": "sliding-window", "keep_last_groups": 3}
    async with await opened(provider, providers=[], strategy=strategy) as session:
        await session.coordinator.get("context").set_messages(long_session(20)[:-1])
        await session.execute("go on")
        assert len(provider.requests[0].messages) < 30


async def test_a_file_history_keeps_what_is_said(tmp_path: Path) -> None:
    providers = [{"id": "file", "config": {"storage_path": str(tmp_path), "source_id": "past"}}]
    async with await opened(ScriptedProvider("one"), providers=providers) as session:
        await session.execute("first")
    later = ScriptedProvider("two")
    async with await opened(later, providers=providers) as session:
        await session.execute("second")
    assert later.texts() == ["first", "one", "second"]


async def test_after_the_session_nothing_listens_any_more() -> None:
    session = await opened(ScriptedProvider())
    hooks = session.coordinator.hooks
    await session.execute("one")
    await session.cleanup()
    assert not any("context-pipeline" in names for names in hooks.list_handlers().values())


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"threshold": 3}, "threshold"),
        ({"provider_timeout": 0}, "provider_timeout"),
        ({"providers": "memory"}, "must be a list"),
        ({"providers": ["telepathy"]}, "no provider 'telepathy'. It knows: memory, redis, file"),
        ({"providers": ["memry"]}, "no provider 'memry'; did you mean 'memory'. It knows: "),
        ({"providers": [7]}, "an id or a mapping"),
        (
            {"providers": ["redis"]},
            "`providers` of context-pipeline has a wrong 'redis': .*redis_url",
        ),
        ({"providers": [{"id": "memory", "colour": "red"}]}, "has a wrong 'memory': .*colour"),
        ({"providers": ["memory", "memory"]}, "called 'memory'"),
        ({"providers": [{"id": "in-memory", "source_id": "context"}]}, "has one called 'context'"),
        ({"provider_timeout": "long"}, "provider_timeout"),
        ({"strategy": {"id": "truncation", "max_n": 5, "compact_to": 9}}, "'truncation'.*compact"),
        ({"strategy": "wishful"}, "no strategy 'wishful'"),
        ({"strategy": {"id": "sliding-window", "keep_last_groups": 0}}, "at least 1"),
    ],
)
async def test_a_configuration_that_makes_no_sense_is_refused(config: dict, complaint: str) -> None:
    session = AmplifierSession(plan(**config))
    with pytest.raises(RuntimeError, match=complaint):
        await session.initialize()
    await session.cleanup()


async def test_providers_are_added_by_other_modules() -> None:
    class Clock(ContextProvider):
        async def before_run(self, agent, session, context, state) -> None:
            context.extend_messages(self, [Message.user("It is noon.")])

    provider = ScriptedProvider()
    async with await opened(provider, providers=[]) as session:
        pipeline_of(session).add(Clock("time"))
        await session.execute("hi")
    assert provider.texts() == ["It is noon.", "hi"]


async def test_the_parts_of_a_bundles_prompt_arrive_with_their_sources(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("Follow the guide.")
    (tmp_path / "style.md").write_text("Keep it short.")
    bundle = Bundle(
        name="coding",
        base_path=tmp_path,
        instruction="You write code. See @coding:style.md",
        context={"guide.md": tmp_path / "guide.md"},
    )
    factory = SystemPromptFactory(bundle, mention_resolver(bundle, tmp_path))
    provider = ScriptedProvider()
    async with await opened(provider, providers=[]) as session:
        session.coordinator.get("context").set_system_prompt_factory(factory)
        await session.execute("hello")
        report = await pipeline_of(session).report()
    assert provider.texts()[0] == await factory()
    sources = [line.source for line in report.by_source]
    assert sources[:3] == ["bundle:coding", "file:@coding:guide.md", "file:@coding:style.md"]
