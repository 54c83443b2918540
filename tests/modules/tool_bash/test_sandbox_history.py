"""What git makes of commits that no command in the sandbox made: it stays, also where it is new."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from amplifier_tui.base.commands.beside import beside_confined
from amplifier_tui.kernel.session.grant import Grant
from amplifier_tui.modules.tool_bash.sandbox import made
from amplifier_tui.modules.tool_bash.sandbox.opened import Identity
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

LINES = "printf 'one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n'"
SETUP = f"""
git init -q -b main . && git config user.email a@b && git config user.name a
echo old > AGENTS.md && git add . && git commit -qm first
{LINES} > AGENTS.md && git commit -qam second && git branch side
sed -i s/one/ONE/ AGENTS.md && git commit -qam third && git branch same
git checkout -q side && sed -i s/six/SIX/ AGENTS.md && git commit -qam fourth
git checkout -q -b clashing main && sed -i s/ONE/uno/ AGENTS.md && git commit -qam fifth
git checkout -q main && sed -i s/ONE/eins/ AGENTS.md && git commit -qam sixth
"""
"""Six commits, of which `side` goes with the others, and `clashing` with none of them."""
EVIL = "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1,2 +1,3 @@\n eins\n+evil\n two\n"


@pytest.fixture
async def repository(shell: Shell) -> Shell:
    assert "exit code 0" in await run(shell, SETUP, None)
    return shell


def git(shell: Shell, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=shell.root, capture_output=True, text=True, check=True
    ).stdout


async def until_told(told: list[str], words: str) -> None:
    async with within(20, words):
        while not any(words in each for each in told):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -q main~3",
        "git merge -q side -m merged",
        "git rebase -q side",
        "git cherry-pick side",
        "git checkout -q side && git rebase -q main && git checkout -q main && git merge -q side",
        "git revert --no-edit HEAD",
        "git bisect start -q; git bisect bad; git bisect good main~3",
        "git reset -q --hard main~2",
        "git checkout -q main~2 -- AGENTS.md",
    ],
)
async def test_what_git_makes_of_earlier_commits_stays(repository: Shell, command: str) -> None:
    output = await run(repository, command)
    assert "exit code 0" in output and "would take effect" not in output
    assert " D" not in git(repository, "status", "--short")
    assert "evil" not in (repository.root / "AGENTS.md").read_text()


async def test_a_conflict_is_left_to_be_solved(repository: Shell) -> None:
    output = await run(repository, "git merge -q clashing")
    assert "CONFLICT" in output and "would take effect" not in output
    assert "<<<<<<< HEAD\neins\n" in (repository.root / "AGENTS.md").read_text()


async def test_what_the_user_stashed_comes_back(repository: Shell) -> None:
    await run(repository, "echo mine >> AGENTS.md; git stash -q; git reset -q --hard main~1", None)
    output = await run(repository, "git stash pop")
    assert "would take effect" not in output
    assert (repository.root / "AGENTS.md").read_text().endswith("six\nmine\n")


async def test_what_the_user_commits_between_two_commands_counts_too(repository: Shell) -> None:
    assert "exit code 0" in await run(repository, "git commit -q --allow-empty -m mine")
    theirs = "git checkout -q -b news; echo news > AGENTS.md; git commit -qam news; "
    await run(repository, f"{theirs} git checkout -q main", None)
    output = await run(repository, "git switch -q news")
    assert "would take effect" not in output
    assert (repository.root / "AGENTS.md").read_text() == "news\n"


@pytest.mark.parametrize(
    "command",
    [
        "git apply --index x.patch && git commit -qm evil",
        "git apply --cached x.patch && git commit -qm evil && git reset -q --hard",
        "git checkout -q side && git apply --index y.patch && git commit -qm evil && "
        "git checkout -q main && git merge -q side -m merged",
    ],
)
async def test_what_a_command_has_git_make_is_moved_and_what_was_there_is_back(
    repository: Shell, command: str
) -> None:
    before = (repository.root / "AGENTS.md").read_text()
    (repository.root / "x.patch").write_text(EVIL)
    (repository.root / "y.patch").write_text(EVIL.replace(" eins", " one"))
    output = await run(repository, command)
    assert "AGENTS.md would take effect" in output and "what it held before is back" in output
    assert (repository.root / "AGENTS.md").read_text() == before


async def test_what_the_user_changed_may_be_committed_and_stashed_unremarked(
    repository: Shell,
) -> None:
    changes = "mkdir .vscode; echo 1 > .vscode/settings.json; sed -i '1i mine' AGENTS.md"
    await run(repository, f"{changes}; git add .vscode; git commit -qm editor", None)
    (repository.root / ".vscode/settings.json").write_text("2\n")
    for command in ("git stash", "git stash pop", "git commit -qam mine", "git merge -q side"):
        output = await run(repository, command)
        assert "exit code 0" in output and "would take effect" not in output
    assert git(repository, "status", "--short") == ""


async def test_a_checkout_in_a_repository_of_a_folder_is_whole_as_well(repository: Shell) -> None:
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository.root))
    git(repository, *add, "part")
    git(repository, "clone", "-q", ".", "clone")
    git(repository, "worktree", "add", "-q", "--detach", "tree", "side")
    for folder in ("part", "clone", "tree"):
        output = await run(repository, f"git -C {folder} checkout -q --detach HEAD~2")
        assert "exit code 0" in output and "would take effect" not in output
        assert git(repository, "-C", folder, "status", "--short") == ""


async def test_what_is_checked_out_with_other_ends_of_lines_is_the_same(repository: Shell) -> None:
    git(repository, "config", "core.autocrlf", "true")
    git(repository, "checkout", "-q", "side")
    git(repository, "checkout", "-q", "main")
    (repository.root / "AGENTS.md").write_bytes(b"mine\r\n")
    output = await run(repository, "git commit -qam mine && git checkout -q side")
    assert "would take effect" not in output
    assert b"two\r\n" in (repository.root / "AGENTS.md").read_bytes()
    output = await run(repository, "git checkout -q main")
    assert "would take effect" not in output
    assert git(repository, "status", "--short") == ""


@pytest.fixture
def server() -> Iterator[Path]:
    """A folder that is seen in the sandbox, whose `/tmp` is its own."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


