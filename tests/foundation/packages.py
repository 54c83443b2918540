"""Packages that tests build themselves, so that nothing has to be fetched to build or install."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.foundation.helpers import write

BACKEND = """
import pathlib, tomllib, zipfile

PROJECT = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
FACTS, OWN = PROJECT["project"], PROJECT["tool"]["own"]
STEM = f"{FACTS['name'].replace('-', '_')}-{FACTS['version']}"

def _wheel(folder, files):
    info = f"{STEM}.dist-info"
    requires = "".join(f"Requires-Dist: {entry}\\n" for entry in FACTS["dependencies"])
    head = f"Metadata-Version: 2.1\\nName: {FACTS['name']}\\nVersion: {FACTS['version']}\\n"
    points = FACTS.get("entry-points", {}).get("amplifier.modules", {})
    files = {
        **files,
        f"{info}/METADATA": head + requires,
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        f"{info}/entry_points.txt": "[amplifier.modules]\\n"
        + "".join(f"{name} = {value}\\n" for name, value in points.items()),
    }
    rows = [f"{path},," for path in (*files, f"{info}/RECORD")]
    files[f"{info}/RECORD"] = "\\n".join(rows) + "\\n"
    wheel = f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, wheel), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel

def build_wheel(folder, settings=None, metadata=None):
    exec(OWN["before"])
    init = pathlib.Path(OWN["package"], "__init__.py")
    return _wheel(folder, {init.as_posix(): init.read_text()})

def build_editable(folder, settings=None, metadata=None):
    return _wheel(folder, {f"{OWN['package']}.pth": str(pathlib.Path.cwd())})
"""


def project_files(
    name: str,
    package: str,
    code: str,
    *,
    requires: Sequence[str] = (),
    version: str = "1",
    modules: dict[str, str] | None = None,
    before: str = "",
) -> dict[str, str]:
    """The files of a package that builds itself; `before` is run by its build."""
    points = "".join(f"{key} = {json.dumps(value)}\n" for key, value in (modules or {}).items())
    return {
        "backend.py": BACKEND,
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
        f'backend-path = ["."]\n[project]\nname = "{name}"\nversion = "{version}"\n'
        f"dependencies = {json.dumps(list(requires))}\n"
        f'[project.entry-points."amplifier.modules"]\n{points}'
        f"[tool.own]\npackage = {json.dumps(package)}\nbefore = {json.dumps(before)}\n",
        f"{package}/__init__.py": code,
    }


def write_project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        write(folder / name, text)
    return folder


def write_wheel(
    folder: Path, name: str, version: str, code: str, *, requires: Sequence[str] = ()
) -> Path:
    """A wheel with one package, in a folder that `--find-links` can be given."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files = {
        f"{name.replace('-', '_')}/__init__.py": code,
        f"{info}/METADATA": head + "".join(f"Requires-Dist: {each}\n" for each in requires),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},," for path in (*files, f"{info}/RECORD")]
    files[f"{info}/RECORD"] = "\n".join(rows) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in files.items():
            archive.writestr(each, text)
    return path


TOOL = """
from {dependency} import WORD
from amplifier_core.models import ToolResult

__amplifier_module_type__ = "tool"

class Speak:
    name = "{name}"
    description = "Says it"
    input_schema = {{"type": "object", "properties": {{}}}}

    async def execute(self, input):
        return ToolResult(success=True, output="{version} " + WORD)

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Speak(), name="{name}")
"""
"""Code of a tool module that says a word of what it depends on."""


def looking_only_into(wheels: Path) -> dict[str, str]:
    """The variables with which pip and uv ask no index, and find what lies in a folder."""
    # uv has no variable for `--no-index`.
    settings = write(
        wheels.parent / "uv.toml",
        f"[pip]\nno-index = true\nfind-links = [{json.dumps(str(wheels))}]\n",
    )
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "UV_CONFIG_FILE": str(settings),
    }
