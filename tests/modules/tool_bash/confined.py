"""A shell whose commands run in the sandbox, and ways to run them."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, Grant, SandboxTerms, granted
from amplifier_tui.modules.tool_bash import confining
from tests.modules.tool_bash.support import Shell

BY_RULE = Grant("rule")
READING = Grant("mode", reading=True)


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    """A shell whose host keeps its state in a folder of its own."""
    workspace = tmp_path / "work"
    workspace.mkdir()
    state = tmp_path / "state"
    state.mkdir()
    (state / "keys.env").write_text("KEY=hush-hush\n")
    made = Shell(workspace)
    made.coordinator.register_capability(
        SANDBOX_CAPABILITY, SandboxTerms(hidden=(state,), aside=state / "aside")
    )
    yield await made.mount()
    await made.close()


@pytest.fixture
def told(shell: Shell) -> list[str]:
    """What the user is told."""
    texts: list[str] = []

    async def take(event: str, data: dict[str, Any]) -> None:
        texts.append(str(data["message"]))

    shell.coordinator.hooks.register(events.USER_NOTIFICATION, take)
    return texts


@pytest.fixture
def named_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each line that names git write in repositories, as what hooks of git run may."""
    monkeypatch.setattr(confining, "is_of_git_alone", re.compile(r"(?:^|[\s;|&(])git\s").search)
    monkeypatch.setattr(confining, "line_keeps_to_own", lambda *_: True)


async def run(shell: Shell, command: str, grant: Grant | None = BY_RULE, **more: object) -> str:
    return str((await result(shell, command, grant, **more)).output)


async def result(
    shell: Shell, command: str, grant: Grant | None = BY_RULE, **more: object
) -> ToolResult:
    if grant is None:
        return await shell.run(command, **more)
    with granted(grant):
        return await shell.run(command, **more)
