import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.context.adr.redis_server import RedisServer, find_redis_server

REQUIRE_REDIS = "AMPLIFIER_TUI_REQUIRE_REDIS"
"""Where it is set, a machine without redis-server fails its tests."""


def redis_or_skip() -> str:
    """The program; without it the test is skipped, or fails where it must not be."""
    program = find_redis_server()
    if program is not None:
        return program
    missing = "no redis-server: install it (Debian: redis-server) or set REDIS_SERVER"
    if os.environ.get(REQUIRE_REDIS, "").lower() not in ("", "0", "false"):
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="session")
def redis_program() -> str:
    return redis_or_skip()


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
