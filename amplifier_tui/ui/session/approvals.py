"""Approval requests on the screen: when a dialog opens, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from amplifier_tui.ui.state.waiting import APPROVAL, DialogAnswer, QueuePlace

if TYPE_CHECKING:
    from amplifier_tui.host.client import Decision
    from amplifier_tui.host.events import ApprovalRequested, Scope
    from amplifier_tui.ui.app.screens.main_screen import MainScreen
    from amplifier_tui.ui.dialogs.approval import ApprovalDialog
    from amplifier_tui.ui.session.keyboard import Keyboard
    from amplifier_tui.ui.session.tabs.tab import SessionTab


_TYPED = "Keys at one go are typing; pressed apart, they answer"


class ApprovalDialogs:
    """Opens and closes the approval dialogs of all sessions of the window, as its queue decides.

    Args:
        tabs: Returns the sessions, the one that is shown first.
    """

    def __init__(
        self, screen: MainScreen, keyboard: Keyboard, tabs: Callable[[], Sequence[SessionTab]]
    ) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._tabs = tabs
        self._owners: dict[str, SessionTab] = {}
        """Whose the pending requests are, by their id."""
        self.queue = DialogQueue(self)
        self._dialog: ApprovalDialog | None = None
        self._asking: SessionTab | None = None
        """Whose the request in the dialog is."""
        self._held: set[str] = set()
        self._scopes: dict[str, Scope] = {}
        """How long a grant of a request is to hold, as far as it was chosen before."""
        self._seen: list[int] = []

    def sync(self) -> None:
        """Take the requests that wait in all sessions; cheap when they are the same."""
        tabs = self._tabs()
        seen = [part for tab in tabs for part in (id(tab), tab.state.approvals.version)]
        if seen != self._seen:
            self._seen = seen
            owned = [(tab, r) for tab in tabs for r in tab.state.approvals.pending]
            self._owners = {request.request_id: tab for tab, request in owned}
            self._held &= self._owners.keys()
            self._scopes = {each: s for each, s in self._scopes.items() if each in self._owners}
            self.queue.sync([request for _, request in owned])
            if self._dialog is not None and self._dialog.request.request_id in self._held:
                # What comes behind a question that somebody reads waits for them as well.
                self._hold()

    def owner(self, request: ApprovalRequested) -> SessionTab | None:
        """Return the session that a request is of."""
        return self._owners.get(request.request_id)

    def is_seen(self, request: ApprovalRequested) -> bool:
        """Whether the session of a request is shown, so that its dialog opens by itself."""
        owner = self.owner(request)
        return owner is not None and owner.shown

    def open(self, request: ApprovalRequested, place: QueuePlace, asked_for: bool) -> None:
        """Show a request; `asked_for` by the user."""
        from amplifier_tui.ui.dialogs.approval import ApprovalDialog

        self._asking = tab = self._owners[request.request_id]
        self._dialog = dialog = ApprovalDialog(
            request,
            lane=tab.state.lanes.name_of(request.agent),
            session=tab.named(""),
            place=place,
            hold=self._hold,
            client=tab.client,
            held=request.request_id in self._held,
            scope=self._scopes.get(request.request_id, "once"),
            keymap=self._screen.keymap,
            is_first_click=self._keyboard.is_first_click,
            cover=partial(self._cover, request.request_id),
        )
        dialog.asked_for = asked_for
        self._screen.app.push_screen(dialog, partial(self._closed, dialog))

    def close(self, request_id: str) -> None:
        """Take the dialog away and say what became of the request."""
        dialog, self._dialog = self._dialog, None
        if dialog is not None and dialog.request.request_id == request_id:
            from amplifier_tui.ui.dialogs.approval_words import outcome_words

            written = dialog.written
            dialog.withdraw()
            answers = self._asking.state.approvals.recent if self._asking is not None else ()
            answer = next((a for a in reversed(answers) if a.request_id == request_id), None)
            changed = answer is not None and answer.outcome == "changed"
            self._screen.say(*outcome_words(dialog.request, answer))
            if self._asking is not None and not (changed and dialog.judges):
                self._keyboard.cut_off(self._asking, written)
            if changed:
                # What was edited here is asked about anew: the next key is meant for that.
                self._keyboard.expect_question()

    def take_back(self, request_id: str) -> bool:
        """Close the dialog as if it had not opened; False when it was seen or a key came."""
        dialog = self._dialog
        if dialog is None or dialog.request.request_id != request_id or dialog.was_noticed:
            return False
        self._dialog = None
        dialog.withdraw()
        return True

    def opens_in(self) -> float:
        """Return the seconds after which to ask again, 0 when a dialog may open now."""
        return self._keyboard.question_wait()

    def show_waiting(self, request: ApprovalRequested | None, count: int) -> None:
        """Show above the prompt what F8 would open, and how many there are."""
        from amplifier_tui.ui.dialogs.approval_words import strip

        if self._screen.strip is None:
            return
        if request is None:
            self._screen.strip.show("approvals", None)
        else:
            held = request.request_id in self._held
            key = self._screen.keymap.way_to("approval.show")
            owner = self.owner(request)
            whose = owner.named("") if owner is not None else ""
            draw = partial(strip, request, held, key, whose=whose)
            self._screen.strip.show(
                "approvals",
                draw,
                request.risk,
                lambda: (owner is not None and not owner.shown, APPROVAL),
                lambda: count,
            )

    def _hold(self, answered: str = "") -> None:
        """Stop the clocks of all that wait: somebody is there, and sees them one by one."""
        for request in self.queue.waiting:
            if request.request_id not in (answered, *self._held):
                self._held.add(request.request_id)
                if request.timeout is not None:
                    self._owners[request.request_id].client.hold(request.request_id)

    def show_place(self, place: QueuePlace) -> None:
        """Show how many wait."""
        if self._dialog is not None:
            self._dialog.set_place(place)

    def decide(self, request_id: str, decision: Decision) -> None:
        """Send an answer."""
        if (owner := self._owners.get(request_id)) is not None:
            owner.client.decide(request_id, decision)

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Call back on the UI loop."""
        self._screen.set_timer(seconds, call)

    def _cover(self, request_id: str, rows: int) -> None:
        """Keep the end of the conversation in view, for the dialog that is open now."""
        if self._dialog is None or self._dialog.request.request_id == request_id:
            self._screen.cover(rows)

    def _closed(self, dialog: ApprovalDialog, answer: DialogAnswer | None) -> None:
        if self._dialog is dialog:
            # Else the next request has its own by now.
            self._dialog = None
        if answer is not None:
            if answer.decision is not None:
                self._hold(answered=answer.request_id)
            self._scopes[answer.request_id] = dialog.scope
            self.queue.answered(answer)
            keys = self._screen.keymap.by_key("approval")
            if answer.typing and dialog.typed and all(letter in keys for letter in dialog.typed):
                # Each of them is a key of the question, too.
                self._screen.say(_TYPED, "warning")


