"""`/name words` in a prompt, where a module of the session brings such a command."""

import json
from pathlib import Path

from amplifier_tui.host.events import (
    CommandCard,
    CommandsChanged,
    Failed,
    Notice,
    SessionOpened,
    TurnEnded,
    TurnStarted,
)
from tests.host.driving import Driver, Project


def write_skill(home: Path, name: str, text: str) -> None:
    folder = home / ".agents" / "skills" / name
    folder.mkdir(parents=True)
    head = f"name: {name}\ndescription: About {name}.\nargument-hint: where\n"
    (folder / "SKILL.md").write_text(f"---\n{head}---\n{text}\n")


def test_a_skill_goes_to_the_model_with_the_users_words_and_the_screen_shows_what_was_typed(
    project: Project, driver: Driver, own_home: Path
) -> None:
    write_skill(own_home, "deploy", "Read @notes.md, then bring it to $ARGUMENTS.")
    write_skill(own_home, "broken", "---")
    (own_home / ".agents/skills/broken/SKILL.md").write_text("no frontmatter")
    (project.folder / "notes.md").write_text("NOTES")
    (project.folder / "mine.md").write_text("MINE")
    opened = driver.open(project.bundle(tools=("tool-skills",)))
    (told,) = driver.of(CommandsChanged)
    assert told.commands == (
        CommandCard(group="skill", name="deploy", description="About deploy.", takes="where"),
    )
    kinds = [type(event) for event in driver.events]
    assert kinds.index(CommandsChanged) < kinds.index(SessionOpened)
    assert any("broken/SKILL.md:1: no frontmatter" in each.text for each in driver.of(Notice))

    assert driver.turn("/deploy staging, see @mine.md").status == "success"
    started = driver.of(TurnStarted)[0]
    assert started.prompt == "/deploy staging, see @mine.md"
    (row,) = [row for row in project.rows(opened.session_id) if row["role"] == "user"]
    sent = json.dumps(row["content"])
    assert "then bring it to staging" in sent
    # The user's mention counts, the one in the skill does not.
    assert "MINE" in sent
    assert "NOTES" not in sent

    driver.turn("/skill:deploy now")
    driver.turn("/nothing of the kind")
    rows = [row for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert "bring it to now" in json.dumps(rows[1]["content"])
    assert rows[2]["content"] == "/nothing of the kind"
    assert driver.of(Failed) == []
    assert len(driver.of(TurnEnded)) == 3
