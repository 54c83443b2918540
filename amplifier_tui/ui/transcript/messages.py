"""What the transcript tells the app."""

from dataclasses import dataclass

from textual.message import Message

from amplifier_tui.ui.state.entries import Entry, ErrorEntry


@dataclass
class EntryActivated(Message):
    """An entry was clicked or entered."""

    entry: Entry


@dataclass
class RetryRequested(Message):
    """The user wants to try again what failed."""

    entry: ErrorEntry


@dataclass
class LinkClicked(Message):
    """A link was clicked. The address is data from the model: ask before opening it."""

    url: str


@dataclass
class CopyRequested(Message):
    """Text is to be copied.

    Attributes:
        text: What to copy.
        what: What it is, in words for the notice: `answer`, `tool call`, `selection`.
    """

    text: str
    what: str


@dataclass
class FollowChanged(Message):
    """The view began or ceased to stick to the end."""

    follow: bool
