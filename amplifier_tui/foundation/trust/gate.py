"""Nothing is fetched, installed or executed unless it is allowed.

Every place that would run a stranger's code, or reach for it, asks a `TrustGate`, which asks a
callback. The default callback allows what ships with the program and nothing else, so that a
caller who forgets to decide has decided for no.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.exceptions import TrustRefusedError
from amplifier_tui.foundation.paths import is_within, redact_uri

TrustAction = Literal["fetch", "install", "execute", "connect", "configure", "read"]

_PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """One question.

    Attributes:
        action: `fetch` reaches for the network (or a repository), `install` runs a package
            installer, `execute` imports code into this process, `connect` sends a key there,
            `configure` lets a setting of what guards the user count, `read` puts a file from
            outside the project, or a skill of the project, before the model.
        uri: The source as written, credentials taken out; of a setting or file, where it is named.
        subject: The bundle or module it is for.
        included_by: Who asked for it: names from the outermost bundle inwards.
        commit: The commit, when it is known (always after a fetch from git); else empty.
        path: Where it is on this machine, once it is.
        detail: What exactly would be done, e.g. the packages an install brings, or the keys.
        project: The project that asks for it, as far as one is told from another by that.
    """

    action: TrustAction
    uri: str
    subject: str = ""
    included_by: tuple[str, ...] = ()
    commit: str = ""
    path: Path | None = None
    detail: str = ""
    project: Path | None = None


TrustCallback = Callable[[TrustRequest], bool | Awaitable[bool]]
"""Answers a `TrustRequest`; sync or async. What it raises passes through."""


def shipped_only(shipped: Iterable[Path] = ()) -> TrustCallback:
    """Return the default answer: what is inside the program's own folders, and nothing else.

    `shipped` are folders that come with the program beside its package.
    """
    roots = (_PACKAGE, *shipped)

    def decide(request: TrustRequest) -> bool:
        path = request.path
        return path is not None and any(is_within(path, root) for root in roots)

    return decide


def trust_everything(request: TrustRequest) -> bool:
    """Allow whatever is asked: for a user who said so (`--trust`)."""
    return True


_REMEDY: Final = "Allow the source when asked, or start with --trust."
_default: list[tuple[TrustCallback, str]] = []


def answer_by_default(callback: TrustCallback, remedy: str = _REMEDY) -> None:
    """Have a callback answer wherever no other one was given, for the rest of this process.

    `remedy` says to those who were refused what they can do.
    """
    _default[:] = [(callback, remedy)]


class TrustGate:
    """Asks the callback (default `shipped_only()`), one question at a time, none of them twice.

    `remedy` says to those whom the callback refused what they can do.
    """

    def __init__(self, callback: TrustCallback | None = None, remedy: str = _REMEDY) -> None:
        default, otherwise = next(iter(_default), (shipped_only(), _REMEDY))
        self._callback = callback or default
        self._remedy = remedy if callback else otherwise
        self._answers: dict[tuple[TrustAction, str, str, Path | None, str], bool] = {}
        self._lock = asyncio.Lock()

    async def allows(self, request: TrustRequest) -> bool:
        """Whether the request is granted."""
        key = (request.action, request.uri, request.commit, request.path, request.detail)
        # Loads run concurrently, and the person who answers reads one question at a time.
        async with self._lock:
            if key not in self._answers:
                self._answers[key] = bool(await awaited(self._callback(request)))
        return self._answers[key]

    async def require(self, request: TrustRequest) -> None:
        """Return when the request is granted; raises `TrustRefusedError` when it is not."""
        if not await self.allows(request):
            uri = redact_uri(request.uri)
            what = uri if request.subject in ("", uri) else f"{request.subject} from {uri}"
            raise TrustRefusedError(
                f"Not allowed to {request.action} {what}",
                remedy=self._remedy,
            )
