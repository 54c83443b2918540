"""The model that an agent prefers reaches every provider, and who ignores it is told of."""

import json
from pathlib import Path

import pytest

from amplifier_tui.host.events import Notice
from tests.host.driving import Driver, Project

PROVIDER = """
from amplifier_core import ChatResponse, ModelInfo, ProviderInfo, TextBlock, ToolCall, Usage

__amplifier_module_type__ = "provider"


class Fakey:
    name = "fakey"

    def get_info(self):
        return ProviderInfo(id="fakey", display_name="Fakey", defaults={"model": "f1"})

    async def list_models(self):
        return [
            ModelInfo(id=each, display_name=each, context_window=9000, max_output_tokens=900)
            for each in ("f1", "f2-a")
        ]

    async def complete(self, request, **kwargs):
        more = {}
        if request.messages[-1].role == "user" and "Go." in str(request.messages[-1].content):
            given = {"agent": "x", "instruction": "Answer."}
            number = len(request.messages)
            more["tool_calls"] = [ToolCall(id=f"c{number}", name="task", arguments=given)]
        model = MODEL
        usage = Usage(input_tokens=9, output_tokens=1, total_tokens=10)
        return ChatResponse(
            content=[TextBlock(text=f"I am {model}")],
            usage=usage,
            finish_reason="tool_use" if more else "stop",
            model=model,
            **more,
        )

    def parse_tool_calls(self, response):
        return response.tool_calls or []


async def mount(coordinator, config=None):
    await coordinator.mount("providers", Fakey(), name="fakey")
"""


@pytest.mark.parametrize(
    ("model", "answer", "warned"),
    [("request.model or 'f1'", "I am f2-a", False), ("'f1'", "I am f1", True)],
    ids=["reads the request", "ignores both"],
)
def test_the_model_an_agent_prefers_is_in_the_request_and_who_ignores_it_is_told_of_once(
    project: Project, driver: Driver, tmp_path: Path, model: str, answer: str, warned: bool
) -> None:
    # One module a case: Python keeps what it imported by its name.
    name = "provider-deaf" if warned else "provider-fakey"
    file = tmp_path / name / f"amplifier_module_{name.replace('-', '_')}" / "__init__.py"
    file.parent.mkdir(parents=True)
    mounted = name.removeprefix("provider-")
    file.write_text(PROVIDER.replace("MODEL", model).replace("fakey", mounted))
    wish = {"provider": mounted, "model": "f2*"}
    agent = {"description": "Asks.", "instruction": "Answer.", "provider_preferences": [wish]}
    entry = {"module": name, "source": str(tmp_path / name)}
    bundle = project.bundle(providers=[entry], tools=("tool-task",))
    path = project.bundles / f"{bundle}.md"
    agents = json.dumps({"x": agent})
    path.write_text(path.read_text().replace("---\n", f"---\nagents: {agents}\n", 1))
    driver.open(bundle)
    for _ in range(2):
        assert driver.turn("Go.").status == "success"
    assert answer in driver.answers() and "I am f1" in driver.answers()
    told = [each.text for each in driver.of(Notice) if "f2-a" in each.text]
    assert told == [f"{mounted} answers the agent x with f1, not f2-a"] * warned


def test_a_chosen_model_in_whose_place_another_answers_is_told_of_once(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    file = tmp_path / "provider-stuck" / "amplifier_module_provider_stuck" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(PROVIDER.replace("MODEL", "'f1'").replace("fakey", "stuck"))
    entry = {"module": "provider-stuck", "source": str(file.parents[1])}
    driver.open(project.bundle(providers=[entry]))
    driver.turn("Hello.")
    driver.client.switch_model("f2-a")
    for _ in range(2):
        assert driver.turn("Hello.").status == "success"
    told = [each.text for each in driver.of(Notice) if each.source == "stuck"]
    assert told == ["stuck answers with f1, not f2-a"]
