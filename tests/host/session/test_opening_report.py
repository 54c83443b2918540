"""The report of an opening: what a session goes without, with reason, remedy and who asks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.foundation.report import ReportItem, summary
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import (
    Failed,
    HostEvent,
    ModuleMounted,
    Notice,
    OpeningReported,
    SessionOpened,
)
from amplifier_tui.kernel.mounting.schemas import ARGUMENT, SCHEMA
from tests.host.driving import MODULES, Driver, Project


def changed(project: Project, *changes: tuple[str, str], **parts: object) -> Path:
    """A bundle that works, with changes of its text."""
    path = project.bundles / f"{project.bundle(**parts)}.md"  # type: ignore[arg-type]
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
    return path


def report(driver: Driver) -> dict[str, ReportItem]:
    found = driver.wait(OpeningReported)
    return {item.what: item for item in found.items}


def test_nothing_is_reported_where_nothing_is_missing(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    driver.turn("hello")
    assert not driver.of(OpeningReported)


def test_a_report_counts_what_is_ready_and_survives_json(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(tools=("tool-test", "tool-nowhere")))
    told = driver.wait(OpeningReported)
    assert told.ready == len(driver.of(ModuleMounted)) == 4
    assert summary(told.items, told.ready) == "4 ready · 1 without: tool-nowhere"
    assert HostEvent.from_json(told.to_json()) == told


def test_a_missing_module_is_reported_with_remedy_bundle_owner_and_line(
    project: Project, driver: Driver
) -> None:
    path = project.bundles / f"{project.bundle(tools=('tool-test', 'tool-nowhere'))}.md"
    driver.open("test")
    item = report(driver)["tool-nowhere"]
    line = path.read_text().split("\n").index("- module: tool-nowhere") + 1
    assert (item.kind, item.part, item.asked_by, item.owner) == (
        "failed",
        "tool",
        "test",
        "project",
    )
    assert item.where == f"{path}:{line}"
    assert "not found" in item.why and item.remedy.startswith("Install the package")
    assert "Install" not in item.why


def test_context_files_and_mentions_that_cannot_be_read_are_reported(
    project: Project, driver: Driver
) -> None:
    context = "context: {include: [gone.md, 'nobody:style.md']}\n---\n"
    path = changed(
        project,
        ("\n---\n", f"\n{context}"),
        instruction="Read @test:absent.md, @test:style.md and @README.md of the project.",
    )
    (project.bundles / "style.md").write_text("Be brief.")
    driver.open("test")
    found = report(driver)
    assert sorted(found) == ["nobody:style.md", "test:absent.md", "test:gone.md"]
    assert found["test:gone.md"].why == "there is no such file"
    assert "no bundle named 'nobody'" in found["nobody:style.md"].why
    assert all(item.part == "context" and item.remedy for item in found.values())
    lines = path.read_text().splitlines()
    for what, item in found.items():
        file, _, line = item.where.rpartition(":")
        assert file == str(path) and what.removeprefix("test:") in lines[int(line) - 1]


def test_why_a_source_cannot_be_had_and_what_to_do_are_each_said_once(
    project: Project, driver: Driver
) -> None:
    sources = {"tool-path": "./gone", "tool-git": "git+ssh://-x/y", "tool-name": "no-such-package"}
    entries = "".join(f"- {{module: {name}, source: {uri}}}\n" for name, uri in sources.items())
    changed(project, ("- module: tool-test\n", f"{entries}- module: tool-test\n"))
    driver.open("test")
    found = report(driver)
    for name in sources:
        why, remedy = found[name].why, found[name].remedy
        assert why.startswith("Its source can't be had: ") and remedy
        assert remedy not in why and "\n" not in why + remedy
    assert found["tool-name"].remedy.startswith("Check the spelling")


def test_a_module_of_an_agent_that_cannot_be_had_is_reported_when_the_session_opens(
    project: Project, driver: Driver
) -> None:
    agent = "agents: {scout: {description: d, tools: [{module: tool-far, source: ./gone}]}}\n---\n"
    path = changed(project, ("\n---\n", f"\n{agent}"))
    driver.open("test")
    item = report(driver)["tool-far of agent scout"]
    assert item.kind == "failed" and item.where.startswith(f"{path}:")
    assert "gone" in item.why and "the agent goes without it" in item.remedy


def test_what_the_user_refused_is_reported_with_the_way_back(
    project: Project, drive: Callable[..., Driver]
) -> None:
    source = MODULES / "amplifier-module-hooks-test"
    entry = f"hooks:\n- module: hooks-other\n  source: {source}\n---"
    changed(project, ("hooks: []\n---", entry))
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle="test"))
    driver.answer_trust(use=False)
    driver.wait(SessionOpened)
    item = report(driver)["hooks-other"]
    assert (item.kind, item.part) == ("refused", "hook")
    assert "you refused its code" in item.why and all(
        way in item.remedy for way in ("/trust asks", "trust add")
    )


def test_a_session_that_was_refused_its_loop_says_that_and_not_that_the_bundle_is_wrong(
    project: Project, drive: Callable[..., Driver]
) -> None:
    loop = f"module: loop-other\n    source: {MODULES / 'amplifier-module-loop-calls'}"
    changed(project, ("module: loop-streaming", loop))
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle="test"))
    driver.answer_trust(use=False)
    failed = driver.wait(Failed)
    assert failed.message.startswith("The session can't run without its orchestrator loop-other")
    assert "you refused its code" in failed.message and "trust add" in failed.remedy


def test_a_built_in_module_in_place_of_a_source_is_reported_as_replaced(
    project: Project, driver: Driver, own_home: Path
) -> None:
    source = "git+https://host.invalid/o/r@main"
    mock = {"module": "provider-mock", "source": source}
    project.bundle(providers=[mock])
    settings = own_home / ".amplifier" / "settings.yaml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("sources: {modules: {provider-mock: built-in}}\n")
    driver.open("test")
    item = report(driver)["provider-mock"]
    assert (item.kind, item.part) == ("replaced", "provider") and source in item.why
    assert "sources.modules" in item.remedy


def test_a_mode_file_that_cannot_be_read_is_reported_with_its_path(
    project: Project, driver: Driver
) -> None:
    (project.bundles / "modes").mkdir()
    broken = project.bundles / "modes" / "careful.md"
    broken.write_text("---\nmode: [a\n: ]\n---\n")
    driver.open(project.bundle())
    item = report(driver)["mode careful"]
    assert item.where == f"{broken}:3" and "<unicode string>" not in item.why
    assert item.why.startswith("cannot be read: Not valid YAML: while parsing a flow sequence: ")


def test_what_an_error_says_that_helps_is_the_remedy_and_no_part_of_the_reason(
    project: Project, driver: Driver
) -> None:
    changed(project, ("---\n", "---\nincludes: ['git+https://host.invalid/o/r@main']\n"))
    driver.open("test")
    (item,) = report(driver).values()
    assert "Could not resolve host" in item.why and "Check the network" not in item.why
    assert item.remedy.startswith("Check the network")


def test_nothing_of_the_report_is_said_a_second_time_as_a_notice(
    project: Project, driver: Driver
) -> None:
    changed(project, ("---\n", "---\nincludes: [./gone.yaml]\n"))
    driver.open("test")
    assert list(report(driver)) == ["./gone.yaml"]
    assert not [event for event in driver.of(Notice) if "gone" in event.text]


def test_a_bundle_of_the_project_without_a_name_is_told_when_it_opens(
    project: Project, driver: Driver
) -> None:
    path = project.bundles / f"{project.bundle()}.md"
    path.write_text(path.read_text().replace("name: test", "author: me"))
    driver.open("test")
    said = driver.wait(Notice, lambda notice: "must have a name" in notice.text)
    assert said.level == "warning" and str(path) in said.text


TWIN = """from amplifier_core import ToolResult
class Twin:
    name = "echo"
    description = "Says it again."
    input_schema = SCHEMA
    async def execute(self, input):
        return ToolResult(output="")
