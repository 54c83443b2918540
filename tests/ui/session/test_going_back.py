from dataclasses import replace

import pytest

from amplifier_tui.host.client import RewindFile, RewindPoint, RewindPreview
from amplifier_tui.host.events import BlockEnded, Rewound, TurnEnded, TurnStarted
from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet
from amplifier_tui.ui.dialogs.questions import Confirm
from amplifier_tui.ui.dialogs.rewind.picker import RewindPicker
from amplifier_tui.ui.dialogs.rewind.sheet import RewindSheet
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient, opened

POINTS = (
    RewindPoint(turn=2, prompt="second [b]prompt\nwith more", at=1.0, files=3),
    RewindPoint(turn=1, prompt="first"),
)
PREVIEW = RewindPreview(
    turn=2,
    prompt="second [b]prompt",
    turns=1,
    files=(
        RewindFile(path="src/[b]a.py", added=3, removed=1),
        RewindFile(path="made.txt", action="removed", removed=9),
        RewindFile(path="mine.md", conflict="it was changed since by you or another program"),
        RewindFile(path="big.bin", problem="there is no copy: it is larger than 5 bytes"),
        RewindFile(path="fmt.py", command="make fmt", added=1, removed=1),
        RewindFile(path="lost.py", gone=True, added=4),
        RewindFile(path="run.sh", command="chmod 644 run.sh", note="mode 755"),
    ),
    unseen=("what `make all` changed: the workspace has over 20,000 files",),
)


def client(preview: RewindPreview = PREVIEW) -> FakeClient:
    return FakeClient(points=POINTS, rewound=preview)


async def talked(drive: Driver, *, running: bool = False) -> None:
    for number, prompt in ((1, "first"), (2, "second [b]prompt")):
        await drive.push(
            TurnStarted(session_id=SESSION, turn=number, prompt=prompt),
            BlockEnded(session_id=SESSION, block_id=f"b{number}", kind="text", text="done"),
        )
        if number == 1 or not running:
            await drive.push(TurnEnded(session_id=SESSION, turn=number, status="success"))


@pytest.mark.parametrize("size", [(120, 36), (60, 16)])
async def test_a_prompt_that_is_longer_than_the_title_is_cut_with_a_mark(
    size: tuple[int, int],
) -> None:
    preview = replace(PREVIEW, prompt="words of a prompt " * 20)
    async with running(client(preview), size=size) as drive:
        await talked(drive)
        await drive.press("escape", "escape")
        await drive.dialog(RewindPicker)
        await drive.press("enter")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Go back before: words" in drive.text())
        title = next(line for line in drive.text().splitlines() if "Go back before:" in line)
        assert title.rstrip().endswith("…")


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (40, 12)])
async def test_esc_twice_lists_the_prompts_and_shows_what_going_back_does(
    size: tuple[int, int],
) -> None:
    async with running(client(), size=size) as drive:
        await talked(drive)
        await drive.press("escape", "escape")
        await drive.dialog(RewindPicker)
        assert "second [b]prom" in drive.text()
        await drive.press("enter")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Conversation" in drive.text())
        shown = drive.text()
        assert "src/[b]a.py" in shown and "esc" in shown
        if size[0] > 40:
            for words in (
                "Go back before: second [b]prompt",
                "+3 −1",
                "− made.txt  is deleted",
                "+ lost.py  comes back",
                "stays: it was changed since",
                "stays: there is no copy",
                "by `make fmt`",
                "mode 755 · by `chmod 644",
                "empty folders",
                "Not covered: what `make all`",
                "/redo",
                "Fork instead",
            ):
                assert words in shown, words
        await drive.press("down", "down", "o", "enter")
        await drive.dialog(Confirm)
        assert "What was changed since is overwritten:" in drive.text()
        await drive.press("escape")
        await drive.dialog(RewindSheet)
        assert not drive.client.named("rewind")
        await drive.press("enter")
        await drive.dialog(Confirm)
        await drive.press("y")
        await drive.closed()
        assert drive.client.named("rewind") == [(2, "both", ("mine.md",))]
        done = Rewound(
            session_id=SESSION,
            turn=2,
            scope="both",
            turns=1,
            prompt="second [b]prompt",
            restored=("a", "b"),
            failed=("big.bin",),
        )
        await drive.push(done, TurnStarted(session_id=SESSION, turn=1, prompt="1st", replayed=True))
        assert drive.draft == "second [b]prompt"
        state = drive.app.state
        assert state is not None
        assert [getattr(entry, "text", "") for entry in state.entries] == ["1st"]


