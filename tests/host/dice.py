# A module somebody is writing while a session has it.

from pathlib import Path

SOURCE = """
from amplifier_core import ToolResult

FACE = {face!r}


class Dice:
    name = "roll"
    description = f"Rolls a die that shows {{FACE}}."
    input_schema = {{"type": "object", "properties": {{"sides": {{"type": "integer"}}}}}}

    def __init__(self, hooks):
        self.hooks = hooks

    async def execute(self, input):
        if input.get("count"):
            # How many handlers of this module there are.
            return ToolResult(output=str(self.hooks.list_handlers("tool:post")))
        return ToolResult(output=FACE)


async def mount(coordinator, config=None):
    await coordinator.mount("tools", Dice(coordinator.hooks))

    async def listen(event, data):
        pass

    return coordinator.hooks.register("tool:post", listen, name="tool-dice")
"""
KEY = "tool-dice"


class Dice:
    # Its folder and its one file.

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "amplifier-module-tool-dice"
        self.file = self.folder / "amplifier_module_tool_dice" / "__init__.py"
        self.file.parent.mkdir(parents=True)
        self.write("one")

    def write(self, face: str) -> None:
        self.file.write_text(SOURCE.format(face=face))
