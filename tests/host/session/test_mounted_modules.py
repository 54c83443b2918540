"""Modules that the user mounted in a session, when it goes on without them."""

from collections.abc import Callable

from amplifier_tui.host.events import (
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    OpeningReported,
    SessionOpened,
)
from tests.host.dice import KEY, Dice
from tests.host.driving import Driver, Project
from tests.host.session.test_changing_modules import bundle, clean_imports, dice, rolled

__all__ = ["clean_imports", "dice"]


def test_what_was_mounted_in_a_session_is_told_as_missing_when_it_goes_on(
    project: Project, drive: Callable[..., Driver], dice: Dice
) -> None:
    first = drive()
    session = first.open(bundle(project)).session_id
    first.client.mount(str(dice.folder))
    first.wait(ModuleMounted, lambda event: event.module_id == KEY)
    rolled(first)
    first.client.fork()
    fork = first.wait(SessionOpened).session_id
    (missing,) = first.wait(OpeningReported).items
    first.close()
    assert (missing.what, missing.part, missing.kind) == (KEY, "tool", "skipped")
    assert missing.why.startswith(f"it was mounted in this session from {dice.folder}, and is not")
    assert missing.remedy.startswith(f"`/mount {dice.folder}` mounts it again")
    for session_id in (fork, session):
        again = drive()
        again.open(resume=session_id)
        assert again.wait(OpeningReported).items == (missing,)
        again.client.mount(str(dice.folder))
        again.wait(ModuleMounted, lambda event: event.module_id == KEY)
        again.client.unmount(KEY)
        again.wait(ModuleUnmounted, lambda event: event.module_id == KEY)
        again.wait(Notice, lambda notice: "is taken out" in notice.text)
        again.close()
        last = drive()
        last.open(resume=session_id)
        last.close()
        assert not last.of(OpeningReported), "it was taken out by the user"


def test_a_guard_that_was_mounted_in_a_session_is_missed_at_warning_level_until_it_is_forgotten(
    project: Project, drive: Callable[..., Driver]
) -> None:
    guard = "hooks-redaction"
    first = drive()
    session = first.open(bundle(project, {"echo": {"text": "hi"}})).session_id
    first.client.mount(guard)
    first.wait(ModuleMounted, lambda event: event.module_id == guard)
    first.turn("go")
    first.close()
    again = drive()
    again.open(resume=session)
    warned = again.wait(Notice, lambda notice: notice.text.startswith(f"{guard} judges"))
    assert warned.level == "warning" and f"`/mount {guard}` mounts it again" in warned.text
    again.client.unmount(guard)
    again.wait(Notice, lambda notice: "is forgotten" in notice.text)
    again.close()
    last = drive()
    last.open(resume=session)
    last.close()
    assert not last.of(OpeningReported)
