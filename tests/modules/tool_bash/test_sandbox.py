"""Commands that no person approved one by one run where they can touch little."""

import asyncio
import os
import platform
import shutil
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.commands import sandbox
from amplifier_tui.base.commands.sandbox import sandbox_problem
from amplifier_tui.base.files.scratch import ScratchFolder
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, Grant, SandboxTerms
from amplifier_tui.modules.tool_bash import confining
from amplifier_tui.modules.tool_bash.jobs import JOBS
from amplifier_tui.modules.tool_bash.sandbox import made
from tests.modules.tool_bash.confined import BY_RULE, READING, result, run, shell
from tests.modules.tool_bash.support import Shell, alive, gone
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["shell"]

pytestmark = needs_sandbox


async def test_the_workspace_can_be_written_and_nothing_beside_it(shell: Shell) -> None:
    outside = shell.root.parent / "outside"
    output = await run(shell, f"echo a > inside; echo b > {outside}; echo c > ~/amplifier-tui-x")
    assert (shell.root / "inside").read_text() == "a\n"
    assert not outside.exists()
    assert not Path("~/amplifier-tui-x").expanduser().exists()
    assert "Read-only file system" in output or "No such file" in output


async def test_a_command_makes_no_namespaces_of_its_own(shell: Shell) -> None:
    """With mounts of its own it could put a file where another is mounted read-only, for all."""
    output = await run(shell, "unshare --user --map-root-user --mount true && echo made")
    assert "unshare failed" in output and "\nmade" not in output and not output.startswith("made")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="calls have other numbers")
async def test_the_keyrings_of_the_login_session_are_out_of_reach(shell: Shell) -> None:
    asked = "import ctypes; print('id', ctypes.CDLL(None).syscall(250, 0, -3, 0))"
    assert (await run(shell, f'python3 -c "{asked}"')).startswith("id -1\n")


async def test_a_failure_says_what_the_sandbox_kept_it_from(shell: Shell) -> None:
    output = await run(shell, "touch /etc/amplifier-tui-x")
    assert "ran in a sandbox" in output
    assert "outside_sandbox" in output


async def test_a_command_that_only_reads_can_write_nowhere_in_the_workspace(shell: Shell) -> None:
    (shell.root / "there").write_text("as it was")
    await run(shell, "echo changed > there; echo new > made", READING)
    assert (shell.root / "there").read_text() == "as it was"
    assert not (shell.root / "made").exists()


async def test_a_command_that_only_reads_comes_across_no_keys(shell: Shell) -> None:
    setup = (
        "git init -q . && mkdir -p sub/.aws && echo needle | tee .env .env.example sub/id_rsa "
        "sub/.aws/credentials plain && git add -f . && git config user.email a@b && "
        "git config user.name a && git commit -qm first"
    )
    assert "exit code 0" in await run(shell, setup, None)
    found = await run(shell, "grep -r needle . --exclude-dir=.git", READING)
    assert "./plain:needle" in found and ".env:" not in found and "sub/" not in found
    # A template of keys holds none.
    assert "./.env.example:needle" in found
    sized = "[ -s .env ] && stat -c %s .env"
    assert (await run(shell, sized, READING)).startswith("7\n")
    # To git nothing has changed, and tests may need what is there.
    assert (await run(shell, "git status --short", READING)).startswith("[exit code 0")
    assert "needle" in await run(shell, "cat .env", BY_RULE)
    assert "needle" in await run(shell, "cat .env", Grant("person", reading=True))


async def test_the_scratch_folder_lasts_from_call_to_call_and_not_longer(shell: Shell) -> None:
    await run(shell, "echo kept > /tmp/note; echo more > $TMPDIR/other", READING)
    assert "kept\nmore" in await run(shell, "cat /tmp/note /tmp/other")
    assert not Path("/tmp/note").exists()
    scratch = shell.tool._confining._scratch
    assert scratch is not None and scratch.path.exists()
    await shell.close()
    assert not scratch.path.exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo > /tmp/note; ls /tmp/note", "/tmp/note is in the sandbox's own /tmp"),
        ("N=note; echo > /tmp/$N && echo Written to /tmp/$N", "/tmp/note is in the"),
        ("N=note; echo > /tmp/$N", ""),
        ("echo > /tmp/note && rm /tmp/note", ""),
        ("echo /tmp/note > here", ""),
    ],
)
async def test_what_is_named_and_stays_in_the_sandbox_is_said(
    shell: Shell, command: str, said: str
) -> None:
    output = await run(shell, command)
    assert said in output and ("sandbox" in output) is bool(said)
    assert "sandbox" not in await run(shell, "ls /tmp/note || true")


async def test_the_way_to_the_workspace_is_not_said_to_be_the_sandboxs(shell: Shell) -> None:
    assert "sandbox" not in await run(shell, "pwd")


