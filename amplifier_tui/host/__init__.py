"""Runs sessions for a front end.

What programs that embed sessions need stands here under lasting names; see `README.md` beside this
file. It is imported when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from amplifier_tui.host.client import Decision as Decision
    from amplifier_tui.host.client import OpenRequest as OpenRequest
    from amplifier_tui.host.client import QuestionAnswer as QuestionAnswer
    from amplifier_tui.host.client import QuestionsReply as QuestionsReply
    from amplifier_tui.host.client import SessionClient as SessionClient
    from amplifier_tui.host.client import SpendLimit as SpendLimit
    from amplifier_tui.host.client import TrustDecision as TrustDecision
    from amplifier_tui.host.door.local_client import LocalClient as LocalClient

_PLACES: Final = {
    "Decision": "client",
    "LocalClient": "door.local_client",
    "OpenRequest": "client",
    "QuestionAnswer": "client",
    "QuestionsReply": "client",
    "SessionClient": "client",
    "SpendLimit": "client",
    "TrustDecision": "client",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
