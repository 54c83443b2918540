import asyncio
import json
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.modules import hooks_logging
from amplifier_tui.modules import hooks_logging as session_log
from amplifier_tui.modules.hooks_logging import log_path


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's folder is the project, in which files of state have their place."""
    monkeypatch.chdir(tmp_path)


class Log:
    """A session whose events are logged."""

    def __init__(self, path: Path, **capabilities: Any) -> None:
        self.path = path
        session = SimpleNamespace(session_id="s1", parent_id=None, config={})
        self.coordinator = ModuleCoordinator(session)
        self.hooks = self.coordinator.hooks
        self.hooks.set_default_fields(session_id="s1", parent_id=None)
        for name, value in capabilities.items():
            self.coordinator.register_capability(name.replace("__", "."), value)
        self.close: Any = None

    async def mount(self, **config: Any) -> "Log":
        config = {"session_log_template": str(self.path), **config}
        self.close = await hooks_logging.mount(self.coordinator, config)
        return self

    async def ready(self) -> None:
        await hooks_logging.on_session_ready(self.coordinator)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def events(self) -> list[str]:
        return [line["event"] for line in self.lines()]


@pytest.fixture
async def log(tmp_path: Path) -> Log:
    return await Log(tmp_path / "deep" / "events.jsonl").mount()


async def test_it_is_found_by_its_id_with_what_it_does_when_the_session_is_ready(tmp_path: Path):
    coordinator = ModuleCoordinator()
    config = {"session_log_template": str(tmp_path / "x")}
    mount = await ModuleLoader(coordinator).load("hooks-logging", config)
    cleanup = await mount(coordinator)
    assert mount.__on_session_ready__[0] == "hooks-logging"
    await cleanup()
    assert not any(coordinator.hooks.list_handlers().values())


@pytest.mark.parametrize(
    "config",
    [
        {"level": "LOUD"},
        {"session_log_template": 3},
        {"additional_events": 3},
        {"enabled": "yes"},
        {"priority": "first"},
    ],
)
async def test_a_mistake_in_the_config_is_told(config: dict[str, Any]):
    with pytest.raises(ValueError, match="hooks-logging"):
        await hooks_logging.mount(ModuleCoordinator(), config)


async def test_an_event_becomes_a_line(log: Log):
    await log.hooks.emit("tool:pre", {"tool_name": "bash", "tool_input": {"command": "ls"}})
    await log.close()
    (line,) = log.lines()
    assert line["event"] == "tool:pre"
    assert (line["lvl"], line["session_id"]) == ("INFO", "s1")
    assert line["schema"] == {"name": "amplifier.log", "ver": "1.0.0"}
    assert line["data"] == {"tool_name": "bash", "tool_input": {"command": "ls"}}
    assert line["ts"].endswith("+00:00")


async def test_every_event_is_on_disk_when_a_turn_ends(log: Log):
    await log.hooks.emit("execution:start", {"prompt": "Hi"})
    await log.hooks.emit("execution:end", {"status": "completed"})
    assert log.events() == ["execution:start", "execution:end"]


