import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.foundation.helpers import write
from tests.foundation.packages import project_files, write_project

SCRIPT = """
import asyncio, sys
from pathlib import Path
from amplifier_tui.foundation import load_bundle

async def main():
    bundle = await load_bundle(sys.argv[1])
    prepared = await bundle.prepare(trust=lambda request: True)
    assert not prepared.activation_failures, prepared.activation_failures
    assert not prepared.notes, prepared.notes
    async with prepared.create_session() as session:
        tool = session.coordinator.get("tools", "greet")
        print((await tool.execute({})).output)

asyncio.run(main())
"""

MODULE = """
from amplifier_tui.kernel.models import ToolResult
from zz_greeting import GREETING

__amplifier_module_type__ = "tool"

class Greet:
    name = "greet"
    description = "Greets"
    input_schema = {"type": "object", "properties": {}}

    async def execute(self, input):
        return ToolResult(success=True, output=GREETING)

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Greet(), name="greet")
"""


def test_a_module_with_a_dependency_is_installed_and_mounted_in_a_fresh_environment(
    tmp_path: Path,
) -> None:
    greeting = "GREETING = 'hello from the dependency'\n"
    files = project_files("zz-greeting", "zz_greeting", greeting)
    dependency = write_project(tmp_path / "dep", files)
    named, package = "amplifier-module-tool-greet", "amplifier_module_tool_greet"
    requires = [f"zz-greeting @ {dependency.as_uri()}"]
    files = project_files(named, package, MODULE, requires=requires)
    write_project(tmp_path / "module", files)
    bundle = write(
        tmp_path / "bundle.yaml",
        "bundle: {name: fresh}\n"
        "session: {orchestrator: loop-zz, context: context-zz}\n"
        "tools: [{module: tool-greet, source: ./module}]\n",
    )
    for kind in ("loop", "context"):
        write(
            tmp_path / "plain" / f"amplifier_module_{kind}_zz" / "__init__.py",
            "async def mount(coordinator, config=None):\n"
            f"    await coordinator.mount('{kind.replace('loop', 'orchestrator')}', object())\n",
        )
    python = _environment(tmp_path / "venv", tmp_path / "plain")
    home = tmp_path / "home"
    path = f"{python.parent}:/usr/bin:/bin"
    env = {**os.environ, "PATH": path, "PIP_NO_INDEX": "1", "AMPLIFIER_HOME": str(home)}
    script = write(tmp_path / "run.py", SCRIPT)
    done = subprocess.run(
        [str(python), str(script), str(bundle)],
        env=env,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout.strip() == "hello from the dependency", done.stderr
    assert not list((tmp_path / "venv").rglob("*.dist-info"))
    assert not list(tmp_path.joinpath("module").rglob("*.egg-info"))
    (folder,) = (home / "cache" / "installed").glob("*/amplifier-installed.json")
    assert (folder.parent / "zz_greeting").is_dir()


def _environment(folder: Path, extra: Path) -> Path:
    """A new environment without packages of its own, that sees those of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    here = sysconfig.get_paths()["purelib"]
    checkout = Path(__file__).parents[2]
    write(packages / "outer.pth", f"{here}\n{checkout}\n{extra}\n")
    return folder / "bin" / "python"
