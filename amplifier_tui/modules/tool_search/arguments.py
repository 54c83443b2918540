"""The arguments of a call, read as leniently as is safe."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, AliasChoices, BeforeValidator, ConfigDict, Field

from amplifier_tui.base.config import ModuleSettings, SettingsError, Texts
from amplifier_tui.modules._shared.tool import ToolProblem

_MOST_CONTEXT = 50


def _or_none(value: Any) -> Any:
    """Models write an empty text for what they leave out."""
    return None if value == "" else value


Count = Annotated[int, Field(ge=0, description="a whole number")]
Context = Annotated[Count, AfterValidator(lambda value: min(value, _MOST_CONTEXT))]


class SearchArguments(ModuleSettings):
    """What both tools take."""

    # A number or a yes may come as text.
    model_config = ConfigDict(strict=False)

    pattern: str = Field(min_length=1, description="a text that says what to look for")
    path: Any = None
    include_ignored: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read the arguments of a call.

        Raises:
            ToolProblem: They make no sense.
        """
        try:
            return cls.read_known(given)
        except SettingsError as error:
            raise ToolProblem(f"{error}.", "invalid_arguments") from error


class GlobArguments(SearchArguments):
    """What ``glob`` takes."""

    module: ClassVar[str] = "glob"

    type: Annotated[Literal["file", "dir", "any"] | None, BeforeValidator(_or_none)] = None


class GrepArguments(SearchArguments):
    """What ``grep`` takes; see its schema."""

    module: ClassVar[str] = "grep"

    glob: Texts = ()
    include: Texts = ()
    type: str | None = None
    output_mode: Annotated[
        Literal["files_with_matches", "content", "count"] | None, BeforeValidator(_or_none)
    ] = None
    ignore_case: bool = Field(
        default=False, validation_alias=AliasChoices("-i", "case_insensitive")
    )
    around: Context = Field(default=0, validation_alias=AliasChoices("-C", "context"))
    before: Context | None = Field(default=None, validation_alias="-B")
    after: Context | None = Field(default=None, validation_alias="-A")
    multiline: bool = False
    head_limit: Count | None = Field(
        default=None, validation_alias=AliasChoices("head_limit", "max_results")
    )
    offset: Annotated[Count, AfterValidator(lambda value: min(value, 1_000_000))] = 0
