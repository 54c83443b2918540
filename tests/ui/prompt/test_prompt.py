import json
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from amplifier_tui.paths import user_state_dir
from amplifier_tui.ui.dialogs.pickers import ThemePicker
from amplifier_tui.ui.panes.context.pane import ContextPane
from amplifier_tui.ui.prompt.completion_popup import CompletionPopup
from amplifier_tui.ui.prompt.prompt_input import PromptInput
from tests.ui.driving import Driver, running


def paste(drive: Driver, text: str) -> None:
    drive.app.post_message(events.Paste(text))


def prompt(drive: Driver) -> PromptInput:
    return drive.app.main.prompt.input


def popup(drive: Driver) -> CompletionPopup:
    return drive.app.main.query_one(CompletionPopup)


@pytest.mark.parametrize("key", ["ctrl+j", "alt+enter", "shift+enter", "shift+\r", "\r"])
async def test_a_new_line_is_made_by_key(key: str) -> None:
    async with running() as drive:
        await drive.write("one")
        await drive.press(key)
        await drive.write("two")
        assert drive.draft == "one\ntwo"
        assert drive.client.named("submit") == []


async def test_a_backslash_before_enter_makes_a_new_line() -> None:
    async with running() as drive:
        await drive.write("one\\")
        await drive.press("enter")
        await drive.write("two")
        assert drive.draft == "one\ntwo"
        await drive.press("enter")
        assert drive.client.named("submit") == [("one\ntwo",)]


async def test_the_prompt_grows_to_five_rows_and_no_further() -> None:
    async with running() as drive:
        assert prompt(drive).size.height == 1
        for _ in range(8):
            await drive.press("ctrl+j")
        assert prompt(drive).size.height == 5


async def test_keys_that_come_in_one_burst_are_taken_in_their_order() -> None:
    async with running() as drive:
        for key in ("a", "b", "backspace", "c", "ctrl+j", "d", "left", "e", "enter", "f", "enter"):
            drive.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await drive.settle()
        assert drive.client.named("submit") == [("ac\ned",), ("f",)]
        assert drive.draft == ""


async def test_a_chord_typed_in_one_burst_is_a_chord_and_types_nothing() -> None:
    async with running() as drive:
        for key in ("ctrl+x", "b"):
            drive.app.post_message(events.Key(key, "b" if key == "b" else None))
        await drive.until(lambda: drive.client.named("bundles") == [()])
        assert drive.draft == ""
        await drive.press("escape")
        await drive.closed()
        await drive.write("words")
        assert drive.draft == "words"


async def test_a_command_typed_in_one_burst_is_the_one_that_runs() -> None:
    async with running() as drive:
        for key in ("slash", *"bundles", "enter"):
            character = "/" if key == "slash" else key if len(key) == 1 else None
            drive.app.post_message(events.Key(key, character))
        await drive.until(lambda: drive.client.named("bundles") == [()])
        assert drive.client.named("submit") == []


