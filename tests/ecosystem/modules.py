"""Modules the way published ones are written, as the files of their packages."""

from collections.abc import Sequence

from tests.foundation.packages import project_files

TOOL = '''
from amplifier_core.models import ToolResult

__amplifier_module_type__ = "tool"


class {title}Tool:
    """Answers with its name and what it was given."""

    name = "{name}"
    description = "Answers with its name"
    input_schema = {{"type": "object", "properties": {{"text": {{"type": "string"}}}}}}

    def __init__(self, coordinator=None, config=None):
        self.config = config or {{}}

    async def execute(self, input):
        return ToolResult(success=True, output="{name}: " + {answer})
'''
"""Code of a tool; `answer` is an expression."""

AS_FUNCTION = """

async def mount(coordinator, config=None):
    tool = {title}Tool(coordinator, config)
    await coordinator.mount("tools", tool, name=tool.name)
"""

HOOK = """
__amplifier_module_type__ = "hook"


async def mount(coordinator, config=None):
    from amplifier_core.models import HookResult

    config = config or {{}}
{body}
"""

COUNTS = HOOK.format(
    body="""
    async def count(event, data):
        return HookResult(action="continue")

    coordinator.hooks.register("prompt:submit", count, name="{name}")
"""
)
ASKS = HOOK.format(
    body="""
    async def ask(event, data):
        if data.get("tool_name") != config.get("tool"):
            return HookResult(action="continue")
        return HookResult(action="ask_user", approval_prompt="May it be shaped?")

    coordinator.hooks.register("tool:pre", ask, name="{name}")
"""
)
SAYS = HOOK.format(
    body="""
    async def say(event, data):
        words = "the words were counted"
        return HookResult(action="continue", user_message=words, user_message_level="warning")

    coordinator.hooks.register("prompt:complete", say, name="{name}")
"""
)
NAMES = HOOK.format(
    body="""
    import json
    from pathlib import Path

    async def name(event, data):
        card = Path(coordinator.get_capability("session.events_path")).parent / "metadata.json"
        known = json.loads(card.read_text())
        card.write_text(json.dumps({**known, "name": "Shapes and words"}))
        return HookResult(action="continue")

    coordinator.hooks.register("prompt:complete", name, name="{name}")
"""
)
"""Gives the session a name in its card, as a naming hook of another program does."""


def tool(
    name: str,
    *,
    entry: str = "function",
    answer: str = 'str(input.get("text", ""))',
    head: str = "",
    requires: Sequence[str] = (),
    sources: str = "",
) -> dict[str, str]:
    """The files of a tool's package.

    Args:
        name: The tool's; the module is `tool-<name>`.
        entry: What the entry point names: a `function`, a `class`, or `none` for no entry point.
        answer: An expression of what it says.
        head: Imports.
        requires: Dependencies.
        sources: The lines of `[tool.uv.sources]`.
    """
    title = name.title().replace("-", "")
    code = head + TOOL.format(name=name, title=title, answer=answer)
    # Of a package with a source, `mount` is taken whatever the entry point names.
    code += AS_FUNCTION.format(title=title)
    target = f"{title}Tool" if entry == "class" else "mount"
    return package(f"tool-{name}", code, target if entry != "none" else "", requires, sources)


def hook(name: str, code: str = COUNTS) -> dict[str, str]:
    """The files of a hook's package; the module is `hooks-<name>`."""
    module = f"hooks-{name}"
    return package(module, code.replace("{name}", module), "mount")


def package(
    module: str, code: str, target: str, requires: Sequence[str] = (), sources: str = ""
) -> dict[str, str]:
    """The files of a module's package."""
    name = f"amplifier_module_{module.replace('-', '_')}"
    points = {module: f"{name}:{target}"} if target else {}
    files = project_files(
        f"amplifier-module-{module}", name, code, requires=requires, modules=points
    )
    if sources:
        files["pyproject.toml"] += f"[tool.uv.sources]\n{sources}\n"
    return files


def inside(folder: str, files: dict[str, str]) -> dict[str, str]:
    """The same files below a folder of a repository."""
    return {f"{folder}/{name}": text for name, text in files.items()}
