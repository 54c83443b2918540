"""What is approved is what runs, also where a link is turned while the question is open."""

from typing import Any

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, ToolEnded, TurnEnded
from amplifier_tui.host.gate.calls import guarded
from tests.host.driving import Driver, Project, calling

TOOLS = ("tool-filesystem", "tool-bash", "tool-apply-patch")
LINKED: dict[str, tuple[str, dict[str, Any]]] = {
    "a file": ("write_file", {"file_path": "link/config", "content": "evil"}),
    "a patch": (
        "apply_patch",
        {"input": "*** Begin Patch\n*** Add File: link/made.txt\n+evil\n*** End Patch"},
    ),
    "a folder to run in": ("bash", {"command": "touch made.txt", "cwd": "link"}),
}


@pytest.mark.parametrize("turned", [True, False], ids=["turned", "left alone"])
@pytest.mark.parametrize("what", LINKED)
def test_what_was_approved_does_not_happen_where_a_link_leads_since_then(
    project: Project, driver: Driver, what: str, turned: bool
) -> None:
    tool, arguments = LINKED[what]
    for name in ("harmless", "elsewhere"):
        (project.folder / name).mkdir()
    link = project.folder / "link"
    link.symlink_to("harmless")
    name = project.bundle(script=calling({tool: arguments}), tools=TOOLS)
    project.allow([])
    driver.open(name)
    driver.client.submit("go")
    asked = driver.wait(ApprovalRequested)
    if turned:
        link.unlink()
        link.symlink_to("elsewhere")
    driver.client.decide(asked.request_id, Decision(allow=True))
    ended = driver.wait(ToolEnded)
    driver.wait(TurnEnded)
    assert ended.ok is not turned
    assert ("now leads to" in ended.output) is turned
    assert bool(list((project.folder / "harmless").iterdir())) is not turned
    assert not list((project.folder / "elsewhere").iterdir())


@pytest.mark.parametrize("before", ["mine\n", None])
def test_a_file_that_was_changed_while_its_question_was_open_is_not_written_over(
    project: Project, driver: Driver, before: str | None
) -> None:
    file = project.folder / "notes.txt"
    if before is not None:
        file.write_text(before)
    call = {"write_file": {"file_path": "notes.txt", "content": "theirs"}}
    name = project.bundle(script=calling(call), tools=TOOLS)
    project.allow([])
    driver.open(name)
    driver.client.submit("go")
    asked = driver.wait(ApprovalRequested)
    file.write_text("written meanwhile\n")
    driver.client.decide(asked.request_id, Decision(allow=True))
    ended = driver.wait(ToolEnded)
    driver.wait(TurnEnded)
    assert not ended.ok and "was changed while the user was asked" in ended.output
    assert file.read_text() == "written meanwhile\n"


@pytest.mark.parametrize("what", ["a file", "a patch"])
def test_a_link_that_is_turned_after_the_last_look_leads_nowhere(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    tool, arguments = LINKED[what]
    for name in ("harmless", "elsewhere"):
        (project.folder / name).mkdir()
    link = project.folder / "link"
    link.symlink_to("harmless")

    def turned(*_: object) -> str:
        link.unlink()
        link.symlink_to("elsewhere")
        return ""

    monkeypatch.setattr(guarded, "_moved", turned)
    name = project.bundle(script=calling({tool: arguments}), tools=TOOLS)
    project.allow([])
    driver.open(name)
    driver.client.submit("go")
    driver.client.decide(driver.wait(ApprovalRequested).request_id, Decision(allow=True))
    ended = driver.wait(ToolEnded)
    driver.wait(TurnEnded)
    assert not ended.ok and "now leads to" in ended.output
    assert not list((project.folder / "elsewhere").iterdir())
