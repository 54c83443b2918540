"""What a command changes: the workspace is looked at before it and after it.

In a git repository the index says which files there are, and what those hold that were not touched
since. All others are copied before the command runs. Ignored files are not looked at, and of a
repository inside, such as a submodule, it is only told whether something in it changed.
"""

import asyncio
import os
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from amplifier_tui.base.git import git_blobs_now, git_bytes_now, git_output_now
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.protected import holds_secrets
from amplifier_tui.modules.hooks_checkpoint.lost import GitHoldings, kept_now, losses
from amplifier_tui.modules.hooks_checkpoint.naming import named_files
from amplifier_tui.modules.hooks_checkpoint.states import PERMISSIONS
from amplifier_tui.modules.hooks_checkpoint.store import CopyLimits, CopyStore, FileEntry
from amplifier_tui.modules.hooks_checkpoint.watching import NamedWrites

_MOST_LISTED: Final = 20_000
_MOST_WALKED: Final = 2_000
_MOST_COPIED: Final = 20_000_000
_LIST_BYTES: Final = 16_000_000
_MOST_HELD: Final = 16_000_000
"""Bytes of files that are read from git at once."""
_MOST_NAMED: Final = 5
_COMMAND: Final = 60
_HEAD: Final = 128
"""Bytes that git puts before the content of a file, at most."""
_CLOCK_NS: Final = 20_000_000
"""How far the time of a file may lag behind the clock."""

_LEFT_OUT: Final = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".terraform"),
    }
)
_INDEXED: Final = lazy_pattern(
    r"(?P<mode>\d+) (?P<blob>[0-9a-f]+) \d\t(?P<path>[^\0]+)\0"
    r"\s+ctime: \d+:\d+\s+mtime: (?P<s>\d+):(?P<ns>\d+)"
    r"\s+dev: \d+\s+ino: \d+\s+uid: \d+\s+gid: \d+\s+size: (?P<size>\d+)\s+flags: \w+\n?"
)

_SUBMODULE: Final = "160000"

_KIND: Final = stat.S_IFMT(0o777777) | PERMISSIONS
_Sign = tuple[int, int, int]
"""Changes when a file does: modification time in ns, size, inode."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file before a command: `blob` is the git object it equals, `copy` the SHA-256 of a copy.

    `kind` is whether it is a link, and its permissions, as `_kind` has them.
    """

    sign: _Sign
    kind: int
    blob: str = ""
    copy: str = ""
    skipped: str = ""

    @property
    def mode(self) -> int:
        """Its permissions."""
        return self.kind & PERMISSIONS

    @property
    def link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.kind)


@dataclass(slots=True)
class WorkspaceLook:
    """The files of a workspace before a command.

    Attributes:
        text: The whole command.
        began: When it began, in ns of the clock that files have; `clock` the same in s of one that
            is never set.
        problem: Why they are not known.
        waits: The command does not run before the user has answered.
        goes_on: The command runs on in the background, where what it changes is not seen.
        inside: By the name of each repository inside, what is another number when a file in it is
            another one; None where it has too many.
        kept: What the repository has beside the files, if there is one.
        lost: What of that it has no more, in words, when it was compared.
        writes: What it names, looked at by `watch` while it runs.
    """

    text: str
    began: int = 0
    clock: float = 0.0
    problem: str = ""
    waits: bool = False
    goes_on: bool = False
    files: dict[str, _Seen] = field(default_factory=dict)
    inside: dict[str, int | None] = field(default_factory=dict)
    kept: GitHoldings | None = None
    lost: list[str] = field(default_factory=list)
    writes: NamedWrites | None = None
    watch: asyncio.Task[None] | None = None

    @property
    def command(self) -> str:
        """Its beginning, in one line."""
        return " ".join(self.text.split())[:_COMMAND]

    def begin_watch(self, root: Path, own_seconds: float) -> None:
        """Look at the files that the command names, until `end_watch`."""
        before = {name: seen.sign for name, seen in self.files.items()}
        self.writes = NamedWrites(self.text, root, before, own_seconds)
        self.watch = asyncio.get_running_loop().create_task(self.writes.keep_looking())

    def end_watch(self) -> None:
        """The command has ended, or does not run."""
        if self.watch is not None:
            self.watch.cancel()


