"""What is published is made, fetched and installed once a run, by whoever needs it first."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from amplifier_tui import compat
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.foundation.workspace import Workspace
from tests.e2e.conftest import machine
from tests.ecosystem.world import SCRIPT, World, bundle_text, publish
from tests.foundation.helpers import write
from tests.once import once_a_run
from tests.trust.conftest import process

__all__ = ["machine", "process"]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The repositories; nothing in a test changes them."""
    with once_a_run(tmp_path_factory, "acme") as (folder, empty):
        sources = folder / "sources.json"
        if not empty:
            return World(folder / "repos", sources=json.loads(sources.read_text()))
        world = publish(folder / "repos")
        script = write(folder / "script.json", json.dumps(SCRIPT))
        write(folder / "grand.md", bundle_text(world, script))
        write(sources, json.dumps(world.sources))
    return world


@pytest.fixture(scope="session")
def installing(world: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which everything that is published can be had, and nothing else."""
    programs = tmp_path_factory.mktemp("programs")
    for program in (shutil.which("git"), Path(sys.executable).with_name("uv")):
        assert program is not None, "git and uv are needed"
        (programs / Path(program).name).symlink_to(program)
    return {
        **world.git_settings,
        "PATH": f"{programs}:/bin",
        "UV_OFFLINE": "1",
        "UV_NO_BUILD_ISOLATION": "1",
        "UV_CACHE_DIR": str(programs.with_name("uv-cache")),
    }


@pytest.fixture(scope="session")
def installed(
    world: World, installing: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An Amplifier home that has the bundle, and in its cache all that it brings."""
    with once_a_run(tmp_path_factory, "installed") as (home, empty), use(installing, home):
        if empty:
            text = (world.folder.parent / "grand.md").read_text()
            write(home / "bundles" / "grand.md", text)
            project = tmp_path_factory.mktemp("somewhere")
            space = Workspace.open(project, environ=dict(os.environ))
            asyncio.run(space.prepare("grand", trust=trust_everything))
    return home


@contextmanager
def use(installing: dict[str, str], home: Path) -> Iterator[None]:
    """Have an Amplifier home, and what is published, in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**installing, "AMPLIFIER_HOME": str(home)}.items():
            patch.setenv(name, value)
        yield


@pytest.fixture
def space(installed: Path, installing: dict[str, str], tmp_path: Path) -> Iterator[Workspace]:
    """A project of somebody who has the bundle installed."""
    home = shutil.copytree(installed, tmp_path / "amplifier", symlinks=True)
    compat.install()
    (tmp_path / "project").mkdir()
    with use(installing, home):
        yield Workspace.open(tmp_path / "project", environ=dict(os.environ))
