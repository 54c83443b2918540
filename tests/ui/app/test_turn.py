import errno
import os

import pytest

from amplifier_tui.host.events import (
    BlockDelta,
    BlockStarted,
    Failed,
    QueueChanged,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.prompt.completion_popup import CompletionPopup
from amplifier_tui.ui.prompt.prompt import IDLE, RUNNING, STOPPING, STOPPING_NOW
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient, opened

TURN = TurnStarted(session_id=SESSION, turn=1, prompt="hello")
END = TurnEnded(session_id=SESSION, turn=1, status="success")


async def test_enter_sends_the_draft_and_empties_the_prompt() -> None:
    async with running() as drive:
        await drive.write("hello world")
        await drive.press("enter")
        assert drive.client.named("submit") == [("hello world",)]
        assert drive.draft == ""


async def test_an_empty_prompt_sends_nothing() -> None:
    async with running() as drive:
        await drive.write("   ")
        await drive.press("enter")
        assert drive.client.named("submit") == []


async def test_while_a_turn_runs_enter_steers_and_tab_queues() -> None:
    async with running() as drive:
        await drive.push(TURN)
        assert drive.app.main.prompt.input.placeholder == RUNNING
        await drive.write("use the other file")
        await drive.press("enter")
        await drive.write("then write tests")
        await drive.press("tab")
        assert drive.client.named("steer") == [("use the other file",)]
        assert drive.client.named("queue") == [("then write tests",)]
        assert drive.client.named("submit") == []


async def test_tab_without_a_running_turn_keeps_the_draft() -> None:
    async with running() as drive:
        await drive.write("hello")
        await drive.press("tab")
        assert drive.draft == "hello"
        assert drive.client.named("queue") == []


async def test_the_queue_is_shown_and_its_last_prompt_can_be_taken_back() -> None:
    async with running() as drive:
        await drive.push(
            TURN, QueueChanged(session_id=SESSION, items=("first", "second [b]x"), ids=("q1", "q2"))
        )
        assert "+2 queued  first" in drive.text()
        await drive.press("up")
        assert drive.client.named("unqueue") == [("q2",)]
        assert drive.draft == "second [b]x"
        await drive.push(QueueChanged(session_id=SESSION, items=()))
        assert "queued" not in drive.text()


async def test_what_steers_the_agent_is_shown_until_it_has_heard_it() -> None:
    async with running() as drive:
        await drive.push(TURN, QueueChanged(session_id=SESSION, items=(), steering=("less [b]x",)))
        assert "at the next step  less [b]x" in drive.text()
        both = QueueChanged(session_id=SESSION, items=("later",), steering=("less", "now"))
        await drive.push(both)
        assert "2 at the next step  less" in drive.text()
        assert "+1 queued  later" in drive.text()
        await drive.push(QueueChanged(session_id=SESSION, items=("later",)))
        assert "next step" not in drive.text()
        assert "+1 queued  later" in drive.text()


async def test_escape_stops_after_the_step_and_again_at_once() -> None:
    async with running() as drive:
        await drive.push(TURN)
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 1)]
        # The screen says so without having heard from the engine.
        assert drive.app.main.prompt.input.placeholder == STOPPING
        assert drive.app.state is not None and drive.app.state.activity.stop == "stopping…"
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 1), (True, 1)]
        assert drive.app.main.prompt.input.placeholder == STOPPING_NOW
        await drive.push(END)
        assert drive.app.main.prompt.input.placeholder == IDLE


async def test_escape_without_a_turn_interrupts_nothing() -> None:
    async with running() as drive:
        await drive.press("escape", "escape")
        assert drive.client.named("interrupt") == []


async def test_escape_closes_the_completion_before_it_stops_anything() -> None:
    async with running() as drive:
        await drive.push(TURN)
        await drive.write("/")
        assert drive.app.main.query_one(CompletionPopup).is_open
        await drive.press("escape")
        assert not drive.app.main.query_one(CompletionPopup).is_open
        assert drive.client.named("interrupt") == []
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 1)]


async def test_the_answer_is_on_screen_while_it_streams() -> None:
    async with running() as drive:
        await drive.push(
            TURN,
            BlockStarted(session_id=SESSION, block_id="b", kind="text"),
            BlockDelta(session_id=SESSION, block_id="b", text="The first words "),
        )
        await drive.until(lambda: "The first words" in drive.text())
        await drive.push(BlockDelta(session_id=SESSION, block_id="b", text="and the next."))
        await drive.until(lambda: "and the next." in drive.text())


