"""A session in a git worktree of its own: opened beside, kept, and removed when nothing is lost."""

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.host.client import WorktreeCard, WorktreeMerge
from amplifier_tui.host.events import JobChanged, TurnStarted
from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet
from amplifier_tui.ui.dialogs.modules.commands import CommandPalette
from amplifier_tui.ui.dialogs.questions import AskLine, Confirm
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient, opened
from tests.ui.state.make import turn, turn_ended

CARD = WorktreeCard(
    path="/home/u/src/app-fix",
    branch="amplifier/fix",
    original="/home/u/src/app",
    cwd="/home/u/src/app-fix/docs",
)


async def say(drive: Driver, command: str) -> None:
    await drive.write(command)
    await drive.press("enter")
    await drive.settle()


def said(drive: Driver) -> str:
    assert drive.app.state is not None
    return "\n".join(each.notice.text for each in drive.app.state.notices.history)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_it_is_opened_beside_named_on_the_strip_kept_and_removed(
    size: tuple[int, int],
) -> None:
    async with running(FakeClient(made=CARD), size=size) as drive:
        await say(drive, "/worktree")
        await drive.dialog(AskLine)
        assert "merge brings that back" in " ".join(drive.text().split())
        await drive.press(*"fix", "enter")
        await drive.until(lambda: drive.client.others, "a session beside")
        assert drive.client.named("make_worktree") == [("fix",)]
        other = drive.client.others[-1]
        assert other.named("open")[0][0].cwd == Path(CARD.cwd)
        other.push(opened(other.session, cwd=CARD.cwd, branch=CARD.branch))
        await drive.until(lambda: "2 · amplifier/fix" in drive.text(), "its branch on the strip")
        assert "/worktree merge. What is not committed stayed in /home/u/src/app" in said(drive)
        other.made = replace(CARD, changes=1, commits=2)
        await say(drive, "/worktree remove")
        assert "It stays, as it has 1 file" in said(drive)
        assert not other.named("remove_worktree")
        other.made = replace(CARD, ignored=3)
        await say(drive, "/worktree remove")
        await drive.dialog(Confirm)
        assert "3 files that git ignores" in drive.text()
        await drive.press("y")
        await drive.until(lambda: drive.app.client is drive.client, "the session goes with it")
        assert other.named("remove_worktree") and "app-fix is removed" in said(drive)


async def test_it_is_left_with_its_work_and_its_session_is_closed() -> None:
    async with running(FakeClient(made=CARD), size=(80, 24)) as drive:
        await say(drive, "/worktree fix")
        await drive.until(lambda: drive.client.others, "a session beside")
        other = drive.client.others[-1]
        other.push(opened(other.session, cwd=CARD.cwd, branch=CARD.branch))
        await drive.until(lambda: "2 · amplifier/fix" in drive.text())
        other.made = replace(CARD, changes=1, commits=2)
        await say(drive, "/worktree leave")
        await drive.until(lambda: drive.app.client is drive.client, "its session is closed")
        kept = "1 file that is not committed and 2 commits that no other branch has. It stays there"
        await drive.until(lambda: kept in said(drive))
        assert not other.named("remove_worktree")


