"""Writing the open session to a file, and going on from another program's, through the client."""

import json
from pathlib import Path

import pytest

from amplifier_tui.host.client import ExportRequest
from amplifier_tui.host.events import Failed, SessionOpened
from tests.host.driving import Driver, Project
from tests.host.session.test_forking import bundle, talk
from tests.host.store.imports import CODEX_ID, write_codex
from tests.servers import LoopbackServer


def test_the_open_session_is_exported_from_a_turn_on_with_its_whole_event_log(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    nothing = driver.client.export(ExportRequest(path="x.md")).result(10)
    assert nothing.problem == "No session is open"
    driver.open(bundle(project, server))
    talk(driver, server)
    done = driver.client.export(ExportRequest(path="out.md", from_turn=2)).result(10)
    text = Path(done.path).read_text()
    assert Path(done.path).parent == driver.cwd.resolve() and not done.problem and done.count == 4
    assert "prompt 1" not in text and "prompt 2" in text and "Answer 3." in text
    assert driver.client.export(ExportRequest(path="out.md")).result(10).exists
    asked = ExportRequest(path="log.jsonl", form="jsonl", events="prompt:*")
    logged = driver.client.export(asked).result(10)
    rows = [json.loads(line) for line in Path(logged.path).read_text().splitlines()]
    assert {row["event"].partition(":")[0] for row in rows} == {"prompt"} and len(rows) >= 3


def test_a_session_of_another_program_is_gone_on_from_in_one_of_ours(
    project: Project,
    driver: Driver,
    server: LoopbackServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "me" / ".codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "none"))
    write_codex(tmp_path / "me")
    driver.open(bundle(project, server))
    (card,) = driver.client.imported().result(10)
    assert card.key == f"codex:{CODEX_ID}"
    assert "There is one." in driver.client.read_imported(card.key).result(10).text
    with pytest.raises(RuntimeError, match="There is no session"):
        driver.client.read_imported("codex:x").result(10)
    driver.drain()
    driver.client.fork_imported("codex:x")
    assert "can't be forked" in driver.wait(Failed).message
    driver.client.fork_imported(card.key)
    forked = driver.wait(SessionOpened)
    rows = project.rows(forked.session_id)
    assert [row["role"] for row in rows][:3] == ["user", "user", "assistant"]
