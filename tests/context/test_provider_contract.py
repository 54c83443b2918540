"""A context provider that can't take part is told of where it is mounted or validated."""

from itertools import count
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from amplifier_tui.context.errors import ContextSourceError
from amplifier_tui.context.provider_trial import ProviderTrial
from amplifier_tui.kernel.validation.base import ValidationCheck, ValidationResult
from amplifier_tui.kernel.validation.module_check import check_module
from tests.context.stage import Noting, Stage

MODULE = """\
import asyncio
from amplifier_tui.context import ContextProvider

__amplifier_module_type__ = "hook"


class Glossary(ContextProvider):
{body}

async def mount(coordinator, config=None):
    pipeline = coordinator.get_capability("context.pipeline")
    if pipeline is not None:
        pipeline.add(Glossary("glossary"))
"""
NUMBERS = count()
LINE = MODULE.splitlines().index("{body}") + 1
HEAD = "async def before_run(self, agent, session, context, state):"


async def validated(folder: Path, body: str) -> list[ValidationCheck]:
    result = await checked(folder, MODULE.format(body=indent(body, "    ")))
    told = [check for check in result.checks if "rovider" in check.message]
    return [each for each in told if not (each.passed and each.name == "protocol_compliance")]


async def checked(folder: Path, text: str) -> ValidationResult:
    # One process holds one package of a name.
    package = folder / f"amplifier_module_hooks_glossary_{next(NUMBERS)}"
    package.mkdir()
    (package / "__init__.py").write_text(text)
    return (await check_module(str(package), trial=ProviderTrial())).result


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("async def before_run(self, context):\n    pass", "before_run() of the context provider"),
        ("async def after_run(self, a, b, c, *, d):\n    pass", "after_run() of the context provi"),
        ("def __init__(self, name):\n    pass", "has no source_id"),
        ("before_run = None", "before_run() of the context provider 'glossary' is missing"),
    ],
)
async def test_one_that_cannot_be_called_fails_with_its_line_and_what_to_do(
    body: str, words: str, tmp_path: Path
) -> None:
    (check,) = await validated(tmp_path, body)
    assert not check.passed and check.severity == "error"
    line = LINE if "def" in body else LINE - 1
    assert words in check.message and f"__init__.py:{line})" in check.message
    remedy = "super().__init__" if "__init__" in body else "async def"
    assert remedy in check.message


async def test_a_module_that_adds_one_is_not_missed_a_handler(tmp_path: Path) -> None:
    body = indent(f"{HEAD}\n    pass", "    ")
    result = await checked(tmp_path, MODULE.format(body=body))
    (check,) = [each for each in result.checks if each.name == "protocol_compliance"]
    assert check.passed and check.severity == "info"
    assert "context provider 'glossary'" in check.message


@pytest.mark.parametrize(
    ("answer", "words", "where"),
    [
        ('raise KeyError("boom")', "KeyError: 'boom'", f"__init__.py:{LINE + 1}"),
        ("await asyncio.Event().wait()", "did not answer within", ""),
    ],
)
async def test_one_that_fails_when_it_is_asked_is_warned_of(
    answer: str, words: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.context.provider_trial.SECONDS", 0.01)
    (check,) = await validated(tmp_path, f"{HEAD}\n    {answer}")
    assert not check.passed and check.severity == "warning"
    assert words in check.message and check.where.endswith(where) and check.remedy


@pytest.mark.parametrize(
    "body",
    [
        f"{HEAD}\n    assert context.input_messages[-1].text",
        "def before_run(self, *args):\n    pass",
        "async def before_run(self, a, b, c, d):\n    pass",
        "async def before_run(self, *, agent, session, context, state):\n    pass",
    ],
)
async def test_one_that_can_be_called_and_answers_passes(body: str, tmp_path: Path) -> None:
    (check,) = await validated(tmp_path, body)
    assert check.passed


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["before_runn"], ["before_run"]),
        (["afterRun"], ["after_run"]),
        (["before_runn", "after_rum"], ["before_run", "after_run"]),
        (["after_rnu", "before_run", "before_runs"], ["after_run"]),
        (["_before_run", "lookup"], []),
    ],
)
async def test_a_misspelt_hook_is_warned_of_with_the_one_that_is_meant(
    names: list[str], told: list[str], tmp_path: Path
) -> None:
    heads = [HEAD.replace("before_run", name) for name in names]
    found = await validated(tmp_path, "\n".join(f"{head}\n    pass\n" for head in heads))
    warned = [each for each in found if not each.passed]
    assert [each.remedy for each in warned] == [f"Rename it to {phase}" for phase in told]
    for index, each in enumerate(warned):
        assert each.severity == "warning" and each.where.endswith(f"__init__.py:{LINE + 3 * index}")
        who = f"{names[index]}() of the context provider 'glossary'"
        assert each.message == f"No session calls {who}"
    assert [each.passed for each in found] == ([False] * len(told) if told else [True])


async def test_a_module_that_needs_a_pipeline_to_mount_fails_with_its_line_and_what_to_do(
    tmp_path: Path,
) -> None:
    text = MODULE.format(body=f"    {HEAD}\n        pass")
    text = text.replace("    if pipeline is not None:\n    ", "")
    result = await checked(tmp_path, text)
    (check,) = result.errors
    assert check.message.startswith("In a session without context.pipeline: ")
    line = text.splitlines().index('    pipeline.add(Glossary("glossary"))') + 1
    assert check.where.endswith(f"__init__.py:{line}")
    assert 'get_capability("context.pipeline")' in check.remedy and "None" in check.remedy


async def test_a_module_that_asks_for_a_pipeline_is_cleaned_up_after_each_mount(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    text = MODULE.format(body=f"    {HEAD}\n        pass")
    note = f"open({str(log)!r}, 'a').write"
    text = f"{text}    {note}('mounted ')\n    return lambda: {note}('cleaned ')\n"
    assert (await checked(tmp_path, text)).passed
    assert log.read_text() == "mounted cleaned mounted cleaned "


async def test_one_that_changed_after_it_was_added_stops_the_turn_with_its_line() -> None:
    source = Noting("notes")
    stage = Stage(source)

    async def bad(context: Any) -> None:
        pass

    source.before_run = bad  # type: ignore[method-assign, assignment]
    with pytest.raises(ContextSourceError, match=rf"{Path(__file__).name}:\d+\). Define it as"):
        await stage.execute("hello")