async def theirs_of(repository: Shell, server: Path) -> None:
    """Have somebody else push a file to an origin outside of the workspace."""
    origin, theirs = server / "origin", server / "theirs"
    git(repository, "clone", "-q", "--bare", ".", str(origin))
    git(repository, "remote", "add", "origin", str(origin))
    git(repository, "fetch", "-q", "origin")
    git(repository, "branch", "-q", "-u", "origin/main")
    git(repository, "clone", "-q", str(origin), str(theirs))
    (theirs / "AGENTS.md").write_text("theirs\n")
    for words in (["config", "user.email", "a@b"], ["config", "user.name", "a"]):
        git(repository, "-C", str(theirs), *words)
    git(repository, "-C", str(theirs), "commit", "-qam", "theirs")
    git(repository, "-C", str(theirs), "push", "-q")


@pytest.mark.parametrize(
    "command", ["git pull -q", "git pull -q --rebase origin main", "git fetch -q; git merge -q"]
)
async def test_what_a_pull_brings_from_a_remote_of_the_users_stays(
    repository: Shell, server: Path, command: str
) -> None:
    await theirs_of(repository, server)
    output = await run(repository, command)
    assert "exit code 0" in output and "would take effect" not in output
    assert (repository.root / "AGENTS.md").read_text() == "theirs\n"
    assert "would take effect" not in await run(repository, "git reset -q --hard HEAD~1")


async def test_a_tag_that_is_fetched_from_a_remote_of_no_branch_counts(
    repository: Shell, server: Path
) -> None:
    await theirs_of(repository, server)
    theirs = str(server / "theirs")
    git(repository, "-C", theirs, "reset", "-q", "--hard", "HEAD~1")
    (server / "theirs/AGENTS.md").write_text("released\n")
    git(repository, "-C", theirs, "commit", "-qam", "release")
    git(repository, "-C", theirs, "tag", "-a", "-m", "v1", "v1")
    git(repository, "-C", theirs, "push", "-q", "origin", "v1")
    output = await run(repository, "git fetch -q --tags origin; git checkout -q v1")
    assert "exit code 0" in output and "would take effect" not in output
    assert (repository.root / "AGENTS.md").read_text() == "released\n"


@pytest.mark.parametrize("setting", ["", "+refs/pull/*/head:refs/remotes/origin/pr/*"])
async def test_what_anybody_may_propose_to_a_remote_is_not_of_the_remote(
    repository: Shell, server: Path, setting: str
) -> None:
    await theirs_of(repository, server)
    theirs = str(server / "theirs")
    (server / "theirs/AGENTS.md").write_text("proposed\n")
    git(repository, "-C", theirs, "commit", "-qam", "proposed")
    git(repository, "-C", theirs, "push", "-q", "origin", "HEAD:refs/pull/1/head")
    if setting:
        git(repository, "config", "--add", "remote.origin.fetch", setting)
    output = await run(repository, "git fetch -q origin pull/1/head; git merge -q FETCH_HEAD")
    assert "AGENTS.md would take effect" in output
    assert "proposed" not in (repository.root / "AGENTS.md").read_text()


