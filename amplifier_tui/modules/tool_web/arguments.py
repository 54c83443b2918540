"""How both tools read the arguments of a call."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import ConfigDict

from amplifier_tui.base.config import ModuleSettings, SettingsError
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem


class WebArguments(ModuleSettings):
    """Arguments, read as leniently as is safe."""

    # A number may come as text.
    model_config = ConfigDict(strict=False)

    module: ClassVar[str] = "the call"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read the arguments of a call; a `ToolProblem` where they make no sense."""
        unknown = [name for name in given if name not in cls.model_fields]
        if unknown:
            # Whoever judged the call may have taken another argument for the address.
            names = " and ".join(f"`{name}`" for name in cls.model_fields)
            raise ToolProblem(
                f"Unknown argument `{unknown[0]}`: give {names}.", "invalid_arguments"
            )
        try:
            return cls.read_known(given)
        except SettingsError as error:
            raise ToolProblem(f"{error}.", "invalid_arguments") from error


class WebTool(ModuleTool):
    """What both tools are made of."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        return {**super().input_schema, "additionalProperties": False}
