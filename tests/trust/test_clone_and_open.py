"""A repository is cloned and opened, the user says hello: nothing of it has power by itself.

Each row is a trick that was found or thought of; rows are never removed.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.host.door.local_client import LocalClient
from tests.host.driving import Driver
from tests.servers.replies import ToolUse
from tests.trust.cloning import DIARY, KEY, PRIVATE, Machine, machine
from tests.trust.tricks_code import CODE
from tests.trust.tricks_guard import BUNDLES, GUARD
from tests.trust.tricks_reading import FILES, KEYS

pytestmark = pytest.mark.timeout(60)

TABLES = {"guard": GUARD, "bundle": BUNDLES, "code": CODE, "files": FILES, "keys": KEYS}
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
def at(tmp_path: Path, own_home: Path) -> Iterator[Machine]:
    found = machine(own_home, tmp_path, WANTED)
    yield found
    found.model.stop()
    found.evil.stop()


def opened(at: Machine, name: str, use: Callable[[TrustItem], bool]) -> str:
    """Open it in a session and say hello; returns why it could not be opened, if so."""
    driver = Driver(at.clone, LocalClient())
    try:
        return at.opened(driver, name, use)
    finally:
        driver.close()


@every_row
def test_nothing_of_it_counts_until_the_user_says_so(at: Machine, row: str) -> None:
    trick = ROWS[row]
    name = trick.make(at)
    before = at.state()
    opened(at, name or "", lambda item: False)
    assert not at.ran.exists(), "code of the clone ran"
    assert at.state() == before
    assert at.evil.requests == []
    for words in (PRIVATE, DIARY, KEY):
        assert words not in at.prompts()
    shown = [item for item in at.asked if item.group == trick.group]
    texts = [f"{item.title}\n{item.detail}\n{item.where}" for item in shown]
    if trick.shows:
        assert any(trick.shows in text for text in texts), at.asked


@every_row
def test_nothing_of_it_counts_in_another_bundle_either(at: Machine, row: str) -> None:
    # Tricks of a bundle beside the shipped one, all others with a bundle of the project.
    other = "coding" if ROWS[row].make(at) else at.bundle(name="plain")
    before = at.state()
    opened(at, other, lambda item: False)
    assert not at.ran.exists(), "code of the clone ran"
    assert at.state() == before
    assert at.evil.requests == []
    for words in (PRIVATE, DIARY, KEY):
        assert words not in at.prompts()


@pytest.mark.parametrize("row", [name for name, trick in ROWS.items() if trick.used])
def test_with_use_it_it_works(at: Machine, row: str) -> None:
    trick = ROWS[row]
    name = trick.make(at)
    assert trick.used is not None
    assert trick.used(*at.prepared(name or ""))
    failed = opened(at, name or "", lambda item: True)
    # The loop of the tricks is none, and a file of the user's is no bundle that could run.
    assert not failed or "orchestrator" in failed


NOT_IN_THE_PLAN = {
    "guard: nothing in the place of what a guard is told",
    "guard: in wide letters",
    "guard: a bold mode",
    "code: the bundle's own package",
}
"""What is used there shows elsewhere, or means nothing to anybody."""


@pytest.mark.parametrize("row", [name for name in ROWS if name not in NOT_IN_THE_PLAN])
def test_what_is_asked_about_makes_a_difference_when_it_is_used(at: Machine, row: str) -> None:
    trick = ROWS[row]
    name = trick.make(at) or ""
    refused = _effect(at, name, use=False)
    if at.asked:
        assert _effect(at, name, use=True) != refused


def _effect(at: Machine, name: str, *, use: bool) -> tuple[str, ...]:
    try:
        prepared, prompt = at.prepared(name, use=use)
    except BundleError as error:
        return (str(error),)
    skipped = [skip.source for skip in prepared.bundle.skipped]
    return str(prepared.mount_plan), prompt, str(skipped), str(prepared.activation_failures)


def test_fifty_tricks_at_least() -> None:
    assert len(ROWS) >= 50
