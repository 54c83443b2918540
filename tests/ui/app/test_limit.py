"""The limit of a session: set, shown beside the cost, asked about before it is passed."""

from dataclasses import replace
from time import time

import pytest

from amplifier_tui.host.client import SpendLimit
from amplifier_tui.host.events import (
    LimitAsked,
    LimitChanged,
    LimitResolved,
    TurnStarted,
    Usage,
    UsageChanged,
)
from amplifier_tui.ui.dialogs.questions import AskLine
from amplifier_tui.ui.state.formats import read_limit
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION

ASKED = LimitAsked(
    session_id=SESSION, request_id="l1", cost="5", used_cost="4.92", next_cost="0.31"
)


def client_limit(drive: Driver) -> SpendLimit:
    (limit,) = drive.client.named("set_limit")[-1]
    assert isinstance(limit, SpendLimit)
    return limit


@pytest.mark.parametrize(
    ("cost", "limit", "shown"),
    [
        ("0.0021", "0.001", "$0.002 of $0.001"),
        ("0.0042", "0.01", "<$0.01 of $0.01"),
        ("0.0004", "0.001", "<$0.001 of $0.001"),
        ("0.42", "0.0150", "$0.420 of $0.015"),
        (None, "0.001", "$0.00 of $0.001"),
        ("12.3", "5", "$12.30 of $5"),
    ],
)
async def test_what_is_spent_is_told_as_finely_as_its_limit(
    cost: str | None, limit: str, shown: str
) -> None:
    async with running() as drive:
        await drive.push(
            LimitChanged(session_id=SESSION, cost=limit),
            UsageChanged(session_id=SESSION, session=Usage(cost=cost), model="m"),
        )
        assert shown in drive.text().splitlines()[-1]


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_limit_is_set_shown_and_asked_about(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.write("/limit 5")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("set_limit", SpendLimit(cost="5"))
        await drive.push(
            LimitChanged(session_id=SESSION, cost="5"),
            UsageChanged(session_id=SESSION, session=Usage(cost="4.92"), model="m"),
            TurnStarted(session_id=SESSION, at=time(), turn=1, prompt="go"),
            ASKED,
        )
        screen = drive.text()
        assert "$4.92 of $5" in screen.splitlines()[-1]
        assert "! limit" in screen.splitlines()[-1]
        assert "working" not in screen.splitlines()[-1], "it waits for the user"
        assert "The next request may pass the limit. $4.92 of $5 used, about $0.31" in screen
        row = next(
            at for at, line in enumerate(screen.splitlines()) if "raise the limit to $10" in line
        )
        column = screen.splitlines()[row].index("raise the limit to $10")
        await drive.pilot.click(offset=(column + 1, row))
        await drive.until(
            lambda: drive.client.named("set_limit")[-1:] == [(SpendLimit(cost="10"),)]
        )
        await drive.press("ctrl+x", "colon")
        assert drive.client.calls[-1] == ("answer_limit", "l1", True)
        await drive.push(LimitResolved(session_id=SESSION, request_id="l1"))
        assert "may pass the limit" not in drive.text() and "! limit" not in drive.text()
        assert "working" in drive.text().splitlines()[-1]
        await drive.push(replace(ASKED, request_id="l2", used_cost="19"))
        assert "The limit is passed. $19.00 of $5 used" in drive.text()
        assert "raise the limit to $20" in drive.text(), "twice is not enough"
        await drive.press("ctrl+x", "asterisk")
        assert client_limit(drive) == SpendLimit(cost="20"), "twice as often as it takes"
        await drive.push(LimitResolved(session_id=SESSION, request_id="l2"))
        unknown = Usage(input_tokens=30, cost="4.92", unpriced_tokens=30)
        await drive.push(UsageChanged(session_id=SESSION, session=unknown))
        assert "$4.92 + ? of $5" in drive.text()
        await drive.write("/once")
        await drive.press("enter")
        assert "Nothing waits at a limit" in drive.text()


@pytest.mark.parametrize("size", [(120, 36), (60, 16)])
async def test_a_limit_can_be_read_while_it_is_typed(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.write("/limit")
        await drive.press("enter")
        await drive.dialog(AskLine)
        await drive.write("250k tokens")
        assert "250k tokens" in drive.text()
        await drive.press("enter")
        await drive.closed()
        assert client_limit(drive) == SpendLimit(tokens=250_000)


async def test_a_long_label_leaves_room_for_what_is_typed() -> None:
    async with running(size=(60, 16)) as drive:
        drive.app.push_screen(AskLine("A label that is longer than the row of a dialog " * 3))
        await drive.dialog(AskLine)
        await drive.write("250k tokens")
        row = next(line for line in drive.text().splitlines() if "A label" in line)
        assert "…" in row and "250k tokens" in row


async def test_a_price_nobody_knows_is_shown_as_that_and_never_as_nothing() -> None:
    async with running(size=(80, 24)) as drive:
        used = Usage(input_tokens=20, output_tokens=10, unpriced_tokens=30)
        await drive.push(UsageChanged(session_id=SESSION, session=used))
        assert "  no price  " in drive.text().splitlines()[-1]
        await drive.push(LimitChanged(session_id=SESSION, cost="2"))
        assert "  no price, limit $2" in drive.text().splitlines()[-1]
        await drive.push(LimitChanged(session_id=SESSION, tokens=200_000))
        assert "30 of 200k" in drive.text().splitlines()[-1]
        await drive.write("/limit a lot")
        await drive.press("enter")
        assert "a lot is no limit" in drive.text() and not drive.client.named("set_limit")


async def test_a_limit_of_nothing_is_refused_and_takes_none_away() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.write("/limit 0")
        await drive.press("enter")
        assert "0 is no limit" in drive.text() and not drive.client.named("set_limit")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5", SpendLimit(cost="5")),
        ("$2.50", SpendLimit(cost="2.50")),
        ("200k", SpendLimit(tokens=200_000)),
        ("1.5M tokens", SpendLimit(tokens=1_500_000)),
        ("900 tokens", SpendLimit(tokens=900)),
        ("900t", SpendLimit(tokens=900)),
        ("$5k", None),
        ("0", None),
        ("-5", None),
        ("1e9", None),
        ("5 dollars", None),
    ],
)
def test_limits_are_read_as_people_write_them(text: str, limit: SpendLimit | None) -> None:
    assert read_limit(text) == limit


