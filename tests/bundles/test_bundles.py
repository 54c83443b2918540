import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_tui.foundation.bundle.definitions import read_agent_file
from amplifier_tui.foundation.checks.validator import BundleValidator
from amplifier_tui.foundation.registry.registry import load_bundle
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.kernel import AmplifierSession
from amplifier_tui.modules.provider_mock import BUILT_IN
from amplifier_tui.modules.provider_mock.answers import Seen, answer
from amplifier_tui.modules.provider_mock.script import parse_script, read_script
from amplifier_tui.paths import shipped_bundles_dir

SHIPPED = shipped_bundles_dir()
NAMES = ("coding", "demo", "local", "minimal", "research")
PARTS = sorted(SHIPPED.glob("*/*.yaml"))


def plan_of(name: str) -> dict[str, Any]:
    return asyncio.run(load_bundle(str(SHIPPED / f"{name}.md"), strict=True)).to_mount_plan()


def modules(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan["session"]["orchestrator"]
    yield plan["session"]["context"]
    for section in ("providers", "tools", "hooks"):
        yield from plan.get(section, [])


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_bundle_is_valid_and_complete(name: str):
    bundle = asyncio.run(load_bundle(str(SHIPPED / f"{name}.md"), strict=True))
    BundleValidator(strict=True).validate_or_raise(bundle)
    assert BundleValidator().validate_completeness(bundle).errors == []
    assert (bundle.name, bundle.skipped) == (name, [])
    assert str(bundle.version) == "1.0.0"
    assert 20 < len(bundle.description) < 200
    assert bundle.instruction


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_bundle_offers_three_or_four_prompts(name: str):
    examples = plan_of(name)["session"]["examples"]
    assert len(examples) in (3, 4)
    assert all(isinstance(example, str) and len(example) < 90 for example in examples)


@pytest.mark.parametrize("name", NAMES)
def test_every_module_of_a_shipped_bundle_is_built_in(name: str):
    built_in = {entry.name for entry in entry_points(group="amplifier.modules")}
    for module in modules(plan_of(name)):
        assert module["module"] in built_in
        assert "source" not in module


@pytest.mark.parametrize("part", PARTS, ids=lambda path: path.stem)
def test_a_part_says_what_it_is(part: Path):
    described = yaml.safe_load(part.read_text())["bundle"]
    assert described["name"] and described["version"] and described["description"]


def test_every_part_is_used_by_a_bundle_or_offered_as_a_choice():
    texts = "".join((SHIPPED / f"{name}.md").read_text() for name in NAMES)
    unused = {part.stem for part in PARTS if f"./{part.relative_to(SHIPPED)}" not in texts}
    assert unused == {"approval-careful", "approval-relaxed"}


@pytest.mark.parametrize("part", PARTS, ids=lambda path: path.stem)
async def test_a_part_can_be_included_by_its_path_below_a_shipped_bundle(
    part: Path, tmp_path: Path
):
    name = part.relative_to(SHIPPED).with_suffix("")
    project = tmp_path / ".amplifier" / "bundles"
    project.mkdir(parents=True)
    (project / "mine.yaml").write_text(f"bundle: {{name: mine}}\nincludes: ['coding:{name}']\n")
    bundle = await Workspace.open(tmp_path, shipped=(SHIPPED,)).load("mine")
    assert bundle.skipped == []
    assert bundle.to_mount_plan()


def test_bundles_with_tools_have_approvals_too():
    for name in NAMES:
        plan = plan_of(name)
        hooks = [entry["module"] for entry in plan.get("hooks", [])]
        assert bool(plan.get("tools")) == ("hooks-approval" in hooks)


@pytest.mark.parametrize("name", ["demo", "local"])
async def test_a_bundle_without_keys_runs_in_a_real_session(name: str):
    bundle = await load_bundle(str(SHIPPED / f"{name}.md"))
    plan = bundle.to_mount_plan()
    for provider in plan["providers"]:
        if "base_url" in provider.get("config", {}):
            provider["config"] = {**provider["config"], "base_url": "http://127.0.0.1:9/v1"}
            provider["config"]["default_model"] = "any"
    failed: list[dict[str, Any]] = []
    session = AmplifierSession(plan)
    session.coordinator.hooks.register(
        "module:load_failed", lambda event, data: failed.append(data)
    )
    async with session:
        assert failed == []
        assert session.coordinator.get("providers")
        assert set(session.coordinator.get("tools")) >= {"read_file", "edit_file", "bash"}


async def test_the_local_bundle_takes_its_server_from_the_environment():
    bundle = await load_bundle(str(SHIPPED / "local.md"))
    (provider,) = bundle.to_mount_plan()["providers"]
    assert provider["config"]["api"] == "chat"
    assert provider["config"]["base_url"] == "${LOCAL_LLM_BASE_URL:http://127.0.0.1:11434/v1}"


def test_what_decides_about_approvals_cannot_be_written_by_the_agent():
    (files,) = [tool for tool in plan_of("coding")["tools"] if tool["module"] == "tool-filesystem"]
    assert files["config"]["denied_write_paths"] == [".git", ".amplifier"]


def run_tests(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "unittest"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_sample_project_has_one_bug_and_the_scripted_edit_fixes_it(tmp_path: Path):
    project = tmp_path / "project"
    shutil.copytree(SHIPPED / "demo-project", project)
    before = run_tests(project)
    assert before.returncode != 0 and "Ran 8 tests" in before.stderr
    (repair,) = [one for one in read_script(BUILT_IN).scenarios if one.name == "repair"]
    (edit,) = repair.steps["propose"].calls
    file = project / edit.input["file_path"]
    text = file.read_text()
    assert text.count(edit.input["old_string"]) == 1
    file.write_text(text.replace(edit.input["old_string"], edit.input["new_string"]))
    assert run_tests(project).returncode == 0


def test_the_demos_template_is_there():
    template = plan_of("demo")["session"]["workspace"]["template"]
    assert (SHIPPED / template / "README.md").is_file()


def test_each_example_of_the_demo_plays_a_scenario_of_its_own():
    script = read_script(BUILT_IN)
    first, asked, skill, live = plan_of("demo")["session"]["examples"]
    tools = frozenset({"read_file", "edit_file", "bash", "ask_user", "load_skill"})
    assert script.scenario(1, asked, tools).name == "ask first"
    assert script.scenario(1, first, tools).name == "repair when asked"
    assert script.scenario(1, skill, tools).name == "a skill"
    assert script.scenario(1, live, tools).name == "a live command"


def test_the_script_in_the_readme_is_a_script():
    text = (SHIPPED / "README.md").read_text()
    example = text.split("```yaml\nscenarios:")[1].split("```")[0]
    script = parse_script(yaml.safe_load("scenarios:" + example))
    said = answer(script, Seen(turn=1, prompt="x", tools=frozenset({"read_file"})))
    assert said.calls == (("read_file", {"file_path": "."}),)


@pytest.mark.parametrize("part", PARTS, ids=lambda path: path.stem)
async def test_a_part_prepares_and_mounts_what_it_names(part: Path, tmp_path: Path):
    name = part.relative_to(SHIPPED).with_suffix("")
    project = tmp_path / ".amplifier" / "bundles"
    project.mkdir(parents=True)
    (project / "mine.yaml").write_text(
        "bundle: {name: mine}\nincludes: ['coding:behaviors/session', "
        f"'coding:{name}']\nproviders: [{{module: provider-mock}}]\n"
    )
    environ = {"ANTHROPIC_API_KEY": "sk-ant-nobody", "OPENAI_API_KEY": "sk-nobody"}
    space = Workspace.open(tmp_path, shipped=(SHIPPED,), environ=environ)
    prepared = await space.prepare("mine")
    assert (prepared.activation_failures, prepared.notes, prepared.refused) == ({}, [], [])
    for provider in prepared.mount_plan["providers"]:
        if provider["module"] != "provider-mock":
            provider["config"] = {**provider.get("config", {}), "api_key": "sk-nobody"}
    failed: list[dict[str, Any]] = []

    def watch(session: AmplifierSession) -> None:
        session.coordinator.hooks.register(
            "module:load_failed", lambda event, data: failed.append(data)
        )

    async with prepared.create_session(session_cwd=tmp_path, before_initialize=watch):
        assert failed == []


@pytest.mark.parametrize("file", sorted((SHIPPED / "agents").glob("*.md")), ids=lambda p: p.stem)
async def test_an_agent_says_what_it_does_and_has_only_tools_there_are(file: Path):
    agent = read_agent_file(file, "")
    assert agent["name"] == file.stem and agent["agents"] == "none"
    assert 40 < len(agent["description"]) < 300 and agent["instruction"].startswith("You are ")
    coding = await load_bundle(str(SHIPPED / "coding.md"))
    known = {tool["module"] for tool in coding.tools}
    assert agent["inherit_tools"] and set(agent["inherit_tools"]) <= known
    assert {tool["module"] for tool in agent.get("tools", [])} <= set(agent["inherit_tools"])
    assert await load_bundle(str(file))
