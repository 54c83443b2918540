"""The script as data; the package's docstring describes the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["denied", "failed", "ok"]


@dataclass(frozen=True)
class Call:
    """A tool call of a step.

    Attributes:
        tool: Name of the tool.
        input: Its arguments; a text stands for arguments that are not JSON.
    """

    tool: str
    input: dict[str, Any] | str


@dataclass(frozen=True)
class Branch:
    """Where to go after a step's calls.

    Attributes:
        go: Name of the step.
        outcome: How the calls must have ended; None for any way.
        output: What must be found in an output; None for anything.
    """

    go: str
    outcome: Outcome | None = None
    output: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Failure:
    """An error to raise: the name of a class of the kernel's LLM errors, and its arguments."""

    type: str
    message: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One answer of the model."""

    name: str
    say: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    branches: tuple[Branch, ...] = ()
    repeat: int = 1
    delay: float = 0.0
    error: Failure | None = None


@dataclass(frozen=True)
class When:
    """What must hold for a scenario to play a turn."""

    turn: int | None = None
    every: int | None = None
    at: int = 0
    prompt: re.Pattern[str] | None = None
    tools: frozenset[str] = frozenset()

    def holds(self, turn: int, prompt: str, tools: frozenset[str]) -> bool:
        """Whether it holds.

        Args:
            turn: Number of the turn, from 1.
            prompt: The user's words.
            tools: Names of the mounted tools.
        """
        return (
            (self.turn is None or turn == self.turn)
            and (self.every is None or turn % self.every == self.at)
            and (self.prompt is None or self.prompt.search(prompt) is not None)
            and self.tools <= tools
        )


@dataclass(frozen=True)
class Scenario:
    """What the agent does in one turn. ``steps`` is in the order of the file, and never empty."""

    name: str
    when: When
    steps: Mapping[str, Step]

    @property
    def first(self) -> Step:
        """The step a turn begins with."""
        return next(iter(self.steps.values()))


@dataclass(frozen=True)
class Script:
    """Everything an agent can say."""

    scenarios: tuple[Scenario, ...]

    def scenario(self, turn: int, prompt: str, tools: frozenset[str]) -> Scenario | None:
        """Return the first scenario whose conditions hold."""
        for scenario in self.scenarios:
            if scenario.when.holds(turn, prompt, tools):
                return scenario
        return None
