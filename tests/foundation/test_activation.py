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
from amplifier_tui.foundation.modules.activator import (
    INSTALLERS,
    ModuleActivationError,
    ModuleActivator,
)
from amplifier_tui.foundation.modules.apart import ApartFolder, ApartFolders
from amplifier_tui.foundation.modules.install_state import InstallStateManager
from amplifier_tui.foundation.modules.installer import InstallError, install, install_command
from amplifier_tui.foundation.modules.needs import needs_of, program_versions
from amplifier_tui.foundation.modules.project import Project, SourceCommit
from tests.foundation.helpers import GitRepo, Recorder, allow, write

PROJECT = '[project]\nname = "zz-tool"\nversion = "1"\ndependencies = {deps}\n'


@pytest.fixture(autouse=True)
def own_path() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Project]:
    done: list[Project] = []
    folder = tmp_path / "apart"

    async def record(
        self: ApartFolders, project: Project, origin: SourceCommit, *, build: bool
    ) -> ApartFolder:
        folder.mkdir(exist_ok=True)
        done.append(project)
        return ApartFolder(folder)

    monkeypatch.setattr(ApartFolders, "obtain", record)
    return done


NEEDY = '["no-such-distribution-zz"]'


def module(folder: Path, deps: str = "[]") -> Path:
    write(folder / "pyproject.toml", PROJECT.format(deps=deps))
    write(folder / "amplifier_module_tool_zz" / "__init__.py", "")
    return folder


