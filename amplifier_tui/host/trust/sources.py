"""The trust question: nothing of a stranger is fetched, installed or executed unasked.

The question goes over the approval queue like any other. An answer for ever is kept per source and
commit in the user's own state directory.
"""

import asyncio
import hashlib
import logging
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import locked
from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.trust.gate import TrustCallback, TrustRequest, shipped_only
from amplifier_tui.host.gate.queue import ApprovalQuestion, ApprovalQueue
from amplifier_tui.paths import shipped_bundles_dir, user_state_dir

logger = logging.getLogger(__name__)

_WORDS: Final = {
    "fetch": "fetch",
    "install": "install packages for",
    "execute": "run the code of",
    "connect": "send your key with",
}


class TrustBook:
    """What was trusted for good, by this program and by every other one that runs.

    Args:
        path: The file; None for the usual one.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._here: set[str] = set()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path if self._path is not None else user_state_dir() / "trusted-sources.json"

    def knows(self, request: TrustRequest) -> bool:
        """Whether this source, at this commit, was trusted before."""
        key = _key(request)
        return key in self._here or key in self._stored()

    def add(self, request: TrustRequest) -> None:
        """Trust it from now on; where the file can't be written, until this program ends."""
        self._here.add(_key(request))
        try:
            # Another program may have added its own answers since this one read the file.
            with locked(self.path):
                known = sorted(self._stored() | self._here)
                write_object(self.path, {"version": 1, "trusted": known}, mode=0o600)
        except OSError as error:
            logger.warning("The trust in a source could not be noted: %s", error)

    def _stored(self) -> set[str]:
        try:
            return {str(key) for key in read_object(self.path).get("trusted", ())}
        except (OSError, ValueError, TypeError) as error:
            logger.warning(
                "%s can't be read, so no source counts as trusted: %s. Remove it to begin anew.",
                self.path,
                error,
            )
            return set()


def asking(approvals: ApprovalQueue, book: TrustBook, project: Path) -> TrustCallback:
    """Return a trust callback that asks the user.

    Args:
        project: The user's folder; what is in it is told as being there.
    """
    shipped = shipped_only((shipped_bundles_dir(),))

    async def decide(request: TrustRequest) -> bool:
        if shipped(request) or await asyncio.to_thread(book.knows, request):
            return True
        answer = await approvals.ask(_question(request, project))
        if answer.outcome == "allowed":
            await asyncio.to_thread(book.add, request)
            return True
        return False

    return decide


def _question(request: TrustRequest, project: Path) -> ApprovalQuestion:
    uri = redact_uri(request.uri)
    place = f"\nin {request.path}" if request.path is not None else ""
    via = f"\nasked for by {' → '.join(request.included_by)}" if request.included_by else ""
    commit = f"\nat commit {request.commit}" if request.commit else ""
    what = f"{_WORDS[request.action]} {request.subject or uri}"
    own = request.path is not None and request.path.is_relative_to(project)
    return ApprovalQuestion(
        asker="trust",
        prompt=f"The bundle wants to {what}\nfrom {uri}{commit}{place}{via}"
        + (f"\n{request.detail}" if request.detail else ""),
        why="in your project" if own else "it does not come with the program",
        risk="medium" if own else "high",
    )


def _key(request: TrustRequest) -> str:
    """Return what an answer is remembered under.

    A folder on this machine has no commit; its place stands for it, as it does for a person. A
    server gets the keys that were named, and no others.
    """
    where = request.commit or (str(request.path) if request.path is not None else "")
    where = where or (request.detail if request.action == "connect" else "")
    text = "\0".join((request.action, request.uri, where))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
