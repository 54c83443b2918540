"""What git itself brought or changed while a command ran: what was committed before is nobody's."""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from hashlib import sha1, sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, NamedTuple

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.git import git_blobs_now, git_bytes_now, git_output_now
from amplifier_tui.base.opened.folders import files_below
from amplifier_tui.modules.tool_bash.sandbox.seen import SeenContents, unwrapped

_MOST_BYTES: Final = 10_000_000
_MOST_FILES: Final = 1_000
_MOST_NAMES: Final = 500
_MOST_HISTORY: Final = 64_000_000
_LONGEST: Final = 20.0
"""Seconds that git may take for the history."""
RAW: Final = ("--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
"""Options with which git lists changes as `changes` reads them."""
_LINK: Final = "120000"
_PROGRAM: Final = "100755"
_FILE: Final = "100644"
_CONFLICT: Final = re.compile(rb"(?:<{7}|>{7}|\|{7}) (.{1,200})|={7}|\|{7}")
"""What a merge puts between the lines of two sides."""
_SIDE: Final = re.compile(
    r"(?:Updated upstream|Stashed changes|merged common ancestors|empty tree|[\w.~^@{}/-]{1,100})"
)
"""How it calls them, but for a commit by what that says of itself."""
_COMMIT: Final = re.compile(r"(?:parent of )?([0-9a-f]{4,64})(?:\.\.\.)? \(?(.*?)\)?")
_PATIENCE: Final = 3.0
"""Seconds in which a checkout that goes on may end: it names what it brings at its end."""

Version = tuple[str, str]
"""Mode and blob of a file."""
Content = tuple[str, bytes]
"""Mode of a file, and what is in it."""
Tracked = dict[Path, Version]
"""What the index of git has of files."""
_MOST_CHECKOUTS: Final = 100
"""Beyond them nothing counts as brought by git."""
_MOST_TIPS: Final = 2_000


def repository_around(place: Path) -> Path | None:
    """Return the nearest folder around a place that holds `.git`; None if there is none."""
    return next((each for each in place.parents if os.path.lexists(each / ".git")), None)


def checkouts(places: Iterable[Path], workspace: Path) -> list[Path]:
    """Return the folders of repositories whose files a command may change. Blocking.

    Args:
        places: What configures programs in the workspace, folders of repositories among it.
    """
    around = repository_around(workspace / ".git")
    inside = (place.parent for place in places if place.name == ".git")
    found = dict.fromkeys((*([] if around is None else [around]), *inside))
    return list(found)[:_MOST_CHECKOUTS]


def without_tracked(
    places: list[Path], around: Iterable[Path], *, changed_alone: bool
) -> list[Path]:
    """Leave out what git itself has to be able to change, so that no checkout is left half done.

    Args:
        places: What configures programs in the workspace.
        around: The folders of repositories.
        changed_alone: Only hooks change files, and those that are to be committed.
    """
    holding: set[Path] = set()
    files: dict[Path, list[Path]] = {checkout: [] for checkout in around}
    for place in places:
        checkout = repository_around(place)
        if checkout in files and ".git" not in place.parts:
            files[checkout].append(place)
    for checkout, inside in files.items():
        changed = _changed(checkout) if changed_alone and inside else None
        for file in tracked(checkout, inside):
            if changed is None or file in changed:
                holding |= {file, *file.parents}
    # Over a link nothing is mounted but where it leads.
    return [
        place
        for place in places
        if place not in holding and not (place.is_symlink() and place.resolve() in holding)
    ]


def _changed(checkout: Path) -> frozenset[Path] | None:
    """Return the files that differ from the last commit or from the index; None for any. Blocking.

    A file of which that is not sure without reading it is one of them.
    """
    found: set[Path] = set()
    for arguments in (("diff-index", "--cached", "HEAD"), ("diff-files",)):
        name, *more = arguments
        options = ("--name-only", "-z", "--no-relative", "--ignore-submodules=all", *more)
        listed = git_bytes_now(checkout, name, *options, timeout=_LONGEST, most_bytes=_MOST_HISTORY)
        if listed is None or len(listed) >= _MOST_HISTORY:
            return None
        found |= {checkout / os.fsdecode(each) for each in listed.split(b"\0") if each}
    return frozenset(found)


def tracked(checkout: Path, places: Iterable[Path]) -> Tracked:
    """Return what the index of git has of files, and of all that is below folders. Blocking.

    Args:
        checkout: The folder of the repository.
        places: Absolute, without links, in this folder.
    """
    found: Tracked = {}
    asked = ("--literal-pathspecs", "ls-files", "-z", "--stage", "--")
    names = [str(place) for place in places]
    for at in range(0, len(names), _MOST_NAMES):
        listed = git_bytes_now(
            checkout, *asked, *names[at : at + _MOST_NAMES], most_bytes=_MOST_HISTORY
        )
        found.update(_rows(listed or b"", checkout))
    return found


def is_as_tracked(place: Path, checkout: Path) -> bool:
    """Whether a file, and all that is in a folder, is as the index of git has it. Blocking.

    Args:
        place: Absolute, without links.
        checkout: The folder of the repository that holds it.
    """
    wait_for_git(checkout)
    known = tracked(checkout, [place])
    files = _files(place)
    return bool(files) and all(
        file in known and found is not None and _is_version(found, known[file], checkout)
        for file, found in files.items()
    )


class Commits:
    """The commits of a repository that were there before a command, or that others made.

    Args:
        checkout: The folder of the repository.
        tips: Its newest commits then.
        made: Those behind them by which a command in the sandbox had git take up what takes effect.
        seen: What was in files before commands.
    """

    def __init__(self, checkout: Path, tips: Set[str], made: Set[str], seen: SeenContents) -> None:
        self._checkout = checkout
        self._tips = tips
        self._made = made
        self._seen = seen
        self._looked_up: dict[Path, dict[Path, dict[Version, bool]]] = {}

    def brought(self, place: Path, *, merging: bool) -> bool:
        """Whether a file, and all that is in a folder, may be what git made of them. Blocking.

        Args:
            place: Absolute, without links.
            merging: Whether that may be what a merge comes to, with or without conflicts, whichever
                command of git it is part of: then it is enough that they have each line of a file.
        """
        wait_for_git(self._checkout)
        files = _files(place)
        if files and self._is_of_tips(place, files):
            return True
        known = self._versions(place) if files else {}
        return bool(files) and all(
            found is not None
            and self._is_of_versions(file, found, known.get(file, {}), merging=merging)
            for file, found in files.items()
        )

    def _is_of_tips(self, place: Path, files: Mapping[Path, Content | None]) -> bool:
        """Whether files are as the index has them, and HEAD or a tip: that is told at once."""
        # In what git is asked, each line is a name.
        if not self._trusted_tips or any("\n" in os.fspath(file) for file in files):
            return False
        known = tracked(self._checkout, [place])
        if not all(
            found is not None and file in known and _is_version(found, known[file], self._checkout)
            for file, found in files.items()
        ):
            return False
        names = {file: os.fspath(file.relative_to(self._checkout)) for file in files}
        wanted = [(file, tip) for file in names for tip in self._trusted_tips]
        asking = (f"{tip}:{names[file]}" for file, tip in wanted)
        told = asked(self._checkout, asking, "cat-file", "--batch-check=%(objectname)") or b""
        held: dict[Path, str] = {}
        for (file, tip), row in zip(wanted, told.split(b"\n"), strict=False):
            if row == known[file][1].encode():
                held.setdefault(file, tip)
        if len(held) < len(files):
            return False
        links: set[Path] = set()
        for tip in set(held.values()):
            inside = (names[file] for file in files if held[file] == tip)
            links |= _links_in(self._checkout, tip, inside)
        # A link may lead to what a file holds as text: by the name of a blob they are the same.
        return all((file in links) == (known[file][0] == _LINK) for file in files)

    @cached_property
    def _trusted_tips(self) -> list[str]:
        """Newest commits, the current one first, behind which all count; nothing if some do not."""
        if not self._tips or commits_here(self._checkout, self._made):
            return []
        behind = (*(f"^{each}" for each in self._tips), "HEAD")
        new = asked(self._checkout, behind, "rev-list", "--stdin", "--max-count=1")
        return [*(["HEAD"] if new == b"" else []), *islice(self._tips, _MOST_TIPS)]

    def know(self, file: Path, version: Version) -> bool:
        """Whether what git has of a file was in it, or is what it makes of commits. Blocking."""
        mode, name = version
        data = self._contents([name]).get(name)
        # The look into the history takes far longer.
        if data is not None and mode != _LINK and _consists_of(data, self._seen.lines(file)):
            return True
        return data is not None and (
            self._seen.holds(file, data, link=mode == _LINK)
            or self._is_of_versions(
                file, (mode, data), self._versions(file).get(file, {}), merging=True, stands=False
            )
        )

    def _is_of_versions(
        self,
        file: Path,
        found: Content,
        known: Mapping[Version, bool],
        *,
        merging: bool,
        stands: bool = True,
    ) -> bool:
        mode, data = found
        here = self._checkout
        if any(_is_version(found, each, here) for each, made in known.items() if not made):
            return True
        if mode == _LINK or not merging or not known:
            return False
        names = (name for (each, name), made in known.items() if each != _LINK and not made)
        lines = set(self._seen.lines(file))
        for content in self._contents(names).values():
            lines.update(unwrapped(content).split(b"\n"))
        return _consists_of(data, lines | (self._marks(file, data) if stands else set()))

    def _marks(self, file: Path, data: bytes) -> set[bytes]:
        """Return the lines that a merge put into a file, if it has conflicts in git's index."""
        marks = {line for line in unwrapped(data).split(b"\n") if _CONFLICT.fullmatch(line)}
        asking = ("--literal-pathspecs", "ls-files", "-u", "-z", "--", os.fspath(file))
        if not marks or not git_bytes_now(self._checkout, *asking):
            return set()
        # Where the sides have other names for the file, it comes behind theirs.
        behind = f":{file.relative_to(self._checkout)}".encode("utf-8", "surrogateescape")
        return {each for each in marks if self._is_mark(each.removesuffix(behind))}

    def _is_mark(self, line: bytes) -> bool:
        """Whether what stands in such a line is no more than which side comes there."""
        found = _CONFLICT.fullmatch(line)
        side = (found[1] or b"").decode("utf-8", "replace") if found is not None else ""
        if not side or _SIDE.fullmatch(side):
            return True
        commit = _COMMIT.fullmatch(side)
        known = commits_here(self._checkout, {commit[1]}) if commit is not None else []
        if commit is None or not known or known[0] in self._made:
            return False
        # What a command says of a commit of its own may be anything.
        behind = (known[0], *(f"^{each}" for each in self._tips))
        if asked(self._checkout, behind, "rev-list", "--stdin", "--max-count=1") != b"":
            return False
        told = git_output_now(self._checkout, "log", "-1", "--format=%s", known[0]) or ""
        return told.strip() == commit[2].strip()

    def _versions(self, place: Path) -> dict[Path, dict[Version, bool]]:
        """Return what commits have of the files of a place, and whether only `made` have it."""
        if not self._tips:
            # Git would take HEAD.
            return {}
        if place in self._looked_up:
            return self._looked_up[place]
        listed = asked(
            self._checkout,
            self._tips,
            *("log", "--stdin", "--format=%H", *RAW, "-m", "--root", "--full-history"),
            *("--", f":(top,literal){place.relative_to(self._checkout)}"),
        )
        found: dict[Path, dict[Version, bool]] = {}
        for commit, file, version, _ in changes(self._checkout, listed or b""):
            versions = found.setdefault(file, {})
            versions[version] = commit in self._made and versions.get(version, True)
        self._looked_up[place] = found
        return found

    def _contents(self, names: Iterable[str]) -> dict[str, bytes]:
        return git_blobs_now(self._checkout, set(names), most_bytes=_MOST_HISTORY)


def _consists_of(data: bytes, lines: Set[bytes]) -> bool:
    return bool(lines) and all(line in lines for line in unwrapped(data).split(b"\n"))


def stands(file: Path, version: Version) -> bool:
    """Whether a file is in the checkout as git has it there. Blocking."""
    found = _read(file)
    return found is not None and _is_version(found, version, file.parent)


def wait_for_git(checkout: Path) -> None:
    """Wait, for a moment at most, until nobody writes the index of a repository. Blocking."""
    end = time.monotonic() + _PATIENCE
    while os.path.lexists(checkout / ".git/index.lock") and time.monotonic() < end:
        time.sleep(0.05)


def commits_here(checkout: Path, names: Set[str]) -> list[str]:
    """Return which commits are in a repository. Blocking."""
    check = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    told = asked(checkout, names, *check) if names else None
    rows = (told or b"").decode("ascii", "replace").split("\n")
    return [name for name, _, kind in (row.partition(" ") for row in rows) if kind == "commit"]


def asked(
    checkout: Path, given: Iterable[str], *arguments: str, ends: bytes = b"\n"
) -> bytes | None:
    """Return what git prints that reads lines; None where it fails, or prints too much. Blocking.

    Args:
        given: The lines.
        ends: What ends each.
    """
    with TemporaryFile() as lines:
        lines.writelines(os.fsencode(each) + ends for each in given)
        lines.seek(0)
        found = git_bytes_now(
            checkout,
            *arguments,
            timeout=_LONGEST,
            most_bytes=_MOST_HISTORY,
            given=lines.fileno(),
        )
    return None if found is None or len(found) >= _MOST_HISTORY else found


class ListedChange(NamedTuple):
    """What git lists of a file in a commit or in the index.

    Attributes:
        commit: The commit; empty for the index.
        file: The file, absolute.
        version: What it is now.
        before: What it was; zeros for nothing.
    """

    commit: str
    file: Path
    version: Version
    before: Version


def changes(checkout: Path, listed: bytes) -> Iterator[ListedChange]:
    """Yield what `git log --raw -z` and the like list of files."""
    commit = ""
    rows = iter(listed.split(b"\0"))
    for row in rows:
        facts = row.lstrip(b"\n")
        if not facts.startswith(b":"):
            commit = facts.decode("ascii", "replace") or commit
        elif name := next(rows, b""):
            before, mode, was, blob, _ = facts[1:].decode("ascii").split(" ")
            # Whatever the name is, it leads nowhere else.
            file = Path(f"{checkout}/{os.fsdecode(name)}")
            yield ListedChange(commit, file, (mode, blob), (before, was))


def _files(place: Path) -> dict[Path, Content | None]:
    """Return mode and content of a file, or of those in a folder; nothing where there are many."""
    files = [place] if place.is_symlink() or not place.is_dir() else list(files_below(place))
    return {file: _read(file) for file in files} if len(files) <= _MOST_FILES else {}


def _rows(listed: bytes, checkout: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    for row in filter(None, listed.split(b"\0")):
        facts, _, name = row.partition(b"\t")
        mode, blob, _ = facts.decode("ascii").split(" ")
        yield checkout / os.fsdecode(name), (mode, blob)


def _read(file: Path) -> Content | None:
    """Return the mode by which git knows a file, and what is in it; None where it can't be read."""
    try:
        found = file.lstat().st_mode
        if stat.S_ISLNK(found):
            return _LINK, os.fsencode(os.readlink(file))
        return _PROGRAM if found & stat.S_IXUSR else _FILE, read_regular(file, _MOST_BYTES)
    except OSError:
        return None


def _is_version(found: Content, version: Version, checkout: Path) -> bool:
    """Whether mode and content of a file are those of a blob. Blocking."""
    (mode, data), (known, blob) = found, version
    # Some file systems keep no right to run a file: git takes what it finds there.
    alike = mode == known or (mode != _LINK and known in (_FILE, _PROGRAM, _LINK))
    if not alike or all(_name(each, blob) != blob for each in {data, unwrapped(data)}):
        return False
    return (mode == _LINK) == (known == _LINK) or _keeps_no_links(checkout)


def _keeps_no_links(checkout: Path) -> bool:
    """Whether git writes into files where links would lead, as on some file systems."""
    told = git_output_now(checkout, "config", "--type=bool", "core.symlinks")
    return told is not None and told.strip() == "false"


def _links_in(checkout: Path, commit: str, names: Iterable[str]) -> set[Path]:
    """Return which files of a commit are links."""
    listed = git_bytes_now(
        checkout, "ls-tree", "-z", "-r", commit, "--", *names, most_bytes=_MOST_HISTORY
    )
    rows = (row.partition(b"\t") for row in (listed or b"").split(b"\0"))
    return {checkout / os.fsdecode(name) for facts, _, name in rows if facts[:6] == _LINK.encode()}


def _name(data: bytes, like: str) -> str:
    """Return the name by which git knows a content, as long as another."""
    digest = sha1(usedforsecurity=False) if len(like) == sha1().digest_size * 2 else sha256()
    digest.update(b"blob %d\0" % len(data) + data)
    return digest.hexdigest()