async def test_an_activated_module_is_importable_from_its_folder(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m", NEEDY)
    progress: list[tuple[str, str]] = []
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    path = await modules.activate("tool-zz", str(folder), lambda *event: progress.append(event))
    assert path == folder
    assert {str(folder), str(tmp_path / "apart")} <= set(sys.path)
    assert [project.name for project in installed] == ["zz-tool"]
    assert progress == [("activating", "tool-zz"), ("installing", "zz-tool")]


async def test_what_sessions_enter_is_on_the_path_until_the_last_one_left(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m")
    modules = ModuleActivator(tmp_path / "cache", trust=allow, put_on_path=False)
    early = modules.enter()
    await modules.activate("tool-zz", str(folder))
    late = modules.enter()
    assert sys.path.count(str(folder)) == 1
    early()
    early()
    assert str(folder) in sys.path
    late()
    assert str(folder) not in sys.path


async def test_relative_sources_start_at_the_base_path(
    tmp_path: Path, installed: list[Project]
) -> None:
    module(tmp_path / "m")
    modules = ModuleActivator(tmp_path / "cache", base_path=tmp_path, trust=allow)
    assert await modules.activate("tool-zz", "./m") == tmp_path / "m"


async def test_nothing_is_installed_or_put_on_the_path_without_trust(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m", NEEDY)
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
    assert recorder.requests[-1].detail == "zz-tool: into a folder of their own"


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
    folder = module(tmp_path / "m", NEEDY)
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
    with pytest.raises(ModuleActivationError, match=r"strict mode.*one: .*two: ") as caught:
        await ModuleActivator(tmp_path, strict=True, trust=allow).activate_all(entries)
    assert set(caught.value.failures) == {"one", "two"}


async def test_installation_can_be_left_out(tmp_path: Path, installed: list[Project]) -> None:
    recorder = Recorder()
    folder = module(tmp_path / "m", NEEDY)
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


async def test_what_the_program_has_is_not_installed_again(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "m", '["PyYAML>=6", "amplifier-core @ git+https://h/x"]')
    await ModuleActivator(tmp_path / "cache", trust=allow).activate("tool-zz", str(folder))
    assert installed == []


async def test_a_folder_that_needs_nothing_is_not_installed(
    tmp_path: Path, installed: list[Project]
) -> None:
    write(tmp_path / "m" / "pyproject.toml", "[tool.ruff]\nline-length = 1\n")
    await ModuleActivator(tmp_path / "cache", trust=allow).activate("m", str(tmp_path / "m"))
    assert installed == []


async def test_a_module_with_all_it_needs_runs_although_it_could_not_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*args: object, **options: object) -> ApartFolder:
        raise InstallError("no build backend")

    monkeypatch.setattr(ApartFolders, "obtain", broken)
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    deps = '["PyYAML>=6", "amplifier-core"]'
    ok = GitRepo.create(tmp_path / "ok", {"pyproject.toml": PROJECT.format(deps=deps)})
    path = await modules.activate("tool-zz", ok.uri())
    assert path.parent == tmp_path / "cache"
    assert "no build backend" in modules.notes[0].why
    needy = GitRepo.create(tmp_path / "needy", {"pyproject.toml": PROJECT.format(deps=NEEDY)})
    with pytest.raises(ModuleActivationError, match="no build backend"):
        await modules.activate("other", needy.uri())


@pytest.mark.parametrize("text", ["[project", "\x00", "[project]\nname = 5\ndependencies = 'x'\n"])
async def test_a_broken_project_file_is_an_error_or_no_name(
    tmp_path: Path, installed: list[Project], text: str
) -> None:
    write(tmp_path / "m" / "pyproject.toml", text)
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    if "name" in text:
        await modules.activate("m", str(tmp_path / "m"))
        assert installed == []
    else:
        with pytest.raises(ModuleActivationError, match=r"pyproject\.toml"):
            await modules.activate("m", str(tmp_path / "m"))


async def test_a_module_that_is_a_single_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.py", "")
    with pytest.raises(ModuleActivationError, match="A module is a folder"):
        await ModuleActivator(tmp_path / "cache", trust=allow).activate("m", str(path))


async def test_only_a_few_installations_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most = 0, 0

    async def slow(*args: object, **options: object) -> ApartFolder:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return ApartFolder(tmp_path)

    monkeypatch.setattr(ApartFolders, "obtain", slow)
    entries = []
    for name in "abcdefgh":
        write(tmp_path / name / "requirements.txt", name)
        entries.append({"module": name, "source": str(tmp_path / name)})
    await ModuleActivator(tmp_path / "cache", trust=allow).activate_all(entries)
    assert most == INSTALLERS


async def test_the_package_of_a_bundle_is_installed_and_its_folders_go_on_the_path(
    tmp_path: Path, installed: list[Project]
) -> None:
    folder = module(tmp_path / "b", NEEDY)
    for name in ("src", "lib"):
        (folder / name).mkdir()
    modules = ModuleActivator(tmp_path / "cache", trust=allow)
    progress: list[tuple[str, str]] = []
    await modules.activate_bundle_package(folder, lambda *event: progress.append(event))
    assert ("installing", "zz-tool") in progress
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
    target = tmp_path / "target"
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    command = install_command(["x"], target)
    assert command[:5] == [sys.executable, "-P", "-m", "pip", "install"]
    assert command[5:9] == ["--target", str(target), "x", "--no-deps"]
    uv = write(tmp_path / "bin" / "uv", "#!/bin/sh\n")
    uv.chmod(0o755)
    command = install_command(["-r", "r.txt"], target, constraints=tmp_path / "c.txt")
    assert command[:6] == [str(uv), "pip", "install", "--target", str(target), "-r"]
    assert {"--no-sources", "--constraint", str(tmp_path / "c.txt"), sys.executable} <= set(command)
    assert "--refresh-package" in install_command(["x"], target, fresh="x")
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert "--refresh-package" not in install_command(["x"], target, fresh="x")


async def test_a_failing_installer_says_why_and_where_to_see_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write(tmp_path / "x", "#!/bin/sh\necho 'error: no such thing' >&2\nexit 1\n")
    program.chmod(0o755)
    log = tmp_path / "x.log"
    with pytest.raises(InstallError, match="no such thing") as caught:
        await install([str(program)], "zz", tmp_path, log)
    assert str(log) in caught.value.remedy and "no such thing" in log.read_text()
    with pytest.raises(InstallError, match="Cannot run"):
        await install([str(tmp_path / "none")], "zz", tmp_path, log)
    monkeypatch.setattr(installer, "INSTALL_SECONDS", 0.1)
    write(program, "#!/bin/sh\nexec sleep 600\n")
    with pytest.raises(InstallError, match="took longer"):
        await install([str(program)], "zz", tmp_path, log)


def test_what_a_module_needs_is_compared_with_what_the_program_has() -> None:
    own = program_versions()["pyyaml"]
    needs = needs_of(
        [
            "PyYAML @ git+https://h/pyyaml",
            "nope-zz @ git+https://h/n",
            "pytest",
            "amplifier-foundation",
            "old-zz; python_version < '3'",
            "extra-zz; extra == 'x'",
            "pydantic<2",
            "not a requirement",
        ]
    )
    assert needs.missing == ("nope-zz @ git+https://h/n", "not a requirement")
    assert dict(needs.shared).keys() == {"pyyaml", "pytest"} and ("pyyaml", own) in needs.shared
    (line,) = needs.impossible
    assert line.startswith("it needs pydantic<2, and this program runs on pydantic 2")


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
