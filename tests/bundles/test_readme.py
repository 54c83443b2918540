import re
from pathlib import Path

import pytest
import yaml

from amplifier_tui.cli.group import run
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.events import LaneOpened, ModuleFailed, SessionOpened
from amplifier_tui.paths import shipped_bundles_dir
from tests.host.driving import Driver

SHIPPED = shipped_bundles_dir()
TEXT = (SHIPPED / "README.md").read_text()
FILE = re.compile(r"^`(\.amplifier/[^`]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in FILE.findall(TEXT):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def commands() -> list[str]:
    return [line for block in COMMANDS.findall(TEXT) for line in block.splitlines()]


def test_the_example_has_a_bundle_an_agent_and_a_context_file() -> None:
    assert [name for name, _ in FILE.findall(TEXT)] == [
        ".amplifier/bundles/mine.md",
        ".amplifier/bundles/house-rules.md",
        ".amplifier/bundles/agents/translator.md",
    ]
    assert len(commands()) == 4


def test_every_command_of_the_example_works(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    for line in commands():
        program, *arguments = line.split()
        assert program == "amplifier-tui"
        assert run(arguments) == 0, line
        captured = capsys.readouterr()
        assert captured.err == "" and captured.out
    settings = yaml.safe_load((project / ".amplifier" / "settings.local.yaml").read_text())
    assert settings == {"bundle": {"active": "mine"}}


async def test_the_example_is_coding_with_what_it_says(project: Path) -> None:
    workspace = Workspace.open(project, shipped=(SHIPPED,))
    coding, mine = await workspace.load("coding"), await workspace.load("mine")
    assert mine.skipped == [] and mine.instruction == coding.instruction
    approval = next(hook for hook in mine.hooks if hook["module"] == "hooks-approval")
    assert approval["config"]["policy"] == "relaxed"
    assert approval["config"]["allow"] == ["bash(git status)", "bash(npm test)"]
    bash = next(tool for tool in mine.tools if tool["module"] == "tool-bash")
    assert bash["config"]["timeout"] == 600
    assert set(mine.agents) == {*coding.agents, "translator"}
    assert "user interface" in mine.agents["translator"]["instruction"]
    preview = await workspace.preview("mine")
    assert preview.context_files == ("@mine:house-rules.md",)


def test_a_session_of_the_example_mounts_everything_but_the_providers_without_keys(
    project: Path,
) -> None:
    driver = Driver(project)
    try:
        opened = driver.open("mine")
        assert isinstance(opened, SessionOpened) and opened.bundle == "mine"
        failed = {event.module_id for event in driver.of(ModuleFailed)}
        assert failed == {"provider-anthropic", "provider-openai"}
        assert driver.of(LaneOpened) == []
    finally:
        driver.close()


def test_every_part_in_the_table_is_there() -> None:
    table = TEXT.split("## Parts to compose")[1].split("##")[0]
    named = set(re.findall(r"`(behaviors/[a-z-]+)`", table))
    assert "approval-careful" in table
    parts = {f"behaviors/{path.stem}" for path in (SHIPPED / "behaviors").glob("*.yaml")}
    assert named | {"behaviors/approval-standard", "behaviors/approval-relaxed"} == parts


def test_every_module_in_the_table_is_built_in_and_has_the_keys() -> None:
    table = TEXT.split("## What the modules can be told")[1].split("##")[0]
    root = Path(__file__).parents[2] / "amplifier_tui" / "modules"
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", table, re.MULTILINE)
    assert len(rows) > 10
    for module, keys in rows:
        text = (root / module.replace("-", "_") / "__init__.py").read_text()
        for key in re.findall(r"`([a-z_]+)`", keys.split("(")[0]):
            assert key in text, (module, key)
