"""The script as data; the package's docstring describes the file."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Self, get_args

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    field_validator,
    model_validator,
)

from amplifier_tui.base.config import expected
from amplifier_tui.kernel import llm_errors

_MAX_BYTES: Final = 4 * 1024 * 1024

CallOutcome = Literal["denied", "failed", "ok"]


class ScriptError(ValueError):
    """A script can't be read; the message says where and why."""

    def __init__(self, problem: str, *places: str) -> None:
        super().__init__(f"{', '.join(places)}: {problem}" if places else problem)
        self.problem = problem
        self.places = places


class _Part(BaseModel):
    """A mapping in the file. Keys without a value count as not given, unknown ones are mistakes."""

    model_config = ConfigDict(
        strict=True, frozen=True, arbitrary_types_allowed=True, allow_inf_nan=False
    )

    @classmethod
    def place(cls, loc: tuple[int | str, ...], data: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the words for a place within this part, where it has some."""
        return (f"`{loc[0]}`",) if loc and loc[0] in ("when", "next", "error") else ()

    @model_validator(mode="wrap")
    @classmethod
    def _in_words(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            raise ScriptError(f"must be a mapping, not {type(data).__name__}")
        fields = {
            str(field.validation_alias or name): field for name, field in cls.model_fields.items()
        }
        unknown = [str(key) for key in data if key not in fields]
        if unknown:
            raise ScriptError(
                f"unknown key {', '.join(unknown)}; known are {', '.join(sorted(fields))}"
            )
        try:
            return handler({key: value for key, value in data.items() if value is not None})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
        loc, cause = problem["loc"], problem.get("ctx", {}).get("error")
        if isinstance(cause, ScriptError):
            raise ScriptError(cause.problem, *cls.place(loc, data), *cause.places)
        if cause is not None:
            raise ScriptError(str(cause))
        raise ScriptError(f"`{loc[0]}` must be {expected(fields[str(loc[0])])}")


def _pattern(text: Any) -> re.Pattern[str]:
    try:
        return re.compile(str(text), re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error


Pattern = Annotated[re.Pattern[str], BeforeValidator(_pattern)]
Names = Annotated[frozenset[str], Field(strict=False, description="a list of names")]


class ScriptCall(BaseModel):
    """A call of a tool; a text in place of the input stands for arguments that are not JSON."""

    tool: str
    input: dict[str, Any] | str

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or len(data) != 1:
            raise ScriptError(f"a call is written `tool: {{arguments}}`, not {data!r}")
        ((tool, given),) = data.items()
        if given is not None and not isinstance(given, Mapping | str):
            raise ScriptError(f"the arguments of {tool} must be a mapping or a text")
        if isinstance(given, Mapping):
            given = {str(key): value for key, value in given.items()}
        return {"tool": str(tool), "input": {} if given is None else given}


class OutputCondition(NamedTuple):
    """What must be found in an output."""

    output: re.Pattern[str]


class Branch(_Part):
    """Where to go after a step's calls.

    Attributes:
        go: Name of the step.
        condition: How the calls must have ended, or what must be found in an output; None for
            whatever came of them.
    """

    go: Annotated[str, BeforeValidator(str)]
    condition: CallOutcome | OutputCondition | None = Field(default=None, validation_alias="if")

    @field_validator("condition", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        if value in get_args(CallOutcome):
            return value
        if isinstance(value, Mapping) and set(value) == {"output"}:
            return OutputCondition(output=_pattern(value["output"]))
        raise ScriptError(f"`if` must be denied, failed, ok or {{output: pattern}}, not {value!r}")


class Failure(_Part):
    """An error to raise: the name of a class of the kernel's LLM errors, and its arguments."""

    type: Annotated[str, BeforeValidator(str)] = "LLMError"
    message: Annotated[str, BeforeValidator(str)] = "The script says so."
    status_code: Any = None
    retryable: Any = None
    retry_after: Any = None

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in llm_errors.__all__:
            known = ", ".join(llm_errors.__all__)
            raise ScriptError(f"there is no {value}; known are {known}")
        return value

    def error(self, **who: Any) -> llm_errors.LLMError:
        """Return the error."""
        kind: type[llm_errors.LLMError] = getattr(llm_errors, self.type)
        options = self.model_dump(exclude={"type", "message"}, exclude_unset=True)
        return kind(self.message, **who, **options)


class ScriptStep(_Part):
    """One answer of the model."""

    say: str = ""
    thinking: str = ""
    calls: list[ScriptCall] = Field(
        default=[], validation_alias="call", description="a list of `tool: {arguments}`"
    )
    branches: list[Branch] = Field(default=[], validation_alias="next")
    repeat: int = Field(default=1, ge=1)
    delay: float = Field(default=0.0, ge=0, description="a number of seconds")
    error: Failure | None = None

    @field_validator("branches", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return value if isinstance(value, list) else [{"go": value}]


class When(_Part):
    """What must hold for a scenario to play a turn."""

    turn: int | None = Field(default=None, ge=1, description="a whole number")
    every: int | None = Field(default=None, ge=1, description="a whole number")
    at: int = Field(default=0, ge=0)
    prompt: Pattern | None = None
    before: Pattern | None = None
    tools: Names = frozenset()

    def holds(self, turn: int, prompt: str, tools: frozenset[str], before: str = "") -> bool:
        """Whether it holds in a turn, counted from 1, with a prompt and these tools mounted.

        Args:
            before: The prompt of the turn before.
        """
        return (
            (self.turn is None or turn == self.turn)
            and (self.every is None or turn % self.every == self.at)
            and (self.prompt is None or self.prompt.search(prompt) is not None)
            and (self.before is None or self.before.search(before) is not None)
            and self.tools <= tools
        )


class Scenario(_Part):
    """What the agent does in one turn; ``steps`` is in the order of the file, and never empty."""

    name: Annotated[str, BeforeValidator(str)] = ""
    when: When = When()
    steps: dict[str, ScriptStep] = Field(
        min_length=1, description="a mapping of names to at least one step"
    )

    @classmethod
    def place(cls, loc: tuple[int | str, ...], data: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the words for a place within this part."""
        return (
            (f"step {loc[1]!r}",)
            if len(loc) > 1 and loc[0] == "steps"
            else super().place(loc, data)
        )

    @field_validator("steps", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return (
            {str(name): step for name, step in value.items()} if isinstance(value, dict) else value
        )

    @field_validator("steps")
    @classmethod
    def _go_somewhere(cls, steps: dict[str, ScriptStep]) -> dict[str, ScriptStep]:
        names = list(steps)
        for name, following in zip(names, [*names[1:], None], strict=True):
            step, place = steps[name], f"step {name!r}"
            for branch in step.branches:
                if branch.go not in steps:
                    known = ", ".join(names)
                    raise ScriptError(f"`go: {branch.go}` names no step; there are {known}", place)
            if step.branches and step.branches[-1].condition is not None:
                raise ScriptError(
                    "the last `next` must have no `if`, so that it always goes on", place
                )
            if step.calls and not step.branches:
                if following is None:
                    raise ScriptError("it calls tools, so it needs a `next` step", place)
                steps[name] = step.model_copy(update={"branches": [Branch(go=following)]})
        return steps

    @property
    def first(self) -> ScriptStep:
        """The step a turn begins with."""
        return next(iter(self.steps.values()))


class AgentScript(_Part):
    """Everything an agent can say."""

    name: Any = None
    scenarios: list[Scenario] = Field(min_length=1, description="a list of at least one")

    @classmethod
    def place(cls, loc: tuple[int | str, ...], data: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the words for a place within this part."""
        place = loc[1]
        assert isinstance(place, int)
        scenario = data["scenarios"][place]
        name = scenario.get("name") if isinstance(scenario, Mapping) else None
        return (f"scenario {str(name or place + 1)!r}",)

    def scenario(
        self, turn: int, prompt: str, tools: frozenset[str], before: str = ""
    ) -> Scenario | None:
        """Return the first scenario whose conditions hold; see `When.holds`."""
        for scenario in self.scenarios:
            if scenario.when.holds(turn, prompt, tools, before):
                return scenario
        return None


def parse_script(data: Any) -> AgentScript:
    """Return a script from the data of a file; a mistake in it is a `ScriptError`."""
    try:
        return AgentScript.model_validate(data)
    except ValidationError as error:
        cause = error.errors()[0]["ctx"]["error"]
        if isinstance(cause, ScriptError) and not cause.places:
            raise ScriptError(f"the script {cause.problem}") from error
        raise cause from error


def read_script(path: Path) -> AgentScript:
    """Read a script.

    Raises:
        ScriptError: The file can't be read, or has a mistake.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ScriptError(f"{path} is larger than {_MAX_BYTES} bytes")
        # JSON is YAML as well.
        data = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ScriptError(f"{path} can't be read: {error}") from error
    try:
        return parse_script(data)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from error
