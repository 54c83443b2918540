"""A replay whose session does not go on."""

from concurrent.futures import Future
from pathlib import Path
from typing import cast

import pytest

from amplifier_tui.host.cassettes import conversing
from amplifier_tui.host.cassettes.conversing import ReplayError, ReplayOrder, play
from amplifier_tui.host.client import SessionClient
from amplifier_tui.host.events import HandlerHolds, HostEvent, SessionOpened, TurnStarted
from tests.host.cassettes.taped import taped
from tests.host.driving import MODULES

S = "session"


class Held:
    """A client of a session that opens, and whose hook does not answer."""

    def __init__(self, *after: HostEvent) -> None:
        opened = SessionOpened(session_id=S, bundle="taped", cwd="/x", directory="/x")
        self._come: list[list[HostEvent]] = [
            [opened],
            [TurnStarted(session_id=S, turn=1, prompt="go"), *after],
        ]

    def __getattr__(self, _name: str) -> object:
        return lambda *_args, **_named: None

    def drain(self) -> list[HostEvent]:
        return self._come.pop(0) if self._come else []

    def close(self) -> Future[None]:
        closed: Future[None] = Future()
        closed.set_result(None)
        return closed


@pytest.mark.parametrize("answers", [False, True])
def test_a_hook_that_a_replay_waits_for_is_named_at_once_and_where_it_never_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    cassette = taped()
    monkeypatch.setattr(conversing, "PATIENCE", 0.0)
    holds = {"session_id": S, "event": "tool:pre", "handler": "hooks-slow"}
    after = [HandlerHolds(**holds)] + [HandlerHolds(**holds, over=True)] * answers
    told: list[str] = []
    client = cast(SessionClient, Held(*after))
    with pytest.raises(ReplayError) as failed:
        play(cassette, ReplayOrder(tmp_path), client, told.append)
    waits = "tool:pre waits for the hook hooks-slow"
    assert told == [waits]
    assert (waits in str(failed.value)) is not answers