class DialogQueue:
    """Decides when an approval dialog opens and closes, and what becomes of the answer.

    One at a time, in their order, while the user does not type. It never reopens what was put off,
    closes what is resolved elsewhere, and opens what an unseen session asks only when the user
    wants to answer.
    """

    def __init__(self, dialogs: ApprovalDialogs) -> None:
        self._dialogs = dialogs
        self._pending: list[ApprovalRequested] = []
        self._answered: set[str] = set()
        self._later: set[str] = set()
        self._wanted: set[str] = set()
        """Those the user wanted to answer, wherever they come from."""
        self._open = ""
        self._ticking = False

    @property
    def waiting(self) -> list[ApprovalRequested]:
        """Requests the user has not answered, oldest first, put off ones included."""
        return [r for r in self._pending if r.request_id not in self._answered]

    def sync(self, pending: Sequence[ApprovalRequested]) -> None:
        """Take the pending requests, those of the session that is shown first, oldest first."""
        self._pending = list(pending)
        known = {request.request_id for request in pending}
        self._answered &= known
        self._later &= known
        self._wanted &= known
        if self._open and self._open not in known:
            gone, self._open = self._open, ""
            self._dialogs.close(gone)
        if self._is_early() and self._dialogs.take_back(self._open):
            # Those of one answer are judged side by side: a later one may have come sooner.
            self._open = ""
            self._consider(at_once=True)
            return
        if self._open:
            self._dialogs.show_place(self._place(self._open))
        self._consider()

    def show(self, of: SessionTab | None = None) -> bool:
        """Bring back what was put off and show the oldest request; False when none waits.

        Args:
            of: Whose requests are meant; None for those of all sessions.
        """
        meant = [r for r in self.waiting if of is None or self._dialogs.owner(r) is of]
        known = {request.request_id for request in meant}
        self._later -= known
        self._wanted |= known
        if not self._open and meant:
            self._show(meant[0], asked_for=True)
        return bool(meant)

    def answered(self, answer: DialogAnswer) -> None:
        """A dialog closed with an answer."""
        if self._open == answer.request_id:
            self._open = ""
        request = next((r for r in self.waiting if r.request_id == answer.request_id), None)
        if request is not None and answer.decision is None:
            self._wanted.discard(answer.request_id)
            if not answer.typing:
                self._later.add(answer.request_id)
            if answer.elsewhere:
                self._later |= {each.request_id for each in self.waiting if self._opens(each)}
        elif request is not None and answer.decision is not None:
            same = self._like(request)
            for each in same if answer.identical else [request]:
                self._answered.add(each.request_id)
                self._dialogs.decide(each.request_id, answer.decision)
        self._consider(at_once=not answer.typing)

    def _place(self, request_id: str) -> QueuePlace:
        request = next((r for r in self.waiting if r.request_id == request_id), None)
        if request is None:
            return QueuePlace()
        mine = self._beside(request)
        return QueuePlace(mine.index(request) + 1, len(mine), len(self._like(request)))

    def _beside(self, request: ApprovalRequested) -> list[ApprovalRequested]:
        """Return what the session of a request waits for, with its agents: that one too."""
        owner = self._dialogs.owner(request)
        return [r for r in self.waiting if self._dialogs.owner(r) is owner]

    def _like(self, request: ApprovalRequested) -> list[ApprovalRequested]:
        """Return the requests of the same session that ask for exactly the same."""
        return [r for r in self._beside(request) if same_request(r, request)]

    def _is_early(self) -> bool:
        """Whether another request of its session is to be answered before the one that is open."""
        shown = next((r for r in self.waiting if r.request_id == self._open), None)
        if shown is None:
            return False
        return next(filter(self._opens, self._beside(shown)), shown) is not shown

    def _opens(self, request: ApprovalRequested) -> bool:
        if request.request_id in self._later:
            return False
        return request.request_id in self._wanted or self._dialogs.is_seen(request)

    def _show(self, request: ApprovalRequested, asked_for: bool = False) -> None:
        self._dialogs.show_waiting(None, 0)
        self._open = request.request_id
        self._dialogs.open(request, self._place(request.request_id), asked_for)

    def _consider(self, at_once: bool = False) -> None:
        """Open the next dialog now, or look again when the user may have paused."""
        if self._open:
            return
        waiting = self.waiting
        queue = [r for r in waiting if self._opens(r)]
        wait = self._dialogs.opens_in() if queue and not at_once else 0
        if queue and not wait:
            self._show(queue[0])
            return
        self._dialogs.show_waiting(waiting[0] if waiting else None, len(waiting))
        if queue and not self._ticking:
            self._ticking = True
            self._dialogs.after(max(0.01, wait), self._tick)

    def _tick(self) -> None:
        self._ticking = False
        self._consider()


_thing = attrgetter(
    "asker", "tool", "action", "prompt", "payload", "payload_kind", "segments", "diff", "cwd",
    "paths", "outside", "risk", "options",
)  # fmt: skip


def same_request(one: ApprovalRequested, other: ApprovalRequested) -> bool:
    """Return whether two requests ask for exactly the same thing."""
    return bool(_thing(one) == _thing(other))
