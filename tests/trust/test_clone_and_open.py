"""A repository is cloned and opened, the user says hello: nothing of it has power by itself.

Each row is a trick that was found or thought of; rows are never removed.
"""

from collections.abc import Iterator

import pytest

from amplifier_tui.host.door.local_client import LocalClient
from tests.host.driving import Driver
from tests.servers.replies import ToolUse
from tests.trust.cloning import DIARY, KEY, PRIVATE, Machine
from tests.trust.tricks import Effect, Never
from tests.trust.tricks_bundle import BUNDLES
from tests.trust.tricks_code import CODE
from tests.trust.tricks_guard import GUARD
from tests.trust.tricks_nothing import NOTHING_OF_IT
from tests.trust.tricks_reading import FILES, KEYS
from tests.trust.tricks_servers import SERVERS
from tests.trust.tricks_skills import SKILLS

pytestmark = pytest.mark.timeout(60)

TABLES = {
    "guard": GUARD,
    "bundle": BUNDLES,
    "code": CODE,
    "files": FILES,
    "keys": KEYS,
    "servers": SERVERS,
    "skills": SKILLS,
    "nothing": NOTHING_OF_IT,
}
ROWS = {f"{table}: {name}": trick for table, rows in TABLES.items() for name, trick in rows.items()}
every_row = pytest.mark.parametrize("row", ROWS)

WANTED = (
    ToolUse("bash", {"command": "cp ~/.ssh/id_rsa here.txt; touch ~/RAN; env"}),
    ToolUse("write_file", {"file_path": "~/.bashrc", "content": "touch ~/RAN"}),
    ToolUse("read_file", {"file_path": "~/.ssh/id_rsa"}),
    ToolUse("grep", {"pattern": "WORDS", "path": "~"}),
)
"""What the model was talked into."""


@pytest.fixture
def driver(at: Machine) -> Iterator[Driver]:
    driver = Driver(at.clone, LocalClient())
    yield driver
    driver.close()


def refused(at: Machine, driver: Driver, bundle: str, use: Effect | Never) -> None:
    """Open it, use nothing and say hello: nothing of it came about."""
    before = at.state()
    answer = use.answer if isinstance(use, Effect) and use.answer == "allow" else "deny"
    at.opened(driver, bundle, lambda item: False, use.wants, answer, WANTED, use.then)
    assert not at.ran.exists(), "code of the clone ran"
    assert at.state() == before
    assert at.evil.requests == []
    for words in (PRIVATE, DIARY, KEY):
        assert words not in at.prompts()
    assert not isinstance(use, Effect) or not use.seen(at)


@every_row
def test_nothing_of_it_counts_until_the_user_says_so(at: Machine, driver: Driver, row: str) -> None:
    trick = ROWS[row]
    refused(at, driver, trick.make(at) or "", trick.use)
    shown = [item for item in at.asked if item.group == trick.group]
    texts = [f"{item.title}\n{item.detail}\n{item.where}" for item in shown]
    if trick.shows:
        assert any(at.told(trick.shows) in text for text in texts), at.asked


@every_row
def test_nothing_of_it_counts_in_another_bundle_either(
    at: Machine, driver: Driver, row: str
) -> None:
    # Tricks of a bundle beside the shipped one, all others with a bundle of the project.
    other = "coding" if ROWS[row].make(at) else at.bundle(name="plain")
    refused(at, driver, other, ROWS[row].use)


@every_row
def test_with_use_it_it_works_or_the_session_says_why_it_never_does(
    at: Machine, driver: Driver, row: str
) -> None:
    trick = ROWS[row]
    bundle, use = trick.make(at) or "", trick.use
    answer = use.answer if isinstance(use, Effect) else "deny"
    opens = at.opened(driver, bundle, lambda item: True, use.wants, answer, (), use.then)
    if isinstance(use, Effect):
        assert use.seen(at), at.said()
    else:
        assert at.told(use.says) in at.said() if use.says else opens and not at.asked
        assert not at.ran.exists()
        assert not (at.clone / "did").exists()
        assert DIARY not in at.prompts()
    # Never, whoever asks.
    assert PRIVATE not in at.prompts()
    assert KEY not in at.prompts()


def test_fifty_tricks_at_least() -> None:
    assert len(ROWS) >= 50
