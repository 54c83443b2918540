"""Source URIs, paths, and where bundles are found (spec 003, "Source Resolution")."""

import asyncio
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from amplifier_tui.base.homes import amplifier_home, user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.foundation.exceptions import BundleNotFoundError

_WINDOWS_PATH = lazy_pattern(r"^[A-Za-z]:[\\/]")
_URI_DRIVE = lazy_pattern(r"^/([A-Za-z]:[\\/])")
_FULL_COMMIT = lazy_pattern(r"^[0-9a-fA-F]{40}$")
_CREDENTIALS = lazy_pattern(r"(://)[^/@\s]*:[^/@\s]*@")


def get_amplifier_home() -> Path:
    """Return the Amplifier home: `$AMPLIFIER_HOME`, else `~/.amplifier`."""
    return amplifier_home()


@dataclass(frozen=True)
class ParsedURI:
    """The parts of a source URI; empty where the text has none.

    The scheme is empty for the name of an installed package. The host has user and port, and the
    path the query, if the text gives them. `ref` is the branch, tag or commit of a git URI, `main`
    when it names none; `subpath` is the fragment's `subdirectory`.
    """

    scheme: str
    host: str
    path: str
    ref: str
    subpath: str

    @property
    def is_git(self) -> bool:
        """Whether it names a git repository."""
        return self.scheme.startswith("git+")

    @property
    def is_file(self) -> bool:
        """Whether it is a path on this machine."""
        return self.scheme == "file"

    @property
    def is_http(self) -> bool:
        """Whether it is a plain download."""
        return self.scheme in ("http", "https")

    @property
    def is_zip(self) -> bool:
        """Whether it names an archive."""
        return self.scheme.startswith("zip+")

    @property
    def is_package(self) -> bool:
        """Whether it is the name of an installed package."""
        return not self.scheme and bool(self.path)

    @property
    def address(self) -> str:
        """What to hand to git or a download: the URI without `git+`/`zip+`, ref and fragment."""
        return f"{self.scheme.partition('+')[2] or self.scheme}://{self.host}{self.path}"

    @property
    def source(self) -> str:
        """What is fetched for it: the URI without the fragment, a repository with its ref."""
        if self.is_git:
            return f"{self.scheme}://{self.host}{self.path}@{self.ref}"
        return f"zip+{self.address}" if self.is_zip else self.address


@dataclass(frozen=True)
class ResolvedSource:
    """Where a source is: the file or folder the URI names, and the folder it came in.

    `source_root` is the clone, the unpacked archive or the bundle's tree.
    """

    active_path: Path
    source_root: Path

    @property
    def is_subdirectory(self) -> bool:
        """Whether the URI names only a part of what was fetched."""
        return self.active_path != self.source_root


def parse_uri(text: str) -> ParsedURI:
    """Take a source URI apart; never fails, a text without a scheme is a package name.

    Args:
        text: E.g. `git+https://github.com/o/r@main#subdirectory=a/b`, `file:///a`, `./rel`,
            `zip+https://x/b.zip`, `name`.
    """
    if _is_path(text):
        return ParsedURI("file", "", text, "", "")
    scheme, separator, rest = text.partition("://")
    if not separator:
        first, _, remainder = text.partition("/")
        return ParsedURI("", "", first, "", remainder)
    rest, _, fragment = rest.partition("#")
    host, slash, path = rest.partition("/")
    path = slash + path
    ref = ""
    if scheme.startswith("git+"):
        path, ref = _split_ref(path)
    return ParsedURI(scheme, host, path, ref, _subdirectory(fragment))


def without_fragment(uri: str) -> str:
    """Return a URI without `#subdirectory=…`."""
    return uri.partition("#")[0]


def with_subdirectory(uri: str, path: str) -> str:
    """Return the URI of a folder or file inside of a source."""
    return f"{without_fragment(uri)}#subdirectory={path}"


def is_subdirectory_uri(uri: str) -> bool:
    """Whether a URI names a part of a source."""
    return "#subdirectory=" in uri


def is_full_commit(ref: str) -> bool:
    """Whether a ref is a commit with all of its 40 hexadecimal digits."""
    return bool(_FULL_COMMIT.match(ref))


def redact_uri(text: str) -> str:
    """Return a text with `user:password@` taken out of every URI in it."""
    return _CREDENTIALS.sub(r"\1…@", text)


def normalize_path(path: str | Path, relative_to: Path | None = None) -> Path:
    """Make a path absolute: `~` is the user's home, others are in `relative_to` (default: here).

    Raises:
        BundleNotFoundError: It is an absolute path of another operating system, or no path at all:
            the home of an unknown user, or with a null character.
    """
    try:
        expanded = local_path(str(path)).expanduser()
        return ((relative_to or Path.cwd()) / expanded).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise BundleNotFoundError(f"Not a path: {str(path)!r:.80}: {error}") from error


