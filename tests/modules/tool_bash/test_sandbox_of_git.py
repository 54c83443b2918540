"""What commands in the sandbox can do to a repository: commit, and nothing that is obeyed later."""

import asyncio
import os
from pathlib import Path

import pytest

from amplifier_tui.base.commands.git_lines.alone import is_of_git_alone
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, Grant, SandboxTerms
from amplifier_tui.modules.tool_bash import confining, mounted
from tests.modules.tool_bash.confined import BY_RULE, READING, named_git, run, shell
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["named_git", "shell"]

pytestmark = [needs_sandbox, pytest.mark.usefixtures("named_git")]

MODULE = ".git/modules/a/b/config"
MODULE_HOOK = ".git/modules/a/b/hooks/x"
OF_MODULE = ".git/modules/a/b/worktrees/w"
DEEPER = "worktrees/w/modules/s"
COMMITTED = (
    "git init -q -b main . && git config user.email a@b && git config user.name a && "
    "git commit -q --allow-empty -m first"
)
LINKS = "for i in $(seq 250); do ln -s x .git/l$i; done"


async def test_what_is_no_git_leaves_the_repository_as_it_is(shell: Shell) -> None:
    await run(
        shell,
        "git init -q . && git -c user.email=a -c user.name=a commit -qm x --allow-empty",
        None,
    )
    await run(shell, "find .git -type f -delete; rm -rf .git; echo x > .git/HEAD")
    assert "On branch" in await run(shell, "git status", READING)
    assert "exit code 0" in await run(shell, "git tag made && git tag")


async def test_hooks_and_configuration_of_git_are_read_only_and_commits_work(shell: Shell) -> None:
    setup = (
        "git init -q . && git config user.email a@b && git config user.name a && git commit -q "
        "--allow-empty -m first"
    )
    assert "exit code 0" in await run(shell, setup, None)
    output = await run(
        shell,
        "echo 1 > file; git add file && git commit -qm second; git log --format=%s; "
        "git config core.fsmonitor evil; echo evil > .git/hooks/pre-commit",
    )
    assert "second\nfirst" in output
    assert "evil" not in (shell.root / ".git/config").read_text()
    assert not (shell.root / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize("name", ["logs/HEAD", "COMMIT_EDITMSG", "logs", "refs/heads/other"])
async def test_nothing_that_git_writes_later_leads_out_of_the_repository(
    shell: Shell, tmp_path: Path, name: str
) -> None:
    start = tmp_path / "start"
    start.write_text("mine\n")
    setup = "git init -q . && git config user.email a@b && git config user.name a"
    first = "git commit -q --allow-empty -m first && ln -s config .git/theirs"
    assert "exit code 0" in await run(shell, f"{setup} && {first}", None)
    link = f"rm -rf .git/{name}; ln -s {start} .git/{name}; git status -s"
    output = await run(shell, link)
    assert not (shell.root / ".git" / name).is_symlink()
    assert f".git/{name} would take effect on other programs" in output
    await run(shell, "git commit -q --allow-empty -m 'touch x'", None)
    assert start.read_text() == "mine\n"
    assert (shell.root / ".git" / "theirs").is_symlink(), "what was there before stays"


async def test_git_in_a_worktree_writes_in_its_repository_in_a_line_of_its_own(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "is_of_git_alone", is_of_git_alone)
    main = shell.root.parent / "main"
    setup = (
        f"git init -q {main} && cd {main} && git config user.email a@b && "
        "git config user.name a && git commit -q --allow-empty -m first && "
        f"git worktree add -q -b side {shell.root}"
    )
    assert "exit code 0" in await run(shell, setup, None)
    assert "first" in await run(shell, "git log --format=%s", READING)
    commit = "git commit -q --allow-empty -m"
    output = await run(shell, f"true $x; sh -c '{commit} second'; git status; ls {main}")
    assert "On branch side" in output and "Read-only file system" in output
    output = await run(shell, f"git add -A && {commit} second && git log --format=%s; git status")
    assert "second\nfirst" in output and "nothing to commit" in output
    # What git obeys there stays as it is, and so do the files of the other checkout.
    before = (main / ".git/config").read_text()
    (main / ".git/hooks/pre-commit").write_text("#!/bin/sh\necho evil >> ../main/.git/config\n")
    (main / ".git/hooks/pre-commit").chmod(0o755)
    assert "Read-only file system" in await run(shell, f"{commit} fourth; git status")
    assert (main / ".git/config").read_text() == before
    # Hidden stays hidden.
    terms = SandboxTerms(hidden=(main / ".git/objects", shell.root.parent / "state"))
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, terms)
    assert "first" not in await run(shell, "git log --format=%s; git show")
    assert "first" not in await run(shell, f"git log --format=%s; {commit} fifth")


