"""The git commands we run, and what their failures mean."""

import asyncio
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

from amplifier_tui.base.git import git_output
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.foundation.exceptions import BundleNotFoundError, GitCloneTimeoutError
from amplifier_tui.foundation.paths import is_full_commit, redact_uri
from amplifier_tui.foundation.sources.process import ProcessResult, run_process

_log = logging.getLogger(__name__)

CLONE_TIMEOUT_VARIABLE = "AMPLIFIER_GIT_CLONE_TIMEOUT_S"
_CLONE_TIMEOUT = 300.0
_QUERY_TIMEOUT = 30.0
_SHALLOW = ("--progress", "--depth", "1")
_CHECKOUT = ("checkout", "--quiet", "--detach")

_OTHER_REPOSITORY = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
)
"""Variables that would point our git at the repository it was started from (a git hook's)."""

_NO_HOST = lazy_pattern(
    r"could not resolve host|name or service not known|temporary failure in name resolution|"
    r"nodename nor servname|no address associated",
    re.IGNORECASE,
)
_TRANSIENT = lazy_pattern(
    r"timed? ?out|connection reset|early eof|rpc failed|remote end hung up|unexpected disconnect|"
    r"HTTP (429|5\d\d)|error: (429|5\d\d)|tls|gnutls|connection was|broken pipe",
    re.IGNORECASE,
)
_SHORT_COMMIT = lazy_pattern(r"^[0-9a-fA-F]{7,39}$")
_NO_REPOSITORY = lazy_pattern(
    r"does not appear to be a git repository|[Rr]epository .*(?:not found|does not exist)"
    r"|Permission denied"
)
_PERCENT = lazy_pattern(r"^(?:remote: )?(?:Receiving objects|Resolving deltas):\s+(\d+)%")

Report = Callable[[str], None]


