"""How an editor is told that a turn has ended."""

import asyncio
from typing import Any

import pytest

from amplifier_tui.cli.acp.turn import EditorTurn
from amplifier_tui.host.events import TurnEnded


@pytest.mark.parametrize(
    ("by", "reason"),
    [
        ({"declined": True}, "refusal"),
        # Editors would take the prompt out of the conversation, and with it what was done.
        ({"denied": "out of money"}, "end_turn"),
    ],
)
def test_an_editors_turn_is_refused_where_the_model_declined_and_not_where_a_hook_stopped_it(
    by: dict[str, Any], reason: str
) -> None:
    with asyncio.Runner() as runner:
        turn = EditorTurn(runner.get_loop().create_future())
        turn.settle(TurnEnded(session_id="s", turn=1, status="incomplete", **by))
        assert turn.answer.result().stop_reason == reason
