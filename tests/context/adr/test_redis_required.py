import pytest

from tests.context.conftest import REQUIRE_REDIS, redis_or_skip


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.delenv("REDIS_SERVER", raising=False)
    monkeypatch.delenv(REQUIRE_REDIS, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize("value", ["1", "true"])
def test_where_everything_is_checked_a_missing_server_fails(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(REQUIRE_REDIS, value)
    with pytest.raises(pytest.fail.Exception, match="no redis-server: install it"):
        redis_or_skip()


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_elsewhere_the_tests_of_it_are_left_out(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(REQUIRE_REDIS, value)
    with pytest.raises(pytest.skip.Exception, match="no redis-server: install it"):
        redis_or_skip()
