import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.context.redis_server import RedisServer, find_redis_server


@pytest.fixture(scope="session")
def redis_program() -> str:
    program = find_redis_server()
    if program is None:
        pytest.skip("no redis-server: install it (Debian: redis-server) or set REDIS_SERVER")
    return program


@pytest.fixture(scope="session")
def _shared_redis(redis_program: str) -> Iterator[RedisServer]:
    # The path of a unix socket must be short.
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(redis_program, Path(folder))
        server.start()
        yield server
        server.stop()


@pytest.fixture
def redis_url(_shared_redis: RedisServer) -> str:
    return _shared_redis.url


@pytest.fixture
def own_redis(redis_program: str) -> Iterator[RedisServer]:
    """A server that a test may stop and start."""
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(redis_program, Path(folder))
        server.start()
        yield server
        server.stop()
