"""An agent has the name by which its bundle lists it; one of its own that differs is told."""

from pathlib import Path

import pytest

from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.checks.ignored import ignored_of
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import allow, write

MINE = (
    "bundle: {name: mine}\n"
    "session: {orchestrator: {module: loop-basic}, context: {module: context-simple}}\n"
    "providers: [{module: provider-mock}]\n"
    "tools: [{module: tool-task}]\n"
)


def bundle_of(project: Path, agents: str) -> Path:
    return write(project / ".amplifier/bundles/mine.yaml", f"{MINE}agents: {agents}\n")


def agent_of(project: Path, name: str, frontmatter: str) -> Path:
    path = project / f".amplifier/bundles/agents/{name}.md"
    return write(path, f"---\ndescription: d\n{frontmatter}\n---\nHelp.\n")


@pytest.mark.parametrize(
    ("named", "line"),
    [("meta:\n  name: bar", 4), ("name: bar", 3), ("name: bar\nmeta: {name: foo}", 3)],
)
@pytest.mark.parametrize(
    ("listed", "meant"),
    [("foo", "bar"), ("mine:foo", "mine:bar"), ("'@mine:agents/foo.md'", "mine:agents/bar")],
)
async def test_a_name_that_does_not_count_is_told_by_validate_and_when_a_session_opens(
    tmp_path: Path, named: str, line: int, listed: str, meant: str
) -> None:
    bundle_of(tmp_path, f"{{include: [{listed}]}}")
    file = agent_of(tmp_path, "foo", named)
    here = Workspace.open(tmp_path)
    prepared = await here.prepare("mine", trust=allow, install_deps=False)
    assert list(prepared.mount_plan["agents"]) == [listed.strip("'")]
    for found in (preview_findings(await here.preview("mine")), ignored_of(prepared.bundle)):
        (problem,) = found
        assert (problem.severity, problem.path, problem.line) == ("warning", file, line)
        known = f"the model knows the agent as '{listed.strip(chr(39))}'"
        assert problem.message == f"The name 'bar' does not count: {known}"
        assert problem.remedy == (
            f"Write name: foo, or call the file bar.md and list it as {meant}."
        )


async def test_the_name_of_an_agent_that_a_bundle_defines_itself_is_its_key(tmp_path: Path) -> None:
    file = bundle_of(tmp_path, "\n  foo:\n    description: d\n    instruction: i\n    name: bar")
    (problem,) = preview_findings(await Workspace.open(tmp_path).preview("mine"))
    assert (problem.path, problem.line) == (file, 9)
    assert problem.remedy == "Write name: foo, or list it as bar."


@pytest.mark.parametrize(
    ("listed", "named"),
    [("foo", "foo"), ("mine:foo", "foo"), ("mine:foo", "mine:foo"), ("'5'", "5"), ("foo", "")],
)
async def test_a_name_that_is_the_listed_one_is_no_mistake(
    tmp_path: Path, listed: str, named: str
) -> None:
    bundle_of(tmp_path, f"{{include: [{listed}]}}")
    agent_of(
        tmp_path,
        "5" if "5" in listed else "foo",
        f"meta: {{name: {named}}}".replace("mine:foo", "'mine:foo'"),
    )
    assert not preview_findings(await Workspace.open(tmp_path).preview("mine"))
