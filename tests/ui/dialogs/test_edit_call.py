"""Changing the arguments of a call before it is allowed."""

import json
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.widgets import TextArea

from amplifier_tui.base.text import reveal
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.parts.call_editor import CallEditor
from amplifier_tui.ui.dialogs.parts.call_text import call_text
from amplifier_tui.ui.dialogs.parts.long_form import LongForm
from amplifier_tui.ui.state import answer_keys
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient
from tests.ui.requests import DIFF, ask, resolved

pytestmark = pytest.mark.usefixtures("no_grace")
SIZES = ((80, 24), (120, 36))


@pytest.mark.parametrize("size", SIZES)
async def test_e_edits_the_arguments_and_what_is_wrong_with_them_is_said(
    size: tuple[int, int],
) -> None:
    async with running(FakeClient(wrong="command: 3 is not of type 'string'"), size=size) as drive:
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        assert "Edit" in drive.text()
        await drive.press("e")
        editor = dialog.query_one(TextArea)
        assert drive.app.focused is editor and "rm -rf build" in drive.text()
        assert "ctrl+o" in drive.text().replace("^o", "ctrl+o") and "Judge it anew" in drive.text()
        await drive.write(" a")
        assert editor.text == "rm -rf build a", "the cursor is where one changes it"
        assert not drive.client.named("decide")
        await drive.press("ctrl+o")
        ((request, arguments),) = drive.client.named("change_call")
        assert request == "r1" and json.loads(arguments) == {"command": "rm -rf build a"}
        assert drive.app.screen is dialog and "command: 3 is not of type 'string'" in drive.text()
        drive.client.wrong = ""
        await drive.press("ctrl+o")
        await drive.push(resolved("r1", outcome="changed"))
        await drive.closed()
        assert "judged anew" in drive.text()
        assert not drive.client.named("decide")


async def test_a_call_that_was_edited_is_asked_about_at_once_though_keys_were_pressed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer_keys, "QUIET", 1_000.0)
    async with running(FakeClient(), size=(80, 24)) as drive:
        await drive.push(ask(editable=True))
        await drive.dialog(ApprovalDialog)
        await drive.press("e", "x", "ctrl+o")
        await drive.push(resolved("r1", outcome="changed"))
        await drive.push(ask("r2", payload="rm -rf buildx"))
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.request.request_id == "r2"
        await drive.press("d")
        await drive.closed()
        assert [name for name, _ in drive.client.named("decide")] == ["r2"] and not drive.draft


async def test_a_call_that_was_edited_is_asked_about_at_once_over_a_draft_too() -> None:
    async with running(FakeClient(), size=(80, 24)) as drive:
        await drive.push(ask(editable=True))
        await drive.dialog(ApprovalDialog)
        # Pasted before: a draft that is begun does not go away by itself.
        drive.app.main.prompt.input.text = "a draft"
        await drive.press("e", "x", "ctrl+o")
        await drive.push(resolved("r1", outcome="changed"))
        await drive.push(ask("r2", payload="rm -rf buildx"))
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.request.request_id == "r2"
        await drive.press("d")
        await drive.closed()
        assert [name for name, _ in drive.client.named("decide")] == ["r2"]
        await drive.push(ask("r3", payload="make"))
        assert not isinstance(drive.app.screen, ApprovalDialog) and drive.draft == "a draft"


async def test_after_an_edit_the_edited_call_comes_next_and_not_another_that_waits() -> None:
    async with running(FakeClient(), size=(80, 24)) as drive:
        other = ask("r2", payload="make deploy", began=2.0)
        await drive.push(other, ask("r1", editable=True, began=1.0))
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.request.request_id == "r1" and "1 of 2" in drive.text()
        await drive.press("e", "x", "ctrl+o")
        await drive.push(ask("r3", payload="rm -rf buildx", began=1.0))
        assert drive.app.screen is dialog
        await drive.push(resolved("r1", outcome="changed"))
        await drive.until(lambda: drive.app.screen is not dialog)
        edited = await drive.dialog(ApprovalDialog)
        assert edited.request.request_id == "r3" and "1 of 2" in drive.text()


COMMAND = "grep \"a\\b\" src | tee 'x'\necho done"


