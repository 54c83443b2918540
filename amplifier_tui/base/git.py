"""Running git in a folder without running anything that the folder names.

A repository may come out of an archive, with a ``.git/config`` that names programs to run. So for
calls that only look: hooks, the file system monitor, pagers and signature checks are off, missing
objects are not fetched, no lock is taken, and output and time are limited.

What no option switches off is left to the caller: ``git status`` and whatever checks files out run
the filters that a repository configures, see `brings_filters`; ``git diff`` needs
``--no-ext-diff --no-textconv``.
"""

import asyncio
import contextlib
import logging
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

from amplifier_tui.base.commands.programs import own_path

logger = logging.getLogger(__name__)

TIMEOUT: Final = 5.0
MOST_BYTES: Final = 256 * 1024

_OPTIONS: Final = (
    "--no-pager",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
    # What `-m` means.
    *("-c", "log.diffMerges=separate"),
)
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # A partial clone fetches missing objects with whatever program its remote names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    # What is there is looked at, and not what is shown in its place.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
READING_ENVIRONMENT: Final = {
    **{name: value for name, value in _ENVIRONMENT.items() if name != "LC_ALL"},
    "GIT_PAGER": "cat",
    "GIT_CONFIG_COUNT": "4",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "diff.autoRefreshIndex",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_CONFIG_KEY_2": "core.hooksPath",
    "GIT_CONFIG_VALUE_2": os.devnull,
    "GIT_CONFIG_KEY_3": "log.showSignature",
    "GIT_CONFIG_VALUE_3": "false",
}
"""Variables under which a git of someone else's command keeps to looking, as far as they can."""
_WITHOUT_INFO: Final = ("repack.updateServerInfo", "false")
"""For what serves a repository by plain files; elsewhere nobody reads it."""
_WITHOUT_BARE: Final = ("safe.bareRepository", "explicit")
_KEPT: Final = (
    *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"),
    *("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"),
)
"""What the user may say by environment: how far up a repository is looked for, and who commits."""
_CLEANING: Final = r"^filter\..*\.(clean|process)$"
_FILTERS: Final = r"^filter\..*\.(clean|smudge|process)$"
_OWN_SCOPES: Final = ("local", "worktree")
_SUBMODULE: Final = b"160000 "
"""How `git ls-files --stage` begins the row of a submodule."""
_MOST_SUBMODULES: Final = 100
_MOST_INDEX: Final = 64 * 1024 * 1024
_STAGED: Final = ("diff", "--cached", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff")
_BRANCHES: Final = "refs/heads/"
_NONE_SET: Final = 1
"""The exit code of ``git config`` where no setting fits."""


def without_info(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables under which git does not try to write in the folder `info` of its own."""
    return with_setting(environment, *_WITHOUT_INFO)


def without_bare(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables under which git takes no folder for a repository that is not in `.git`.

    A clone, or a checkout of another commit, may bring such a folder with hooks.
    """
    return with_setting(environment, *_WITHOUT_BARE)


def with_setting(environment: Mapping[str, str], name: str, value: str) -> dict[str, str]:
    """Return variables under which git takes a setting for more than what its files say."""
    count = environment.get("GIT_CONFIG_COUNT", "") or "0"
    if not count.isdecimal():
        return dict(environment)  # Git says so.
    more = {f"GIT_CONFIG_KEY_{count}": name, f"GIT_CONFIG_VALUE_{count}": value}
    return {**environment, "GIT_CONFIG_COUNT": str(int(count) + 1), **more}


def git_output_now(
    folder: Path, *arguments: str, timeout: float = TIMEOUT, most_bytes: int = MOST_BYTES
) -> str | None:
    """Run a git command that only looks, and return what it printed. Call it from a thread.

    Args:
        folder: Where to run it.
        *arguments: The command and its arguments.
        timeout: Seconds it may take.
        most_bytes: Longer output is cut there, and git is ended.

    Returns:
        The output; None where git fails, takes too long, or is not there, or the folder is in no
        repository.
    """
    output = git_bytes_now(folder, *arguments, timeout=timeout, most_bytes=most_bytes)
    return None if output is None else output.decode("utf-8", "replace")


def git_blobs_now(folder: Path, names: Iterable[str], *, most_bytes: int) -> dict[str, bytes]:
    """Return the contents of git objects by their names, read at once. Call it from a thread.

    Args:
        most_bytes: Of all together; what does not fit, or is not there, is left out.
    """
    with TemporaryFile() as wanted:
        wanted.write("".join(f"{name}\n" for name in names).encode())
        wanted.seek(0)
        output = git_bytes_now(
            folder, "cat-file", "--batch", most_bytes=most_bytes, given=wanted.fileno()
        )
    found: dict[str, bytes] = {}
    begin = 0
    while output is not None and (end := output.find(b"\n", begin)) >= 0:
        name, *facts = output[begin:end].decode("ascii", "replace").split(" ")
        begin = end + 1
        if len(facts) == 2:  # what it is, and its size
            data = output[begin : begin + int(facts[1])]
            begin += int(facts[1]) + 1
            if begin <= len(output):
                found[name] = data
    return found


def git_bytes_now(
    folder: Path,
    *arguments: str,
    timeout: float = TIMEOUT,
    most_bytes: int = MOST_BYTES,
    given: int = subprocess.DEVNULL,
) -> bytes | None:
    """Do the same as `git_output_now`, and return the output as it is.

    Args:
        given: Descriptor of what git reads.
    """
    if not _in_repository(folder):
        return None
    try:
        process = subprocess.Popen(
            ["git", *_OPTIONS, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # The latter for a null byte.
        logger.info("git can't be started in %s: %s", folder, error)
        return None
    assert process.stdout is not None
    late = threading.Timer(timeout, _end, [process])
    late.daemon = True
    with process:
        late.start()
        try:
            output = process.stdout.read(most_bytes)
            failed = len(output) < most_bytes and process.wait() != 0
        finally:
            late.cancel()
            _end(process)
    return None if failed else output


class GitPlace(NamedTuple):
    """Where a repository stands.

    Attributes:
        branch: The name of what is checked out; empty for a commit of no branch.
        commit: Its whole name; empty where there is none yet.
        staged: A digest of what is staged; empty for nothing, None where nobody knows.
    """

    branch: str
    commit: str
    staged: str | None = None


def git_place_now(folder: Path) -> GitPlace | None:
    """Return where the repository of a folder stands. Call it from a thread.

    Returns:
        None where git can't tell, or the folder is in no repository.
    """
    found = git_output_now(folder, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
    if found is None:
        # Before the first commit, HEAD names a branch that is none yet.
        name = git_output_now(folder, "symbolic-ref", "--quiet", "HEAD")
        found = f"\n{name}" if name else None
    if found is None:
        return None
    commit, _, name = found.rstrip("\n").partition("\n")
    branch = name.removeprefix(_BRANCHES) if name.startswith(_BRANCHES) else ""
    listed = git_bytes_now(folder, *_STAGED)
    staged = sha256(listed).hexdigest() if listed else None if listed is None else ""
    return GitPlace(branch, commit, staged)


class GitEnd(NamedTuple):
    """How a git command ended.

    Attributes:
        code: Its exit code; -1 where it could not be started or took too long.
        problem: Why it failed, as git says it; empty where it worked.
    """

    code: int
    output: str
    problem: str


def change_now(folder: Path, *arguments: str, timeout: float) -> str:
    """Run a git command that changes a repository, without its hooks. Call it from a thread.

    Returns:
        Why it failed, as git says it; empty where it worked.
    """
    return run_now(folder, *arguments, timeout=timeout).problem


def run_now(folder: Path, *arguments: str, timeout: float) -> GitEnd:
    """Do the same as `change_now`, and return the exit code and the output too."""
    with TemporaryFile() as told, TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                ["git", *_OPTIONS, *arguments],
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=said,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return GitEnd(-1, "", f"git can't be started: {error}")
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            process.wait()
            return GitEnd(-1, "", f"git took longer than {timeout:.0f} s")
        output, words = (_text_of(file) for file in (told, said))
    problem = (words.strip() or f"git ended with code {code}") if code else ""
    return GitEnd(code, output, problem)


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_BYTES).decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT
    }
    # A project may have programs of such a name, and git runs others by their names, too.
    return kept | _ENVIRONMENT | {"PATH": own_path()}


def _in_repository(folder: Path) -> bool:
    """Whether there may be a repository that git would find; a look is far cheaper than git."""
    folder = folder.resolve()
    return any(
        os.path.lexists(each / ".git") or ((each / "HEAD").exists() and (each / "objects").exists())
        for each in (folder, *folder.parents)
    )


async def git_output(
    folder: Path, *arguments: str, timeout: float = TIMEOUT, most_bytes: int = MOST_BYTES
) -> str | None:
    """Do the same as `git_output_now` in a thread, for callers with an event loop."""
    return await asyncio.to_thread(
        git_output_now, folder, *arguments, timeout=timeout, most_bytes=most_bytes
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and whatever it has started, which would keep the pipe open."""
    if process.poll() is None:
        if not hasattr(os, "killpg"):
            process.kill()
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def brings_filters(folder: Path, *, timeout: float = TIMEOUT) -> bool:
    """Whether a repository's own configuration names filters, which ``git status`` would run.

    It counts as if it did where git can't tell, in so many seconds.
    """
    return await asyncio.to_thread(_configures, folder, _CLEANING, timeout)


def brings_filters_now(folder: Path) -> bool:
    """Whether it names filters of any kind, those of checking out too. Call it from a thread."""
    return _configures(folder, _FILTERS, TIMEOUT)


def own_settings_now(folder: Path, pattern: str) -> list[str]:
    """Return the settings of a repository's own configuration whose names fit. Call it in a thread.

    What it includes for some folders or branches alone counts where it holds in this folder.

    Args:
        pattern: A regular expression as ``git config --get-regexp`` takes it.

    Raises:
        OSError: git can't tell.
    """
    return _own_settings(folder, pattern, TIMEOUT)


_NAMING: Final = (
    r"^(filter\..*|diff\.external|diff\..*\.(command|textconv)|pager\..*|gpg\.(program|.*\..*)"
    r"|merge\..*\.driver|core\.(fsmonitor|pager|hookspath|sshcommand|askpass)"
    r"|lfs\.(extension|customtransfer)\..*|log\.showsignature)$"
)
_SWITCHED_OFF: Final = re.compile(
    r"core\.(?:fsmonitor|hookspath|pager)|pager\..*|log\.showsignature"
)
"""What takes no effect under `READING_ENVIRONMENT`."""
_HARMLESS: Final = re.compile(
    r"(?:core\.fsmonitor|log\.showsignature|filter\..*\.required|pager\..*)\n(?:true|false)"
    r"|core\.fsmonitor"
    r"|filter\.lfs\.(?:clean|smudge)\ngit-lfs (?:clean|smudge)(?: --skip)? -- %f"
    r"|filter\.lfs\.process\ngit-lfs filter-process(?: --skip)?"
    r"|gpg\.ssh\.(?:allowedsignersfile|revocationfile)\n.*"
)
"""Switches, and what git-lfs writes itself: a name, the end of a line, and the value."""


def names_programs(folder: Path, *, reading: bool = False) -> str:
    """Return what of a repository's own configuration names a program that looking would run.

    The name of a setting, or why that can't be told; empty where nothing does. That of the
    submodules below the folder counts too: git looks into them, and runs theirs. Blocking.

    Args:
        reading: Git runs under `READING_ENVIRONMENT`, which does not reach into submodules.
    """
    looked, left = set[Path](), [folder]
    while left:
        each = left.pop()
        try:
            names = _naming(each)
        except OSError as error:
            # What can't be looked at may name anything.
            logger.info("The configuration of %s can't be read: %s", each, error)
            return "a configuration that can't be read"
        off = reading and not looked
        if found := next((n for n in names if not (off and _SWITCHED_OFF.fullmatch(n))), ""):
            return found
        looked.add(each)
        below = submodules_now(each)
        if below is None or len(looked) + len(below) > _MOST_SUBMODULES:
            return "one of many submodules"
        left += [place for place in below if place not in looked]
    return ""


def _naming(folder: Path) -> list[str]:
    if not _in_repository(folder):
        return []
    asked = ("config", "--show-scope", "-z", "--get-regexp", _NAMING)
    listed = run_now(folder, *asked, timeout=TIMEOUT)
    if listed.code not in (0, _NONE_SET):
        raise OSError(listed.problem)
    fields = listed.output.split("\0")
    rows = zip(fields[::2], fields[1::2], strict=False)
    own = (row for scope, row in rows if scope in _OWN_SCOPES)
    return [row.partition("\n")[0] for row in own if not _HARMLESS.fullmatch(row)]


def submodules_now(folder: Path) -> list[Path] | None:
    """Return the submodules that are checked out in a repository. Call it from a thread.

    Args:
        folder: Anywhere in the repository.

    Returns:
        Those of its own, without theirs; none where it has no files. None where git can't tell.
    """
    top = git_output_now(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return []  # No repository, or one without files.
    root = Path(top.removesuffix("\n"))
    listed = git_bytes_now(root, "ls-files", "--stage", "-z", most_bytes=_MOST_INDEX)
    if listed is None or len(listed) >= _MOST_INDEX:
        return None
    rows = listed.split(b"\0")
    names = [row.partition(b"\t")[2] for row in rows if row.startswith(_SUBMODULE)]
    places = [root / os.fsdecode(name) for name in names]
    return [place for place in places if os.path.lexists(place / ".git")]


def _configures(folder: Path, pattern: str, timeout: float) -> bool:
    try:
        return bool(_own_settings(folder, pattern, timeout))
    except OSError as error:
        # What can't be looked at may name anything.
        logger.info("The configuration of %s can't be read: %s", folder, error)
        return True


def _own_settings(folder: Path, pattern: str, timeout: float) -> list[str]:
    if not _in_repository(folder):
        return []
    asked = ("config", "--show-scope", "--name-only", "--get-regexp", pattern)
    listed = run_now(folder, *asked, timeout=timeout)
    if listed.code not in (0, _NONE_SET):
        raise OSError(listed.problem)
    rows = (line.split("\t", 1) for line in listed.output.splitlines())
    return [row[-1] for row in rows if row[0] in _OWN_SCOPES]
