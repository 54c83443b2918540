"""Everything a project or a stranger brings to one opening, collected and asked about once."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol
from uuid import uuid4

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.exceptions import TrustRefusedError
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.paths import is_there, is_within, parse_uri
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.sources.lockfile import LockEntry
from amplifier_tui.foundation.trust.code import CodeSource, is_remote, source_of, tree_digest
from amplifier_tui.foundation.trust.gate import (
    TrustAction,
    TrustCallback,
    TrustGate,
    TrustRequest,
)
from amplifier_tui.foundation.trust.items import TrustGroup, TrustItem, choice_of_bundle, make_item
from amplifier_tui.foundation.trust.owners import Owner, Ownership

WHEN_ASKED: Final = "Allow it when asked (on the screen /trust asks again)"
"""Also said where nobody is asked, as by `amplifier-tui run`."""
ALLOW_IT: Final = (
    f"{WHEN_ASKED}, or with `{as_typed('amplifier-tui trust add')}`, or start with --trust."
)
MOST_QUESTIONS: Final = 2
"""Of one opening: about what it brings, and about what others bring that was fetched then."""

_NOT_LOOKED_AT: Final = "too large or can't be read: asked about each time"
NOT_ASKED: Final = "it came with what you allowed, too late to be asked about"
ASK_LATER: Final = "Open the bundle again: it is asked about then."
NOT_TRUSTED: Final = "it is not trusted yet, and nobody was there to be asked"


class TrustAnswers(Protocol):
    """Who answers: what was answered before, and the user."""

    @property
    def folders(self) -> Iterable[Path]:
        """Folders the user said are their own."""

    @property
    def nobody(self) -> Container[str]:
        """Keys of items that do not count because nobody was there to be asked."""

    def known(self, item: TrustItem) -> bool | None:
        """Return what was answered before; None when it has to be asked."""

    def bind(self, item: TrustItem, like: TrustItem) -> None:
        """Keep for an item, for as long, what was answered about `like`.

        That is the same item before its content was known, or what the item comes with.
        """

    async def ask(self, items: Sequence[TrustItem]) -> Collection[str]:
        """Ask about items, as one question; returns the keys of those that may count.

        Raises:
            TrustCancelledError: Nothing is to be opened.
        """


class TrustReview:
    """Decides what of one opening counts.

    An item nobody has answered yet does not count, and waits for `settle`; after that the opening
    starts over. So nothing counts before it was asked about, and everything is asked at once that
    can be known at once.

    An answer to code of a publisher holds for what it brings of the same publisher, unless other
    code of that publisher was refused beside it. Settings, files and keys are always asked about.

    Args:
        questions: How often may be asked where all is asked at once; None for as often as needed.
            What comes after that does not count, and is asked about the next time.

    Attributes:
        places: Whose files are whose.
        environ: The environment, for whether there is a key to give.
        chosen_by: Whose word it is that the bundle is opened.
        left_out: What never counts, whoever allows it, by what it is and where; see `leave_out`.
        named: Files outside of the project that its settings call bundles, and whether they may.
        unasked: Of the items nobody was asked about, by subject, why not and what to do.
        pinned: Sources whose commit somebody else than the publisher or the user has chosen.
        kept_home: Modules whose addresses in the project's settings do not count: no key, or
            conversation, goes there.
        changed: By file and path of keys of each MCP server that may be used: whether what it runs
            is not what was allowed any more. Blocking.
        collects: Whether code and keys are collected here; else the callback is asked about them
            when they are needed.
    """

    def __init__(
        self,
        places: Ownership,
        answers: TrustAnswers,
        environ: Mapping[str, str] | None = None,
        chosen_by: Owner = Owner.USER,
        questions: int | None = None,
    ) -> None:
        self.places = places
        self.chosen_by = chosen_by
        self.environ = environ or {}
        self.collects = not isinstance(answers, EachAsked)
        self._questions = questions if self.collects else None
        self._callback = answers.callback if isinstance(answers, EachAsked) else None
        self._answers = answers
        self._once = uuid4().hex
        self._given: dict[str, bool] = {}
        self._pending: dict[str, TrustItem] = {}
        self._refused: dict[str, TrustItem] = {}
        self._fresh: set[str] = set()
        self.named: dict[Path, bool] = {}
        self.unasked: dict[str, tuple[str, str]] = {}
        self.pinned: frozenset[str] = frozenset()
        self.left_out: dict[tuple[str, str], ReportItem] = {}
        self.kept_home: set[str] = set()
        self.changed: dict[tuple[Path, Keys], Callable[[], bool]] = {}
        self._sources: dict[str, CodeSource] = {}
        self._strange: set[str] = set()
        self._vouched: set[str] = set()
        self._fetched: set[Path] = set()
        self._brought: set[str] = set()
        self._accepted: dict[str, TrustItem] = {}

    @property
    def pending(self) -> tuple[TrustItem, ...]:
        """The items that wait for an answer."""
        return tuple(self._pending.values())

    @property
    def refused(self) -> tuple[TrustItem, ...]:
        """The items that were refused."""
        return tuple(self._refused.values())

    def allows(self, item: TrustItem, comes_with: TrustItem | None = None) -> bool:
        """Whether an item may count.

        Args:
            comes_with: What was allowed and has the item allowed, too.
        """
        answer = self._given.get(item.key)
        if answer is None:
            answer = self._answers.known(item)
        # Of what was allowed before it was fetched, this is what came.
        like = item if item.subject in self._fresh else comes_with
        if answer is None and like is not None:
            answer = True
            self._fresh.add(item.subject)
            self._answers.bind(item, like)
        if answer is None:
            self._pending[item.key] = item
            return False
        self._given[item.key] = answer
        if not answer:
            self._refused[item.key] = item
            if item.key in self._answers.nobody:
                self.unasked[item.subject] = (NOT_TRUSTED, ALLOW_IT)
        return answer

    def was_allowed(self, item: TrustItem) -> bool:
        """Whether an item may count by earlier answers, of which nothing is noted here."""
        return self._answers.known(item) is True

    def choose(self, source: str) -> None:
        """Open a bundle: on the user's word, if that is kept for this project, else as before."""
        item = choice_of_bundle(self.places.project, source)
        if self._answers.known(item):
            self.chosen_by = Owner.USER

    def leave_out(self, item: ReportItem) -> None:
        """Note what does not count and is not asked about."""
        self.left_out[item.what, item.where] = item

    async def settle(self) -> bool:
        """Ask about everything that waits; whether anything did."""
        waiting, self._pending = self.pending, {}
        # Some may have come with others since.
        asked = [item for item in waiting if item.key not in self._given]
        if not asked:
            return bool(waiting)
        if self._questions == 0:
            self.unasked |= {item.subject: (NOT_ASKED, ASK_LATER) for item in asked}
            self._given |= {item.key: False for item in asked}
            return True
        if self._questions is not None:
            self._questions -= 1
        accepted = await self._answers.ask(asked)
        for item in asked:
            self._given[item.key] = item.key in accepted
            if item.key in accepted and item.key == item.subject:
                self._fresh.add(item.subject)
        code = [item for item in asked if item.group == "code"]
        self._accepted |= {item.owner: item for item in code}
        for item in code:
            if item.key not in accepted:
                self._accepted.pop(item.owner, None)
        return True

    # --- code ------------------------------------------------------------------------------

    def announce(self, source: CodeSource, owner: Owner, named_in: Path | None = None) -> None:
        """Say who asks for a source, before it is asked about.

        Args:
            owner: The owner of what asks for it.
            named_in: The file or folder that does.
        """
        # Before anything was answered here, nothing comes along with an answer.
        if self._accepted and named_in is not None and self._is_fetched(named_in):
            self._brought.add(source.uri)
        known = self._sources.get(source.uri, source)
        brings = dict.fromkeys((*known.brings, *source.brings))
        asked_by = dict.fromkeys((*known.asked_by, *source.asked_by))
        self._sources[source.uri] = replace(
            known,
            brings=tuple(brings),
            asked_by=tuple(asked_by),
            where=known.where or source.where,
            needs=tuple(dict.fromkeys((*known.needs, *source.needs))),
        )
        (self._vouched if owner.is_trusted else self._strange).add(source.uri)

    def allows_source(
        self, uri: str, resolved: Mapping[str, LockEntry], root: Path | None = None
    ) -> bool:
        """Whether the code, or the bundle, of a source may be used.

        Args:
            uri: The source.
            resolved: What remote sources have resolved to.
            root: The folder a remote source was fetched to.
        """
        if not self.collects or parse_uri(uri).is_package:
            return True
        name = source_of(uri)
        source = self._sources.get(name) or CodeSource(name)
        if is_remote(uri):
            entry = resolved.get(parse_uri(uri).source)
            content = "" if entry is None else entry.commit or entry.sha256
            allowed = self._allows_code(source, content)
            if allowed and root is not None:
                self._fetched.add(root)
            return allowed
        path = Path(name)
        if self._is_own(path) or not is_there(path):
            return True
        own = self.places.owner_of(path) is Owner.PROJECT
        owner = str(self.places.project) if own else name
        content = tree_digest(path)
        if not content:
            # No answer is good for what may be something else by the next time.
            return self.allows(source.item(f"{name} {self._once}", owner, _NOT_LOOKED_AT))
        return self.allows(source.item(content, owner))

    def _is_own(self, path: Path) -> bool:
        """Whether the program or the user has a folder run, or it came with what is allowed."""
        owner, name = self.places.owner_of(path), str(path)
        if owner is Owner.PROGRAM or self._is_fetched(path):
            return True
        if name in self._strange:
            return False
        named = name in self._vouched and not is_within(path, self.places.home / "cache")
        return owner is Owner.USER or (owner is Owner.STRANGER and named)

    def _is_fetched(self, path: Path) -> bool:
        """Whether something came with what was fetched and is allowed."""
        # A copy: other threads read what was fetched for others, meanwhile.
        return any(is_within(path, folder) for folder in tuple(self._fetched))

    def _allows_code(self, source: CodeSource, content: str) -> bool:
        if source.uri in self.pinned:
            # Servers give out commits of forks under the address of the original.
            return self.allows(source.item(content, source.uri))
        item = source.item(content)
        brought = source.uri in self._brought
        return self.allows(item, self._accepted.get(item.owner) if brought else None)

    def keep_fetched(self, resolved: Mapping[str, LockEntry]) -> None:
        """Have what was allowed before it was fetched count as it came, when it is opened, too."""
        for uri, entry in resolved.items():
            source = self._sources.get(source_of(uri))
            item = source.item(entry.commit or entry.sha256) if source is not None else None
            if item is not None and item.subject in self._fresh and item.key not in self._given:
                self.allows(item)

    def why_unasked(self, uri: str) -> tuple[str, str] | None:
        """Return why nobody was asked about a source that may not be used, and what to do.

        None where it was refused.
        """
        return self.unasked.get(CodeSource(source_of(uri)).item().subject)

    def gate(self) -> TrustGate:
        """Return the gate for fetching, installing and running."""
        return TrustGate(self._decide, ALLOW_IT) if self.collects else TrustGate(self._callback)

    def _decide(self, request: TrustRequest) -> bool:
        path = request.path
        if path is not None and self.places.owner_of(path) is Owner.PROGRAM:
            return True
        if request.action == "connect":
            return self.allows(key_item(request))
        name = source_of(request.uri)
        if name not in self._sources:
            self._sources[name] = CodeSource(name, (request.subject,), request.included_by)
        if not is_remote(request.uri):
            # Where it is, whatever it was written relative to.
            return self.allows_source(request.uri if path is None else str(path), {})
        allowed = self._allows_code(self._sources[name], request.commit)
        if allowed and path is not None:
            self._fetched.add(path)
        return allowed


