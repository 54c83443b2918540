"""Keys do not go into a prompt as an attachment either."""

from pathlib import Path

from amplifier_tui.host.events import Notice
from tests.host.driving import Driver, Project


def test_what_holds_keys_is_not_attached(project: Project, driver: Driver, own_home: Path) -> None:
    for place in (".ssh/id_rsa", ".amplifier/keys.env"):
        path = own_home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# SECRET-WORDS\n")
    (project.folder / "link").symlink_to(own_home / ".ssh" / "id_rsa")
    opened = driver.open(project.bundle())
    names = ("~/.ssh/id_rsa", "~/.amplifier/keys.env", "link")
    driver.turn("hello", attachments=names)
    said = [event.text for event in driver.of(Notice) if "Not attached" in event.text]
    assert [name for name in names if not any(name in text for text in said)] == []
    assert "SECRET-WORDS" not in str(project.rows(opened.session_id))