async def test_git_in_a_part_of_a_checkout_writes_in_its_repository_and_nothing_else_there(
    shell: Shell,
) -> None:
    top = shell.root.parent
    setup = (
        f"touch file; cd {top} && git init -q . && git config user.email a@b && "
        "git config user.name a && echo mine > other && git add other && git commit -qm first"
    )
    assert "exit code 0" in await run(shell, setup, None)
    before = (top / ".git/config").read_text()
    evil = "for f in .git/config .git/hooks/pre-commit other; do echo evil >> ../$f; done"
    output = await run(shell, f"git add . && git commit -qm second; git log --format=%s; {evil}")
    assert "second\nfirst" in output and output.count("Read-only file system") >= 2
    assert (top / ".git/config").read_text() == before
    assert not (top / ".git/hooks/pre-commit").exists()
    assert (top / "other").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("mv .git old; mkdir .git; echo evil > .git/config", ".git/config"),
        ("rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/x", ".git/hooks/x"),
        ("echo evil > .git/config.worktree", ".git/config.worktree"),
        ("echo ../x > .git/commondir", ".git/commondir"),
        ("echo evil > .git/modules/a/b/config", ".git/modules/a/b/config"),
        ("mkdir .git/modules/a/b/hooks; echo evil > .git/modules/a/b/hooks/x", MODULE_HOOK),
        ("mv .git/modules m; cp -r m .git/modules; echo evil > .git/modules/a/b/config", MODULE),
        ("mv sub old; mkdir -p sub/.git; echo evil > sub/.git/config", "sub/.git/config"),
        ("mv sub old; mkdir sub; echo evil > sub/.envrc", "sub/.envrc"),
        ("rm CLAUDE.md; echo evil > CLAUDE.md", "CLAUDE.md"),
        # Repositories of the submodules of worktrees, and of the worktrees of submodules.
        (f"echo evil > .git/{DEEPER}/config", f".git/{DEEPER}/config"),
        (f"mkdir -p .git/{DEEPER}/hooks; echo evil > $_/x", f".git/{DEEPER}/hooks/x"),
        ("echo ../x > .git/modules/a/b/worktrees/w/commondir", f"{OF_MODULE}/commondir"),
        ("mkdir .git/modules/a/b/worktrees/w/hooks; echo evil > $_/x", f"{OF_MODULE}/hooks/x"),
        # Links in the place of what was there, or of what git would make.
        ("cd .git/modules; mv a m; mkdir -p e/b; echo evil > e/b/config; ln -s e a", MODULE),
        (
            "mkdir e; echo evil > e/config; ln -s ../../e .git/modules/new",
            ".git/modules/new/config",
        ),
        ("mv sub x; mkdir -p venv/.git; echo evil > $_/config; ln -s venv sub", "sub/.git/config"),
        ("mv sub x; mkdir venv; echo evil > venv/.envrc; ln -s venv sub", "sub/.envrc"),
    ],
)
async def test_nothing_is_put_in_the_place_of_what_configures_programs(
    shell: Shell, command: str, made: str
) -> None:
    setup = (
        "git init -q --template= . && git init -q --template= sub && touch sub/.envrc x.md && "
        "ln -s x.md CLAUDE.md && mkdir -p .git/modules/a && git init -q --bare .git/modules/a/b &&"
        f"mkdir -p .git/worktrees/w/modules {OF_MODULE} && git init -q --bare --template= "
        f".git/{DEEPER} && touch {OF_MODULE}/HEAD && echo ../.. > {OF_MODULE}/commondir"
    )
    assert "exit code 0" in await run(shell, setup, None)
    # With git's name in it, it may write in the folders of repositories.
    await run(shell, f"git --version; {command}")
    place = shell.root / made
    assert not place.exists() or (
        "evil" not in place.read_text() and "../x" not in place.read_text()
    )


