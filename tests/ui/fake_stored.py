"""What a scripted session answers of stored sessions."""

from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_tui.host.client import (
    ExportedFile,
    ExportRequest,
    SearchFound,
    SessionCard,
    SessionDetails,
    SessionList,
)
from tests.ui.fake_imported import answer, done


@dataclass
class FakeStored:
    """Implements most of `StoredClient`.

    Attributes:
        calls: Every call with its arguments, in order.
        stored: What `sessions` answers with, those that hold what is typed.
        page: What it answers instead; an exception makes it fail.
        detailed: What `session_details` answers; an exception makes it fail.
        refusal: What changes of a stored session answer.
        left: What `left_open` answers.
        found: What `search` answers; an exception makes it fail.
        exported: What `export` answers; an exception makes it fail.
    """

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    stored: tuple[SessionCard, ...] = ()
    page: SessionList | Exception | None = None
    detailed: SessionDetails | Exception = field(
        default_factory=lambda: SessionDetails(card=SessionCard(session_id="s"))
    )
    refusal: str = ""
    left: tuple[SessionCard, ...] = ()
    exported: ExportedFile | Exception = field(
        default_factory=lambda: ExportedFile(path="/there/out.html", count=3)
    )
    found: SearchFound | Exception = field(default_factory=SearchFound)

    def search(self, typed: str, *, here: bool = False) -> Future[SearchFound]:
        self.calls.append(("search", typed, here))
        return answer(self.found if typed else SearchFound())

    def left_open(self) -> Future[tuple[SessionCard, ...]]:
        return answer(self.left)

    def keep_left_open(self) -> None:
        self.calls.append(("keep_left_open",))

    def dismiss_left_open(self, session_ids: tuple[str, ...]) -> None:
        self.calls.append(("dismiss_left_open", session_ids))
        self.left = tuple(card for card in self.left if card.session_id not in session_ids)

    def export(self, request: ExportRequest) -> Future[ExportedFile]:
        self.calls.append(("export", request))
        return answer(self.exported)

    def sessions(
        self, typed: str = "", *, here: bool = True, most: int = 100
    ) -> Future[SessionList]:
        self.calls.append(("sessions", typed, here, most))
        if self.page is not None:
            return answer(self.page)
        found = [card for card in self.stored if not typed or typed in repr(card)]
        cards = tuple(
            replace(
                card, key=card.key or f"-work-app/{card.session_id}", cwd=card.cwd or "/work/app"
            )
            for card in found[:most]
        )
        return done(SessionList(cards=cards, matching=len(found), cwd="/work/app"))

    def session_details(self, key: str) -> Future[SessionDetails]:
        self.calls.append(("session_details", key))
        return answer(self.detailed)

    def title_session(self, key: str, title: str) -> Future[str]:
        self.calls.append(("title_session", key, title))
        return done(self.refusal)

    def tag_session(
        self, key: str, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()
    ) -> Future[str]:
        self.calls.append(("tag_session", key, add, remove))
        return done(self.refusal)

    def pin_session(self, key: str, *, on: bool) -> Future[str]:
        self.calls.append(("pin_session", key, on))
        return done(self.refusal)

    def delete_session(self, key: str) -> Future[str]:
        self.calls.append(("delete_session", key))
        return done(self.refusal)

    def restore_session(self, key: str) -> Future[str]:
        self.calls.append(("restore_session", key))
        return done(self.refusal)

    def copy_session(self, key: str, cwd: Path | None = None) -> None:
        self.calls.append(("copy_session", key, cwd))
