"""A history in Redis: one list per session, shared by whoever knows its id (ADR 0016).

Needs the extra ``redis``. What could not be stored waits in the session's state for the server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Unpack
from uuid import uuid4

from amplifier_tui.base.jsonl import decode_row
from amplifier_tui.context.adr.history import HistoryFlags, HistoryProvider, read_message
from amplifier_tui.context.adr.message import CALL, RESULT, Message
from amplifier_tui.context.errors import ContextError, HistoryUnavailableError

if TYPE_CHECKING:
    from redis.asyncio import Redis

_UNSAVED: Final = "unsaved"
_UNSAVED_LIMIT: Final = 2_000
"""Messages that are kept while the server is away."""

_ROW_ID: Final = "row_id"

_TIMEOUT: Final = 5.0
"""Seconds to wait for the server; one that hangs is as good as gone."""


class RedisHistoryProvider(HistoryProvider):
    """Stores the messages of each session in a Redis list.

    Args:
        source_id: Name under which everything it adds is known.
        redis_url: Address of the server, such as ``redis://localhost:6379`` or
            ``unix:///run/redis.sock``; or else ``host``, ``port``, ``ssl`` and ``username``.
        credential_provider: A ``redis.credentials.CredentialProvider``.
        key_prefix: Beginning of the keys; the session's id follows.
        max_messages: Most messages to keep of a session, the last ones; None for all.
        client: A client to use instead of one of its own; it is not closed.
        **flags: What to load and store; see `HistoryProvider`.

    Raises:
        ValueError: There is neither an address nor a host nor a client, or ``max_messages`` is
            less than one.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "redis_memory"

    def __init__(
        self,
        source_id: str | None = None,
        redis_url: str | None = None,
        *,
        host: str | None = None,
        port: int = 6379,
        ssl: bool = True,
        username: str | None = None,
        credential_provider: Any | None = None,
        key_prefix: str = "chat_messages",
        max_messages: int | None = None,
        client: Redis | None = None,
        **flags: Unpack[HistoryFlags],
    ) -> None:
        super().__init__(source_id or self.DEFAULT_SOURCE_ID, **flags)
        if client is None and not redis_url and not host:
            raise ValueError(f"History '{self.source_id}' needs a `redis_url` or a `host`")
        if max_messages is not None and max_messages < 1:
            raise ValueError(f"`max_messages` must be at least 1, not {max_messages}")
        self.key_prefix = key_prefix
        self.max_messages = max_messages
        self._redis_url = redis_url
        self._connection: dict[str, Any] = {
            "host": host,
            "port": port,
            "ssl": ssl,
            "username": username,
            "credential_provider": credential_provider,
        }
        self._client = client
        self._owns_client = client is None
        self._loop: asyncio.AbstractEventLoop | None = None

    def key(self, session_id: str | None) -> str:
        """Return the key of a session's list."""
        return f"{self.key_prefix}:{session_id or 'default'}"

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages in the session's list; raises `HistoryUnavailableError`."""
        # What waited for the server comes first.
        await self.save_messages(session_id, (), state=state)
        key = self.key(session_id)
        return _read_rows(await self._ask(lambda redis: redis.lrange(key, 0, -1)))

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Add to the session's list and cut it to ``max_messages``, in one transaction.

        Raises:
            HistoryUnavailableError: The server can't be reached; a state keeps them for next time.
        """
        rows = [_row(message) for message in messages]
        if state is not None:
            rows = [*state.get(_UNSAVED, []), *rows]
            # First of all, so that nothing is lost where this is cancelled.
            state[_UNSAVED] = rows[-_UNSAVED_LIMIT:]
        await self._push(session_id, rows)
        if state is not None:
            del state[_UNSAVED]

    async def clear(self, session_id: str | None) -> None:
        """Delete a session's list; raises `HistoryUnavailableError`."""
        await self._ask(lambda redis: redis.delete(self.key(session_id)))

    async def aclose(self) -> None:
        """Close the connection, if it is the provider's own."""
        if self._client is not None and self._owns_client:
            await self._client.aclose()
            self._client = None

    async def _push(self, session_id: str | None, rows: list[str]) -> None:
        if not rows:
            return
        key = self.key(session_id)

        async def push(redis: Redis) -> None:
            # In one transaction: between two of them another writer could come.
            async with redis.pipeline(transaction=True) as pipe:
                pipe.rpush(key, *rows)
                if self.max_messages is not None:
                    pipe.ltrim(key, -self.max_messages, -1)
                await pipe.execute()

        await self._ask(push)

    async def _ask(self, work: Any) -> Any:
        redis = self._connected()
        from redis.exceptions import RedisError

        try:
            return await work(redis)
        except (RedisError, OSError) as error:
            raise HistoryUnavailableError(
                self.source_id,
                f"Redis does not answer ({error}). What is said now is stored there later.",
            ) from error

    def _connected(self) -> Redis:
        loop = asyncio.get_running_loop()
        if self._client is not None and (not self._owns_client or loop is self._loop):
            return self._client
        try:
            from redis.asyncio import Redis
        except ModuleNotFoundError as error:
            raise ContextError(
                "Redis histories need the extra `redis`: pip install 'amplifier-tui[redis]'"
            ) from error
        self._loop = loop
        if self._redis_url:
            self._client = Redis.from_url(self._redis_url, **_settings())
        else:
            self._client = Redis(**_settings(), **self._connection)
        return self._client


def _row(message: Message) -> str:
    # A server that was slow may have taken what was thought lost and is sent again. What is told
    # apart by its id may say the same as often as it likes.
    return json.dumps({**message.to_dict(), _ROW_ID: uuid4().hex})


def _settings() -> dict[str, Any]:
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    return {
        "decode_responses": True,
        "socket_connect_timeout": _TIMEOUT,
        "socket_timeout": _TIMEOUT,
        # Once more, for a connection that a restart of the server has cut.
        "retry": Retry(NoBackoff(), 1),
    }


def _read_rows(rows: Iterable[Any]) -> list[Message]:
    """The messages but what came twice, and results that have no call before them."""
    seen: set[str] = set()
    calls: set[str] = set()
    kept: list[Message] = []
    for data in (decode_row(row) or {} for row in rows):
        row_id = str(data.get(_ROW_ID) or "")
        message = None if row_id in seen else read_message(data, "Redis")
        if message is None:
            continue
        if row_id:
            seen.add(row_id)
        results = {c.call_id for c in message.contents if c.type == RESULT}
        if results and not results & calls:
            continue
        calls |= {c.call_id for c in message.contents if c.type == CALL and c.call_id}
        kept.append(message)
    return kept
