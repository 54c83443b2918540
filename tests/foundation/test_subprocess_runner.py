import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.subprocess_runner import run_session_in_subprocess
from tests.foundation.helpers import write
from tests.foundation.stacks import STACK, stack

PATHS = {f"fx-{kind}": STACK / kind for kind in ("loop", "context", "provider", "tool")}
TELLER = """
import json, os, sys, amplifier_core

async def mount(coordinator, config):
    folder = coordinator.get_capability("session.working_dir")
    print("noise on the output")
    facts = [os.getcwd(), folder, amplifier_core.__name__, os.environ.get("AMPLIFIER_HOME")]
    config["told"] = json.dumps(facts)
    class Loop:
        async def execute(self, prompt, **more):
            return config["told"]
    await coordinator.mount("orchestrator", Loop())
"""


def plan(**more: Any) -> dict[str, Any]:
    made = stack().to_mount_plan()
    for part in (*made["session"].values(), *made["providers"]):
        del part["source"]
    return {**made, **more}


async def test_a_prompt_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    result = await run_session_in_subprocess(
        plan(), "hello", "parent", tmp_path, "child-1", 60, module_paths=PATHS
    )
    assert result == {
        "output": "echo: hello",
        "session_id": "child-1",
        "status": "success",
        "turn_count": 2,
        "metadata": {"tools": []},
    }


async def test_it_works_in_the_projects_folder_and_imports_nothing_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    write(project / "amplifier_tui" / "__init__.py", "raise SystemExit('the project ran')")
    write(project / "json.py", "raise SystemExit('the project ran')")
    write(tmp_path / "m" / "amplifier_module_fx_loop" / "__init__.py", TELLER)
    result = await run_session_in_subprocess(
        plan(),
        "x",
        project_path=project,
        timeout=60,
        module_paths={**PATHS, "fx-loop": tmp_path / "m"},
    )
    assert json.loads(result["output"]) == [
        *(str(project), str(project), "amplifier_tui.kernel", str(tmp_path / "home")),
    ]


async def test_what_goes_wrong_there_is_said_here() -> None:
    with pytest.raises(RuntimeError, match=r"of its own failed: RuntimeError: the loop failed"):
        await run_session_in_subprocess(plan(), "fail", timeout=60, module_paths=PATHS)
    with pytest.raises(TypeError, match="not JSON serializable"):
        await run_session_in_subprocess(plan(tools=[object()]), "x")


async def test_it_ends_when_its_time_is_up() -> None:
    with pytest.raises(TimeoutError):
        await run_session_in_subprocess(plan(), "wait", timeout=1.0, module_paths=PATHS)
