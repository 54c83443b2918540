"""What git says of a folder, asked so that the repository itself decides nothing.

A repository may come out of an archive with a ``.git/config`` that names programs to run. So hooks
and the file system monitor are switched off, no lock is taken, and where the repository brings
filters of its own, which ``git status`` would run, only the branch is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_SAFE: Final = (
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
    "--no-optional-locks",
)
_OWN_SCOPES: Final = ("local", "worktree")
_MOST_BYTES: Final = 256 * 1024


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


async def git_state(folder: Path, *, status: bool, commits: int) -> GitState | None:
    """Return the state of the repository a folder is in; None where there is none, or no git.

    Args:
        folder: The folder.
        status: Whether to look for changed files.
        commits: How many of the latest commits to return.
    """
    branch = await _git(folder, "symbolic-ref", "--short", "-q", "HEAD")
    if branch is None:
        branch = await _git(folder, "rev-parse", "--short", "HEAD")
    if branch is None:
        return None
    latest = []
    if commits:
        log = await _git(folder, "log", f"-{commits}", "--no-color", "--format=%h %s")
        latest = (log or "").splitlines()
    if not status:
        return GitState(branch.strip(), commits=latest)
    if await _brings_filters(folder):
        note = "changed files are not listed: this repository runs filters of its own"
        return GitState(branch.strip(), commits=latest, note=note)
    found = await _git(
        folder, "status", "--porcelain=v1", "--branch", "-z", "--untracked-files=normal"
    )
    if found is None:
        return GitState(branch.strip(), commits=latest)
    upstream, files = _read_status(found)
    return GitState(branch.strip(), upstream, files, latest)


async def _brings_filters(folder: Path) -> bool:
    listed = await _git(
        folder, "config", "--show-scope", "--get-regexp", r"^filter\..*\.(clean|process)$"
    )
    return any(line.split("\t", 1)[0] in _OWN_SCOPES for line in (listed or "").splitlines())


def _read_status(text: str) -> tuple[str, list[str]]:
    upstream, files = "", []
    entries = iter(text.split("\0"))
    for entry in entries:
        if entry.startswith("## "):
            upstream = entry.partition(" [")[2].rstrip("]")
        elif entry:
            files.append(entry)
            if entry[0] in "RC":
                next(entries, None)  # the name it had
    return upstream, files


async def _git(folder: Path, *arguments: str) -> str | None:
    """Run git and return its output; None when it fails or is not there."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *_SAFE,
            *arguments,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        assert process.stdout is not None
        output = b""
        while len(output) < _MOST_BYTES and (piece := await process.stdout.read(_MOST_BYTES)):
            output += piece
        if len(output) < _MOST_BYTES and await process.wait() != 0:
            return None
        return output.decode("utf-8", "replace")
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
