"""A yes to a file that a link of a clone leads to is for that file, and for no other one later."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import TrustAsked, TurnEnded
from tests.host.driving import Driver
from tests.servers.replies import Reply, Text
from tests.trust import tricks
from tests.trust.cloning import DIARY, Machine

pytestmark = pytest.mark.timeout(60)

WORDS = "HARMLESS-WORDS"
BUNDLES = ".amplifier/bundles"
MEMORY = (
    "session: {context: {module: context-persistent, config: {memory_files: [<CLONE>/doc.md]}}}\n"
)
SERVER = '{"mcpServers": {"x": {"command": "true", "args": ["--of", "doc.md"]}}}'


def body(at: Machine, text: str) -> str:
    return at.bundle("", text)


def agent(at: Machine) -> str:
    return at.bundle("agents: {spy: {description: d, instruction: 'Read @doc.md first.'}}\n")


def server(at: Machine) -> str:
    at.write(".mcp.json", SERVER)
    return at.bundle()


def app(at: Machine) -> str:
    at.write(tricks.SETTINGS, "bundle: {app: ['<CLONE>/doc.md']}\n")
    return at.bundle()


ROWS: dict[str, tuple[str, tricks.Callable[[Machine], str], tuple[tricks.ToolUse, ...]]] = {
    "a mention": ("doc.md", lambda at: body(at, "Read @doc.md first."), ()),
    "a mention of its own namespace": (
        f"{BUNDLES}/doc.md",
        lambda at: body(at, "Read @team:doc.md first."),
        (),
    ),
    "a mention in a file that is mentioned": (
        "doc.md",
        lambda at: at.write("one.md", "See @doc.md") and body(at, "Read @one.md first."),
        (),
    ),
    "a mention of an agent": ("doc.md", agent, (tricks.AGENT,)),
    "a context file": (
        f"{BUNDLES}/doc.md",
        lambda at: at.bundle("context: {include: [doc.md]}\n"),
        (),
    ),
    "an include": (
        f"{BUNDLES}/doc.md",
        lambda at: at.bundle("includes: [coding, ./doc.md]\n", ""),
        (),
    ),
    "the bundle itself": (f"{BUNDLES}/doc.md", lambda at: "doc", ()),
    "a memory file": ("doc.md", lambda at: at.bundle(at.told(MEMORY)), ()),
    "a bundle on top of every session": ("doc.md", app, ()),
}
"""Where the link is, what leads to it, and what the model does so that it is read."""
FOR_SERVERS = {
    "an argument of a server": server,
    "a place of the file tools": lambda at: at.bundle(
        "tools: [{module: tool-filesystem, config: {allowed_read_paths: [doc.md]}}]\n"
    ),
}


@pytest.fixture
def drivers(at: Machine) -> Iterator[list[Driver]]:
    made = [Driver(at.clone, LocalClient()) for _ in range(2)]
    yield made
    for driver in made:
        driver.close()


def file_of(at: Machine, name: str, words: str) -> Path:
    path = at.home / name
    path.write_text(f"---\nbundle: {{name: mine}}\nincludes: [coding]\n---\n{words}\n")
    return path


def turn(at: Machine, name: str, target: Path) -> None:
    link = at.clone / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)


@pytest.mark.parametrize("row", ROWS)
def test_a_link_that_was_turned_is_asked_about_by_the_file_it_leads_to(
    at: Machine, drivers: list[Driver], row: str
) -> None:
    name, make, wants = ROWS[row]
    first, second = file_of(at, "harmless.md", WORDS), file_of(at, "notes.md", DIARY)
    turn(at, name, first)
    bundle = make(at)
    at.opened(drivers[0], bundle, lambda item: True, wants, remember="always")
    assert WORDS in at.prompts()
    assert [str(first) in item.title for item in at.asked] == [True], at.asked
    turn(at, name, second)
    at.asked.clear()
    at.opened(drivers[1], bundle, lambda item: False, wants)
    assert [str(second) in item.title for item in at.asked] == [True]
    if row != "an include":  # which is known by the file itself
        assert str(first) in at.asked[0].was
    assert DIARY not in at.prompts()


@pytest.mark.parametrize("row", FOR_SERVERS)
def test_a_setting_with_a_path_is_asked_about_again_when_it_leads_elsewhere(
    at: Machine, drivers: list[Driver], row: str
) -> None:
    turn(at, "doc.md", file_of(at, "harmless.md", WORDS))
    bundle = FOR_SERVERS[row](at)
    at.opened(drivers[0], bundle, lambda item: True, remember="always")
    assert any(f"doc.md → {at.home}/harmless.md" in item.detail for item in at.asked)
    turn(at, "doc.md", file_of(at, "notes.md", DIARY))
    at.asked.clear()
    at.opened(drivers[1], bundle, lambda item: False)
    assert [f"doc.md → {at.home}/notes.md" in item.detail for item in at.asked] == [True]


@pytest.mark.parametrize("row", ["a mention", "a context file"])
@pytest.mark.parametrize("own", [True, False], ids=["of the clone", "that was allowed"])
def test_a_link_that_is_turned_after_the_answer_opens_nothing_else(
    at: Machine, drivers: list[Driver], row: str, own: bool
) -> None:
    name, make, _ = ROWS[row]
    target = at.write("own.md", WORDS) if own else file_of(at, "harmless.md", WORDS)
    turn(at, name, target)
    at.opened(drivers[0], make(at), lambda item: True)
    assert WORDS in at.prompts()
    turn(at, name, file_of(at, "notes.md", DIARY))
    at.model.script.add(Reply([Text("Yes.")]))
    drivers[0].client.submit("again")
    drivers[0].wait(TurnEnded)
    assert DIARY not in at.prompts()
    assert len(drivers[0].of(TrustAsked)) == (0 if own else 1)
