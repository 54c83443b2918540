"""A module that answers what its contract does not allow is named, with what it should return."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import Failed, ModeChanged, Notice, TurnEnded
from tests.host.driving import Driver, Project, calling

PROVIDER = """
from amplifier_core import ChatResponse, ProviderInfo

__amplifier_module_type__ = "provider"

class Odd:
    name = "odd"
    def get_info(self): return ProviderInfo(id="odd", display_name="Odd")
    async def list_models(self): return []
    def parse_tool_calls(self, response): return []
    async def complete(self, request, **more):
        return ANSWER

async def mount(coordinator, config=None):
    await coordinator.mount("providers", Odd())
"""
LOOP = """
__amplifier_module_type__ = "orchestrator"

class Odd:
    async def execute(self, prompt, context, providers, tools, hooks, **more):
        return ANSWER

async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Odd())
"""


@pytest.mark.parametrize(
    ("answer", "said"),
    [("'hello'", "str"), ("{'content': []}", "dict"), ("None", "nothing")],
)
@pytest.mark.parametrize("kind", ["provider", "loop"])
def test_an_answer_that_is_none_fails_the_turn_and_names_the_module_and_its_line(
    project: Project, driver: Driver, tmp_path: Path, kind: str, answer: str, said: str
) -> None:
    if kind == "loop" and answer == "'hello'":
        answer, said = "42", "int"
    module_id = f"{kind}-odd-{said}"
    file = tmp_path / module_id / f"amplifier_module_{module_id.replace('-', '_')}" / "__init__.py"
    file.parent.mkdir(parents=True)
    source = (PROVIDER if kind == "provider" else LOOP).replace("ANSWER", answer)
    file.write_text(source)
    entry = {"module": module_id, "source": str(tmp_path / module_id)}
    made = {"providers": [entry]} if kind == "provider" else {"session": {"orchestrator": entry}}
    driver.open(project.bundle(**made))
    assert driver.turn("hi").status == "error"
    (failed,) = driver.of(Failed)
    method = "complete" if kind == "provider" else "execute"
    wanted = "ChatResponse(content=[TextBlock(text=...)])" if kind == "provider" else "a str"
    assert failed.message.startswith(f"{module_id} failed: {method}() returned {said}; it must")
    assert wanted in failed.message and failed.module == module_id
    line = next(n for n, text in enumerate(source.splitlines(), 1) if f"def {method}" in text)
    assert f"{file}:{line}." in failed.remedy


@pytest.mark.parametrize(
    ("reads", "said"),
    [
        ("def parse_tool_calls(self, response): return [{'id': '1', 'name': 'bash'}]", "a list"),
        ("async def parse_tool_calls(self, response): return []", "coroutine"),
    ],
)
def test_a_provider_that_reads_its_tool_calls_as_something_else_is_named_with_its_line(
    project: Project, driver: Driver, tmp_path: Path, reads: str, said: str
) -> None:
    module_id = f"provider-reads-{said}".replace(" ", "-")
    file = tmp_path / module_id / f"amplifier_module_{module_id.replace('-', '_')}" / "__init__.py"
    file.parent.mkdir(parents=True)
    source = PROVIDER.replace("def parse_tool_calls(self, response): return []", reads)
    file.write_text(source.replace("ANSWER", "ChatResponse(content=[])"))
    entry = {"module": module_id, "source": str(tmp_path / module_id)}
    driver.open(project.bundle(providers=[entry]))
    assert driver.turn("hi").status == "error"
    (failed,) = driver.of(Failed)
    assert failed.message.startswith(f"{module_id} failed: parse_tool_calls() returned {said}")
    assert "it must return a list of ToolCall(" in failed.message and failed.module == module_id
    assert f"{file}:10." in failed.remedy


CONTEXT = """
__amplifier_module_type__ = "context"

class Odd:
    def __init__(self): self.rows = []
    async def add_message(self, message): self.rows.append(message)
    async def get_messages_for_request(self, **more):
        return self.rows
    async def get_messages(self):
        return self.rows
    async def set_messages(self, messages): self.rows = list(messages)
    async def clear(self): self.rows.clear()

async def mount(coordinator, config=None):
    await coordinator.mount("context", Odd())
