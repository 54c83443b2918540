from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import pytest
from pydantic import AliasChoices, BaseModel, Field, field_validator, model_validator

from amplifier_tui.base.config import (
    Bytes,
    ModuleSettings,
    Paths,
    PathText,
    Seconds,
    SettingsError,
    Texts,
)


class Price(BaseModel):
    input: float


class OvenSettings(ModuleSettings):
    module: ClassVar[str] = "tool-oven"

    timeout: Seconds = Field(2.0, gt=0, le=60)
    trays: int = Field(3, ge=1, le=5)
    depth: int = Field(2, ge=1)
    size: Bytes = 10
    fan: bool = True
    heat: Literal["low", "high"] = "low"
    recipes: Texts = ()
    shelves: Paths = ()
    folder: PathText | None = None
    model: str | None = Field(None, validation_alias=AliasChoices("model", "kind"))
    key: int | None = Field(None, repr=False)
    price: Price | None = None
    pan: str = "round"

    @field_validator("pan")
    @classmethod
    def _known_pan(cls, value: str) -> str:
        if value not in ("round", "square"):
            raise ValueError(f"has no pan {value!r}")
        return value


def test_what_is_not_given_has_its_default() -> None:
    assert OvenSettings.read(None) == OvenSettings.read({"timeout": None}) == OvenSettings()


def test_what_a_config_lacks_is_told_also_of_an_empty_one() -> None:
    class WaterSettings(ModuleSettings):
        module: ClassVar[str] = "tool-water"
        litres: int

    class PairSettings(ModuleSettings):
        module: ClassVar[str] = "tool-pair"
        left: int = 0

        @model_validator(mode="after")
        def _never(self) -> Self:
            raise ValueError("has no pair")

    for settings, words in (
        (WaterSettings, "`litres` of tool-water is missing"),
        (PairSettings, "tool-pair has no pair"),
    ):
        for config in (None, {}, {"other": 1}):
            assert words in [problem.message for problem in settings.problems(config)]


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"timeout": 3}, "timeout", 3.0),
        ({"recipes": "bread"}, "recipes", ("bread",)),
        ({"recipes": ["a", "b"]}, "recipes", ("a", "b")),
        ({"shelves": [Path("/a"), " ", "b"]}, "shelves", ("/a", "b")),
        ({"folder": Path("/a")}, "folder", "/a"),
        ({"kind": "x"}, "model", "x"),
        ({"model": "x"}, "model", "x"),
        ({"price": {"input": 1.0}}, "price", Price(input=1.0)),
    ],
)
def test_a_value_is_taken(given: dict[str, Any], name: str, value: Any) -> None:
    assert getattr(OvenSettings.read(given), name) == value


OVEN_TIME = "`timeout` of tool-oven must be a number of seconds above 0 up to 60, not"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"timeout": 0}, f"{OVEN_TIME} 0"),
        ({"timeout": "3"}, f"{OVEN_TIME} '3'"),
        ({"timeout": True}, f"{OVEN_TIME} True"),
        ({"timeout": float("inf")}, f"{OVEN_TIME} inf"),
        ({"trays": 9}, "`trays` of tool-oven must be a whole number from 1 to 5, not 9"),
        ({"trays": True}, "`trays` of tool-oven must be a whole number from 1 to 5, not True"),
        ({"depth": 0}, "`depth` of tool-oven must be a whole number from 1 up, not 0"),
        ({"size": -1}, "`size` of tool-oven must be a number of bytes from 0 up, not -1"),
        ({"fan": "yes"}, "`fan` of tool-oven must be true or false, not 'yes'"),
        ({"heat": "mid"}, "`heat` of tool-oven must be one of low, high, not 'mid'"),
        ({"recipes": 3}, "`recipes` of tool-oven must be a list of texts, not 3"),
        ({"recipes": ["a", 3]}, "`recipes` of tool-oven must be a list of texts"),
        ({"folder": 3}, "`folder` of tool-oven must be a path, not 3"),
        ({"kind": 3}, "`kind` of tool-oven must be a text, not 3"),
        ({"key": "secret"}, "`key` of tool-oven must be a whole number"),
        ({"pan": "oval"}, "`pan` of tool-oven has no pan 'oval'"),
        ({"fan": 1, "trays": 0}, "`trays` of tool-oven must be a whole number from 1 to 5, not 0; "
                                 "`fan` of tool-oven must be true or false, not 1"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_what_is_allowed(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        OvenSettings.read(given)
    assert str(caught.value) == message


def test_a_mistake_within_a_value_names_the_place() -> None:
    with pytest.raises(SettingsError, match=r"`price` of tool-oven makes no sense: input: "):
        OvenSettings.read({"price": {}})


def test_a_long_value_is_cut() -> None:
    with pytest.raises(SettingsError) as caught:
        OvenSettings.read({"fan": "x" * 10_000})
    assert len(str(caught.value)) < 200


def test_an_unknown_key_is_ignored_and_told_with_the_nearest_name() -> None:
    assert OvenSettings.read({"timeot": 3, "zzz": 1}) == OvenSettings()
    found = OvenSettings.problems({"timeot": 3, "zzz": 1, "fan": 0})
    assert [(problem.key, problem.message, problem.known) for problem in found] == [
        ("fan", "`fan` of tool-oven must be true or false, not 0", True),
        ("timeot", "`timeot` is no setting of tool-oven; did you mean `timeout`?", False),
        ("zzz", "`zzz` is no setting of tool-oven", False),
    ]


def test_lenient_reading_puts_defaults_in_the_place_of_mistakes() -> None:
    settings, mistakes = OvenSettings.read_leniently({"fan": "no", "kind": 3, "trays": 4})
    assert settings == OvenSettings(trays=4)
    assert [mistake.key for mistake in mistakes] == ["fan", "kind"]


def test_what_has_to_be_given_is_asked_for() -> None:
    class LidSettings(ModuleSettings):
        module: ClassVar[str] = "tool-lid"

        size: int

    with pytest.raises(SettingsError, match=r"^`size` of tool-lid is missing$"):
        LidSettings.read_known({"sise": 3})