async def test_each_part_may_go_back_alone() -> None:
    async with running(client()) as drive:
        await talked(drive)
        for key, scope in (("c", "conversation"), ("f", "files")):
            await drive.app.run_by_id("session.rewind", "2")
            await drive.dialog(RewindSheet)
            await drive.until(lambda: "Files" in drive.text())
            await drive.press(key)
            await drive.closed()
            assert drive.client.named("rewind")[-1] == (2, scope, ())
        await drive.app.run_by_id("session.rewind", "2")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Files" in drive.text())
        await drive.press("d")
        await drive.dialog(DiffSheet)
        assert drive.client.named("rewind_diff") == [(2, "src/[b]a.py")]
        assert "before" in drive.text()
        await drive.press("escape")
        await drive.dialog(RewindSheet)
        await drive.press("n")
        await drive.closed()
        assert drive.client.named("fork") == [(2,)]


GIT = (
    "the branch was main (a) and is feat (b) now: git is not taken back. `git checkout main` first"
)


async def test_on_another_branch_files_go_back_only_where_the_user_says_so() -> None:
    async with running(client(replace(PREVIEW, git=GIT, elsewhere=True))) as drive:
        await talked(drive)
        for key, scope in (("enter", "conversation"), ("b", "both"), ("f", "files")):
            await drive.app.run_by_id("session.rewind", "2")
            await drive.dialog(RewindSheet)
            await drive.until(lambda: "Not covered: the branch was main (a)" in drive.text())
            assert "Conversation and files" in drive.text()
            await drive.press(key)
            await drive.closed()
            assert drive.client.named("rewind")[-1] == (2, scope, ())


async def test_undo_says_what_the_turn_left_running() -> None:
    running_on = ("job-1 (npm run dev)",)
    left = RewindPreview(turn=2, turns=1, files=(RewindFile(path="a.py"),), running=running_on)
    async with running(client(left)) as drive:
        await talked(drive)
        await drive.app.run_by_id("session.undo")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Runs on: job-1 (npm run dev). /jobs stops it" in drive.text())


async def test_undo_asks_where_a_commit_stays() -> None:
    plain = RewindPreview(turn=2, turns=1, files=(RewindFile(path="a.py"),), git=GIT)
    async with running(client(plain)) as drive:
        await talked(drive)
        await drive.app.run_by_id("session.undo")
        await drive.dialog(RewindSheet)
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("rewind") == [(2, "both", ())]


async def test_a_fork_before_a_prompt_that_is_not_loaded_begins_there_with_its_prompt() -> None:
    preview = replace(PREVIEW, turn=1, prompt="long ago [b]and\nfar away")
    async with running(client(preview)) as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=9, prompt="the only one shown"))
        await drive.push(TurnEnded(session_id=SESSION, turn=9, status="success"))
        await drive.app.run_by_id("session.rewind", "1")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Fork instead" in drive.text())
        await drive.press("n")
        await drive.closed()
        assert drive.client.named("fork") == [(1,)]
        await drive.push(opened("s2"))
        assert drive.draft == "long ago [b]and\nfar away"


async def test_r_on_a_message_goes_back_before_its_turn() -> None:
    async with running(client()) as drive:
        await talked(drive)
        assert drive.app.main.transcript is not None
        drive.app.main.transcript.focus()
        await drive.settle()
        await drive.press("g", "j", "r")
        await drive.dialog(RewindSheet)
        assert drive.client.named("preview_rewind") == [(1,)], "the answer is of the first turn"


async def test_a_running_turn_is_stopped_first_when_the_user_agrees() -> None:
    async with running(client()) as drive:
        await talked(drive, running=True)
        await drive.app.run_by_id("session.rewind", "1")
        await drive.dialog(Confirm)
        assert drive.client.named("preview_rewind") == []
        await drive.press("y")
        await drive.closed()
        assert drive.client.named("interrupt") == [(True, 2)]
        await drive.push(TurnEnded(session_id=SESSION, turn=2, status="cancelled"))
        await drive.dialog(RewindSheet)


async def test_undo_asks_only_where_something_of_the_users_may_be_touched() -> None:
    plain = RewindPreview(turn=2, turns=1, files=(RewindFile(path="a.py"),))
    async with running(client(plain)) as drive:
        await talked(drive)
        await drive.write("/undo ")
        await drive.press("enter")
        await drive.until(lambda: drive.client.named("rewind"))
        assert drive.client.named("rewind") == [(2, "both", ())]
        drive.client.rewound = PREVIEW
        await drive.app.run_by_id("session.undo")
        await drive.dialog(RewindSheet)
        await drive.press("escape")
        await drive.closed()
        await drive.app.run_by_id("session.redo")
        assert drive.client.named("undo_rewind") == [()]


