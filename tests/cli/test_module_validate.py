import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from amplifier_tui.cli.group import run
from amplifier_tui.cli.module.validate import _report
from amplifier_tui.kernel.validation.base import ValidationResult
from amplifier_tui.kernel.validation.module_check import CheckedModule
from tests.cli.bundle_support import program_in_terminal
from tests.fixtures.modules import KIND_OF, aliases, copied, package_of

__all__ = ["aliases"]

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("aliases")

# Sync functions that hand on to the async ones there are.
SYNC_MOUNT = "def mount(*a):\n    return m(*a)\n\n\nasync def m("
SYNC_COMPLETE = "def complete(self, r, **k):\n        return self.c(r, **k)\n\n    async def c("
SYNC_EXECUTE = "def execute(self, **k):\n        return self.e(**k)\n\n    async def e("

ANSI = re.compile(r"\x1b\[[0-9;]*m")
MOUNT = "config: dict[str, Any] | None = None"


def report(capsys: Capture, *arguments: str) -> tuple[int, dict[str, Any]]:
    status = run(["module", "validate", "--json", *arguments])
    return status, json.loads(capsys.readouterr().out)


def logged(capsys: Capture, *arguments: str) -> tuple[int, str]:
    status = run(["module", "validate", *arguments])
    return status, capsys.readouterr().err


def source_of(project: Path, module_id: str) -> Path:
    return project / package_of(module_id) / "__init__.py"


@pytest.mark.parametrize(("module_id", "kind"), KIND_OF.items())
def test_a_third_party_module_of_each_kind_passes(
    module_id: str, kind: str, tmp_path: Path, capsys: Capture
) -> None:
    project = copied(module_id, tmp_path)
    status, found = report(capsys, str(project))
    assert (status, found["passed"]) == (0, True)
    assert (found["module"], found["type"], found["path"]) == (module_id, kind, str(project))
    # The loop is as plain as the spec has one: it heeds hooks only where it asks about a call.
    plain = {"hooks_modify_result", "hooks_deny_request", "orchestrator_events"}
    assert all(check["passed"] or check["name"] in plain for check in found["checks"])
    assert {"module_importable", "mount_signature", "protocol_compliance", "entry_point"} <= {
        check["name"] for check in found["checks"]
    }


# What is replaced in the module, by what, the check that fails, and a part of its line.
EVERY_KIND: list[tuple[str, str, str, str]] = [
    ("async def mount(", SYNC_MOUNT, "mount_signature", "mount() should be async"),
    (f", {MOUNT}", "", "mount_signature", "at least 2 parameters (coordinator, config), found 1"),
    ("async def mount(", "async def mounted(", "mount_exists", "No mount() function found"),
    ("import Any", "import Any, Nope", "module_importable", "cannot import name 'Nope'"),
    ("import Any", "import Any\nimport nowhere", "module_importable", "provides 'nowhere'"),
    ("class ", "class class ", "module_importable", "SyntaxError"),
    ("__amplifier_module_type__ = ", "import sys; sys.exit(3)\n#", "module_importable", "Exit: 3"),
    ("module_type__ = ", 'module_type__ = "gad"  # ', "module_type", "'gad', which is no kind"),
    (
        f"{MOUNT}):",
        f"{MOUNT}):\n    raise OSError('d')",
        "protocol_compliance",
        "check: OSError: d",
    ),
]
BY_KIND: dict[str, list[tuple[str, str, str, str]]] = {
    "tool-wordcount": [
        ("async def execute(self", "def execute(self", "tool_execute", "should be async"),
        ("self, input: dict[str, Any]", "self", "tool_execute", "accept (input), found 0 params"),
        ("def execute", "def run", "protocol_compliance", "(missing execute)"),
        ("description = ", "about = ", "protocol_compliance", "(missing description)"),
        ('name = "wordcount"', 'name = ""', "protocol_compliance", "Name required for tools"),
        ('mount("tools"', 'mount("tool"', "protocol_compliance", "Unknown mount point: tool"),
        ("return tool", "raise SystemExit(1)", "protocol_compliance", "check: SystemExit: 1"),
    ],
    "hooks-guard": [
        ("event: str, data: dict[str, Any]", "event", "hook_call", "(event, data), found 1"),
        ("guard.before_tool, p", "'before_tool', p", "hook_call", "is not callable: str"),
        ("async def on_session_ready", "def on_session_ready", "on_session_ready_async", "async"),
        ("(coordinator: ModuleCoordinator) ->", "() ->", "on_session_ready_async", "coordinator"),
    ],
    "provider-echo": [
        ("return ProviderInfo(", "return dict(", "provider_get_info", "ProviderInfo, got dict"),
        ("async def list_models", "def list_models", "provider_list_models", "should be async"),
        ("self, request: ChatRequest, **", "self, **", "provider_complete", "(request), found 0"),
        ("async def complete(", SYNC_COMPLETE, "provider_complete", "should be async"),
        ("def parse_tool_calls", "def parse", "protocol_compliance", "(missing parse_tool_calls)"),
        ('name = "echo"', 'name = ""', "provider_name", "non-empty string, got an empty one"),
        ('coordinator.mount("providers", ', "nothing(", "protocol_compliance", "'nothing' is not"),
    ],
    "loop-plain": [
        ("async def execute(", SYNC_EXECUTE, "orchestrator_execute", "should be async"),
        ("providers: dict", "p: dict", "orchestrator_execute", "params, missing: providers"),
        ("async def execute", "async def run", "protocol_compliance", "(missing execute)"),
        ('"session", Plain', '"sessions", Plain', "protocol_compliance", "mount point: sessions"),
    ],
    "context-memory": [
        ("async def clear", "async def clean", "protocol_compliance", "(missing clear)"),
        ("async def get_messages(", "def get_messages(", "context_get_messages", "should be async"),
        ("self, message: dict[str, Any]", "self", "context_add_message", "(message), found 0"),
        ("set_messages(self, messages: list[dict[str, Any]])", "set_messages(self)",
         "context_set_messages", "accept (messages), found 0 params"),
    ],
}  # fmt: skip
# What a remedy says, by a part of the line or the check.
ADVICE = {
    "mount_": "async def mount(coordinator, config)",
    "ount point": "context, hooks, module-source-resolver, orchestrator, providers, tools",
    "OSError": "module validate takes --config",
}
CASES = [(m, *case) for m in KIND_OF for case in [*EVERY_KIND, *BY_KIND[m]]]


