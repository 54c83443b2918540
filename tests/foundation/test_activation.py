import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.exceptions import BundleError, TrustRefusedError
from amplifier_tui.foundation.modules import installer
from amplifier_tui.foundation.modules.activator import ModuleActivationError, ModuleActivator
from amplifier_tui.foundation.modules.installer import (
    InstallError,
    InstallStateManager,
    install,
    install_command,
)
from amplifier_tui.foundation.modules.project import Project, read_project
from tests.foundation.helpers import GitRepo, Recorder, allow, write

PROJECT = '[project]\nname = "zz-tool"\nversion = "1"\ndependencies = {deps}\n'


@pytest.fixture(autouse=True)
def own_path() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[Project]:
    done: list[Project] = []

    async def record(project: Project) -> None:
        done.append(project)

    monkeypatch.setattr(installer, "install", record)
    return done


def module(folder: Path, deps: str = "[]") -> Path:
    write(folder / "pyproject.toml", PROJECT.format(deps=deps))
    write(folder / "amplifier_module_tool_zz" / "__init__.py", "")
    return folder


async def test_an_activated_module_is_importable_from_its_folder(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m")
    progress: list[tuple[str, str]] = []
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    path = await modules.activate("tool-zz", str(folder), lambda *event: progress.append(event))
    assert path == folder and sys.path[0] == str(folder)
    assert [project.name for project in installed] == ["zz-tool"]
    assert progress == [("activating", "tool-zz"), ("installing", "zz-tool")]


async def test_relative_sources_start_at_the_base_path(
    tmp_path: Path, installed: list[Project]
) -> None:
    module(tmp_path / "m")
    modules = ModuleActivator(tmp_path / "cache", base_path=tmp_path, trust=allow)
    assert await modules.activate("tool-zz", "./m") == tmp_path / "m"


async def test_nothing_is_installed_or_put_on_the_path_without_trust(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m")
    before = list(sys.path)
    for refuse in ("execute", "install"):
        recorder = Recorder(refuse)
        with pytest.raises(ModuleActivationError, match=f"Not allowed to {refuse} tool-zz"):
            await ModuleActivator(tmp_path / "cache", trust=recorder).activate(
                "tool-zz", str(folder), included_by=("outer",)
            )
        assert recorder.requests[-1].included_by == ("outer",)
        assert recorder.requests[-1].path == folder
    with pytest.raises(ModuleActivationError, match="Not allowed to execute"):
        await ModuleActivator(tmp_path / "cache").activate("tool-zz", str(folder))
    assert (installed, sys.path) == ([], before)


async def test_the_question_names_the_commit_that_was_fetched(
    tmp_path: Path, installed: list[Project]
) -> None:
    module(tmp_path / "m")
    files = {path.name: "" for path in ()}
    repo = GitRepo.create(tmp_path / "repo", {**files, "pyproject.toml": PROJECT.format(deps="[]")})
    recorder = Recorder()
    await ModuleActivator(tmp_path / "cache", trust=recorder).activate("tool-zz", repo.uri())
    assert recorder.actions == ["fetch", "execute", "install"]
    commit = repo.git("rev-parse", "HEAD")
    assert [request.commit for request in recorder.requests] == ["", commit, commit]
    assert "install" in recorder.requests[-1].detail


async def test_a_failure_is_remembered_and_not_tried_again(tmp_path: Path) -> None:
    recorder = Recorder("execute")
    folder = module(tmp_path / "m")
    modules = ModuleActivator(tmp_path / "cache", trust=recorder)
    for _ in range(2):
        with pytest.raises(ModuleActivationError):
            await modules.activate("tool-zz", str(folder))
    assert recorder.actions == ["execute"]


async def test_many_modules_are_activated_and_failures_left_out(
    tmp_path: Path, installed: list[Project], caplog: pytest.LogCaptureFixture
) -> None:
    folder = module(tmp_path / "m")
    entries = [
        {"module": "tool-zz", "source": str(folder)},
        {"module": "gone", "source": str(tmp_path / "gone")},
        {"module": "builtin"},
        {"source": "x"},
        {"module": "tool-zz", "source": str(folder)},
    ]
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    assert await modules.activate_all(entries) == {"tool-zz": folder}
    assert list(modules.failures) == ["gone"] and "File not found" in modules.failures["gone"]
    assert "gone" in caplog.text
    assert len(installed) == 1


async def test_a_strict_activator_names_every_failure(tmp_path: Path) -> None:
    entries = [{"module": name, "source": str(tmp_path / name)} for name in ("one", "two")]
    with pytest.raises(ModuleActivationError, match=r"one: .*two: ") as caught:
        await ModuleActivator(tmp_path, strict=True, trust=allow).activate_all(entries)
    assert set(caught.value.failures) == {"one", "two"}


async def test_installation_can_be_left_out(tmp_path: Path, installed: list[Project]) -> None:
    recorder = Recorder()
    folder = module(tmp_path / "m")
    modules = ModuleActivator(tmp_path / "cache", install_deps=False, trust=recorder)
    await modules.activate("tool-zz", str(folder))
    assert (installed, recorder.actions) == ([], ["execute"])


@pytest.mark.parametrize("transport", ["rust", "wasm", "grpc"])
async def test_a_module_of_another_transport_is_not_installed(
    tmp_path: Path, installed: list[Project], transport: str
) -> None:
    folder = module(tmp_path / "m")
    write(folder / "amplifier.toml", f'[module]\ntransport = "{transport}"\n')
    await ModuleActivator(tmp_path / "cache", trust=allow).activate("tool-zz", str(folder))
    assert installed == []


async def test_an_installed_distribution_is_not_installed_again(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m")
    write(folder / "pyproject.toml", '[project]\nname = "PyYAML"\nversion = "1"\n')
    await ModuleActivator(tmp_path / "cache", trust=allow).activate("tool-zz", str(folder))
    assert installed == []


async def test_requirements_without_a_project_are_installed_once_until_they_change(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = tmp_path / "m"
    write(folder / "requirements.txt", "x\n")
    for _ in range(2):
        modules = ModuleActivator(tmp_path / "cache", trust=allow)
        await modules.activate("tool-zz", str(folder))
        modules.finalize()
    assert len(installed) == 1


async def test_a_folder_that_needs_nothing_is_not_installed(
    tmp_path: Path, installed: list[Project]
) -> None:
    write(tmp_path / "m" / "pyproject.toml", "[tool.ruff]\nline-length = 1\n")
    await ModuleActivator(tmp_path / "cache", trust=allow).activate("m", str(tmp_path / "m"))
    assert installed == []


async def test_a_changed_project_is_installed_again(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m")
    write(folder / "pyproject.toml", '[project]\nname = "PyYAML"\nversion = "1"\n')
    state = InstallStateManager(tmp_path / "cache")
    state.mark_installed(folder)
    state.save()
    await ModuleActivator(tmp_path / "cache", trust=allow).activate("tool-zz", str(folder))
    assert installed == []
    write(folder / "pyproject.toml", '[project]\nname = "PyYAML"\nversion = "2"\n')
    await ModuleActivator(tmp_path / "cache", trust=allow).activate("tool-zz", str(folder))
    assert len(installed) == 1


async def test_a_module_with_all_it_needs_runs_although_its_installation_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(project: Project) -> None:
        raise InstallError("no build backend")

    monkeypatch.setattr(installer, "install", broken)
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    ok = module(tmp_path / "ok", '["PyYAML>=6", "amplifier-core"]')
    assert await modules.activate("tool-zz", str(ok)) == ok
    assert "no build backend" in modules.notes[0]
    needy = module(tmp_path / "needy", '["no-such-distribution-zz"]')
    with pytest.raises(ModuleActivationError, match="no build backend"):
        await modules.activate("other", str(needy))


@pytest.mark.parametrize("text", ["[project", "\x00", "[project]\nname = 5\ndependencies = 'x'\n"])
async def test_a_broken_project_file_is_an_error_or_no_name(
    tmp_path: Path, installed: list[Project], text: str
) -> None:
    write(tmp_path / "m" / "pyproject.toml", text)
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    if "name" in text:
        await modules.activate("m", str(tmp_path / "m"))
        assert installed[0].dependencies == ()
    else:
        with pytest.raises(ModuleActivationError, match=r"pyproject\.toml"):
            await modules.activate("m", str(tmp_path / "m"))


async def test_a_module_that_is_a_single_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.py", "")
    with pytest.raises(ModuleActivationError, match="A module is a folder"):
        await ModuleActivator(tmp_path / "cache", trust=allow).activate("m", str(path))


async def test_two_installations_never_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most = 0, 0

    async def slow(project: Project) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1

    monkeypatch.setattr(installer, "install", slow)
    entries = []
    for name in ("a", "b", "c"):
        write(tmp_path / name / "requirements.txt", name)
        entries.append({"module": name, "source": str(tmp_path / name)})
    await ModuleActivator(tmp_path / "cache", trust=allow).activate_all(entries)
    assert most == 1


async def test_the_package_of_a_bundle_is_installed_and_its_folders_go_on_the_path(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "b")
    for name in ("src", "lib"):
        (folder / name).mkdir()
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    progress: list[tuple[str, str]] = []
    await modules.activate_bundle_package(folder, lambda *event: progress.append(event))
    assert ("installing_package", "zz-tool") in progress
    assert modules.bundle_package_paths == [str(folder / "src"), str(folder / "lib")]
    assert {str(folder / "src"), str(folder / "lib")} <= set(sys.path)
    assert len(installed) == 1
    with pytest.raises(TrustRefusedError):
        await ModuleActivator(tmp_path / "cache").activate_bundle_package(folder)


async def test_a_bundle_that_is_no_package_is_left_alone(
    tmp_path: Path, installed: list[Project]
) -> None:
    write(tmp_path / "b" / "src" / "x.py", "")
    recorder = Recorder()
    modules = ModuleActivator(tmp_path / "cache", trust=recorder)
    await modules.activate_bundle_package(tmp_path / "b")
    write(tmp_path / "b" / "pyproject.toml", "[tool.x]\n")
    await modules.activate_bundle_package(tmp_path / "b")
    assert (installed, recorder.requests, modules.bundle_package_paths) == ([], [], [])


async def test_preparing_activates_bundle_and_agents_and_reports_failures(
    tmp_path: Path, installed: list[Project]
) -> None:
    for name in ("o", "t", "a"):
        module(tmp_path / name)
    bundle = Bundle.from_dict(
        {
            "bundle": {"name": "x"},
            "session": {"orchestrator": {"module": "o", "source": "./o"}, "context": "plain"},
            "tools": [{"module": "t", "source": "./other"}, {"module": "gone", "source": "./gone"}],
            "agents": {"helper": {"tools": [{"module": "a", "source": "./a"}, "bare"]}},
        },
        tmp_path,
    )
    asked: list[tuple[str, str]] = []

    def redirect(module_id: str, source: str) -> str:
        asked.append((module_id, source))
        return str(tmp_path / "t") if module_id == "t" else source

    recorder = Recorder()
    prepared = await bundle.prepare(source_resolver=redirect, trust=recorder)
    assert {name for name, _ in asked} == {"o", "t", "gone", "a"}
    assert prepared.resolver.get_module_source("t") == str(tmp_path / "t")
    assert prepared.resolver.get_module_source("a") == str(tmp_path / "a")
    assert list(prepared.activation_failures) == ["gone"]
    owners = {request.subject: request.included_by for request in recorder.requests}
    assert owners["o"] == ("x",)
    with pytest.raises(BundleError, match="gone"):
        await bundle.prepare(strict=True, trust=allow)


async def test_a_broken_state_file_or_another_python_means_nothing_is_installed(
    tmp_path: Path,
) -> None:
    folder = module(tmp_path / "m")
    state = InstallStateManager(tmp_path)
    assert not state.is_installed(folder)
    state.mark_installed(folder)
    state.save()
    assert InstallStateManager(tmp_path).is_installed(folder)
    file = tmp_path / "install-state.json"
    data = json.loads(file.read_text())
    assert data["python_mtime"] == int(os.lstat(sys.executable).st_mtime)
    for key, value in (("version", 2), ("python", "/other"), ("python_mtime", 1), ("modules", 5)):
        write(file, json.dumps({**data, key: value}))
        assert not InstallStateManager(tmp_path).is_installed(folder)
    write(file, "{")
    assert not InstallStateManager(tmp_path).is_installed(folder)
    write(file, json.dumps(data))
    state = InstallStateManager(tmp_path)
    state.invalidate(folder)
    assert not state.is_installed(folder)
    state.mark_installed(folder)
    state.save()
    state.invalidate()
    assert not state.is_installed(folder)
    state.save()
    assert not InstallStateManager(tmp_path).is_installed(folder)


def test_uv_is_used_where_there_is_one_and_pip_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, name="x", is_package=True)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    command = install_command(project)
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert command[4:6] == ["-e", str(tmp_path)]
    uv = write(tmp_path / "bin" / "uv", "#!/bin/sh\n")
    uv.chmod(0o755)
    command = install_command(project, tmp_path / "o.txt")
    assert command[:5] == [str(uv), "pip", "install", "-e", str(tmp_path)]
    assert {"--no-sources", "--overrides", str(tmp_path / "o.txt"), sys.executable} <= set(command)
    requirements = install_command(Project(tmp_path, requirements=True))
    assert str(tmp_path / "requirements.txt") in requirements


async def test_a_failing_installer_says_why_and_how_to_see_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = write(tmp_path / "bin" / "uv", "#!/bin/sh\necho 'error: no such thing' >&2\nexit 1\n")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/bin")
    with pytest.raises(InstallError, match="no such thing") as caught:
        await install(Project(tmp_path, is_package=True))
    assert "by hand" in caught.value.remedy
    monkeypatch.setattr(installer, "INSTALL_SECONDS", 0.1)
    write(uv, "#!/bin/sh\nexec sleep 600\n")
    with pytest.raises(InstallError, match="took longer"):
        await install(Project(tmp_path, is_package=True))


def test_git_dependencies_that_are_installed_are_not_fetched_again(tmp_path: Path) -> None:
    deps = '["PyYAML @ git+https://h/pyyaml", "nope-zz @ git+https://h/n", "pytest"]'
    project = read_project(module(tmp_path / "m", deps))
    (override,) = project.git_overrides()
    assert override.startswith("PyYAML==")
    assert project.missing_dependencies() == ["nope-zz"]


async def test_every_kind_of_module_with_a_source_is_activated_and_knows_who_asked(
    tmp_path: Path, installed: list[Project]
) -> None:
    kinds = ("orchestrator", "context", "providers", "tools", "hooks")
    for owner in ("own", "agent"):
        for kind in kinds:
            (tmp_path / f"{owner}-{kind}").mkdir()

    def parts(owner: str) -> dict[str, Any]:
        def entry(kind: str) -> dict[str, str]:
            return {"module": f"{owner}-{kind}", "source": f"./{owner}-{kind}"}

        session = {kind: entry(kind) for kind in kinds[:2]}
        return {"session": session, **{kind: [entry(kind)] for kind in kinds[2:]}}

    agents = {"helper": {**with_absolute(parts("agent"), tmp_path), "name": "helper"}}
    inner = Bundle.from_dict({"bundle": {"name": "inner"}, **parts("own")}, tmp_path)
    outer = Bundle.from_dict({"bundle": {"name": "outer"}, "agents": agents}, tmp_path)
    recorder = Recorder()
    prepared = await inner.compose(outer).prepare(trust=recorder)
    assert prepared.activation_failures == {}
    asked = {request.subject: request.included_by for request in recorder.requests}
    assert asked == {
        **{f"own-{kind}": ("inner",) for kind in kinds},
        **{f"agent-{kind}": ("outer",) for kind in kinds},
    }


async def test_entries_without_a_usable_source_are_left_to_what_is_installed(
    tmp_path: Path, installed: list[Project]
) -> None:
    tools = [{"module": "a"}, {"module": "b", "source": None}, {"module": "c", "source": ""}]
    bundle = Bundle(name="x", tools=[*tools, {"module": "d", "source": 5}], base_path=tmp_path)
    recorder = Recorder()
    prepared = await bundle.prepare(trust=recorder)
    assert (recorder.requests, prepared.activation_failures) == ([], {})


def with_absolute(parts: dict[str, Any], folder: Path) -> dict[str, Any]:
    """As an agent's file does it: sources are found next to the file."""
    session = {
        kind: {**entry, "source": str(folder / entry["source"])}
        for kind, entry in parts["session"].items()
    }
    return {**parts, "session": session}
