"""What is wrong with a transcript, and putting it right.

An API refuses a conversation in which a call has no result, or a result does not follow its call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import answers_of, calls_of, failed_result, match_calls
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.session.slice import get_turn_boundaries

Message = dict[str, Any]

UNFINISHED = "The answer was interrupted before it was finished."
"""What an added message says in place of the answer that never came."""


@dataclass(frozen=True, slots=True)
class DiagnosisResult:
    """What is wrong with a transcript.

    Attributes:
        failure_modes: `missing_tool_results`, `ordering_violation`, `incomplete_assistant_turn`.
        orphaned_tool_ids: Calls without a result.
        misplaced_tool_ids: Results that do not follow their call, or have none.
        incomplete_turns: Turns, counted from 1, in which the assistant has no last word though
            another turn follows.
    """

    failure_modes: tuple[str, ...] = ()
    orphaned_tool_ids: tuple[str, ...] = ()
    misplaced_tool_ids: tuple[str, ...] = ()
    incomplete_turns: tuple[int, ...] = ()
    first_broken: int | None = field(default=None, repr=False)

    @property
    def status(self) -> Literal["healthy", "broken"]:
        """Whether anything is wrong."""
        return "broken" if self.failure_modes else "healthy"

    @property
    def recommended_action(self) -> Literal["none", "repair"]:
        """What to do; mending loses nothing, going back does."""
        return "repair" if self.failure_modes else "none"


def diagnose_transcript(messages: Sequence[Mapping[str, Any]]) -> DiagnosisResult:
    """Look for what an API would refuse."""
    calls = [[call.call_id for call in calls_of(message)] for message in messages]
    answers = [answers_of(message) for message in messages]
    matches = match_calls(zip(calls, answers, strict=True))
    orphaned, misplaced, places = [], [], []
    for place, ids in enumerate(calls):
        after = _answers_after(answers, place)
        for number, call_id in enumerate(ids):
            found = matches.results.get((place, number))
            if found is None:
                orphaned.append(call_id)
            elif found not in after:
                misplaced.append(call_id)
            if found is None or found not in after:
                places.append(place)
    for place in sorted(matches.orphans):
        misplaced += answers[place]
        places.append(place)
    unfinished = _unfinished_turns(messages)
    starts = get_turn_boundaries(messages)
    places += [starts[turn - 1] for turn in unfinished]
    modes = {
        "missing_tool_results": orphaned,
        "ordering_violation": misplaced,
        "incomplete_assistant_turn": unfinished,
    }
    return DiagnosisResult(
        tuple(name for name, found in modes.items() if found),
        tuple(orphaned),
        tuple(misplaced),
        tuple(unfinished),
        min(places, default=None),
    )


def repair_transcript(
    messages: Sequence[Mapping[str, Any]], diagnosis: DiagnosisResult | None = None
) -> list[Message]:
    """Return copies of the messages as an API takes them.

    Results stand behind their calls, missing ones say that they are, results without a call are
    left out, and an answer that never came is a message that says so.
    """
    diagnosis = diagnosis or diagnose_transcript(messages)
    copied: list[Message] = copy_plain(list(messages))
    if diagnosis.status == "healthy":
        return copied
    matches = match_calls(
        ([call.call_id for call in calls_of(message)], answers_of(message)) for message in copied
    )
    starts = get_turn_boundaries(copied)
    before = {starts[turn] for turn in diagnosis.incomplete_turns}
    repaired: list[Message] = []
    for place, message in enumerate(copied):
        if place in before:
            repaired.append({"role": "assistant", "content": UNFINISHED})
        if answers_of(message):
            continue  # stands behind its call, or has none
        repaired.append(message)
        taken: list[int] = []
        for number, call in enumerate(calls_of(message)):
            found = matches.results.get((place, number))
            if found is None:
                repaired.append(failed_result(call.call_id, call.name))
            elif found not in taken:
                taken.append(found)
                repaired.append(copied[found])
    return repaired


def rewind_transcript(
    messages: Sequence[Mapping[str, Any]], diagnosis: DiagnosisResult | None = None
) -> list[Message]:
    """Return copies of the messages before the first turn in which something is wrong."""
    diagnosis = diagnosis or diagnose_transcript(messages)
    end = len(messages)
    if diagnosis.first_broken is not None:
        starts = [
            start for start in get_turn_boundaries(messages) if start <= diagnosis.first_broken
        ]
        end = starts[-1] if starts else 0
    kept: list[Message] = copy_plain(list(messages[:end]))
    return kept


def _answers_after(answers: Sequence[Sequence[str]], place: int) -> range:
    """Return the places of the results that follow a message without anything between."""
    end = place + 1
    while end < len(answers) and answers[end]:
        end += 1
    return range(place + 1, end)


def _unfinished_turns(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    starts = get_turn_boundaries(messages)
    found = []
    for turn, following in enumerate(starts[1:], 1):
        last = messages[following - 1]
        if last.get("role") != "assistant" or any(calls_of(last)):
            found.append(turn)
    return found
