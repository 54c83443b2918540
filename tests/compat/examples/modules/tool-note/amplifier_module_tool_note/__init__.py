from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"


class NoteTool:
    name = "note"
    description = "Keeps a note."

    @property
    def input_schema(self):
        return {"type": "object", "properties": {"text": {"type": "string"}}}

    def __init__(self, config):
        self.mark = config.get("mark", "*")

    async def execute(self, input):
        return ToolResult(success=True, output=f"{self.mark} {input['text']}")


async def mount(coordinator, config=None):
    await coordinator.mount("tools", NoteTool(config or {}), name="note")
