"""Half a terminal: commands for scripts and editors whose streams are closed, full, or files."""

import io
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from amplifier_tui.cli.group import run as run_command
from amplifier_tui.cli.run import command
from tests.cli.test_run_conversation import BUNDLE
from tests.host.driving import saying
from tests.once import once_a_run

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize"} | {
    "params": {"protocolVersion": 1, "clientCapabilities": {}}
}
COMMANDS = {
    "no input, no error output, and no UTF-8": (
        "run 'Grüße' --bundle ../piped.md <&- 2>&-",
        0,
        "Hello Grüße.",
        "",
    ),
    "no input and no prompt": ("run <&-", 2, "", "The prompt is empty"),
    "no output": ("run hi <&- >&-", 2, "", "standard output has to be open"),
    "a full disk": ("run hi --bundle ../piped.md <&- >/dev/full", 1, "", "No space left"),
    "a full disk, and a limit": (
        "run hi --bundle ../piped.md --output json --timeout 0.01 <&- >/dev/full",
        1,
        "",
        "No space left",
    ),
    "nobody reads": (
        "run hi --bundle ../piped.md --output jsonl <&- | head -c 1; exit ${PIPESTATUS[0]}",
        130,
        "{",
        "Nobody reads the output",
    ),
    "nobody reads the answer": (
        "run hi --bundle ../piped.md <&- | sleep 0; exit ${PIPESTATUS[0]}",
        130,
        "",
        "",
    ),
    "nobody reads all of a short answer": (
        "run hi --bundle ../piped.md <&- | head -c 5; exit ${PIPESTATUS[0]}",
        130,
        "Hello",
        "",
    ),
    "all of the answer is read": (
        "run hi --bundle ../piped.md <&- | head -c 10; exit ${PIPESTATUS[0]}",
        0,
        "Hello hi.",
        "",
    ),
    "no lines": (
        "run --bundle ../piped.md --input jsonl --output jsonl <&-",
        1,
        "RunEnded",
        "There was no prompt",
    ),
    "an editor that is a file": ("acp <hello.json >said.json; cat said.json", 0, '"id":1', ""),
    "an editor without input": ("acp <&-", 2, "", "have to be open"),
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Exit status, output and errors of each; they run side by side."""
    with once_a_run(tmp_path_factory, "streams") as (folder, empty):
        known = folder / "found.json"
        if empty:
            known.write_text(json.dumps(_run(folder)))
        return {name: tuple(each) for name, each in json.loads(known.read_text()).items()}


def _run(folder: Path) -> dict[str, tuple[int, str, str]]:
    (folder / "script.json").write_text(json.dumps({"scenarios": [saying("Hello {{prompt}}.")]}))
    (folder / "piped.md").write_text(BUNDLE.format(script=folder / "script.json"))
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (work / "hello.json").write_text(f"{json.dumps(HELLO)}\n")
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    begun = {
        name: subprocess.Popen(
            ["bash", "-c", f"{sys.executable} -m amplifier_tui {command}"],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name, (command, *_) in COMMANDS.items()
    }
    found = {}
    for name, process in begun.items():
        out, err = process.communicate(timeout=50)
        found[name] = (process.returncode, out.decode(), err.decode())
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_missing_has_a_clear_end(name: str, done: dict[str, tuple[int, str, str]]) -> None:
    _, status, out, err = COMMANDS[name]
    assert done[name][0] == status, done[name]
    assert out in done[name][1] and err in done[name][2]
    assert "Traceback" not in done[name][2] and "\x1b" not in done[name][1]


def test_who_left_an_open_pipe_beside_a_prompt_is_told_what_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, said = threading.Event(), list[str]()

    class Pipe:
        """One that is closed once somebody was told."""

        def read(self) -> bytes:
            assert told.wait(20)
            return b"and this"

    def echo(text: str, *, err: bool) -> None:
        said.append(text)
        told.set()

    monkeypatch.setattr(command, "_QUIET", 0.0)
    monkeypatch.setattr("click.echo", echo)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False, buffer=Pipe()))
    assert command._prompt_of(("hello",)) == ("hello\n\nand this", "hello")
    assert ["</dev/null" in text for text in said] == [True]


def test_words_after_resume_are_the_prompt_of_the_last_session(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    stdin = SimpleNamespace(isatty=lambda: False, buffer=io.BytesIO(b""))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run_command(["run", "--resume", "say it again"]) == 1
    assert "No session was stored in" in capfd.readouterr().err
