"""The host's fixtures, and those of real installations: installers look into one folder alone."""

import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui import compat
from amplifier_tui.kernel.mounting.packages import search_path
from tests.foundation.packages import looking_only_into
from tests.host.conftest import drive, driver, project
from tests.trust.cloning import EVIL, Machine, machine

__all__ = ["drive", "driver", "project"]

UV = Path(sys.executable).with_name("uv")


@pytest.fixture
def process() -> Iterator[None]:
    """What a test loads and puts on the path is gone afterwards."""
    path, modules, finders = list(sys.path), set(sys.modules), list(sys.meta_path)
    compat.install()
    yield
    sys.path[:], sys.meta_path[:] = path, finders
    for name in set(sys.modules) - modules:
        if name.startswith(("zz_", "amplifier_module_", "amplifier_core")):
            del sys.modules[name]
    search_path._path_users.clear()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place installers may look."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name, value in looking_only_into(folder).items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture(params=["pip", "uv"])
def either(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    use(request.param, tmp_path, monkeypatch)
    return str(request.param)


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use("uv", tmp_path, monkeypatch)


def use(installer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    git = shutil.which("git")
    assert git is not None and UV.is_file(), "pip install -e '.[dev]'"
    (programs / "git").symlink_to(git)
    if installer == "uv":
        (programs / "uv").symlink_to(UV)
    monkeypatch.setenv("PATH", f"{programs}:/bin")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))


@pytest.fixture
def at(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    found = machine(own_home, tmp_path)
    # A module of a clone is new to the program, whatever other rows had under its name.
    for name in [name for name in list(sys.modules) if name.startswith("amplifier_module_")]:
        monkeypatch.delitem(sys.modules, name)
    look_up = socket.getaddrinfo

    def loopback(host: str | bytes | None, *more: Any, **options: Any) -> Any:
        return look_up("127.0.0.1" if host in (EVIL, EVIL.encode()) else host, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", loopback)
    yield found
    found.model.stop()
    found.evil.stop()
