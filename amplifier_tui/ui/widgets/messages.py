"""What panes and the transcript ask of the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from amplifier_tui.base.lazy.dataclass import dataclass

if TYPE_CHECKING:
    # The first frame needs none of them.
    from amplifier_tui.host.events import ModelChanged, TerminalWanted
    from amplifier_tui.ui.state.conversation.entries import (
        ConversationEntry,
        ErrorEntry,
        UserEntry,
    )


@dataclass
class InspectRequested(Message):
    """Show one row of the event log in the inspector; `seq` as in `HookTraced`."""

    seq: int


@dataclass
class MomentRequested(Message):
    """Go to the moment of an event: in the conversation, or (`past`) in modules and context."""

    seq: int
    past: bool = False


@dataclass
class EventsRequested(Message):
    """Go to the events of an entry of the conversation."""

    entry: ConversationEntry


@dataclass
class ExportRequested(Message):
    """Write the conversation from the turn of an entry on, or the events that pass a filter."""

    entry: ConversationEntry | None = None
    events: str = ""


@dataclass
class TerminalNeeded(Message):
    """A command of the user's needs the terminal."""

    event: TerminalWanted


@dataclass
class CompactRequested(Message):
    """Show what compacting would do; `instruct`: with instructions for a summary."""

    instruct: bool = False


@dataclass
class DetailsRequested(Message):
    """The details of a module are open: they are to be asked for; `key` as in `ModuleStatus`."""

    key: str


@dataclass
class InspectorClosed(Message):
    """The user is done with the inspector."""


@dataclass
class ImageRequested(Message):
    """The user wants to see the images of an entry in full."""

    entry: ConversationEntry


@dataclass
class CursorMoved(Message):
    """The cursor of the conversation came to another entry, or this one opens or closes."""


@dataclass
class RetryRequested(Message):
    """The user wants to try again what failed, `without` a context source if that is not empty."""

    entry: ErrorEntry
    without: str = ""


@dataclass
class ForkRequested(Message):
    """The user wants to go on from before a prompt, in a new session."""

    entry: UserEntry


@dataclass
class RewindRequested(Message):
    """The user wants to go back before the turn that an entry is of."""

    entry: ConversationEntry


@dataclass
class ActionWanted(Message):
    """Something offers an action, an id of `ui/keys/actions.py`, and the user wants it."""

    action: str
    argument: str = ""


@dataclass
class PromptOffered(Message):
    """A prompt to try was clicked: it goes into the draft, unless another one was begun."""

    text: str


@dataclass
class DraftSetAside(Message):
    """A draft that no session keeps is in the prompt history now, and is to be on disk there."""

    text: str


@dataclass
class UnsentChanged(Message):
    """The drafts that no session keeps are others now; each with the folder of its session."""

    drafts: tuple[tuple[str, str], ...]


@dataclass
class ModelChosen(Message):
    """The user chose a model for a bundle."""

    bundle: str
    event: ModelChanged


@dataclass
class LinkClicked(Message):
    """A link was clicked. The address is data from the model: ask before opening it."""

    url: str


@dataclass
class CopyRequested(Message):
    """Text is to be copied; `what` names it in a notice: `answer`, `payload`, `path`."""

    text: str
    what: str


@dataclass
class FollowChanged(Message):
    """The view began or ceased to stick to the end."""

    follow: bool
