"""The agent's commands in the background on the screen: said, listed, looked at, stopped."""

from dataclasses import replace

import pytest

from amplifier_tui.host.events import JobChanged, Notice
from amplifier_tui.ui.dialogs.jobs.listing import JobPicker
from amplifier_tui.ui.dialogs.jobs.output import JobSheet
from tests.ui.driving import running
from tests.ui.fake_client import SESSION


def job(number: int, command: str, tail: str = "", ended: str = "") -> JobChanged:
    return JobChanged(
        session_id=SESSION,
        job_id=f"job-{number}",
        command=command,
        running=not ended,
        state=ended or "running",
        tail=tail,
    )


async def test_what_runs_is_said_listed_looked_at_and_stopped() -> None:
    async with running() as drive:
        drive.client.printed = "one\x1b[2J\ntwo\n[red]three\n"
        await drive.push(job(1, "npm run dev"), job(1, "npm run dev", "listening on 3000"))
        assert "/jobs  in the background  npm run dev   listening on 3000" in drive.text()
        await drive.push(job(2, "make watch"))
        assert "/jobs  2 in the background  make watch" in drive.text()
        await drive.write("/jobs")
        await drive.press("enter")
        await drive.dialog(JobPicker)
        await drive.push(job(2, "make watch", ended="exit code 2"))
        assert "exit code 2" in drive.text()
        await drive.press("down", "enter")
        sheet = await drive.dialog(JobSheet)
        await drive.until(lambda: "[red]three" in drive.text())
        assert drive.client.named("job_text") == [("job-1",)]
        drive.client.printed = "one\ntwo\nthree\nfour"
        await drive.push(job(1, "npm run dev", "four"))
        await drive.until(lambda: "four" in drive.text())
        await drive.press("s")
        assert drive.client.named("stop_job") == [("job-1",)]
        await drive.push(job(1, "npm run dev", "four", ended="stopped"))
        assert "stopped" in drive.text()
        assert "Stop" not in " ".join(str(choice.words) for choice in sheet._choices())
        await drive.press("escape", "escape")
        await drive.until(lambda: drive.app.screen is drive.app.main)
        assert "in the background" not in drive.text()
        await drive.write("/stop-job")
        await drive.press("enter")
        assert "No command runs in the background." in drive.text()


async def test_what_is_added_to_the_output_leaves_the_place_that_is_read() -> None:
    async with running(size=(80, 24)) as drive:
        drive.client.printed = "\n".join(f"row {n}" for n in range(99))
        await drive.push(job(1, "make watch"))
        await drive.app.run_by_id("jobs.show")
        await drive.dialog(JobPicker)
        await drive.press("enter")
        await drive.dialog(JobSheet)
        await drive.until(lambda: "row 98" in drive.text())
        await drive.press("home", "j")
        drive.client.printed += "\nrow 99"
        await drive.push(job(1, "make watch", "row 99"))
        await drive.until(lambda: len(drive.client.named("job_text")) == 2)
        await drive.settle()
        assert "row 1\n" in "\n".join(row.rstrip() for row in drive.text().splitlines()) + "\n"
        await drive.press("end")
        drive.client.printed += "\nrow 100"
        await drive.push(job(1, "make watch", "row 100"))
        await drive.until(lambda: "row 100" in drive.text())


