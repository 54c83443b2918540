"""Code that would be fetched, installed and run: who publishes it, and which content it has."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.paths import (
    is_full_commit,
    parse_uri,
    redact_uri,
    strip_uri_drive_prefix,
)
from amplifier_tui.foundation.trust.items import TrustItem, make_item

_MOST_FILES: Final = 20_000
_MOST_BYTES: Final = 200_000_000
_NOTHING: Final = hashlib.sha256().digest()
_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]+")
_SAFE_TRANSPORTS: Final = frozenset({"https", "ssh"})


@dataclass(frozen=True, slots=True)
class CodeSource:
    """A source that is asked for: a repository, a download or a folder.

    Attributes:
        uri: Without fragment and credentials; the path of a folder.
        brings: Modules and bundles that come from it.
        asked_by: The bundles and settings files that ask for it.
        where: File and line of one of them.
        needs: Packages that would be installed with it, as far as that is known.
    """

    uri: str
    brings: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    where: str = ""
    needs: tuple[str, ...] = ()

    def item(self, content: str = "", owner: str = "", at: str = "") -> TrustItem:
        """Return the question about it.

        Args:
            content: The commit or digest of what would be run; empty while it is not fetched.
            owner: Who brings it; empty for its publisher.
            at: What is shown in place of the content.
        """
        at = at or (f"at {content[:12]}" if content else "to be fetched")
        needs = f"installs {', '.join(self.needs)}" if self.needs else ""
        asked = f"asked for by {', '.join(self.asked_by)}" if self.asked_by else ""
        return make_item(
            "code",
            ", ".join(self.brings) or self.uri,
            subject=(self.uri,),
            content=content,
            owner=owner or publisher(self.uri),
            detail=" · ".join(filter(None, (self.uri, at, needs, asked))),
            where=self.where,
        )


def source_of(uri: str) -> str:
    """Return what a source is known by: without fragment and credentials, a folder by its path."""
    parsed = parse_uri(uri)
    if parsed.is_file and parsed.path and "\0" not in uri:
        return os.path.realpath(os.path.join(strip_uri_drive_prefix(parsed.path), parsed.subpath))
    return redact_uri(parsed.source)


def is_remote(uri: str) -> bool:
    """Whether a source has to be fetched."""
    parsed = parse_uri(uri)
    return parsed.is_git or parsed.is_zip or parsed.is_http


def publisher(uri: str) -> str:
    """Return who publishes a source: server and account, or the whole URI where there is none.

    Of a repository on this machine it is its folder. Only what is fetched from there or over a safe
    transport, at a branch or tag, is anybody's for sure: servers give out commits of forks under
    the address of the original.
    """
    parsed = parse_uri(uri)
    unclear = any(sign in uri for sign in ("\\", "..", "%"))
    if unclear or is_full_commit(parsed.ref) or parsed.ref.startswith("refs/"):
        return uri
    if parsed.scheme == "git+file" and parsed.path and not parsed.host:
        return os.path.normpath(parsed.path)
    try:
        parts = urlsplit(parsed.address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return uri
    account, _, rest = parts.path.strip("/").partition("/")
    plain = _PLAIN.fullmatch(host) and _PLAIN.fullmatch(account) and rest
    if not (parsed.is_git and plain and parts.scheme in _SAFE_TRANSPORTS):
        return uri
    return f"{host.lower()}{f':{port}' if port else ''}/{account.lower()}"


def tree_digest(path: Path) -> str:
    """Return a digest of every file below a folder, with its name and whether it may be run.

    What links lead to counts as well, wherever it is. Git's own folder does not count, nor does
    what Python compiled from a source file beside it. Empty where the folder can't be read, or is
    too large to be looked at.
    """
    digest = hashlib.sha256()
    try:
        for file, status in _counted(path):
            name = os.fsencode(os.path.relpath(file, path))
            digest.update(b"%d %s\0%d\0" % (len(name), name, status.st_mode & 0o170111))
            if stat.S_ISLNK(status.st_mode):
                digest.update(os.fsencode(os.path.realpath(file)))
            elif stat.S_ISREG(status.st_mode):
                # What has no size, as in /proc, may have no end.
                digest.update(_content(file) if status.st_size else _NOTHING)
    except (OSError, ValueError):
        return ""
    return digest.hexdigest()


def _content(file: Path) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _counted(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Return the files below a folder and what its links lead to, before one of them is read.

    Raises:
        ValueError: It is too large.
    """
    found: list[tuple[Path, os.stat_result]] = []
    size, files, folders = 0, set[Path](), [_end_of(folder)]
    # It grows meanwhile, by what links lead to.
    for place in folders:
        for file in _files(folder if place == folders[0] else place):
            found.append((file, file.lstat()))
            if stat.S_ISLNK(found[-1][1].st_mode):
                real = _end_of(file)
                if real.is_dir() and not any(_covers(each, real) for each in folders):
                    folders.append(real)
                elif real.is_file() and real not in files:
                    files.add(real)
                    found.append((real, real.stat()))
            size += found[-1][1].st_size
            if len(found) > _MOST_FILES or size > _MOST_BYTES:
                raise ValueError(f"{folder} is too large to be looked at")
    return found


def _covers(folder: Path, inner: Path) -> bool:
    return inner.is_relative_to(folder) and ".git" not in inner.relative_to(folder).parts


def _end_of(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder, onerror=_raise):
        # A link to a folder is not followed here: it counts as where it leads.
        names += [name for name in folders if (Path(root) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            file = Path(root) / name
            if not _is_compiled(file):
                yield file


def _is_compiled(file: Path) -> bool:
    """Whether Python made a file from the source as it is now.

    It says so itself, by the time of the source; one that does not is code of its own.
    """
    if file.suffix != ".pyc" or file.parent.name != "__pycache__":
        return False
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    try:
        with file.open("rb") as stream:
            head = stream.read(16)
        status = source.stat()
    except OSError:
        return False
    made_from = (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    numbers = [int.from_bytes(head[start : start + 4], "little") for start in (4, 8, 12)]
    return len(head) == 16 and numbers[0] == 0 and (numbers[1], numbers[2]) == made_from


def _raise(error: OSError) -> None:
    raise error
