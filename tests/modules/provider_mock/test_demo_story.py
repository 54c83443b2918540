import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.registry.registry import load_bundle
from amplifier_tui.host.door.service import CARRY_OUT
from amplifier_tui.kernel import AmplifierSession
from amplifier_tui.kernel.hooks.frontend import ApprovalDecision
from amplifier_tui.modules.provider_mock import MockSettings
from amplifier_tui.paths import shipped_bundles_dir

PROMPT = "Why does a parcel of exactly 2 kg cost too much?"
Answer = Callable[[str], str]


class Demo:
    """The demo bundle's session, whole and real, with a user who answers at once."""

    def __init__(self, session: AmplifierSession, workspace: Path, asked: list[str]) -> None:
        self.session = session
        self.workspace = workspace
        self.asked = asked
        self.events: list[tuple[str, dict[str, Any]]] = []
        session.coordinator.hooks.observe(
            lambda trace: self.events.append((trace.event, trace.data))
        )

    async def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = await self.session.coordinator.get("context").get_messages()
        return rows

    def words(self) -> list[str]:
        return [
            data["block"]["text"]
            for event, data in self.events
            if event == "content_block:end" and data["block"]["type"] == "text"
        ]

    def tests_pass(self) -> bool:
        command = [sys.executable, "-m", "unittest"]
        return subprocess.run(command, cwd=self.workspace, capture_output=True).returncode == 0


@asynccontextmanager
async def demo(tmp_path: Path, answer: Answer, pace: float = 0) -> AsyncIterator[Demo]:
    shipped = shipped_bundles_dir()
    workspace = tmp_path / "workspace"
    shutil.copytree(shipped / "demo-project", workspace)
    bundle = await load_bundle(str(shipped / "demo.md"))
    plan = bundle.to_mount_plan()
    plan["providers"][0]["config"] = {"tokens_per_second": pace}
    asked: list[str] = []

    class User:
        async def request_approval(self, prompt: str, *_: Any) -> str:
            asked.append(prompt)
            return answer(prompt)

    session = AmplifierSession(plan, approval_system=User())
    session.coordinator.register_capability("session.working_dir", str(workspace))
    async with session:
        assert set(session.coordinator.get("tools")) == {
            "ask_user",
            "read_file",
            "write_file",
            "edit_file",
            "bash",
            "bash_job",
            "load_skill",
        }
        yield Demo(session, workspace, asked)


def allow(_: str) -> str:
    return "Allow"


def deny(tool: str, reason: str) -> Answer:
    return lambda prompt: (
        ApprovalDecision("Deny", reason=reason) if prompt.startswith(tool) else "Allow"
    )