async def test_a_command_is_edited_as_it_is_typed_and_its_other_arguments_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = FakeClient(arguments=json.dumps({"timeout": 60, "command": COMMAND, "cwd": "[b]sub"}))
    async with running(client, size=(80, 24)) as drive:
        monkeypatch.setattr(drive.app, "suspend", nullcontext)
        await drive.push(ask(editable=True, payload=COMMAND))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        assert dialog.query_one(TextArea).text == COMMAND
        assert "stays as it is: timeout 60, cwd [b]sub" in drive.text()
        await drive.write(' "now"')
        editor(tmp_path, f'cp "$1" {tmp_path}/seen.sh; echo "# more" >> "$1"', monkeypatch)
        await drive.press("ctrl+g")
        assert (tmp_path / "seen.sh").read_text() == f'{COMMAND} "now"'
        ((_, arguments),) = drive.client.named("change_call")
        assert json.loads(arguments) == {
            "timeout": 60,
            "command": f'{COMMAND} "now"# more',
            "cwd": "[b]sub",
        }


CODE = 'def greet():\n    return "hi"\n'


async def test_the_content_of_a_file_is_edited_as_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = FakeClient(arguments=json.dumps({"file_path": "src/util.py", "content": CODE}))
    async with running(client, size=(80, 24)) as drive:
        monkeypatch.setattr(drive.app, "suspend", nullcontext)
        await drive.push(ask(editable=True, payload="", payload_kind="none", diff=DIFF))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        area = dialog.query_one(TextArea)
        assert area.text == CODE and area.cursor_location == (0, 0)
        assert "content · stays as it is: file_path src/util.py" in drive.text()
        script = f'cp "$1" {tmp_path}/seen; echo "$1" > {tmp_path}/name; sed -i s/hi/ho/ "$1"'
        editor(tmp_path, script, monkeypatch)
        await drive.press("ctrl+g")
        assert (tmp_path / "seen").read_text() == CODE
        assert (tmp_path / "name").read_text().endswith(".py\n")
        ((_, arguments),) = drive.client.named("change_call")
        assert json.loads(arguments) == {
            "file_path": "src/util.py",
            "content": CODE.replace("hi", "ho"),
        }


@pytest.mark.parametrize(
    ("path", "suffix"),
    [("a/b.py", ".py"), ("Makefile", ".txt"), (f"a.{'x' * 300}", ".txt"), ("a.$(x)", ".txt")],
)
def test_the_users_editor_is_told_of_the_kind_of_a_file_and_of_nothing_else(
    path: str, suffix: str
) -> None:
    assert call_text(json.dumps({"file_path": path, "content": CODE})).suffix == suffix


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"file_path": "a", "old_string": "x", "new_string": "y\nz"}, "new_string"),
        ({"file_path": "a", "old_string": "x\ny", "new_string": "y\nz"}, "new_string"),
        ({"file_path": "a", "old_string": "x", "new_string": ""}, "new_string"),
        ({"file_path": "a", "new_string": "y"}, ""),
        ({"input": "*** Begin Patch\n*** End Patch"}, "input"),
        ({"file_path": "a", "content": "one line"}, ""),
        ({"file_path": "a", "content": "two\r\nlines"}, ""),
        ({"file_path": "a", "content": ["a\nb"]}, ""),
    ],
)
def test_the_only_text_of_several_lines_is_edited_as_it_is(
    given: dict[str, object], name: str
) -> None:
    text = call_text(json.dumps(given))
    assert text.name == name and json.loads(text.arguments(text.text)) == given


@pytest.mark.parametrize(
    ("command", "payload", "kind"),
    [
        ("echo a\u202eb", "echo a\u202eb", "command"),
        ("echo a\rb", "echo a\rb", "command"),
        ("echo \x1b[2J", "echo \x1b[2J", "command"),
        ("echo a", "echo", "command"),
        ("echo a", '{"command": "echo a"}', "json"),
    ],
)
def test_what_would_not_show_or_is_not_all_that_was_asked_about_is_edited_as_json(
    command: str, payload: str, kind: str
) -> None:
    given = {"command": command, "timeout": 60, "note": "東京"}
    arguments = json.dumps(given, ensure_ascii=False)
    text = call_text(arguments, payload if kind == "command" else "")
    assert json.loads(text.text) == given and reveal(text.text) == text.text
    assert text.arguments(text.text) == text.text and "東京" in text.text and not text.kept
    twice = json.dumps({"command": command, "cmd": command})
    assert json.loads(call_text(twice, command).text) == json.loads(twice)


async def test_the_program_goes_on_when_the_host_answers_after_the_dialog_has_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late: Future[str] = Future()
    client = FakeClient()
    monkeypatch.setattr(client, "change_call", lambda *_: late)
    async with running(client) as drive:
        await drive.push(ask(editable=True))
        await drive.dialog(ApprovalDialog)
        await drive.press("e", "ctrl+o")
        # What was changed is another request: the old one is answered before the host says so.
        await drive.push(resolved("r1", outcome="changed"))
        await drive.closed()
        late.set_result("")
        await drive.write("on")
        assert drive.app.is_running and drive.draft == "on"