async def mount(coordinator, config=None):
    await coordinator.mount("tools", Twin())
"""


def twin_of(folder: Path) -> Path:
    return folder / "amplifier-module-tool-twin" / "amplifier_module_tool_twin" / "__init__.py"


def mounted_twin(
    project: Project,
    driver: Driver,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    schema: str,
    *others: str,
) -> ModuleMounted:
    source = twin_of(folder)
    source.parent.mkdir(parents=True)
    source.write_text(TWIN.replace("SCHEMA", schema))
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}:{folder}")
    driver.open(project.bundle(tools=(*others, "tool-twin")))
    return next(each for each in driver.of(ModuleMounted) if each.module_id == "tool-twin")


def test_a_tool_whose_name_is_taken_or_whose_schema_is_none_is_told_in_its_row_and_as_a_notice(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = mounted_twin(project, driver, tmp_path, monkeypatch, '{"type": "objekt"}', "tool-test")
    source = twin_of(tmp_path)
    clash, schema = twin.problems
    told = "'echo' takes the place of the tool of tool-test with that name"
    assert clash == f"{told} ({source}:2). Rename it"
    assert "input_schema has the type 'objekt'" in schema
    assert schema.endswith(f"({source}:2). {SCHEMA}")
    said = [each.text for each in driver.of(Notice) if each.level == "warning"]
    assert said == [f"tool-twin: {each}" for each in twin.problems]


DOUBLE = """\
from amplifier_core import ChatResponse, ProviderInfo, TextBlock
class Double:
    name = "mock"
    def get_info(self):
        return ProviderInfo(id="mock", display_name="Double")
    async def list_models(self):
        return []
    async def complete(self, request, **kwargs):
        return ChatResponse(content=[TextBlock(text="I am the double.")])
    def parse_tool_calls(self, response):
        return []