"""


@pytest.mark.parametrize(
    ("answer", "said"),
    [("None", "nothing"), ("'hello'", "str"), ("['hello']", "a list with str")],
)
@pytest.mark.parametrize("method", ["get_messages", "get_messages_for_request"])
def test_a_context_that_gives_no_messages_is_named_with_its_line(
    project: Project, driver: Driver, tmp_path: Path, method: str, answer: str, said: str
) -> None:
    module_id = f"context-{method}-{said}".replace("_", "-").replace(" ", "-")
    file = tmp_path / module_id / f"amplifier_module_{module_id.replace('-', '_')}" / "__init__.py"
    file.parent.mkdir(parents=True)
    head, _, body = CONTEXT.partition(f"def {method}(")
    source = f"{head}def {method}({body.replace('return self.rows', f'return {answer}', 1)}"
    file.write_text(source)
    entry = {"module": module_id, "source": str(tmp_path / module_id)}
    name = project.bundle(session={"context": entry})
    if method == "get_messages":
        driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    else:
        driver.open(name)
        driver.client.submit("hi")
    failed = driver.wait(Failed)
    assert failed.message.startswith(f"{module_id} failed: {method}() returned {said}; it must")
    line = next(n for n, text in enumerate(source.splitlines(), 1) if f"def {method}(" in text)
    assert f"{file}:{line}." in failed.remedy and failed.module == module_id


def test_a_context_that_forgets_what_it_is_given_ends_the_turn_before_the_model_is_asked(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    file = tmp_path / "context-forgets" / "amplifier_module_context_forgets" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(CONTEXT.replace("self.rows.append(message)", "pass"))
    entry = {"module": "context-forgets", "source": str(tmp_path / "context-forgets")}
    driver.open(project.bundle(session={"context": entry}))
    assert driver.turn("hi").status == "error"
    (failed,) = driver.of(Failed)
    assert failed.message == (
        "context-forgets failed: get_messages_for_request() returned an empty list; "
        "it must return what add_message() was given"
    )
    assert f"{file}:7." in failed.remedy and failed.module == "context-forgets"


def test_an_answer_with_nothing_in_it_is_told_also_when_the_session_is_opened_again(
    project: Project, drive: Callable[[], Driver], tmp_path: Path
) -> None:
    file = tmp_path / "provider-mute" / "amplifier_module_provider_mute" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(PROVIDER.replace("ANSWER", "ChatResponse(content=[])"))
    first = drive()
    mute = {"module": "provider-mute", "source": str(tmp_path / "provider-mute")}
    first.open(project.bundle(providers=[mute]))
    ended = first.turn("hi")
    assert (ended.status, ended.remark) == ("success", "The model answered nothing")
    first.close()
    again = drive()
    again.open(resume="last")
    again.wait(ModeChanged)
    assert [event.silent for event in again.of(TurnEnded)] == [True]


EXITS = "the module tried to end the program (exit 3)"
TOOL = """
from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"

class Odd:
    name = "odd"
    description = "Answers oddly."
    input_schema = {"type": "object", "properties": {}}
    async def execute(self, input):
        return ANSWER

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Odd())
"""


@pytest.mark.parametrize(
    ("answer", "line", "said"),
    [
        (
            "ToolResult(sucess=False, ouput='x')",
            11,
            "The ToolResult of odd has no field 'sucess' ('success' is meant?), "
            "'ouput' ('output' is meant?)",
        ),
        (
            "ToolResult(text='x')",
            11,
            "The ToolResult of odd has no field 'text'; its fields are success, output, error, ",
        ),
        (
            "{'success': True, 'ouput': 'x'}",
            10,
            "The ToolResult of odd has no field 'ouput' ('output' is meant?)",
        ),
        ("{'ouput': 'x'}", 10, "odd returned dict, which is no ToolResult"),
        ("'x'", 10, "odd returned str, which is no ToolResult"),
        ("None", 10, "odd returned nothing"),
        ("{}[str(id(object()))]", 11, "odd failed: KeyError: "),
        ("__import__('sys').exit(3)", 11, f"odd failed: RuntimeError: {EXITS}"),
        ("ToolResult(output='x', metadata={})", 0, ""),
        ("ToolResult(is_error=True, output='x')", 0, ""),
        ("{'success': True, 'output': 'x'}", 0, ""),
    ],
)
def test_a_tool_that_answers_with_no_proper_result_is_told_of_once_with_its_line(
    project: Project,
    driver: Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    line: int,
    said: str,
) -> None:
    monkeypatch.delitem(sys.modules, "amplifier_module_tool_odd", raising=False)
    file = tmp_path / "tool-odd" / "amplifier_module_tool_odd" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(TOOL.replace("ANSWER", answer))
    name = project.bundle(script=calling({"odd": {}}, {"odd": {}}))
    bundle = project.bundles / f"{name}.md"
    entry = f"- {{module: tool-odd, source: {tmp_path / 'tool-odd'}}}"
    bundle.write_text(bundle.read_text().replace("tools:\n", f"tools:\n{entry}\n"))
    project.allow(["odd"])
    driver.open(name)
    assert driver.turn("go").status == "success"
    told = [event for event in driver.of(Notice) if event.source == "odd"]
    if not said:
        assert not told
        return
    (notice,) = told
    assert notice.level == "warning" and notice.text.startswith(said)
    assert f"({file}:{line})" in notice.text