class WorkspaceFiles:
    """Compares the files of a workspace. Everything here blocks: call it in a thread."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._copied: dict[str, tuple[_Sign, str]] = {}
        self._inside: list[str] = []
        """Repositories inside, when the files were listed last."""

    def look(self, text: str, store: CopyStore, most: CopyLimits) -> WorkspaceLook:
        """Look at all files before a command, and copy what git has no copy of."""
        look = WorkspaceLook(text)
        listed = self._listed()
        if isinstance(listed, str):
            look.problem = listed
            return look
        room = _MOST_COPIED
        for name, (indexed, found) in listed.items():
            sign, kind = _sign(found), _kind(found)
            blob, size, changed = indexed
            if blob and (size, changed) == (found.st_size, found.st_mtime_ns):
                look.files[name] = _Seen(sign, kind, blob=blob)
                continue
            known = self._copied.get(name)
            if known is not None and known[0] == sign:
                look.files[name] = _Seen(sign, kind, copy=known[1])
                continue
            room -= found.st_size
            if room < 0:
                why = f"more than {_MOST_COPIED:,} bytes are not in git"
                look.files[name] = _Seen(sign, kind, skipped=why)
                continue
            copy, skipped = self._copy(name, store, most)
            if copy:
                self._copied[name] = sign, copy
            look.files[name] = _Seen(sign, kind, copy=copy, skipped=skipped)
        look.inside = self._look_inside()
        look.kept = kept_now(self._root)
        look.began, look.clock = time.time_ns(), time.monotonic()
        return look

    def _copy(self, name: str, store: CopyStore, most: CopyLimits) -> tuple[str, str]:
        """Copy a file; returns its SHA-256, or why there is no copy."""
        path = self._root / name
        if holds_secrets(path):
            return "", "keys are usually kept there"
        try:
            entry = store.copied(path, most)
        except OSError as error:
            return "", error.strerror or str(error)
        return entry.copy or "", entry.skipped

    def changes(
        self,
        look: WorkspaceLook,
        running: Collection[WorkspaceLook],
        store: CopyStore,
        most: CopyLimits,
    ) -> list[FileEntry]:
        """Return the files that changed since a look, as they were; notes a problem in it.

        Args:
            running: The looks of all commands whose changes are not noted yet, this one among them.
        """
        listed = self._listed()
        if isinstance(listed, str):
            look.problem = listed
            return []
        changed: dict[str, _Seen] = {}
        gone: set[_Sign] = set()
        for name, seen in look.files.items():
            there = listed.get(name)
            present = there[1] if there is not None else self._present(name)
            if present is None or (_sign(present), _kind(present)) != (seen.sign, seen.kind):
                changed[name] = seen
            if present is None:
                gone.add(seen.sign)
        found = [*self._before(changed, store, most, look.command)]
        for name, (_, present) in listed.items():
            # Of a file that was ignored before, nobody knows what it was. With its folder, a file
            # moves without a change of its own.
            new = present.st_ctime_ns >= look.began - _CLOCK_NS or _sign(present) in gone
            if name not in look.files and new:
                found.append(FileEntry(self._root / name, command=look.command))
        if len(running) > 1:
            self._tell_apart(found, running)
        if look.kept is not None:
            kept, together = kept_now(self._root), len(running) > 1
            by = f"One of {len(running)} commands that ran together" if together else ""
            look.lost = [*losses(self._root, look.kept, kept, by or f"`{look.command}`")]
            for each in running:
                # It is told once.
                each.kept = kept
        after = self._look_inside()
        others = [
            name
            for name in sorted({*look.inside, *after})
            if after.get(name) is None or after[name] != look.inside.get(name)
        ]
        if others:
            named = ", ".join(others[:_MOST_NAMED])
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            look.problem = f"repositories inside are not looked into: {named}{more}"
        return found

    def _tell_apart(self, found: list[FileEntry], running: Collection[WorkspaceLook]) -> None:
        """Note of each file which of several commands changed it, as far as their texts tell."""
        paths = [entry.path for entry in found]
        named = [(look.command, named_files(look.text, paths, self._root)) for look in running]
        for entry in found:
            naming = [command for command, files in named if entry.path in files]
            if len(naming) == 1:
                entry.command = naming[0]
            else:
                entry.together = len(running)

    def _look_inside(self) -> dict[str, int | None]:
        known, room = {"": True}, _MOST_LISTED
        seen: dict[str, int | None] = {}
        for name in self._inside:
            if self._is_plain(name, known):
                files = self._files_inside(name, room)
                room -= len(files)
                seen[name] = hash(files) if room > 0 else None
        return seen

    def _files_inside(self, name: str, most: int) -> frozenset[tuple[str, _Sign, int]]:
        """Return the files of a repository inside; where there are too many, some of them."""
        found: set[tuple[str, _Sign, int]] = set()
        for folder, names in _walk(os.path.join(self._root, name)):
            if len(found) >= most:
                break
            for path in (os.path.join(folder, each) for each in names):
                if (present := _stat(Path(path))) is not None:
                    found.add((path, _sign(present), _kind(present)))
        return frozenset(found)

    def _present(self, name: str) -> os.stat_result | None:
        """Return what is known of a file that git may have come to ignore."""
        is_there = self._is_plain(os.path.dirname(name), {"": True})
        return _stat(self._root / name) if is_there else None

    def _before(
        self, files: Mapping[str, _Seen], store: CopyStore, most: CopyLimits, command: str
    ) -> Iterator[FileEntry]:
        """Yield files as they were before a command."""
        for names in _portions({name: seen.sign[1] for name, seen in files.items() if seen.blob}):
            # All at once: a git for each takes 10 ms.
            wanted = {files[name].blob: files[name].sign[1] for name in names}
            room = sum(size + _HEAD for size in wanted.values())
            small = (blob for blob, size in wanted.items() if size <= most.text)
            contents = git_blobs_now(self._root, small, most_bytes=room)
            for name in names:
                yield self._as_in_git(name, files[name], contents, store, most, command)
        for name, seen in files.items():
            if not seen.blob:
                path, size = self._root / name, seen.sign[1]
                copy, skipped = seen.copy or None, seen.skipped
                yield FileEntry(
                    path, copy, True, size, seen.mode, skipped, command=command, link=seen.link
                )

    def _as_in_git(
        self,
        name: str,
        seen: _Seen,
        contents: Mapping[str, bytes],
        store: CopyStore,
        most: CopyLimits,
        command: str,
    ) -> FileEntry:
        path, size, data = self._root / name, seen.sign[1], contents.get(seen.blob)
        if data is not None and len(data) == size:
            entry = store.keep(path, data, seen.mode, most, link=seen.link)
            entry.command = command
            return entry
        why = "git has it in another form"
        if size > most.text:
            why = f"it is larger than {most.text} bytes"
        return FileEntry(path, None, True, size, seen.mode, why, command=command)

    def problem(self) -> str:
        """Return why what commands change can't be seen here; empty where it can."""
        named = self._named()
        return named if isinstance(named, str) else ""

    def _listed(self) -> dict[str, tuple[tuple[str, int, int], os.stat_result]] | str:
        """Return all files with what the index says of them, or why they can't be listed."""
        files, known = self._named(), {"": True}
        if isinstance(files, str):
            return files
        return {
            name: (about, found)
            for name, about in files.items()
            # What is behind a link by now is another file.
            if self._is_plain(name.rpartition("/")[0], known)
            and (found := _stat(self._root / name)) is not None
        }

    def _named(self) -> dict[str, tuple[str, int, int]] | str:
        """Return what the index says of each file by its name, or why they can't be listed."""
        indexed = git_bytes_now(
            self._root, "ls-files", "-z", "--stage", "--debug", most_bytes=_LIST_BYTES
        )
        files: dict[str, tuple[str, int, int]] = {}
        self._inside = []
        if indexed is None:
            for name in self._walked():
                files[name] = ("", 0, 0)
                if len(files) > _MOST_WALKED:
                    return f"the folder is no git repository and has over {_MOST_WALKED:,} files"
        else:
            others = git_bytes_now(
                self._root,
                *("ls-files", "-z", "--others", "--exclude-standard"),
                most_bytes=_LIST_BYTES,
            )
            if others is None:
                return "git does not say which files there are"
            racy = self._index_time()
            # A name may be no UTF-8.
            for entry in _INDEXED.finditer(os.fsdecode(indexed)):
                if entry["mode"] == _SUBMODULE:
                    self._inside.append(entry["path"])
                    continue
                changed = int(entry["s"]) * 1_000_000_000 + int(entry["ns"])
                # What changed as late as the index itself may have changed once more.
                blob = entry["blob"] if changed < racy else ""
                files[entry["path"]] = (blob, int(entry["size"]), changed)
            names = [name for name in os.fsdecode(others).split("\0") if name]
            # Of a repository that it does not know git names the folder alone.
            self._inside += [name.rstrip("/") for name in names if name.endswith("/")]
            files |= {name: ("", 0, 0) for name in names if not name.endswith("/")}
            if len(files) > _MOST_LISTED or len(indexed) >= _LIST_BYTES:
                return f"the workspace has over {_MOST_LISTED:,} files"
        return files

    def _is_plain(self, folder: str, known: dict[str, bool]) -> bool:
        """Whether no link is on the way to a folder; `known` is what was found of others."""
        if folder not in known:
            is_link = os.path.islink(os.path.join(self._root, folder))
            known[folder] = not is_link and self._is_plain(os.path.dirname(folder), known)
        return known[folder]

    def _walked(self) -> Iterator[str]:
        for folder, names in _walk(str(self._root)):
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self._root)

    def _index_time(self) -> int:
        path = git_output_now(self._root, "rev-parse", "--git-path", "index")
        try:
            return (self._root / (path or "").strip()).stat().st_mtime_ns
        except OSError:
            return 0


def _walk(top: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder below one, and what is in it and is no folder."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        # `walk` has a link to a folder among the folders, and does not go there.
        yield folder, names + [n for n in folders if os.path.islink(os.path.join(folder, n))]


def _portions(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the names of files in portions that can be held in memory."""
    portion: list[str] = []
    size = 0
    for name, more in sizes.items():
        if portion and size + more > _MOST_HELD:
            yield portion
            portion, size = [], 0
        portion.append(name)
        size += more
    if portion:
        yield portion


def _sign(found: os.stat_result) -> _Sign:
    return found.st_mtime_ns, found.st_size, found.st_ino


def _kind(found: os.stat_result) -> int:
    return found.st_mode & _KIND


def _stat(path: Path) -> os.stat_result | None:
    """Return what is known of a regular file or a link; None for anything else."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode) else None
