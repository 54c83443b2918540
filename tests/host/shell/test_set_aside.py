"""What a command in the sandbox made and may not take effect, told to the user."""

from collections.abc import Callable
from pathlib import Path

from amplifier_tui.host.events import Notice, SessionClosed
from tests.host.driving import Driver, Project, calling
from tests.sandbox import needs_sandbox

pytestmark = needs_sandbox


def test_where_what_was_moved_aside_is_kept_stays_in_the_conversation(
    project: Project, drive: Callable[..., Driver]
) -> None:
    def told(driver: Driver) -> list[Notice]:
        return [event for event in driver.of(Notice) if event.is_of_conversation]

    (project.folder / "make.sh").write_text("echo A=1 > .envrc\n")
    project.allow(["bash"])
    first = drive()
    script = calling({"bash": {"command": "sh make.sh"}})
    opened = first.open(project.bundle(tools=("tool-bash",), script=script))
    assert first.turn("make it").status == "success"
    first.wait_until(lambda: bool(told(first)), "nothing is said")
    (notice,) = told(first)
    kept = Path(notice.text.partition(" it is in ")[2].partition(" now")[0], ".envrc")
    assert kept.read_text() == "A=1\n"
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    again.wait_until(lambda: bool(told(again)), "nothing is said again")
    assert [(each.text, each.replayed) for each in told(again)] == [(notice.text, True)]


def test_it_is_said_at_the_end_listed_by_its_place_and_put_back(
    project: Project, drive: Callable[..., Driver]
) -> None:
    (project.folder / "make.sh").write_text("echo A=1 > .envrc; mkdir .husky; echo x > .husky/y\n")
    project.allow(["bash"])
    first = drive()
    script = calling({"bash": {"command": "sh make.sh"}})
    opened = first.open(project.bundle(tools=("tool-bash",), script=script))
    first.turn("make it")
    first.close()
    (closed,) = first.of(SessionClosed)
    assert closed.aside == (
        "Moved aside, as they came while a command ran in the sandbox: .husky, .envrc"
    )
    again = drive()
    again.open(resume=opened.session_id)
    husky, envrc = again.client.set_aside().result(5)
    assert (envrc.name, envrc.text) == (".envrc", "A=1\n")
    assert (husky.name, husky.text) == (".husky", "A folder with\ny")
    (project.folder / ".envrc").write_text("mine\n")
    refused = again.client.put_back(envrc.key).result(5)
    assert refused == "There is another .envrc by now: move that away first"
    assert (project.folder / ".envrc").read_text() == "mine\n"
    assert again.client.put_back(husky.key).result(5) == ""
    assert (project.folder / ".husky" / "y").read_text() == "x\n"
    assert again.client.set_aside().result(5) == (envrc,)
    assert again.client.put_back(husky.key).result(5) == "It is not there any more"
    again.close()
    (closed,) = again.of(SessionClosed)
    assert closed.aside == "", "it was said when it came"
