from pathlib import Path

from amplifier_tui.host.events import (
    HostEvent,
    ModuleFailed,
    Notice,
    OpeningReported,
    SessionOpened,
)
from amplifier_tui.host.session.opening.telling import OpeningNotices
from tests.host.driving import Driver, Project

HOSTS = [f"git+https://host{number}.invalid/o/r@main" for number in range(20)]


def including(project: Project, *includes: str) -> str:
    """A bundle that works, with includes before everything it has itself."""
    name = project.bundle()
    path = project.bundles / f"{name}.md"
    listed = "".join(f"- {include}\n" for include in includes)
    path.write_text(path.read_text().replace("---\n", f"---\nincludes:\n{listed}", 1))
    return name


def test_a_session_opens_without_the_network_and_names_every_include_it_goes_without(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(including(project, *HOSTS))
    assert isinstance(opened, SessionOpened) and opened.bundle == "test"
    report = driver.wait(OpeningReported)
    assert [(each.what, each.kind) for each in report.items] == [(uri, "failed") for uri in HOSTS]
    assert all("Could not resolve host" in each.why for each in report.items)
    file = project.bundles / "test.md"
    assert [each.where for each in report.items[:2]] == [f"{file}:3", f"{file}:4"]
    assert not driver.of(ModuleFailed)
    assert driver.turn("hello").status == "success"


def test_a_preview_names_what_would_be_left_out_and_fetches_nothing(
    project: Project, driver: Driver, own_home: Path
) -> None:
    driver.open(project.bundle())
    including(project, *HOSTS, "./gone.yaml")
    preview = driver.client.preview("test").result(10)
    # What can be fetched is not missing yet.
    assert [each.what for each in preview.report] == ["./gone.yaml"]
    assert preview.card.state == "not_fetched"
    assert all(uri in preview.card.error for uri in HOSTS)
    assert not (own_home / ".amplifier" / "cache").exists()


def test_an_include_whose_file_is_broken_is_named_with_its_line(
    project: Project, driver: Driver
) -> None:
    (project.bundles / "part.yaml").write_text("bundle:\n  name: [\n")
    driver.open(including(project, "./part.yaml"))
    (told,) = driver.wait(OpeningReported).items
    assert told.what == "./part.yaml" and f"{project.bundles / 'part.yaml'}:2" in told.why


def test_what_is_fetched_is_said_once_and_until_the_session_is_open() -> None:
    told: list[HostEvent] = []
    notices = OpeningNotices(told.append, "s1")
    for _ in range(2):
        notices.progress("installing_package", "tool-web")
    (notice,) = told
    assert isinstance(notice, Notice) and notice.text == "installing package tool-web"
    assert notice.until == "opened"
