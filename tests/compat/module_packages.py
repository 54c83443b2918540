"""Modules in published shapes, good and bad, of every kind: what validators are compared by."""

from pathlib import Path

OBJECTS = {
    "tool": """
class Module:
    name = "tool-under-test"
    description = "Does something"
    input_schema = {"type": "object", "properties": {}}

    async def execute(self, input):
        return None
""",
    "provider": """
from amplifier_core import ProviderInfo


class Module:
    name = "under-test"

    def get_info(self):
        return ProviderInfo(id="under-test", display_name="Under test")

    async def list_models(self):
        return []

    async def complete(self, request, **kwargs):
        raise NotImplementedError

    def parse_tool_calls(self, response):
        return []
""",
    "orchestrator": """
class Module:
    async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
        return "done"
""",
    "context": """
class Module:
    def __init__(self):
        self.rows = []

    async def add_message(self, message):
        self.rows.append(message)

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return list(self.rows)

    async def get_messages(self):
        return list(self.rows)

    async def set_messages(self, messages):
        self.rows = list(messages)

    async def clear(self):
        self.rows = []
""",
    "hook": """
class Module:
    async def __call__(self, event, data):
        return None
""",
}
POINTS = {"tool": "tools", "provider": "providers"}


def _mount(kind: str, body: str = "") -> str:
    if kind == "hook":
        line = 'unregister = coordinator.hooks.register("tool:pre", Module(), name="under-test")'
        done = "return unregister"
    else:
        line = f'await coordinator.mount("{POINTS.get(kind, kind)}", Module())'
        done = "return None"
    return f"\n\nasync def mount(coordinator, config=None):\n    {body or line}\n    {done}\n"


def _nothing(returned: str) -> str:
    return f"\n\nasync def mount(coordinator, config=None):\n    return {returned}\n"


def sources() -> dict[str, tuple[str, str]]:
    """Return kind and source of each module, by name."""
    found: dict[str, tuple[str, str]] = {}
    for kind, module in OBJECTS.items():
        for name, source in {
            "good": module + _mount(kind),
            "without_mount": module,
            "mount_is_no_function": f"{module}\nmount = 5\n",
            "sync_mount": module + _mount(kind).replace("async def mount", "def mount", 1)
            if kind == "hook"
            else f"{module}\n\ndef mount(coordinator, config=None):\n    return None\n",
            "mount_takes_one": module + _mount(kind).replace(", config=None", ""),
            "mounts_nothing": module + _nothing("None"),
            "returns_a_cleanup": module + _nothing("lambda: None"),
            "returns_itself": module + _nothing("Module()"),
            "mount_raises": module + _nothing("1 / 0"),
            "needs_a_setting": module + _mount(kind, 'config["key"]'),
            "syntax_error": "def (",
            "missing_import": "import nowhere_at_all\n",
            "raises_at_import": "raise RuntimeError('no')\n",
            "ready": f"{module}{_mount(kind)}\n\nasync def on_session_ready(coordinator): ...\n",
            "ready_is_sync": f"{module}{_mount(kind)}\n\ndef on_session_ready(coordinator): ...\n",
            "ready_takes_nothing": f"{module}{_mount(kind)}\n\nasync def on_session_ready(): ...\n",
        }.items():
            found[f"{kind}_{name}"] = (kind, source)
    found |= _of_one_kind()
    return found


def _of_one_kind() -> dict[str, tuple[str, str]]:
    tool, provider = OBJECTS["tool"], OBJECTS["provider"]
    changes = {
        "tool_without_description": ("tool", tool.replace("    description", "    other")),
        "tool_empty_description": ("tool", tool.replace('"Does something"', '""')),
        "tool_empty_name": ("tool", tool.replace('"tool-under-test"', '""')),
        "tool_without_schema": ("tool", tool.replace("    input_schema", "    other")),
        "tool_schema_is_a_list": (
            "tool",
            tool.replace('{"type": "object", "properties": {}}', "[]"),
        ),
        "tool_sync_execute": ("tool", tool.replace("async def", "def")),
        "tool_execute_takes_nothing": ("tool", tool.replace("(self, input)", "(self)")),
        "tool_without_execute": ("tool", tool.replace("def execute", "def run")),
        "provider_without_complete": ("provider", provider.replace("def complete", "def run")),
        "provider_sync_complete": (
            "provider",
            provider.replace("async def complete", "def complete"),
        ),
        "provider_sync_models": (
            "provider",
            provider.replace("async def list_models", "def list_models"),
        ),
        "provider_info_is_a_dict": (
            "provider",
            provider.replace("return ProviderInfo", "return dict"),
        ),
        "provider_info_raises": ("provider", provider.replace("return ProviderInfo(", "1 / 0, (")),
        "orchestrator_sync_execute": (
            "orchestrator",
            OBJECTS["orchestrator"].replace("async def", "def"),
        ),
        "orchestrator_takes_three": (
            "orchestrator",
            OBJECTS["orchestrator"].replace(", tools, hooks, **kwargs", ""),
        ),
        "orchestrator_without_execute": (
            "orchestrator",
            OBJECTS["orchestrator"].replace("def execute", "def run"),
        ),
        "context_without_clear": (
            "context",
            OBJECTS["context"].replace("def clear", "def empty"),
        ),
        "context_sync_add": (
            "context",
            OBJECTS["context"].replace("async def add_message", "def add_message"),
        ),
        "context_add_takes_nothing": (
            "context",
            OBJECTS["context"].replace("(self, message)", "(self)"),
        ),
        "hook_sync_handler": ("hook", OBJECTS["hook"].replace("async def", "def")),
        "hook_is_not_callable": ("hook", OBJECTS["hook"].replace("__call__", "call")),
        "hook_takes_one": ("hook", OBJECTS["hook"].replace(", data", "")),
    }
    return {name: (kind, source + _mount(kind)) for name, (kind, source) in changes.items()}


def write_module(folder: Path, name: str, source: str) -> Path:
    """Write a module's project into a folder and return the directory of its package."""
    package = folder / f"amplifier-module-{name.replace('_', '-')}" / f"amplifier_module_{name}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(source, encoding="utf-8")
    return package


_PART = {"module": "x", "source": "./x", "config": {}}
PLANS = {
    "good": {"session": {"orchestrator": _PART, "context": _PART}, "providers": [_PART]},
    "no_session": {"providers": []},
    "session_is_a_list": {"session": []},
    "no_context": {"session": {"orchestrator": _PART}},
    "orchestrator_is_a_name": {"session": {"orchestrator": "loop-basic", "context": _PART}},
    "tools_is_a_mapping": {
        "session": {"orchestrator": _PART, "context": _PART},
        "tools": {"tool-bash": {}},
    },
    "tool_is_a_name": {
        "session": {"orchestrator": _PART, "context": _PART},
        "tools": ["tool-bash"],
    },
    "tool_without_module": {
        "session": {"orchestrator": _PART, "context": _PART},
        "tools": [{"source": "./x"}],
    },
    "config_is_a_list": {
        "session": {"orchestrator": _PART, "context": _PART},
        "hooks": [{"module": "x", "config": []}],
    },
    "source_is_a_number": {
        "session": {"orchestrator": _PART, "context": _PART},
        "hooks": [{"module": "x", "source": 5}],
    },
    "unknown_section": {"session": {"orchestrator": _PART, "context": _PART}, "toolz": []},
    "no_mapping": [],
}
"""Mount plans, good and bad."""
