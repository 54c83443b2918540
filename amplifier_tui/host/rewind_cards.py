"""What a front end is told where the user wants to go back: to where, and what of files."""

from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindPoint:
    """A prompt that the session can go back before.

    Attributes:
        turn: Its number, as `TurnStarted` has it.
        at: When it was sent, in Unix seconds; 0 when unknown.
        files: How many files changed in its turn, as far as that was seen.
    """

    turn: int
    prompt: str
    at: float = 0.0
    files: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindFile:
    """What going back means for a file.

    Attributes:
        path: Relative to the workspace.
        action: It gets its earlier content, or goes, as it did not exist.
        gone: It does not exist now, and comes back.
        added: Lines that it gets, and `removed` those that it loses.
        conflict: Why it stays as it is unless it is named in `overwrite`; empty where it does not.
        perhaps: That is no more than that it changed while a command ran, perhaps by the user.
        problem: Why it can't be put back; empty where it can.
        command: The command that changed it; empty where a tool named the file.
        together: How many commands ran together, any of which may be the one; 0 where it is known.
        note: What it becomes again beside its content: `mode 755`, `link to a.py`; empty for none.
    """

    path: str
    action: Literal["restored", "removed"] = "restored"
    gone: bool = False
    added: int = 0
    removed: int = 0
    conflict: str = ""
    perhaps: bool = False
    problem: str = ""
    command: str = ""
    together: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindPreview:
    """What going back before a turn would do.

    Attributes:
        turns: How many turns are taken back.
        files: Those that change, or would if nothing were in the way.
        unseen: What else may have changed and stays as it is, a sentence each.
        problem: Why files can't be put back at all; empty where they can.
        git: What of the repository stays as it is, and what to do; empty where it stands as then.
        running: The agent's commands that these turns left running and that go on, `job-1 (make)`.
        elsewhere: Another branch is checked out than then: its files would be overwritten.
    """

    turn: int
    prompt: str = ""
    turns: int = 0
    files: tuple[RewindFile, ...] = ()
    unseen: tuple[str, ...] = ()
    problem: str = ""
    git: str = ""
    running: tuple[str, ...] = ()
    elsewhere: bool = False
