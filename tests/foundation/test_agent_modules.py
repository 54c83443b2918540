"""An agent of which nobody knows what it may is left out and told: it never gets every tool."""

from pathlib import Path

import pytest

from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import allow, write

MINE = (
    "bundle: {name: mine}\n"
    "session: {orchestrator: {module: loop-basic}, context: {module: context-simple}}\n"
    "providers: [{module: provider-mock}]\n"
    "tools: [{module: tool-filesystem}, {module: tool-bash}, {module: tool-x, id: shell}]\n"
    "agents: {include: [tr]}\n"
)


def with_agent(project: Path, text: str) -> Path:
    write(project / ".amplifier" / "bundles" / "mine.yaml", MINE)
    agent = project / ".amplifier" / "bundles" / "agents" / "tr.md"
    return write(agent, f"---\n{text}\n---\nYou are one.\n")


@pytest.mark.parametrize("shape", ["{}", "meta:\n  {}"])
@pytest.mark.parametrize(
    ("tools", "words", "meant"),
    [
        ("[read_file, grep]", "'tools': 'read_file', 'grep' are no modules", "tool-bash, tool-f"),
        ("[bash]", "'tools': 'bash' is no module", "[tool-bash]"),
        ("Read, Grep", "'tools' is no list, but str", "tool-bash, tool-filesystem"),
        ("{read: true}", "'tools' is no list, but dict", "tool-bash"),
        ("[5]", "'tools' has int in it", "tool-bash"),
    ],
)
async def test_an_agent_whose_tools_cannot_be_read_is_left_out_and_told(
    tmp_path: Path, shape: str, tools: str, words: str, meant: str
) -> None:
    file = with_agent(tmp_path, shape.format(f"tools: {tools}"))
    here = Workspace.open(tmp_path)
    preview = await here.preview("mine")
    assert not preview.agents and not preview.plan["agents"]
    assert ("tr", "agent") in [(each.what, each.part) for each in preview.report]
    (problem,) = [each for each in preview_findings(preview) if each.path == file]
    assert (problem.severity, problem.line) == ("error", 2 + ("meta" in shape))
    assert problem.message == f"{words}; the agent is left out" and meant in problem.remedy

    prepared = await here.prepare("mine", trust=allow, install_deps=False)
    assert not prepared.mount_plan.get("agents")
    (note,) = prepared.notes
    assert (note.what, note.part, note.where) == ("tr", "agent", f"{file}:{problem.line}")


ONLY = "description: Reads\ninherit_tools: [tool-search]\n"
SLIP = "---\nmeta:\n  description: Reads only: no\n  inherit_tools: [tool-bash]\n---\nRead.\n"


@pytest.mark.parametrize(
    ("text", "line", "words", "remedy"),
    [
        (SLIP, 3, "Not valid YAML", "Check indentation, colons"),
        ("---\nmeta: {}\nagents: some\n---\nRead.\n", 3, "'agents' must be 'all'", ""),
        ("---\n- a\n---\nRead.\n", 2, "Expected a mapping", ""),
        (f"---\n{ONLY}--\nRead.\n", 1, "The frontmatter that begins here does not end", "Close it"),
        (f"---\n{ONLY}Read.\n", 1, "The frontmatter that begins here does not end", "Close it"),
        (f"\n---\n{ONLY}---\nRead.\n", 2, "The frontmatter that begins here is not read", "first"),
        (None, 5, "The agent 'tr' has no file and is left out", "Write agents/tr.md next to"),
    ],
    ids=["slip", "value", "list", "open", "endless", "blank", "missing"],
)
async def test_an_agent_whose_file_is_not_there_or_cannot_be_read_is_left_out_and_told(
    tmp_path: Path, text: str | None, line: int, words: str, remedy: str
) -> None:
    file = with_agent(tmp_path, "{}")
    if text is None:
        file.unlink()
        file = file.parents[1] / "mine.yaml"
    else:
        write(file, text)
    here = Workspace.open(tmp_path)
    preview = await here.preview("mine")
    assert not preview.agents and not preview.plan["agents"]
    (problem,) = [each for each in preview_findings(preview) if "left out" in each.message]
    assert (problem.path, problem.line) == (file, line)
    assert problem.message.startswith(words) and remedy in problem.remedy

    prepared = await here.prepare("mine", trust=allow, install_deps=False)
    assert not prepared.mount_plan.get("agents")
    (note,) = prepared.notes
    assert (note.what, note.part, note.where) == ("tr", "agent", f"{file}:{line}")
    assert prepared.agents_left_out == {"tr": f"{problem.message} ({file}:{line})"}


