"""A provider or a tool that returns nothing is found in its source: it can't be called for that."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.validation import VALIDATORS
from amplifier_tui.kernel.validation.returns import plain_items, plain_return
from tests.kernel.validation.packages import check_of, write
from tests.kernel.validation.test_validators import PROVIDER, TOOL


class Provider:
    async def text(self, request):
        if request:
            raise ValueError
        return f"it is {request}"

    async def mapping(self, request):
        return {
            "content": [],
        }

    async def nothing(self, request):
        def inner():
            return request

        self.last = inner()

    async def annotated(self, request) -> dict[str, Any]:
        return self.last

    async def response(self, request):
        def inner():
            return "a text of no matter"

        return inner()

    async def missing(self, request):
        raise NotImplementedError

    async def endless(self, request):
        while True:
            self.last = request

    async def ending(self, request):
        self.last = request
        sys.exit(1)

    async def broken_off(self, request):
        while True:
            break

    async def pieces(self, request):
        yield "a piece"


@pytest.mark.parametrize(
    ("method", "value", "line"),
    [
        (Provider.text, "str", 3),
        (Provider.mapping, "dict", 1),
        (Provider.nothing, "None", 0),
        (Provider.broken_off, "None", 0),
        (Provider.annotated, "dict", 0),
    ],
)
def test_a_plain_value_that_is_returned_is_seen_with_its_line(
    method: Callable[..., Any], value: str, line: int
) -> None:
    first = method.__code__.co_firstlineno
    assert plain_return(method) == (value, f"{__file__}:{first + line}")


@pytest.mark.parametrize(
    "method",
    [
        *(Provider.response, Provider.missing, Provider.pieces, len),
        *(Provider.endless, Provider.ending),
    ],
)
def test_what_may_be_right_is_no_problem(method: Callable[..., Any]) -> None:
    assert plain_return(method) is None


class Models:
    async def texts(self):
        return ["a", "b"]

    async def comprehended(self):
        return [{"id": each} for each in self.names]

    async def annotated(self) -> list[str]:
        return self.names

    async def unknown(self):
        return [*self.names, self.info("a")]

    async def none(self) -> list[Any]:
        return []

    async def gathered(self):
        return sorted(self.names)


@pytest.mark.parametrize(
    ("method", "value", "line"),
    [
        (Models.texts, "str", 1),
        (Models.comprehended, "dict", 1),
        (Models.annotated, "str", 0),
        (Models.unknown, "", 0),
        (Models.none, "", 0),
        (Models.gathered, "", 0),
    ],
)
def test_plain_items_of_a_list_that_is_returned_are_seen_with_their_line(
    method: Callable[..., Any], value: str, line: int
) -> None:
    place = f"{__file__}:{method.__code__.co_firstlineno + line}"
    assert plain_items(method) == ((value, place) if value else None)


async def test_a_provider_that_lists_its_models_as_texts_is_told_what_to_list(
    tmp_path: Path,
) -> None:
    package = write(tmp_path, PROVIDER.replace("return []", "return ['m-1']", 1))
    check = check_of(await VALIDATORS["provider"](runs=True).validate(package), "provider_models")
    assert (check.passed, check.severity) == (False, "warning")
    assert check.message.startswith("Provider.list_models() returns str in its list")
    assert "ModelInfo(" in check.remedy and check.where.endswith("__init__.py:12")


@pytest.mark.parametrize(
    ("before", "after", "said", "line"),
    [
        ("return []\n\n\nasync", "return [{'id': '1'}]\n\n\nasync", "returns dict in its list", 18),
        ("def parse", "async def parse", "is async: no tool call is ever read", 17),
    ],
)
async def test_a_provider_that_reads_tool_calls_as_something_else_fails(
    before: str, after: str, said: str, line: int, tmp_path: Path
) -> None:
    assert before in PROVIDER
    package = write(tmp_path, PROVIDER.replace(before, after, 1))
    check = check_of(await VALIDATORS["provider"](runs=True).validate(package), "provider_calls")
    assert (check.passed, check.severity) == (False, "error")
    assert check.message == f"Provider.parse_tool_calls() {said}" and check.remedy
    assert check.where.endswith(f"__init__.py:{line}")
    assert (await VALIDATORS["provider"]().validate(package)).passed, "a session says it itself"


async def test_the_author_is_told_and_the_module_mounts_all_the_same(tmp_path: Path) -> None:
    package = write(tmp_path, PROVIDER)
    told = await VALIDATORS["provider"](runs=True).validate(package)
    check = check_of(told, "provider_answer")
    assert not check.passed and check.message == "Provider.complete() returns nothing"
    assert str(package / "__init__.py:") in check.where and "ChatResponse" in check.remedy
    assert (await VALIDATORS["provider"]().validate(package)).passed


async def test_a_tool_that_returns_nothing_passes_with_a_warning(tmp_path: Path) -> None:
    told = await VALIDATORS["tool"](runs=True).validate(write(tmp_path, TOOL))
    check = check_of(told, "tool_answer")
    assert told.passed and told.warnings == [check]
    assert check.message == 'Tool.execute() returns nothing: the model reads "Success"'
    assert check.where.endswith("__init__.py:8")
    whole = TOOL.replace("return None", "return {'success': True}")
    told = await VALIDATORS["tool"](runs=True).validate(write(tmp_path, whole))
    assert told.passed and not told.warnings
