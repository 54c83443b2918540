"""Asking the user, once, what of a project or a stranger may count."""

import asyncio
import logging
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import time
from uuid import uuid4

from amplifier_tui.foundation.exceptions import TrustCancelledError
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.host.events import MAIN_LANE, HostEvent, Level, TrustAnswered, TrustAsked
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.stream.sender import Stamp
from amplifier_tui.host.trust.answers import TrustMemory

logger = logging.getLogger(__name__)


class TrustService:
    """Answers for one opening (`TrustAnswers`): from memory, else by asking the front end.

    Args:
        session_id: Under which the question is put.
        opened: The session that is opened; answers for a session are for this one.
        project: The user's folder.
        put: Takes events on their way up.
        say: Shows a line to the user.
    """

    def __init__(
        self,
        memory: TrustMemory,
        session_id: str,
        opened: str,
        project: Path,
        put: Callable[[HostEvent], None],
        say: Callable[[Level, str], None],
    ) -> None:
        self._memory = memory
        self._session_id = session_id
        self._opened = opened
        self._project = project
        self._put = put
        self._say = say
        self._asked = False
        self._refused: dict[str, TrustItem] = {}
        self._waiting: tuple[str, asyncio.Future[TrustDecision]] | None = None
        notice = memory.file.notice()
        if notice:
            say("warning", notice)

    @property
    def folders(self) -> Iterable[Path]:
        """Folders the user said are their own."""
        return self._memory.file.folders

    @property
    def nobody(self) -> Container[str]:
        """Keys of items that do not count because nobody was there to be asked."""
        return self._memory.nobody

    @property
    def asks(self) -> bool:
        """Whether a question waits for its answer."""
        return self._waiting is not None

    @property
    def refused(self) -> tuple[TrustItem, ...]:
        """What the user does not want, now or since an earlier answer."""
        return tuple(self._refused.values())

    def known(self, item: TrustItem) -> bool | None:
        """Return what was answered before; None when it has to be asked."""
        answer = self._memory.known(item, self._opened)
        if answer is False:
            self._refused[item.key] = item
        return answer

    def bind(self, item: TrustItem, like: TrustItem) -> None:
        """Keep for an item, for as long, what was answered about `like`."""
        try:
            self._memory.bind(item, like, self._opened)
        except OSError as error:
            logger.warning("An answer could not be kept: %s", error)

    async def ask(self, items: Sequence[TrustItem]) -> Collection[str]:
        """Ask about items, as one question; returns the keys of those that may count.

        Raises:
            TrustCancelledError: Nothing is to be opened.
        """
        shown = tuple(map(self._shown, items))
        request_id = uuid4().hex[:12]
        future: asyncio.Future[TrustDecision] = asyncio.get_running_loop().create_future()
        self._waiting = (request_id, future)
        stamp: Stamp = {"session_id": self._session_id, "agent": MAIN_LANE, "at": time()}
        # What was fetched on the first answer may bring something of its own.
        more, self._asked = "more that" if self._asked else "what", True
        title = f"{self._project.name or self._project} brings {more} needs your word"
        self._put(
            TrustAsked(
                **stamp,
                request_id=request_id,
                title=title,
                items=shown,
                folder=str(self._project),
            )
        )
        try:
            decision = await future
        except asyncio.CancelledError:
            self._put(TrustAnswered(**stamp, request_id=request_id, by="stop"))
            raise
        finally:
            self._waiting = None
        accepted = {item.key for item in items} & decision.accepted
        self._put(TrustAnswered(**stamp, request_id=request_id, accepted=tuple(sorted(accepted))))
        if decision.cancelled:
            raise TrustCancelledError("Nothing was opened: you chose not to")
        try:
            await asyncio.to_thread(self._memory.keep, items, decision, self._opened, self._project)
        except OSError as error:
            reason = error.strerror or error
            self._say("warning", f"Your answer holds for this run only: {reason}")
        if decision.folder:
            accepted |= {item.key for item in items if item.owner == str(self._project)}
        accepted |= {item.key for item in items if item.owner in decision.owners}
        self._refused |= {item.key: item for item in items if item.key not in accepted}
        return accepted

    def forget(self, items: Iterable[TrustItem]) -> None:
        """Forget what was answered about items: they are asked about again.

        Raises:
            OSError: The answers can't be written.
        """
        self._memory.forget(items)

    def answer(self, request_id: str, decision: TrustDecision) -> None:
        """Take the answer; one to a question that is gone is ignored."""
        if self._waiting is not None and self._waiting[0] == request_id:
            future = self._waiting[1]
            if not future.done():
                future.set_result(decision)

    def _shown(self, item: TrustItem) -> TrustItem:
        """Return an item with its secrets taken out, and with what was answered before."""
        clean = Redactor().text
        former = self._memory.file.former(item)
        was = ""
        if former is not None:
            another = item.group == "files" and former.title != item.title
            said = former.title if another else former.detail
            was = f"{'used' if former.accepted else 'refused'}: {said}"
        return replace(
            item, title=clean(item.title), detail=clean(item.detail), where=item.where, was=was
        )
