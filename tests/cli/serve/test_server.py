"""Who is let in, and what a page and its program say to each other."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSCloseCode, WSServerHandshakeError

from amplifier_tui.cli.serve import program as serving_program
from amplifier_tui.cli.serve import server as serving
from amplifier_tui.cli.serve.program import SHOWN_ELSEWHERE, ServedProgram, TerminalModes
from amplifier_tui.ui.terminal.browser_page import PAGE_VARIABLE
from tests.cli.serve.pages import PATIENCE, TOKEN, Visits

REDRAWS = """
import os, signal, sys
def draw(*_):
    size = os.get_terminal_size()
    print(f"drawn {size.columns}x{size.lines};", end="", flush=True)
signal.signal(signal.SIGWINCH, draw)
print("\\x1b[?1049h\\x1b[?2004h", end="", flush=True)
draw()
for line in sys.stdin:
    print("got", line.strip(), flush=True)
"""


async def until_ended(path: Path) -> None:
    """Wait until a program has written that it ends."""
    async with asyncio.timeout(PATIENCE):
        while not path.exists():
            await asyncio.sleep(0.02)


# --- who is let in ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/static/js/textual.js", "/page.js", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/"),
        *(f"/{'x' * len(TOKEN)}/", f"//{TOKEN}/", f"/?token={TOKEN}", "/é/", "/%ff/"),
    ],
)
async def test_without_the_token_there_is_nothing_to_be_had(path: str) -> None:
    async with Visits.to() as visits, visits.browser.get(f"{visits.origin}{path}") as answer:
        assert (answer.status, await answer.text()) == (403, "Forbidden\n")


async def test_with_the_token_there_is_a_page_that_tells_nobody_of_it() -> None:
    async with Visits.to() as visits:
        async with visits.browser.get(visits.server.address.rstrip("/")) as answer:
            assert (answer.status, str(answer.url)) == (200, visits.server.address)
            assert "textual-terminal" in await answer.text()
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert f"ws://{visits.origin.removeprefix('http://')};" in policy
            assert "Server" not in answer.headers
        for name in ("page.js", "static/js/textual.js", "static/css/xterm.css"):
            async with visits.browser.get(f"{visits.server.address}{name}") as answer:
                assert answer.status == 200
                assert serving.NEEDS_WEBGL not in await answer.text()
        async with visits.browser.get(f"{visits.server.address}static/../page.html") as answer:
            assert answer.status == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("localhost", 200), ("localhost:8000", 200), ("127.0.0.2:1", 200), ("[::1]:8000", 200)),
        *(("evil.example", 403), ("127.0.0.1.evil.example", 403), ("10.0.0.1", 403)),
        *(("evil@127.0.0.1", 403), ("127.0.0.1:x; script-src *", 403), ("[::1", 403), ("", 403)),
    ],
)
async def test_a_name_of_another_site_that_points_here_gets_nothing(host: str, status: int) -> None:
    async with Visits.to() as visits:
        headers = {"Host": host}
        async with visits.browser.get(visits.server.address, headers=headers) as answer:
            assert answer.status == status


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
    ],
)
async def test_a_page_of_another_site_reaches_no_program(headers: dict[str, str]) -> None:
    async with Visits.to() as visits:
        with pytest.raises(WSServerHandshakeError) as refused:
            await visits.page(**headers)
        assert refused.value.status == 403


@pytest.mark.parametrize(
    "request_line",
    [f"GET /{TOKEN}/ HTTP/9.9", f"G\1T /{TOKEN}/ HTTP/1.1", f"GET /{TOKEN}/\0 HTTP/1.1",
     f"GET / HTTP/1.1\r\nbad header {TOKEN}"],
)  # fmt: skip
async def test_a_broken_request_does_not_bring_the_token_into_the_log(
    caplog: pytest.LogCaptureFixture, request_line: str
) -> None:
    async with Visits.to() as visits:
        host, _, port = visits.origin.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"{request_line}\r\n\r\n".encode())
        assert b" 400 " in await reader.readline()
        writer.close()
    assert TOKEN not in caplog.text


async def test_a_fault_of_the_server_is_logged_without_the_token(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no page today")

    async with Visits.to() as visits:
        monkeypatch.setattr(serving.web, "FileResponse", broken)
        async with visits.browser.get(visits.server.address) as answer:
            assert answer.status == 500
    assert "no page today" in caplog.text
    assert TOKEN not in caplog.text


# --- a page and its program --------------------------------------------------------------------


async def test_what_is_typed_reaches_the_program_and_what_it_draws_the_page() -> None:
    async with Visits.to() as visits:
        page = await visits.page()
        await page.shows("ready")
        await page.type("grüße\n")
        await page.shows("got grüße")
        await page.socket.send_json(["ping", "7"])
        assert await page.hears() == ["pong", "7"]


@pytest.mark.parametrize(
    "nonsense",
    ["", "{", "[]", "[[]]", '["stdin"]', '["stdin", 1]', '["resize", {"width": 0, "height": -1}]',
     '["resize", {"width": 99999, "height": 24}]', '["resize", {"width": "9"}]', "[" * 90_000],
)  # fmt: skip
async def test_nonsense_from_a_page_changes_nothing(nonsense: str) -> None:
    async with Visits.to(["/bin/sh", "-c", "read x; stty size"]) as visits:
        page = await visits.page()
        await page.socket.send_str(nonsense)
        await page.socket.send_bytes(b"\x00\xff")
        await page.type("\n")
        await page.shows("24 80")


DEAF = ["/bin/sh", "-c", "stty raw; echo begun; sleep 60"]
"""Reads nothing of what is typed."""


@pytest.mark.parametrize("pasted", [[2_000_000], [800_000] * 2], ids=["at once", "in two"])
async def test_a_paste_that_is_too_long_ends_no_session(
    monkeypatch: pytest.MonkeyPatch, pasted: list[int]
) -> None:
    for module in (serving, serving_program):
        monkeypatch.setattr(module, "MOST_TYPED", 1_000_000)
    async with Visits.to(DEAF) as visits:
        page = await visits.page()
        await page.shows("begun")
        for length in pasted:
            await page.type("x" * length)
        assert await page.closed() == WSCloseCode.MESSAGE_TOO_BIG
        (program,) = visits.server._programs.values()
        await visits.page()
        assert list(visits.server._programs.values()) == [program]


async def test_a_page_is_heard_while_the_program_reads_nothing() -> None:
    async with Visits.to(DEAF) as visits:
        page = await visits.page()
        await page.shows("begun")
        for _ in range(2):
            await page.type("x" * 3_000_000)
        await page.socket.send_json(["ping", "7"])
        assert await page.hears() == ["pong", "7"]


class GonePage:
    """A page of which only its end is heard; says what it was closed with."""

    def __init__(self) -> None:
        self.closed = 0

    async def send_bytes(self, data: bytes) -> None:
        raise ConnectionResetError

    send_json: Any = send_bytes

    async def close(self, *, code: int = 1000) -> None:
        self.closed = code


async def test_a_page_that_went_at_once_takes_its_program_from_the_one_before() -> None:
    program = await ServedProgram.start(["cat"], 80, 24)
    before = GonePage()
    program.page = before
    with pytest.raises(ConnectionError):
        await program.show_on(GonePage(), 80, 24)
    assert before.closed == SHOWN_ELSEWHERE
    await program.end()


async def test_the_program_has_a_terminal_of_the_size_of_the_page_to_itself() -> None:
    command = ["/bin/sh", "-c", "stty size; echo tty > /dev/tty; echo $TERM $TMUX.; cat"]
    async with Visits.to(command) as visits:
        page = await visits.page(size=(133, 41))
        await page.shows("41 133")
        await page.shows("tty")
        await page.shows("xterm-256color .")


async def test_another_size_of_the_page_is_told_to_the_program() -> None:
    async with Visits.to([sys.executable, "-c", REDRAWS]) as visits:
        page = await visits.page()
        await page.shows("drawn 80x24;")
        await page.resize(100, 30)
        await page.shows("drawn 100x30;")


async def test_the_end_of_the_program_closes_its_page_after_the_last_words() -> None:
    async with Visits.to(["/bin/sh", "-c", "read x; echo farewell"]) as visits:
        page = await visits.page()
        await page.type("\n")
        await page.shows("farewell")
        assert await page.closed() == 1000


async def test_the_page_opens_web_addresses_and_no_others() -> None:
    asked = "file:///etc/passwd", "javascript:1", f"https://{'x' * 20_000}", "https://a.example/b"
    code = (
        "import os\ninput()\n"
        f"os.write(int(os.environ['{PAGE_VARIABLE}']), {chr(10).join((*asked, '')).encode()!r})"
        "\ninput()"
    )
    async with Visits.to([sys.executable, "-c", code]) as visits:
        page = await visits.page()
        await page.type("\n")
        assert await page.hears() == ["open_url", {"url": "https://a.example/b", "new_tab": True}]


@pytest.fixture
def no_hangup() -> Iterator[None]:
    """Ignore SIGHUP, as `nohup` has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("no_hangup")