@pytest.mark.parametrize(
    "beside",
    [
        "git apply --cached x.patch; git commit -qm evil; git push -q . HEAD:refs/remotes/origin/x",
        "git apply --cached x.patch; git commit -qm evil; "
        "git update-ref -m refs/heads/x refs/remotes/origin/y HEAD",
    ],
)
async def test_what_is_committed_beside_a_fetch_is_not_fetched(
    repository: Shell, server: Path, beside: str
) -> None:
    await theirs_of(repository, server)
    (repository.root / "x.patch").write_text(EVIL)
    await run(repository, f"git fetch -q origin; {beside}")
    output = await run(repository, "git reset -q --hard")
    assert "evil" not in (repository.root / "AGENTS.md").read_text(), output


async def test_a_remote_of_a_repository_below_is_asked_there(
    repository: Shell, server: Path
) -> None:
    await theirs_of(repository, server)
    git(repository, "clone", "-q", ".", "sub")
    git(repository, "clone", "-q", "--bare", ".", "up")
    git(repository, "-C", "sub", "remote", "set-url", "origin", "../up")
    made = "git -C /tmp/x commit -qam evil && git -C /tmp/x push -q"
    names = "-c user.email=a@b -c user.name=a"
    evil = f"git clone -q up /tmp/x && echo evil > /tmp/x/AGENTS.md && {made}"
    assert "exit code 0" in await run(repository, evil.replace(" commit", f" {names} commit"))
    output = await run(repository, "git -C sub fetch -q origin; git -C sub merge -q origin/main")
    assert "AGENTS.md would take effect" in output
    assert "evil" not in (repository.root / "sub/AGENTS.md").read_text()


@pytest.mark.parametrize(
    "source",
    ["./x.bundle HEAD:refs/remotes/origin/evil", ". evil:refs/remotes/origin/evil", "./inside"],
)
async def test_what_is_fetched_from_elsewhere_does_not_count(
    repository: Shell, server: Path, source: str
) -> None:
    await theirs_of(repository, server)
    for name in ("user.email", "user.name"):
        git(repository, "-C", str(server / "theirs"), "config", name, "a")
    (server / "theirs/AGENTS.md").write_text("evil\n")
    git(repository, "-C", str(server / "theirs"), "commit", "-qam", "evil")
    bundle = str(repository.root / "x.bundle")
    git(repository, "-C", str(server / "theirs"), "bundle", "create", "-q", bundle, "HEAD")
    git(repository, "clone", "-q", "--bare", str(server / "theirs"), "inside")
    granted = Grant("rule", network=True)
    checkout = "git checkout -q refs/remotes/origin/evil -- ."
    if source.startswith(". "):
        assert "exit code 0" in await run(repository, "git fetch -q ./x.bundle HEAD:evil", granted)
    if source == "./inside":
        checkout = "git checkout -q FETCH_HEAD -- ."
    output = await run(repository, f"git fetch -q {source} && {checkout}", granted)
    assert "AGENTS.md would take effect" in output
    assert (repository.root / "AGENTS.md").read_text() != "evil\n"


async def test_the_users_commit_that_has_no_name_any_more_comes_back(repository: Shell) -> None:
    made = "echo mine >> AGENTS.md; git commit -qam x; git reset -q --hard HEAD~1"
    await run(repository, made, None)
    assert "would take effect" not in await run(repository, "git reset -q --hard 'HEAD@{1}'")
    assert (repository.root / "AGENTS.md").read_text().endswith("mine\n")


async def test_git_that_could_not_write_is_told_whatever_the_end_of_the_line(
    repository: Shell,
) -> None:
    output = await run(repository, "touch x; git add x; true")
    assert "exit code 0" in output and "as it can in a command line of its own" in output


@pytest.mark.parametrize(
    "command",
    [
        "git commit -qam x && git merge -q side -m merged",
        "git add -A && git commit -qm x && git rebase -q side",
        "git stash -q && git merge -q side -m merged && git stash pop -q",
        "git rebase -q --autostash side",
        "git commit -qam x && git cherry-pick side",
    ],
)
async def test_what_the_user_changed_may_be_committed_and_merged_in_one_line(
    repository: Shell, command: str
) -> None:
    agents = repository.root / "AGENTS.md"
    agents.write_text(f"mine\n{agents.read_text()}")
    output = await run(repository, command)
    assert "exit code 0" in output and "would take effect" not in output
    text = agents.read_text()
    assert text.startswith("mine\n") and "SIX" in text