def refused(what: str) -> TrustRefusedError:
    """Return the error for what a user did not allow."""
    return TrustRefusedError(f"You refused {what}, or were not asked yet", remedy=ALLOW_IT)


def key_item(request: TrustRequest) -> TrustItem:
    """Return the item for a request to send a key somewhere."""
    asked = f" · asked for by {' and '.join(request.included_by)}" if request.included_by else ""
    # A name that a bundle gives itself, so it must not look like a publisher's.
    owner = f"bundle {request.included_by[-1]}" if request.included_by else ""
    project = str(request.project) if request.project is not None else ""
    return make_item(
        "keys",
        request.detail,
        subject=(request.subject, request.uri, *request.included_by, project),
        content=request.detail,
        owner=project or owner,
        detail=f"for {request.subject}{asked}",
    )


_ACTIONS: dict[TrustGroup, TrustAction] = {
    "code": "execute",
    "skills": "read",
    "power": "configure",
    "files": "read",
    "keys": "connect",
}


class EachAsked:
    """Asks a `TrustCallback` about one item after the other, and remembers nothing."""

    folders: tuple[Path, ...] = ()
    nobody: tuple[str, ...] = ()

    def __init__(self, callback: TrustCallback) -> None:
        self.callback = callback

    def known(self, item: TrustItem) -> bool | None:
        """Return None: everything is asked."""
        return None

    def bind(self, item: TrustItem, like: TrustItem) -> None:
        """Do nothing."""

    async def ask(self, items: Sequence[TrustItem]) -> Collection[str]:
        """Ask the callback about each item."""
        requests = {
            item.key: TrustRequest(_ACTIONS[item.group], item.where, item.title, detail=item.detail)
            for item in items
        }
        return {key for key, each in requests.items() if await awaited(self.callback(each))}


class OnlyLooking:
    """Uses everything, and notes what would be asked: for looking at a bundle without running it.

    Attributes:
        seen: The items, in the order they were met.
    """

    folders: tuple[Path, ...] = ()
    nobody: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.seen: dict[str, TrustItem] = {}

    def known(self, item: TrustItem) -> bool | None:
        """Note an item and let it count."""
        self.seen.setdefault(item.key, item)
        return True

    def bind(self, item: TrustItem, like: TrustItem) -> None:
        """Do nothing."""

    async def ask(self, items: Sequence[TrustItem]) -> Collection[str]:
        """Return nothing: nothing is left to ask about."""
        return ()