async def test_every_page_has_a_program_of_its_own_which_ends_with_it(tmp_path: Path) -> None:
    command = [
        "/bin/sh",
        "-c",
        f"trap 'touch {tmp_path}/$$; exit' HUP; echo $$.; while :; do read x; done",
    ]
    async with Visits.to(command) as visits:
        pages = [await visits.page(number) for number in (1, 2)]
        for page in pages:
            await page.shows(".")
        await pages[0].socket.close()
        async with asyncio.timeout(PATIENCE):
            while not list(tmp_path.iterdir()):
                await asyncio.sleep(0.02)
        assert len(list(tmp_path.iterdir())) == 1
        await pages[1].type("\n")
    assert len(list(tmp_path.iterdir())) == 2


async def test_pages_that_open_at_the_same_time_share_no_program() -> None:
    async with Visits.to(["/bin/sh", "-c", "read x; echo $$.; cat"], keep=True) as visits:
        pages = await asyncio.gather(*(visits.page(number) for number in range(5)))
        for page in pages:
            await page.type("\n")
            await page.shows(".")
        assert not any(page.socket.closed for page in pages)


async def test_a_program_that_can_not_be_started_is_no_end_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Visits.to() as visits:
        with monkeypatch.context() as patch:
            patch.setattr(ServedProgram, "start", _no_more_files)
            with pytest.raises(WSServerHandshakeError) as refused:
                await visits.page()
            assert refused.value.status == 503
        await (await visits.page()).shows("ready")


