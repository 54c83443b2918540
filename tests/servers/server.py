"""A real HTTP server on 127.0.0.1 that speaks the vendors' APIs from a script.

It runs in a thread of its own, so that a test may drive a client on any event loop, in any thread
or in another process. Every request is recorded; a client that goes away is noticed at once.
"""

import asyncio
import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from tests.servers import (
    anthropic_api,
    checks_anthropic,
    checks_openai,
    openai_chat,
    openai_errors,
    openai_responses,
)
from tests.servers.connection import Connection, HttpRequest
from tests.servers.dialects import Dialect
from tests.servers.flags import Flag, Gate
from tests.servers.replies import (
    Answer,
    Cut,
    Failure,
    Malformed,
    Pause,
    Raw,
    Reply,
    Script,
    Scripted,
    Stall,
    StreamFailure,
    Text,
)
from tests.servers.wire import WireStep, dumps, sse

Api = Literal["anthropic", "responses", "chat"]

_FORMATS = {"anthropic": anthropic_api, "responses": openai_responses, "chat": openai_chat}

_ROUTES: dict[str, Api] = {
    "/v1/messages": "anthropic",
    "/v1/responses": "responses",
    "/v1/chat/completions": "chat",
}
DEFAULT_MODELS = {
    "anthropic": ["claude-sonnet-5-5", "claude-haiku-5-5"],
    "openai": ["gpt-6-astra", "gpt-6-luna"],
}


@dataclass
class Recorded:
    """One completion request as the server saw it; header names are lower-case."""

    api: Api
    headers: dict[str, str]
    json: dict[str, Any]
    answered: Flag = field(default_factory=lambda: Flag("the whole answer was sent"))
    disconnected: Flag = field(default_factory=lambda: Flag("the client closed early"))


