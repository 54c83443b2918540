"""What a front end is told of stored sessions: the list, one of them, and what a search found."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass

HitKind = Literal["title", "prompt", "answer", "call", "result"]

PAGE: Final = 100
"""Sessions of a page of the list, unless more are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCard:
    """One stored session.

    Attributes:
        key: Names it to `SessionClient`, whichever folder it is of.
        updated: Unix time of the last change.
        cwd: The folder to open it in; empty where nobody knows it.
        directory: Where it is stored.
        branch: The branch its last turn ended on; empty where that is not known.
        model: The model that answered last.
        cost: US dollars it used with its sub-agents, as decimal text; empty when unknown.
        unpriced_tokens: Those whose price is not known; `cost` leaves them out.
        agent_count: How many sub-agents worked for it, as far as is known.
        pinned: It is listed before the others.
        held: A window, this one or another, has it open.
        parent_id: The session its conversation was taken from; empty where it began by itself.
        origin: Of another program's session, that program as `ImportedCard` has it; such a one is
            only found by the search, and read and forked by its `key`.
    """

    session_id: str
    key: str = ""
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    bundle: str = ""
    first_prompt: str = ""
    turns: int = 0
    updated: float = 0.0
    cwd: str = ""
    directory: str = ""
    branch: str = ""
    model: str = ""
    cost: str = ""
    unpriced_tokens: int = 0
    agent_count: int = 0
    pinned: bool = False
    held: bool = False
    parent_id: str = ""
    origin: str = ""

    @property
    def called(self) -> str:
        """What a list calls it: its title, or what was asked first."""
        return self.title or self.first_prompt


def named_alike(cards: Iterable[SessionCard]) -> frozenset[str]:
    """Return what more than one of the sessions is called: a list says more of those."""
    counts = Counter(card.called for card in cards)
    return frozenset(name for name, count in counts.items() if count > 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """A page of the stored sessions: pinned ones first, then the newest.

    Attributes:
        matching: How many there are with those that are not on the page.
        elsewhere: How many of other folders are left out.
        agents: How many sub-agents' sessions are; they belong to others.
        filtered: How many do not match what was typed.
        broken: How many can't be read.
        cwd: The folder that counts as `here`.
        indexing: What is stored is still being read: asked again, more may match.
        done: How many of the `changed` sessions have been read.
        problem: What is wrong with what was typed, or why some may be missing.
    """

    cards: tuple[SessionCard, ...] = ()
    matching: int = 0
    elsewhere: int = 0
    agents: int = 0
    filtered: int = 0
    broken: int = 0
    cwd: str = ""
    indexing: bool = False
    done: int = 0
    changed: int = 0
    problem: str = ""

    def hidden(self) -> Iterator[tuple[int, str]]:
        """Yield how many sessions are not listed, and why."""
        counts = (self.elsewhere, self.filtered, self.agents, self.broken)
        reasons = ("of other folders", "not matching", "of sub-agents", "unreadable")
        yield from (pair for pair in zip(counts, reasons, strict=True) if pair[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetails:
    """What is known of one stored session beside its card.

    Attributes:
        created: ISO time.
        agents: Names of the sub-agents that worked for it.
        parent_id: The session its conversation was taken from.
        prompt: The last one, and `answer` the last words after it; both may be cut.
    """

    card: SessionCard
    created: str = ""
    provider: str = ""
    agents: tuple[str, ...] = ()
    parent_id: str = ""
    prompt: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One place in a stored session where the words are.

    Attributes:
        card: The session; of a sub-agent's rows the one it worked for.
        kind: Where they are: in what the session is called, in what was said or called, or in what
            a tool gave back.
        row: Of the transcript, from 0; -1 for a title.
        turn: How many prompts there are up to it.
        call_id: Of a call or its result.
        agent: The name of the sub-agent that said it; then `row`, `turn` and `call_id` are those
            of the call that gave it the task, where that is known.
        text: What stands around them, as one line.
        marks: Where they begin and end in `text`.
    """

    card: SessionCard
    kind: HitKind
    row: int = -1
    turn: int = 0
    call_id: str = ""
    agent: str = ""
    text: str = ""
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFound:
    """What a search found, the newest first.

    Attributes:
        more: There may be more hits than these.
        indexing: Sessions are being read that can't be found yet: `done` of `changed` so far.
        problem: Why the newest may be missing; empty for nothing.
    """

    hits: tuple[SearchHit, ...] = ()
    more: bool = False
    indexing: bool = False
    done: int = 0
    changed: int = 0
    problem: str = ""
