"""What `module validate` says of what fails beside the trial: cleanups and background tasks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.kernel.mounting import mount
from tests.cli.test_module_validate import MOUNT, Capture, report, source_of
from tests.fixtures.modules import aliases, copied, package_of

__all__ = ["aliases"]

pytestmark = pytest.mark.usefixtures("aliases")


@pytest.mark.parametrize(
    ("line", "check", "message"),
    [
        ("coordinator.register_cleanup(fails)", "cleanup", "The cleanup failed"),
        ("coordinator.register_cleanup(lambda: fails())", "cleanup", "The cleanup failed"),
        ("asyncio.create_task(fails())", "background_task", "A background task failed"),
        ("coordinator.kept = asyncio.create_task(fails())", "background_task", "A background task"),
    ],
)
def test_what_fails_beside_the_trial_is_a_warning_with_its_line_and_nothing_stands_above_it(
    line: str, check: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    fails = "\n\nimport asyncio\n\n\nasync def fails():\n    raise OSError('gone')\n"
    source.write_text(source.read_text().replace(f"{MOUNT}):", f"{MOUNT}):\n    {line}") + fails)
    status = run(["module", "validate", "--json", str(source.parent.parent)])
    out, err = capsys.readouterr()
    (found,) = [each for each in json.loads(out)["checks"] if not each["passed"]]
    assert (status, err, found["name"], found["severity"]) == (0, "", check, "warning")
    assert found["message"].startswith(message) and found["message"].endswith(": OSError: gone")
    assert found["where"] == f"{source}:{len(source.read_text().splitlines())}"
    assert found["remedy"]
    assert run(["module", "validate", "--strict", str(source.parent.parent)]) == 1


def test_a_task_whose_error_the_module_takes_is_no_mistake(tmp_path: Path, capsys: Capture) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    takes = "await asyncio.gather(asyncio.create_task(fails()), return_exceptions=True)"
    fails = "\n\nimport asyncio\n\n\nasync def fails():\n    raise OSError('gone')\n"
    source.write_text(source.read_text().replace(f"{MOUNT}):", f"{MOUNT}):\n    {takes}") + fails)
    _, found = report(capsys, str(source.parent.parent))
    assert all(each["passed"] for each in found["checks"])


@pytest.mark.parametrize(
    ("module_id", "function", "line", "check", "said"),
    [
        ("context-memory", "add_message", "raise SystemExit(0)", "context_keeps", "(exit 0)"),
        ("tool-wordcount", "mount", "asyncio.create_task(exits())", "background_task", "Exit: 0"),
    ],
)
def test_a_module_that_ends_the_program_in_a_trial_or_beside_it_is_warned_of_with_its_line(
    module_id: str,
    function: str,
    line: str,
    check: str,
    said: str,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    source = source_of(copied(module_id, tmp_path), module_id)
    inside = re.sub(
        rf"( *)async def {function}\(.*:\n", rf"\g<0>\1    {line}\n", source.read_text()
    )
    source.write_text(
        f"{inside}\n\nimport asyncio\n\n\nasync def exits():\n    raise SystemExit(0)\n"
    )
    status, found = report(capsys, str(source.parent.parent))
    (failed,) = [each for each in found["checks"] if not each["passed"]]
    assert (status, failed["name"], failed["severity"]) == (0, check, "warning")
    assert failed["message"].endswith(said) and failed["remedy"]
    file, _, at = failed["where"].partition(":")
    assert file == str(source)
    assert source.read_text().splitlines()[int(at) - 1].endswith("raise SystemExit(0)")


def test_a_module_without_mount_is_not_told_to_write_the_entry_point_that_is_there(
    tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    source = project / package_of("tool-wordcount") / "__init__.py"
    source.write_text(source.read_text().replace("async def mount(", "async def mounts("))
    assert run(["module", "validate", "--json", str(project)]) == 1
    failed = [row for row in json.loads(capsys.readouterr().out)["checks"] if not row["passed"]]
    assert [row["name"] for row in failed] == ["mount_exists", "entry_point"]
    assert failed[0]["remedy"].startswith("Define it as: async def mount(")
    assert failed[1]["remedy"] == "pyproject.toml is right about it: define mount() in that package"


@pytest.mark.parametrize(
    ("where", "line", "check", "said"),
    [
        ("import", "while True: pass", "module_importable", "The import did not end within 0.1 s"),
        ("mount", "time.sleep(1000)", "protocol_compliance", "mount() did not end within 0.1 s"),
        ("cleanup", "time.sleep(1000)", "cleanup", "The cleanup did not end within 0.1 s"),
    ],
)
def test_a_module_that_lets_nothing_else_run_fails_with_the_line_where_it_stands(
    where: str,
    line: str,
    check: str,
    said: str,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mount, "MOUNT_SECONDS", 0.1)
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    text = source.read_text()
    if where == "mount":
        text = text.replace(f"{MOUNT}):", f"{MOUNT}):\n    stands()")
    elif where == "cleanup":
        text = text.replace(f"{MOUNT}):", f"{MOUNT}):\n    coordinator.register_cleanup(stands)")
    text += f"\n\nimport time\n\n\ndef stands():\n    {line}\n"
    at = len(text.splitlines())
    source.write_text(text + ("\n\nstands()\n" if where == "import" else ""))
    status, found = report(capsys, str(source.parent.parent))
    failed = next(each for each in found["checks"] if not each["passed"])
    assert (status, failed["name"]) == (1, check)
    assert failed["message"].startswith(said)
    assert failed["where"] == f"{source}:{at}"


def test_a_module_that_swallows_what_ends_it_ends_the_program_which_says_where(
    tmp_path: Path,
) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    stands = "while True:\n        try: time.sleep(1000)\n        except BaseException: pass"
    text = source.read_text().replace(f"{MOUNT}):", f"{MOUNT}):\n    import time\n    {stands}")
    source.write_text(text)
    script = (
        "import sys; from amplifier_tui.cli.group import run; from amplifier_tui.cli.module import "
        "validate; from amplifier_tui.kernel.mounting import mount; mount.MOUNT_SECONDS = 0.1; "
        "sys.modules['amplifier_tui.cli.module.validate'].LAST_RESORT = 2; "
        f"run(['module', 'validate', {str(source.parent.parent)!r}])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 1
    line = next(at for at, line in enumerate(text.splitlines(), 1) if "time.sleep" in line)
    assert f'File "{source}", line {line} in mount' in ended.stderr
