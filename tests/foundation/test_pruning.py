"""Old versions of installed modules are removed once nothing needs them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.base.jsonl import write_object
from amplifier_tui.foundation.modules import pruning
from amplifier_tui.foundation.modules.apart import MARKER, ApartFolders
from amplifier_tui.foundation.modules.pruning import KEPT_DAYS, in_use, prune_installed

NOW = 2_000_000_000.0
OLD = KEPT_DAYS + 1
USER = """
import sys
from pathlib import Path
from amplifier_tui.foundation.modules.pruning import in_use
in_use(Path(sys.argv[1])).note(Path(sys.argv[2]))
print("noted", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "_in_use", {})


def installed(cache: Path, name: str, days: float, source: str = "git+https://h/a/x@main") -> Path:
    """A folder that was last used some days ago."""
    folder = ApartFolders(cache).root / name
    folder.mkdir(parents=True)
    facts = {"name": "x", "source": source, "commit": name}
    write_object(folder / MARKER, {"version": 1, **facts, "shared": {}})
    aged(folder, days)
    return folder


def aged(folder: Path, days: float) -> None:
    then = NOW - days * 86_400
    os.utime(folder / MARKER, (then, then))


def left(cache: Path) -> set[str]:
    root = ApartFolders(cache).root
    return {path.name for path in root.iterdir() if path.name != ".in-use"}


def test_only_what_a_newer_one_of_the_same_source_replaced_long_ago_goes(tmp_path: Path) -> None:
    for name, days in (("x-1", 90), ("x-2", OLD), ("x-3", 3), ("x-4", 1)):
        installed(tmp_path, name, days)
    installed(tmp_path, "y-1", 400, "git+https://h/a/y@main")
    (tmp_path / "installed" / "x-1.log").write_text("how it was installed")
    assert prune_installed(tmp_path, NOW) == 2
    assert left(tmp_path) == {"x-3", "x-4", "y-1"}
    assert prune_installed(tmp_path, NOW) == 0


def test_an_older_commit_that_is_used_again_stays_and_the_other_is_the_old_one(
    tmp_path: Path,
) -> None:
    installed(tmp_path, "x-1", 1)
    installed(tmp_path, "x-2", OLD)
    assert prune_installed(tmp_path, NOW) == 1
    assert left(tmp_path) == {"x-1"}


def test_what_is_used_again_while_it_is_looked_for_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = installed(tmp_path, "x-1", OLD)
    installed(tmp_path, "x-2", 1)

    def names(_: object) -> set[str]:
        aged(folder, 0)
        return set()

    monkeypatch.setattr(pruning.FoldersInUse, "names", names)
    assert prune_installed(tmp_path, NOW) == 0
    assert left(tmp_path) == {"x-1", "x-2"}


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", USER, str(tmp_path), str(tmp_path / "installed" / "x-1")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.kill()


def test_what_a_process_has_on_its_path_stays_until_it_ends(
    tmp_path: Path, other_process: "subprocess.Popen[str]"
) -> None:
    theirs, mine, _ = (installed(tmp_path, f"x-{number}", OLD) for number in (1, 2, 3))
    in_use(tmp_path).note(mine)
    assert other_process.stdout is not None
    assert other_process.stdout.readline() == "noted\n"
    for folder in (theirs, mine):
        assert (folder / MARKER).stat().st_mtime != NOW - OLD * 86_400, "its time is that of use"
        aged(folder, OLD + 1)
    assert prune_installed(tmp_path, NOW) == 0
    other_process.kill()
    other_process.wait()
    assert prune_installed(tmp_path, NOW) == 1
    assert left(tmp_path) == {"x-2", "x-3"}


def test_no_more_than_some_are_removed_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_MOST", 2)
    for number in range(5):
        installed(tmp_path, f"x-{number}", OLD + 5 - number)
    assert [prune_installed(tmp_path, NOW) for _ in range(3)] == [2, 2, 0]
    assert left(tmp_path) == {"x-4"}


def test_what_killed_installations_left_goes_after_a_day(tmp_path: Path) -> None:
    for name, age in (("x.1.tmp", 2), ("x.2.tmp", 0)):
        torn = tmp_path / "installed" / name
        torn.mkdir(parents=True)
        os.utime(torn, (NOW - age * 86_400, NOW - age * 86_400))
    prune_installed(tmp_path, NOW)
    assert left(tmp_path) == {"x.2.tmp"}


def test_a_cache_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    assert prune_installed(tmp_path / "nothing", NOW) == 0


def test_a_place_that_cannot_be_written_costs_no_module(tmp_path: Path) -> None:
    folder = installed(tmp_path, "x-1", OLD)
    (tmp_path / "installed" / ".in-use").write_text("a file in its place")
    in_use(tmp_path).note(folder)


def test_what_a_process_that_ended_had_noted_is_forgotten(tmp_path: Path) -> None:
    noted = in_use(tmp_path)
    noted.place.mkdir(parents=True)
    for name in ("1-ended", "1-ended.lock"):
        (noted.place / name).write_text("x-1")
        os.utime(noted.place / name, (NOW - 1e9, NOW - 1e9))
    (noted.place / "2-begins.lock").touch()
    assert noted.names() == set()
    assert [path.name for path in noted.place.iterdir()] == ["2-begins.lock"]
