import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.exceptions import (
    BundleNotFoundError,
    SourceNotFetchedError,
    TrustRefusedError,
)
from amplifier_tui.foundation.registry.registry import BundleRegistry
from amplifier_tui.foundation.sources.context import FetchContext, FetchLimits
from amplifier_tui.foundation.sources.http import cache_path
from amplifier_tui.foundation.sources.lockfile import LockEntry, LockFile
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustGate
from tests.foundation.helpers import allow

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append(self.path)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    site.answers.get(self.path, lambda handler: handler.send_error(404))(self)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def text(self, path: str, text: str) -> None:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text.encode())

        self.answers[path] = answer


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def resolver(tmp_path: Path, **context: Any) -> SimpleSourceResolver:
    options = {"gate": TrustGate(allow), **context}
    return SimpleSourceResolver(tmp_path / "cache", context=FetchContext(**options))


async def test_a_bundle_is_loaded_over_http_and_kept(tmp_path: Path, site: Site) -> None:
    site.text("/b/bundle.md", "---\nbundle: {name: web}\n---\nhello")
    registry = BundleRegistry(tmp_path / "home", trust=allow)
    bundle = await registry.load(site.url("/b/bundle.md"))
    assert (bundle.name, bundle.instruction) == ("web", "hello")
    assert bundle.confined_roots == (tmp_path / "home" / "cache",)
    again = BundleRegistry(tmp_path / "home")
    assert (await again.load(site.url("/b/bundle.md"))).name == "web"
    assert site.requests == ["/b/bundle.md"]


async def test_an_update_downloads_again(tmp_path: Path, site: Site) -> None:
    site.text("/x.yaml", "a: 1")
    sources = resolver(tmp_path)
    found = await sources.resolve(site.url("/x.yaml"))
    site.text("/x.yaml", "a: 2")
    await sources.resolve(site.url("/x.yaml"))
    assert found.active_path.read_text() == "a: 1"
    await sources.update(site.url("/x.yaml"))
    assert found.active_path.read_text() == "a: 2"
    assert (await sources.get_status(site.url("/x.yaml"))).has_update is None


def test_the_suffix_of_a_cached_file_stays_last(tmp_path: Path) -> None:
    for url, suffix in (
        ("https://h/a/bundle.md", ".md"),
        ("https://h/x.yaml?token=1", ".yaml"),
        ("https://h/", ""),
        ("https://h/..", ""),
        ("https://h/a.b/c%2F..%2F", ""),
    ):
        path = cache_path(tmp_path, url)
        assert (path.parent, path.suffix) == (tmp_path, suffix)
    assert cache_path(tmp_path, "https://h/x?a") != cache_path(tmp_path, "https://h/x?b")


async def test_what_is_not_there_is_not_found(tmp_path: Path, site: Site) -> None:
    with pytest.raises(BundleNotFoundError, match="HTTP 404"):
        await resolver(tmp_path).resolve(site.url("/no"))
    with pytest.raises(BundleNotFoundError, match="Failed to download"):
        await resolver(tmp_path).resolve("http://127.0.0.1:9/x")
    with pytest.raises(BundleNotFoundError, match="Failed to download"):
        await resolver(tmp_path).resolve("https://a b.invalid/x")
    assert not list((tmp_path / "cache").glob("*"))


async def test_a_download_that_is_too_large_is_refused(tmp_path: Path, site: Site) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65_536)

    site.answers["/big"] = endless
    limits = FetchLimits(download_bytes=200_000)
    with pytest.raises(BundleNotFoundError, match="larger than 200,000 bytes"):
        await resolver(tmp_path, limits=limits).resolve(site.url("/big"))
    assert not list((tmp_path / "cache").glob("*"))


