"""Lines of a file that a prompt mentions."""

from collections.abc import Callable

import pytest

from amplifier_tui.host.events import ImagesAdded, Notice
from tests.host.driving import Driver, Project

TEXT = "".join(f"row {number}\n" for number in range(1, 13))


def rows_of(project: Project, session: str) -> str:
    return str(project.rows(session)[0]["content"])


@pytest.mark.parametrize(
    ("mention", "name", "first", "last"),
    [
        ("@notes.txt:3-9", "notes.txt:3-9", 3, 9),
        ("@notes.txt:4.", "notes.txt:4", 4, 4),
        ("@notes.txt#L3-L9,", "notes.txt:3-9", 3, 9),
        ("@notes.txt#L12", "notes.txt:12", 12, 12),
        ('@"notes.txt":3-4', "notes.txt:3-4", 3, 4),
        ('@"my notes.txt:3-4"', "my notes.txt:3-4", 3, 4),
        ('@"my notes.txt"#L3-L4', "my notes.txt:3-4", 3, 4),
    ],
)
def test_only_the_lines_that_are_mentioned_go_along(
    project: Project, driver: Driver, mention: str, name: str, first: int, last: int
) -> None:
    for file in ("notes.txt", "my notes.txt"):
        (project.folder / file).write_text(TEXT)
    session = driver.open(project.bundle()).session_id
    driver.turn(f"read {mention} please")
    content = rows_of(project, session)
    block = "\n".join(f"row {number}" for number in range(first, last + 1))
    assert f">\n{block}\n</context_file>" in content and content.count("context_file ") == 1
    assert content.endswith(f"read {mention} please")
    assert [each.files for each in driver.of(ImagesAdded)] == [(name,)]
    assert not driver.of(Notice)


@pytest.mark.parametrize(
    ("mention", "said"),
    [
        ("@notes.txt:13-20", "Not read: @notes.txt:13-20: notes.txt has 12 lines"),
        ("@notes.txt:0", "Not read: @notes.txt:0: notes.txt has 12 lines"),
        ("@notes.txt#L9-L3", "Not read: @notes.txt#L9-L3: notes.txt has 12 lines"),
        ("@gone.txt:3-9", "Not read: @gone.txt: no such file"),
        ("@docs:3", "Not read: @docs:3: a folder has no lines"),
    ],
)
def test_lines_that_are_not_there_are_told(
    project: Project, driver: Driver, mention: str, said: str
) -> None:
    (project.folder / "notes.txt").write_text(TEXT)
    (project.folder / "docs").mkdir()
    session = driver.open(project.bundle()).session_id
    driver.turn(f"read {mention}")
    assert "context_file" not in rows_of(project, session)
    (notice,) = driver.of(Notice)
    assert notice.text == said and notice.is_of_conversation


def test_lines_beyond_the_end_are_told_and_those_before_it_go_along(
    project: Project, driver: Driver
) -> None:
    (project.folder / "notes.txt").write_text(TEXT)
    session = driver.open(project.bundle()).session_id
    driver.turn("read @notes.txt:11-90")
    assert "row 11\nrow 12\n</context_file>" in rows_of(project, session)
    assert driver.of(ImagesAdded)[0].files == ("notes.txt:11-12",)
    assert "ends at line 12" in driver.of(Notice)[0].text


def test_what_is_no_file_with_lines_is_a_word_like_any_other(
    project: Project, driver: Driver
) -> None:
    session = driver.open(project.bundle()).session_id
    driver.turn("ask @ada:3 at me@localhost:8080 about `@notes.txt:3`")
    assert "context_file" not in rows_of(project, session) and not driver.of(Notice)


def test_a_resumed_session_names_the_files_that_a_prompt_mentioned(
    project: Project, drive: Callable[..., Driver]
) -> None:
    (project.folder / "notes.txt").write_text(TEXT)
    first, second = drive(), drive()
    first.open(project.bundle())
    first.turn("read @notes.txt, and @notes.txt:2")
    first.close()
    second.open(resume="last")
    (told,) = second.of(ImagesAdded)
    assert told.replayed and told.files == ("notes.txt:2", "notes.txt")
