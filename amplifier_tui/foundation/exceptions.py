"""What foundation raises; `ModuleActivationError` is in `modules.activator`."""

from pathlib import Path

from amplifier_tui.base.python import causes
from amplifier_tui.base.text import with_remedy


def located(message: str, path: Path | None, line: int | None) -> str:
    """Return a message with the file and line it is about before it, as far as they are known."""
    if path is None:
        return message
    return f"{path}: {message}" if line is None else f"{path}:{line}: {message}"


class BundleError(Exception):
    """Base of everything foundation raises about bundles.

    Args:
        message: What is wrong.
        path: File it is about, if there is one.
        line: Line in `path`, counted from 1.
        remedy: What to do next, one sentence.
    """

    def __init__(
        self, message: str, *, path: Path | None = None, line: int | None = None, remedy: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.remedy = remedy

    def __str__(self) -> str:
        return with_remedy(located(self.message, self.path, self.line), self.remedy, "\n")


class BundleNotFoundError(BundleError):
    """No such bundle, file, source, commit or subdirectory."""


class SourceNotFetchedError(BundleNotFoundError):
    """The source `uri` is not in the cache, and fetching is off (offline)."""

    def __init__(self, uri: str) -> None:
        super().__init__(
            f"Not fetched yet: {uri}",
            remedy="Opening or updating the bundle fetches it, once you allow that.",
        )
        self.uri = uri


class GitCloneTimeoutError(BundleNotFoundError):
    """Git took longer than `AMPLIFIER_GIT_CLONE_TIMEOUT_S`."""


class BundleLoadError(BundleError):
    """The file is there and cannot be read as a bundle."""


class BundleValidationError(BundleError):
    """The bundle has wrong content."""


class BundleDependencyError(BundleError):
    """An include cannot be had."""


class CircularIncludeError(BundleDependencyError):
    """A bundle includes itself, directly or through others."""


class TrustRefusedError(BundleError):
    """The trust callback did not allow a source to be fetched, installed or executed."""


class TrustCancelledError(BundleError):
    """The user was asked what to trust, and chose not to open anything."""


def refusal_in(error: BaseException) -> TrustRefusedError | None:
    """Return the refusal for which something failed, in itself or in what it needs, if any."""
    return next((each for each in causes(error) if isinstance(each, TrustRefusedError)), None)
