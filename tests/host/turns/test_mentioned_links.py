"""What the user mentions is not another file that a link of the project chose."""

import base64
from pathlib import Path

import pytest

from amplifier_tui.host.events import Notice
from tests.fronts.conversations import PIXEL
from tests.host.driving import Driver, Project

KEPT = "kept words"


@pytest.fixture
def outside(project: Project, tmp_path: Path) -> Path:
    """Write a folder outside of the project, and links of the project that lead there."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "env.sh").write_text(KEPT)
    (folder / "pixel.png").write_bytes(base64.b64decode(PIXEL))
    (project.folder / "plan.txt").symlink_to(folder / "env.sh")
    (project.folder / "pixel.png").symlink_to(folder / "pixel.png")
    (project.folder / "out").symlink_to(folder)
    return folder


def sent(project: Project, driver: Driver, session: str, prompt: str, **more: object) -> str:
    """Return the rows of the user's after a turn with a prompt."""
    driver.turn(prompt, **more)
    return str([row for row in project.rows(session) if row["role"] == "user"])


def said(driver: Driver) -> list[str]:
    return [each.text for each in driver.of(Notice)]


@pytest.mark.parametrize(
    ("mention", "target"),
    [
        ("@plan.txt", "env.sh"),
        ("@plan.txt.", "env.sh"),
        ("@{project}/plan.txt", "env.sh"),
        ("@out/env.sh", "env.sh"),
        ("@out/../outside/env.sh", "env.sh"),
        ("@out", ""),
        ("@pixel.png", "pixel.png"),
    ],
)
def test_a_link_of_the_project_that_leads_out_is_not_sent_and_named(
    mention: str, target: str, project: Project, driver: Driver, outside: Path
) -> None:
    session = driver.open(project.bundle()).session_id
    mention = mention.format(project=project.folder)
    rows = sent(project, driver, session, f"see {mention}")
    assert KEPT not in rows and "context_file" not in rows and "'image'" not in rows
    assert said(driver)[-1] == (
        f"{mention} is a link to {outside / target}, outside of the project: not sent;"
        " mention that path itself to send it"
    )


def test_the_same_holds_for_what_an_editor_attaches(
    project: Project, driver: Driver, outside: Path
) -> None:
    session = driver.open(project.bundle()).session_id
    path = str(project.folder / "plan.txt")
    assert KEPT not in sent(project, driver, session, "see", attachments=(path,))
    assert f"Not attached: {path}: it is a link to {outside}/env.sh, outside" in said(driver)[-1]


@pytest.mark.parametrize("mention", ["@{outside}/env.sh", "@../outside/env.sh", "@{mine}/env.sh"])
def test_the_user_names_any_file_outside_by_its_path(
    mention: str, project: Project, driver: Driver, outside: Path, tmp_path: Path
) -> None:
    (mine := tmp_path / "mine").symlink_to(outside)
    session = driver.open(project.bundle()).session_id
    words = mention.format(outside=outside, mine=mine)
    assert KEPT in sent(project, driver, session, words) and not said(driver)


def test_links_within_the_project_and_to_it_are_followed(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    (project.folder / "docs").mkdir()
    (project.folder / "docs" / "a.md").write_text("own words")
    (project.folder / "near.md").symlink_to("docs/a.md")
    (checkout := tmp_path / "checkout").symlink_to(project.folder)
    driver.cwd = checkout
    session = driver.open(project.bundle()).session_id
    for mention in ("@near.md", f"@{checkout}/near.md", f"@{project.folder}/near.md"):
        assert "own words" in sent(project, driver, session, mention)
    assert not said(driver)


def test_a_link_to_another_folder_of_the_repository_is_followed(
    project: Project, driver: Driver, outside: Path
) -> None:
    session = driver.open(project.bundle()).session_id
    assert KEPT not in sent(project, driver, session, "@plan.txt") and said(driver)
    (outside.parent / ".git").write_text("gitdir: /elsewhere")
    assert KEPT in sent(project, driver, session, "@plan.txt") and len(said(driver)) == 1


@pytest.mark.parametrize("name", ["key_link", "key.txt"])
def test_a_link_to_keys_is_said_to_be_one(name: str, project: Project, driver: Driver) -> None:
    (key := Path.home() / ".ssh" / "id_rsa").parent.mkdir()
    key.write_text(KEPT)
    (project.folder / name).symlink_to(key)
    session = driver.open(project.bundle()).session_id
    holds = "holds keys or the program's own state: not sent"
    assert KEPT not in sent(project, driver, session, f"see @{name}")
    assert said(driver) == [f"@{name} is a link to {key}, which {holds}"]
    assert KEPT not in sent(project, driver, session, "see @~/.ssh/id_rsa")
    assert said(driver)[1:] == [f"@~/.ssh/id_rsa {holds}"]