@pytest.mark.parametrize("column", [4, 20, 40])
async def test_a_click_on_the_row_that_says_what_runs_lists_it(column: int) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(job(1, "make watch"), job(2, "make test", "one row that it printed"))
        await drive.pilot.click("#notes", offset=(column, 0))
        await drive.dialog(JobPicker)


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_the_list_is_not_seen_above_the_output_it_leads_to(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        drive.client.printed = "one row"
        await drive.push(job(1, "make watch"), job(2, "make test"))
        await drive.app.run_by_id("jobs.show")
        await drive.dialog(JobPicker)
        await drive.press("enter")
        await drive.dialog(JobSheet)
        await drive.until(lambda: "one row" in drive.text())
        assert "In the background" not in drive.text() and "filter" not in drive.text()
        await drive.pilot.resize_terminal(*((80, 24) if size == (40, 12) else (40, 12)))
        await drive.settle()
        assert "one row" in drive.text() and "In the background" not in drive.text()
        await drive.press("escape")
        await drive.dialog(JobPicker)
        assert "In the background" in drive.text()


async def test_a_job_that_ended_with_its_session_is_a_row_and_is_listed() -> None:
    async with running() as drive:
        ended = job(1, "npm run [dev]", ended="ended with its session or before")
        await drive.push(replace(ended, earlier=True))
        assert "job-1 ended with its session or before: npm run [dev]" in drive.text()
        assert "in the background" not in drive.text()
        await drive.write("/jobs")
        await drive.press("enter")
        await drive.dialog(JobPicker)
        assert "npm run [dev]" in drive.text() and "ended with its session" in drive.text()


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_that_a_job_failed_stays_on_screen_when_its_row_goes(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.push(job(1, "make watch"))
        said = "job-1 ended after 4 s · exit code 2: make watch"
        notice = Notice(session_id=SESSION, level="warning", text=said, source="jobs")
        await drive.push(job(1, "make watch", ended="exit code 2"), notice)
        shown = " ".join(drive.text().split())
        assert "! job-1 ended after 4 s · exit code" in shown and "in the background" not in shown
        drive.app.state.notices.dismiss()
        await drive.settle()
        assert "job-1 ended after 4 s" in " ".join(drive.text().split())


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_a_job_without_network_says_that_nobody_reaches_it_and_what_to_do(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        alone = replace(job(1, "npm run dev"), no_network=True)
        await drive.push(alone)
        assert "/jobs  no network, in the back" in drive.text()
        await drive.push(job(2, "make watch"))
        assert "/jobs  1 without network, 2 in" in drive.text()
        await drive.app.run_by_id("jobs.show")
        await drive.dialog(JobPicker)
        assert "running" in drive.text() and "reached by nobody" not in drive.text()
        await drive.press("down")
        shown = " ".join(drive.text().split())
        assert "no network" in shown
        assert "its ports are reached by nobody" in shown and "outside of the sandbox" in shown
        await drive.press("enter")
        await drive.dialog(JobSheet)
        assert "no network" in drive.text()
        await drive.push(replace(alone, running=False, state="stopped"))
        await drive.press("escape")
        await drive.dialog(JobPicker)
        assert "no network" not in drive.text() and "reached by nobody" not in drive.text()


async def test_what_can_not_be_read_says_why() -> None:
    async with running() as drive:
        drive.client.printed = RuntimeError("No command runs in the background here")
        await drive.push(job(1, "x" * 300, "y" * 300))
        await drive.write("/jobs")
        await drive.press("enter")
        await drive.dialog(JobPicker)
        await drive.press("enter")
        await drive.dialog(JobSheet)
        await drive.until(lambda: "No command runs in the background here" in drive.text())


async def test_an_empty_list_offers_no_key_that_needs_a_row() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.app.run_by_id("jobs.show")
        await drive.dialog(JobPicker)
        assert "No command was run" in drive.text() and "Close" in drive.text()
        assert "Look" not in drive.text() and "ctrl+s" not in drive.text()
        await drive.push(job(1, "make watch"))
        await drive.until(lambda: "Look" in drive.text() and "ctrl+s" in drive.text())


async def test_the_text_of_the_first_row_is_broken_once_for_the_room_it_has() -> None:
    async with running(size=(100, 30)) as drive:
        await drive.push(replace(job(1, "npm run dev"), no_network=True))
        await drive.app.run_by_id("jobs.show")
        await drive.dialog(JobPicker)
        await drive.until(lambda: "outside of the sandbox." in drive.text())
        assert "it outside of the sandbox." in drive.text()
