"""A file of settings, keys or trust that is none: the start goes on, and says path and remedy."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.files import FileTooLargeError, NotRegularFileError, read_regular
from amplifier_tui.foundation.bundle.loading import read_bundle_file
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.project import read_project
from amplifier_tui.foundation.settings.keys import set_key
from amplifier_tui.foundation.settings.settings import SettingsProblem
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.trust.answers import TrustFile
from amplifier_tui.kernel.mounting.packages.finding import declared_modules

pytestmark = pytest.mark.timeout(20)


KINDS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link to a pipe": lambda path: (
        os.mkfifo(path.with_name("pipe")),
        path.symlink_to(path.with_name("pipe")),
    ),
    "link in a circle": lambda path: path.symlink_to(path),
    "folder": Path.mkdir,
    "binary": lambda path: path.write_bytes(os.urandom(2_000) + b"\xff\xfe\0"),
    "torn": lambda path: path.write_bytes(b'{"a": [1, "caf\xc3'),
    "huge": lambda path: path.open("wb").truncate(100_000_000),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def made(path: Path, kind: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    KINDS[kind](path)
    return path


@every_kind
@pytest.mark.parametrize(
    "name",
    [
        "home/settings.yaml",
        "home/keys.env",
        "project/.amplifier/settings.yaml",
        "project/.amplifier/settings.local.yaml",
        "project/.amplifier/bundle.lock",
    ],
)
def test_the_start_does_not_wait_and_says_which_file_and_what_to_do(
    tmp_path: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    path = made(tmp_path / name, kind)
    workspace = Workspace.open(tmp_path / "project", environ={})
    about = [problem for problem in workspace.problems if problem.path == path]
    assert about, "nothing was said"
    assert all(len(problem.message) < 500 for problem in about)
    assert any(_helps(problem) for problem in about), about


def _helps(problem: SettingsProblem) -> bool:
    return any(word in str(problem) for word in ("remove it", "ignored", "Put ", "Expected"))


@every_kind
def test_a_key_is_not_written_through_what_is_no_file(tmp_path: Path, kind: str) -> None:
    made(tmp_path / "keys.env", kind)
    with pytest.raises((OSError, UnicodeDecodeError)):
        set_key(tmp_path, "A_KEY", "value")


def test_a_key_with_a_zero_byte_is_said_and_the_others_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path))
    (tmp_path / "keys.env").write_bytes(b'TORN_KEY="abc\0def"\nGOOD_KEY="abc"\n')
    (tmp_path / "keys.env").chmod(0o600)
    workspace = Workspace.open(tmp_path)
    assert os.environ.pop("GOOD_KEY") == "abc"
    assert [problem.line for problem in workspace.problems] == [1]
    assert "abc" not in workspace.problems[0].message


@every_kind
def test_answers_of_trust_that_can_not_be_read_trust_nothing(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = made(tmp_path / "trust.json", kind)
    file = TrustFile(path)
    assert file.answer("0" * 64) is None and file.owners == () and file.folders == ()
    assert str(path) in file.notice() and "Remove it" in file.notice()
    assert str(path) in caplog.text


@every_kind
def test_a_bundle_that_is_no_file_is_an_error_and_no_wait(tmp_path: Path, kind: str) -> None:
    path = made(tmp_path / "x.md", kind)
    with pytest.raises(BundleError) as caught:
        read_bundle_file(path)
    assert str(path) in str(caught.value)


@every_kind
@pytest.mark.parametrize("name", ["pyproject.toml", "amplifier.toml"])
def test_a_package_that_is_no_file_is_no_wait(tmp_path: Path, name: str, kind: str) -> None:
    made(tmp_path / name, kind)
    project = read_project(tmp_path)
    assert bool(project.problem) is (name == "pyproject.toml")
    assert declared_modules(tmp_path) == {} and project.transport == "python"


def test_a_package_that_is_nested_too_deeply_is_a_problem_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"x = {'[' * 100_000}{']' * 100_000}")
    assert read_project(tmp_path).problem


def test_only_a_file_is_read_and_only_so_much_of_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(FileTooLargeError, match="larger than 4 bytes"):
        read_regular(path, 4)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegularFileError):
        read_regular(tmp_path / "pipe")
