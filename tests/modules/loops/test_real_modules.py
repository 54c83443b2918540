"""Each loop in a session of real modules: found by their ids, with nothing that stands for one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.kernel.session import AmplifierSession
from tests.modules.loops.conftest import LoopClass
from tests.modules.loops.support import assert_whole

STORY = {
    "scenarios": [
        {
            "name": "work",
            "steps": {
                "look": {
                    "say": "I look first.",
                    "call": [
                        {"read_file": {"file_path": "a.txt"}},
                        {"read_file": {"file_path": "b.txt"}},
                        {"fly": {}},
                    ],
                    "next": "tell",
                },
                "tell": {"say": "Both are read."},
            },
        }
    ]
}


@pytest.mark.parametrize("context", ["context-simple", "context-pipeline"])
async def test_a_turn_with_tools_works_with_real_modules(
    loop: LoopClass, context: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.txt").write_text(f"text of {name}")
    script = tmp_path / "story.yaml"
    script.write_text(yaml.safe_dump(STORY, sort_keys=False))
    plan: dict[str, Any] = {
        "session": {"orchestrator": loop.settings.module, "context": context},
        "providers": [{"module": "provider-mock", "config": {"script": str(script)}}],
        "tools": [{"module": "tool-filesystem"}],
    }
    seen: list[HookTrace] = []
    async with AmplifierSession(plan) as session:
        hooks = session.coordinator.hooks
        hooks.observe(seen.append)

        def deny_b(event: str, data: dict[str, Any]) -> HookResult | None:
            denied = data["tool_input"]["file_path"] == "b.txt"
            return HookResult(action="deny", reason="b is private") if denied else None

        hooks.register("tool:pre", deny_b)
        assert await session.execute("Go") == "Both are read."
        rows = await session.coordinator.get("context").get_messages()
    assert_whole(rows)
    first, second, third = (row["content"] for row in rows if row["role"] == "tool")
    assert "text of a" in first
    assert second.startswith("b is private")
    assert "no tool named 'fly'" in third
    ends = [trace.data for trace in seen if trace.event == "orchestrator:complete"]
    (end,) = [(data["orchestrator"], data["turn_count"], data["status"]) for data in ends]
    assert end == (loop.settings.module, 2, "success")