@pytest.mark.parametrize("size", [(40, 8), (120, 36)])
async def test_lines_that_made_the_prompt_scroll_can_be_undone(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        for number in range(6):
            paste(drive, "a line\n" * 7 + str(number))
            await drive.settle()
        await drive.press(*["ctrl+z"] * 7)
        assert drive.draft == ""
        await drive.press(*["ctrl+y"] * 7)
        assert drive.draft.count("a line") == 42


async def test_a_new_line_can_be_undone_in_one_burst() -> None:
    async with running() as drive:
        for key in ("a", "ctrl+j", "ctrl+z"):
            drive.app.post_message(events.Key(key, "a" if key == "a" else None))
        await drive.settle()
        assert drive.draft == "a"


async def test_the_key_that_undoes_names_the_way_to_the_shell_where_there_is_nothing_to_undo() -> (
    None
):
    async with running(size=(80, 24)) as drive:
        await drive.press("a", "ctrl+z")
        assert "to the shell" not in drive.text()
        await drive.press("ctrl+z")
        assert "There is nothing to undo: /suspend goes to the shell." in drive.text()


async def test_wide_characters_can_be_written_and_sent() -> None:
    async with running() as drive:
        await drive.write("漢字とemoji🙂")
        await drive.press("left", "backspace")
        assert drive.draft == "漢字とemoj🙂"
        await drive.press("enter")
        assert drive.client.named("submit") == [("漢字とemoj🙂",)]


async def test_images_that_are_dropped_on_the_terminal_are_mentioned(tmp_path: Path) -> None:
    plain, blank = tmp_path / "shot.png", tmp_path / "my shot.JPG"
    plain.write_bytes(b"\x89PNG\r\n\x1a\n1234")
    blank.write_bytes(b"\xff\xd8\xff1234")
    (tmp_path / "words.png").write_text("no image")
    both = f'@{plain} @"{blank}" '
    ways = {
        # As terminals write it: bare, quoted, escaped, as an address; several at once.
        f"{plain}": f"@{plain} ",
        f"'{blank}'": f'@"{blank}" ',
        f"{blank}": f'@"{blank}" ',
        str(blank).replace(" ", "\\ "): f'@"{blank}" ',
        blank.as_uri(): f'@"{blank}" ',
        f"{plain} '{blank}'": both,
        # What is none stays what it is.
        f"{tmp_path}/gone.png": f"{tmp_path}/gone.png",
        f"{tmp_path}/words.png": f"{tmp_path}/words.png",
        "shot.png": "shot.png",
        f"see {plain}": f"see {plain}",
    }
    async with running() as drive:
        for pasted, shown in ways.items():
            paste(drive, pasted)
            await drive.until(lambda shown=shown: drive.draft == shown)
            prompt(drive).set_draft("")
        await drive.write("look at")
        paste(drive, str(plain))
        await drive.until(lambda: drive.draft == f"look at @{plain} ")
        paste(drive, str(blank))
        await drive.until(lambda: drive.draft == f"look at {both}")
        prompt(drive).set_draft("!open ")
        paste(drive, str(plain))
        await drive.until(lambda: drive.draft == f"!open {plain}")


async def test_a_large_paste_becomes_a_chip_and_is_sent_in_full() -> None:
    text = "\n".join(f"line {n}" for n in range(2_031))
    async with running() as drive:
        await drive.write("look: ")
        paste(drive, text)
        await drive.settle()
        assert drive.draft == "look: [Pasted 2,031 lines]"
        paste(drive, text + " and its end\n")
        await drive.settle()
        assert drive.draft.endswith("[Pasted 2,031 lines #2]"), "a newline at the end is no line"
        await drive.press("backspace")
        await drive.write(" please")
        await drive.press("enter")
        assert drive.client.named("submit") == [(f"look: {text} please",)]
        await drive.press("up")
        assert drive.draft == "look: [Pasted 2,031 lines] please"
        await drive.press("enter")
        assert drive.client.named("submit")[1:] == [(f"look: {text} please",)]


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (("left", "Y"), "a Y{chip}"),
        (("left", "right", "Y"), "a {chip}Y"),
        (("home", "right", "right", "right", "Y"), "a {chip}Y"),
        (("ctrl+w",), "a "),
        (("ctrl+left", "Y"), "a Y{chip}"),
        (("left", "delete"), "a "),
        (("left", "ctrl+k"), "a "),
        (("shift+left", "Y"), "a Y"),
        (("backspace", "ctrl+z", "Y"), "a {chip}Y"),
    ],
)
async def test_a_chip_is_one_thing_for_the_cursor_and_for_every_key(
    keys: tuple[str, ...], left: str
) -> None:
    async with running() as drive:
        await drive.write("a ")
        field = drive.app.main.prompt.input
        field.insert_paste("word\n" * 20)
        await drive.press(*keys)
        assert drive.draft == left.format(chip="[Pasted 20 lines]")


async def test_a_chip_is_deleted_in_one_piece_and_undo_brings_it_back() -> None:
    text = "x\n" * 20
    async with running() as drive:
        paste(drive, text)
        await drive.settle()
        await drive.press("backspace")
        assert drive.draft == ""
        await drive.press("ctrl+z")
        await drive.press("enter")
        assert drive.client.named("submit") == [(text,)]


async def test_a_small_paste_is_cleaned_and_put_in_as_it_is() -> None:
    async with running() as drive:
        paste(drive, "a\r\nb\x1b[31mred\x07\rc")
        await drive.settle()
        assert drive.draft == "a\nbred\nc"
        assert drive.client.named("submit") == []


async def test_history_is_walked_with_the_draft_kept() -> None:
    async with running() as drive:
        for text in ("first", "second\nline"):
            await drive.write(text)
            await drive.press("enter")
        await drive.write("my draft")
        await drive.press("up")
        assert drive.draft == "second\nline"
        await drive.press("up", "up")
        assert drive.draft == "first"
        await drive.press("up")
        assert drive.draft == "first"
        await drive.press("down")
        assert drive.draft == "second\nline"
        await drive.press("down", "down")
        assert drive.draft == "my draft"