@pytest.mark.parametrize("leads", ["/etc/hostname", "/dev/null", "{workspace}/mine.md", "gone"])
async def test_a_link_of_that_name_keeps_no_command_from_running(shell: Shell, leads: str) -> None:
    (shell.root / "mine.md").write_text("mine")
    link = shell.root / "CLAUDE.md"
    link.symlink_to(leads.format(workspace=shell.root))
    assert "fine" in await run(shell, "echo fine; echo evil > mine.md; ln -sf mine.md CLAUDE.md")
    assert not link.exists() or os.readlink(link) == leads.format(workspace=shell.root)
    if "mine" in leads:
        assert (shell.root / "mine.md").read_text() == "mine"


async def test_no_link_to_a_folder_that_is_not_looked_into_is_made(shell: Shell) -> None:
    modules = "mkdir -p node_modules/a/.vscode real && ln -s real app && ln -s node_modules/a old"
    await run(shell, modules, None)
    await run(shell, "ln -sfn node_modules/a app; ln -s $PWD/node_modules/a new")
    assert not (shell.root / "app").exists() and not (shell.root / "new").exists()
    assert (shell.root / "old").exists(), "what was there before stays"


async def test_only_environments_of_python_are_passed_over_under_their_names(shell: Shell) -> None:
    await run(shell, "mkdir -p env/prod venv; touch venv/pyvenv.cfg", None)
    await run(shell, "touch env/prod/.envrc venv/.envrc; touch env/pyvenv.cfg")
    assert not (shell.root / "env/prod/.envrc").exists()
    assert (shell.root / "venv/.envrc").exists()


@pytest.mark.parametrize("folder", ["env311", ".tox/py311", "."])
async def test_an_environment_of_python_stays_one_whatever_its_name(
    shell: Shell, folder: str
) -> None:
    prefix = f"{folder}/bin/python -c 'import sys; print(sys.prefix)'"
    output = await run(shell, f"python3 -m venv --without-pip {folder} && {prefix}")
    assert "would take effect" not in output
    place = (shell.root / folder).resolve()
    assert f"{place}\n" in await run(shell, f"{prefix}; python3 -m venv --upgrade {folder}")
    assert "exit code 0" in await run(shell, f"rm {place}/pyvenv.cfg; touch {place}/.envrc")
    assert not (place / ".envrc").exists(), "what others obey is looked for in it"


async def test_no_folder_is_passed_over_for_what_a_command_made_in_it(shell: Shell) -> None:
    await run(shell, "mkdir -p env/bin src", None)
    await run(shell, "touch env/pyvenv.cfg src/pyvenv.cfg")
    await run(shell, "touch env/.envrc src/.envrc")
    assert list(shell.root.glob("*/*")) == [shell.root / "env/bin"]


async def test_git_keeps_to_looking_under_a_grant_to_read(shell: Shell) -> None:
    assert "0\n" in await run(shell, "printenv GIT_OPTIONAL_LOCKS", READING)
    assert "0\n" not in await run(shell, "printenv GIT_OPTIONAL_LOCKS", Grant("person"))


@pytest.fixture
async def start(shell: Shell, tmp_path: Path) -> Path:
    """A start-up file beside a workspace that is a repository."""
    place = tmp_path / "start"
    place.write_text("mine\n")
    assert "exit code 0" in await run(shell, COMMITTED, None)
    return place


@pytest.mark.parametrize("branch", ["info", "config", "hooks", "modules/x", "objects/x", "lfs/x"])
async def test_no_log_of_a_branch_leads_out_of_the_repository_whatever_its_name(
    shell: Shell, start: Path, branch: str
) -> None:
    log = f".git/logs/refs/heads/{branch}"
    output = await run(shell, f"git checkout -q -b {branch}; rm -f {log}; ln -s {start} {log}")
    assert not (shell.root / log).is_symlink(), output
    await run(shell, "git commit -q --allow-empty -m 'touch x'", None)
    assert start.read_text() == "mine\n"


@pytest.mark.parametrize("hiding", ["mkdir .git/z; seq 21000 | (cd .git/z; xargs touch)", LINKS])
async def test_however_much_a_command_makes_nothing_it_made_is_overlooked(
    shell: Shell, start: Path, hiding: str
) -> None:
    evil = f"rm .git/logs/HEAD; ln -s {start} .git/logs/HEAD; mkdir .vscode; touch .envrc"
    output = await run(shell, f"{hiding}; {evil}; git status -s")
    left = [
        name for name in (".git/logs/HEAD", ".vscode", ".envrc") if (shell.root / name).exists()
    ]
    assert left == []
    assert output.count("would take effect") <= 20