class LoopbackServer:
    """The server. Use it as a context manager, `with` or `async with`.

    `replies` is a `Script` or its entries. `strict` answers 400 to requests the vendor would
    refuse. `reasoning_field` is the name Chat Completions uses for reasoning text; a `dialect` has
    more that is the server's own.
    """

    def __init__(
        self,
        replies: Script | Iterable[Scripted] = (),
        *,
        strict: bool = True,
        models: list[str] | None = None,
        models_fail: bool = False,
        reasoning_field: str = "reasoning_content",
        dialect: Dialect | None = None,
        port: int = 0,
    ) -> None:
        self.script = replies if isinstance(replies, Script) else Script(replies)
        self.requests: list[Recorded] = []
        self.title = ""
        """What it calls a session, beside the script; empty for a refusal."""
        self.titles_asked: list[Recorded] = []
        self.model_lists: list[HttpRequest] = []
        self.models = models
        self.gates: dict[str, Gate] = {}
        self.port = port
        self._strict = strict
        self._models_fail = models_fail
        self._dialect = dialect or Dialect(reasoning_field=reasoning_field)
        self._arrivals: list[Flag] = []
        self._lock = threading.Lock()
        self._vendors = {"anthropic", "openai"}
        self._errors: list[BaseException] = []
        self._ready = Flag("the server listens")
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- what a test uses ---------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The base URL as Anthropic's clients want it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """The base URL as OpenAI's clients want it."""
        return f"{self.url}/v1"

    async def request(self, index: int = 0) -> Recorded:
        """The request with this number, as soon as it has arrived."""
        await self._arrival(index).wait()
        return self.requests[index]

    def request_blocking(self, index: int = 0) -> Recorded:
        """The same for a test without an event loop."""
        self._arrival(index).wait_blocking()
        return self.requests[index]

    def gate(self, name: str) -> Gate:
        """The gate of this name, made on first use (script files name their gates)."""
        with self._lock:
            return self.gates.setdefault(name, Gate(name))

    @staticmethod
    def pieces(api: Api, answer: Reply, *, stream: bool = True) -> list[bytes]:
        """The body of an answer as it is sent, for a `Raw` that changes it."""
        form: Any = _FORMATS[api]
        if stream:
            return [piece for piece in form.stream(answer, {}) if isinstance(piece, bytes)]
        return [dumps(form.body(answer, {})).encode()]

    def only(self, vendor: str) -> None:
        """Answer 404 to the other vendor's requests."""
        self._vendors = {vendor}

    # -- life ---------------------------------------------------------------------------------

    def start(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="loopback-llm", daemon=True)
        self._thread.start()
        self._ready.wait_blocking()
        return self

    def stop(self) -> None:
        if self._loop is None or self._stop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = self._loop = self._stop = None

    def check(self) -> None:
        """Fail if a scripted callable, or the server itself, made a mistake."""
        if self._errors:
            raise AssertionError("the loopback server failed") from self._errors[0]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if kind is None:
            self.check()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)
        if kind is None:
            self.check()

    def _run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await self._loop.create_server(
            lambda: Connection(self._handle, self._tasks), "127.0.0.1", self.port
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- answering ----------------------------------------------------------------------------

    def _arrival(self, index: int) -> Flag:
        with self._lock:
            while len(self._arrivals) <= index:
                self._arrivals.append(Flag(f"request {len(self._arrivals)} arrived"))
            return self._arrivals[index]

    async def _handle(self, request: HttpRequest, connection: Connection) -> None:
        if request.path == "/v1/models":
            await self._list_models(request, connection)
        elif request.path.startswith("/_/"):
            await self._control(request, connection)
        elif (api := self._api(request)) is not None:
            await self._complete(api, request, connection)
        else:
            await connection.send(404, b"404 page not found", {"content-type": "text/plain"})

    def _api(self, request: HttpRequest) -> Api | None:
        api = _ROUTES.get(request.path) if request.method == "POST" else None
        vendor = "anthropic" if api == "anthropic" else "openai"
        return api if vendor in self._vendors else None

    async def _list_models(self, request: HttpRequest, connection: Connection) -> None:
        self.model_lists.append(request)
        vendor = "anthropic" if "anthropic-version" in request.headers else "openai"
        names = DEFAULT_MODELS[vendor] if self.models is None else self.models
        if self._models_fail:
            await connection.send(404, b"404 page not found", {"content-type": "text/plain"})
        elif vendor == "anthropic":
            await connection.send_json(200, anthropic_api.models(names))
        elif self._dialect.models:
            await connection.send_json(200, {"object": "list", "data": self._dialect.models})
        else:
            await connection.send_json(200, openai_errors.models(names))

    async def _control(self, request: HttpRequest, connection: Connection) -> None:
        """For a test in another process: open a gate, read what was asked."""
        action, _, name = request.path.removeprefix("/_/").partition("/")
        if action == "open" and name:
            self.gate(name).open()
            await connection.send_json(200, {"opened": name})
        elif action == "requests":
            await connection.send_json(200, [_summary(record) for record in self.requests])
        else:
            await connection.send_json(404, {"error": f"unknown control {request.path}"})

    async def _complete(self, api: Api, request: HttpRequest, connection: Connection) -> None:
        record = Recorded(api, request.headers, request.json())
        if _is_for_a_title(record):
            self.titles_asked.append(record)
        else:
            self.requests.append(record)
            self._arrival(len(self.requests) - 1).set()
        answering = asyncio.ensure_future(self._answer(record, connection))
        leaving = asyncio.ensure_future(connection.gone.wait())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            early = not answering.done() or isinstance(answering.exception(), ConnectionError)
        finally:
            leaving.cancel()
            answering.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
        if early:
            record.disconnected.set()
        elif error := answering.exception():
            self._errors.append(error)
            connection.cut()

    async def _answer(self, record: Recorded, connection: Connection) -> None:
        problem = _violation(record) if self._strict else None
        answer: Answer
        if problem:
            answer = Failure("bad_request", message=problem)
        elif _is_for_a_title(record):
            answer = Reply([Text(self.title)]) if self.title else Failure("bad_request")
        else:
            answer = self.script.next(record.json)
        if isinstance(answer, Raw):
            await self._send_raw(answer, connection)
            record.answered.set()
            return
        if isinstance(answer.before, Gate):
            await answer.before.pass_through()
        elif answer.before is not None:
            await asyncio.sleep(answer.before.seconds)
        if isinstance(answer, Failure):
            await self._fail(answer, record, connection)
        elif record.json.get("stream"):
            await connection.start_events()
            for step in self._stream(answer, record):
                if isinstance(step, Cut):
                    connection.cut()
                    return
                if isinstance(step, StreamFailure):
                    own = self._dialect.midway if record.api == "chat" else b""
                    await connection.send_chunk(own or _FORMATS[record.api].stream_failure(step))
                    break
                await _perform(step, connection)
            await connection.end_chunks()
        else:
            await connection.send_json(200, self._body(answer, record))
        record.answered.set()

    async def _send_raw(self, answer: Raw, connection: Connection) -> None:
        await connection.start_chunks(answer.status, answer.headers)
        for step in answer.chunks:
            if isinstance(step, Cut):
                connection.cut()
                return
            await _perform(step, connection)
        await connection.end_chunks()

    async def _fail(self, answer: Failure, record: Recorded, connection: Connection) -> None:
        headers: dict[str, str] = {}
        if answer.retry_after is not None:
            headers["retry-after"] = f"{answer.retry_after:g}"
        if answer.kind == "html":
            page = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
            await connection.send(502, page, {"content-type": "text/html", **headers})
            return
        vendor = anthropic_api if record.api == "anthropic" else openai_errors
        status, body = vendor.failure(answer, record.json.get("model", ""))
        if answer.kind == "context_too_long" and record.api == "chat":
            body = self._dialect.too_long or body
        await connection.send_json(status, body, headers)

    def _stream(self, answer: Reply, record: Recorded) -> Iterator[WireStep]:
        if record.api == "chat":
            return self._dialect.stream(answer, record.json)
        return _FORMATS[record.api].stream(answer, record.json)

    def _body(self, answer: Reply, record: Recorded) -> dict[str, Any]:
        if record.api == "chat":
            return openai_chat.body(answer, record.json, self._dialect.reasoning_field)
        return _FORMATS[record.api].body(answer, record.json)


async def _perform(step: WireStep, connection: Connection) -> None:
    match step:
        case bytes():
            await connection.send_chunk(step)
        case Gate():
            await step.pass_through()
        case Pause(seconds=seconds):
            await asyncio.sleep(seconds)
        case Malformed(data=data):
            await connection.send_chunk(sse(data, event="content_block_delta"))
        case Stall():
            await asyncio.Event().wait()


def _is_for_a_title(record: Recorded) -> bool:
    """Whether hooks-session-naming asks, at a moment that no test chooses."""
    return "You give a conversation between a user" in json.dumps(record.json)


def _violation(record: Recorded) -> str | None:
    match record.api:
        case "anthropic":
            return checks_anthropic.violation(record.json)
        case "responses":
            return checks_openai.responses_violation(record.json)
        case "chat":
            return checks_openai.chat_violation(record.json)


def _summary(record: Recorded) -> dict[str, Any]:
    return {
        "api": record.api,
        "headers": record.headers,
        "json": record.json,
        "answered": record.answered.is_set(),
        "disconnected": record.disconnected.is_set(),
    }
