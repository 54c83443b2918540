"""The one question about what a project or a stranger brings, and its answer."""

from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.host.events.base import HostEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustAsked(HostEvent):
    """The opening of a session waits for `SessionClient.answer_trust`.

    Attributes:
        folder: The user's folder: the owner of what the project itself brings.
    """

    request_id: str
    title: str
    items: tuple[TrustItem, ...] = ()
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustAnswered(HostEvent):
    """The question was answered, or withdrawn since the opening was stopped."""

    request_id: str
    accepted: tuple[str, ...] = ()
    """Keys of the items that may count."""
    by: Literal["user", "stop"] = "user"