@pytest.mark.parametrize("taken", ["chmod 555 .git/logs", "chmod 311 .git/logs", "chmod 311 ."])
async def test_what_a_command_takes_the_rights_to_is_moved_aside_as_well(
    shell: Shell, start: Path, taken: str
) -> None:
    await run(shell, f"rm .git/logs/HEAD; ln -s {start} .git/logs/HEAD; {taken}; : git status")
    await run(shell, "git commit -q --allow-empty -m 'touch x'", None)
    assert start.read_text() == "mine\n"


async def test_references_that_git_keeps_as_links_stay(shell: Shell, start: Path) -> None:
    await run(shell, "git config core.preferSymlinkRefs true", None)
    await run(shell, "git checkout -q -b topic")
    assert os.readlink(shell.root / ".git/HEAD") == "refs/heads/topic"
    assert "On branch topic" in await run(shell, "git status")
    await run(shell, f"ln -sfn ../../{start.name} .git/HEAD; git status")
    assert not (shell.root / ".git/HEAD").is_symlink()


async def test_a_folder_that_a_command_makes_a_repository_is_none_afterwards(shell: Shell) -> None:
    docs = shell.root / "docs"
    docs.mkdir()
    (docs / "mine.md").write_text("mine\n")
    output = await run(shell, "cd docs && git init -q --bare . && git config core.bare false")
    assert output.count("would take effect") == 1
    assert not (docs / "HEAD").exists() and (docs / "mine.md").exists()
    assert "exit code 128" in await run(shell, "git -C docs rev-parse --git-dir", None)


async def test_a_repository_of_another_name_is_guarded_and_git_writes_in_it(shell: Shell) -> None:
    store = shell.root / "store"
    setup = f"git init -q --separate-git-dir store . && {COMMITTED.partition('&& ')[2]}"
    assert "exit code 0" in await run(shell, setup, None)
    output = await run(
        shell,
        "git checkout -q -b other; git commit -q --allow-empty -m second; git log --format=%s; "
        "mkdir -p store/hooks; echo evil > store/hooks/x; echo evil >> store/config; "
        "echo evil > store/config.worktree",
    )
    assert "second\nfirst" in output and "store/HEAD" not in output
    assert "evil" not in (store / "config").read_text()
    assert not (store / "hooks/x").exists() and not (store / "config.worktree").exists()


@pytest.mark.parametrize("there", [True, False])
async def test_the_folder_that_is_named_for_hooks_is_guarded_too(shell: Shell, there: bool) -> None:
    hooks = shell.root / "tools/hooks"
    setup = f"{COMMITTED} && git config core.hooksPath tools/hooks && mkdir tools"
    assert "exit code 0" in await run(shell, f"{setup} {hooks if there else ''}", None)
    await run(shell, "mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit; touch tools/x")
    assert not (hooks / "pre-commit").exists() and (shell.root / "tools/x").exists()


async def test_what_is_not_mounted_read_only_is_looked_into(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounted, "_MOST_READ_ONLY", 0)
    setup = f"{COMMITTED} && mkdir .vscode && echo mine > .vscode/settings.json"
    assert "exit code 0" in await run(shell, setup, None)
    await run(
        shell,
        "git --version; echo evil > .vscode/tasks.json; echo evil >> .vscode/settings.json; "
        "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
    )
    assert [each.name for each in (shell.root / ".vscode").iterdir()] == ["settings.json"]
    assert (shell.root / ".vscode/settings.json").read_text() == "mine\n"
    assert not (shell.root / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("git branch -d other", 0),
        ("git checkout -q -b x -t main", 0),
        ("git branch -m other y", 128),
    ],
)
async def test_what_git_could_not_set_is_said_whatever_its_exit_code(
    shell: Shell, command: str, code: int
) -> None:
    assert "exit code 0" in await run(shell, f"{COMMITTED} && git branch other", None)
    output = await run(shell, command)
    assert f"exit code {code}" in output
    assert "git could not write its configuration, which is read-only in the sandbox" in output
    assert "ask with `outside_sandbox`" in output


async def test_what_git_could_not_set_in_the_background_is_said(shell: Shell) -> None:
    assert "exit code 0" in await run(shell, f"{COMMITTED} && git branch other", None)
    await run(shell, "git branch -d other", run_in_background=True)
    async with within(30, "the end of the job"):
        while (taken := shell.tool.jobs.take("job-1")) is None or not taken[0].ended:
            await asyncio.sleep(0.01)
    job, _ = taken
    assert any("could not write its configuration" in note for note in job.notes)


