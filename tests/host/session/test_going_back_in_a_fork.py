import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import SessionOpened
from amplifier_tui.host.session.carrying import fork_stored
from tests.host.asking import CONTEXT, chat
from tests.host.driving import Project
from tests.host.session.test_rewinding import CHECKPOINTS, Make, rewind, turn, undo
from tests.servers import LoopbackServer, ToolUse, reply


@pytest.mark.parametrize("how", ["fork", "another bundle", "a stored one"])
def test_files_of_the_turns_that_came_along_go_back_too(
    project: Project, drive: Make, server: LoopbackServer, how: str
) -> None:
    driver = drive()
    for name in ("first", "second"):
        project.bundle(
            name,
            context=CONTEXT,
            context_config={"providers": []},
            providers=[chat(server)],
            tools=("tool-filesystem", "tool-bash"),
            hooks=CHECKPOINTS,
        )
    opened = driver.open("first")
    (project.folder / "mine.txt").write_text("mine")
    server.script.add(reply(ToolUse("bash", {"command": "echo theirs > mine.txt"})))
    turn(driver, server, "one")
    turn(driver, server, "two", a="2")
    driver.drain()
    if how == "fork":
        driver.client.fork(2)
    elif how == "another bundle":
        driver.client.switch_bundle("second")
    else:
        driver.close()
        folder = fork_stored(project.folder_of(opened.session_id), None)
        driver = drive()
        driver.client.open(OpenRequest(cwd=project.folder, resume=folder.name))
    assert driver.wait(SessionOpened).session_id != opened.session_id
    (project.folder / "a.txt").write_text("by hand")
    preview = driver.client.preview_rewind(1).result(5)
    files = {file.path: (file.action, bool(file.conflict)) for file in preview.files}
    assert files == {"mine.txt": ("restored", False), "a.txt": ("removed", True)}
    done = rewind(driver, 1)
    assert (done.restored, done.kept) == (("mine.txt",), ("a.txt",))
    assert (project.folder / "mine.txt").read_text() == "mine"
    undo(driver)
    assert (project.folder / "mine.txt").read_text() == "theirs\n"
    turn(driver, server, "three", b="3")
    index = project.folder_of(opened.session_id) / "checkpoints" / "index.jsonl"
    assert "b.txt" not in index.read_text(), "the other session's record is its own"
