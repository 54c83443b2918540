"""Commands in the terminals of an editor that offers them."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from acp import RequestError, schema

from amplifier_tui.paths import amplifier_home
from tests.cli.acp.editor import TestEditor
from tests.host.driving import TOOLS, Project, calling
from tests.host.session.test_agents import ask, coding, script

Connect = Callable[..., Awaitable[TestEditor]]


class TerminalEditor(TestEditor):
    """Runs commands, each in a process of its own.

    Attributes:
        commands: Every command that it was asked to run.
        told: What else it was asked about its terminals, in order.
        fails: The request that it answers with an error.
        keeps: Bytes of output that it keeps.
    """

    __test__ = False

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[tuple[str, list[str], dict[str, str]]] = []
        self.told: list[str] = []
        self.fails = ""
        self.keeps = 1 << 30
        self.running: asyncio.subprocess.Process
        self.printed = b""
        self.session_id = ""

    async def _tell(self, request: str) -> None:
        async with self.seen:
            self.told.append(request)
            self.seen.notify_all()
        if request == self.fails:
            raise RequestError(-32603, "The terminal is\x1b[31m broken")

    async def create_terminal(
        self, command: str, args: list[str], env: list[Any], cwd: str, **_: Any
    ) -> schema.CreateTerminalResponse:
        variables = {each.name: each.value for each in env}
        self.commands.append((cwd, args, variables))
        self.running = await asyncio.create_subprocess_exec(
            command, *args, cwd=cwd, env=variables, stdout=asyncio.subprocess.PIPE
        )
        await self._tell("create")
        return schema.CreateTerminalResponse(terminal_id="t1")

    async def wait_for_terminal_exit(self, **_: Any) -> schema.WaitForTerminalExitResponse:
        await self._tell("wait")
        self.printed, _none = await self.running.communicate()
        code = self.running.returncode or 0
        if code < 0:
            return schema.WaitForTerminalExitResponse(signal=signal.Signals(-code).name)
        return schema.WaitForTerminalExitResponse(exit_code=code)

    async def terminal_output(self, **_: Any) -> schema.TerminalOutputResponse:
        await self._tell("output")
        text = self.printed.decode()
        return schema.TerminalOutputResponse(
            output=text[-self.keeps :], truncated=len(text) > self.keeps
        )

    async def kill_terminal(self, **_: Any) -> None:
        self.running.kill()
        await self._tell("kill")

    async def release_terminal(self, **_: Any) -> None:
        await self._tell("release")


@pytest.fixture
async def editor() -> AsyncIterator[TerminalEditor]:
    editor = TerminalEditor()
    yield editor
    if editor.commands and not editor.printed:
        with contextlib.suppress(ProcessLookupError):
            editor.running.kill()
        await editor.running.communicate()


async def started(
    project: Project,
    connect: Connect,
    editor: TerminalEditor,
    command: dict[str, Any],
    sandbox: str = "off",
) -> None:
    """Open a session whose model runs a command in its first turn."""
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text(f"sandbox: {sandbox}\n")
    name = project.bundle(script=calling({"bash": command}), tools=("tool-bash",))
    await connect(name, editor=editor, terminal=True)
    new = await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    editor.session_id = new.session_id


async def ran(
    project: Project, connect: Connect, editor: TerminalEditor, *asked: Any, **more: Any
) -> tuple[Any, str]:
    """Run a command in a turn; returns how its call ended, and its result for the model."""
    await started(project, connect, editor, *asked, **more)
    await editor.say(editor.session_id, "go")
    (ended,) = [
        e for e in editor.of(schema.ToolCallProgress) if e.status in ("completed", "failed")
    ]
    rows = project.rows(editor.session_id)
    return ended, next(str(row["content"]) for row in rows if row["role"] == "tool")


def embedded(editor: TerminalEditor) -> bool:
    """Whether a terminal stands in the call."""
    calls = [*editor.of(schema.ToolCallStart), *editor.of(schema.ToolCallProgress)]
    content = [each for call in calls for each in call.content or ()]
    return schema.TerminalToolCallContent(type="terminal", terminal_id="t1") in content


async def test_a_command_runs_in_a_terminal_of_the_editor_with_the_variables_it_has_here(
    project: Project, connect: Connect, editor: TerminalEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-not-for-commands")
    command = r'printf "\033[1mhere\033[0m $PWD [$SOME_API_KEY] $PAGER"'
    ended, result = await ran(project, connect, editor, {"command": command})
    assert f"here {project.folder} [] cat" in result
    assert "exit code 0" in result
    assert (ended.status, embedded(editor)) == ("completed", True)
    assert ended.content is None  # The terminal stays.
    ((_, args, variables),) = editor.commands
    assert (args, variables["SOME_API_KEY"]) == (["-c", command], "")
    await editor.until(lambda: editor.told == ["create", "wait", "output", "release"])


@pytest.mark.parametrize(
    ("command", "fails", "expected"),
    [
        ("echo no; exit 3", "", "exit code 3"),
        ("kill -TERM $$", "", "ended by signal SIGTERM"),
        ("true", "create", "the editor says: The terminal is broken. The command may have run"),
        ("true", "wait", "the editor says: The terminal is broken. The command may have run"),
        ("true", "output", "The command may have run in part"),
    ],
)
async def test_a_command_that_fails_or_whose_terminal_fails_is_not_run_again(
    command: str,
    fails: str,
    expected: str,
    project: Project,
    connect: Connect,
    editor: TerminalEditor,
) -> None:
    editor.fails = fails
    ended, result = await ran(project, connect, editor, {"command": command})
    assert expected in result
    assert ended.status == "failed"
    assert len(editor.commands) == 1
    if fails != "create":
        await editor.until(lambda: editor.told[-1] == "release")


async def test_what_runs_for_too_long_is_killed_and_its_output_kept(
    project: Project, connect: Connect, editor: TerminalEditor
) -> None:
    asked = {"command": "echo begun; exec sleep 60", "timeout": 0.3}
    ended, result = await ran(project, connect, editor, asked)
    assert "timed out after 0.3 s and was ended" in result
    assert ended.status == "failed"
    await editor.until(lambda: editor.told == ["create", "wait", "kill", "output", "release"])


async def test_of_very_much_output_the_model_gets_the_same_as_elsewhere(
    project: Project, connect: Connect, editor: TerminalEditor
) -> None:
    editor.keeps = 100_000
    _, result = await ran(project, connect, editor, {"command": "seq 30000"})
    assert "characters left out" in result
    assert "The beginning of the output was left out by the client" in result
    assert "30000\\n[exit code 0" in result or "30000\n[exit code 0" in result
    assert len(result) < 40_000


@pytest.mark.parametrize("leaves", [False, True])
async def test_stopping_and_leaving_end_the_command(
    leaves: bool, project: Project, connect: Connect, editor: TerminalEditor
) -> None:
    await started(project, connect, editor, {"command": "exec sleep 60"})
    turn = asyncio.create_task(editor.say(editor.session_id, "go"))
    await editor.until(lambda: "wait" in editor.told)
    if leaves:
        await editor.leave()
        editor.running.kill()  # As an editor does with its terminals.
        with pytest.raises((RequestError, ConnectionError)):
            await turn
        return
    await editor.agent.cancel(session_id=editor.session_id)
    assert (await turn).stop_reason == "cancelled"
    await editor.until(lambda: editor.told == ["create", "wait", "kill", "release"])
    assert await editor.running.wait() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("sandbox", "more"),
    [("required", {}), ("off", {"persist": True}), ("off", {"run_in_background": True})],
)
async def test_what_may_need_the_sandbox_or_is_followed_here_runs_here(
    sandbox: str, more: dict[str, Any], project: Project, connect: Connect, editor: TerminalEditor
) -> None:
    asked = {"command": "echo here", **more}
    await ran(project, connect, editor, asked, sandbox=sandbox)
    assert not editor.commands


async def test_nothing_runs_in_the_editor_before_the_user_allowed_it(
    project: Project, connect: Connect, editor: TerminalEditor
) -> None:
    await started(project, connect, editor, {"command": "touch made"})
    project.allow([])
    editor.answers = ["deny"]
    await editor.say(editor.session_id, "go")
    assert len(editor.asked) == 1
    assert not editor.commands


async def test_commands_of_sub_agents_run_here(
    project: Project, connect: Connect, editor: TerminalEditor
) -> None:
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text("sandbox: off\n")
    name = coding(
        project,
        script(
            [ask("tester", "Make it.")],
            {"make": {"call": [{"bash": {"command": "touch made"}}]}, "end": {"say": "Made."}},
        ),
    )
    project.allow(TOOLS)
    await connect(name, editor=editor, terminal=True)
    new = await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    await editor.say(new.session_id, "go")
    assert (project.folder / "made").exists()
    assert not editor.commands
