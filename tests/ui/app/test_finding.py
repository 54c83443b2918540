"""Finding in the conversation, and going from place to place in it."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.widgets import Static

from amplifier_tui.ui.state.conversation.entries import EntryChange, TextEntry, ToolEntry, UserEntry
from amplifier_tui.ui.transcript.find_bar import FindBar
from tests.ui.driving import Driver, running

CODE = "First:\n\n```sh\nmake one\n```\n\nthen\n\n```sh\nmake two\n```\n"


async def conversation(drive: Driver) -> None:
    call = ToolEntry(key="c1", tool="bash", arguments={"command": "ls"}, output="a\nneedle two\n")
    call.state = "ok"
    failed = ToolEntry(key="c2", tool="bash", arguments={"command": "false"}, error="exit code 1")
    failed.state = "failed"
    entries = [
        UserEntry(key="u1", text="find the needle"),
        call,
        TextEntry(key="t1", text="word\n\n" * 60),
        UserEntry(key="u2", text="once more"),
        failed,
        TextEntry(key="t2", text=CODE),
    ]
    drive.app.main.transcript.apply([EntryChange(op="add", entry=entry) for entry in entries])
    await drive.pilot.pause()


def said(drive: Driver) -> str:
    return str(drive.app.main.query_one("#find-place", Static).content)


def shown(drive: Driver) -> str:
    view = drive.app.main.transcript
    return "\n".join(view.render_line(row).text for row in range(view.size.height))


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_words_are_found_while_they_are_typed_also_in_folded_parts(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        await conversation(drive)
        assert "find the needle" not in shown(drive)
        await drive.press("ctrl+f", *"needle")
        await drive.until(lambda: "of 2" in said(drive))
        assert said(drive).strip().startswith("1 of 2")
        assert "find the needle" in shown(drive)
        assert "needle two" not in shown(drive)
        await drive.press("enter")
        assert said(drive).strip().startswith("2 of 2")
        assert "needle two" in shown(drive)
        await drive.press("up")
        assert said(drive).strip().startswith("1 of 2")
        await drive.press("escape")
        assert not drive.app.main.query(FindBar)
        assert drive.app.focused is drive.app.main.prompt.input


async def test_words_are_found_in_what_a_very_long_prompt_leaves_out() -> None:
    lines = [f"pasted line {number} " + "and so on " * 6 for number in range(5_000)]
    async with running(size=(80, 24)) as drive:
        entry = UserEntry(key="u1", text="\n".join(lines))
        drive.app.main.transcript.apply([EntryChange(op="add", entry=entry)])
        await drive.pilot.pause()
        await drive.press("ctrl+f", *"line 4321")
        await drive.until(lambda: said(drive).strip().startswith("1 of 1"))
        await drive.until(lambda: "pasted line 4321" in shown(drive))


async def test_words_that_come_in_one_piece_with_the_key_are_what_is_looked_for() -> None:
    async with running() as drive:
        await conversation(drive)
        await drive.press_at_once("ctrl+f", *"needle", "enter")
        await drive.until(lambda: said(drive).strip().startswith("2 of 2"))
        await drive.press("escape")
        await drive.press_at_once("ctrl+p", *"switch bun")
        assert "Switch bundle" in drive.text()
        assert not drive.draft and not drive.client.named("submit")


@pytest.mark.parametrize(
    ("size", "keys"), [((80, 24), ("f3",)), ((120, 36), ("f3", "ctrl+x", "z"))]
)
@pytest.mark.parametrize(
    ("action", "found"),
    [
        ("view.find", "find "),
        ("view.top", "find the needle"),
        ("view.previous_prompt", "once more"),
        ("view.answer", "First:"),
    ],
)
async def test_a_pane_that_covers_the_conversation_makes_way_for_what_is_sought_in_it(
    size: tuple[int, int], keys: tuple[str, ...], action: str, found: str
) -> None:
    async with running(size=size) as drive:
        await conversation(drive)
        await drive.press(*keys)
        assert drive.app.main.focused_pane() == "events" and found not in drive.text()
        await drive.app.run_by_id(action)
        await drive.until(lambda: found in drive.text())


async def test_a_search_may_begin_at_once_after_another_one_ended() -> None:
    async with running() as drive:
        await conversation(drive)
        for _ in range(3):
            drive.app.main.open_find("needle", drive.app.keymap.way_to)
            drive.app.main.close_find()
        for words in ("", "needle"):
            drive.app.main.open_find(words, drive.app.keymap.way_to)
        await drive.until(lambda: drive.app.main.query("#find-place"))
        await drive.until(lambda: "of 2" in said(drive))


async def test_what_is_not_there_is_said() -> None:
    async with running() as drive:
        await conversation(drive)
        await drive.write("/find nowhere")
        await drive.press("enter")
        await drive.until(lambda: drive.app.main.query("#find-place"))
        await drive.until(lambda: "not found" in said(drive))


async def test_prompts_errors_and_the_last_answer_are_a_key_or_command_away() -> None:
    async with running(size=(80, 24)) as drive:
        await conversation(drive)
        view = drive.app.main.transcript
        await drive.press("alt+up")
        assert view.cursor.key == "u2"
        await drive.press("alt+up")
        assert view.cursor.key == "u1"
        await drive.press("alt+up")
        assert view.cursor.key == "u1"
        later = ToolEntry(key="c3", tool="bash", state="failed", error="exit code 2")
        view.apply([EntryChange(op="add", entry=later)])
        for key in ("c2", "c3", "c2"):
            await drive.app.run_by_id("view.error")
            assert view.cursor.key == key
        await drive.app.run_by_id("view.answer")
        assert view.cursor.key == "t2"


async def test_a_block_of_code_is_copied_by_its_number() -> None:
    async with running() as drive:
        await conversation(drive)
        await drive.app.run_by_id("view.code")
        assert drive.app.clipboard == "make two\n"
        await drive.app.run_by_id("view.code", "1")
        assert drive.app.clipboard == "make one\n"
        await drive.app.run_by_id("view.code", "9")
        assert drive.app.clipboard == "make one\n"


@pytest.mark.parametrize(
    ("action", "variable"), [("view.pager", "PAGER"), ("view.editor", "EDITOR")]
)
async def test_what_has_the_cursor_else_the_last_answer_is_read_in_another_program(
    action: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv(variable, f"""sh -c 'cp "$0" {tmp_path}/read'""")
    async with running() as drive:
        monkeypatch.setattr(drive.app, "suspend", nullcontext)
        await conversation(drive)
        await drive.app.run_by_id(action)
        assert (tmp_path / "read").read_text() == CODE
        await drive.press("alt+up")
        await drive.app.run_by_id(action)
        assert (tmp_path / "read").read_text() == "once more"


async def test_what_is_looked_for_is_read_whole_before_the_keys_are() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.press("ctrl+f")
        assert "previous" in said(drive)
        words = "a question of many words to be found"
        await drive.press(*("space" if char == " " else char for char in words))
        await drive.until(lambda: words in drive.text())
        assert "previous" not in said(drive)


@pytest.mark.parametrize("theme", ["ink", "paper", "ansi-dark"])
async def test_the_place_looked_at_is_told_from_the_others_also_without_colours(theme: str) -> None:
    def marks(drive: Driver) -> list[bool]:
        view = drive.app.main.transcript
        return [
            bool(style and style.underline)
            for row in range(view.size.height)
            for text, style, _ in view.render_line(row)
            if text == "once"
        ]

    async with running() as drive:
        drive.app.theme = theme
        entry = TextEntry(key="t1", text="first once\n\nthen once")
        drive.app.main.transcript.apply([EntryChange(op="add", entry=entry)])
        await drive.press("ctrl+f", *"once")
        await drive.until(lambda: marks(drive) == [True, False])
        await drive.press("enter")
        await drive.until(lambda: marks(drive) == [False, True])