async def _no_more_files(*_: object) -> ServedProgram:
    raise OSError(24, "Too many open files")


@pytest.mark.parametrize("keep", [False, True])
async def test_no_more_programs_run_than_are_allowed(
    monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    monkeypatch.setattr(serving, "MOST_PROGRAMS", 2)
    async with Visits.to(keep=keep) as visits:
        pages = [await visits.page(number) for number in (1, 2)]
        with pytest.raises(WSServerHandshakeError) as refused:
            await visits.page(3)
        assert refused.value.status == 503
        await pages[0].shows("ready")


# --- programs that are kept --------------------------------------------------------------------


async def test_a_kept_program_goes_on_and_the_next_page_shows_it_as_it_is() -> None:
    async with Visits.to([sys.executable, "-c", REDRAWS], keep=True) as visits:
        page = await visits.page(1)
        await page.shows("drawn 80x24;")
        await page.type("one\n")
        await page.shows("got one")
        await page.socket.close()
        again = await visits.page(2)
        await again.shows("\x1b[?1049h\x1b[?2004h")
        await again.shows("drawn 80x24;")
        await again.type("two\n")
        await again.shows("got two")


async def test_a_program_that_draws_while_no_page_is_open_is_not_held_up(tmp_path: Path) -> None:
    work = f"read x; head -c 3000000 /dev/zero | tr '\\0' x; touch {tmp_path}/done; cat"
    async with Visits.to(["/bin/sh", "-c", work], keep=True) as visits:
        page = await visits.page()
        await page.type("\n")
        await page.socket.close()
        await until_ended(tmp_path / "done")


@pytest.mark.parametrize("keep", [False, True])
async def test_a_tab_has_its_own_program_again_also_when_its_line_was_cut_unnoticed(
    keep: bool,
) -> None:
    async with Visits.to(keep=keep) as visits:
        first, second = [await visits.page(number) for number in (1, 2)]
        await first.type("first\n")
        await first.shows("got first")
        again = await visits.page(1)
        assert await first.closed() == SHOWN_ELSEWHERE
        await again.type("again\n")
        await again.shows("got again")
        await second.type("second\n")
        await second.shows("got second")


async def test_a_page_left_by_a_kept_program_that_has_ended_gets_another() -> None:
    async with Visits.to(["/bin/sh", "-c", "echo begun; read x"], keep=True) as visits:
        page = await visits.page()
        await page.shows("begun")
        await page.type("\n")
        assert await page.closed() == 1000
        await (await visits.page()).shows("begun")


async def test_the_end_of_the_server_ends_kept_programs_too(tmp_path: Path) -> None:
    command = [
        "/bin/sh",
        "-c",
        f"trap 'touch {tmp_path}/end; exit' HUP; echo begun; while :; do read x; done",
    ]
    async with Visits.to(command, keep=True) as visits:
        page = await visits.page()
        await page.shows("begun")
        await page.socket.close()
    assert (tmp_path / "end").exists()


async def test_a_program_that_does_not_end_in_order_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[ServedProgram] = []
    end = ServedProgram.end

    async def fails_first(program: ServedProgram) -> None:
        await end(program)
        ended.append(program)
        if len(ended) == 1:
            raise OSError(5, "the terminal is gone")

    monkeypatch.setattr(ServedProgram, "end", fails_first)
    async with Visits.to(keep=True) as visits:
        pages = [await visits.page(number) for number in (1, 2)]
        for page in pages:
            await page.socket.close()
        await visits.server.close()
        assert len(ended) == 2
    assert "did not end in order" in caplog.text


def test_modes_are_restored_as_they_were_last_set_wherever_the_output_is_cut() -> None:
    drawn = b"\x1b[?1049h\x1b[?25l text \x1b[?2026h\x1b[?2004h more \x1b[?25h\x1b[?2026l"
    for at in range(len(drawn)):
        modes = TerminalModes()
        modes.note(drawn[:at])
        modes.note(drawn[at:])
        assert modes.restored() == b"\x1b[?1049h\x1b[?25h\x1b[?2004h"
