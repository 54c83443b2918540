"""What the agent answers to a request: a script, followed from the conversation alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from amplifier_tui.modules.provider_mock.placeholders import Filler
from amplifier_tui.modules.provider_mock.script import (
    Branch,
    Failure,
    Outcome,
    Scenario,
    Script,
    Step,
)
from amplifier_tui.modules.provider_mock.seen import Result, Seen

_NOTHING: Final = (
    "My script has no scenario for this turn. Add one without `when` to the end of it, or start a "
    "new session."
)


@dataclass(frozen=True)
class Answer:
    """One answer, ready to be streamed.

    Attributes:
        thinking: What the model thinks.
        text: What it says.
        calls: Tools and their arguments; a text stands for arguments that are not JSON.
        delay: Seconds before the first word.
        error: What to fail with after the words.
    """

    thinking: str = ""
    text: str = ""
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    delay: float = 0.0
    error: Failure | None = None


def answer(script: Script, seen: Seen) -> Answer:
    """Return the answer to a conversation."""
    scenario = script.scenario(seen.turn, seen.prompt, seen.tools)
    if scenario is None:
        return Answer(text=_NOTHING)
    step = _current_step(scenario, seen.rounds)
    filler = Filler(seen)
    return Answer(
        thinking=filler.text(step.thinking).strip(),
        text="".join(filler.text(step.say, n) for n in range(1, step.repeat + 1)).rstrip(),
        calls=tuple((call.tool, filler.data(call.input)) for call in step.calls),
        delay=step.delay,
        error=step.error,
    )


def _current_step(scenario: Scenario, rounds: Sequence[Sequence[Result]]) -> Step:
    step = scenario.first
    for results in rounds:
        if not step.calls:
            break  # The calls are those of another script, or of another model.
        step = scenario.steps[_following(step.branches, results)]
    return step


def _following(branches: Sequence[Branch], results: Sequence[Result]) -> str:
    reached = _outcome(results)
    for branch in branches:
        if branch.outcome is not None and branch.outcome != reached:
            continue
        if branch.output is None or any(branch.output.search(result.text) for result in results):
            return branch.go
    return branches[-1].go


def _outcome(results: Sequence[Result]) -> Outcome:
    outcomes = [result.outcome for result in results]
    if "denied" in outcomes:
        return "denied"
    return "failed" if "failed" in outcomes else "ok"
