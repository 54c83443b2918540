"""What `serve` says before it serves, and how it starts the program."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.cli.launch import LaunchOptions, parse_launch
from amplifier_tui.cli.serve import command
from amplifier_tui.cli.serve.server import BrowserServer


class Served(Exception):
    """In the place of serving until a signal comes."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Have nothing listened on, and return what the server was made with."""
    made: list[dict[str, object]] = []

    async def start(server: BrowserServer, port: int) -> None:
        made.append({**vars(server), "port": port})
        raise Served

    monkeypatch.setattr(BrowserServer, "start", start)
    return made


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.168.1.2", False), ("box.example", False), ("127.0.0.1.example", False)],
)  # fmt: skip
def test_an_address_that_others_reach_is_warned_of(
    served: list[dict[str, object]], capsys: pytest.CaptureFixture[str], host: str, local: bool
) -> None:
    with pytest.raises(Served):
        run(["serve", "--host", host])
    assert served[0]["_local"] is local
    warned = "can be reached from other machines" in capsys.readouterr().err
    assert warned is not local


def test_the_token_is_another_one_each_time_and_only_this_machine_is_listened_to(
    served: list[dict[str, object]],
) -> None:
    for _ in range(2):
        with pytest.raises(Served):
            run(["serve"])
    tokens = [str(made["_token"]) for made in served]
    assert tokens[0] != tokens[1]
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)
    assert [(made["_host"], made["port"], made["_keep"]) for made in served] == [
        ("127.0.0.1", 8000, False)
    ] * 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mode", "auto"], "--mode auto: plan, ask and edits"),
        (["--max-cost", "free"], "--max-cost free: an amount of dollars"),
        (["--cwd", "/nowhere/at/all"], "--cwd /nowhere/at/all: no such directory"),
        (["--host", "a..b", "--port", "0"], "--host a..b: no such name"),
        (["--port", "70000"], "70000 is not in the range"),
        (["demo"], "unexpected extra argument"),
    ],
)
def test_a_command_line_that_makes_no_sense_serves_nobody(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run(["serve", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert run(["serve"]) == 1
    assert "pip install 'amplifier-tui[web]'" in capsys.readouterr().err


def test_a_port_in_use_is_said_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert run(["serve", "--port", str(port)]) == 1
    said = capsys.readouterr().err
    assert f"can't listen on 127.0.0.1, port {port}" in said
    assert "Choose another with --port" in said


def test_the_program_is_started_with_the_same_options_and_no_shell() -> None:
    options = LaunchOptions(bundle="a b; rm", resume="last", theme="--demo", trust=True)
    started = command.program(options)
    assert started[:4] == [sys.executable, "-P", "-m", "amplifier_tui"]
    assert parse_launch(started[4:]) == options


def test_a_folder_of_the_project_is_not_taken_for_the_program(tmp_path: Path) -> None:
    (tmp_path / "amplifier_tui").mkdir()
    (tmp_path / "amplifier_tui" / "__main__.py").write_text("raise SystemExit('the project')")
    python, *_ = started = command.program(LaunchOptions())
    assert python == sys.executable
    done = subprocess.run([*started, "--version"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, b"the project" in done.stderr) == (0, False)


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("::", "[::1]")],
)
async def test_the_address_that_is_printed_opens_on_this_machine(host: str, address: str) -> None:
    server = BrowserServer(["true"], "t", host, local=False, keep=False)
    await server.start(0)
    try:
        assert re.fullmatch(rf"http://{re.escape(address)}:\d+/t/", server.address)
    finally:
        await server.close()