async def test_history_survives_the_program() -> None:
    async with running() as drive:
        await drive.write("remember me")
        await drive.press("enter")
        path = user_state_dir() / "history.jsonl"
        await drive.until(path.is_file)
        assert path.stat().st_mode & 0o077 == 0
    async with running() as drive:
        await drive.press("up")
        assert drive.draft == "remember me"


async def test_a_broken_history_file_costs_only_its_broken_lines() -> None:
    path = user_state_dir() / "history.jsonl"
    path.parent.mkdir(parents=True)
    good = json.dumps({"text": "good one"})
    path.write_bytes(b'\xff\xfe{"text": 3}\nnot json\n' + good.encode() + b'\n{"text": "torn')
    async with running() as drive:
        await drive.press("up")
        assert drive.draft == "good one"


async def test_ctrl_c_clears_the_draft_and_only_twice_on_an_empty_prompt_quits() -> None:
    async with running() as drive:
        await drive.write("oops")
        await drive.press("ctrl+c")
        assert drive.draft == ""
        await drive.press("ctrl+z")
        assert drive.draft == "oops"
        await drive.press("ctrl+c", "ctrl+c")
        assert "again quits" in drive.text()
        assert drive.client.named("close") == []
        await drive.press("ctrl+c")
        await drive.until(lambda: drive.client.named("close") == [()])


async def test_ctrl_c_quits_from_a_pane_as_it_does_from_the_prompt() -> None:
    async with running() as drive:
        await drive.press("f3")
        assert drive.app.focused is not drive.app.main.prompt.input
        await drive.press("ctrl+c")
        assert "again quits" in drive.text()
        await drive.press("ctrl+c")
        await drive.until(lambda: drive.client.named("close") == [()])


async def test_ctrl_c_copies_a_selection_and_keeps_the_draft() -> None:
    async with running() as drive:
        await drive.write("copy me")
        await drive.press("shift+home", "ctrl+c")
        assert drive.app.clipboard == "copy me"
        assert drive.draft == "copy me"


async def test_commands_are_completed_and_run() -> None:
    async with running() as drive:
        await drive.write("/the")
        assert "/theme name" in drive.text()
        await drive.press("tab")
        assert drive.draft == "/theme "
        await drive.write("mist")
        await drive.press("enter")
        assert drive.app.theme == "mist"


async def test_enter_runs_the_highlighted_command_at_once() -> None:
    async with running() as drive:
        await drive.write("/plan")
        await drive.press("enter")
        await drive.until(lambda: drive.app.screen is not drive.app.main)
        assert drive.client.named("submit") == []


async def test_an_unknown_command_is_not_sent_and_the_draft_is_kept() -> None:
    async with running() as drive:
        await drive.write("/nosuchthing")
        await drive.press("enter")
        assert drive.client.named("submit") == []
        assert drive.draft == "/nosuchthing"
        assert "There is no command /nosuchthing" in drive.text()


async def test_commands_are_known_by_the_names_they_have_in_other_programs_too() -> None:
    async with running() as drive:
        await drive.write("/")
        await drive.until(lambda: "/agents" in drive.text())
        assert "/cost" not in drive.text(), "the list has one name of each"
        await drive.write("cost")
        assert "/cost" in drive.text() and "Context budget" in drive.text()
        await drive.press("enter")
        await drive.until(lambda: isinstance(drive.app.focused, ContextPane))


async def test_enter_runs_no_command_that_only_resembles_what_was_typed() -> None:
    async with running() as drive:
        await drive.write("/cmpt")
        assert "/compact" in drive.text()
        await drive.press("enter")
        assert drive.draft == "/cmpt"
        assert "There is no command /cmpt" in drive.text()
        await drive.press("ctrl+u")
        await drive.write("/thme")
        assert "/theme" in drive.text()
        await drive.press("down", "up", "enter")
        await drive.dialog(ThemePicker)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/v2", "There is no command /v2; / lists them."),
        ("/xyz9", "There is no command /xyz9; / lists them."),
        ("/model2", "There is no command /model2; did you mean /model?"),
        ("/model2 gpt-5", "There is no command /model2; did you mean /model?"),
        ("/no_such:thing", "There is no command /no_such:thing; / lists them."),
    ],
)
async def test_a_name_with_other_signs_than_letters_that_no_command_has_is_not_sent(
    typed: str, said: str
) -> None:
    async with running(size=(100, 24)) as drive:
        await drive.write(typed)
        await drive.press("enter")
        assert drive.client.named("submit") == [] and drive.draft == typed
        assert said in drive.text()


