"""What a model or a file mentions with `@` gets no further than the tools of the model."""

from pathlib import Path

import pytest

from tests.host.driving import Driver, Project
from tests.host.session.test_agents import ask, coding, script

KEPT = {
    "outside": "@{outside}/diary.md",
    "a way out": "@../outside/diary.md",
    "a link": "@link.md",
    "keys": "@.env",
    "denied": "@private/plan.md",
}


@pytest.fixture
def files(project: Project, tmp_path: Path) -> Path:
    """Write files that may be read and files that may not; returns the folder outside."""
    outside = tmp_path / "outside"
    for folder in (outside, project.folder / "private"):
        folder.mkdir()
    project.allow((), deny=["read_file(private/**)"])
    (project.folder / "notes.md").write_text("open words")
    (project.folder / "private" / "plan.md").write_text("kept words")
    (project.folder / ".env").write_text("kept words")
    (outside / "diary.md").write_text("kept words")
    (project.folder / "link.md").symlink_to(outside / "diary.md")
    return outside


def stored(project: Project) -> str:
    """Return all that models were told."""
    paths = project.folder_of("x").parent.rglob("transcript.jsonl")
    return "".join(path.read_text() for path in paths)


@pytest.mark.parametrize("kept", KEPT)
def test_an_agents_instruction_reads_nothing_that_its_tools_would_ask_about(
    kept: str, project: Project, driver: Driver, files: Path
) -> None:
    instruction = f"Read @notes.md and {KEPT[kept].format(outside=files)}"
    driver.open(coding(project, script([ask("explorer", instruction)], {"tell": {"say": "Done."}})))
    assert driver.turn("go").status == "success"
    said = stored(project)
    assert "open words" in said and "kept words" not in said


@pytest.mark.parametrize("kept", KEPT)
def test_a_file_that_the_user_mentions_has_no_more_read(
    kept: str, project: Project, driver: Driver, files: Path
) -> None:
    page = f"See @notes.md and {KEPT[kept].format(outside=files)}"
    (project.folder / "page.md").write_text(page)
    driver.open(project.bundle())
    project.allow((), deny=["read_file(private/**)"])
    driver.turn("@page.md")
    assert "open words" in stored(project) and "kept words" not in stored(project)


@pytest.mark.parametrize("kept", ["outside", "denied"])
def test_the_user_has_any_file_read(
    kept: str, project: Project, driver: Driver, files: Path
) -> None:
    driver.open(project.bundle())
    driver.turn(KEPT[kept].format(outside=files))
    assert "kept words" in stored(project)
