"""The base of every module's settings: declared as a pydantic model, read with readable errors.

    class BashSettings(ModuleSettings):
        module: ClassVar[str] = "tool-bash"
        timeout: Seconds = Field(120.0, ge=0.1)
        keep_env: Texts = ()

    settings = BashSettings.read(config)

Types are strict. A key without a value counts as not given. A mistake reads "`timeout` of tool-bash
must be a number of seconds from 0.1 up, not 'x'": the words come from the field's type, its limits
and its ``description``, which names the thing where the type alone does not. A validator of a model
raises `ValueError` with a text that goes on after "`key` of module ", of the whole model after the
module.
"""

import logging
import os
import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.base.text import shortened

logger = logging.getLogger(__name__)

_LONGEST_VALUE = 80


class SettingProblem(NamedTuple):
    """What is wrong with one key of a module's settings.

    Attributes:
        key: As the bundle spells it.
        message: A sentence without its full stop, naming key and module.
        known: Whether the module has such a key. Unknown ones are ignored, known ones are mistakes.
    """

    key: str
    message: str
    known: bool = True


class SettingsError(ValueError):
    """Settings that make no sense.

    Attributes:
        problems: Each mistake.
    """

    def __init__(self, problems: list[SettingProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


class ModuleSettings(BaseModel):
    """Settings of one module.

    Attributes:
        module: The module's id, for messages.
    """

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="ignore",
        allow_inf_nan=False,
        populate_by_name=True,
        arbitrary_types_allowed=True,
        # Only what is read is built: bases and the arguments of tools cost nothing at the start.
        defer_build=True,
    )

    module: ClassVar[str]

    @classmethod
    def read(cls, config: Mapping[str, Any] | None) -> Self:
        """Read a module's config; unknown keys are logged and left alone.

        Args:
            config: The ``config`` of the mount plan's entry.

        Raises:
            SettingsError: A value makes no sense.
        """
        settings = cls.read_known(config)
        for problem in cls._unknown(config or {}):
            logger.warning("%s", problem.message)
        return settings

    @classmethod
    def read_known(cls, given: Mapping[str, Any] | None) -> Self:
        """Do the same in silence about unknown keys, as for what a model calls a tool with.

        Raises:
            SettingsError: A value makes no sense.
        """
        settings, mistakes = cls._validated(_given(given))
        if settings is None:
            raise SettingsError(mistakes)
        return settings

    @classmethod
    def read_leniently(cls, config: Mapping[str, Any] | None) -> tuple[Self, list[SettingProblem]]:
        """Read what makes sense; defaults stand in for the rest.

        Returns:
            The settings, and the mistakes.
        """
        given = _given(config)
        settings, mistakes = cls._validated(given)
        if settings is None:
            wrong = {problem.key for problem in mistakes}
            settings = cls.model_validate({k: v for k, v in given.items() if k not in wrong})
        return settings, mistakes

    @classmethod
    def problems(cls, config: Mapping[str, Any] | None) -> list[SettingProblem]:
        """Return the mistakes in a config, then its unknown keys with the nearest known name."""
        return [*cls._validated(_given(config))[1], *cls._unknown(config or {})]

    @classmethod
    def _validated(cls, given: dict[str, Any]) -> tuple[Self | None, list[SettingProblem]]:
        if not given and cls._has_valid_defaults():
            # Building the validator takes a millisecond; most modules are mounted with defaults.
            return cls.model_construct(), []
        try:
            return cls.model_validate(given), []
        except ValidationError as error:
            found = error.errors(include_url=False)
        first: dict[str, SettingProblem] = {}
        for problem in map(cls._problem, found):
            first.setdefault(problem.key, problem)
        return None, list(first.values())

    @classmethod
    def _has_valid_defaults(cls) -> bool:
        """Whether a config without a key is right: nothing is required or checked as a whole."""
        return not cls.__pydantic_decorators__.model_validators and not any(
            field.is_required() or field.validate_default for field in cls.model_fields.values()
        )

    @classmethod
    def _problem(cls, problem: Any) -> SettingProblem:
        key, *inside = [str(part) for part in problem["loc"]] or [""]
        field = cls._by_name().get(key)
        if problem["type"] == "value_error":
            said = str(problem["ctx"]["error"])
        elif problem["type"] == "missing" and not inside:
            said = "is missing"
        elif field is not None and (words := expected(field)):
            # A field that is left out of the model's repr holds a secret.
            value = problem["input"] if field.repr and not inside else None
            said = f"must be {words}" + (f", not {_shown(value)}" if value is not None else "")
            if isinstance(value, str):
                said += did_you_mean(value, choices(field.annotation), "`")
        else:
            said = f"makes no sense: {'.'.join(inside)}: {problem['msg']}"
        # A validator of the whole model names no key.
        what = f"`{key}` of {cls.module}" if key else cls.module
        return SettingProblem(key, f"{what} {said}")

    @classmethod
    def _unknown(cls, config: Mapping[str, Any]) -> Iterator[SettingProblem]:
        known = cls._by_name()
        for key in map(str, config):
            if key in known:
                continue
            hint = did_you_mean(key, known, "`")
            yield SettingProblem(key, f"`{key}` is no setting of {cls.module}{hint}", known=False)

    @classmethod
    def _by_name(cls) -> dict[str, FieldInfo]:
        """The fields by each name they may be given under."""
        fields = dict(cls.model_fields)
        for field in cls.model_fields.values():
            match field.validation_alias:
                case str() as alias:
                    fields[alias] = field
                case AliasChoices(choices=choices):
                    fields.update((alias, field) for alias in choices if isinstance(alias, str))
        return fields


def _given(config: Mapping[str, Any] | None) -> dict[str, Any]:
    return {str(key): value for key, value in (config or {}).items() if value is not None}


def _shown(value: Any) -> str:
    return shortened(repr(value), _LONGEST_VALUE)


def expected(field: FieldInfo) -> str:
    """What a value of the field has to be, in words; empty where there are none for its type."""
    what = field.description or _kind(field.annotation)
    limits = {
        name: limit
        for meta in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if (limit := getattr(meta, name, None)) is not None
    }
    least = limits.get("ge")
    if "gt" in limits:
        what += f" above {limits['gt']:g}"
    most = limits.get("le")
    match least, most:
        case None, None:
            return what
        case None, _:
            return f"{what} up to {most:g}"
        case _, None:
            return f"{what} from {least:g} up"
        case _:
            return f"{what} from {least:g} to {most:g}"


_KINDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
}