async def test_git_tidies_up_without_an_error_in_the_sandbox(shell: Shell) -> None:
    assert "exit code 0" in await run(shell, COMMITTED, None)
    output = await run(shell, "git gc --quiet")
    assert "exit code 0" in output and "error" not in output and "warning" not in output
    output = await run(
        shell, "git -c gc.auto=1 -c gc.autoDetach=false commit -q --allow-empty -m x"
    )
    assert "exit code 0" in output and "error" not in output and "warning" not in output


@pytest.mark.parametrize("grant", [BY_RULE, None])
async def test_what_the_user_sets_by_environment_counts_for_git(
    shell: Shell, grant: Grant | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Mine")
    assert "Mine\n" in await run(shell, "git --version; git config user.name", grant)


async def test_a_head_beside_other_files_does_not_hide_what_they_configure(shell: Shell) -> None:
    (shell.root / "pkg").mkdir()
    (shell.root / "make.sh").write_text(
        "for at in . pkg; do mkdir -p $at/objects $at/refs $at/.claude $at/.vscode; "
        "echo 'ref: refs/heads/main' > $at/HEAD; "
        "touch $at/.envrc $at/.vscode/tasks.json $at/.claude/settings.json; done\n"
    )
    output = await run(shell, "sh make.sh")
    assert "exit code 0" in output
    assert not [
        each
        for at in (".", "pkg")
        for each in ("HEAD", ".envrc", ".vscode/tasks.json", ".claude")
        if (shell.root / at / each).exists()
    ]


@pytest.mark.parametrize("command", ["", "git commit -q --allow-empty -m x; "])
async def test_where_links_among_hooks_lead_is_read_only(shell: Shell, command: str) -> None:
    (shell.root / "ops").mkdir()
    (shell.root / "ops/post-commit").write_text("mine\n")
    (shell.root / "hook.sh").write_text("mine\n")
    await run(shell, f"{COMMITTED}; rm -rf .git/hooks; ln -s ../ops .git/hooks", None)
    await run(shell, "git init -q sub; ln -s ../../../hook.sh sub/.git/hooks/pre-push", None)
    await run(shell, f"{command}echo evil >> ops/post-commit; echo evil >> hook.sh")
    await run(shell, "echo evil > ops/pre-push; rm hook.sh; echo evil > hook.sh")
    assert [each.name for each in (shell.root / "ops").iterdir()] == ["post-commit"]
    assert (shell.root / "ops/post-commit").read_text() == "mine\n"
    assert (shell.root / "hook.sh").read_text() == "mine\n"


async def test_programs_that_settings_have_git_run_are_read_only(shell: Shell) -> None:
    for name in ("fsm.sh", "clean.sh", "other.sh"):
        (shell.root / name).write_text("true\n")
    set_them = "git config core.fsmonitor ./fsm.sh; git config filter.x.clean 'sh clean.sh %f'"
    await run(shell, f"{COMMITTED}; {set_them}", None)
    await run(shell, "echo evil >> fsm.sh; echo evil >> clean.sh; echo more >> other.sh")
    assert (shell.root / "fsm.sh").read_text() == (shell.root / "clean.sh").read_text() == "true\n"
    assert (shell.root / "other.sh").read_text() == "true\nmore\n"


async def test_where_links_in_guarded_folders_lead_is_read_only(shell: Shell) -> None:
    for name in ("dev/tasks.json", "dev/cmds/a.md", "dev/pre.sh", "dev/fsm.sh"):
        (shell.root / name).parent.mkdir(parents=True, exist_ok=True)
        (shell.root / name).write_text("mine\n")
    links = (
        "mkdir .vscode .claude hk; ln -s ../dev/tasks.json .vscode; "
        "ln -s ../dev/cmds .claude/commands; ln -s ../dev/pre.sh hk/pre-commit; "
        "git config core.hooksPath hk; ln -s . ../link"
        "; git config core.fsmonitor $PWD/../link/$(basename $PWD)/dev/fsm.sh"
    )
    await run(shell, f"{COMMITTED}; {links}", None)
    writes = (
        "for at in dev/tasks.json dev/cmds/a.md dev/pre.sh dev/fsm.sh; do echo evil >> $at; done"
    )
    await run(shell, f"{writes}; echo evil > .vscode/tasks.json; echo evil > dev/cmds/b.md")
    for each in (shell.root / "dev").rglob("*"):
        assert each.is_dir() or each.read_text() == "mine\n", each
    assert not (shell.root / "dev/cmds/b.md").exists()
