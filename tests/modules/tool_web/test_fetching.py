"""``web_fetch``: limits, what is read, what is told, and what is kept."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from amplifier_tui.base.config import SettingsError
from tests.modules.tool_web.support import HTML, Page, Site, fetch, kind, web_tools


async def call(tool: Any, **arguments: Any) -> Any:
    return await tool.execute(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        *({}, {"url": ""}, {"url": None}, {"url": 3}, {"url": ["https://a.org"]}),
        {"url": "https://a.org/", "offset": -1},
        {"url": "https://a.org/", "offset": "many"},
        {"url": "https://a.org/", "command": "rm -r x"},
        {"url": "https://a.org/", "uri": "https://b.org/"},
    ],
)
async def test_a_call_that_makes_no_sense_is_told_why(arguments: dict[str, Any]) -> None:
    result = await (await web_tools())["web_fetch"].execute(arguments)
    assert kind(result) == "invalid_arguments"
    assert "`" in result.output


async def test_a_long_page_is_read_in_parts_and_fetched_once(site: Site) -> None:
    page = site.put("/", "a" * 1500 + "b" * 900, Content_Type="text/plain")
    tool = (await web_tools(max_chars=1000))["web_fetch"]
    first = (await call(tool, url=page)).output
    assert first.endswith("a\n\n[Characters 0 to 1000 of 2400. Read on with `offset` 1000.]")
    last = (await call(tool, url=f"{page}#part", offset="2000")).output
    assert last == f"Source: {page}\n\n{'b' * 400}\n\n[Characters 2000 to 2400 of 2400.]"
    assert "There is no text here" in (await call(tool, url=page, offset=9999)).output
    assert len(site.requests) == 1


async def test_nothing_is_kept_where_the_settings_say_so(site: Site) -> None:
    tool = (await web_tools(cache_seconds=0))["web_fetch"]
    for _ in range(2):
        await call(tool, url=site.put("/", "x"))
    assert len(site.requests) == 2


async def test_what_is_beyond_the_limit_is_left_out_and_said(site: Site) -> None:
    page = site.put("/", "x" * 5000, Content_Type="text/plain")
    result = await fetch(page, max_bytes=100)
    assert "x" * 100 + "\n\n[The page is larger than may be fetched" in result.output
    assert "x" * 101 not in result.output


async def test_a_small_packed_page_without_end_is_cut(site: Site) -> None:
    bomb = gzip.compress(b"a" * 10_000_000)
    page = site.put("/", bomb, Content_Encoding="gzip", Content_Type="text/plain")
    result = await fetch(page, max_bytes=2000)
    assert len(bomb) < 100_000
    assert "a" * 2000 + "\n\n[The page is larger" in result.output


async def test_packed_pages_are_unpacked_once(site: Site) -> None:
    packed = gzip.compress(b"hello")
    assert "hello" in (await fetch(site.put("/1", packed, Content_Encoding="gzip"))).output
    twice = site.put("/2", gzip.compress(packed), Content_Encoding="gzip, gzip")
    assert kind(await fetch(twice)) == "encoding"
    assert kind(await fetch(site.put("/3", "no", Content_Encoding="gzip"))) == "encoding"


async def test_a_server_that_never_ends_costs_no_more_than_the_time_limit(site: Site) -> None:
    site.pages["/"] = Page(b"some", HTML, endless=True)
    result = await fetch(site.url("/"), timeout=1)
    assert kind(result) == "timeout"
    assert "did not answer in full within 1 s" in result.output


async def test_a_call_that_is_cancelled_leaves_no_connection(site: Site) -> None:
    site.pages["/"] = Page(b"some", HTML, endless=True)
    running = asyncio.create_task(fetch(site.url("/")))
    await site.asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await site.left.wait()


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (404, {}, "answered 404 Not Found. Look the address up"),
        (
            429,
            {"Retry_After": "30"},
            "Wait before the next request to this server. Retry after: 30.",
        ),
        (500, {}, "answered 500 Internal Server Error."),
        (599, {}, "answered 599."),
        (302, {}, "answered 302 Found."),
    ],
)
async def test_an_error_is_told_with_what_to_do(
    site: Site, status: int, headers: dict[str, str], told: str
) -> None:
    result = await fetch(site.put("/", "<h1>no</h1>", status, **headers))
    assert kind(result) == f"http_{status // 100}xx"
    assert told in result.output


async def test_a_server_that_is_not_there_is_told(site: Site) -> None:
    assert kind(await fetch("http://nowhere.invalid/")) == "unreachable"
    async with Site() as other:
        gone = other.url("/")
    assert kind(await fetch(gone)) == "unreachable"


async def test_json_and_text_are_shown_as_text(site: Site) -> None:
    shown = await fetch(site.put("/j", '{"a":["ü"]}', Content_Type="application/ld+json"))
    assert shown.output.endswith('{\n  "a": [\n    "ü"\n  ]\n}')
    broken = await fetch(site.put("/k", '{"a":', Content_Type="application/json"))
    assert broken.output.endswith('\n{"a":')
    latin = site.put("/l", "Grün".encode("latin-1"), Content_Type="text/plain; charset=ISO-8859-1")
    assert "Grün" in (await fetch(latin)).output
    odd = site.put("/m", "Grün", Content_Type="text/plain; charset=hex")
    assert "Grün" in (await fetch(odd)).output


async def test_what_is_no_text_is_named(site: Site) -> None:
    picture = await fetch(site.put("/p", b"\x89PNG\0", Content_Type="image/png"))
    assert kind(picture) == "unreadable"
    assert "is image/png of 5 bytes, which is not text" in picture.output
    assert kind(await fetch(site.put("/q", b"a\0b"))) == "unreadable"


async def test_control_and_invisible_characters_do_not_come_through(site: Site) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    page = f"<title>T\x1b]0;x\x07\u202e</title><p>a\x1b[31mb\u200b{hidden}</p>"
    result = await fetch(site.put("/", page, Content_Type="text/html"))
    assert result.output == f"Source: {site.url('/')}\nTitle: T\n\nab"


async def test_pages_that_robots_are_asked_not_to_read_are_left_when_so_set(site: Site) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n")
    page, other = site.put("/private/x", "x"), site.put("/open", "y")
    assert (await fetch(page)).success
    assert kind(await fetch(page, robots=True)) == "robots"
    assert (await fetch(other, robots=True)).success
    del site.pages["/robots.txt"]
    assert (await fetch(page, robots=True)).success
    site.put("/robots.txt", status=503)
    assert kind(await fetch(page, robots=True)) == "http_5xx"


SEARCH = {"results": [
    {"url": "https://a.org/x", "title": "A\n\x1b[1mx", "content": "about a"},
    {"url": "javascript:alert(1)", "title": "bad"}, 7,
    {"url": "https://b.org/", "title": None},
]}  # fmt: skip
FOUND = "A x\nhttps://a.org/x\nabout a\n\nhttps://b.org/\nhttps://b.org/"


async def test_a_search_asks_the_engine_of_the_settings_and_cites_addresses(site: Site) -> None:
    site.put("/search?q=tea+%26+more&format=json", json.dumps(SEARCH))
    tools = await web_tools(search_url=site.url("/search"), private_hosts=[], brave_api_key="k")
    result = await call(tools["web_search"], query="tea & more")
    assert result.output == FOUND
    assert "x-subscription-token" not in site.requests[0][1]


async def test_a_search_with_a_key_asks_brave(site: Site) -> None:
    site.put("/web?q=tea&count=1", json.dumps({"web": SEARCH}))
    tools = await web_tools(brave_api_key="k3y", brave_url=site.url("/web"), max_results=1)
    assert (await call(tools["web_search"], query="tea")).output == FOUND.partition("\n\n")[0]
    assert site.requests[0][1]["x-subscription-token"] == "k3y"


async def test_the_key_of_an_engine_goes_to_no_other_server(site: Site) -> None:
    async with Site() as other:
        site.put("/web?q=tea&count=10", status=302, Location=other.url("/take"))
        tools = await web_tools(brave_api_key="k3y", brave_url=site.url("/web"))
        assert kind(await call(tools["web_search"], query="tea")) == "redirect"
        assert other.requests == []


@pytest.mark.parametrize("answer", ["{}", '{"results": {}}', "[]", '{"results": []}'])
async def test_a_search_that_finds_nothing_says_so(site: Site, answer: str) -> None:
    site.put("/?q=x&format=json", answer)
    tools = await web_tools(search_url=site.url("/"))
    assert "Nothing was found" in (await call(tools["web_search"], query="x")).output


async def test_an_engine_without_json_is_told_with_what_to_set(site: Site) -> None:
    site.put("/?q=x&format=json", "<html>")
    result = await call((await web_tools(search_url=site.url("/")))["web_search"], query="x")
    assert kind(result) == "search_failed"
    assert "`formats`" in result.output


async def test_an_engine_at_no_address_is_a_mistake_in_the_settings() -> None:
    with pytest.raises(SettingsError, match=r"`search_url` of tool-web can't be used: a\.org"):
        await web_tools(search_url="a.org")


async def test_without_an_engine_there_is_no_search() -> None:
    assert list(await web_tools(search_url="", brave_api_key="")) == ["web_fetch"]