async def test_a_file_that_a_hook_changes_is_moved_and_the_users_is_back(
    repository: Shell,
) -> None:
    hook = repository.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nsed -i 's/mine/evil/' AGENTS.md; git add AGENTS.md\n")
    hook.chmod(0o755)
    (repository.root / "AGENTS.md").write_text("mine\n")
    output = await run(repository, "git commit -qam x")
    assert "AGENTS.md would take effect" in output and "what it held before is back" in output
    assert (repository.root / "AGENTS.md").read_text() == "mine\n"


async def test_what_the_user_changed_in_a_worktree_inside_may_be_committed_there(
    repository: Shell,
) -> None:
    git(repository, "worktree", "add", "-q", "-b", "x", "trees/x", "side")
    (repository.root / "trees/x/AGENTS.md").write_text("mine\n")
    for command in ("git -C trees/x commit -qam x", "git checkout -q --detach x"):
        output = await run(repository, command)
        assert "exit code 0" in output and "would take effect" not in output


async def test_a_switch_beside_a_job_is_no_news(repository: Shell, told: list[str]) -> None:
    await run(repository, "touch begun; sleep 60", run_in_background=True)
    async with within(20, "the job to begin"):
        while not (repository.root / "begun").exists():
            await asyncio.sleep(0.01)
    for branch in ("side", "main"):
        assert "exit code 0" in await run(repository, f"git checkout -q {branch}")
        async with beside_confined(lambda place: False):
            pass
    assert told == []


async def test_what_the_user_saves_as_a_file_is_moved_aside_stays(
    repository: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = repository.root / "AGENTS.md"
    move = made.move_aside

    def moved(root: Path, place: Path, identity: Identity, into: Path) -> Path:
        kept = move(root, place, identity, into)
        agents.write_text("saved\n")
        return kept

    monkeypatch.setattr(made, "move_aside", moved)
    (repository.root / "x.patch").write_text(EVIL)
    output = await run(repository, "git apply --index x.patch")
    assert "AGENTS.md would take effect" in output and "is back" not in output
    assert agents.read_text() == "saved\n"


async def test_an_older_stash_of_the_users_comes_back(repository: Shell) -> None:
    for word in ("older", "newer"):
        await run(repository, f"echo {word} >> AGENTS.md; git stash -q", None)
    output = await run(repository, "git stash pop -q 'stash@{1}'")
    assert "exit code 0" in output and "would take effect" not in output
    assert (repository.root / "AGENTS.md").read_text().endswith("older\n")


async def test_what_the_user_does_beside_git_that_writes_no_files_stays(
    repository: Shell, server: Path
) -> None:
    await theirs_of(repository, server)
    hook = repository.root / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\ntouch begun; until [ -e go ]; do sleep 0.02; done; exit 1\n")
    hook.chmod(0o755)
    running = asyncio.create_task(run(repository, "git push -q origin HEAD:refs/heads/x"))
    async with within(20, "the hook to begin"):
        while not (repository.root / "begun").exists():
            await asyncio.sleep(0.01)
    agents = repository.root / "AGENTS.md"
    agents.write_text("staged\n")
    git(repository, "add", "AGENTS.md")
    agents.write_text("edited\n")
    (repository.root / "go").touch()
    await running
    assert agents.read_text() == "edited\n"
    assert git(repository, "show", ":AGENTS.md") == "staged\n"


async def test_a_file_that_is_put_back_has_its_mode(repository: Shell) -> None:
    agents = repository.root / "AGENTS.md"
    agents.chmod(0o600)
    (repository.root / "x.patch").write_text(EVIL)
    assert "is back" in await run(repository, "git apply --index x.patch")
    assert agents.stat().st_mode & 0o777 == 0o600


async def test_where_files_have_no_mode_what_git_brings_stays(repository: Shell) -> None:
    for name in ("core.fileMode", "core.symlinks"):
        git(repository, "config", name, "false")
    for branch in ("side", "main"):
        git(repository, "checkout", "-q", branch)
        (repository.root / "AGENTS.md").chmod(0o755)
    output = await run(repository, "git checkout -q side && git merge -q main -m merged")
    (repository.root / "AGENTS.md").chmod(0o755)
    assert "exit code 0" in output and "would take effect" not in output
    output = await run(repository, "git checkout -q main~3")
    assert "would take effect" not in output