async def test_a_download_that_takes_too_long_is_given_up(tmp_path: Path, site: Site) -> None:
    stop = threading.Event()

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not stop.wait(0.01):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    site.answers["/slow"] = trickle
    try:
        with pytest.raises(BundleNotFoundError, match=r"not done after 0\.1 s"):
            await resolver(tmp_path, limits=FetchLimits(download_seconds=0.1)).resolve(
                site.url("/slow")
            )
    finally:
        stop.set()


async def test_a_silent_connection_is_given_up(tmp_path: Path, site: Site) -> None:
    stop = threading.Event()
    site.answers["/silent"] = lambda handler: stop.wait(10) and None
    try:
        with pytest.raises(BundleNotFoundError, match="timed out"):
            await resolver(tmp_path, limits=FetchLimits(connect_seconds=0.1)).resolve(
                site.url("/silent")
            )
    finally:
        stop.set()


async def test_a_cut_connection_is_noticed(tmp_path: Path, site: Site) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"half")

    site.answers["/cut"] = cut
    with pytest.raises(BundleNotFoundError, match="Failed to download"):
        await resolver(tmp_path).resolve(site.url("/cut"))
    assert not list((tmp_path / "cache").glob("*"))


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://h/x"])
async def test_a_redirect_to_another_scheme_is_refused(
    tmp_path: Path, site: Site, target: str
) -> None:
    def away(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", target)
        handler.end_headers()

    site.answers["/away"] = away
    with pytest.raises(BundleNotFoundError, match="Failed to download"):
        await resolver(tmp_path).resolve(site.url("/away"))


async def test_a_cancelled_download_ends_at_once_and_leaves_no_file(
    tmp_path: Path, site: Site
) -> None:
    arrived, stop, over = threading.Event(), threading.Event(), threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"start")
        handler.wfile.flush()
        arrived.set()
        stop.wait(10)
        with contextlib.suppress(OSError):
            handler.wfile.write(b"more")
        over.set()

    site.answers["/hang"] = hang
    task = asyncio.create_task(resolver(tmp_path).resolve(site.url("/hang")))
    await asyncio.to_thread(arrived.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stop.set()
    await asyncio.to_thread(over.wait, 5)
    for thread in threading.enumerate():
        if thread.name == "download":
            await asyncio.to_thread(thread.join, 5)
    assert not list((tmp_path / "cache").glob("*"))


async def test_progress_is_told_in_percent(tmp_path: Path, site: Site) -> None:
    site.text("/x.md", "x" * 300_000)
    progress: list[tuple[str, str]] = []
    sources = resolver(tmp_path, progress=lambda *event: progress.append(event))
    await sources.resolve(site.url("/x.md"))
    await asyncio.sleep(0)
    assert progress[0] == ("fetching", site.url("/x.md"))
    assert progress[-1][1].endswith("100%")


async def test_trust_and_offline_count_for_downloads(tmp_path: Path, site: Site) -> None:
    site.text("/x.md", "x")
    with pytest.raises(TrustRefusedError):
        await SimpleSourceResolver(tmp_path / "cache").resolve(site.url("/x.md"))
    with pytest.raises(SourceNotFetchedError):
        await resolver(tmp_path, offline=True).resolve(site.url("/x.md"))
    assert site.requests == []


async def test_content_that_changed_since_it_was_locked_is_refused(
    tmp_path: Path, site: Site
) -> None:
    url = site.url("/x.md")
    site.text("/x.md", "one")
    first = resolver(tmp_path / "a")
    await first.resolve(url)
    lock = LockFile(tmp_path / "bundle.lock")
    lock.replace(first.context.resolved)
    assert lock.entry(url) == first.context.resolved[url]
    await resolver(tmp_path / "b", lock=lock).resolve(url)
    site.text("/x.md", "two")
    with pytest.raises(BundleNotFoundError, match="changed since it was locked"):
        await resolver(tmp_path / "c", lock=lock).resolve(url)
    lock.sources[url] = LockEntry(sha256="0" * 64)
    with pytest.raises(BundleNotFoundError, match="changed since it was locked"):
        await resolver(tmp_path / "a", lock=lock).resolve(url)
