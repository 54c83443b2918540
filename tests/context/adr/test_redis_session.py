import json

from amplifier_tui.kernel.session import AmplifierSession
from tests.context.adr.redis_server import RedisServer
from tests.context.support import ScriptedProvider


async def test_redis_may_go_and_come_back_in_mid_session(own_redis: RedisServer) -> None:
    provider = ScriptedProvider()
    notices: list[str] = []
    config = {"providers": [{"id": "redis", "redis_url": own_redis.url}]}
    context = {"module": "context-pipeline", "config": config}
    plan = {"session": {"orchestrator": "loop-streaming", "context": context}}
    async with AmplifierSession(plan) as session:
        coordinator = session.coordinator
        await coordinator.mount("providers", provider, name="scripted")
        coordinator.hooks.register(
            "user:notification", lambda event, data: notices.append(data["message"])
        )
        await session.execute("one")
        own_redis.stop()
        await session.execute("two")
        assert provider.texts() == ["one", "Answer 1", "two"]
        (notice,) = notices
        assert "'redis_memory' is not available: Redis does not answer" in notice
        assert "goes on from its own record" in notice
        pipeline = coordinator.get_capability("context.pipeline")
        state = json.loads(json.dumps(pipeline.to_dict()))["state"]
        assert len(state["redis_memory"]["unsaved"]) == 2
        own_redis.start()
        await session.execute("three")
        # The server came back empty: it has what waited for it.
        assert provider.texts() == ["two", "Answer 2", "three"]