async def test_an_agent_of_a_bundle_that_is_not_included_is_left_out_with_its_name(
    tmp_path: Path,
) -> None:
    write(tmp_path / ".amplifier/bundles/mine.yaml", MINE.replace("[tr]", '["far:tr"]'))
    (note,) = (await Workspace.open(tmp_path).prepare("mine", trust=allow)).notes
    assert note.what == "far:tr" and note.remedy.startswith("Include the bundle 'far'")


@pytest.mark.parametrize(
    ("agents", "name"),
    [
        ("{tr: {description: Translates}}", "tr"),
        ("{include: [tr], tr: {instruction: Translate.}}", "tr"),
        ("{include: ['part:tr']}", "part:tr"),
        ("{include: ['part:agents/tr']}", "part:agents/tr"),
        ("{include: ['@part:agents/tr.md']}", "@part:agents/tr.md"),
    ],
)
async def test_an_agent_that_is_defined_in_the_bundle_or_has_its_file_elsewhere_is_there(
    tmp_path: Path, agents: str, name: str
) -> None:
    bundles = tmp_path / ".amplifier" / "bundles"
    text = MINE.replace("{include: [tr]}", agents)
    write(bundles / "mine.yaml", f"{text}includes: [./part/bundle.yaml]\n")
    write(bundles / "part" / "bundle.yaml", "bundle: {name: part}\n")
    write(bundles / "part" / "agents" / "tr.md", "---\nmeta: {name: tr}\n---\nYou are one.\n")
    prepared = await Workspace.open(tmp_path).prepare("mine", trust=allow, install_deps=False)
    assert list(prepared.mount_plan["agents"]) == [name] and not prepared.notes
    assert bool(prepared.mount_plan["agents"][name].get("instruction")) is (
        "description" not in agents
    )


@pytest.mark.parametrize(
    "tools", ["[tool-task]", "[shell]", "[{module: tool-bash}]", "[tool-elsewhere]", "[]", ""]
)
async def test_an_agent_that_names_modules_is_there(tmp_path: Path, tools: str) -> None:
    with_agent(tmp_path, f"tools: {tools}")
    prepared = await Workspace.open(tmp_path).prepare("mine", trust=allow, install_deps=False)
    assert "tr" in prepared.mount_plan["agents"] and not prepared.notes


@pytest.mark.parametrize(
    ("text", "words", "remedy"),
    [
        ("tools: [{module: tool-bsh}]", "tool-bsh: No module 'tool-bsh'", "goes without it"),
        ("tools: [tool-bsh]", "did you mean 'tool-bash'", "goes without it"),
        ("inherit_tools: [read_file]", "there is no 'read_file'", "Name modules, as shell"),
        ("inherit_tools: bash", "there is no 'bash'", "Did you mean 'tool-bash'?"),
        ("inherit_tools: tool-x, tool-bash", "'inherit_tools' is no list", "[tool-x, tool-bash]."),
        ("exclude_hooks: hooks-a hooks-b", "'exclude_hooks' is no list", "[hooks-a, hooks-b]."),
        ("model: haiku", "'model' is not a key of an agent", "provider_preferences: [{provider: <"),
        ("exclude_hooks: [logging]", "there is no 'logging'", "Name modules, as hooks-..."),
    ],
)
async def test_what_is_no_module_in_an_agents_lists_is_told_and_costs_only_that(
    tmp_path: Path, text: str, words: str, remedy: str
) -> None:
    file = with_agent(tmp_path, text)
    here = Workspace.open(tmp_path)
    found = preview_findings(await here.preview("mine"))
    (problem,) = [each for each in found if each.path == file]
    assert (problem.severity, problem.line) == ("warning", 2)
    assert words in problem.message and remedy in problem.remedy
    prepared = await here.prepare("mine", trust=allow, install_deps=False)
    assert "tr" in prepared.mount_plan["agents"]