class GitFailure(BundleNotFoundError):
    """Git gave up.

    `no_host`: the host's name does not resolve. `transient`: it may work in a moment.
    """

    def __init__(self, message: str, *, stderr: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.no_host = bool(_NO_HOST.search(stderr))
        self.transient = not self.no_host and bool(_TRANSIENT.search(stderr))


async def clone(url: str, ref: str, target: Path, report: Report) -> None:
    """Clone a branch, tag or full commit into a folder that does not exist; a failure leaves none.

    Raises:
        GitCloneTimeoutError: It took longer than `AMPLIFIER_GIT_CLONE_TIMEOUT_S`.
        GitFailure: There is no such repository or ref, or it cannot be reached.
        BundleNotFoundError: Git is not installed.
    """
    try:
        if is_full_commit(ref):
            await _clone_commit(url, ref, target, report)
        else:
            branch = f"--branch={ref}"
            await _git(url, ref, "clone", *_SHALLOW, branch, "--", url, str(target), report=report)
    except BaseException:
        await remove_tree(target)
        raise


async def head_commit(folder: Path) -> str:
    """Return the commit a clone is at; empty when git cannot tell."""
    return (await git_output(folder, "rev-parse", "HEAD") or "").strip()


async def remote_commit(url: str, ref: str) -> str:
    """Return the commit a branch or tag is at in the repository; empty when it has no such ref."""
    result = await _git(url, ref, "ls-remote", "--", url, ref, f"{ref}^{{}}")
    lines = (line.partition("\t") for line in result.stdout.splitlines())
    found = {name: commit for commit, _, name in lines}
    for name in (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", ref):
        if name in found:
            return found[name]
    return ""


def clone_timeout() -> float:
    """Return how many seconds a clone may take; read anew each time."""
    text = os.environ.get(CLONE_TIMEOUT_VARIABLE)
    if not text:
        return _CLONE_TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if 0 < seconds < float("inf"):
        return seconds
    _log.warning(
        "%s=%r is no positive number; using %s", CLONE_TIMEOUT_VARIABLE, text, _CLONE_TIMEOUT
    )
    return _CLONE_TIMEOUT


async def remove_tree(folder: Path) -> None:
    """Remove a folder off the loop, even while being cancelled; a missing one is fine."""
    import shutil

    await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


async def _clone_commit(url: str, commit: str, target: Path, report: Report) -> None:
    try:
        await _git(url, commit, "init", "--quiet", "--", str(target))
        await _git(url, commit, "remote", "add", "origin", url, cwd=target)
        fetch = ("fetch", *_SHALLOW, "origin", commit)
        await _git(url, commit, *fetch, cwd=target, report=report)
        await _git(url, commit, *_CHECKOUT, "FETCH_HEAD", cwd=target)
    except GitFailure as failure:
        if failure.no_host or failure.transient:
            raise
        # Some servers only serve what a ref points at: take everything, then look for the commit.
        await remove_tree(target)
        whole = ("clone", "--progress", "--no-checkout", "--", url, str(target))
        await _git(url, commit, *whole, report=report)
        await _git(url, commit, *_CHECKOUT, commit, cwd=target)


async def _git(
    url: str, ref: str, *args: str, cwd: Path | None = None, report: Report | None = None
) -> ProcessResult:
    label = f"{redact_uri(url)}@{ref}"

    def on_line(line: str) -> None:
        match = _PERCENT.match(line)
        if match and report is not None:
            report(f"{match[1]}%")

    timeout = clone_timeout() if report is not None else _QUERY_TIMEOUT
    try:
        result = await _run(args, cwd=cwd, timeout=timeout, on_line=on_line)
    except FileNotFoundError as error:
        raise BundleNotFoundError(
            f"Failed to clone {label}: git is not installed", remedy="Install git."
        ) from error
    except TimeoutError as error:
        raise GitCloneTimeoutError(
            f"Failed to clone {label}: no result after {timeout:g} s",
            remedy=f"Set {CLONE_TIMEOUT_VARIABLE} to more seconds for a slow connection.",
        ) from error
    if result.returncode != 0:
        stderr = redact_uri(result.stderr.strip())
        raise GitFailure(
            f"Failed to clone {label}: {_reason(stderr)}",
            stderr=stderr,
            remedy=_remedy(ref, stderr),
        )
    return result


async def _run(
    args: tuple[str, ...],
    *,
    timeout: float,
    cwd: Path | None = None,
    on_line: Callable[[str], None] | None = None,
) -> ProcessResult:
    # Hooks and file monitors of a fetched repository are programs that must not run unasked.
    options = (
        *("-c", "core.longpaths=true"),
        *("-c", f"core.hooksPath={os.devnull}"),
        *("-c", "core.fsmonitor=false"),
    )
    env = {
        **{key: value for key, value in os.environ.items() if key not in _OTHER_REPOSITORY},
        "GIT_TERMINAL_PROMPT": "0",
        "GCM_INTERACTIVE": "never",
        "GIT_ALLOW_PROTOCOL": "https:http:ssh:file",
        "LC_ALL": "C",
    }
    env.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ControlMaster=no")
    # Not in the project: its own configuration may name another server, and programs to run.
    folder = cwd or Path(user_home().anchor)
    return await run_process(
        ["git", *options, *args], timeout=timeout, cwd=folder, env=env, on_line=on_line
    )


def _reason(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:", "ERROR"))]
    # It closes what the line before it has told.
    lines = [line for line in lines if "Could not read from remote" not in line] or lines
    return (lines[-1] if lines else stderr.splitlines()[-1] if stderr else "git failed")[:500]


def _remedy(ref: str, stderr: str) -> str:
    if _NO_HOST.search(stderr):
        return "Check the network connection and the host's name."
    if _SHORT_COMMIT.match(ref):
        return f"{ref!r} looks like a shortened commit: give all 40 digits."
    if "Remote branch" in stderr:
        return f"The repository has no branch or tag {ref!r}: name one with @<branch>."
    if "Authentication failed" in stderr or "could not read Username" in stderr:
        return "It may be private: configure git's credentials, or use git+ssh."
    if _NO_REPOSITORY.search(stderr):
        return "Correct the address: no repository is there, or none that you may read."
    return ""