async def test_the_first_two_commands_at_once_share_one_scratch_folder(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)

    class Slow(ScratchFolder):
        def __init__(self) -> None:
            with suppress(threading.BrokenBarrierError):
                both.wait(0.3)  # A second one would come here too.
            super().__init__()

    monkeypatch.setattr(confining, "ScratchFolder", Slow)
    outputs = await asyncio.gather(
        *(run(shell, f"echo > /tmp/{name}; echo {name}") for name in "ab")
    )
    assert "a\n" in outputs[0] and "b\n" in outputs[1]
    assert "a\nb\n" in await run(shell, "ls /tmp")


async def test_the_state_of_the_host_is_hidden(shell: Shell) -> None:
    state = shell.root.parent / "state"
    output = await run(shell, f"cat {state}/keys.env; ls -A {state}")
    assert "hush-hush" not in output
    assert "keys.env: No such file" in output


async def test_homes_of_secrets_are_hidden(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("PRIVATE")
    (home / ".netrc").write_text("PASSWORD")
    (home / "notes").write_text("plain to see")
    monkeypatch.setenv("HOME", str(home))
    # What lies below /tmp is not there at all in the sandbox, so the home is in the workspace.
    shell.coordinator.register_capability("session.working_dir", str(tmp_path))
    output = await run(shell, f"cat {home}/.ssh/id_rsa {home}/.netrc {home}/notes")
    assert "PRIVATE" not in output
    assert "PASSWORD" not in output
    assert "plain to see" in output


async def test_there_is_no_network_unless_it_is_granted(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        assert "connected" not in await run(shell, command)
        assert "connected" in await run(shell, command, Grant("rule", network=True))


@pytest.mark.parametrize("address", ["{}", "unix://{}", "unix:path={},guid=1"])
async def test_services_that_variables_name_are_out_of_reach(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    path = shell.root.parent / "s"
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(path.parent)
        server.bind("s")
        server.listen()
        monkeypatch.setenv("SOME_SERVICE", address.format(path))
        command = (
            'python3 -c \'import socket; socket.socket(socket.AF_UNIX).connect("../s"); '
            'print("connected")\''
        )
        assert "connected" in await run(shell, command, Grant("person"))
        assert "connected" not in await run(shell, command, Grant("rule", network=True))


async def test_what_listens_anywhere_on_the_disk_is_out_of_reach(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_LASTING", 0.0)
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as elsewhere,
        socket.socket(socket.AF_UNIX) as server,
        socket.socket(socket.AF_UNIX) as own,
    ):
        server.bind(f"{elsewhere}/s")
        server.listen()
        own.bind(f"{shell.root}/s")
        own.listen()
        (shell.root / "connect.py").write_text(
            "import socket, sys\nsocket.socket(socket.AF_UNIX).connect(sys.argv[1])\n"
            "print('connected')\n"
        )
        command = f"python3 connect.py {elsewhere}/s"
        assert "connected" in await run(shell, command, Grant("person"))
        assert "connected" not in await run(shell, command)
        assert "connected" not in await run(shell, command, Grant("rule", network=True))
        assert "connected" in await run(shell, "python3 connect.py s"), "that of a test"


async def test_other_processes_are_out_of_sight(shell: Shell) -> None:
    output = await run(shell, f"ls /proc | grep -x {os.getpid()}; kill -0 {os.getpid()}")
    assert f"\n{os.getpid()}\n" not in f"\n{output}"
    assert "No such process" in output


@pytest.mark.parametrize(
    "name",
    [
        *(".envrc", ".mcp.json", ".vscode/tasks.json", "sub/.envrc", ".github/hooks/a.json"),
        "a/b/c/d/e/f/g/.claude/x.json",
    ],
)
async def test_what_configures_programs_is_read_only(shell: Shell, name: str) -> None:
    place = shell.root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("mine")
    await run(shell, f"echo evil > {name}; rm -f {name}; mv {name} elsewhere")
    assert place.read_text() == "mine"


async def test_in_the_home_what_programs_look_for_there_is_read_only(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(shell.root))
    (shell.root / ".local" / "bin").mkdir(parents=True)
    await run(shell, "echo evil > .local/bin/ls; echo evil > .xrc; echo fine > a.txt")
    assert not (shell.root / ".local/bin/ls").exists() and not (shell.root / ".xrc").exists()
    assert (shell.root / "a.txt").exists()


async def test_what_would_configure_programs_is_moved_aside_and_said(shell: Shell) -> None:
    output = await run(shell, "echo evil > .envrc; mkdir -p a/.vscode; echo x > a/.vscode/tasks")
    assert not (shell.root / ".envrc").exists()
    assert not (shell.root / "a/.vscode").exists()
    assert ".envrc would take effect on other programs" in output
    assert "a/.vscode would take effect" in output


async def test_what_configures_programs_only_in_a_certain_folder_is_moved_aside(
    shell: Shell,
) -> None:
    await run(shell, "mkdir -p .github/hooks src/hooks; echo x | tee .github/hooks/a src/hooks/a")
    assert not (shell.root / ".github/hooks").exists()
    assert (shell.root / "src/hooks/a").exists()


async def test_what_can_not_be_moved_aside_is_said_and_the_rest_is_moved(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = made.move_aside

    def rename(workspace: Path, place: Path, *more: Any) -> Path:
        raise PermissionError(place)

    def moving(workspace: Path, place: Path, *more: Any) -> Path:
        if place.name == ".envrc":
            raise PermissionError(f"`{place}` is somebody else's")
        return move(workspace, place, *more)

    monkeypatch.setattr(made, "move_aside", moving)
    monkeypatch.setattr(made, "rename_here", rename)
    output = await run(shell, "touch .envrc; mkdir -p a/.vscode; echo x > a/.vscode/tasks")
    assert ".envrc would take effect on other programs, and could not be moved away" in output
    assert not (shell.root / "a/.vscode").exists()


async def test_what_a_job_makes_is_moved_aside_while_it_runs(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    command = "mkdir .vscode; touch made; sleep 60"
    await run(shell, command, run_in_background=True)
    async with within(20):
        while not (shell.root / "made").exists() or (shell.root / ".vscode").exists():
            await asyncio.sleep(0.01)
    job_tool = shell.coordinator.get("tools", "bash_job")
    said = await job_tool.execute({"action": "read", "job_id": "job-1"})
    assert "running" in str(said.output)
    await job_tool.execute({"action": "stop", "job_id": "job-1"})


async def test_what_a_person_approved_runs_as_without_a_sandbox(shell: Shell) -> None:
    outside = shell.root.parent / "outside"
    await run(shell, f"echo yes > {outside}", Grant("person"))
    assert outside.read_text() == "yes\n"


async def test_without_a_host_that_judges_nothing_is_confined(shell: Shell) -> None:
    outside = shell.root.parent / "outside"
    await run(shell, f"echo yes > {outside}", None)
    assert outside.exists()


async def test_the_users_setting_switches_it_off(shell: Shell) -> None:
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms("off"))
    outside = shell.root.parent / "outside"
    await run(shell, f"echo yes > {outside}")
    assert outside.exists()
    assert "outside_sandbox" not in shell.tool.input_schema["properties"]


async def test_required_runs_nothing_where_there_is_no_sandbox(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "sandbox_problem", lambda: "bubblewrap is not installed")
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms("required"))
    refused = await result(shell, "echo ran > trace")
    assert not refused.success
    assert "bubblewrap is not installed" in str(refused.output)
    assert not (shell.root / "trace").exists()


async def test_output_exit_codes_and_time_limits_are_as_without(shell: Shell) -> None:
    assert "exit code 7" in await run(shell, "exit 7")
    assert "[exit code 137, as after SIGKILL · " in await run(shell, "kill -9 $$")
    # On a busy machine a sandbox takes longer to begin.
    for limit in (0.5, 4, 16):
        output = await run(shell, "echo one; echo two >&2; sleep 60", timeout=limit)
        if "two" in output:
            break
    assert f"one\ntwo\n[timed out after {limit} s and was ended" in output


@pytest.mark.parametrize(
    ("grant", "alone"), [(BY_RULE, True), (Grant("rule", network=True), False), (None, False)]
)
async def test_it_is_said_of_a_server_that_nobody_reaches_it(
    shell: Shell, grant: Grant | None, alone: bool
) -> None:
    output = await run(shell, "sleep 60", grant, run_in_background=True)
    assert ("nothing else reaches a port that it opens" in output) is alone
    (card,) = shell.coordinator.get_capability(JOBS).cards()
    assert card["no_network"] is alone


async def test_a_job_in_the_background_goes_on_and_ends_with_the_session(shell: Shell) -> None:
    output = await run(shell, "(while true; do date > beat; sleep 0.05; done) & echo started")
    assert "still run in the background" in output
    beat = shell.root / "beat"
    before = beat.stat().st_mtime_ns
    while beat.stat().st_mtime_ns == before:
        await asyncio.sleep(0.02)
    await shell.close()
    after = beat.stat().st_mtime_ns
    await asyncio.sleep(0.3)
    assert beat.stat().st_mtime_ns == after


async def test_nothing_is_said_to_run_on_when_nothing_does(shell: Shell) -> None:
    for _ in range(10):
        assert "background" not in await run(shell, "true", READING)


async def test_cancelling_ends_all_of_it(shell: Shell) -> None:
    # Told from what else sleeps on this machine.
    apart, own = (f"{seconds}.{os.getpid()}" for seconds in (400, 401))
    task = asyncio.create_task(run(shell, f"setsid sleep {apart} & echo $$; sleep {own}"))
    await shell.output_contains("\n")
    sleeps = _sleepers(apart) + _sleepers(own)
    assert len(sleeps) == 2
    assert all(map(alive, sleeps))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(*sleeps)


def _sleepers(seconds: str) -> list[int]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if line == b"sleep\0" + seconds.encode() + b"\0":
            found.append(int(name))
    return found


def test_a_missing_program_is_said_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox_problem.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    try:
        assert "install the package `bubblewrap`" in sandbox_problem()
    finally:
        sandbox_problem.cache_clear()
