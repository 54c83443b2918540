from types import SimpleNamespace

from amplifier_tui.context.adr.agent_tools import FunctionTool
from amplifier_tui.context.adr.provider import SessionContext
from amplifier_tui.context.request.system_prompt import tool_schema_tokens, tool_source


def tool(module: str, description: str = "Does it.", schema: object = None) -> object:
    cls = type("Tool", (), {"__module__": module})
    made = cls()
    made.description = description
    made.input_schema = schema or {"type": "object"}
    return made


def test_a_tool_is_billed_to_its_module() -> None:
    assert tool_source(tool("amplifier_tui.modules.tool_bash.tool")) == "tools:tool-bash"
    assert tool_source(tool("amplifier_module_tool_web_search")) == "tools:tool-web-search"
    assert tool_source(tool("acme.agents")) == "tools:acme"


def test_a_tool_of_a_provider_is_billed_to_the_provider() -> None:
    made = FunctionTool(lambda: 1)
    SessionContext(input_messages=[]).extend_tools("rag", [made])
    assert tool_source(made) == "rag"


def test_the_tools_of_a_module_are_counted_together() -> None:
    tools = {
        "read": tool("amplifier_tui.modules.tool_files.read", "x" * 400),
        "write": tool("amplifier_tui.modules.tool_files.write", "x" * 400),
        "bash": tool("amplifier_tui.modules.tool_bash.tool"),
    }
    sizes = tool_schema_tokens(tools)
    assert list(sizes) == ["tools:tool-files", "tools:tool-bash"]
    assert sizes["tools:tool-files"][0] == 2
    assert sizes["tools:tool-files"][1] > 200


def test_a_schema_that_can_not_be_read_does_not_matter() -> None:
    class Broken:
        description = 7

        @property
        def input_schema(self) -> dict:
            raise OSError("remote schema")

    assert tool_schema_tokens({"b": Broken(), "c": SimpleNamespace()})