async def test_a_line_reaches_the_disk_soon_without_a_turns_end(
    log: Log, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(session_log, "FLUSH_AFTER", 0.01)
    await log.hooks.emit("tool:pre", {"tool_name": "x"})
    while not log.path.exists() or not log.path.read_text():
        await asyncio.sleep(0.01)
    assert log.events() == ["tool:pre"]


async def test_many_events_stay_in_their_order(log: Log):
    for n in range(2_000):
        await log.hooks.emit("tool:pre", {"n": n})
    await log.close()
    assert [line["data"]["n"] for line in log.lines()] == list(range(2_000))


async def test_levels_decide_what_is_written(tmp_path: Path):
    for level, expected in (
        ("INFO", ["tool:pre", "provider:retry", "provider:error"]),
        ("WARNING", ["provider:retry", "provider:error"]),
        ("ERROR", ["provider:error"]),
        (
            "DEBUG",
            [
                "tool:pre",
                "llm:stream_block_delta",
                "tool:progress",
                "provider:retry",
                "provider:error",
            ],
        ),
    ):
        log = await Log(tmp_path / level).mount(level=level)
        log.coordinator.register_contributor(
            "observability.events", "x", lambda: ["llm:stream_block_delta", "tool:progress"]
        )
        await log.ready()
        for event in (
            "tool:pre",
            "llm:stream_block_delta",
            "tool:progress",
            "provider:retry",
            "provider:error",
        ):
            await log.hooks.emit(event, {"text": "x"})
        await log.close()
        assert log.events() == expected


async def test_announced_and_additional_events_are_written_once(tmp_path: Path):
    log = await Log(tmp_path / "x").mount(additional_events=["mine", "tool:progress"])
    for announced in (["theirs", "tool:pre"], ("theirs",), "single", 3, None, [4]):
        log.coordinator.register_contributor(
            "observability.events", "x", lambda announced=announced: announced
        )
    await log.ready()
    for event in ("mine", "theirs", "single", "tool:pre", "tool:progress", "unheard:of"):
        await log.hooks.emit(event, {})
    await log.close()
    assert log.events() == ["mine", "theirs", "single", "tool:pre", "tool:progress"]


@pytest.mark.parametrize("told", ["before", "after"])
async def test_where_the_host_writes_the_file_nothing_is_written_twice(tmp_path: Path, told: str):
    log = Log(tmp_path / "events.jsonl")
    host = {"session__events_path": str(tmp_path / "." / "events.jsonl")}
    if told == "before":
        log = Log(tmp_path / "events.jsonl", **host)
    await log.mount()
    log.coordinator.register_capability("session.events_path", host["session__events_path"])
    await log.ready()
    await log.hooks.emit("tool:pre", {})
    await log.close()
    assert not any(log.hooks.list_handlers().values())
    assert not log.path.exists()


async def test_another_file_than_the_hosts_is_written(tmp_path: Path):
    log = await Log(tmp_path / "mine", session__events_path=str(tmp_path / "theirs")).mount()
    await log.ready()
    await log.hooks.emit("tool:pre", {})
    await log.close()
    assert log.events() == ["tool:pre"]


async def test_secrets_are_not_written(log: Log):
    await log.hooks.emit(
        "tool:pre",
        {
            "api_key": "hidden-1",
            "nested": [{"Authorization": "hidden-2"}],
            "text": "use sk-abcdefgh1234ijklmnopqrst and ghp_" + "a" * 36,
            "header": "Bearer " + "t0ken" * 6,
        },
    )
    await log.close()
    text = log.path.read_text()
    assert "hidden" not in text and "abcdefgh" not in text and "t0ken" not in text
    assert text.count("[REDACTED]") == 5


async def test_the_messages_of_a_request_are_counted_and_only_kept_when_debugging(tmp_path: Path):
    for level, expected in (("INFO", {"message_count": 2}), ("DEBUG", {"messages": [{}, {}]})):
        log = await Log(tmp_path / level).mount(level=level)
        await log.hooks.emit("provider:request", {"messages": [{}, {}]})
        await log.close()
        assert log.lines()[0]["data"] == expected


async def test_a_line_is_one_line_whatever_is_in_it(log: Log):
    await log.hooks.emit("tool:pre", {"text": "a\nb\r\n\u2028\x00 漢 \ud800"})
    await log.close()
    assert log.path.read_bytes().count(b"\n") == 1
    assert json.loads(log.path.read_bytes().decode("utf-8", "surrogateescape"))["event"]


async def test_a_torn_last_line_does_not_swallow_the_next_one(log: Log):
    log.path.parent.mkdir()
    log.path.write_text('{"event": "cut o')
    await log.hooks.emit("tool:pre", {})
    await log.close()
    assert json.loads(log.path.read_text().splitlines()[1])["event"] == "tool:pre"


async def test_the_file_is_for_its_owner_alone(log: Log):
    await log.hooks.emit("tool:pre", {})
    await log.close()
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


async def test_a_disk_that_refuses_ends_the_log_and_nothing_else(tmp_path: Path, caplog: Any):
    log = await Log(tmp_path / "file" / "events.jsonl").mount()
    (tmp_path / "file").write_text("in the way")
    for _ in range(3):
        result = await log.hooks.emit("execution:end", {})
        assert result.action == "continue"
    await log.close()
    assert sum("can't be written" in record.message for record in caplog.records) == 1


async def test_it_can_be_switched_off(tmp_path: Path):
    log = await Log(tmp_path / "x").mount(enabled=False)
    await log.ready()
    await log.hooks.emit("tool:pre", {})
    await log.close()
    assert not log.path.exists()


async def test_closing_twice_is_fine(log: Log):
    await log.hooks.emit("tool:pre", {})
    await log.close()
    await log.close()
    assert log.events() == ["tool:pre"]


def coordinator(session_id: str, folder: str | None = None) -> ModuleCoordinator:
    made = ModuleCoordinator(SimpleNamespace(session_id=session_id, parent_id=None, config={}))
    if folder:
        made.register_capability("session.working_dir", folder)
    return made


def test_the_default_place_is_the_sessions_folder(tmp_path: Path):
    home = Path(os.environ["AMPLIFIER_HOME"])
    slug = str(tmp_path.resolve()).replace("/", "-")
    assert log_path(None, coordinator("s1", str(tmp_path))) == (
        home / "projects" / slug / "sessions" / "s1" / "events.jsonl"
    )


@pytest.mark.parametrize("session_id", ["../../x", "a/b", "..", "", "x" * 500, "a\0b"])
def test_no_session_id_leads_out_of_the_folder(tmp_path: Path, session_id: str):
    path = log_path(f"{tmp_path}/{{session_id}}/log", coordinator(session_id))
    assert path.parent.parent == tmp_path
    assert len(path.parent.name) <= 200


def test_a_template_may_hold_other_braces(tmp_path: Path):
    path = log_path(f"{tmp_path}/{{x}}-{{session_id}}", coordinator("s1"))
    assert path == tmp_path / "{x}-s1"
