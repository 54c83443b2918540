"""Whatever a server does, a turn ends in words for the user, and the next one is accepted."""

import re
from typing import Any, get_args

import pytest

from amplifier_tui.kernel import AmplifierSession
from amplifier_tui.kernel.llm_errors import LLMError
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._provider import http
from tests.modules.provider_faults import FAULTS, Api, Asked
from tests.servers import LoopbackServer, Script, reply

CASES = [
    pytest.param(name, Asked(api, stream), id=f"{name}-{api}-{'stream' if stream else 'whole'}")
    for name, fault in FAULTS.items()
    for api in get_args(Api)
    for stream in (True, False)
    if fault.only == "both" or (fault.only == "stream") == stream
]


class Look:
    name = "look"
    description = "Looks."

    def __init__(self) -> None:
        self.input_schema = {"type": "object", "properties": {"at": {"type": "integer"}}}
        self.looked_at: list[Any] = []

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.looked_at.append(input.get("at"))
        return ToolResult(output="seen")


def plan(asked: Asked, server: LoopbackServer, config: dict[str, Any]) -> dict[str, Any]:
    anthropic = asked.api == "anthropic"
    return {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [
            {
                "module": "provider-anthropic" if anthropic else "provider-openai",
                "config": {
                    "api_key": "sk-test",
                    "base_url": server.url if anthropic else server.openai_url,
                    "default_model": "model-x",
                    "stream": asked.stream,
                    "max_retries": 0,
                    **({} if anthropic else {"api": asked.api}),
                    **config,
                },
            }
        ],
    }


@pytest.fixture(scope="module")
def server() -> Any:
    with LoopbackServer() as running:
        yield running


@pytest.mark.parametrize(("name", "asked"), CASES)
async def test_a_fault_ends_in_words_and_the_next_turn_is_accepted(
    name: str, asked: Asked, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = http.ResponseLimits(body=200_000, error=10_000, event=200_000, stream=1_000_000)
    monkeypatch.setattr(http, "LIMITS", small)
    fault, tool = FAULTS[name], Look()
    server.requests.clear()
    server.script = Script([fault.made(asked)])
    if fault.ending == "It looked.":
        server.script.add(fault.ending)
    elif fault.ending == "":
        server.script.add(reply())
    async with AmplifierSession(plan(asked, server, fault.config)) as session:
        await session.coordinator.mount("tools", tool, name=tool.name)
        if isinstance(fault.ending, str):
            assert await session.execute("my question") == fault.ending
        else:
            with pytest.raises(LLMError) as caught:
                await session.execute("my question")
            assert type(caught.value) is fault.ending
            assert caught.value.provider in ("anthropic", "openai")
            assert caught.value.model == "model-x"
            assert fault.words in str(caught.value)
            assert "\n" not in str(caught.value)
            # Advice that is no `remedy` would be said beside that of the front end.
            said = str(caught.value).removesuffix(caught.value.remedy)
            assert not re.search(r"\b(Retry|Check|Raise)\b", said)
            assert len(str(caught.value)) < 600
            assert len(server.requests) == 1
        server.script.add("Still here.")
        (provider,) = session.coordinator.get("providers").values()
        # The next turn is not in a hurry, whichever of the two its call takes.
        provider.client.timeout = 30.0
        provider.settings = provider.settings.model_copy(update={"timeout": 30.0})
        assert await session.execute("and now?") == "Still here."
    assert "my question" in repr(server.requests[-1].json), "the prompt was lost"
    if name == "duplicate ids":
        assert sorted(tool.looked_at) == [1, 2]
