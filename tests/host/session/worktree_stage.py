"""A git repository to make worktrees of."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run = ["git", *who, *arguments]
    return subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, name: str = "one.txt") -> None:
    (folder / name).write_text(name)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", name)


def make_repository(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "site"
    (root / "docs").mkdir(parents=True)
    git(root, "init", "-qb", "main")
    (root / ".gitignore").write_text("*.log\n")
    commit(root, "docs/one.txt")
    return root
