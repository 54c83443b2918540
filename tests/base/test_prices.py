"""Prices as others list them, read in a process of their own."""

import asyncio
import gc
import sys
import warnings
from pathlib import Path

import pytest

from amplifier_tui.base import prices
from amplifier_tui.base.prices import ListPrice, is_near, list_prices, price_at

ANTHROPIC = ("https://api.anthropic.com", "claude-sonnet-4-5")
LUNA = ("openai", "gpt-6-luna")
NEAR = ("http://127.0.0.1:11434/v1", "gpt-5")
ODD = ("https://api.openai.com/v1", "no-such-model; rm -rf ~")


async def test_models_have_the_prices_of_whoever_serves_them() -> None:
    both = await asyncio.gather(
        list_prices([ANTHROPIC, LUNA, NEAR]), list_prices([LUNA, ODD, ("", "x")])
    )
    assert both[0][ANTHROPIC][0][:3] == (0, "3", "15")
    assert NEAR not in both[0], "what is served next door has no price list"
    assert both[1] == {LUNA: both[0][LUNA], ODD: ()}
    assert len(both[0][LUNA]) == 2, "long requests cost more"
    assert "genai_prices" not in sys.modules, "it would cost memory and hold up other threads"


async def test_prices_that_could_not_be_read_are_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "odd.py"
    odd.write_text("print('[' * 200_000)")
    asked = ("anthropic", "claude-haiku-4-5")
    with monkeypatch.context() as patched:
        patched.setattr(prices, "_READING", odd)
        patched.setattr(prices, "_known", {})
        assert await list_prices([asked]) == {asked: ()}
    assert (await list_prices([asked]))[asked]


@pytest.mark.filterwarnings("error")
def test_a_loop_may_end_while_prices_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "go"
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import pathlib, time\n"
        f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
        'print(\'{"found": [[[0, "1", "5", null, null]]], "source": "a list of today"}\')\n'
    )
    asked = ("anthropic", "slow-model")
    monkeypatch.setattr(prices, "_READING", slow)
    with warnings.catch_warnings():
        # What tests before this one left behind is not looked at here.
        warnings.simplefilter("ignore")
        gc.collect()
    # A loop of its own, that is closed at once.
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(list_prices([asked]), 0.05))
    gc.collect()
    go.touch()
    found = asyncio.run(list_prices([asked]))
    assert found[asked] == (ListPrice(0, "1", "5", source="a list of today"),)


def test_a_price_is_that_of_the_size_of_the_request() -> None:
    listed = [ListPrice(0, "1", "5"), ListPrice(200_000, "2", "8")]
    assert [price_at(listed, n) for n in (0, 200_000, 200_001)] == [*listed[:1] * 2, listed[1]]
    assert price_at([], 1) is None


def test_a_server_on_this_machine_or_in_its_network_is_near() -> None:
    near = ("http://localhost:1234/v1", "http://10.0.0.7/v1", "http://[::1]:8000", "http://gpu:80")
    far = ("https://api.anthropic.com", "https://8.8.8.8/v1", "anthropic", "")
    assert [is_near(place) for place in (*near, *far)] == [True] * 4 + [False] * 4
