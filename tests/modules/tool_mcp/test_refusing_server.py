"""A server over HTTP that refuses the user's key, or answers nothing of the protocol."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.modules.tool_mcp.support import Session

KEY = "sample-key-of-a-user"
BAD = {"Authorization": f"Bearer {KEY}"}
REMEDY = "; the Authorization in its `headers` is refused: correct it, or the variable"


@contextmanager
def answering(status: int, kind: str, body: str) -> Iterator[str]:
    """Answer all requests on loopback alike; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


def _protocol_error(message: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": message}})


@pytest.mark.parametrize(
    ("headers", "status", "kind", "body", "said"),
    [
        (
            BAD,
            401,
            "application/json",
            '{"error": "bad credentials"}',
            f'"bad credentials"{REMEDY}',
        ),
        (
            BAD,
            401,
            "text/plain",
            f"no such key: {KEY}",
            f'401 Unauthorized, "no such key: …"{REMEDY}',
        ),
        (BAD, 401, "text/html", "<html>Go away</html>", f"401 Unauthorized{REMEDY}"),
        (BAD, 401, "text/event-stream", "", f"401 Unauthorized{REMEDY}"),
        (
            BAD,
            401,
            "application/json",
            _protocol_error("\x1b[31mold"),
            f'Unauthorized, "old"{REMEDY}',
        ),
        (
            BAD,
            403,
            "application/json",
            '{"error": {"message": "no"}}',
            f'403 Forbidden, "no"{REMEDY}',
        ),
        ({}, 401, "application/json", "{}", "; put its token into its `headers` as Authorization."),
        ({}, 403, "application/json", "{}", "403 Forbidden; put its token into its `headers`"),
        (
            {},
            404,
            "text/plain",
            "404 page",
            'Not Found, "404 page"; see whether its `url` is right.',
        ),
        ({}, 400, "application/json", _protocol_error("Bad: no"), "can't be used: Bad: no."),
        ({}, 503, "text/plain", "x" * 100_000, '503 Service Unavailable, "xxx'),
        ({}, 599, "application/json", "[[]]", "can't be used: 599."),
    ],
)
async def test_it_is_said_with_its_status_its_words_and_what_helps(
    tmp_path: Path, headers: dict[str, str], status: int, kind: str, body: str, said: str
) -> None:
    session = Session(tmp_path)
    with answering(status, kind, body) as url:
        await session.mount({"github": {"url": url, "headers": headers}})
        await session.until(lambda: session.words("user:notification", "message"))
        (notice,) = session.words("user:notification", "message")
        await session.close()
    assert said in notice
    assert "Its log" not in notice
    assert KEY not in notice
    assert len(notice) < 500
