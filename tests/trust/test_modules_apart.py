"""Modules that are fetched for a bundle, with real installations: apart from the program's
environment, from other bundles, and from each other.
"""

import asyncio
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.modules import apart
from amplifier_tui.foundation.modules.apart import ApartFolders
from amplifier_tui.foundation.modules.installer import InstallError
from amplifier_tui.foundation.modules.needs import program_versions
from amplifier_tui.foundation.modules.project import SourceCommit, read_project
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.kernel.mounting.discovery import installed_modules, is_built_in
from amplifier_tui.kernel.mounting.packages import search_path
from tests.fixtures.modules import write_distribution
from tests.foundation.helpers import GitRepo, Recorder, allow, write
from tests.foundation.packages import (
    TOOL,
    project_files,
    write_project,
    write_wheel,
)
from tests.foundation.stacks import STACK

SESSION: dict[str, Any] = {
    "session": {
        "orchestrator": {"module": "fx-loop", "source": str(STACK / "loop")},
        "context": {"module": "fx-context", "source": str(STACK / "context")},
    }
}
pytestmark = pytest.mark.usefixtures("process")


def tool(folder: Path, name: str, **options: Any) -> GitRepo:
    return GitRepo.create(folder, tool_files(name, **options))


def tool_files(
    name: str, *, dependency: str = "", requires: str = "", version: str = "1", before: str = ""
) -> dict[str, str]:
    package = f"amplifier_module_tool_{name}"
    dependency = dependency or f"zz_{name}"
    code = TOOL.format(name=name, version=version, dependency=dependency)
    needed = [requires or dependency.replace("_", "-")]
    modules = {f"tool-{name}": f"{package}:mount"}
    named = f"amplifier-module-tool-{name}"
    return project_files(
        named, package, code, requires=needed, version=version, modules=modules, before=before
    )


def bundle(*tools: tuple[str, str], name: str = "b") -> Bundle:
    entries = [{"module": f"tool-{tool}", "source": source} for tool, source in tools]
    return Bundle.from_dict({"bundle": {"name": name}, **SESSION, "tools": entries})


async def said(prepared: PreparedBundle) -> dict[str, str]:
    """What the tools of a session say."""
    async with prepared.create_session() as session:
        tools = session.coordinator.get("tools")
        return {name: (await each.execute({})).output for name, each in tools.items()}


def environment() -> tuple[list[str], str]:
    found = importlib.metadata.distributions(path=search_path.program_path())
    listed = sorted(f"{each.name} {each.version}" for each in found)
    command = [sys.executable, "-m", "pip", "list", "--disable-pip-version-check"]
    return listed, subprocess.run(command, capture_output=True, text=True, check=True).stdout


def folders(home: Path) -> list[Path]:
    return [folder.path for folder in ApartFolders(home / ".amplifier" / "cache").all()]