async def test_undo_says_what_the_disk_said() -> None:
    async with running(client(OSError("no space left"))) as drive:
        await talked(drive)
        await drive.app.run_by_id("session.undo")
        await drive.until(lambda: "no space left" in drive.text())


async def test_a_draft_is_kept_and_what_was_filled_in_goes_when_it_is_brought_back() -> None:
    back = Rewound(session_id=SESSION, turn=2, scope="conversation", turns=1, prompt="second")
    again = Rewound(session_id=SESSION, turn=2, scope="conversation", turns=1, undone=True)
    async with running(client()) as drive:
        await talked(drive)
        await drive.push(back)
        assert drive.draft == "second"
        await drive.push(again)
        assert drive.draft == ""
        await drive.write("my own")
        await drive.push(back)
        assert drive.draft == "my own"
        assert drive.app.main.prompt.input.past.items[0] == "second"
        assert "your draft was kept" in drive.text()


async def test_what_cannot_be_found_out_is_said() -> None:
    fake = FakeClient(points=POINTS, rewound=RuntimeError("This session has no turn 7"))
    async with running(fake) as drive:
        await talked(drive)
        await drive.app.run_by_id("session.rewind", "7")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "This session has no turn 7" in drive.text())
        await drive.press("enter", "f", "d", "o", "escape")
        await drive.closed()
        assert drive.client.named("rewind") == []


async def test_with_the_prompt_back_in_the_draft_the_way_to_undo_it_is_no_typed_command() -> None:
    async with running(client()) as drive:
        await talked(drive)
        back = Rewound(session_id=SESSION, turn=2, scope="both", turns=1, prompt="second")
        await drive.push(back)
        assert drive.draft == "second"
        assert "ctrl+x C undoes this" in drive.text()


PERHAPS = "changed while `black .` ran, perhaps by you"
FORMATTED = tuple(
    RewindFile(path=f"f{number}.py", conflict=PERHAPS, perhaps=True) for number in range(200)
)


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_what_changed_while_a_command_ran_stays_and_one_key_takes_all_of_it_along(
    size: tuple[int, int],
) -> None:
    preview = replace(PREVIEW, files=(RewindFile(path="a.py"), *FORMATTED))
    async with running(client(preview), size=size) as drive:
        await talked(drive)
        await drive.app.run_by_id("session.undo")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Take along 200" in drive.text())
        shown = " ".join(drive.text().split())
        assert f"! f1.py stays: {PERHAPS}" in shown
        assert f"200 files {PERHAPS}: they stay. a takes them along" in shown
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("rewind")[-1] == (2, "both", ())
        await drive.app.run_by_id("session.undo")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Take along 200" in drive.text())
        await drive.press("a")
        assert "they go back, too. a leaves them" in " ".join(drive.text().split())
        await drive.press("down", "o")
        assert "1 stay. a takes them along" in " ".join(drive.text().split())
        await drive.press("enter")
        await drive.closed()
        every = tuple(sorted(file.path for file in FORMATTED[1:]))
        assert drive.client.named("rewind")[-1] == (2, "both", every)


async def test_what_the_user_changed_since_is_asked_about_still_where_all_is_taken_along() -> None:
    mine = RewindFile(path="mine.md", conflict="it was changed since by you or another program")
    async with running(client(replace(PREVIEW, files=(mine, *FORMATTED)))) as drive:
        await talked(drive)
        await drive.app.run_by_id("session.undo")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "Take along 200" in drive.text())
        await drive.press("a", "o", "enter")
        await drive.dialog(Confirm)
        assert "What was changed since is overwritten: mine.md." in drive.text()


async def test_of_commands_that_ran_together_none_is_named_as_the_one_that_changed_a_file() -> None:
    file = RewindFile(path="src/index.js", command="git branch b1", together=3, added=1)
    async with running(client(replace(PREVIEW, files=(file,))), size=(80, 24)) as drive:
        await talked(drive)
        await drive.app.run_by_id("session.undo")
        await drive.dialog(RewindSheet)
        await drive.until(lambda: "src/index.js" in drive.text())
        assert "~ src/index.js  by one of 3 commands that ran together" in drive.text()
        assert "git branch b1" not in drive.text()
