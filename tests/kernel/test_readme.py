import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import amplifier_tui.kernel
from amplifier_tui.cli.group import run
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.checks.validator import content_findings
from amplifier_tui.foundation.paths import parse_uri
from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks import HookRegistry, HookResult
from amplifier_tui.kernel.utils.stream import StreamEmitter
from tests.fixtures.modules import aliases
from tests.modules.loops.support import Bench, Tool, says

__all__ = ["aliases"]

README = Path(amplifier_tui.kernel.__file__).with_name("README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def files() -> dict[str, str]:
    # The examples, by the path in their first line.
    found = {}
    for language, text in BLOCK.findall(README):
        if language == "python":
            name, _, code = text.partition("\n")
            found[name.removeprefix("# ")] = code
    return found


def project(folder: Path, package: str, test: str) -> Path:
    module_id = package.removeprefix("amplifier_module_").replace("_", "-")
    root = folder / f"amplifier-module-{module_id}"
    for name in (f"{package}/__init__.py", test):
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_text(files()[name])
    [toml] = [text for language, text in BLOCK.findall(README) if language == "toml"]
    toml = toml.replace("tool-dice", module_id).replace("amplifier_module_tool_dice", package)
    (root / "pyproject.toml").write_text(toml)
    return root


EXAMPLES = {
    "amplifier_module_tool_dice": "tests/test_dice.py",
    "amplifier_module_hooks_quiet_hours": "tests/test_quiet_hours.py",
    "amplifier_module_provider_parrot": "tests/test_parrot.py",
}
CALLS = "amplifier_module_provider_parrot/calls.py"


def test_every_field_of_a_hook_result_is_told_of() -> None:
    told = set(re.findall(r"`(\w+)`", README))
    assert set(HookResult.model_fields) - told == {"action"}


def test_every_example_is_run_here_and_is_at_most_thirty_lines() -> None:
    assert sorted(files()) == sorted(
        (CALLS, *(f"{package}/__init__.py" for package in EXAMPLES), *EXAMPLES.values())
    )
    for name, code in files().items():
        assert len(code.splitlines()) <= 30, name
        assert "amplifier_tui" not in code


def test_the_examples_pass_their_own_tests(tmp_path: Path) -> None:
    roots = [project(tmp_path, package, test) for package, test in EXAMPLES.items()]
    command = [sys.executable, "-m", "amplifier_tui.compat", "-m", "pytest", "-q"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(tmp_path), *map(str, roots)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots))},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "21 passed" in done.stdout


@pytest.mark.parametrize(("package", "test"), EXAMPLES.items())
def test_an_example_keeps_its_contract(
    package: str, test: str, aliases: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project(tmp_path, package, test)
    assert run(["module", "validate", str(root)]) == 0, capsys.readouterr().out


def test_the_entries_of_a_bundle_say_where_modules_come_from(tmp_path: Path) -> None:
    [text] = [text for language, text in BLOCK.findall(README) if language == "yaml"]
    bundle = Bundle.from_dict({"bundle": {"name": "x"}, **yaml.safe_load(text)}, tmp_path / "b")
    assert not list(content_findings(bundle))
    folder, *fetched = [parse_uri(entry["source"]) for entry in bundle.tools]
    assert folder.path == str(tmp_path / "amplifier-module-tool-dice")
    assert [(each.scheme, each.ref) for each in fetched] == [
        ("git+https", "v1.2.0"),
        ("git+https", "main"),
    ]
    assert fetched[1].subpath == "modules/tool-chess"


async def test_a_call_is_run_and_one_with_broken_arguments_is_told_to_the_model(
    aliases: None,
) -> None:
    made: dict[str, Any] = {}
    exec(files()[CALLS], made)
    written = [("c1", "t", '{"a": 1}'), ("c2", "t", '{"a": 1'), ("c3", "t", "[1]"), ("c4", "t", "")]
    tool = Tool("t")
    bench = Bench(made["as_response"]("Let me see.", written), says("Done."), tools={"t": tool})
    await bench.run()
    assert tool.inputs == [{"a": 1}, {}]
    said = bench.results()
    assert said["c2"].startswith("The arguments of t can't be read: Expecting")
    assert said["c3"] == "The arguments of t can't be read: they are no object. Call it again."


async def test_what_several_handlers_answer_comes_to_what_the_table_says() -> None:
    async def outcome(*answers: HookResult) -> HookResult:
        hooks = HookRegistry()
        for answer in answers:
            hooks.register("tool:pre", lambda event, data, answer=answer: answer)
        return await hooks.emit("tool:pre", {"a": 1})

    deny, ask = HookResult(action="deny"), HookResult(action="ask_user", approval_prompt="May it?")
    change = HookResult(action="modify", data={"a": 2})
    note = HookResult(action="inject_context", context_injection="Mind this.")
    assert (await outcome(ask, note, deny, change)).action == "deny"
    asked = await outcome(ask, note, change, HookResult(action="ask_user", approval_prompt="Or?"))
    assert (asked.action, asked.approval_prompt, asked.data) == ("ask_user", "May it?", {"a": 2})
    assert asked.context_injection is None
    noted = await outcome(note, change, note)
    assert (noted.action, noted.data) == ("inject_context", {"a": 2})
    assert [item.content for item in noted.context_injections] == ["Mind this.", "Mind this."]
    assert (await outcome(change, HookResult())).data == {"a": 2}


async def test_a_stream_has_the_events_and_the_fields_that_are_told_of() -> None:
    [section] = re.findall(r"### Streaming\n(.*?)\n## ", README, re.DOTALL)
    told = set(re.findall(r"`(\w+)`", section))
    names = {f"STREAM_BLOCK{each}" if each[0] == "_" else each for each in told if each.isupper()}
    assert names == {name for name in vars(events) if name.startswith("STREAM_")}
    seen: dict[str, dict[str, Any]] = {}

    class Hooks:
        async def emit(self, event: str, data: dict[str, Any]) -> None:
            seen[event] = data

    stream = StreamEmitter(Hooks(), request_id="r1")
    await stream.start(0, "tool_use", "bash")
    await stream.delta(0, "{}")
    await stream.end(0)
    await stream.aborted(OSError("gone"))
    assert seen.keys() == {getattr(events, name) for name in names}
    assert {field for data in seen.values() for field in data} <= told
