from pathlib import Path

import pytest

from amplifier_tui.kernel.cli import main
from tests.kernel.validation.packages import write

TOOL = """
class Tool:
    name = "t"
    description = "d"
    input_schema = {"type": "object", "properties": {}}

    async def execute(self, input): ...


async def mount(coordinator, config):
    await coordinator.mount("tools", Tool())
"""
BESIDE = """
    import asyncio
    asyncio.create_task(exits())


async def exits():
    raise SystemExit(3)
"""


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        (TOOL, 0, "PASSED: 8/8 checks passed"),
        (TOOL + BESIDE, 0, "PASSED: 8/8 checks passed"),
        (TOOL.replace("async def execute", "def execute"), 1, "Tool.execute() should be async"),
        ("", 1, "No mount() function found in module"),
    ],
)
def test_the_published_command_validates_a_module(
    source: str, status: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["validate", "tool", str(write(tmp_path, source))])
    assert ended.value.code == status
    assert words in capsys.readouterr().out


def test_a_quiet_validation_prints_the_summary_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["validate", "tool", str(write(tmp_path, TOOL)), "-q"])
    assert capsys.readouterr().out == "PASSED: 8/8 checks passed (0 errors, 0 warnings)\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["validate", "tool", "/nowhere/at/all"], "there is nothing at"), ([], "required: command")],
)
def test_what_cannot_be_validated_is_said(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_the_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["list-types"])
    assert set(capsys.readouterr().out.split()) == {
        *("orchestrator", "provider", "tool", "hook", "context"),
    }
