from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, Message, ToolSpec
from amplifier_tui.modules.provider_mock import MockSettings, ScriptedProvider


class Talk:
    """A conversation with the scripted agent, kept as a context would keep it."""

    def __init__(
        self, tmp_path: Path, script: Any = None, tools: tuple[str, ...] = ("t",), **config: Any
    ) -> None:
        self.coordinator = ModuleCoordinator(
            SimpleNamespace(session_id="s", parent_id=None, config={})
        )
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.coordinator.hooks.observe(lambda trace: self.events.append((trace.event, trace.data)))
        if isinstance(script, str):
            config["script"] = script
        elif script is not None:
            file = tmp_path / "script.yaml"
            file.write_text(yaml.safe_dump(script, sort_keys=False))
            config["script"] = str(file)
        self.provider = ScriptedProvider(
            MockSettings.read({"tokens_per_second": 0, **config}), self.coordinator
        )
        self.tools = [ToolSpec(name=name, parameters={}) for name in tools]
        self.rows: list[dict[str, Any]] = []

    def user(self, text: str, **fields: Any) -> "Talk":
        self.rows.append({"role": "user", "content": text, **fields})
        return self

    def result(self, text: str, **metadata: Any) -> "Talk":
        answered = sum(row["role"] == "tool" for row in self.rows)
        calls = [call for row in self.rows for call in row.get("tool_calls", [])]
        row = {"role": "tool", "tool_call_id": calls[answered]["id"], "content": text}
        self.rows.append({**row, "metadata": metadata} if metadata else row)
        return self

    async def next(self) -> ChatResponse:
        messages = [Message.model_validate(row) for row in self.rows]
        response = await self.provider.complete(ChatRequest(messages=messages, tools=self.tools))
        calls = [
            {"id": c.id, "name": c.name, "arguments": c.arguments}
            for c in response.tool_calls or []
        ]
        row: dict[str, Any] = {"role": "assistant", "content": words(response)}
        self.rows.append({**row, "tool_calls": calls} if calls else row)
        return response

    def streamed(self, kind: str) -> str:
        return "".join(
            data["text"]
            for event, data in self.events
            if event == "llm:stream_block_delta" and data["block_type"] == kind
        )


def words(response: ChatResponse) -> str:
    return "\n".join(block.text for block in response.content if block.type == "text")


def one_scenario(**steps: Any) -> dict[str, Any]:
    return {"scenarios": [{"name": "x", "steps": steps}]}
