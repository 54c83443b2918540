import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.foundation.helpers import write

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


BACKEND = """
import base64, hashlib, pathlib, zipfile

NAME, PACKAGE, REQUIRES = {name!r}, {package!r}, {requires!r}

def _wheel(folder, files):
    info = f"{{NAME.replace('-', '_')}}-1.dist-info"
    requires = "".join(f"Requires-Dist: {{entry}}\\n" for entry in REQUIRES)
    files = {{
        **files,
        f"{{info}}/METADATA": f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: 1\\n{{requires}}",
        f"{{info}}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    rows = [f"{{path}},," for path in (*files, f"{{info}}/RECORD")]
    files[f"{{info}}/RECORD"] = "\\n".join(rows) + "\\n"
    wheel = f"{{NAME.replace('-', '_')}}-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, wheel), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel

def build_wheel(folder, settings=None, metadata=None):
    init = pathlib.Path(PACKAGE, "__init__.py")
    return _wheel(folder, {{init.as_posix(): init.read_text()}})

def build_editable(folder, settings=None, metadata=None):
    return _wheel(folder, {{f"{{PACKAGE}}.pth": str(pathlib.Path.cwd())}})
"""


def project(folder: Path, name: str, package: str, requires: list[str], code: str) -> Path:
    """A package that builds itself, so that nothing has to be fetched to build it."""
    write(folder / "backend.py", BACKEND.format(name=name, package=package, requires=requires))
    write(
        folder / "pyproject.toml",
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "1"\ndependencies = {json.dumps(requires)}\n',
    )
    write(folder / package / "__init__.py", code)
    return folder


def test_a_module_with_a_dependency_is_installed_and_mounted_in_a_fresh_environment(
    tmp_path: Path,
) -> None:
    greeting = "GREETING = 'hello from the dependency'\n"
    dependency = project(tmp_path / "dep", "zz-greeting", "zz_greeting", [], greeting)
    project(
        tmp_path / "module",
        "amplifier-module-tool-greet",
        "amplifier_module_tool_greet",
        [f"zz-greeting @ {dependency.as_uri()}"],
        MODULE,
    )
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