async def test_everything_allowed_the_bug_is_fixed_and_the_tests_pass(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        assert not story.tests_pass()
        answer = await story.session.execute(PROMPT)
        assert story.tests_pass()
        assert story.asked == [
            "edit_file wants to change parcels/rates.py",
            "bash wants to run: python3 -m unittest",
        ]
        assert answer.startswith("## Fixed")
        for part in ("\n- ", "| --- |", "```python"):
            assert part in answer
        reads = [data for event, data in story.events if event == "artifact:read"]
        assert {data["relative_path"] for data in reads} == {
            "parcels/rates.py",
            "tests/test_rates.py",
        }
        (write,) = [data for event, data in story.events if event == "artifact:write"]
        assert "+        if weight <= bracket.limit:" in write["diff"]
        assert "\nOK\n" in str([row["content"] for row in await story.rows()][-2])
        thinking = [data for event, data in story.events if data.get("block_type") == "thinking"]
        assert thinking
        used = [data["usage"] for event, data in story.events if event == "llm:response"]
        assert all(usage["input_tokens"] > 0 for usage in used)


async def test_the_two_files_are_read_side_by_side(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        await story.session.execute(PROMPT)
        groups = [data["parallel_group_id"] for event, data in story.events if event == "tool:pre"]
        assert groups[0] == groups[1] != groups[2]


async def test_a_denied_edit_changes_nothing_and_the_next_words_quote_the_reason(tmp_path: Path):
    async with demo(tmp_path, deny("edit_file", "talk to Kim first")) as story:
        answer = await story.session.execute(PROMPT)
        assert not story.tests_pass()
        assert "“talk to Kim first”" in story.words()[2]
        assert "unfixed" in answer and "FAILED" in answer
        assert len(story.asked) == 2


async def test_a_denied_command_is_quoted_and_the_work_done_so_far_stays(tmp_path: Path):
    async with demo(tmp_path, deny("bash", "the machine is busy")) as story:
        answer = await story.session.execute(PROMPT)
        assert story.tests_pass()
        assert "“the machine is busy”" in answer
        assert "| tests | not run |" in answer


async def test_everything_denied_it_explains_the_bug_in_words(tmp_path: Path):
    async with demo(tmp_path, lambda _: ApprovalDecision("Deny", reason="hands off")) as story:
        answer = await story.session.execute(PROMPT)
        assert "“hands off”" in answer and "```diff" in answer


async def test_a_second_run_in_the_same_workspace_sees_that_it_is_fixed(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        await story.session.execute(PROMPT)
        await story.session.coordinator.get("context").clear()
        answer = await story.session.execute(PROMPT)
        assert story.asked[2:] == ["bash wants to run: python3 -m unittest"]
        assert "already compares with `<=`" in story.words()[-2]
        assert answer.startswith("## Fixed")


async def test_later_turns_differ_and_take_up_the_users_words(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        await story.session.execute(PROMPT)
        answers = [await story.session.execute(f"Question {n}, please") for n in range(2, 8)]
        assert len(set(answers)) == 6
        assert all(f"Question {n}, please" in text for n, text in enumerate(answers, 2))
        assert "parcels/" in answers[0]
        assert len(story.asked) == 2


async def test_it_tells_what_is_there_and_repairs_when_it_is_asked_to(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        answer = await story.session.execute("What is in this project?")
        assert "| `parcels/rates.py` |" in answer and "2 kg" in answer
        assert story.asked == []
        assert (await story.session.execute(PROMPT)).startswith("## Fixed")
        assert story.tests_pass()
        again = await story.session.execute("And what is in the project now?")
        assert "| `parcels/rates.py` |" in again and "2 kg" not in again


async def test_what_it_planned_of_the_bug_it_does_and_of_another_plan_it_says_that_it_cannot(
    tmp_path: Path,
):
    async with demo(tmp_path, deny("edit_file", "plan mode: propose, do not change")) as story:
        await story.session.execute(PROMPT)
        assert not story.tests_pass()
        answer = await story.session.execute(CARRY_OUT)
        assert "`<=`" in answer and story.asked.count(story.asked[0]) == 2
    async with demo(tmp_path / "other", allow) as story:
        await story.session.execute("Plan insured parcels, and ask me what you need.")
        answer = await story.session.execute(CARRY_OUT)
        assert "for a real model" in answer and not any("edit" in each for each in story.asked)


async def test_where_nobody_answers_its_questions_it_says_what_it_assumes(tmp_path: Path):
    async with demo(tmp_path, allow) as run:
        answer = await run.session.execute("Plan insured parcels, and ask me what you need.")
        assert "Without your answers I assume" in answer
        assert any("Nobody can be asked" in str(row["content"]) for row in await run.rows())


async def test_in_another_workspace_it_looks_around_instead(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        shutil.rmtree(story.workspace / "parcels")
        answer = await story.session.execute(PROMPT)
        assert answer.startswith("## Another workspace")
        assert "README.md" in answer
        assert story.asked == []


async def test_a_long_answer_takes_at_least_twenty_seconds_at_its_natural_pace(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        answer = await story.session.execute("Please write a long story about parcels")
        deltas = [data for event, data in story.events if event == "llm:stream_block_delta"]
        assert len(deltas) / 80 >= 20
        assert answer.count("## Part") == 12


@pytest.mark.parametrize("immediate", [False, True])
async def test_a_stop_in_a_long_answer_keeps_what_was_said_and_the_next_turn_works(
    tmp_path: Path, immediate: bool
):
    pace = 0 if not immediate else 50
    async with demo(tmp_path, allow, pace) as story:
        token = story.session.coordinator.cancellation
        seen = asyncio.Event()

        def watch(event: str, data: dict[str, Any]) -> None:
            if data["block_type"] == "text":
                token.request_immediate() if immediate else token.request_graceful()
                seen.set()

        story.session.coordinator.hooks.register("llm:stream_block_delta", watch)
        turn = asyncio.create_task(story.session.execute("write a long story"))
        await seen.wait()
        if immediate:
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            assert (await story.rows())[-1]["metadata"] == {"interrupted": True}
        else:
            assert "Part 12" in await turn
        token.reset()
        provider = story.session.coordinator.get("providers", "mock")
        provider.settings = MockSettings(tokens_per_second=0)
        assert "Go on" in await story.session.execute("Go on")


async def test_stopping_at_the_command_ends_it_and_leaves_a_whole_conversation(tmp_path: Path):
    async with demo(tmp_path, allow) as story:
        (story.workspace / "tests" / "test_slow.py").write_text("import time\ntime.sleep(60)\n")
        turn = asyncio.create_task(story.session.execute(PROMPT))
        running = story.session.coordinator.cancellation
        while running.running_tool_names != ["bash"]:
            await asyncio.sleep(0.01)
        running.request_immediate()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (await story.rows())[-1]["content"].startswith("Interrupted by the user")
        assert running.running_tool_names == []


async def test_the_events_are_logged_in_the_sessions_folder(tmp_path: Path, own_home: Path):
    async with demo(tmp_path, allow) as story:
        await story.session.execute(PROMPT)
    (log,) = own_home.glob(".amplifier/projects/*/sessions/*/events.jsonl")
    assert '"event": "orchestrator:complete"' in log.read_text()