def _kind(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        named = [meta.description for meta in inner[1:] if isinstance(meta, FieldInfo)]
        return next(filter(None, named), None) or _kind(inner[0])
    if origin is Literal:
        words = [str(word) for word in inner]
        return f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    if origin in (Union, types.UnionType):
        kinds = [_kind(part) for part in inner if part is not types.NoneType]
        return " or ".join(kinds) if all(kinds) else ""
    return _KINDS.get(origin or annotation, "")


def choices(annotation: Any) -> Iterator[str]:
    """Yield the texts that a value of the type may be, where those are few."""
    for inner in get_args(annotation):
        if get_origin(annotation) is not Literal:
            yield from choices(inner)
        elif isinstance(inner, str):
            yield inner


def _listed(value: Any) -> Any:
    """One text stands for a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _listed_paths(value: Any) -> Any:
    listed = _listed(value)
    if not isinstance(listed, tuple):
        return listed
    texts = (os.fspath(item) if isinstance(item, os.PathLike) else item for item in listed)
    return tuple(item for item in texts if not isinstance(item, str) or item.strip())


def _texts_by_name(value: Any) -> Any:
    """Numbers and the like are written without quotes in YAML."""
    if not isinstance(value, Mapping):
        return value
    return {str(name): str(item) for name, item in value.items()}


def _path_text(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


Seconds = Annotated[float, Field(description="a number of seconds")]
Bytes = Annotated[int, Field(description="a number of bytes", ge=0)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_listed), Field(description="a list of texts")]
Paths = Annotated[
    tuple[str, ...], BeforeValidator(_listed_paths), Field(description="a list of paths")
]
PathText = Annotated[str, BeforeValidator(_path_text), Field(description="a path", min_length=1)]
TextsByName = Annotated[
    dict[str, str],
    BeforeValidator(_texts_by_name),
    Field(description="a mapping of names to values"),
]