async def test_a_fetched_module_has_a_folder_of_its_own_and_leaves_the_environment_alone(
    tmp_path: Path, own_home: Path, wheels: Path, either: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, path = environment(), list(sys.path)
    write_wheel(wheels, "zz-one", "1", "WORD = 'hello'")
    source = tool(tmp_path / "repo", "one").uri()
    recorder = Recorder()
    prepared = await bundle(("one", source)).prepare(trust=recorder)
    assert (prepared.activation_failures, prepared.notes) == ({}, [])
    assert await said(prepared) == {"one": "1 hello"}
    assert recorder.actions.count("install") == 1
    (folder,) = folders(own_home)
    assert {"zz_one", "amplifier_module_tool_one"} <= {each.name for each in folder.iterdir()}
    assert sys.path == path, "the folder is on the path while the session is open"
    assert environment() == before
    assert "tool-one" not in installed_modules()
    # Opened again, nothing is asked about installing, and no installer is needed.
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    again = Recorder()
    prepared = await bundle(("one", source)).prepare(trust=again)
    assert prepared.activation_failures == {} and "install" not in again.actions
    assert await said(prepared) == {"one": "1 hello"}


async def test_a_module_of_a_path_runs_from_its_folder_with_what_it_needs_beside(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    before = environment()
    write_wheel(wheels, "zz-two", "1", "WORD = 'hello'")
    place = write_project(tmp_path / "two", tool_files("two"))
    prepared = await bundle(("two", str(place))).prepare(trust=allow)
    assert prepared.resolver.get_module_source("tool-two") == str(place)
    assert await said(prepared) == {"two": "1 hello"}
    (folder,) = folders(own_home)
    assert (folder / "zz_two").is_dir() and not (folder / "amplifier_module_tool_two").exists()
    assert environment() == before
    # A change of the code is no reason to install again, one of the requirements is.
    write(place / "amplifier_module_tool_two" / "more.py", "")
    await bundle(("two", str(place))).prepare(trust=allow)
    assert len(folders(own_home)) == 1
    write_project(place, tool_files("two", requires="zz-two>=1"))
    await bundle(("two", str(place))).prepare(trust=allow)
    assert len(folders(own_home)) == 2


async def test_a_bundles_own_version_of_a_built_in_module_is_that_bundles_alone(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    package = "amplifier_module_provider_openai"
    files = project_files(
        "amplifier-module-provider-openai",
        package,
        "async def mount(coordinator, config=None):\n    raise RuntimeError('the fetched one')\n",
        modules={"provider-openai": f"{package}:mount", "tool-beside": f"{package}:mount"},
    )
    source = GitRepo.create(tmp_path / "repo", files).uri()
    own = Bundle.from_dict(
        {"bundle": {"name": "own"}, "providers": [{"module": "provider-openai", "source": source}]}
    )
    fetched = await own.prepare(trust=allow)
    plain = await Bundle.from_dict(
        {"bundle": {"name": "plain"}, "providers": [{"module": "provider-openai"}]}
    ).prepare(trust=allow)
    leave = fetched.resolver.enter()
    place = fetched.resolver.resolve("provider-openai", source).path
    assert place.is_relative_to(own_home) and (place / package).is_dir()
    # It brings another module along, which is there for its own bundle only.
    assert fetched.resolver.resolve("tool-beside").path == place / package
    for module in ("provider-openai", "tool-beside"):
        with pytest.raises(Exception, match="was not activated"):
            plain.resolver.resolve(module)
    assert is_built_in(installed_modules()["provider-openai"])
    leave()


async def test_a_refused_module_is_not_mounted_from_what_is_installed(
    tmp_path: Path, own_home: Path, wheels: Path
) -> None:
    # As earlier versions left it behind: installed, and in the list of entry points.
    old = tmp_path / "old"
    package = "amplifier_module_tool_three"
    write(old / package / "__init__.py", TOOL.format(name="three", version="0", dependency="os"))
    write_distribution(
        old, "amplifier-module-tool-three", "0", f"[amplifier.modules]\ntool-three={package}:mount"
    )
    sys.path.append(str(old))
    assert "tool-three" in installed_modules()
    source = tool(tmp_path / "repo", "three").uri()
    for refused in ("fetch", "execute", "install"):
        no = ("tool-three", refused)
        prepared = await bundle(("three", source)).prepare(
            trust=lambda request, no=no: (request.subject, request.action) != no
        )
        assert "Not allowed to" in prepared.activation_failures["tool-three"]
        assert await said(prepared) == {}
    assert folders(own_home) == []


async def test_another_commit_is_another_folder_and_one_process_holds_one_of_them(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    write_wheel(wheels, "zz-four", "1", "WORD = 'hello'")
    repo = tool(tmp_path / "repo", "four")
    first = repo.git("rev-parse", "HEAD")
    second = repo.commit(tool_files("four", version="2"))
    assert await said(await bundle(("four", repo.uri(first))).prepare(trust=allow)) == {
        "four": "1 hello"
    }
    prepared = await bundle(("four", repo.uri(second))).prepare(trust=allow)
    reason = prepared.activation_failures["tool-four"]
    assert "amplifier-module-tool-four 1 is loaded already" in reason
    assert "amplifier-tui --resume" in reason
    assert await said(prepared) == {}
    assert len(folders(own_home)) == 2
    # In another process it is the other one.
    code = (
        "import asyncio, sys\nfrom amplifier_tui import compat; compat.install()\n"
        "from tests.trust.test_modules_apart import *\n"
        f"prepared = asyncio.run(bundle(('four', {repo.uri(second)!r})).prepare(trust=allow))\n"
        "print(asyncio.run(said(prepared)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "{'four': '2 hello'}", done.stderr


async def test_a_dependency_that_is_loaded_in_another_version_is_said(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    for version in ("1", "2"):
        write_wheel(wheels, "zz-five", version, f"WORD = 'hello {version}'")
    sources = {
        name: tool(tmp_path / name, name, dependency="zz_five", requires=requires).uri()
        for name, requires in (("five", "zz-five==1"), ("six", "zz-five==2"), ("any", "zz-five"))
    }
    assert await said(await bundle(("five", sources["five"])).prepare(trust=allow)) == {
        "five": "1 hello 1"
    }
    prepared = await bundle(("six", sources["six"]), ("any", sources["any"])).prepare(trust=allow)
    reason = prepared.activation_failures.pop("tool-six")
    assert "has zz-five 2, and zz-five 1 is loaded already" in reason and "--resume" in reason
    # One that can do with the version that is there gets it, and that is said.
    assert prepared.activation_failures == {}
    assert [f"{note.what}: {note.why}" for note in prepared.notes] == [
        "amplifier-module-tool-any: it uses zz-five 1, which is there already, instead of 2"
    ]
    assert await said(prepared) == {"any": "1 hello 1"}


async def test_two_modules_of_one_bundle_that_need_different_versions_are_told_apart(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    for version in ("1", "2"):
        write_wheel(wheels, "zz-seven", version, f"WORD = '{version}'")
    entries = [
        (name, tool(tmp_path / name, name, dependency="zz_seven", requires=requires).uri())
        for name, requires in (("seven", "zz-seven==1"), ("eight", "zz-seven==2"))
    ]
    prepared = await bundle(*entries).prepare(trust=allow)
    assert "Two modules of the bundle need different versions" in (
        prepared.activation_failures.pop("tool-eight")
    )
    assert await said(prepared) == {"seven": "1 1"}


async def test_a_module_cannot_bring_another_version_of_what_the_program_runs_on(
    tmp_path: Path, own_home: Path, wheels: Path, either: str
) -> None:
    pydantic = program_versions()["pydantic"]
    write_wheel(wheels, "pydantic", "1.9", "VERSION = 'old'")
    write_wheel(wheels, "zz-old", "1", "WORD = ''", requires=["pydantic<2"])
    write_wheel(wheels, "pydantic", pydantic, "VERSION = 'same'")
    write_wheel(wheels, "zz-new", "1", "WORD = ''", requires=["pydantic>=2"])
    entries = [
        ("direct", tool(tmp_path / "a", "direct", requires="pydantic<2").uri()),
        ("behind", tool(tmp_path / "b", "behind", requires="zz-old").uri()),
        ("fine", tool(tmp_path / "c", "fine", dependency="zz_new", requires="zz-new").uri()),
    ]
    prepared = await bundle(*entries).prepare(trust=allow)
    failures = prepared.activation_failures
    assert failures.keys() == {"tool-direct", "tool-behind"}
    assert f"this program runs on pydantic {pydantic}" in failures["tool-direct"]
    assert "pydantic" in failures["tool-behind"]
    (folder,) = folders(own_home)
    assert not list(folder.glob("pydantic*")), "the program's own is used"
    assert await said(prepared) == {"fine": "1 "}


async def test_a_folder_is_made_anew_when_the_program_has_other_versions_by_now(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(wheels, "zz-nine", "1", "WORD = ''")
    write_project(tmp_path / "m", tool_files("nine"))
    project = read_project(tmp_path / "m")
    own = ApartFolders(own_home / "cache")
    origin = SourceCommit("git+https://h/m@main", "c" * 40)
    first = await own.obtain(project, origin, build=True)
    assert await own.obtain(project, origin, build=True) == first
    marker = first.path / apart.MARKER
    write(marker, marker.read_text().replace('"shared": {', '"shared": {"click": "0.1"'))
    second = await own.obtain(project, origin, build=True)
    assert second.path == first.path.with_name(first.path.name + "+2") and first.path.is_dir()


@pytest.mark.parametrize("torn", ["{", "[]", '{"version": 9}', '{"version": 1}', ""])
async def test_a_folder_whose_marker_is_spoiled_is_not_used(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None, torn: str
) -> None:
    write_wheel(wheels, "zz-ten", "1", "WORD = ''")
    write_project(tmp_path / "m", tool_files("ten"))
    own, project = ApartFolders(own_home / "cache"), read_project(tmp_path / "m")
    first = await own.obtain(project, SourceCommit("x", "1"), build=False)
    write(first.path / apart.MARKER, torn)
    assert own.find(project, SourceCommit("x", "1"), build=False) is None
    second = await own.obtain(project, SourceCommit("x", "1"), build=False)
    assert second.path != first.path and (second.path / "zz_ten").is_dir()


async def test_two_windows_that_install_the_same_do_it_once(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None, caplog: pytest.LogCaptureFixture
) -> None:
    write_wheel(wheels, "zz-eleven", "1", "WORD = ''")
    builds = tmp_path / "builds"
    before = f"open({str(builds)!r}, 'a').write('x')"
    write_project(tmp_path / "m", tool_files("eleven", before=before))
    project = read_project(tmp_path / "m")
    windows = [ApartFolders(own_home / "cache") for _ in range(3)]
    origin = SourceCommit("x", "1")
    found = await asyncio.gather(*(each.obtain(project, origin, build=True) for each in windows))
    assert len({folder.path for folder in found}) == 1
    # The lock beside it is nothing to warn of.
    assert windows[0].all() == found[:1] and caplog.records == []
    assert builds.read_text() == "x"


async def test_an_installation_that_was_killed_is_started_anew(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    write_wheel(wheels, "zz-twelve", "1", "WORD = ''")
    began, go = tmp_path / "began", tmp_path / "go"
    before = (
        f"import pathlib, time\npathlib.Path({str(began)!r}).touch()\n"
        f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
    )
    write_project(tmp_path / "m", tool_files("twelve", before=before))
    cache = own_home / "cache"
    code = (
        "import asyncio\nfrom pathlib import Path\n"
        "from amplifier_tui.foundation.modules.apart import ApartFolders\n"
        "from amplifier_tui.foundation.modules.project import SourceCommit, read_project\n"
        f"own = ApartFolders(Path({str(cache)!r}))\n"
        f"project = read_project(Path({str(tmp_path / 'm')!r}))\n"
        "asyncio.run(own.obtain(project, SourceCommit('x', '1'), build=True))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + 40
    while not began.exists() and time.monotonic() < until:
        await asyncio.sleep(0.02)
    assert began.exists()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    own, project = ApartFolders(cache), read_project(tmp_path / "m")
    assert own.all() == [] and list(own.root.glob("*.tmp"))
    go.touch()
    folder = await own.obtain(project, SourceCommit("x", "1"), build=True)
    assert (folder.path / "zz_twelve").is_dir()
    assert own.all() == [folder] and not list(own.root.glob("*.tmp"))


async def test_a_build_that_fails_says_why_and_keeps_the_end_of_its_log(
    tmp_path: Path, own_home: Path, wheels: Path, either: str
) -> None:
    before = "print('compiling zz'); raise RuntimeError('no compiler for zz')"
    repo = tool(tmp_path / "repo", "broken", before=before)
    prepared = await bundle(("broken", repo.uri())).prepare(trust=allow)
    reason = prepared.activation_failures["tool-broken"]
    assert "no compiler for zz" in reason
    (log,) = (own_home / ".amplifier" / "cache" / "installed").glob("*.log")
    assert str(log) in reason and "no compiler for zz" in log.read_text()
    assert folders(own_home) == [] and not list(log.parent.glob("*.tmp"))


async def test_a_module_whose_needs_cannot_be_had_is_not_mounted(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    source = tool(tmp_path / "repo", "lost").uri()
    prepared = await bundle(("lost", source)).prepare(trust=allow)
    assert "zz-lost" in prepared.activation_failures["tool-lost"]
    assert await said(prepared) == {} and folders(own_home) == []


async def test_without_an_installer_that_is_said(
    tmp_path: Path, own_home: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(tmp_path / "m", tool_files("bare"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    base = f"{sys.base_prefix}/bin/python3"
    (tmp_path / "empty").mkdir()
    subprocess.run([base, "-m", "venv", "--without-pip", str(tmp_path / "empty")], check=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "empty" / "bin" / "python"))
    own = ApartFolders(own_home / "cache")
    with pytest.raises(InstallError, match="there is neither uv nor pip"):
        await own.obtain(read_project(tmp_path / "m"), SourceCommit("x", "1"), build=True)


async def test_a_full_disk_leaves_nothing_half(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    write_wheel(wheels, "zz-full", "1", "WORD = ''")
    write_project(tmp_path / "m", tool_files("full"))
    own = ApartFolders(own_home / "cache")
    monkeypatch.setattr(apart, "_finish", full)
    with pytest.raises(InstallError, match="No space left on device"):
        await own.obtain(read_project(tmp_path / "m"), SourceCommit("x", "1"), build=True)
    assert own.all() == [] and not list(own.root.glob("*.tmp"))


async def test_settings_may_name_the_built_in_module_in_place_of_a_source(
    tmp_path: Path, own_home: Path
) -> None:
    source = "git+https://h.invalid/t@main"
    home = own_home / ".amplifier"
    tools = f"tools: [{{module: tool-todo, source: '{source}'}}, {{module: tool-bash}}]"
    write(home / "bundles" / "b.md", f"---\nbundle: {{name: b}}\n{tools}\n---\n")
    write(home / "settings.yaml", "sources: {modules: {tool-todo: built-in, tool-bash: built-in}}")
    recorder = Recorder()
    prepared = await Workspace.open(tmp_path).prepare("b", trust=recorder)
    assert (recorder.requests, prepared.activation_failures) == ([], {})
    assert prepared.mount_plan["tools"] == [
        {"module": "tool-todo", "in_place_of": source},
        {"module": "tool-bash"},
    ]


async def test_an_update_makes_a_new_folder_and_leaves_the_old_one(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    write_wheel(wheels, "zz-moving", "1", "WORD = ''")
    repo = tool(tmp_path / "repo", "moving")
    tools = f"tools: [{{module: tool-moving, source: '{repo.uri()}'}}]"
    bundles = own_home / ".amplifier" / "bundles"
    write(bundles / "b.md", f"---\nbundle: {{name: b}}\n{tools}\n---\n")
    workspace = Workspace.open(tmp_path)
    await workspace.prepare("b", trust=allow)
    first = folders(own_home)
    repo.commit(tool_files("moving", version="2"))
    assert folders(own_home) == first
    (row,) = await workspace.update("b", trust=allow)
    assert row.state == "updated"
    assert len(folders(own_home)) == 2 and set(first) < set(folders(own_home))


@pytest.mark.parametrize("kind", ["git", "zip"])
async def test_newer_code_of_a_bundles_own_module_is_used_though_its_version_is_the_same(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None, kind: str
) -> None:
    def files(word: str) -> dict[str, str]:
        code = tool_files("inner", dependency="zz_beside", version=word)
        facts = code["pyproject.toml"].replace(f'version = "{word}"', 'version = "1"')
        code["pyproject.toml"] = f"{facts}[tool.uv.sources]\nzz-beside = {{path = '../beside'}}\n"
        beside = project_files("zz-beside", "zz_beside", f"WORD = 'and {word}'")
        entry = "{module: tool-inner, source: ./inner}"
        return {
            "bundle.md": f"---\nbundle: {{name: outer}}\ntools: [{entry}]\n---\n",
            **{f"inner/{name}": text for name, text in code.items()},
            **{f"beside/{name}": text for name, text in beside.items()},
        }

    def publish(word: str) -> None:
        repo.commit(files(word))
        with zipfile.ZipFile(archive, "w") as packed:
            for name, text in files(word).items():
                packed.writestr(name, text)

    repo, archive = GitRepo.create(tmp_path / "outer", {}), tmp_path / "outer.zip"
    uri = repo.uri() if kind == "git" else f"zip+file://{archive}"
    head = json.dumps({"bundle": {"name": "b"}, "includes": [uri], **SESSION})
    write(own_home / ".amplifier" / "bundles" / "b.md", f"---\n{head}\n---\n")
    workspace = Workspace.open(tmp_path)
    publish("old")
    prepared = await workspace.prepare("b", trust=allow)
    assert prepared.activation_failures == {}
    publish("new")
    await workspace.update("b", trust=allow)
    assert await said(await workspace.prepare("b", trust=allow)) == {"inner": "new and new"}
    # Without a change, nothing is installed again.
    assert len(folders(own_home)) == 2
