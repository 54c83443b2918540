"""The branch a folder is on, read from git's own files: no process, no waiting."""

from pathlib import Path

_LIMIT = 4_096


def git_branch(folder: Path) -> str:
    """Return the branch checked out at or above a folder.

    Returns:
        The branch, the first digits of the commit when none is checked out, or nothing where
        there is no repository.
    """
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if git.exists():
            return _branch(git)
    return ""


def _branch(git: Path) -> str:
    try:
        if git.is_file():
            # A worktree or a submodule: the file says where the repository is.
            target = _read(git).removeprefix("gitdir:").strip()
            git = (git.parent / target).resolve()
        head = _read(git / "HEAD").strip()
    except (OSError, ValueError):
        return ""
    if head.startswith("ref:"):
        return head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return head[:9]


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LIMIT).decode("utf-8", "replace")