async def test_one_that_was_closed_is_opened_again_and_one_that_is_open_is_shown() -> None:
    async with running(FakeClient(made=replace(CARD, found=True)), size=(80, 24)) as drive:
        await say(drive, "/worktree fix")
        await drive.until(lambda: drive.client.others, "a session beside")
        other = drive.client.others[-1]
        assert other.named("open")[0][0].cwd == Path(CARD.cwd)
        other.push(opened(other.session, cwd=CARD.cwd, branch=CARD.branch))
        await drive.until(lambda: "2 · amplifier/fix" in drive.text())
        assert "/app-fix already: /worktree diff, /worktree merge." in said(drive)
        await say(drive, "/go 1")
        await say(drive, "/worktree fix")
        await drive.until(lambda: drive.app.client is other, "the session that is open there")
        assert len(drive.client.others) == 1


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_its_work_is_read_and_merged_back(size: tuple[int, int]) -> None:
    client = FakeClient(made=CARD, worked="--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+new\n")
    client.merged = WorktreeMerge(
        branch=CARD.branch, into="main", original=CARD.original, commits=2, commit="1234567890abc"
    )
    async with running(client, size=size) as drive:
        await drive.push(opened(client.session, cwd=CARD.cwd, branch=CARD.branch))
        await say(drive, "/worktree diff")
        await drive.dialog(DiffSheet)
        assert all(words in drive.text() for words in ("amplifier/fix", "x.py", "new", "+1 −1"))
        await drive.press("escape")
        await drive.closed()
        client.worked = ""
        await say(drive, "/worktree diff")
        assert "Nothing was changed in this worktree" in said(drive)
        await say(drive, "/worktree merge")
        assert client.named("merge_worktree")
        went = "2 commits of amplifier/fix went into main of /home/u/src/app, with the merge commit"
        assert f"{went} 123456789" in said(drive)
        client.merged = RuntimeError("main and amplifier/fix changed the same lines of x.py")
        await say(drive, "/worktree merge")
        assert "changed the same lines of x.py." in said(drive)


async def test_what_only_its_submodules_hold_is_named_with_what_helps() -> None:
    client = FakeClient(made=replace(CARD, submodules=True, below=("1 commit in dep",)))
    client.merged = WorktreeMerge(
        branch=CARD.branch, into="main", original=CARD.original, commits=1, submodules=("dep", "x")
    )
    async with running(client) as drive:
        await say(drive, "/worktree remove")
        stays = "It stays, as it has 1 commit in dep. First commit in its submodules and push or"
        assert f"{stays} fetch from them in /home/u/src/app." in said(drive)
        client.made = replace(CARD, changes=2, submodules=True, below=("1 commit in dep",))
        await say(drive, "/worktree remove")
        assert "not committed, and 1 commit in dep." in said(drive)
        assert "/src/app, then commit and merge amplifier/fix." in said(drive)
        assert not client.named("remove_worktree")
        await say(drive, "/worktree merge")
        assert "git submodule update brings dep, x there to what it names now" in said(drive)


async def test_nothing_is_merged_under_a_session_that_works() -> None:
    async with running(FakeClient(made=CARD), size=(80, 24)) as drive:
        await say(drive, "/beside")
        await drive.until(lambda: drive.client.others, "a session beside")
        other = drive.client.others[-1]
        other.push(opened(other.session, cwd=CARD.original))
        other.push(TurnStarted(session_id=other.session, turn=1, prompt="p"))
        assert drive.app.tabs is not None
        await drive.until(lambda: drive.app.state is not None and drive.app.state.activity.running)
        await say(drive, "/worktree merge")
        assert "stop it before its worktree is merged" in said(drive)
        await say(drive, "/go 1")
        await say(drive, "/worktree merge")
        assert "A session works in /home/u/src/app: let it end first" in said(drive)
        assert not drive.client.named("merge_worktree")


async def test_what_can_not_be_done_is_said() -> None:
    async with running(
        FakeClient(made=RuntimeError("no \x1b[31mrepository")), size=(80, 24)
    ) as drive:
        await say(drive, "/worktree fix")
        assert not drive.client.others and "no" in said(drive)
        assert "\x1b" not in said(drive)


@pytest.mark.parametrize("how", ["leave", "remove"])
async def test_the_only_session_goes_on_in_the_checkout_when_its_worktree_is_left(how: str) -> None:
    async with running(FakeClient(made=CARD), size=(80, 24)) as drive:
        await say(drive, f"/worktree {how}")
        if how == "remove":
            await drive.dialog(Confirm)
            await drive.press("y")
        await drive.until(lambda: len(drive.client.named("open")) == 2, "a session is opened")
        assert drive.client.named("open")[-1][0].cwd == Path(CARD.original)
        assert "copies its session" not in said(drive), "nothing was said in it"


async def test_what_was_said_in_a_worktree_that_is_removed_is_found_again() -> None:
    async with running(FakeClient(made=CARD), size=(80, 24)) as drive:
        await drive.push(turn(1, "fix it"), turn_ended())
        await say(drive, "/worktree remove")
        await drive.dialog(Confirm)
        await drive.press("y")
        found = "is removed. ctrl+x l copies its session into this folder; ctrl+t shows all folders"
        await drive.until(lambda: found in said(drive), found)


