"""Commands in the background: begun, read on, stopped, and ended with the session."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.commands.run import CommandRun
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules.tool_bash import jobs
from amplifier_tui.modules.tool_bash.earlier_jobs import earlier_jobs, started
from amplifier_tui.modules.tool_bash.jobs import JOBS, Jobs
from tests.modules.tool_bash.support import Shell, alive, gone, kind


class Background:
    """The tool, and what its jobs tell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._news = asyncio.Event()
        for event in ("job:started", "job:progress", "job:ended"):
            shell.coordinator.hooks.register(event, self._hear)

    async def _hear(self, event: str, data: dict[str, Any]) -> None:
        self.told.append((event, data))
        self._news.set()

    async def start(self, command: str, **more: Any) -> ToolResult:
        return await self.shell.run(command, run_in_background=True, **more)

    async def job(self, action: str, job_id: Any = None, **more: Any) -> ToolResult:
        tool = self.shell.coordinator.get("tools", "bash_job")
        given = {"action": action, **({} if job_id is None else {"job_id": job_id}), **more}
        result: ToolResult = await tool.execute(given)
        return result

    async def ended(self, job_id: str) -> dict[str, Any]:
        while True:
            for event, data in self.told:
                if event == "job:ended" and data["job_id"] == job_id:
                    return data
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)

    @property
    def jobs(self) -> Jobs:
        found: Jobs = self.shell.coordinator.get_capability(JOBS)
        return found


@pytest.fixture
def background(shell: Shell) -> Background:
    return Background(shell)


async def test_a_job_returns_at_once_is_read_on_and_says_how_it_ended(
    background: Background, tmp_path: Path
) -> None:
    waiting = "until [ -e go ]; do sleep 0.02; done"
    result = await background.start(f"echo one; {waiting}; echo two; exit 3")
    assert result.output == "[job-1 runs in the background; bash_job reads on]"
    while not (first := (await background.job("read", "job-1")).output).startswith("one"):
        await asyncio.sleep(0.02)
    assert first == "one\n[job-1: running]"
    assert (await background.job("read", "job-1")).output == "[job-1: running]"
    (tmp_path / "go").touch()
    ended = await background.ended("job-1")
    assert (ended["state"], ended["tail"]) == ("exit code 3", "two")
    assert (await background.job("read", "job-1")).output == "two\n[job-1: exit code 3]"
    assert background.jobs.text("job-1") == "one\ntwo\n"
    assert background.told[0][0] == "job:started"


async def test_a_job_is_stopped_with_its_children_and_another_goes_on(
    background: Background, tmp_path: Path
) -> None:
    await background.start("sleep 60 & echo $! > child; echo $$ > own; wait")
    await background.start("sleep 60")
    while not (tmp_path / "own").exists() or not (tmp_path / "own").read_text():
        await asyncio.sleep(0.02)
    pids = [int((tmp_path / name).read_text()) for name in ("child", "own")]
    assert (await background.job("stop", "job-1")).output == "[job-1: stopped]"
    await gone(*pids)
    assert "had ended before" in str((await background.job("stop", "job-1")).output)
    listed = str((await background.job("list")).output).splitlines()
    assert listed[0].startswith("job-2: running")
    assert listed[1].startswith("job-1: stopped")


async def test_the_end_of_the_session_ends_every_job(shell: Shell, tmp_path: Path) -> None:
    background = Background(shell)
    await background.start("echo $$ > own; sleep 60")
    while not (tmp_path / "own").exists() or not (tmp_path / "own").read_text():
        await asyncio.sleep(0.02)
    pid = int((tmp_path / "own").read_text())
    assert alive(pid)
    await shell.close()
    await gone(pid)


async def test_the_model_is_told_once_of_a_job_that_ended_by_itself(background: Background) -> None:
    hooks = background.shell.coordinator.hooks
    await background.start("true")
    await background.ended("job-1")
    told = await hooks.emit("provider:request", {"provider": "x"})
    assert told.action == "inject_context"
    # Else a resume tells it again, and knows less of it.
    assert not told.ephemeral
    stored = [*_begun("job-1"), {"role": "user", "content": told.context_injection}]
    assert earlier_jobs(stored) == (1, {})
    assert "job-1: exit code 0" in str(told.context_injection)
    assert (await hooks.emit("provider:request", {"provider": "x"})).action == "continue"
    await background.start("true")
    await background.ended("job-2")
    await background.job("read", "job-2")
    assert (await hooks.emit("provider:request", {"provider": "x"})).action == "continue"


async def test_a_flood_takes_no_room_and_progress_comes_seldom(tmp_path: Path) -> None:
    shell = await Shell(tmp_path).mount(max_output_chars=1_000)
    background = Background(shell)
    await background.start("yes 0123456789 | head -c 20000000; echo; echo END")
    await background.ended("job-1")
    text = str((await background.job("read", "job-1")).output)
    assert "END\n[job-1: exit code 0]" in text
    assert "characters …]" in text
    assert len(text) < 1_200
    assert sum(event == "job:progress" for event, _ in background.told) < 10
    await shell.close()