async def mount(coordinator, config=None):
    await coordinator.mount("providers", Double())
"""


@pytest.mark.parametrize("instance", ["", "mock", "double"])
def test_a_provider_whose_name_is_taken_is_told_in_its_row_and_as_a_notice_and_after_a_reload(
    project: Project,
    driver: Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    instance: str,
) -> None:
    folder = tmp_path / "amplifier-module-provider-double" / "amplifier_module_provider_double"
    folder.mkdir(parents=True)
    source = folder / "__init__.py"
    source.write_text(DOUBLE)
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}:{tmp_path}")
    double = {"module": "provider-double", **({"id": instance} if instance else {})}
    driver.open(project.bundle(providers=[{"module": "provider-mock"}, double]))
    told = "'mock' takes the place of the provider of provider-mock with that name"
    problem = f"{told} ({source}:2). Rename it, or give it another id in the bundle"
    problems = () if instance == "double" else (problem,)
    opened = next(each for each in driver.of(ModuleMounted) if each.module_id == "provider-double")
    assert opened.problems == problems
    said = [each.text for each in driver.of(Notice) if each.level == "warning"]
    assert said == [f"provider-double: {each}" for each in problems]
    driver.client.reload(f"provider-double#{instance}" if instance else "provider-double")
    again = driver.wait(ModuleMounted)
    assert (again.again, again.problems) == (True, problems)


def test_a_tool_whose_arguments_no_model_sees_is_told_in_its_row(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = mounted_twin(project, driver, tmp_path, monkeypatch, '{"text": {"type": "string"}}')
    (problem,) = twin.problems
    assert problem.startswith("'echo': input_schema has 'text' outside of properties: ")
    assert problem.endswith(f"__init__.py:2). {ARGUMENT}")


def test_what_is_wrong_with_a_schema_told_by_get_schema_is_told_in_the_tools_row(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = '{}\n    def get_schema(self): return {"type": "objekt"}'
    (problem,) = mounted_twin(project, driver, tmp_path, monkeypatch, schema).problems
    assert problem.startswith("'echo': get_schema() has the type 'objekt'")
    assert problem.endswith(SCHEMA)


def test_a_turn_whose_tool_no_request_can_hold_names_it_and_not_the_provider(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = '{"properties": {"a": {"type": str}}}'
    twin = mounted_twin(project, driver, tmp_path, monkeypatch, schema)
    (problem,) = twin.problems
    source = twin_of(tmp_path)
    wrong = "input_schema.properties.a.type is <class 'str'>, which is no JSON"
    assert problem == f"'echo': {wrong} ({source}:2). {SCHEMA}"
    driver.turn("hello")
    failed = driver.of(Failed)[-1]
    assert failed.message == f"tool-twin failed: no model can be given the tool 'echo': {wrong}"
    assert failed.remedy.startswith(f"Its code is wrong at {source}:2.")
    assert failed.module == "tool-twin"


def test_a_module_of_another_kind_is_said_with_its_line(project: Project, driver: Driver) -> None:
    path = changed(project, tools=("tool-test", "hooks-logging"))
    driver.open("test")
    item = report(driver)["hooks-logging"]
    assert (item.part, item.why) == ("tool", "hooks-logging is a hook, and no tool")
    assert item.remedy == "Its place is `hooks`." and item.where.startswith(f"{path}:")
    assert driver.of(OpeningReported)[0].ready == 4


def test_a_context_of_another_kind_is_said_with_its_line(project: Project, driver: Driver) -> None:
    path = changed(project, context="tool-bash")
    driver.client.open(OpenRequest(cwd=project.folder, bundle="test"))
    failed = driver.wait(Failed)
    assert failed.message.startswith(f"{path}:") and "tool-bash is a tool" in failed.message
    assert failed.remedy == "Its place is `tools`."


def test_a_module_that_breaks_its_contract_is_reported_with_the_line_and_what_belongs_there(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    folder = tmp_path / "amplifier-module-tool-bent"
    source = folder / "amplifier_module_tool_bent" / "__init__.py"
    source.parent.mkdir(parents=True)
    source.write_text("def mount(coordinator, config): ...\n")
    entry = f"- {{module: tool-bent, source: {folder}}}\n"
    changed(project, ("- module: tool-test\n", f"{entry}- module: tool-test\n"))
    driver.open("test")
    why = report(driver)["tool-bent"].why
    place = f"({source}:1). Define it as: async def mount(coordinator, config)"
    assert why == f"mount() should be async (async def mount(...)) {place}"


def test_a_mount_of_the_search_path_that_is_not_async_has_failed_with_line_and_remedy(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "amplifier-module-tool-bent" / "amplifier_module_tool_bent" / "__init__.py"
    source.parent.mkdir(parents=True)
    source.write_text("def mount(coordinator, config): ...\n")
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}:{tmp_path}")
    driver.open(project.bundle(tools=("tool-test", "tool-bent")))
    assert "tool-bent" not in [each.module_id for each in driver.of(ModuleMounted)]
    why = report(driver)["tool-bent"].why
    assert f"({source}:1). Define it as: async def mount(coordinator, config)" in why


def test_a_hook_of_an_event_that_may_be_meant_for_another_has_a_mistake(
    project: Project, driver: Driver
) -> None:
    heard = {event: [{}] for event in ("tool:before", "tool:progress", "mine:own", "tool:post")}
    driver.open(project.bundle(hooks=(("hooks-answer", heard),)))
    (mounted,) = [e for e in driver.of(ModuleMounted) if e.module_id == "hooks-answer"]
    (problem,) = mounted.problems
    assert "'tool:before'; events of 'tool' are tool:pre," in problem
    assert "hooks_answer/__init__.py:" in problem
    assert [e.text for e in driver.of(Notice)] == [f"hooks-answer: {problem}"]


def test_a_module_that_adds_a_context_provider_has_something_to_offer(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(hooks=(("hooks-source", {}),), context="context-pipeline"))
    (mounted,) = [each for each in driver.of(ModuleMounted) if each.module_id == "hooks-source"]
    assert not mounted.detail


def test_an_override_of_a_misspelt_module_is_said(
    project: Project, driver: Driver, own_home: Path
) -> None:
    settings = own_home / ".amplifier" / "settings.yaml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("overrides: {provider-mok: {config: {a: 1}}}\n")
    driver.open(project.bundle())
    (said,) = [event for event in driver.of(Notice) if "provider-mok" in event.text]
    assert said.level == "warning" and "did you mean 'provider-mock'?" in said.text


def test_a_variable_that_no_one_set_is_told_before_what_fails_for_want_of_it(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEYY", raising=False)
    config = {"api_key": "${MY_KEYY}", "effort": "${EFFORT:}"}
    name = project.bundle(providers=[{"module": "provider-anthropic", "config": config}])
    path = project.bundles / f"{name}.md"
    driver.open("test")
    driver.wait(OpeningReported)
    texts = [each.text for each in driver.of(Notice) if "is not set" in each.text]
    line = next(i for i, each in enumerate(path.read_text().split("\n"), 1) if "MY_KEYY" in each)
    wrong = "provider-anthropic: MY_KEYY is not set, and config.api_key refers to it"
    assert len(texts) == 1
    # What is wrong comes first: a status bar has no room for more.
    assert texts[0].startswith(f"{wrong}. Set MY_KEYY in the environment")
    assert texts[0].endswith(f" ({path}:{line})")
