"""What only counts now, because settings or links of the user's name it, while a job runs."""

from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import beside_confined
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.modules.tool_bash.test_sandbox_beside_calls import job, let_go_on
from tests.modules.tool_bash.test_sandbox_beside_others import COMMITTED
from tests.sandbox import needs_sandbox

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

NAMED = (
    "git config core.hooksPath tools/hooks; git config filter.nb.clean 'sh clean.sh'; "
    "ln -s $PWD/bash/rc ~/.myrc"
)
FILES = ("tools/hooks/pre-commit", "clean.sh", "bash/rc")


@pytest.fixture
async def files(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Files that are no part of the repository, and older than what comes."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    made = (
        "mkdir -p ev/hooks; echo evil > ev/hooks/pre-commit; mkdir -p tools/hooks bash; for i in "
        + " ".join(FILES)
        + "; do echo mine > $i; done"
    )
    await run(shell, f"{COMMITTED}; {made}", None)
    await run(shell, "sleep 0.3", None)
    return shell


async def test_files_that_are_older_than_a_job_stay_where_they_are(
    files: Shell, told: list[str]
) -> None:
    await job(files, "true")
    await run(files, NAMED, None)
    await let_go_on(files)
    await run(files, "true")
    assert [(files.root / each).read_text() for each in FILES] == ["mine\n"] * 3
    assert not [text for text in told if "would take effect" in text]


@pytest.mark.parametrize(
    "command",
    [
        "echo evil > tools/hooks/pre-commit",
        "rm -r tools/hooks; mv ev/hooks tools/hooks",
        "rm -r tools; mv ev tools",
    ],
)
async def test_but_not_what_the_job_made_of_them(
    files: Shell, told: list[str], command: str
) -> None:
    await job(files, command)
    await let_go_on(files)
    await run(files, NAMED, None)
    await run(files, "true")
    async with beside_confined(lambda place: False):
        """At its end there is a look."""
    assert not (files.root / "tools/hooks/pre-commit").exists()
    assert (files.root / "clean.sh").exists()
