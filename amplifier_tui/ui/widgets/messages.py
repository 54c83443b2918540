"""What panes ask of the app."""

from dataclasses import dataclass

from textual.message import Message


@dataclass
class InspectRequested(Message):
    """Show one row of the event log in the inspector; `seq` as in `HookTraced`."""

    seq: int


@dataclass
class CopyRequested(Message):
    """Put text on the clipboard.

    Attributes:
        text: What to copy.
        what: What it is, in words for the notice: `payload`, `value`, `path`.
    """

    text: str
    what: str


@dataclass
class CompactRequested(Message):
    """Show what compacting the conversation would do.

    Attributes:
        instruct: The user wants to write instructions for a summary.
    """

    instruct: bool = False


@dataclass
class InspectorClosed(Message):
    """The user is done with the inspector."""
