"""What an empty session offers to try is no trap: picked, it is sent as the user's own word."""

from collections.abc import Iterator

import pytest

from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import SessionOpened
from amplifier_tui.host.trust.answers import TrustFile
from tests.host.driving import Driver
from tests.trust.cloning import Machine

MORE_THAN_WORDS = (
    "!touch x",
    "  !!touch x",
    "/mode auto",
    "@<HOME>/notes.md",
    'Sum up @\\"<HOME>/notes.md\\" for me.',
    "```\\n@<HOME>/notes.md\\n```",
    "${NOT_SET:!touch x}",
    "Read ${NOT_SET:@}<HOME>/notes.md",
    "\\u200b!touch x",
    "\\e[1m/mode auto",
)


@pytest.fixture
def driver(at: Machine) -> Iterator[Driver]:
    driver = Driver(at.clone, LocalClient())
    yield driver
    driver.close()


def offered(at: Machine, driver: Driver, *examples: str) -> tuple[str, ...]:
    """Open a bundle of the clone that goes on from the shipped one; use nothing of it."""
    listed = ", ".join(f'"{example}"' for example in examples)
    at.opened(driver, at.bundle(f"session: {{examples: [{listed}]}}\n"), lambda item: False)
    return at.of(SessionOpened)[-1].examples


@pytest.mark.parametrize("example", MORE_THAN_WORDS)
def test_an_example_of_a_project_that_is_more_than_words_is_left_out_and_told(
    at: Machine, driver: Driver, example: str
) -> None:
    found = offered(at, driver, "Explain 1/2 of it!", example)
    assert "Explain 1/2 of it!" in found
    assert not [each for each in found if "touch x" in each or "mode" in each or "notes" in each]
    assert "only plain words are offered" in at.said()


def test_in_a_folder_of_the_users_own_every_example_is_offered(at: Machine, driver: Driver) -> None:
    TrustFile().add(folders=(at.clone,))
    found = offered(at, driver, "!touch x", "Read @notes.md", "/mode plan")
    assert found[-3:] == ("!touch x", "Read @notes.md", "/mode plan")
    assert "plain words" not in at.said()