async def test_what_is_kept_of_much_never_begins_or_ends_within_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "wombat-battery-staple-77"
    monkeypatch.setenv("SAMPLE_API_KEY", secret)
    shell = await Shell(tmp_path).mount(max_output_chars=1_000)
    background = Background(shell)
    long = "x" * 995
    await background.start(f"echo {secret}{long}; echo {'y' * 190}{secret}{'z' * 400}")
    ended = await background.ended("job-1")
    assert ended["tail"] == "y" * 190
    await background.start(f"echo {secret}{long}")
    await background.ended("job-2")
    text = str((await background.job("read", "job-2")).output)
    assert text.startswith("[… 24 characters …]\nxxx")
    await shell.close()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"action": "write"}, "`action` must be one of list, read, stop"),
        ({"action": "read"}, "`job_id` must be a text"),
        ({"action": "read", "job_id": 7}, "`job_id` must be a text"),
        ({"action": "stop", "job_id": "job-9"}, "There is no job 'job-9'"),
    ],
)
async def test_a_call_that_makes_no_sense_says_why(
    background: Background, given: dict[str, Any], says: str
) -> None:
    result = await background.job(**given)
    assert not result.success
    assert says in str(result.output)


async def test_what_is_refused_and_what_can_not_start_is_no_job(
    background: Background, tmp_path: Path
) -> None:
    assert kind(await background.start("rm -rf /")) == "denied_command"
    for name in ("run_in_background", "background"):
        result = await background.shell.run("true", **{name: "yes"})
        assert kind(result) == "invalid_arguments" and f"`{name}`" in result.output
    assert (await background.job("list")).output == "No command was run in the background."


@pytest.mark.parametrize("name", ["background", "is_background"])
async def test_what_other_tools_call_it_runs_a_command_in_the_background_too(
    background: Background, name: str
) -> None:
    # The dialog announced it so.
    result = await background.shell.run("sleep 60", **{name: True})
    assert "job-1 runs in the background" in result.output


async def test_no_more_run_at_once_than_are_allowed(tmp_path: Path) -> None:
    shell = await Shell(tmp_path).mount(max_jobs=1)
    background = Background(shell)
    await background.start("sleep 60")
    assert "1 background commands run already" in str((await background.start("true")).output)
    await background.job("stop", "job-1")
    assert (await background.start("true")).success
    await shell.close()


async def test_without_jobs_and_in_an_agent_nothing_of_them_is_offered(tmp_path: Path) -> None:
    none = await Shell(tmp_path).mount(max_jobs=0)
    agent = Shell(tmp_path)
    session = type("S", (), {"session_id": "a", "parent_id": "p", "config": {}})()
    agent.coordinator = ModuleCoordinator(session)
    agent.coordinator.register_capability("session.working_dir", str(tmp_path))
    await agent.mount()
    for shell in (none, agent):
        assert shell.coordinator.get("tools", "bash_job") is None
        assert "run_in_background" not in shell.tool.input_schema["properties"]
        assert "not possible" in str((await shell.run("true", run_in_background=True)).output)
        await shell.close()


async def test_of_those_that_have_ended_the_oldest_are_forgotten(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_MOST_ENDED", 2)
    background = Background(shell)
    await background.start("sleep 1000")
    for number in range(2, 6):
        await background.start(f"echo {number}")
        await background.ended(f"job-{number}")
    await background.job("read", "job-3")
    await background.start("sleep 1000")
    # What the model does not know of yet goes last.
    assert [card["job_id"] for card in background.jobs.cards()] == [
        *("job-6", "job-5", "job-4", "job-1"),
    ]
    assert kind(await background.job("read", "job-2")) == "not_found"


async def test_no_more_run_at_once_than_may_also_when_they_begin_together(tmp_path: Path) -> None:
    shell = await Shell(tmp_path).mount(max_jobs=2)
    background = Background(shell)
    results = await asyncio.gather(*(background.start("sleep 100") for _ in range(5)))
    assert sum(result.success for result in results) == 2
    refused = await background.start("sleep 100")
    assert "2 background commands run already" in str(refused.output)
    await shell.close()


async def test_of_a_job_that_is_lost_sight_of_that_is_said_and_no_signal(
    background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(run: CommandRun) -> None:
        raise OSError("its output can't be read")

    monkeypatch.setattr(CommandRun, "finish", fail)
    await background.start("sleep 60")
    ended = await background.ended("job-1")
    assert (ended["state"], ended["exit_code"]) == ("could not be followed", None)
    output = str((await background.job("read", "job-1")).output)
    assert output.startswith("[job-1: could not be followed") and "signal" not in output
    assert "its output can't be read" in output


def _begun(job_id: str) -> list[dict[str, Any]]:
    call = {"id": "1", "tool": "bash", "arguments": {"command": "x"}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": started(job_id)},
    ]
