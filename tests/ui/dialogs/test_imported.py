"""Sessions of other programs in the app: listed, read, and gone on from."""

import pytest

from amplifier_tui.host.client import (
    ImportedCard,
    ImportedText,
    SearchFound,
    SearchHit,
    SessionCard,
)
from amplifier_tui.ui.dialogs.sessions.imported import ImportedSheet, ImportPicker
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient
from tests.ui.fake_imported import failed

CARD = ImportedCard(
    key="codex:1", origin="codex", title="List [red]the\x1b[31m files", cwd="/work/app"
)
FOUND = ImportedText(card=CARD, text="## You\n\nList the files\x1b[31m\n\n## Assistant\n\nOne.")


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (40, 12)])
async def test_one_is_read_and_forked_by_keys(size: tuple[int, int]) -> None:
    async with running(FakeClient(foreign=(FOUND,)), size=size) as driver:
        await driver.write("/import")
        await driver.press("enter")
        await driver.dialog(ImportPicker)
        await driver.until(lambda: "List [red]the f" in driver.text())
        assert "Codex" in driver.text()
        await driver.press("enter")
        await driver.dialog(ImportedSheet)
        assert "One." in driver.text() and "read-only" in driver.text()
        await driver.press("slash")
        await driver.write("One")
        await driver.press("enter", "escape", "f")
        await driver.closed()
        assert ("fork_imported", "codex:1") in driver.client.calls


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (40, 12)])
@pytest.mark.parametrize("length", [1, 60])
async def test_its_keys_stand_at_the_foot_and_can_be_clicked(
    size: tuple[int, int], length: int
) -> None:
    found = ImportedText(card=CARD, text="\n\n".join(["One."] * length))
    async with running(FakeClient(foreign=(found,)), size=size) as driver:
        await driver.app.run_by_id("session.import", CARD.key)
        await driver.dialog(ImportedSheet)
        rows = driver.text().splitlines()
        assert any("esc  Close" in row for row in rows)
        y = next(y for y, row in enumerate(rows) if "f  Fork into a session here" in row)
        await driver.pilot.click(offset=(rows[y].index("Fork"), y))
        await driver.closed()
        assert ("fork_imported", CARD.key) in driver.client.calls


async def test_where_there_is_none_it_is_said_and_one_that_cannot_be_read_is_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(size=(100, 30)) as driver:
        await driver.app.run_by_id("session.import")
        await driver.dialog(ImportPicker)
        await driver.until(lambda: "import: off" in driver.text())
        await driver.press("escape")
        await driver.closed()
        driver.client.foreign = (FOUND,)
        await driver.app.run_by_id("session.import")
        await driver.dialog(ImportPicker)
        await driver.until(lambda: "the files" in driver.text())
        driver.client.foreign = ()
        await driver.press("enter")
        await driver.until(lambda: "It can't be read: it is gone" in driver.text())
        odd = failed(KeyError("payload"))
        monkeypatch.setattr(driver.client, "read_imported", lambda key: odd)
        await driver.app.run_by_id("session.import", "codex:1")
        await driver.until(lambda: "It can't be read: 'payload'" in driver.text())


async def test_a_hit_in_one_is_read_and_not_opened_as_ours() -> None:
    card = SessionCard(session_id=CARD.key, key=CARD.key, title="List files", origin="codex")
    found = SearchFound(hits=(SearchHit(card=card, kind="prompt", text="List the files"),))
    async with running(FakeClient(found=found, foreign=(FOUND,)), size=(80, 24)) as driver:
        await driver.write("/search files")
        await driver.press("enter")
        await driver.until(lambda: "Codex · List files" in driver.text())
        await driver.press("enter")
        await driver.dialog(ImportedSheet)
        assert not [call for call in driver.client.calls if call[0] in ("resume", "open")][1:]
