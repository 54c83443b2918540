"""By what a session's bundle is found again, here and by the Amplifier CLI."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.events import Notice, SessionOpened
from tests.host.driving import Driver, Project
from tests.host.store.cli_reader import CliReader

Drive = Callable[..., Driver]


@pytest.fixture
def cli(project: Project, own_home: Path) -> CliReader:
    return CliReader(own_home / ".amplifier", project.folder)


@pytest.fixture
def other_places(project: Project, own_home: Path) -> dict[str, str]:
    """References by name, path, URI and as an include, each to a bundle of its own."""
    project.bundle("named")
    text = (project.bundles / "named.md").read_text()
    away = project.folder.parent / "a way"
    (away / "behaviors").mkdir(parents=True)
    (away / "bundle.md").write_text("---\nbundle: {name: space, version: 1.0.0}\n---\nRoot.\n")
    (away / "behaviors" / "inner.md").write_text(text.replace("named", "inner", 1))
    (away / "by-path.md").write_text(text.replace("named", "by-path", 1))
    space = {"uri": f"file://{away}", "name": "space", "version": "1.0.0", "local_path": str(away)}
    registry = own_home / ".amplifier" / "registry.json"
    registry.parent.mkdir(parents=True, exist_ok=True)
    registry.write_text(json.dumps({"version": 1, "bundles": {"space": space}}))
    return {
        "name": "named",
        "path": str(away / "by-path.md"),
        "relative path": "../a way/by-path.md",
        "URI": f"file://{away / 'by-path.md'}",
        "include": "space:behaviors/inner",
    }


KINDS = ["name", "path", "relative path", "URI", "include"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_of_ours_is_resumed_by_both_with_the_bundle_it_was_opened_with(
    drive: Drive, cli: CliReader, other_places: dict[str, str], kind: str
) -> None:
    first = drive()
    opened = first.open(other_places[kind])
    first.turn("hello")
    first.close()
    found = cli.bundle(opened.session_id)
    assert isinstance(found, Path) and "loop-streaming" in found.read_text()
    second = drive()
    again = second.open(resume="last")
    assert (again.bundle, again.resumed) == (opened.bundle, True)
    assert not [n for n in second.of(Notice) if n.level == "warning"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_of_the_cli_is_resumed_and_its_bundle_still_found_by_the_cli(
    drive: Drive, cli: CliReader, other_places: dict[str, str], kind: str
) -> None:
    folder = cli.folder / "0f3c9a1e-1111-4222-8333-944445555666"
    folder.mkdir(parents=True)
    written = f"bundle:{other_places[kind]}"
    (folder / "metadata.json").write_text(json.dumps({"bundle": written, "turn_count": 1}))
    row = {"role": "user", "content": "Before", "timestamp": "2026-03-01T09:00:00.000+00:00"}
    (folder / "transcript.jsonl").write_text(json.dumps(row) + "\n")
    driver = drive()
    driver.open(resume="last")
    driver.turn("And now?")
    driver.close()
    assert not [n for n in driver.of(Notice) if n.level == "warning"]
    card = cli.card(folder.name)
    assert (card["bundle"], card["first_prompt"]) == (written, "Before")
    assert card["created"] == row["timestamp"]


def test_a_bundle_the_cli_chose_since_goes_before_our_own_note(
    drive: Drive, cli: CliReader, other_places: dict[str, str]
) -> None:
    first = drive()
    opened = first.open(other_places["include"])
    first.turn("hello")
    first.close()
    card = cli.card(opened.session_id)
    (cli.folder / opened.session_id / "metadata.json").write_text(
        json.dumps({**card, "bundle": "bundle:named"})
    )
    assert drive().open(resume="last").bundle == "named"


def test_a_bundle_that_is_not_there_stays_noted_for_whoever_has_it(
    project: Project, drive: Drive, cli: CliReader
) -> None:
    first = drive()
    opened = first.open(project.bundle("gone"))
    first.turn("hello")
    first.close()
    (project.bundles / "gone.md").rename(project.bundles / "test.md")
    second = drive()
    second.open(resume="last")
    second.turn("again")
    assert any("no bundle 'gone'" in n.text for n in second.of(Notice))
    second.close()
    assert cli.card(opened.session_id)["bundle"] == "gone"


def test_a_session_the_cli_knew_no_bundle_of_is_opened_without_a_word(
    project: Project, drive: Drive, cli: CliReader
) -> None:
    folder = cli.folder / "0f3c9a1e-1111-4222-8333-944445555666"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text('{"bundle": "unknown"}')
    (folder / "transcript.jsonl").write_text('{"role": "user", "content": "x"}\n')
    project.bundle("mine")
    (project.folder / ".amplifier" / "settings.yaml").write_text("bundle: {active: mine}\n")
    driver = drive()
    assert driver.open(resume="last").bundle == "mine"
    assert not [n for n in driver.of(Notice) if n.level == "warning"]


def test_a_fork_takes_the_bundle_of_a_session_of_the_cli(
    project: Project, drive: Drive, cli: CliReader
) -> None:
    folder = cli.folder / "0f3c9a1e-1111-4222-8333-944445555666"
    folder.mkdir(parents=True)
    project.bundle("mine")
    (folder / "metadata.json").write_text('{"bundle": "bundle:mine"}')
    (folder / "transcript.jsonl").write_text('{"role": "user", "content": "x"}\n')
    driver = drive()
    driver.open(resume="last")
    driver.client.fork()
    assert driver.wait(SessionOpened).bundle == "mine"
