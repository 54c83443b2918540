"""What modules print: told as theirs, and not twice because they are mounted for trial first."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import Notice
from tests.host.driving import Driver, Project

PRINTS = """\
__amplifier_module_type__ = "tool"


class Chats:
    name, description, input_schema = "chats", "Chats.", {"type": "object", "properties": {}}

    async def execute(self, input):
        return "ok"


async def mount(coordinator, config):
    for _ in range(config["times"]):
        print("I am here")
    if config["fails"]:
        raise ValueError("no")
    await coordinator.mount("tools", Chats(), name="chats")
"""


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("times", [1, 2])
def test_what_a_module_prints_when_it_is_mounted_is_told_as_often_as_it_does_once(
    project: Project, driver: Driver, tmp_path: Path, times: int, fails: bool
) -> None:
    folder = tmp_path / "tool-chats"
    package = folder / "amplifier_module_tool_chats"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PRINTS)
    name = project.bundle(tools=("tool-chats",))
    path = project.bundles / f"{name}.md"
    entry = f"module: tool-chats\n  source: {folder}\n  config: {{times: {times}, fails: {fails}}}"
    path.write_text(path.read_text().replace("module: tool-chats", entry))
    driver.open(name)
    said = [event.text for event in driver.of(Notice) if event.source == "stdout"]
    assert said == ["tool-chats: I am here"] * times
