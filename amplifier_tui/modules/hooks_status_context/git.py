"""What git says of a folder: branch, changed files, latest commits.

Where a repository brings filters of its own, which ``git status`` would run, only the branch is
told, and submodules are not looked into, because their own filters would run too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from amplifier_tui.base.git import brings_filters, git_output


@dataclass(frozen=True)
class GitState:
    """The state of a repository.

    Attributes:
        branch: Checked out; the commit's first digits where none is.
        upstream: How far it is from its upstream: ``ahead 1, behind 2``; empty for not at all.
        files: Changed files as git's two letters and the path.
        commits: Latest commits, one line each.
        note: Why there is no more to say.
    """

    branch: str
    upstream: str = ""
    files: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    note: str = ""


async def git_state(folder: Path, *, status: bool, commits: int, timeout: float) -> GitState | None:
    """Return the state of the repository a folder is in; None where there is none, or no git.

    Args:
        folder: The folder.
        status: Whether to look for changed files.
        commits: How many of the latest commits to return.
        timeout: Seconds each question to git may take.
    """
    ask = partial(git_output, folder, timeout=timeout)
    branch = await ask("symbolic-ref", "--short", "-q", "HEAD")
    if branch is None:
        branch = await ask("rev-parse", "--short", "HEAD")
    if branch is None:
        return None
    latest = []
    if commits:
        log = await ask("log", f"-{commits}", "--no-color", "--format=%h %s")
        latest = (log or "").splitlines()
    if not status:
        return GitState(branch.strip(), commits=latest)
    if await brings_filters(folder, timeout=timeout):
        note = "changed files are not listed: this repository runs filters of its own"
        return GitState(branch.strip(), commits=latest, note=note)
    options = ("--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
    found = await ask("status", "--porcelain=v1", *options)
    if found is None:
        return GitState(branch.strip(), commits=latest)
    upstream, files = _read_status(found)
    return GitState(branch.strip(), upstream, files, latest)


def _read_status(text: str) -> tuple[str, list[str]]:
    upstream, files = "", []
    entries = iter(text.split("\0")[:-1])  # what follows the last NUL was cut off
    for entry in entries:
        if entry.startswith("## "):
            upstream = entry.partition(" [")[2].rstrip("]")
        elif entry:
            files.append(entry)
            if entry[0] in "RC":
                next(entries, None)  # the name it had
    return upstream, files