async def test_the_amounts_at_a_limit_have_the_digits_it_takes_to_see_that_it_is_passed() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.push(
            TurnStarted(session_id=SESSION, at=time(), turn=1, prompt="go"),
            LimitAsked(
                session_id=SESSION,
                request_id="l1",
                tokens=200_000,
                used_tokens=199_440,
                next_tokens=580,
                cost="0.02",
                used_cost="0.0098",
                next_cost="0.0104",
            ),
        )
        screen = " ".join(drive.text().split())
        assert "$0.0098 of $0.02 used, about $0.0104 more" in screen
        assert "199,440 of 200,000 tokens used, about 580 more" in screen


async def test_what_the_limit_would_be_raised_to_is_said_in_tokens_too() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(
            LimitChanged(session_id=SESSION, tokens=10_000, cost="0.02"),
            TurnStarted(session_id=SESSION, at=time(), turn=1, prompt="go"),
            LimitAsked(
                session_id=SESSION,
                request_id="l1",
                tokens=10_000,
                used_tokens=39_000,
                next_tokens=2_000,
                cost="0.02",
            ),
        )
        assert "raise the limit to $0.04 and 80k tokens" in drive.text()
        await drive.press("ctrl+x", "asterisk")
        assert client_limit(drive) == SpendLimit(cost="0.04", tokens=80_000)
