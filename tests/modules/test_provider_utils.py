from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.message_models import Usage
from amplifier_tui.kernel.models import Pricing
from amplifier_tui.kernel.utils.conversation import clean_name, valid_unicode
from amplifier_tui.kernel.utils.llm_calls import usage_cost
from amplifier_tui.kernel.utils.retry import one_line, retry_after
from amplifier_tui.kernel.utils.tool_calls import parse_tool_arguments
from amplifier_tui.modules._provider import sdk
from amplifier_tui.modules.provider_anthropic import mount as mount_claude
from amplifier_tui.modules.provider_openai import mount as mount_gpt
from tests.modules.provider_support import coordinator_of


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_a_wait_is_read_from_the_headers(headers: dict, seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_wait_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < (retry_after({"retry-after": later}) or 0) <= 100


def test_a_gateways_page_becomes_one_short_line() -> None:
    line = one_line("<html>\n" + "<p>no</p>\n" * 1000)
    assert "\n" not in line
    assert len(line) <= 301


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<html><body><h1>502 Bad Gateway</h1></body></html>", "502 Bad Gateway"),
        (
            "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center>"
            "<h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center></body></html>",
            "502 Bad Gateway",
        ),
        (
            "<!DOCTYPE html>\n<html lang=en><head><title> </title><style>p > a {top: 0}</style>"
            "<script>if (a < b) {}</script></head><!-- > --><body>Down &amp; out.</body></html>",
            "Down & out",
        ),
        ("<html><body><script>never(", "an empty page"),
        ("<html></html>", "an empty page"),
        ("expected <html> here", "expected <html> here"),
    ],
)
def test_of_a_gateways_page_its_words_are_said(page: str, words: str) -> None:
    assert one_line(page) == words


def test_a_cost_needs_prices() -> None:
    usage = Usage(input_tokens=10, output_tokens=10, total_tokens=20)
    assert usage_cost(usage, None) is None
    both = Pricing(input_per_million=0.1, output_per_million=0.2)
    assert usage_cost(usage, both) == Decimal("0.000003")


def test_cache_tokens_without_prices_of_their_own_cost_what_input_costs() -> None:
    usage = Usage(
        input_tokens=10, output_tokens=0, total_tokens=10, cache_read_tokens=4, cache_write_tokens=3
    )
    prices = Pricing(input_per_million=1, output_per_million=2)
    assert usage_cost(usage, prices) == Decimal("0.00001")


@given(st.text())
def test_cleaned_names_are_names_every_api_takes(name: str) -> None:
    cleaned = clean_name(name)
    assert 1 <= len(cleaned) <= 64
    assert all(c.isascii() and (c.isalnum() or c in "_-") for c in cleaned)
    assert clean_name(cleaned) == cleaned


@given(st.text(st.characters()))
def test_valid_text_can_be_sent_and_keeps_its_length(text: str) -> None:
    sent = valid_unicode(text + "\ud800")
    sent.encode()
    assert sent == text.encode("utf-8", "replace").decode() + "?"


@given(st.text() | st.sampled_from(["{", "{}", '{"a": NaN}', "1" * 5000, '{"a": 1}}', "\ufeff{}"]))
def test_arguments_are_read_or_explained_and_never_raise(raw: str) -> None:
    arguments, problem = parse_tool_arguments(raw, "bash")
    assert isinstance(arguments, dict)
    if problem is not None:
        assert arguments == {}
        assert "bash" in problem
        assert len(problem) < 800


def test_what_python_alone_takes_for_json_is_refused() -> None:
    assert parse_tool_arguments('{"a": NaN}', "bash")[1] is not None


@pytest.mark.parametrize(("mount", "package"), [(mount_claude, "anthropic"), (mount_gpt, "openai")])
async def test_without_its_sdk_a_provider_says_what_to_install(
    mount: Any, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdk, "find_spec", lambda _: None)
    coordinator = coordinator_of()
    with pytest.raises(ConfigurationError, match=rf"pip install 'amplifier-tui\[{package}\]'"):
        await mount(coordinator, {"api_key": "sk-test"})
    assert not coordinator.get("providers")
