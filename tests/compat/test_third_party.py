import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel import AmplifierSession
from amplifier_tui.kernel.hooks import HookTrace
from tests.fixtures.modules import (
    KIND_OF,
    THIRD_PARTY,
    aliases,
    copied,
    installed,
    package_of,
)

__all__ = ["aliases"]

PLAN: dict[str, Any] = {
    "session": {"orchestrator": "loop-plain", "context": "context-memory"},
    "providers": [{"module": "provider-echo", "config": {"prefix": "", "failures": 2}}],
    "tools": [{"module": "tool-wordcount"}],
    "hooks": [{"module": "hooks-guard", "config": {"greeting": "Be brief."}}],
}


class Folders:
    # A resolver as an application has one: it knows a folder for each id.
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resolve(self, module_id: str, source_hint: Any = None, profile_hint: Any = None) -> Any:
        return self.folder / f"amplifier-module-{module_id}"


async def opened(
    folder: Path, plan: dict[str, Any] = PLAN
) -> tuple[AmplifierSession, list[HookTrace]]:
    session = AmplifierSession(plan)
    traces: list[HookTrace] = []
    session.coordinator.hooks.observe(traces.append)
    await session.coordinator.mount("module-source-resolver", Folders(folder))
    await session.initialize()
    return session, traces


def failures(traces: list[HookTrace]) -> list[dict[str, Any]]:
    return [trace.data for trace in traces if trace.event == "module:load_failed"]


@pytest.mark.parametrize("module_id", KIND_OF)
def test_they_know_nothing_of_us(module_id: str) -> None:
    for file in (THIRD_PARTY / f"amplifier-module-{module_id}").rglob("*.py"):
        text = file.read_text()
        assert "amplifier_tui" not in text
        assert "amplifier_core" in text


async def test_mounted_from_paths_they_run_a_session(aliases: None) -> None:
    session, traces = await opened(THIRD_PARTY)
    assert failures(traces) == []
    assert session.coordinator.session_state["guard_ready"] is True
    assert await session.execute("hello") == "hello"
    assert await session.execute("count one two three") == '{"words": 3}'
    messages = await session.coordinator.get("context").get_messages()
    roles = [message["role"] for message in messages]
    assert roles == [
        "system",
        "user",
        "assistant",
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert messages[0]["metadata"]["hook_name"] == "guard"
    events = [trace.event for trace in traces]
    assert events.count("tool:pre") == events.count("tool:post") == 1
    requests = [t.data["request_id"] for t in traces if t.event in ("llm:request", "llm:response")]
    assert len(requests) == 6
    assert len(set(requests)) == 3
    declared = await session.coordinator.collect_contributions("observability.events")
    assert declared == [["wordcount:counted"]]
    await session.cleanup()
    assert session.coordinator.hooks.list_handlers("tool:pre") == {"tool:pre": []}


async def test_a_third_partys_denial_stops_the_tool(aliases: None) -> None:
    guard = {"module": "hooks-guard", "config": {"forbidden": ["wordcount"]}}
    session, traces = await opened(THIRD_PARTY, {**PLAN, "hooks": [guard]})
    async with session:
        assert await session.execute("count a b") == "Denied: wordcount is forbidden here"
    assert "tool:post" not in [trace.event for trace in traces]


SCRIPT = """
import asyncio, json, sys
from amplifier_core import AmplifierSession, ModuleCoordinator

async def main():
    failed = []
    session = AmplifierSession(json.loads(sys.argv[1]))
    watch = lambda trace: trace.event.endswith("_failed") and failed.append(trace.data)
    session.coordinator.hooks.observe(watch)
    async with session:
        answer = await session.execute("count one two")
        tool = session.coordinator.get("tools", "wordcount")
    print(json.dumps([answer, failed, type(tool).__module__, type(session).__module__]))

asyncio.run(main())
"""


def test_installed_they_run_a_session_by_their_entry_points(tmp_path: Path) -> None:
    site = installed(tmp_path / "site")
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "amplifier_tui.compat", str(script), json.dumps(PLAN)],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    answer, failed, tool_home, session_home = json.loads(done.stdout)
    assert (answer, failed) == ('{"words": 2}', [])
    assert tool_home == "amplifier_module_tool_wordcount"
    assert session_home.startswith("amplifier_tui.kernel.session")


def test_their_own_tests_pass_on_our_kernel(tmp_path: Path) -> None:
    projects = [copied(module_id, tmp_path) for module_id in KIND_OF]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "amplifier_tui.compat", "-m", "pytest", "-q"),
            *("-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-W", "error"),
            *("-o", "asyncio_default_fixture_loop_scope=function", *map(str, projects)),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, projects))},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "49 passed" in done.stdout


# One way to break each kind that a session survives, and the line it is told.
BROKEN = [
    ("tool-wordcount", "async def execute(self, input", "def execute(self, input", "tool_execute"),
    ("hooks-guard", "self, event: str, data: dict[str, Any]", "self, event", "hook_call"),
    ("provider-echo", "def parse_tool_calls", "def parse", "protocol_compliance"),
]


@pytest.mark.parametrize(("module_id", "old", "new", "check"), BROKEN)
async def test_a_session_survives_a_broken_one_and_says_which_line_it_is(
    module_id: str, old: str, new: str, check: str, aliases: None, tmp_path: Path
) -> None:
    for other in KIND_OF:
        copied(other, tmp_path)
    source = tmp_path / f"amplifier-module-{module_id}" / package_of(module_id) / "__init__.py"
    source.write_text(source.read_text().replace(old, new))
    session, traces = await opened(tmp_path)
    async with session:
        [failure] = failures(traces)
        assert failure["module_type"] == KIND_OF[module_id]
        assert failure["module_id"] == module_id
        assert failure["reason_code"] == "validation_failed"
        assert f"Errors: {check}: " in failure["error"]
        if module_id != "provider-echo":
            assert await session.execute("hello") == "hello"


@pytest.mark.parametrize(
    ("module_id", "old", "title", "check"),
    [
        ("loop-plain", "hooks: HookRegistry,", "orchestrator", "orchestrator_execute"),
        ("context-memory", "async def clear(self)", "context manager", "protocol_compliance"),
    ],
)
async def test_what_a_session_can_not_do_without_is_named_when_it_is_broken(
    module_id: str, old: str, title: str, check: str, aliases: None, tmp_path: Path
) -> None:
    for other in KIND_OF:
        copied(other, tmp_path)
    source = tmp_path / f"amplifier-module-{module_id}" / package_of(module_id) / "__init__.py"
    new = "" if "hooks" in old else "async def clean(self)"
    source.write_text(source.read_text().replace(old, new, 1).replace("**kwargs: Any,", ""))
    with pytest.raises(RuntimeError, match=f"Cannot initialize without {title}: .*{check}: "):
        await opened(tmp_path)
