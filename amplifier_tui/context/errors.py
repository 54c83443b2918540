"""What can go wrong between a session and its context.

ContextError
├── ContextSourceError        a provider failed or took too long
├── HistoryUnavailableError   a history store can't be reached; the ledger takes its place
├── ProviderContractError     a provider can't be called as it is
├── MemoryUnavailableError    the memory database can't be used now
└── SummaryError              the model wrote no usable summary

A request that can't fit is the kernel's ``ContextLengthError``.
"""

from typing import Literal

from amplifier_tui.kernel.mounting.errors import named_text, with_place

Phase = Literal["before_run", "after_run"]


class ContextError(Exception):
    """Something about the context went wrong; the message says what to do."""


class ContextSourceError(ContextError):
    """A context provider failed; ``problem`` is what went wrong, without what to do about it.

    Args:
        source_id: Which one.
        phase: In which of its hooks.
        cause: What it raised; a ``TimeoutError`` where it took too long.
    """

    def __init__(self, source_id: str, phase: Phase, cause: BaseException) -> None:
        # What the system refused, or took too long, is said in a sentence.
        said = str(cause) if isinstance(cause, OSError) else ""
        what = with_place(said or named_text(cause), cause)
        if phase == "before_run":
            remedy = "The model was not asked. Try again, or go on without this source."
        else:
            remedy = "The answer is kept; what this source wanted to remember of it may be lost."
        super().__init__(f"Context source '{source_id}' failed: {what}. {remedy}")
        self.source_id = source_id
        self.phase = phase
        self.problem = what
        self.__cause__ = cause


class ProviderContractError(ContextError, TypeError):
    """A context provider lacks what its contract asks for.

    Args:
        problem: What it lacks.
        place: File and line of its code; empty where they are not known.
        remedy: What its author can do.
    """

    def __init__(self, problem: str, place: str, remedy: str) -> None:
        where = f" ({place})" if place else ""
        super().__init__(f"{problem}{where}. {remedy}")


class HistoryUnavailableError(ContextError):
    """A history store can't be reached."""

    def __init__(self, source_id: str, problem: str) -> None:
        super().__init__(f"History '{source_id}' is not available: {problem}")
        self.source_id = source_id


class MemoryUnavailableError(ContextError):
    """The memory database can't be used now; nothing in it is lost."""


class SummaryError(ContextError):
    """The model wrote no usable summary; the conversation is as it was."""
