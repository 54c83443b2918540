import pytest

from amplifier_tui.foundation.session import (
    diagnose_transcript,
    repair_transcript,
    rewind_transcript,
)
from tests.foundation.session.conversations import CUT_OFF, TWO_TURNS, Row, result, said, user

LATE = [user("one"), said("", "a"), user("two"), result("a"), said("done")]
STRAY = [user("one"), result("gone"), said("done")]
UNANSWERED = [user("one"), said("", "a"), result("a"), user("two"), said("done")]
REUSED = [user("one"), said("", "a"), said("", "a"), result("a"), said("done")]


def test_a_good_transcript_is_healthy_and_stays_as_it_is() -> None:
    found = diagnose_transcript(TWO_TURNS)
    assert (found.status, found.recommended_action, found.failure_modes) == ("healthy", "none", ())
    assert repair_transcript(TWO_TURNS) == rewind_transcript(TWO_TURNS) == TWO_TURNS
    assert diagnose_transcript([]).status == "healthy"


@pytest.mark.parametrize(
    ("rows", "modes"),
    [
        (CUT_OFF, {"missing_tool_results"}),
        (LATE, {"ordering_violation", "incomplete_assistant_turn"}),
        (STRAY, {"ordering_violation"}),
        (UNANSWERED, {"incomplete_assistant_turn"}),
        (REUSED, {"missing_tool_results"}),
    ],
)
def test_what_is_wrong_is_named_and_mended(rows: list[Row], modes: set[str]) -> None:
    found = diagnose_transcript(rows)
    assert (set(found.failure_modes), found.status) == (modes, "broken")
    mended = repair_transcript(rows, found)
    assert diagnose_transcript(mended).status == "healthy"
    assert [row["content"] for row in mended if row["role"] == "user"] == [
        row["content"] for row in rows if row["role"] == "user"
    ]


def test_the_calls_and_turns_are_named() -> None:
    assert diagnose_transcript(CUT_OFF).orphaned_tool_ids == ("c",)
    assert diagnose_transcript(LATE).misplaced_tool_ids == ("a",)
    assert diagnose_transcript(UNANSWERED).incomplete_turns == (1,)


def test_going_back_ends_before_the_first_turn_that_is_broken() -> None:
    assert rewind_transcript(CUT_OFF) == CUT_OFF[:4]
    assert rewind_transcript(LATE) == []
