import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.cancellation import CancellationState, CancellationToken


def test_states_are_their_values() -> None:
    assert [state.value for state in CancellationState] == ["none", "graceful", "immediate"]
    assert CancellationState("graceful") is CancellationState.GRACEFUL
    assert f"{CancellationState.IMMEDIATE}" == "immediate"
    assert json.dumps(CancellationState.NONE) == '"none"'


def test_a_new_token_asks_for_nothing() -> None:
    token = CancellationToken()
    assert token.state == "none"
    assert token.state is CancellationState.NONE
    assert (token.is_cancelled, token.is_graceful, token.is_immediate) == (False, False, False)
    assert token.running_tools == set()
    assert token.running_tool_names == []


def test_a_graceful_request_counts_once() -> None:
    token = CancellationToken()
    assert token.request_graceful() is True
    assert token.request_graceful() is False
    assert (token.is_cancelled, token.is_graceful, token.is_immediate) == (True, True, False)
    assert token.state == "graceful"


def test_an_immediate_request_counts_once_also_after_a_graceful_one() -> None:
    token = CancellationToken()
    token.request_graceful()
    assert token.request_immediate() is True
    assert token.request_immediate() is False
    assert token.request_graceful() is False
    assert (token.is_graceful, token.is_immediate) == (False, True)


def test_request_cancellation_is_graceful_and_says_nothing() -> None:
    token = CancellationToken()
    assert token.request_cancellation() is None
    assert token.is_graceful


def test_running_tools_are_known_by_id_and_name() -> None:
    token = CancellationToken()
    token.register_tool_start("1", "bash")
    token.register_tool_start("2", "web")
    token.running_tools.clear()
    assert token.running_tools == {"1", "2"}
    assert token.running_tool_names == ["bash", "web"]
    token.register_tool_complete("1")
    token.register_tool_complete("unknown")
    assert token.running_tools == {"2"}


def test_reset_forgets_the_request_and_the_tools_but_not_children() -> None:
    parent, child = CancellationToken(), CancellationToken()
    parent.register_child(child)
    parent.request_graceful()
    parent.register_tool_start("1", "bash")
    parent.reset()
    assert parent.state == "none"
    assert parent.running_tools == set()
    assert child.is_graceful
    parent.request_immediate()
    assert child.is_immediate


def test_a_child_gets_the_present_request_at_once_and_later_ones_too() -> None:
    parent, child = CancellationToken(), CancellationToken()
    parent.request_graceful()
    parent.register_child(child)
    assert child.is_graceful
    parent.request_immediate()
    assert child.is_immediate


def test_an_unregistered_child_hears_nothing() -> None:
    parent, child = CancellationToken(), CancellationToken()
    parent.register_child(child)
    parent.register_child(child)
    parent.unregister_child(child)
    parent.unregister_child(child)
    parent.request_immediate()
    assert not child.is_cancelled


def test_tokens_that_are_each_others_children_do_not_loop() -> None:
    one, two = CancellationToken(), CancellationToken()
    one.register_child(two)
    two.register_child(one)
    assert one.request_graceful() is True
    assert two.is_graceful


def test_a_token_is_hashable_by_identity() -> None:
    one, two = CancellationToken(), CancellationToken()
    assert len({one, two, one}) == 2


async def test_callbacks_run_all_sync_and_async_and_what_they_raise_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    token = CancellationToken()
    ran: list[str] = []

    async def not_sync() -> None:
        ran.append("async")

    def fails() -> None:
        raise RuntimeError("boom")

    def cancels() -> None:
        raise asyncio.CancelledError

    for callback in (lambda: ran.append("sync"), fails, cancels, not_sync):
        token.on_cancel(callback)
    await token.trigger_callbacks()
    assert ran == ["sync", "async"]
    assert "boom" in caplog.text
    token.reset()
    await token.trigger_callbacks()
    assert ran == ["sync", "async"] * 2


def test_the_first_fatal_error_of_a_callback_comes_after_all_ran() -> None:
    token = CancellationToken()
    ran: list[str] = []

    def exits() -> None:
        raise SystemExit(1)

    def interrupts() -> None:
        raise KeyboardInterrupt

    for callback in (exits, interrupts, lambda: ran.append("last")):
        token.on_cancel(callback)
    with pytest.raises(SystemExit):
        token.trigger_callbacks().send(None)
    assert ran == ["last"]


async def test_cancelling_the_task_that_runs_callbacks_gets_through() -> None:
    token = CancellationToken()
    ran: list[str] = []
    started = asyncio.Event()

    async def hangs() -> None:
        started.set()
        await asyncio.Event().wait()

    token.on_cancel(hangs)
    token.on_cancel(lambda: ran.append("last"))
    task = asyncio.create_task(token.trigger_callbacks())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ran == ["last"]


order = {"none": 0, "graceful": 1, "immediate": 2}


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["graceful", "immediate", "child"])),
        max_size=20,
    )
)
def test_a_child_is_never_asked_less_than_its_parent(steps: list[tuple[int, str]]) -> None:
    tokens = [CancellationToken() for _ in range(4)]
    for index, step in steps:
        if step == "child" and index < 3:
            tokens[index].register_child(tokens[index + 1])
        elif step == "graceful":
            before = tokens[index].state
            assert tokens[index].request_graceful() is (before == "none")
        else:
            tokens[index].request_immediate()
    for index, token in enumerate(tokens[:-1]):
        if tokens[index + 1] in token._children:
            assert order[tokens[index + 1].state] >= order[token.state]
