"""Moving away what a command made, also where it took the right to from the owner.

A command that still runs may put a link in the place of a folder at any moment. So folders are
opened one by one without following links, and what is in one is named by its open folder.
"""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.nearby import Entries, FolderListing
from amplifier_tui.base.opened.copying import allow, change_mode, copy
from amplifier_tui.base.opened.folders import Spot, opened
from amplifier_tui.base.protected import is_obeyed
from amplifier_tui.modules.tool_bash.sandbox.opened import Identity, identity_in

_SET_ASIDE: Final = ".set-aside-"
_LONGEST_NAME: Final = 200
_MOST_COPIED: Final = 500_000_000
"""Bytes that are copied to another file system; more than that stays under another name."""


def move_aside(workspace: Path, place: Path, identity: Identity, into: Path) -> Path:
    """Move a file or a folder, and return where it is now. Blocking.

    Args:
        workspace: Folder that the place is in, without links.
        place: What to move; a link is moved itself.
        identity: What tells it from what may be put in its place.
        into: A folder in which a new one is made for it; it is made as well.

    Raises:
        FileNotFoundError: It is gone, or is another by now.
        OSError: It can't be moved.
    """
    with opened(workspace, place.parent) as folder, _writable(folder):
        if identity_in(folder, place.name) != identity:
            raise FileNotFoundError(errno.ENOENT, "It is another by now", str(place))
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = Path(tempfile.mkdtemp(dir=into)) / place.name
        allow(Spot(place.name, folder))
        try:
            try:
                os.rename(place.name, kept, src_dir_fd=folder)
                return kept
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
            _copy_away(place, folder, kept)
        except BaseException:
            # Half a copy is of no use; the whole is where it was.
            with contextlib.suppress(RecursionError):
                shutil.rmtree(kept.parent, ignore_errors=True)
            raise
        return kept


def _copy_away(place: Path, folder: int, kept: Path) -> None:
    """Move to another file system: under a name of its own nobody writes into it meanwhile.

    Raises:
        OSError: It can't be copied, and is where it was.
    """
    name = _inert_name(place)
    os.rename(place.name, name, src_dir_fd=folder, dst_dir_fd=folder)
    try:
        copy(Spot(name, folder), Spot(str(kept), None), _MOST_COPIED)
    except BaseException:
        os.rename(name, place.name, src_dir_fd=folder, dst_dir_fd=folder)
        raise
    _remove(name, folder)


def _inert_name(place: Path) -> str:
    """Return a name that means nothing to any program."""
    mark = f"{_SET_ASIDE}{os.urandom(8).hex()}"
    name = os.fsdecode(os.fsencode(place.name.lstrip("."))[:_LONGEST_NAME]) + mark
    return mark.lstrip(".") if is_obeyed(name) else name


def rename_here(workspace: Path, place: Path, identity: Identity) -> Path:
    """Give a file or folder that can't be moved away a name that means nothing. Blocking.

    Returns:
        Where it is now: in the same folder.

    Raises:
        FileNotFoundError: It is gone, or is another by now.
        OSError: It can't be renamed, or it would mean the same by any name.
    """
    # Among what git writes itself a link leads out by any name; the second time no name has helped.
    if (".git" in place.parts and place.is_symlink()) or _SET_ASIDE in place.name:
        raise OSError(errno.EINVAL, "No other name is of use", str(place))
    name = _inert_name(place)
    with opened(workspace, place.parent) as folder, _writable(folder):
        if identity_in(folder, place.name) != identity:
            raise FileNotFoundError(errno.ENOENT, "It is another by now", str(place))
        os.rename(place.name, name, src_dir_fd=folder, dst_dir_fd=folder)
    return place.with_name(name)


def write_into(workspace: Path, place: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file anew in a folder of the workspace. Blocking.

    Raises:
        OSError: It can't be written.
    """
    with opened(workspace, place.parent) as folder, _writable(folder):
        handle = os.open(
            place.name,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
            mode,
            dir_fd=folder,
        )
        with os.fdopen(handle, "wb") as file:
            file.write(data)


@contextmanager
def _writable(folder: int) -> Iterator[None]:
    """Let the owner write in an open folder for the time being."""
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    lacks = mode & stat.S_IRWXU != stat.S_IRWXU
    if lacks:
        change_mode(folder, mode | stat.S_IRWXU)
    try:
        yield
    finally:
        if lacks:
            with contextlib.suppress(OSError):
                change_mode(folder, mode)


def _remove(name: str, folder: int) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


class Reopening(FolderListing):
    """Gives the owner back the right to list a folder, where it could be listed before.

    Also of one that was not there before: programs still write to what they can't list.

    Attributes:
        opened: Those whose owner was given it back.
    """

    def __init__(
        self,
        before: FolderListing,
        workspace: Path,
        counts: Callable[[str, Path], bool],
        earlier: Entries,
    ) -> None:
        """Begin with none.

        Args:
            before: What was listed before the command.
            workspace: The folder in which the others are.
            counts: As of `FolderListing`, and `earlier` as well.
        """
        super().__init__(counts, earlier, before.most)
        self._workspace = workspace
        self._before = before
        self.opened: set[Path] = set()

    def entries(self, folder: Path) -> list["os.DirEntry[str]"]:
        """Return what is in a folder, as `FolderListing` does."""
        entries = super().entries(folder)
        if folder not in self.unknown or not self._before.knew(folder):
            return entries
        try:
            with opened(self._workspace, folder) as handle:
                mode = stat.S_IMODE(os.fstat(handle).st_mode)
                if mode & stat.S_IRWXU == stat.S_IRWXU:
                    return entries
                change_mode(handle, mode | stat.S_IRWXU)
        except OSError:
            return entries  # It is gone, or somebody else's.
        self.unknown.discard(folder)
        self.opened.add(folder)
        return super().entries(folder)