async def test_the_reasons_make_room_for_the_arguments() -> None:
    async with running(size=(60, 16)) as drive:
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("question_mark")
        assert dialog.query_one(LongForm).display
        await drive.press("e")
        assert not dialog.query_one(LongForm).display and drive.app.focused.size.height > 3


async def test_keys_that_come_together_change_the_arguments_in_their_order() -> None:
    async with running() as drive:
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        editor = dialog.query_one(TextArea)
        editor.text = "build"
        await drive.press_at_once("end", "left", "x", "backspace", "delete", "t", "home", "a", "b")
        assert editor.text == "abbuilt"


async def test_escape_leaves_the_editor_with_the_call_as_it_was() -> None:
    async with running() as drive:
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e", "x", "escape")
        assert drive.app.screen is dialog and not dialog.query_one(CallEditor).display
        await drive.press("e")
        assert dialog.query_one(TextArea).text == "rm -rf build"
        await drive.press("escape", "a")
        await drive.closed()
        assert [answer.allow for _, answer in drive.client.named("decide")] == [True]
        assert not drive.client.named("change_call")


async def test_it_is_said_why_arguments_cannot_be_had_or_judged() -> None:
    async with running() as drive:
        arguments, drive.client.arguments = drive.client.arguments, TypeError("[b]no JSON")
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        assert drive.app.screen is dialog and "[b]no JSON" in drive.text()
        assert not dialog.query_one(CallEditor).display
        drive.client.arguments, drive.client.wrong = arguments, RuntimeError("the engine has ended")
        await drive.press("e", "ctrl+o")
        assert dialog.query_one(CallEditor).display and "the engine has ended" in drive.text()


async def test_a_call_that_cannot_be_changed_offers_no_editor() -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        assert not dialog.query_one(CallEditor).display
        assert not drive.client.named("call_arguments")


def editor(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a shell script the user's editor; `$1` is the file."""
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(path))


async def test_the_arguments_are_changed_in_the_users_editor_and_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(FakeClient(wrong="command: required")) as drive:
        # A pilot has no terminal to give away.
        monkeypatch.setattr(drive.app, "suspend", nullcontext)
        await drive.push(ask(editable=True, payload_kind="json"))
        dialog = await drive.dialog(ApprovalDialog)
        editor(tmp_path, f'cp "$1" {tmp_path}/seen.json; echo \'{{"x": 1}}\' > "$1"', monkeypatch)
        await drive.press("E")
        assert (tmp_path / "seen.json").read_text() == drive.client.arguments
        assert drive.client.named("change_call") == [("r1", '{"x": 1}')]
        assert "command: required" in drive.text() and '{"x": 1}' in drive.text()
        # From the text as it stands, again; what was not changed is not judged.
        editor(tmp_path, f"touch {tmp_path}/again", monkeypatch)
        await drive.press("ctrl+g")
        assert (tmp_path / "again").exists()
        assert len(drive.client.named("change_call")) == 1
        for script, words in (
            ("exit 3", "ended with status 3. The call is unchanged"),
            (': > "$1"', "left the file empty. The call is unchanged"),
            ('rm "$1"', "cannot be read (No such file or directory). The call is unchanged"),
        ):
            editor(tmp_path, script, monkeypatch)
            await drive.press("ctrl+g")
            assert words in " ".join(drive.text().replace("█", " ").split())
        monkeypatch.setenv("EDITOR", "/nowhere/vim -n")
        await drive.press("ctrl+g")
        assert "/nowhere/vim cannot be started" in drive.text()
        assert drive.app.screen is dialog and not drive.client.named("decide")
        await drive.press("escape", "d")
        await drive.closed()


async def test_a_terminal_that_cannot_be_given_away_leaves_the_call_as_it_is() -> None:
    async with running() as drive:
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("E")
        assert "cannot be handed to an editor" in drive.text()
        assert dialog.query_one(CallEditor).is_open and not drive.client.named("change_call")


async def test_why_a_call_would_fail_stands_above_what_is_asked() -> None:
    for size in ((80, 24), (40, 12)):
        async with running(size=size) as drive:
            problem = "the text to be replaced is not in a.py"
            payload = '{"file_path": "a.py", "old_string": "x"}'
            await drive.push(
                ask(problem=problem, payload=payload, payload_kind="json", segments=())
            )
            await drive.dialog(ApprovalDialog)
            words = " ".join(drive.text().replace("█", " ").split())
            assert f"! {problem}" in words
            assert words.index(problem) < words.index('"file_path"')
