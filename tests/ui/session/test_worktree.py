"""A session in a git worktree of its own: opened beside, kept, and removed when nothing is lost."""

from dataclasses import replace
from pathlib import Path

from amplifier_tui.host.client import WorktreeCard
from amplifier_tui.ui.dialogs.questions import AskLine, Confirm
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient, opened

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


async def test_it_is_opened_beside_named_on_the_strip_kept_and_removed() -> None:
    async with running(FakeClient(made=CARD), size=(80, 24)) as drive:
        await say(drive, "/worktree")
        await drive.dialog(AskLine)
        await drive.press(*"fix", "enter")
        await drive.until(lambda: drive.client.others, "a session beside")
        assert drive.client.named("make_worktree") == [("fix",)]
        other = drive.client.others[-1]
        assert other.named("open")[0][0].cwd == Path(CARD.cwd)
        other.push(opened(other.session, cwd=CARD.cwd, branch=CARD.branch))
        await drive.until(lambda: "2 · amplifier/fix" in drive.text(), "its branch on the strip")
        assert "What is not committed stayed in /home/u/src/app" in said(drive)
        other.made = replace(CARD, changes=1, commits=2)
        await say(drive, "/worktree leave")
        kept = "1 file that is not committed and 2 commits that no other branch has. It stays when"
        assert kept in said(drive)
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


async def test_what_can_not_be_done_is_said() -> None:
    async with running(
        FakeClient(made=RuntimeError("no \x1b[31mrepository")), size=(80, 24)
    ) as drive:
        await say(drive, "/worktree fix")
        assert not drive.client.others and "no" in said(drive)
        assert "\x1b" not in said(drive)


async def test_the_only_session_goes_on_in_the_checkout_when_its_worktree_is_removed() -> None:
    async with running(FakeClient(made=CARD), size=(80, 24)) as drive:
        await say(drive, "/worktree remove")
        await drive.dialog(Confirm)
        await drive.press("y")
        await drive.until(lambda: len(drive.client.named("open")) == 2, "a session is opened")
        assert drive.client.named("open")[-1][0].cwd == Path(CARD.original)
