from pathlib import Path

import pytest

from amplifier_tui.base.protected import (
    configures,
    configuring,
    holds_secrets,
    is_obeyed,
    secret_homes,
)

WORKSPACE = Path("/home/me/.claude/trees/project")


@pytest.mark.parametrize(
    ("written", "whom"),
    [
        (".git/hooks/pre-commit", "git"),
        ("sub/.git/config", "git"),
        (".GIT/config", "git"),
        (".g\u200cit/config", "git"),
        (".git./config", "git"),
        (".git::$INDEX_ALLOCATION/config", "git"),
        ("GIT~1/config", "git"),
        (".amplifier/rules.yaml", "this program"),
        (".mcp.json", "this program"),
        (".claude/settings.json", "other agents"),
        ("AGENTS.md", "other agents"),
        (".vscode/tasks.json", "the editor"),
        ("prek.toml", "git"),
        (".pre-commit-config.yml", "git"),
        ("mise/config.toml", "the environment of programs"),
        ("mise/conf.d/a.toml", "the environment of programs"),
        (".config/mise/conf.d/a.toml", "the environment of programs"),
        (".env.production", "the environment of programs"),
        (".envrc", "the environment of programs"),
        ("dotfiles/.bashrc", "shells and what starts with them"),
        ("lib/x.pth", "interpreters and debuggers"),
        ("sitecustomize.py", "interpreters and debuggers"),
        (".npmrc", "package managers"),
        ("project.code-workspace", "the editor"),
        (".nvim.lua", "the editor"),
        (".helix/languages.toml", "the editor"),
        (".devcontainer.json", "the editor"),
        (".lefthook.toml", "git"),
        ("lefthook.json", "git"),
        (".jj/repo/config.toml", "git"),
        ("mise.local.toml", "the environment of programs"),
        (".github/copilot-instructions.md", "other agents"),
        (".kiro/steering/x.md", "other agents"),
        (".Renviron", "interpreters and debuggers"),
        (".bundle/config", "package managers"),
        (".gradle/init.d/x.gradle", "package managers"),
        ("dotfiles/.config/systemd/user/x.service", "shells and what starts with them"),
        ("mac/Library/LaunchAgents/x.plist", "shells and what starts with them"),
        ("CLAUDE.local.md", "other agents"),
        ("docs/AGENTS.override.md", "other agents"),
        ("opencode.jsonc", "other agents"),
        (".crush.json", "other agents"),
        (".agent/rules/x.md", "other agents"),
        (".kilocode/rules/x.md", "other agents"),
        (".kilocodemodes", "other agents"),
        (".roomodes", "other agents"),
        (".cline/x", "other agents"),
        (".github/hooks/a.json", "other agents"),
        (".GitHub/Instructions/x.instructions.md", "other agents"),
        (".lfsconfig", "git"),
        (".flaskenv", "the environment of programs"),
        (".envrc.local", "the environment of programs"),
        (".vim/after/x.vim", "the editor"),
        (".nvim/init.lua", "the editor"),
        (".ghci", "interpreters and debuggers"),
        (".iex.exs", "interpreters and debuggers"),
        (".ocamlinit", "interpreters and debuggers"),
        (".octaverc", "interpreters and debuggers"),
        (".perldb", "interpreters and debuggers"),
        (".erlang", "interpreters and debuggers"),
        (".rdbgrc", "interpreters and debuggers"),
    ],
)
def test_a_file_that_configures_says_whom(written: str, whom: str) -> None:
    assert configures(WORKSPACE / written, WORKSPACE) == whom


@pytest.mark.parametrize(
    "written",
    [
        "src/a.py",
        "pyproject.toml",
        "package.json",
        "Makefile",
        "tests/conftest.py",
        "shadow/x.css",
        "rules/a",
        "run/a",
        ".gradle/8.5/checksums/checksums.lock",
        "deploy/systemd/a.service",
        "cmd/autostart/main.go",
        "crontab",
        "docker/cron.d/a",
        ".env.example",
        "sub/.env.local.sample",
        "agents.py",
        "claude-notes.md",
        ".root",
        ".github/workflows/ci.yml",
        "hooks/useThing.ts",
        "instructions/x.md",
    ],
)
def test_what_people_edit_all_day_configures_nothing_in_particular(written: str) -> None:
    assert configures(WORKSPACE / written, WORKSPACE) == ""


def test_names_above_the_workspace_do_not_count_and_those_elsewhere_do() -> None:
    assert configures(WORKSPACE / "a.py", WORKSPACE) == ""
    assert configures(Path("/home/u/.bashrc"), WORKSPACE)
    assert configures(Path("/home/me/.claude/settings.json"), WORKSPACE) == "other agents"


def test_state_files_keep_away_from_builds_as_well() -> None:
    assert is_obeyed("Makefile") and is_obeyed("conftest.py") and is_obeyed(".git")
    assert not is_obeyed("events.jsonl")
    assert configuring(".GIT.") and not configuring("Makefile")


def test_some_names_configure_only_in_a_certain_folder() -> None:
    assert configuring("hooks", ".github") and configuring("HOOKS", ".GitHub")
    assert not configuring("hooks") and not configuring("hooks", "src")


def test_secrets_are_known_by_their_folders_and_names() -> None:
    home = Path("/home/u")
    assert {home / ".ssh", home / ".gnupg", home / ".aws"} <= set(secret_homes(home))
    assert home / "Library/Application Support/Firefox" in secret_homes(home)
    others = (
        ".config/git/credentials",
        ".cache/git/credential",
        ".claude/.credentials.json",
        ".codex/auth.json",
    )
    assert {home / each for each in others} <= set(secret_homes(home))
    assert home / ".m2/settings.xml" not in secret_homes(home), "builds need it"
    assert holds_secrets(home / ".ssh" / "config")
    assert holds_secrets(home / "project" / ".env.local")
    assert not holds_secrets(home / "project" / "shadow" / "x.css")
