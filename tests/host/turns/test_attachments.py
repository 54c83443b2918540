"""What goes along with a prompt."""

import base64
from importlib import import_module
from pathlib import Path

import pytest

from amplifier_tui.base.files import images
from amplifier_tui.host.events import Notice, TurnStarted
from amplifier_tui.host.turns.prompt.attachments import ATTACHMENT_LIMIT, read_attachments, shown
from tests.fronts.conversations import PIXEL
from tests.host.asking import claude
from tests.host.driving import Driver, Project
from tests.pixels import plain
from tests.servers import LoopbackServer

URL = f"data:image/png;base64,{PIXEL}"
BITMAP = base64.b64decode(PIXEL)


def test_text_goes_along_in_tags_and_images_as_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    (tmp_path / "b.txt").write_bytes(BITMAP)
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7\n")
    attached = read_attachments(tmp_path, ("a.txt", "b.txt", "c.pdf", URL))
    assert attached.texts == ['<context_file paths="a.txt">\nwords\n</context_file>']
    kinds = [block["source"]["media_type"] for block in attached.images]
    assert kinds == ["image/png", "application/pdf", "image/png"]
    assert attached.images[0] == attached.images[2]
    assert attached.problems == []


def test_a_file_that_is_attached_and_mentioned_goes_along_once(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(BITMAP)
    attached = read_attachments(tmp_path, ("a.png", str(tmp_path / "a.png"), "./a.png"))
    assert len(attached.images) == 1 and attached.problems == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone.txt", "gone.txt: no such file"),
        (".", ".: no such file"),
        ("~nobody-here/x", "home directory"),
        ("bytes.bin", "bytes.bin: not a text file"),
        ("long.txt", "long.txt: larger than 512 KiB"),
        ("large.png", f"large.png: larger than {images.MAX_BYTES} bytes"),
        ("wide.png", "wide.png: 9000 pixels wide or high, more than 8000"),
        ("data:image/png;base64,bm90aGluZw==", "image/png, about 0 KiB: no image"),
        ("data:image/png;base64,€€", "only ASCII"),
        ("data:image/png;base64,abc", "its base64 can't be read"),
        ("data:image/png;base64," + "A" * 8_000_000, "about 5859 KiB: larger than"),
    ],
)
def test_what_can_not_go_along_is_named(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "bytes.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "long.txt").write_text("x" * (ATTACHMENT_LIMIT + 1))
    (tmp_path / "large.png").write_bytes(BITMAP + bytes(images.MAX_BYTES))
    (tmp_path / "wide.png").write_bytes(plain(9_000, 1))
    attached = read_attachments(tmp_path, (name,))
    (said,) = attached.problems
    assert problem in said and len(said) < 300
    assert (attached.texts, attached.images) == ([], [])


def test_of_many_images_the_first_ten_go_along(tmp_path: Path) -> None:
    attached = read_attachments(tmp_path, (URL,) * 12)
    assert len(attached.images) == 10
    assert attached.problems == [f"{shown(URL)}: more than 10 images"] * 2


def test_an_image_reaches_the_model_and_is_there_after_a_resume(
    project: Project, drive: type[Driver], server: LoopbackServer
) -> None:
    import_module("anthropic.resources.messages")  # It takes seconds, of which none count here.
    server.script.add("A pixel.", "Still one.")
    name = project.bundle(providers=[claude(server)], tools=())
    first: Driver = drive()
    opened = first.open(name)
    first.turn("what is it?", attachments=(URL, "none.png"))
    assert first.of(TurnStarted)[0].attachments == ("image/png, about 0 KiB", "none.png")
    assert "Not attached: none.png: no such file" in [each.text for each in first.of(Notice)]
    first.close()
    second: Driver = drive()
    second.open(resume=opened.session_id)
    second.turn("and now?")
    (retold, _) = second.of(TurnStarted)
    assert (retold.prompt, retold.replayed) == ("what is it?", True)
    for number in (0, 1):
        sent = server.request_blocking(number).json["messages"][0]["content"]
        assert [block["type"] for block in sent] == ["text", "image"]
        assert sent[1]["source"]["data"] == PIXEL


def test_an_image_that_the_context_can_not_be_given_is_named(
    project: Project, driver: Driver
) -> None:
    session = driver.open(project.bundle(context="context-slots")).session_id
    driver.turn("what is it?", attachments=(URL,))
    said = "Not attached: images, which this session's context can't be given"
    assert said in [each.text for each in driver.of(Notice)]
    assert PIXEL not in (project.folder_of(session) / "transcript.jsonl").read_text()


def test_what_a_file_within_a_prompt_mentions_is_not_read(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    for name in ("mine", "other"):
        (tmp_path / f"{name}.md").write_text(f"{name} words")
        (tmp_path / f"{name}.png").write_bytes(BITMAP)
    mine, other = (f"@{tmp_path}/{name}.md @{tmp_path}/{name}.png" for name in ("mine", "other"))
    opened = driver.open(project.bundle())
    driver.turn(f"{mine}\n\nfrom a page: {other}", typed=mine)
    (row,) = [row for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert "mine words" in str(row) and f"from a page: {other}" in str(row)
    assert "other words" not in str(row)
    assert [block["type"] for block in row["content"]] == ["text", "image"]
