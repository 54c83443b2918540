"""What an orchestrator returns is the answer of its turn, however little it says while it runs."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.base.jsonl import Row
from amplifier_tui.cli.group import run as run_command
from amplifier_tui.host.events import BlockEnded, ModeChanged, Notice, ToolEnded, TurnEnded
from tests.host.driving import Driver, Project

LOOP = """
__amplifier_module_type__ = "orchestrator"

class Returning:
    def __init__(self, config):
        self.config = config

    async def execute(self, prompt, context, providers, tools, hooks, **more):
        adds = self.config.get("adds") or self.config.get("prompts")
        if adds and not self.config.get("forgets"):
            await context.add_message({"role": "user", "content": prompt})
        for event, data in self.config.get("emits", ()):
            await hooks.emit(event, data)
        if self.config.get("adds"):
            await context.add_message({"role": "assistant", "content": self.config["adds"]})
        await hooks.emit("orchestrator:complete", {"status": self.config.get("status", "success")})
        return self.config.get("returns", "The answer.")

async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Returning(config or {}))
"""
FIRST = {"request_id": "r1", "block_index": 0, "block_type": "text"}
ABORTED = ("llm:stream_aborted", FIRST)
AS_ADDED = [("user", "hi"), ("assistant", "The answer.")]


@pytest.fixture
def returning(project: Project, tmp_path: Path) -> Callable[..., str]:
    file = tmp_path / "loop-returning" / "amplifier_module_loop_returning" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(LOOP)
    source = str(tmp_path / "loop-returning")

    def make(*emits: tuple[str, dict[str, Any]], **config: Any) -> str:
        loop = {"module": "loop-returning", "source": source}
        loop["config"] = {"emits": [list(each) for each in emits], **config}
        return project.bundle(session={"orchestrator": loop})

    return make


def said(rows: list[Row]) -> list[tuple[str, str]]:
    return [(row["role"], row["content"]) for row in rows]


def whole(text: str, kind: str = "text") -> tuple[str, dict[str, Any]]:
    block = {"type": kind, kind: text}
    return "content_block:end", {"block_index": 0, "total_blocks": 1, "block": block}


def piece(text: str) -> tuple[str, dict[str, Any]]:
    return "llm:stream_block_delta", {**FIRST, "text": text}


@pytest.mark.parametrize("adds", ["", "The answer."], ids=["and adds no row", "and adds a row"])
def test_an_answer_that_is_only_returned_is_shown_and_stored_once(
    project: Project, drive: Callable[[], Driver], returning: Callable[..., str], adds: str
) -> None:
    driver = drive()
    opened = driver.open(returning(adds=adds))
    assert driver.turn("hi").status == "success"
    assert driver.answers() == ["The answer."]
    assert driver.turn("hi").status == "success"
    assert driver.answers() == ["The answer."] * 2
    driver.close()
    assert said(project.rows(opened.session_id)) == AS_ADDED * 2
    again = drive()
    again.open(resume="last")
    again.wait(ModeChanged)
    assert again.answers() == ["The answer."] * 2


@pytest.mark.parametrize(
    ("emits", "shown"),
    [
        ([whole("The answer.")], ["The answer."]),
        ([piece("The "), piece("answer.")], ["The answer."]),
        ([whole("First."), ("provider:request", {})], ["First."]),
        ([whole("hm", "thinking")], ["The answer."]),
        ([whole(" \n")], [" \n", "The answer."]),
        ([piece("Brok"), ABORTED], ["The answer."]),
        ([piece("Brok"), ("llm:stream_block_end", FIRST), ABORTED], ["Brok", "The answer."]),
    ],
    ids=["whole", "pieces", "a part", "only thought", "blank", "broken off", "void at its end"],
)
def test_only_where_no_words_were_shown_what_is_returned_is(
    project: Project,
    driver: Driver,
    returning: Callable[..., str],
    emits: list[tuple[str, dict[str, Any]]],
    shown: list[str],
) -> None:
    opened = driver.open(returning(*emits, adds="The answer."))
    driver.turn("hi")
    assert driver.answers() == shown
    assert said(project.rows(opened.session_id)) == AS_ADDED


def test_nothing_that_is_returned_is_nothing_that_is_shown(
    driver: Driver, returning: Callable[..., str]
) -> None:
    driver.open(returning(returns=" "))
    assert driver.turn("hi").remark == "The model answered nothing"
    assert driver.answers() == []


def test_the_returned_answer_comes_after_the_tools_and_before_the_end(
    driver: Driver, returning: Callable[..., str]
) -> None:
    call = {"tool_name": "echo", "tool_call_id": "c1", "tool_input": {}}
    done = {**call, "tool_result": {"success": True, "output": "x"}}
    driver.open(returning(("tool:pre", call), ("tool:post", done)))
    driver.turn("hi")
    order = [type(e) for e in driver.events if isinstance(e, ToolEnded | BlockEnded | TurnEnded)]
    assert order == [ToolEnded, BlockEnded, TurnEnded]


def test_what_a_loop_that_gave_up_returned_is_shown_and_stored(
    project: Project, driver: Driver, returning: Callable[..., str]
) -> None:
    opened = driver.open(returning(status="incomplete", returns="Gave up."))
    assert driver.turn("hi").status == "incomplete"
    assert driver.answers() == ["Gave up."]
    assert not driver.of(BlockEnded)[0].interrupted
    assert said(project.rows(opened.session_id)) == [("user", "hi"), ("assistant", "Gave up.")]


@pytest.mark.parametrize("forgets", [True, False])
def test_a_loop_that_asks_the_model_without_the_prompt_is_told_of_once(
    driver: Driver, returning: Callable[..., str], forgets: bool
) -> None:
    asks = ("provider:request", {"provider": "test"})
    driver.open(returning(asks, whole("Hm?"), adds="Hm?", returns="Hm?", forgets=forgets))
    for words in ("hi", "and again"):
        assert driver.turn(words).status == "success"
    told = [e for e in driver.of(Notice) if "did not add your prompt" in e.text]
    assert len(told) == forgets and all(e.level == "warning" for e in told)


@pytest.mark.parametrize("forgets", [True, False])
def test_an_answer_that_was_shown_and_is_in_no_row_is_stored_once_and_read_by_the_next_turn(
    project: Project, drive: Callable[[], Driver], returning: Callable[..., str], forgets: bool
) -> None:
    asks = ("provider:request", {"provider": "test"})
    driver = drive()
    pieces = [asks, piece("The "), piece("answer."), ("llm:stream_block_end", FIRST)]
    opened = driver.open(returning(*pieces, prompts=True, forgets=forgets))
    for _ in range(2):
        assert driver.turn("hi").status == "success"
    assert driver.answers() == ["The answer."] * 2
    told = [e for e in driver.of(Notice) if "did not add your prompt" in e.text]
    assert len(told) == forgets
    driver.close()
    assert said(project.rows(opened.session_id)) == AS_ADDED * 2
    again = drive()
    again.open(resume="last")
    again.wait(ModeChanged)
    assert again.answers() == ["The answer."] * 2


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_run_prints_the_answer_that_is_only_returned(
    project: Project,
    returning: Callable[..., str],
    output: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    arguments = ["--bundle", returning(), "--trust", "--output", output]
    assert run_command(["run", *arguments, "hi"]) == 0
    printed = capfd.readouterr().out
    answer = json.loads(printed)["answer"] if output == "json" else printed.strip()
    assert answer == "The answer."


@pytest.mark.parametrize("loop", ["as it is written", "without its events"])
def test_a_new_orchestrator_and_a_new_provider_hold_a_conversation_together(
    project: Project, driver: Driver, tmp_path: Path, loop: str
) -> None:
    for kind in ("orchestrator", "provider"):
        assert run_command(["module", "new", kind, "mine", "--in", str(tmp_path)]) == 0
    folders = [tmp_path / f"amplifier-module-{name}-mine" for name in ("loop", "provider")]
    if loop == "without its events":
        (file,) = folders[0].glob("amplifier_module_*/__init__.py")
        written = file.read_text()
        assert '"content_block:end"' in written
        file.write_text(written.replace('"content_block:', '"mine:'))
    orchestrator, provider = (
        {"module": folder.name.removeprefix("amplifier-module-"), "source": str(folder)}
        for folder in folders
    )
    session = {"orchestrator": orchestrator}
    opened = driver.open(project.bundle(session=session, providers=[provider]))
    for words in ("hello", "and again"):
        assert driver.turn(words).status == "success"
    assert driver.answers() == ["hello", "and again"]
    roles = [row["role"] for row in project.rows(opened.session_id)]
    assert roles == ["user", "assistant"] * 2
