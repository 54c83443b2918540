import asyncio
import gc
import re
import sys
from pathlib import Path

import pytest

from amplifier_tui import compat
from amplifier_tui.kernel.mounting import mount
from amplifier_tui.kernel.mounting.packages.importing import advice
from amplifier_tui.kernel.validation import (
    VALIDATORS,
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from tests.kernel.validation.packages import check_of, validated, write

TOOL = """
class Tool:
    name = "t"
    description = "does"
    input_schema = {"type": "object", "properties": {"a": {}}}

    async def execute(self, input):
        return None


async def mount(coordinator, config):
    await coordinator.mount("tools", Tool())
"""
PROVIDER = """
from amplifier_tui.kernel import ProviderInfo


class Provider:
    name = "p"

    def get_info(self):
        return ProviderInfo(id="p", display_name="P")

    async def list_models(self):
        return []

    async def complete(self, request, **kwargs):
        return None

    def parse_tool_calls(self, response):
        return []


async def mount(coordinator, config):
    await coordinator.mount("providers", Provider())
"""
ORCHESTRATOR = """
class Loop:
    async def execute(self, prompt, context, providers, tools, hooks):
        return ""


async def mount(coordinator, config):
    await coordinator.mount("session", Loop(), name="orchestrator")
"""
CONTEXT = """
class Context:
    async def add_message(self, message):
        pass

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return []

    async def get_messages(self):
        return []

    async def set_messages(self, messages):
        pass

    async def clear(self):
        pass


async def mount(coordinator, config):
    await coordinator.mount("context", Context())
"""
HOOK = """
async def handler(event, data):
    return None


async def mount(coordinator, config):
    return coordinator.hooks.register("tool:pre", handler)
"""
MOUNT = "async def mount(coordinator, config):"
GOOD = {
    "tool": TOOL,
    "provider": PROVIDER,
    "orchestrator": ORCHESTRATOR,
    "context": CONTEXT,
    "hook": HOOK,
}
SHAPE = ["module_importable", "mount_exists", "mount_signature", "protocol_compliance"]
DETAILS = {
    "tool": ["tool_name", "tool_description", "tool_input_schema", "tool_execute"],
    "provider": [
        "provider_name",
        "provider_get_info",
        "provider_list_models",
        "provider_complete",
        "provider_parse_tool_calls",
    ],
    "orchestrator": ["orchestrator_execute"],
    "context": [
        "context_add_message",
        "context_get_messages_for_request",
        "context_get_messages",
        "context_set_messages",
        "context_clear",
    ],
    "hook": ["hook_call"],
}


@pytest.mark.parametrize("kind", GOOD)
async def test_a_good_module_passes_these_checks_in_this_order(kind: str, tmp_path: Path) -> None:
    result = await validated(kind, tmp_path, GOOD[kind])
    assert result.passed
    assert [check.name for check in result.checks] == [*SHAPE, *DETAILS[kind]]
    assert all(check.passed and check.severity == "info" for check in result.checks)
    assert result.summary().startswith(f"PASSED: {len(result.checks)}/{len(result.checks)} checks")


async def test_a_get_info_that_is_async_is_told_once_and_not_by_python_too(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    source = PROVIDER.replace("def get_info", "async def get_info")
    (check,) = (await validated("provider", tmp_path, source)).errors
    gc.collect()
    assert "got coroutine" in check.message and "it is not async" in check.remedy
    assert not [each for each in recwarn if "never awaited" in str(each.message)]


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_class_that_is_mounted_in_place_of_an_object_is_named(
    kind: str, tmp_path: Path
) -> None:
    source = re.sub(r"mount\((.+)\(\)", r"mount(\1", GOOD[kind])
    assert source != GOOD[kind]
    result = await validated(kind, tmp_path, source)
    (check,) = result.errors
    assert check.name == "protocol_compliance" and "is the class " in check.message
    assert check.where.endswith(f":{source.splitlines().index(MOUNT) + 1}")
    assert re.fullmatch(r"Mount an instance: \w+\(\)", check.remedy)


async def test_a_class_whose_methods_need_no_object_is_mounted_like_one(tmp_path: Path) -> None:
    source = (
        TOOL.replace("Tool()", "Tool")
        .replace("self, ", "")
        .replace("    async def execute", "    @staticmethod\n    async def execute")
    )
    assert (await validated("tool", tmp_path, source)).passed


def test_each_kind_has_a_validator_of_its_name() -> None:
    classes = (
        OrchestratorValidator,
        ProviderValidator,
        ToolValidator,
        HookValidator,
        ContextValidator,
    )
    assert list(VALIDATORS.values()) == list(classes)


@pytest.mark.parametrize(
    ("kind", "old", "new", "name", "severity", "message"),
    [
        ("tool", '"does"', '" "', "tool_description", "warning", "non-empty string, got an empty"),
        ("tool", '"does"', "5", "tool_description", "warning", "got int"),
        ("tool", '= {"type"', '= [], {"type"', "tool_input_schema", "warning", "a dict, got tuple"),
        ("tool", "self, input", "self, *, input", "tool_execute", "error", "found 0 params"),
        ("tool", "self, input", "self, a, b", "tool_execute", "error", "(input), and needs b"),
        ("tool", "self, input", "self, a, *, b", "tool_execute", "error", "(input), and needs b"),
        ("provider", "return ProviderInfo", "raise OSError", "provider_get_info", "warning",
         "Error calling Provider.get_info(): OSError"),
        ("hook", "async def handler", "def handler", "hook_call", "warning", "should be async"),
        ("hook", "handler(event, data)", "handler(event)", "hook_call", "error", "(event, data)"),
        ("hook", "handler(event, data)", "handler(event, data, c)", "hook_call", "error",
         "(event, data), and needs c"),
    ],
)  # fmt: skip
async def test_a_detail_that_is_wrong_says_what_and_how_bad_it_is(
    kind: str, old: str, new: str, name: str, severity: str, message: str, tmp_path: Path
) -> None:
    result = await validated(kind, tmp_path, GOOD[kind].replace(old, new))
    check = check_of(result, name)
    assert not check.passed
    assert check.severity == severity
    assert message in check.message
    assert check.remedy
    assert result.passed is (severity == "warning")


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_module_may_return_what_it_would_mount(kind: str, tmp_path: Path) -> None:
    head, _, mounting = GOOD[kind].partition("    await coordinator.mount(")
    instance = mounting.partition("()")[0].rpartition(" ")[2]
    result = await validated(kind, tmp_path, f"{head}    return {instance}()\n")
    assert result.passed
    assert check_of(result, "protocol_compliance").message.startswith("mount() returned a valid")
    assert [check.name for check in result.checks] == [*SHAPE, *DETAILS[kind]]


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_cleanup_without_a_mount_passes_with_a_warning(kind: str, tmp_path: Path) -> None:
    result = await validated(kind, tmp_path, "async def mount(c, d):\n    return lambda: None\n")
    check = check_of(result, "protocol_compliance")
    assert result.passed
    assert (check.passed, check.severity) == (True, "warning")
    assert "may be conditional" in check.message


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_module_that_says_what_it_needs_may_mount_nothing_without_config(
    kind: str, tmp_path: Path
) -> None:
    source = '__amplifier_mounts_only_with__ = "servers"\n\n\nasync def mount(c, d):\n    return\n'
    result = await validated(kind, tmp_path, source)
    check = check_of(result, "protocol_compliance")
    assert result.passed and check.severity == "warning"
    assert f"No {kind} was mounted: it mounts only with servers" in check.message
    result = await validated(kind, tmp_path, source, {"servers": {}})
    assert not result.passed


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_mounting_nothing_fails(kind: str, tmp_path: Path) -> None:
    result = await validated(kind, tmp_path, "async def mount(c, d):\n    return None\n")
    [check] = result.errors
    assert check.name == "protocol_compliance"
    assert " was mounted and mount() did not return a " in check.message
    assert "await coordinator.mount(" in check.remedy


async def test_a_hook_that_registers_nothing_passes_with_a_warning(tmp_path: Path) -> None:
    result = await validated("hook", tmp_path, "async def mount(c, d):\n    return None\n")
    check = check_of(result, "protocol_compliance")
    assert (result.passed, check.severity) == (True, "warning")


async def test_every_tool_a_module_mounts_is_looked_at(tmp_path: Path) -> None:
    source = TOOL + '    await coordinator.mount("tools", object(), name="odd")\n'
    result = await validated("tool", tmp_path, source)
    [check] = result.errors
    assert check.message == (
        "Tool 'odd' does not implement Tool interface (missing name, description, execute)"
    )


async def test_the_module_is_mounted_once_with_the_config_and_cleaned_up(tmp_path: Path) -> None:
    source = TOOL.replace(
        "    await",
        "    seen = config['seen']\n"
        "    seen.append('mount')\n"
        "    coordinator.register_cleanup(lambda: seen.append('registered'))\n"
        "    await",
    )
    source += "    async def close():\n        seen.append('returned')\n        raise OSError\n"
    source += "    return close\n"
    seen: list[str] = []
    result = await validated("tool", tmp_path, source, {"seen": seen})
    assert result.passed
    assert seen == ["mount", "returned", "registered"]


@pytest.mark.parametrize(
    "error", ["RuntimeError('boom')", "SystemExit('boom')", "TypeError('boom')"]
)
async def test_what_mount_raises_is_the_line_of_the_report(error: str, tmp_path: Path) -> None:
    result = await validated("tool", tmp_path, f"async def mount(c, d):\n    raise {error}\n")
    [check] = result.errors
    said = error.replace("('", ": ").removesuffix("')")
    assert check.message == f"Error during protocol compliance check: {said}"


async def test_a_tool_without_a_name_is_told_where_a_name_goes(tmp_path: Path) -> None:
    source = """
        async def mount(coordinator, config=None):
            await coordinator.mount("tools", object())
    """
    check = check_of(await validated("tool", tmp_path, source), "protocol_compliance")
    assert not check.passed and str(check.remedy).startswith("Give its class a `name`")


async def test_a_member_that_raises_is_an_error_of_the_module(tmp_path: Path) -> None:
    source = TOOL.replace('    name = "t"', "    name = property(lambda self: 1 / 0)")
    source = source.replace("Tool())", "Tool(), name='t')")
    result = await validated("tool", tmp_path, source)
    [check] = result.errors
    assert "division by zero" in check.message


async def test_a_mount_that_cancels_itself_fails_alone(tmp_path: Path) -> None:
    source = "import asyncio\nasync def mount(c, d):\n    raise asyncio.CancelledError\n"
    result = await validated("tool", tmp_path, source)
    assert result.errors[0].message.endswith("check: CancelledError")


async def test_a_genuine_cancellation_gets_through(tmp_path: Path) -> None:
    source = """
        import asyncio

        async def mount(coordinator, config):
            config["started"].set()
            await asyncio.Event().wait()
    """
    started = asyncio.Event()
    task = asyncio.create_task(validated("tool", tmp_path, source, {"started": started}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_mount_that_waits_for_ever_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mount, "MOUNT_SECONDS", 0.01)
    source = "import asyncio\nasync def mount(c, d):\n    await asyncio.Event().wait()\n"
    result = await validated("tool", tmp_path, source)
    [check] = result.errors
    assert "did not finish mounting within 0.01 s" in check.message


async def test_cleanups_that_wait_for_ever_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mount, "MOUNT_SECONDS", 0.01)
    waits = "\nimport asyncio\nasync def waits():\n    await asyncio.Event().wait()\n"
    source = f"{TOOL}    coordinator.register_cleanup(waits)\n    return lambda: waits()\n{waits}"
    result = await validated("tool", tmp_path, source)
    first, second = result.errors
    assert first.message == "The cleanup did not end within 0.01 s: it waits for something"
    assert first.where == second.where
    assert first.where.endswith(f"__init__.py:{len(source.splitlines())}")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise RuntimeError('at import')", "RuntimeError: at import"),
        ("import sys\nsys.exit(2)", "SystemExit: 2"),
        ("def (", "SyntaxError"),
        ("import nowhere_at_all", "Install what provides 'nowhere_at_all'"),
    ],
)
async def test_a_module_that_does_not_import_says_why(
    source: str, message: str, tmp_path: Path
) -> None:
    result = await validated("tool", tmp_path, source)
    [check] = result.checks
    assert (check.name, check.passed) == ("module_importable", False)
    is_import = source.startswith("import nowhere")
    how = "Failed to import" if is_import else "Error loading"
    assert check.message.startswith(f"{how} module: ")
    assert message in check.message
    assert ("`dependencies` of the module's pyproject.toml" in check.message) == is_import
    again = "Then validate" if is_import else "Correct that line, then validate"
    assert check.remedy == f"{again} it again"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "from amplifier_core import ToolResutl",
            "'ToolResutl' from 'amplifier_core'; did you mean 'ToolResult'?",
        ),
        ("from json import lods", "'lods' from 'json'; did you mean 'loads'?"),
        ("from json import qqqqq", "'qqqqq' from 'json'"),
    ],
)
async def test_a_name_that_cannot_be_imported_is_told_with_the_one_that_may_be_meant(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    compat.install()
    result = await validated("tool", tmp_path, source)
    [check] = result.checks
    assert check.message.endswith(f"ImportError: cannot import name {message}")


def test_a_file_that_a_module_itself_lacks_is_not_to_be_installed() -> None:
    error = ModuleNotFoundError("no", name="amplifier_module_tool_x.helpers")
    assert advice(error).endswith("has no 'helpers': add that file, or correct the import.")


async def test_a_path_without_a_package_can_not_be_imported(tmp_path: Path) -> None:
    result = await ToolValidator().validate(tmp_path)
    [check] = result.errors
    assert check.name == "module_importable"
    assert "has no valid Python package" in check.message


async def test_a_module_is_found_by_name_and_by_entry_point_too() -> None:
    name = "amplifier_tui.modules.tool_filesystem"
    assert (await ToolValidator().validate(name)).passed
    assert (await ToolValidator().validate(name, entry_point=f"{name}:mount")).passed
    result = await ToolValidator().validate(name, entry_point=f"{name}:mout")
    [check] = result.errors
    assert check.name == "mount_exists" and f"{name}:mount into pyproject.toml" in check.remedy
    wrong = f"The entry point '{name}:mout' names no function of the module"
    assert check.message == f"{wrong}; did you mean 'mount'?"
    assert check.where.endswith("/modules/tool_filesystem/__init__.py")


async def test_the_module_validated_is_the_module_mounted_later(tmp_path: Path) -> None:
    package = write(tmp_path, TOOL)
    before = list(sys.path)
    assert (await ToolValidator().validate(package)).passed
    assert sys.path == before
    module = sys.modules[package.name]
    assert (await ToolValidator().validate(package)).passed
    assert sys.modules[package.name] is module


async def test_another_module_of_that_name_is_refused(tmp_path: Path) -> None:
    package = write(tmp_path, TOOL)
    assert (await ToolValidator().validate(package)).passed
    copy = tmp_path / "copy" / package.name
    copy.mkdir(parents=True)
    (copy / "__init__.py").write_text(TOOL)
    result = await ToolValidator().validate(copy)
    assert "already loaded from" in result.errors[0].message


@pytest.mark.parametrize(
    ("signature", "passes"),
    [
        ("self, prompt, context, providers, tools, hooks, **kwargs", True),
        ("self, **kwargs", True),
        ("self, *, prompt, context, providers, tools, hooks, coordinator=None", True),
        ("self, prompt, context, providers, tools", False),
        ("self, *arguments", False),
        ("self, prompt, context, providers, tools, registry", False),
        ("self, prompt, context, providers, tools, hooks, registry", False),
    ],
)
async def test_an_orchestrator_must_take_what_a_session_passes_by_keyword(
    signature: str, passes: bool, tmp_path: Path
) -> None:
    source = ORCHESTRATOR.replace("self, prompt, context, providers, tools, hooks", signature)
    result = await validated("orchestrator", tmp_path, source)
    assert result.passed is passes
    if not passes:
        assert result.errors[0].message.startswith(
            (
                "Orchestrator.execute() should accept (prompt, context, providers, tools, hooks)",
                "Orchestrator.execute() needs registry, which no session gives it",
            )
        )


async def test_decorated_and_partial_functions_count_as_what_they_wrap(tmp_path: Path) -> None:
    source = """
        import functools

        def traced(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper

        async def handle(extra, event, data):
            return None

        class Handler:
            async def __call__(self, event, data):
                return None

        @traced
        async def mount(coordinator, config):
            coordinator.hooks.register("a", functools.partial(handle, 1))
            coordinator.hooks.register("b", Handler())
            coordinator.hooks.register("c", traced(Handler().__call__))
    """
    result = await validated("hook", tmp_path, source)
    assert result.passed
    assert [check.severity for check in result.checks if check.name == "hook_call"] == ["info"] * 3
