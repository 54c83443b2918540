import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.text import short_count, span
from amplifier_tui.host.events import Usage
from amplifier_tui.ui.state.formats import (
    elapsed,
    limit_money,
    milliseconds,
    money,
    plural,
    short_model,
    short_path,
    spent_words,
    typed_number,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (812, "812"),
        (1000, "1k"),
        (10_300, "10.3k"),
        (200_000, "200k"),
        (999_949, "999.9k"),
        (999_950, "1M"),
        (1_250_000, "1.2M"),
        (-5_000, "-5k"),
    ],
)
def test_tokens(count: int, text: str) -> None:
    assert short_count(count) == text


@given(st.integers(0, 999_000_000))
def test_tokens_keep_to_their_column(count: int) -> None:
    assert len(short_count(count)) <= 6


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0.0, "0 ms"),
        (0.42, "0.4 ms"),
        (9.0, "9 ms"),
        (820.4, "820 ms"),
        (999.6, "1.0 s"),
        (1_234.0, "1.2 s"),
        (120_000.0, "2 min"),
        (7_300_000.0, "2 h"),
        (-1.0, "0 ms"),
        (math.nan, "0 ms"),
    ],
)
def test_milliseconds(ms: float, text: str) -> None:
    assert milliseconds(ms) == text


@given(st.floats(0, 86_400_000))
def test_milliseconds_keep_to_their_column(ms: float) -> None:
    assert len(milliseconds(ms)) <= 6


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-3, "0:00"),
        (math.nan, "0:00"),
        (math.inf, "0:00"),
        (7.9, "0:07"),
        (724, "12:04"),
        (3753, "1:02:33"),
    ],
)
def test_elapsed(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(8, "8 s"), (120, "2 min"), (125, "2 min 5 s"), (4320, "1 h 12 min"), (7200, "2 h")],
)
def test_span(seconds: float, text: str) -> None:
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, ""),
        ("", ""),
        ("0", "$0.00"),
        ("0.001", "<$0.01"),
        ("0.42", "$0.42"),
        ("12345.6", "$12,346"),
        ("free", ""),
        ("NaN", ""),
        ("Infinity", ""),
    ],
)
def test_money(amount: str | None, text: str) -> None:
    assert money(amount) == text


@pytest.mark.parametrize(
    ("cost", "unpriced", "text"),
    [("0.42", 0, "$0.42"), ("0.001", 9, "<$0.01 + ?"), (None, 9, "no price"), (None, 0, "")],
)
def test_a_part_without_a_price_is_said(cost: str | None, unpriced: int, text: str) -> None:
    assert spent_words(Usage(cost=cost, unpriced_tokens=unpriced)) == text


@pytest.mark.parametrize(
    ("limit", "text"),
    [("5", "$5"), ("12.5", "$12.50"), ("0.015", "$0.015"), ("0.0010", "$0.001"), ("x", "~")],
)
def test_a_limit_is_shown_as_it_was_set(limit: str, text: str) -> None:
    assert limit_money(limit) == text


@pytest.mark.parametrize(
    ("model", "text"),
    [
        ("claude-sonnet-4-5-20250929", "sonnet 4.5"),
        ("anthropic/claude-opus-4-1", "opus 4.1"),
        ("claude-sonnet-5", "sonnet 5"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("qwen3:8b", "qwen3:8b"),
        ("", ""),
    ],
)
def test_short_model(model: str, text: str) -> None:
    assert short_model(model) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/home/u/src/app", "~/src/app"),
        ("/home/u", "~"),
        ("/home/user2/x", "/home/user2/x"),
        ("", ""),
    ],
)
def test_short_path(path: str, text: str) -> None:
    assert short_path(path, "/home/u") == text


def test_plural() -> None:
    assert (plural(1, "row"), plural(0, "row")) == ("1 row", "0 rows")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("012", 12),
        ("", None),
        ("-1", None),
        ("٣", None),
        ("²", None),
        ("9" * 5_000, None),
    ],
)
def test_a_number_is_what_can_be_one_on_screen(text: str, number: int | None) -> None:
    assert typed_number(text) == number
