from pathlib import Path

import pytest

from amplifier_tui.foundation.checks.bundle_file import Problem
from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import GitRepo, allow, write

COMPLETE = (
    "session: {orchestrator: {module: loop-streaming}, context: {module: context-simple}}\n"
    "providers: [{module: provider-mock}]\n"
)


async def findings(project: Path, name: str = "mine", **options: bool) -> list[Problem]:
    return preview_findings(await Workspace.open(project).preview(name), **options)


def places(found: list[Problem]) -> list[tuple[str, str, int | None]]:
    return [(each.severity, each.path.name if each.path else "", each.line) for each in found]


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    return tmp_path / ".amplifier" / "bundles"


async def test_a_sound_bundle_has_none(tmp_path: Path, bundles: Path) -> None:
    write(bundles / "part.yaml", "tools: [{module: tool-bash}]\n")
    write(bundles / "agents" / "a.md", "---\nmeta: {description: d}\n---\nYou are a.\n")
    top = "includes: [./part.yaml]\nagents: {include: [a]}\n"
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{top}{COMPLETE}")
    assert await findings(tmp_path, strict=True) == []


async def test_a_mistake_in_an_included_file_has_the_place_in_that_file(
    tmp_path: Path, bundles: Path
) -> None:
    write(bundles / "part.yaml", "tool: []\ntools:\n  - module: tool-bash\n    config: 5\n")
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\nincludes: [./part.yaml]\n{COMPLETE}")
    found = await findings(tmp_path)
    assert places(found) == [("warning", "part.yaml", 1), ("error", "part.yaml", 4)]
    preview = await Workspace.open(tmp_path).preview("mine")
    assert (preview.state, preview.error_line) == ("invalid", 4)
    assert preview.error_path == bundles / "part.yaml"


async def test_each_entry_that_leads_nowhere_has_its_line(tmp_path: Path, bundles: Path) -> None:
    write(bundles / "part.yaml", "bundle: {name: part}\nhooks:\n  - module: hooks-zz\n    id: h\n")
    write(
        bundles / "mine.md",
        "---\nbundle: {name: mine}\nincludes:\n  - ./part.yaml\n  - ./gone.yaml\n"
        "tools:\n  - module: tool-bash\n  - module: tool-zz\n"
        "agents:\n  include: [ghost]\n  inline: {description: d}\n"
        "context:\n  include:\n    - '@zz:a.md'\n  more: zz:b.md\n"
        "session:\n  orchestrator: loop-zz\n  context: {module: context-simple}\n"
        "providers: [{module: provider-mock}]\n---\nHi.\n",
    )
    found = {each.message: (each.path, each.line) for each in await findings(tmp_path)}
    mine, part = bundles / "mine.md", bundles / "part.yaml"
    assert found == {
        "./gone.yaml is left out: File not found: ./gone.yaml": (mine, 5),
        "loop-zz: No module 'loop-zz' is installed": (mine, 17),
        "tool-zz: No module 'tool-zz' is installed": (mine, 8),
        "hooks-zz: No module 'hooks-zz' is installed": (part, 3),
        "The agent 'ghost' has no instruction": (mine, 10),
        "The agent 'inline' has no instruction": (mine, 11),
        "The context file zz:a.md can't be found": (mine, 14),
        "The context file zz:b.md can't be found": (mine, 15),
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\nmeta: [\n---\nHi.\n", 2, "Not valid YAML"),
        ("---\nagents: some\n---\nHi.\n", None, "'agents' must be 'all', 'none' or a list"),
        ("---\n- a\n---\nHi.\n", 2, "Expected a mapping"),
    ],
)
async def test_a_broken_agent_file_is_an_error_of_that_file(
    tmp_path: Path, bundles: Path, text: str, line: int | None, words: str
) -> None:
    file = write(bundles / "agents" / "a.md", text)
    top = f"bundle: {{name: mine}}\nagents: {{include: [a]}}\n{COMPLETE}"
    write(bundles / "mine.yaml", top)
    (problem,) = await findings(tmp_path)
    assert (problem.severity, problem.path, problem.line) == ("error", file, line)
    assert problem.message.startswith(words)


async def test_an_agent_file_without_text_says_where_to_write_it(
    tmp_path: Path, bundles: Path
) -> None:
    file = write(bundles / "agents" / "a.md", "---\nmeta: {name: a}\n---\n")
    top = f"bundle: {{name: mine}}\nagents: {{include: [a]}}\n{COMPLETE}"
    write(bundles / "mine.yaml", top)
    (problem,) = await findings(tmp_path)
    assert (problem.severity, problem.path) == ("warning", file)
    assert problem.remedy == "Write it below the frontmatter."


async def test_a_bundle_that_does_not_load_has_one_finding_with_its_remedy_apart(
    tmp_path: Path, bundles: Path
) -> None:
    file = write(bundles / "mine.yaml", "bundle:\n  name: [\n")
    (problem,) = await findings(tmp_path)
    assert (problem.severity, problem.path, problem.line) == ("error", file, 2)
    assert problem.message.startswith("Not valid YAML") and "\n" not in problem.message
    assert problem.remedy.startswith("Check indentation") and str(file) not in problem.message


async def test_what_is_not_here_is_not_called_valid(tmp_path: Path) -> None:
    (problem,) = await findings(tmp_path, "git+https://h.invalid/o/r@main")
    assert problem.severity == "error"
    assert problem.message == "Not fetched yet: git+https://h.invalid/o/r@main"
    assert "fetches it" in problem.remedy


async def test_a_fetched_bundle_is_checked_in_its_files_too(tmp_path: Path) -> None:
    files = {"bundle.yaml": f"bundle: {{name: far}}\ntool: []\n{COMPLETE}"}
    repo = GitRepo.create(tmp_path / "repo", files)
    await Workspace.open(tmp_path).load(repo.uri(), trust=allow)
    (problem,) = await findings(tmp_path, repo.uri())
    assert (problem.line, problem.remedy) == (2, "Did you mean 'tools'?")


async def test_what_the_settings_add_is_no_mistake_of_a_bundle_file(
    tmp_path: Path, bundles: Path
) -> None:
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{COMPLETE}")
    settings = "modules:\n  tools:\n    - module: tool-zz\ntool: []\n"
    write(tmp_path / ".amplifier" / "settings.yaml", settings)
    (problem,) = await findings(tmp_path)
    assert problem.message == "tool-zz: No module 'tool-zz' is installed"
    assert (problem.path, problem.line) == (bundles / "mine.yaml", None)


async def test_a_part_says_that_it_is_one_only_once(tmp_path: Path, bundles: Path) -> None:
    write(bundles / "mine.yaml", "bundle: {name: mine}\ntools: [{module: tool-bash, config: 5}]\n")
    found = await findings(tmp_path)
    assert [each.message for each in found if each.severity == "error"] == [
        "tools[0]: 'config' must be a dict, got int"
    ]
    assert all("config" not in each.message for each in found if each.severity == "warning")