@pytest.mark.parametrize(
    "typed", ["/usr/lib is full", "/etc/hosts why is it so", "/etc/hosts", "/v2 has no users", "/."]
)
async def test_a_path_at_the_start_is_text(typed: str) -> None:
    async with running() as drive:
        await drive.write(typed)
        await drive.press("enter")
        assert drive.client.named("submit") == [(typed,)]


async def test_files_are_completed_after_an_at_sign(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "retry.py").touch()
    (tmp_path / "README.md").touch()
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "retry.js").touch()
    (tmp_path / "ev\x1bil\nretry.py").touch()
    async with running(cwd=tmp_path) as drive:
        drive.app.main.prompt.set_root(tmp_path)
        await drive.write("look at @ret")
        await drive.until(lambda: popup(drive).is_open)
        text = drive.text()
        assert "src/retry.py" in text
        assert "node_modules" not in text and "il" not in text.split("src/retry.py")[0][-20:]
        await drive.press("enter")
        assert drive.draft == "look at @src/retry.py "
        assert drive.client.named("submit") == []


async def test_enter_sends_where_the_name_of_a_file_was_typed_out(tmp_path: Path) -> None:
    (tmp_path / "retry.py").touch()
    (tmp_path / "retry.pyi").touch()
    async with running(cwd=tmp_path) as drive:
        drive.app.main.prompt.set_root(tmp_path)
        await drive.write("look at @retry.py")
        await drive.until(lambda: popup(drive).is_open)
        await drive.press("down", "enter")
        assert drive.draft == "look at @retry.pyi "
        await drive.press("ctrl+u")
        await drive.write("look at @retry.py")
        await drive.until(lambda: popup(drive).is_open)
        await drive.press("enter")
        assert drive.client.named("submit") == [("look at @retry.py",)]


async def test_a_file_name_with_a_blank_is_mentioned_in_quotes(tmp_path: Path) -> None:
    (tmp_path / "my notes.txt").touch()
    async with running(cwd=tmp_path) as drive:
        drive.app.main.prompt.set_root(tmp_path)
        await drive.write("@notes")
        await drive.until(lambda: popup(drive).is_open)
        await drive.press("tab")
        assert drive.draft == '@"my notes.txt" '


async def test_an_email_address_completes_nothing() -> None:
    async with running() as drive:
        await drive.write("write to me@example.org")
        assert not popup(drive).is_open


async def test_the_completion_stays_closed_for_the_word_it_was_closed_at() -> None:
    async with running() as drive:
        await drive.write("/th")
        await drive.press("escape")
        await drive.write("e")
        assert not popup(drive).is_open
        await drive.press("ctrl+u")
        await drive.write("/b")
        assert popup(drive).is_open


async def test_the_editor_edits_the_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from amplifier_tui.ui.terminal.editor import edit_text

    script = tmp_path / "ed it.sh"
    script.write_text(
        '#!/bin/sh\ncat "$1" > "$(dirname "$0")/seen"\nprintf "new\\ntext\\n" > "$1"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"'{script}'")
    assert edit_text("old 漢") == "new\ntext"
    assert (tmp_path / "seen").read_text() == "old 漢"


@pytest.mark.parametrize("command", ["no-such-editor-anywhere", "false", "'unbalanced"])
def test_an_editor_that_fails_says_why(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from amplifier_tui.ui.terminal.editor import EditorError, edit_text

    monkeypatch.setenv("VISUAL", command)
    with pytest.raises(EditorError, match=r"EDITOR|status"):
        edit_text("draft")


async def test_a_terminal_that_cannot_be_handed_over_keeps_the_draft() -> None:
    async with running() as drive:
        await drive.write("draft")
        await drive.press("ctrl+g")
        assert drive.draft == "draft"


async def test_control_characters_never_reach_the_draft() -> None:
    async with running() as drive:
        for key in ("ctrl+b", "ctrl+s", "ctrl+q", "ctrl+l", "f9", "ctrl+space"):
            await drive.press(key)
        assert drive.draft == ""
        assert drive.app.screen is drive.app.main


async def test_a_paste_into_another_field_brings_no_invisible_sign_but_joiners() -> None:
    async with running() as drive:
        await drive.press("ctrl+f")
        drive.app.post_message(events.Paste("a\u202eb \u0645\u06cc\u200c\u062e"))
        await drive.settle()
        field = drive.app.focused
        assert isinstance(field, Input) and field.value == "ab \u0645\u06cc\u200c\u062e"