@pytest.mark.parametrize(("module_id", "old", "new", "check", "message"), CASES)
def test_a_broken_variant_fails_with_the_right_line_and_a_remedy(
    module_id: str,
    old: str,
    new: str,
    check: str,
    message: str,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    source = source_of(copied(module_id, tmp_path), module_id)
    text = source.read_text()
    assert old in text
    kwargs = "" if check == "orchestrator_execute" else "**kwargs: Any,"
    source.write_text(text.replace(old, new).replace("**kwargs: Any,", kwargs))
    status, found = report(capsys, str(source.parent.parent))
    assert (status, found["passed"]) == (1, False)
    failed = [row for row in found["checks"] if not row["passed"] and row["severity"] == "error"]
    assert failed[0]["name"] == check
    assert message in failed[0]["message"]
    assert failed[0]["remedy"]
    for part, advice in ADVICE.items():
        if part in message or part in check:
            assert advice in failed[0]["remedy"]
    file, _, line = failed[0]["where"].partition(":")
    assert file == str(source)
    if about := re.match(r"(?:\w+\.)?(\w+)\(\) (?:should|must) ", failed[0]["message"]):
        shown = source.read_text().splitlines()[int(line) - 1]
        assert f"def {about[1]}(" in shown


def test_a_tool_at_the_wrong_mount_point_is_told_where_it_went(
    tmp_path: Path, capsys: Capture
) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    text = source.read_text().replace('mount("tools"', 'mount("providers"')
    source.write_text(text.replace("    return tool\n", ""))
    status, found = report(capsys, str(source.parent.parent))
    assert status == 1
    [failed] = [row for row in found["checks"] if not row["passed"]]
    assert failed["message"].endswith("a Tool instance; it mounted at: providers")
    assert 'await coordinator.mount("tools", the_tool, name="...")' in failed["remedy"]
    before_mount = source.read_text().partition("async def mount(")[0]
    assert failed["where"] == f"{source}:{len(before_mount.splitlines()) + 1}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (":mount", ":mounted", "Entry point 'amplifier_module_tool_wordcount:mounted' is not a"),
        (
            "_wordcount:",
            "_other:",
            "can't be loaded: No module named 'amplifier_module_tool_other'",
        ),
    ],
)
def test_an_entry_point_that_leads_nowhere_fails(
    old: str, new: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    toml = project / "pyproject.toml"
    toml.write_text(toml.read_text().replace(old, new))
    status, found = report(capsys, str(project))
    assert status == 1
    [failed] = [row for row in found["checks"] if not row["passed"]]
    assert (failed["name"], failed["severity"]) == ("entry_point", "error")
    assert message in failed["message"]
    assert 'tool-wordcount = "amplifier_module_tool_wordcount:mount"' in failed["remedy"]


def test_a_project_without_an_entry_point_for_the_module_is_warned_of(
    tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    toml = project / "pyproject.toml"
    toml.write_text(toml.read_text().replace("amplifier.modules", "other.modules"))
    status, found = report(capsys, str(project))
    assert status == 0
    [failed] = [row for row in found["checks"] if not row["passed"]]
    assert (failed["name"], failed["severity"]) == ("entry_point", "warning")
    assert "it mounts from a path only" in failed["message"]
    assert failed["where"] == str(toml)
    assert 'tool-wordcount = "amplifier_module_tool_wordcount:mount"' in failed["remedy"]


def test_a_misspelled_schema_of_a_tool_is_warned_of_with_the_name_it_has(
    tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    source = source_of(project, "tool-wordcount")
    source.write_text(source.read_text().replace("input_schema", "inputschema"))
    status, found = report(capsys, str(project))
    assert status == 0
    [failed] = [row for row in found["checks"] if not row["passed"]]
    assert (failed["name"], failed["severity"]) == ("tool_input_schema", "warning")
    assert "the model sees the tool without arguments" in failed["message"]
    assert failed["remedy"] == "Rename inputschema to input_schema"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "wordcount"', 'name = "word count"'),
        ('"type": "object"', '"type": "objekt"'),
    ],
)
def test_the_last_line_says_that_models_refuse_a_tool_that_loads(
    old: str, new: str, tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    source = source_of(project, "tool-wordcount")
    assert old in source.read_text()
    source.write_text(source.read_text().replace(old, new))
    assert run(["module", "validate", str(project)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("PASSED: ")
    assert last.endswith("(0 errors, 1 warnings); but models refuse such a tool")
    assert "models refuse" in report(capsys, str(project))[1]["summary"]
    assert run(["module", "validate", str(project), "--strict"]) == 1


def test_a_tool_of_a_name_that_the_program_knows_is_to_be_looked_at(
    tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    source = source_of(project, "tool-wordcount")
    source.write_text(source.read_text().replace('name = "wordcount"', 'name = "bash"'))
    status, found = report(capsys, str(project))
    assert (status, found["passed"]) == (0, True)
    [known] = [row for row in found["checks"] if row["severity"] == "warning"]
    assert known["message"].startswith("the program knows a tool named 'bash': ")
    run(["module", "validate", "tool-bash"])
    assert "the program knows" not in capsys.readouterr().out


def test_a_keyword_that_a_hook_result_ignores_is_warned_of_with_its_line(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "hooks_of_one_file.py"
    file.write_text(
        "from amplifier_core import HookResult\n\n\n"
        "async def denied(event, data):\n    return HookResult(acton='deny')\n\n\n"
        "async def mount(coordinator, config):\n"
        "    coordinator.hooks.register('tool:pre', denied)\n"
    )
    status, found = report(capsys, str(file), "--type", "hook")
    assert status == 0
    [failed] = [row for row in found["checks"] if not row["passed"]]
    assert (failed["name"], failed["severity"]) == ("hook_result", "warning")
    assert "'acton'" in failed["message"] and "did you mean 'action'?" in failed["message"]
    assert failed["where"] == f"{file}:5"


def test_without_a_pyproject_there_is_a_warning(tmp_path: Path, capsys: Capture) -> None:
    project = copied("tool-wordcount", tmp_path)
    (project / "pyproject.toml").unlink()
    status, found = report(capsys, str(project))
    assert status == 0
    assert found["summary"] == "PASSED: 8/9 checks passed (0 errors, 1 warnings)"


def test_what_is_right_and_worth_a_look_is_counted_below_its_mark() -> None:
    result = ValidationResult("hook", "x")
    result.succeed("protocol_compliance", "No handler was registered", "warning")
    *_, last = _report(CheckedModule("hooks-x", "hook", "x", result))
    assert last == "PASSED: 1/1 checks passed (0 errors, 0 warnings); 1 to look at (!)"


def test_the_project_around_a_modules_folder_is_not_its_own(
    tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    (project / "pyproject.toml").rename(tmp_path / "pyproject.toml")
    status, found = report(capsys, str(project))
    assert status == 0
    assert found["checks"][-1]["message"].startswith("No pyproject.toml: ")


@pytest.mark.parametrize("where", ["package", "file", "src"])
def test_package_file_and_src_layout_are_found_too(
    where: str, tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    package = project / "amplifier_module_tool_wordcount"
    target = {"package": package, "file": package / "__init__.py", "src": project}[where]
    if where == "src":
        (project / "src").mkdir()
        package.rename(project / "src" / package.name)
    status, found = report(capsys, str(target))
    assert (status, found["module"]) == (0, "tool-wordcount")
    assert found["checks"][-1]["name"] == "entry_point"


def test_a_package_of_any_name_is_found_by_its_entry_point(tmp_path: Path, capsys: Capture) -> None:
    project = copied("tool-wordcount", tmp_path)
    package = project / "amplifier_module_tool_wordcount"
    package.rename(project / "amplifier_broken_words")
    toml = project / "pyproject.toml"
    toml.write_text(toml.read_text().replace(package.name, "amplifier_broken_words"))
    status, found = report(capsys, str(project))
    assert (status, found["module"]) == (0, "tool-wordcount")


def test_a_folder_without_a_package_says_what_was_expected(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "amplifier-module-tool-empty"
    folder.mkdir()
    status, found = report(capsys, str(folder))
    assert status == 1
    [failed] = found["checks"]
    assert failed["name"] == "module_importable"
    assert "amplifier_module_tool_empty/__init__.py" in failed["remedy"]


def test_an_installed_module_is_checked_by_its_id(capsys: Capture) -> None:
    status, found = report(capsys, "tool-filesystem")
    assert (status, found["type"]) == (0, "tool")
    assert found["path"].endswith("__init__.py")


def test_the_type_can_be_said(tmp_path: Path, capsys: Capture) -> None:
    project = copied("tool-wordcount", tmp_path)
    status, found = report(capsys, str(project), "--type", "context")
    assert (status, found["type"]) == (1, "context")
    assert "No context was mounted" in found["checks"][3]["message"]


def test_the_config_is_what_it_is_mounted_with(tmp_path: Path, capsys: Capture) -> None:
    project = copied("tool-wordcount", tmp_path)
    assert report(capsys, str(project), "--config", '{"min_length": 2}')[0] == 0
    status, found = report(capsys, str(project), "--config", '{"min_length": "no number"}')
    assert status == 1
    assert "invalid literal for int()" in found["checks"][-2]["message"]


def test_the_report_is_text_with_a_line_for_each_check_and_its_remedy(
    tmp_path: Path, capsys: Capture
) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    text = source.read_text().replace("async def execute(self", "def execute(self")
    source.write_text(text.replace('description = "Counts', 'description = "" #'))
    assert run(["module", "validate", str(source.parent.parent)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("tool-wordcount (tool) at ")
    assert "\n✓ mount_exists         mount() function found\n" in out
    assert "\n! tool_description     Tool.description should be a non-empty string" in out
    assert "\n✗ tool_execute         Tool.execute() should be async\n" in out
    assert "\n                       → Define it as: async def execute(self, input)\n" in out
    assert out.endswith("FAILED: 7/9 checks passed (1 errors, 1 warnings)\n")


def test_what_a_module_prints_or_puts_into_an_error_does_not_spoil_the_report(
    tmp_path: Path, capsys: Capture
) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    text = source.read_text().replace(
        f"{MOUNT}):", f"{MOUNT}):\n    print('noise'); raise OSError('a\\x1b[2J\\nb')"
    )
    source.write_text(text)
    assert run(["module", "validate", str(source.parent.parent)]) == 1
    captured = capsys.readouterr()
    assert "noise" not in captured.out
    assert "noise" in captured.err
    assert "\x1b" not in captured.out
    assert "check: OSError: a\n                       b\n" in captured.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere/at/all"], "There is no folder '/nowhere/at/all', and no module of that id"),
        (["/nowhere/at/all"], "What is installed is listed by: amplifier-tui module list"),
        (["tool-bahs"], "no module of that id is installed; did you mean 'tool-bash'?"),
        ([""], "There is no folder '', and no module of that id is installed"),
        (["no\0name"], "no module of that id is installed"),
        (["x" * 5000], "' can't be read: File name too long"),
        (["tool-bash", "--type", "gadget"], "'gadget' is not one of"),
        (["tool-bash", "--config", "{"], "is no JSON"),
        (["tool-bash", "--config", "[]"], "must be a JSON object"),
        ([], "Missing argument 'PATH'"),
    ],
)
def test_what_can_not_be_checked_is_a_mistake_of_the_caller(
    arguments: list[str], message: str, capsys: Capture
) -> None:
    assert run(["module", "validate", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_no_code_is_no_module(tmp_path: Path, capsys: Capture) -> None:
    notes = copied("tool-wordcount", tmp_path) / "notes.txt"
    notes.write_text("Later.")
    assert run(["module", "validate", str(notes)]) == 2
    assert f"'{notes}' is a file: give the folder of the module" in capsys.readouterr().err


def test_a_project_of_several_modules_asks_for_one_and_checks_its_package(
    tmp_path: Path, capsys: Capture
) -> None:
    project = copied("tool-wordcount", tmp_path)
    toml, entry = project / "pyproject.toml", "tool-wordcount = "
    more = "".join(f'tool-{n} = "amplifier_module_tool_{n}:mount"\n' for n in range(5))
    toml.write_text(toml.read_text().replace(entry, f"{more}{entry}"))
    assert run(["module", "validate", str(project)]) == 2
    error = capsys.readouterr().err
    assert "declares 6 modules: give the folder of the package of one" in error
    assert "(tool-0, tool-1, tool-2, tool-3, tool-4, ...)" in error
    status, found = report(capsys, str(project / package_of("tool-wordcount")))
    assert (status, found["module"]) == (0, "tool-wordcount")


def test_the_line_for_the_entry_point_can_be_pasted(tmp_path: Path, capsys: Capture) -> None:
    project = copied("tool-wordcount", tmp_path)
    toml = project / "pyproject.toml"
    whole = toml.read_text()
    toml.write_text('[project]\nname = "x"\nversion = "1"\n')
    status, found = report(capsys, str(project))
    assert status == 0
    remedy = found["checks"][-1]["remedy"].removeprefix("Write into pyproject.toml:\n")
    declared = tomllib.loads(whole)["project"]["entry-points"]
    assert tomllib.loads(remedy) == {"project": {"entry-points": declared}}
    toml.write_text(f"{toml.read_text()}{remedy}")
    assert report(capsys, str(project))[0] == 0


def test_in_a_terminal_every_line_fits_and_stays_beside_its_check(tmp_path: Path) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    text = source.read_text().replace('name = "wordcount"', 'name = "数" * 90')
    source.write_text(text)
    (tmp_path / "amplifier-module-tool-wordcount" / "pyproject.toml").unlink()
    status, shown = program_in_terminal("module", "validate", str(source.parent.parent))
    lines = ANSI.sub("", shown).splitlines()
    assert status == 0
    assert max(map(cell_len, lines)) <= 80
    start = next(n for n, line in enumerate(lines) if line.startswith("! entry_point"))
    assert lines[start + 1] == f"{' ' * 23}→ Write into pyproject.toml:"
    assert lines[start + 2] == f'{" " * 23}[project.entry-points."amplifier.modules"]'


def test_what_a_module_logs_goes_to_stderr_as_plain_text(tmp_path: Path, capsys: Capture) -> None:
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    log = "import logging; logging.getLogger('theirs').warning('old\\x1b[2J key')"
    source.write_text(source.read_text().replace(f"{MOUNT}):", f"{MOUNT}):\n    {log}"))
    assert logged(capsys, str(source.parent.parent)) == (0, "WARNING theirs: old key\n")


def test_a_module_that_takes_its_time_is_said_to_be_waited_for(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The command has the name of its file.
    monkeypatch.setattr(sys.modules["amplifier_tui.cli.module.validate"], "PATIENCE", 0.0)
    source = source_of(copied("tool-wordcount", tmp_path), "tool-wordcount")
    # Until it is said, with the loop kept busy.
    wait = "import threading as t; [e.join() for e in t.enumerate() if isinstance(e, t.Timer)]"
    source.write_text(source.read_text().replace(f"{MOUNT}):", f"{MOUNT}):\n    {wait}"))
    status, said = logged(capsys, str(source.parent.parent))
    assert (status, said) == (
        0,
        "Waiting for the module: its import and its mount have 120 s each, its cleanup as many, "
        "and each run of its loop or of a handler 10 s. ctrl+c ends the check.\n",
    )


def test_a_resolver_module_has_nothing_to_be_checked_by(tmp_path: Path, capsys: Capture) -> None:
    project = copied("tool-wordcount", tmp_path)
    source = source_of(project, "tool-wordcount")
    source.write_text(source.read_text().replace('type__ = "tool"', 'type__ = "resolver"'))
    assert run(["module", "validate", str(project)]) == 2
    assert "nothing to check a module of kind 'resolver' by" in capsys.readouterr().err