def home_expanded(path: str) -> str:
    """Return a path with the home in place of its `~`; as it is where no home can be meant."""
    try:
        return os.path.expanduser(path)
    except ValueError:
        return path


def absolute_in_home(source: Any) -> Any:
    """Return a module's source with the home in place of `~` or of the `~` of `~/x`.

    Others stay. Whose it is decides what it may lead to, as of any absolute path.
    """
    if isinstance(source, str) and (source == "~" or source.startswith("~/")):
        return home_expanded(source)
    return source


def strip_uri_drive_prefix(path: str) -> str:
    """Return `C:/x` for the `/C:/x` of an RFC 8089 file URI; other paths as they are."""
    match = _URI_DRIVE.match(path)
    return path[1:] if match else path


def local_path(path: str) -> Path:
    """Return the path of a URI on this machine.

    Raises:
        BundleNotFoundError: It is an absolute path of another operating system.
    """
    text = strip_uri_drive_prefix(path)
    mismatch = describe_cross_platform_path_mismatch(text)
    if mismatch:
        raise BundleNotFoundError(mismatch, remedy="Give the path as it is on this machine.")
    return Path(text)


def describe_cross_platform_path_mismatch(path: str) -> str | None:
    """Say what is wrong with an absolute path of another operating system, or None."""
    if os.name != "nt" and (_WINDOWS_PATH.match(path) or path.startswith("\\\\")):
        return f"{path!r} is a Windows path, and this machine does not run Windows"
    if os.name == "nt" and path.startswith("/") and not _URI_DRIVE.match(path):
        return f"{path!r} is a POSIX path, and this machine runs Windows"
    return None


def is_there(path: Path) -> bool:
    """Whether something exists; what no file can be called, too long or with a null, does not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_within(path: Path, root: Path) -> bool:
    """Whether a path is `root` or inside it once every symbolic link is followed."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def is_relative(text: str) -> bool:
    """Whether a source is a path from the folder of whoever names it."""
    return text in (".", "..") or text.startswith(("./", "../", ".\\", "..\\"))


def _is_path(text: str) -> bool:
    return is_relative(text) or text.startswith(("/", "\\\\")) or bool(_WINDOWS_PATH.match(text))


def _split_ref(path: str) -> tuple[str, str]:
    """Split `/owner/repo@feat/x`; an `@` that begins a segment (`/@owner/repo`) is a name."""
    at = path.rfind("@")
    if at > 0 and path[at - 1] != "/":
        return path[:at], path[at + 1 :] or "main"
    return path, "main"


def _subdirectory(fragment: str) -> str:
    for part in fragment.split("&"):
        key, _, value = part.partition("=")
        if key == "subdirectory":
            return value.strip("/")
    return ""


BUNDLE_FILES = ("bundle.md", "bundle.yaml")
"""Names of a folder's bundle file, the first one found wins."""


async def find_files(base: Path, pattern: str, recursive: bool = True) -> list[Path]:
    """Return the files that match a glob pattern, sorted; empty when `base` is missing."""

    def search() -> list[Path]:
        if not base.is_dir():
            return []
        found = base.rglob(pattern) if recursive else base.glob(pattern)
        return sorted(path for path in found if path.is_file())

    return await asyncio.to_thread(search)


async def find_bundle_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that has a bundle file."""
    return await asyncio.to_thread(enclosing_bundle_folder, start)


def bundle_file_in(folder: Path) -> Path | None:
    """Return the bundle file of a folder: `bundle.md`, else `bundle.yaml`, else None."""
    for name in BUNDLE_FILES:
        if (folder / name).is_file():
            return folder / name
    return None


def enclosing_bundle_folder(start: Path) -> Path | None:
    """Return the nearest folder with a bundle file, going up from a file or folder.

    The search ends below the user's home when `start` is inside it, else below the filesystem's
    root.
    """
    folder = (start if start.is_dir() else start.parent).resolve()
    home = _real_path(str(user_home()))
    while folder not in (home, folder.parent):
        if bundle_file_in(folder) is not None:
            return folder
        folder = folder.parent
    return None


@lru_cache(maxsize=8)
def _real_path(path: str) -> Path:
    """Return a path that does not change while the program runs, without symbolic links."""
    return Path(path).resolve()


def construct_agent_path(base: Path, name: str) -> Path:
    """Return `base/agents/<name>.md`; a name that ends in `.md` is taken as it is."""
    return base / "agents" / (name if name.endswith(".md") else f"{name}.md")


def construct_context_path(base: Path, name: str) -> Path:
    """Return `base/<name>`; leading slashes of the name are dropped, so empty is `base`."""
    relative = name.lstrip("/")
    return base / relative if relative else base
