"""The program's own log."""

import logging
from collections.abc import Iterator
from contextlib import suppress

import pytest

from amplifier_tui.cli.logs import log_to_file
from amplifier_tui.paths import user_log_dir


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger()
    before, level = list(logger.handlers), logger.level
    ours = logging.getLogger("amplifier_tui")
    own = ours.level
    yield logger
    for handler in set(logger.handlers).difference(before):
        logger.removeHandler(handler)
        # What a full disk did not take is tried once more.
        with suppress(OSError):
            handler.close()
    logger.setLevel(level)
    ours.setLevel(own)


def test_a_disk_that_is_full_says_nothing_on_the_screen(
    root: logging.Logger, capfd: pytest.CaptureFixture[str]
) -> None:
    user_log_dir().mkdir(parents=True, exist_ok=True)
    path = user_log_dir() / "amplifier-tui.log"
    path.symlink_to("/dev/full")
    before = list(root.handlers)
    log_to_file()
    (handler,) = set(root.handlers).difference(before)
    handler.handle(logging.makeLogRecord({"msg": "lost"}))
    assert capfd.readouterr().err == ""
    handler.handle(logging.makeLogRecord({"msg": "%d", "args": ("no number",)}))
    assert "TypeError" in capfd.readouterr().err, "a mistake of ours is not hidden"