async def test_a_failed_prompt_comes_back_to_an_empty_draft() -> None:
    async with running() as drive:
        await drive.push(
            Failed(session_id=SESSION, kind="authentication", message="No", prompt="do it")
        )
        assert drive.draft == "do it"


@pytest.mark.parametrize(
    ("keys", "draft"), [(["x"], "x"), (["right", "x"], "do itx"), (["ctrl+c"], ""), (["enter"], "")]
)
async def test_what_is_typed_after_a_failed_prompt_stands_in_its_place(
    keys: list[str], draft: str
) -> None:
    async with running() as drive:
        await drive.push(Failed(session_id=SESSION, kind="network", message="No", prompt="do it"))
        await drive.press(*keys)
        assert drive.draft == draft
        assert drive.client.named("submit") == ([("do it",)] if "enter" in keys else [])


async def test_of_prompts_that_fail_one_after_the_other_the_last_is_in_the_draft() -> None:
    def failed(prompt: str) -> Failed:
        return Failed(session_id=SESSION, kind="network", message="No", prompt=prompt)

    async with running() as drive:
        await drive.push(failed("the first"), failed("the second"))
        assert drive.draft == "the second"
        assert drive.app.main.prompt.input.selected_text == "the second"
        await drive.press("right", "!")
        await drive.push(failed("the third"))
        assert drive.draft == "the second!"


async def test_a_failed_prompt_does_not_touch_a_draft_that_was_begun() -> None:
    async with running() as drive:
        await drive.write("something else")
        await drive.push(Failed(session_id=SESSION, kind="network", message="No", prompt="do it"))
        assert drive.draft == "something else"


async def test_retry_sends_the_failed_prompt_once_more_and_clears_the_returned_draft() -> None:
    async with running() as drive:
        await drive.push(
            Failed(
                session_id=SESSION, kind="rate_limit", message="Wait", prompt="go", retryable=True
            )
        )
        await drive.press("ctrl+x", "r")
        assert drive.client.named("submit") == [("go",)]
        assert drive.draft == ""


async def test_a_prompt_sent_before_the_session_is_open_is_sent_when_it_is() -> None:
    client = FakeClient(silent=True)
    async with running(client, opened=False) as drive:
        await drive.write("early bird")
        await drive.press("enter")
        assert client.named("submit") == []
        assert "when the session is open  early bird" in drive.text()
        client.push(opened())
        await drive.until(lambda: client.named("submit") == [("early bird",)])
        await drive.until(lambda: "when the session is open" not in drive.text())


async def test_a_command_for_the_session_waits_for_it_in_the_order_of_what_was_sent() -> None:
    client = FakeClient(silent=True)
    async with running(client, opened=False) as drive:
        for text in ("/remember it rains", "early bird"):
            await drive.write(text)
            await drive.press("enter")
        assert [name for name, *_ in client.calls if name in ("remember", "submit")] == []
        client.push(opened())
        await drive.until(lambda: client.named("submit") == [("early bird",)])
        sent = [name for name, *_ in client.calls if name in ("remember", "submit")]
        assert sent == ["remember", "submit"]


async def test_a_prompt_sent_before_a_session_that_fails_to_open_comes_back() -> None:
    client = FakeClient(silent=True)
    async with running(client, opened=False) as drive:
        await drive.write("early bird")
        await drive.press("enter")
        assert drive.draft == ""
        client.push(Failed(session_id="", kind="bundle", message="broken"))
        await drive.until(lambda: drive.draft == "early bird")
        await drive.press("enter")
        assert client.named("submit") == []
        assert drive.draft == "early bird"


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 36), (200, 50)])
async def test_it_works_at_every_size(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.write("hello")
        await drive.press("enter")
        await drive.push(TURN)
        assert drive.client.named("submit") == [("hello",)]
        await drive.until(lambda: "hello" in drive.text())
        assert len(drive.text().splitlines()) == size[1]


async def test_what_cannot_be_written_is_told_in_words_and_the_prompt_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as drive:

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/home/u/history")

        monkeypatch.setattr(drive.app.history, "store", full)
        await drive.write("hello")
        await drive.press("enter")
        told = "The prompt history is not kept: No space left on device"
        await drive.until(lambda: told in drive.text())
        assert drive.client.named("submit")