@pytest.mark.parametrize("how", ["leave", "remove"])
async def test_a_worktree_is_not_left_while_a_command_runs_in_the_background(how: str) -> None:
    async with running(FakeClient(made=CARD), size=(80, 24)) as drive:
        await drive.push(JobChanged(session_id=SESSION, job_id="1", command="make"))
        await say(drive, f"/worktree {how}")
        assert "Something runs in this session: stop it before its worktree" in said(drive)
        assert len(drive.client.named("open")) == 1 and drive.app.screen is drive.app.main


async def test_a_worktree_is_not_left_once_a_turn_was_begun_in_it() -> None:
    class Slow(FakeClient):
        def worktree(self) -> Future[WorktreeCard]:
            self.looking: Future[WorktreeCard] = Future()
            return self.looking

    client = Slow()
    async with running(client, size=(80, 24)) as drive:
        await say(drive, "/worktree leave")
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="p"))
        client.looking.set_result(CARD)
        await drive.until(lambda: "stop it before its worktree is left" in said(drive))
        assert len(client.named("open")) == 1


async def test_a_word_that_looks_like_a_command_makes_no_worktree() -> None:
    async with running(FakeClient(made=CARD)) as drive:
        await say(drive, "/worktree drop")
        assert "There is no /worktree drop: remove does that." in said(drive)
        await say(drive, "/worktree")
        await drive.dialog(AskLine)
        await say(drive, "/worktree list")
        told = "There is no /worktree list, only diff, merge, leave and remove."
        assert told in said(drive)
        assert not drive.client.named("make_worktree")


@pytest.mark.parametrize("does", ["diff", "merge", "leave", "remove"])
async def test_what_is_done_to_the_worktree_on_screen_makes_none_of_the_name_behind_it(
    does: str,
) -> None:
    async with running(FakeClient(made=CARD)) as drive:
        await say(drive, f"/worktree {does} fix")
        told = f"Type /worktree {does} alone, in that worktree's session: /worktree NAME opens it."
        assert told in said(drive)
        await say(drive, f"/worktree {does}-fix")
        assert drive.client.named("make_worktree") == [(f"{does}-fix",)]


@pytest.mark.parametrize("command", ["/worktree fix", "/worktree leave", "/worktree diff"])
async def test_what_the_disk_refuses_is_said(command: str) -> None:
    refused = OSError(36, "File name too long")
    client = FakeClient(made=refused, worked=refused)
    async with running(client) as drive:
        await say(drive, command)
        await drive.until(lambda: "File name too long" in said(drive))
        assert drive.app.is_running


@pytest.mark.parametrize("meanwhile", ["writes", "reads", "elsewhere"])
async def test_a_worktree_that_takes_its_time_takes_no_key_from_what_is_done_meanwhile(
    meanwhile: str,
) -> None:
    class Slow(FakeClient):
        def make_worktree(self, name: str) -> Future[WorktreeCard]:
            self.making: Future[WorktreeCard] = Future()
            return self.making

    client = Slow()
    async with running(client) as drive:
        await say(drive, "/worktree fix")
        if meanwhile == "writes":
            await drive.write("rename the")
        elif meanwhile == "reads":
            await drive.press("ctrl+p")
            await drive.dialog(CommandPalette)
        else:
            await drive.press("ctrl+x", "plus")
            await drive.until(lambda: drive.app.client is not client)
        tabs, on_screen = drive.app.tabs, drive.app.client
        assert tabs is not None
        many = len(tabs.links)
        client.making.set_result(CARD)
        await drive.until(lambda: len(tabs.links) > many)
        made = tabs.links[-1].tab.client
        assert isinstance(made, FakeClient) and made.named("open")[0][0].cwd == Path(CARD.cwd)
        assert drive.app.client is on_screen and f"It is session {many + 1} here." in said(drive)
        if meanwhile == "writes":
            await drive.write(" module")
            assert drive.draft == "rename the module"
