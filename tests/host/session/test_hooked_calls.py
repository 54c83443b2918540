"""What is told of calls that hooks of modules change or refuse, live and after resuming."""

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_tui.host.events import ToolEnded, ToolStarted
from tests.host.driving import Driver, Project, calling

CHANGES = {"action": "modify", "data": {"tool_name": "echo", "tool_input": {"text": "other"}}}
SAME = {"action": "modify", "data": {"tool_name": "echo", "tool_input": {"text": "x"}}}
DENIES = {"action": "deny", "reason": "not here"}


@pytest.mark.parametrize(
    ("answers", "changed", "denied"),
    [
        ([CHANGES], "hooks-answer", ""),
        ([SAME], "", ""),
        ([DENIES], "", "hooks-answer"),
        ([CHANGES, DENIES], "", "hooks-answer"),
        ([], "", ""),
    ],
    ids=["changed", "as it was", "denied", "both", "neither"],
)
def test_a_call_names_the_hook_that_changed_or_refused_it(
    project: Project,
    drive: Callable[..., Driver],
    answers: list[dict[str, Any]],
    changed: str,
    denied: str,
) -> None:
    first, second = drive(), drive()
    hooks = (("hooks-answer", {"tool:pre": answers}),)
    first.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=hooks))
    first.turn("go")
    first.close()
    second.open(resume="last")
    for driver in (first, second):
        assert driver.of(ToolStarted)[-1].changed_by == changed
        assert driver.of(ToolEnded)[-1].denied_by == denied


def test_what_the_user_denies_is_denied_by_no_hook(project: Project, driver: Driver) -> None:
    asks = ("hooks-test", {"ask": True})
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(asks,)))
    driver.client.submit("go")
    driver.deny_next()
    ended = driver.wait(ToolEnded)
    assert ended.denied and not ended.denied_by
