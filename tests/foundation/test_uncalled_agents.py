import asyncio
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.foundation.checks.agent_modules import uncalled_agents
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import write

TOP = """---
bundle: {{name: mine}}
session: {{orchestrator: {{module: loop-streaming}}, context: {{module: context-simple}}}}
providers: [{{module: provider-mock}}]
tools: {tools}
agents:
  include: [a, b]
---
"""


async def found(project: Path, tools: str, *agents: str) -> list[tuple[str, int | None, str]]:
    bundles = project / ".amplifier" / "bundles"
    for name, head in zip(("a", "b"), agents, strict=True):
        write(bundles / "agents" / f"{name}.md", f"---\n{head}\n---\nYou are {name}.\n")
    write(bundles / "mine.md", TOP.format(tools=tools))
    bundle = (await Workspace.open(project).preview("mine")).bundle
    assert bundle is not None
    problems = list(uncalled_agents(bundle))
    assert {each.severity for each in problems} <= {"warning"} and all(
        each.remedy for each in problems
    )
    return [(each.path.name if each.path else "", each.line, each.message) for each in problems]


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ("[{module: tool-bash}]", True),
        ("[]", True),
        ("[{module: tool-bash}, {module: tool-task}]", False),
        ("[{module: tool-delegate, source: ./x}]", False),
        # Nobody knows what others' modules do with them.
        ("[{module: tool-recipes, source: ./x}]", False),
        ("[{module: tool-bash, source: ./x}]", False),
    ],
)
async def test_agents_that_no_tool_calls_are_told_of(
    tmp_path: Path, tools: str, told: bool
) -> None:
    said = await found(tmp_path, tools, *["meta: {description: d}"] * 2)
    message = "No tool of the bundle calls its agents: 'a' and 1 more"
    assert said == ([("mine.md", 7, message)] if told else [])


async def test_an_agent_without_a_description_is_told_of_in_its_file(tmp_path: Path) -> None:
    tools = "[{module: tool-task}]"
    (told,) = await found(tmp_path, tools, "meta: {name: a}", "meta: {description: d}")
    assert told[0] == "a.md" and "'a' has no description, by which the model" in told[2]


async def test_bundle_validate_warns_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await found(tmp_path, "[]", "meta: {name: a}", "meta: {description: d}")
    monkeypatch.chdir(tmp_path)
    assert await asyncio.to_thread(run, ["bundle", "validate", "mine"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("warning: ") == 2 and "Add `tool-task` to its tools" in said
