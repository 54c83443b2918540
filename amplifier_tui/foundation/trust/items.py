"""What a user is asked about before it counts: one line each, known by what exactly it shows."""

import hashlib
import json
import re
from pathlib import Path
from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass

TrustGroup = Literal["code", "skills", "power", "files", "keys"]
Remember = Literal["run", "session", "always"]

_PUBLISHER: Final = re.compile(r"[a-z0-9.-]+(:\d+)?/[a-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustItem:
    """One thing that a project or a stranger brings.

    Attributes:
        key: Digest of what is shown; another content has another key.
        group: `code` would be fetched, installed and run; `skills` are instructions that the model
            may follow, and their scripts; `power` is a setting of what guards the
            user; `files` would be read from outside the project; `keys` would get a key.
        owner: Who brings it: a publisher such as `github.com/microsoft`, or a folder.
        title: What it is.
        detail: What exactly it says, and who asks for it.
        where: File and line it was read from.
        was: What was answered before its content changed; empty when it is new.
        subject: Digest of the same thing whatever its content; the same as `key` while the content
            is not known, because it was not fetched yet.
    """

    key: str
    group: TrustGroup
    owner: str
    title: str
    detail: str = ""
    where: str = ""
    was: str = ""
    subject: str = ""

    @property
    def is_published(self) -> bool:
        """Whether its owner is a publisher: a server and an account there."""
        return _PUBLISHER.fullmatch(self.owner) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustDecision:
    """The answer to the one question.

    Attributes:
        accepted: Keys of the items that may count; the others are refused.
        remember: How long both hold: until this program ends, for this session, or always.
        owners: Publishers whose things are accepted from now on, without a question.
        folder: Whether the project's folder is the user's own from now on.
        cancelled: The session is not opened at all.
        unasked: Nobody was there to be asked: it is no refusal.
    """

    accepted: frozenset[str] = frozenset()
    remember: Remember = "run"
    owners: tuple[str, ...] = ()
    folder: bool = False
    cancelled: bool = False
    unasked: bool = False


def make_item(
    group: TrustGroup,
    title: str,
    *,
    subject: tuple[str, ...],
    content: str = "",
    owner: str = "",
    detail: str = "",
    where: str = "",
) -> TrustItem:
    """Return an item.

    Args:
        subject: What tells it from others, whatever its content.
        content: What an answer is good for; empty while it is not known.
    """
    identity = _digest(group, *subject)
    return TrustItem(
        key=_digest(identity, content) if content else identity,
        group=group,
        owner=owner,
        title=title,
        detail=detail,
        where=where,
        subject=identity,
    )


def choice_of_bundle(project: Path, source: str) -> TrustItem:
    """Return the item for the user's own word that a project's settings may choose a bundle.

    It is never asked about, and is of no other project and no other bundle.

    Args:
        project: The project's folder.
        source: Where the bundle is: a path or URI.
    """
    return make_item(
        "files",
        source,
        subject=("bundle.active", str(project.resolve())),
        content=source,
        owner=str(project),
        detail="the bundle you chose for this project",
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
