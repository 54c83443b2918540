"""What can't be moved aside takes no effect either, and what is said of it is whole."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, SandboxTerms
from amplifier_tui.modules.tool_bash.sandbox import made
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

LONG = "x" * 250


@pytest.fixture
def aside(shell: Shell) -> Iterator[Path]:
    """The folder of what is moved aside, on another file system."""
    elsewhere = Path("/dev/shm")
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == shell.root.stat().st_dev:
        pytest.skip("there is no second file system")
    with tempfile.TemporaryDirectory(dir=elsewhere) as folder:
        shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms(aside=Path(folder)))
        yield Path(folder)


async def test_a_folder_that_can_not_be_copied_is_renamed_where_it_is(
    shell: Shell, told: list[str], aside: Path
) -> None:
    deep = f"n={LONG}; for i in $(seq 120); do mkdir $n; cd $n; done"
    output = await run(
        shell, f"mkdir -p .vscode/a; touch .vscode/a/.envrc; touch .vscode/b; cd .vscode; {deep}"
    )
    assert not (shell.root / ".vscode").exists()
    (renamed,) = shell.root.glob("vscode.set-aside-*")
    assert (renamed / "b").exists()
    # What takes effect by itself is no safer in it.
    assert not (renamed / "a" / ".envrc").exists()
    assert ".vscode would take effect" in output and f"renamed to {renamed.name}." in output
    async with within(20, "the user to be told"):
        while not told:
            await asyncio.sleep(0.01)
    assert len(told[0]) < 600 and told[0].endswith(f"it is {renamed.name} now")
    # No part of the copy stays.
    assert [place.name for place in aside.glob("*/*")] == [".envrc"]
    assert "take effect" not in await run(shell, "true")


async def test_of_a_long_path_the_middle_is_left_out_and_names_are_no_control(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = rf"{LONG}/{LONG}/$(printf 'a\377\n\033[31mb')"
    output = await run(shell, f'd="{folder}"; mkdir -p "$d"; touch "$d/.envrc"')
    assert "\udcff" not in output and "\033" not in output

    def refuse(*_: object) -> Path:
        raise PermissionError(1, "Not permitted", LONG)

    monkeypatch.setattr(made, "move_aside", refuse)
    monkeypatch.setattr(made, "rename_here", refuse)
    await run(shell, f'd="{folder}"; touch "$d/.envrc"')
    async with within(20, "the user to be told"):
        while len(told) < 2:
            await asyncio.sleep(0.01)
    for text in told:
        assert len(text) < 600 and "/.envrc would take effect" in text
        text.encode()
    assert told[0].endswith("it will stay") and told[1].endswith("(Not permitted): remove it")
