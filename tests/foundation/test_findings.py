from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.checks.bundle_file import Problem
from amplifier_tui.foundation.checks.findings import judged, preview_findings
from amplifier_tui.foundation.checks.module_settings import settings_of, settings_problems
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.paths import shipped_bundles_dir
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


@pytest.mark.parametrize(
    ("includes", "valid"), [("[other]", False), ("[./gone.yaml]", False), ("[]", True)]
)
async def test_what_lacks_a_session_is_a_part_unless_an_include_of_it_is_left_out(
    tmp_path: Path, bundles: Path, includes: str, valid: bool
) -> None:
    mine = write(bundles / "mine.yaml", f"bundle: {{name: mine}}\nincludes: {includes}\n")
    write(bundles / "other.yaml", "bundle: {name: other}\nincludes: [mine]\n")
    preview = await Workspace.open(tmp_path).preview("mine")
    assert (preview.state, preview.is_part) == ("invalid", valid)
    errors = [each for each in preview_findings(preview) if each.severity == "error"]
    assert [(each.path, each.message[:28]) for each in errors] == (
        [] if valid else [(mine, "mine has no session.orchestr")]
    )


async def test_a_part_with_a_mistake_in_it_is_not_valid(tmp_path: Path, bundles: Path) -> None:
    text = "tools:\n  - {module: tool-bash, config: {timeout: never}}\n  - module: [tool-bash]\n"
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{text}")
    preview = judged(await Workspace.open(tmp_path).preview("mine"))
    assert preview.state == "invalid" and not preview.is_part


async def test_a_mistake_in_an_included_file_has_the_place_in_that_file(
    tmp_path: Path, bundles: Path
) -> None:
    write(bundles / "part.yaml", "tool: []\ntools:\n  - module: tool-bash\n    config: 5\n")
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\nincludes: [./part.yaml]\n{COMPLETE}")
    found = await findings(tmp_path)
    assert places(found) == [("warning", "part.yaml", 1), ("error", "part.yaml", 4)]
    assert "config: {<setting>: <value>}" in found[1].remedy
    preview = await Workspace.open(tmp_path).preview("mine")
    assert (preview.error_path, preview.error_line) == (bundles / "part.yaml", 4)


async def test_a_file_of_context_that_is_not_there_has_the_line_it_is_named_on(
    tmp_path: Path, bundles: Path
) -> None:
    text = "context:\n  include:\n    - a.md\n    - b.md\n  more: c.md\n"
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{text}{COMPLETE}")
    found = await findings(tmp_path)
    assert [each.line for each in found] == [4, 5, 6]
    assert found[1].message.startswith("context.b.md: Path does not exist")


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
        "The agent 'ghost' has no file and is left out": (mine, 10),
        "The agent 'inline' has no instruction": (mine, 11),
        "The context file zz:a.md can't be found": (mine, 14),
        "The context file zz:b.md can't be found": (mine, 15),
    }


@pytest.mark.parametrize(
    ("right", "wrong", "severity"),
    [
        ("loop-streaming", "loop-streamng", "error"),
        ("context-simple", "context-simpel", "error"),
        ("module: provider-mock", "module: provider-mok", "error"),
        ("{module: provider-mock}", "{module: provider-mock}, {module: provider-zz}", "warning"),
    ],
)
async def test_a_module_that_no_session_runs_without_must_be_there(
    tmp_path: Path, bundles: Path, right: str, wrong: str, severity: str
) -> None:
    text = COMPLETE.replace(right, wrong)
    assert text != COMPLETE
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{text}")
    (problem,) = await findings(tmp_path)
    assert (problem.severity, "is installed" in problem.message) == (severity, True)


@pytest.mark.parametrize(("script", "there"), [("../../s.yaml", True), ("../s.yaml", False)])
async def test_a_script_that_is_not_there_is_told_with_its_line(
    tmp_path: Path, bundles: Path, script: str, there: bool
) -> None:
    write(tmp_path / "s.yaml", "scenarios: []\n")
    entry = f"{{module: provider-mock, config: {{script: {script}}}}}"
    text = COMPLETE.replace("{module: provider-mock}", entry)
    mine = write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{text}")
    found = await findings(tmp_path)
    assert [(each.path, each.line) for each in found] == ([] if there else [(mine, 3)])
    assert all(f"and {bundles.parent / 's.yaml'}" in each.message for each in found)


@pytest.mark.parametrize(
    ("name", "place", "words", "belongs"),
    [
        ("context-simple", "tool-bash", "tool-bash is a tool, and no context", "tools"),
        ("loop-streaming", "context-simple", "context-simple is a context, and no orch", "context"),
        (
            "provider-mock",
            "loop-basic",
            "loop-basic is an orchestrator, and no provider",
            "session",
        ),
    ],
)
async def test_a_module_of_another_kind_is_an_error_with_its_line(
    tmp_path: Path, bundles: Path, name: str, place: str, words: str, belongs: str
) -> None:
    top = "bundle: {name: mine}\n"
    write(bundles / "mine.yaml", f"{top}{COMPLETE.replace(name, place)}")
    (problem,) = await findings(tmp_path)
    assert problem.severity == "error" and problem.message.startswith(words)
    assert problem.line == 2 + (name == "provider-mock") and belongs in problem.remedy
    preview = await Workspace.open(tmp_path).preview("mine")
    assert preview.state == "incomplete"


async def test_a_module_of_another_kind_is_an_error_in_an_agent_as_well(
    tmp_path: Path, bundles: Path
) -> None:
    file = write(bundles / "agents" / "a.md", "---\ntools: [{module: hooks-logging}]\n---\nHi.\n")
    spawn = "spawn: {tools: [{module: context-simple}]}\n"
    top = f"bundle: {{name: mine}}\nagents: {{include: [a]}}\n{spawn}"
    mine = write(bundles / "mine.yaml", f"{top}{COMPLETE}")
    found = {each.message: (each.path, each.line) for each in await findings(tmp_path)}
    assert found == {
        "hooks-logging is a hook, and no tool": (file, 2),
        "context-simple is a context, and no tool": (mine, 3),
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\nmeta: [\n---\nHi.\n", 2, "Not valid YAML"),
        ("---\nname: ä\nx: '\x01'\n---\nHi.\n", 3, "Not valid YAML"),
        ("---\nagents: some\n---\nHi.\n", 2, "'agents' must be 'all', 'none' or a list"),
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


@pytest.mark.parametrize(
    ("text", "words", "near"),
    [
        ("inherit_tools: [tool-filesystm, tool-bash]", "'tool-filesystm'", "tool-filesystem"),
        ("meta:\n  exclude_tools: [tool-bsh]", "exclude_tools of the agent 'a'", "tool-bash"),
        ("agents: [a, b]", "", ""),
        ("agents: [helpr]", "there is no 'helpr'", "helper"),
        ("inherit_tools: [tool-task, tool-lsp, tool-own]\ntools: [{module: tool-own}]", "", ""),
    ],
)
async def test_what_an_agent_names_and_nobody_has_is_told_with_what_was_meant(
    tmp_path: Path, bundles: Path, text: str, words: str, near: str
) -> None:
    file = write(bundles / "agents" / "a.md", f"---\n{text}\n---\nHi.\n")
    write(bundles / "agents" / "helper.md", "---\nmeta: {name: helper}\n---\nHelp.\n")
    tools = "tools: [{module: tool-bash}, {module: tool-filesystem}]\n"
    top = f"bundle: {{name: mine}}\nagents: {{include: [a, helper]}}\n{tools}{COMPLETE}"
    write(bundles / "mine.yaml", top)
    found = [each for each in await findings(tmp_path) if "tool-own:" not in each.message]
    assert [(each.path, each.line) for each in found] == (
        [(file, text.count("\n") + 2)] * bool(near)
    )
    assert all(words in each.message for each in found)
    assert [each.remedy for each in found] == [f"Did you mean '{near}'?"] * bool(near)


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


@pytest.mark.parametrize("text", ["tools:\n\t- module: é\n", "a: b\n\tc: d\n"])
async def test_a_tab_that_indents_is_named(tmp_path: Path, bundles: Path, text: str) -> None:
    write(bundles / "mine.yaml", text)
    (problem,) = await findings(tmp_path)
    assert problem.line == 2 and problem.message.count(" tab") == 1


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
    assert (problem.path, problem.line) == (tmp_path / ".amplifier" / "settings.yaml", 3)


async def test_a_misspelt_module_is_told_of_one_that_the_bundle_has_and_not_of_one_of_its_kind(
    tmp_path: Path, bundles: Path
) -> None:
    tools = (
        "tools: [{module: tool-dise}, {module: tool-dice, source: ./dice}, {module: tool-wob}]\n"
    )
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{tools}{COMPLETE}")
    said = [each.message for each in await findings(tmp_path) if "is installed" in each.message]
    assert [each.partition("did you mean ")[2] for each in said] == ["'tool-dice'?", "'tool-web'?"]


async def test_a_part_says_that_it_is_one_only_once(tmp_path: Path, bundles: Path) -> None:
    write(bundles / "mine.yaml", "bundle: {name: mine}\ntools: [{module: tool-bash, config: 5}]\n")
    found = await findings(tmp_path)
    assert [each.message for each in found if each.severity == "error"] == [
        "tools[0]: 'config' must be a dict, got int"
    ]
    assert all("config" not in each.message for each in found if each.severity == "warning")


# --- settings of built-in modules ------------------------------------------------------------


async def test_a_setting_nobody_knows_is_told_with_its_place_and_the_nearest_name(
    tmp_path: Path, bundles: Path
) -> None:
    write(
        bundles / "part.yaml",
        "tools:\n  - module: tool-bash\n    config:\n      timeot: 3\n      timeout: soon\n"
        "hooks:\n  - module: hooks-approval\n    config: {polcy: careful}\n",
    )
    write(
        bundles / "mine.yaml",
        "bundle: {name: mine}\nincludes: [./part.yaml]\n"
        "session:\n  orchestrator:\n    module: loop-streaming\n    config: {zzz: 1}\n"
        "  context: {module: context-simple}\nproviders: [{module: provider-mock}]\n",
    )
    found = {each.message: each for each in await findings(tmp_path)}
    mine, part = bundles / "mine.yaml", bundles / "part.yaml"
    assert {words: (each.severity, each.path, each.line) for words, each in found.items()} == {
        "`timeout` of tool-bash must be a number of seconds from 0.1 up, not 'soon'": (
            *("error", part, 5),
        ),
        "`timeot` is no setting of tool-bash; did you mean `timeout`?": ("warning", part, 4),
        "`polcy` is no setting of hooks-approval; did you mean `policy`?": ("warning", part, 8),
        "`zzz` is no setting of loop-streaming": ("warning", mine, 6),
    }
    assert {each.severity for each in await findings(tmp_path, strict=True)} == {"error"}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("providers: [memry]", "knows no provider 'memry'; did you mean 'memory'? It knows: mem"),
        ("providers: [glossary]", "knows no provider 'glossary'. It knows: memory, redis, file, "),
        ("providers: [memory, {id: file}]", "has a wrong 'file': "),
        ("strategy: truncatoin", "knows no strategy 'truncatoin'; did you mean 'truncation'? It "),
    ],
)
async def test_a_part_of_the_context_that_is_none_is_told_with_its_line_before_a_session_needs_it(
    tmp_path: Path, bundles: Path, setting: str, words: str
) -> None:
    mine = write(
        bundles / "mine.yaml",
        "bundle: {name: mine}\nproviders: [{module: provider-mock}]\nsession:\n"
        "  orchestrator: {module: loop-basic}\n  context:\n    module: context-pipeline\n"
        f"    config:\n      {setting}\n",
    )
    (problem,) = await findings(tmp_path)
    assert (problem.severity, problem.path, problem.line) == ("error", mine, 8)
    said = f"`{setting.partition(':')[0]}` of context-pipeline {words}"
    assert problem.message.startswith(said)


async def test_a_misspelled_key_of_an_entry_is_told(tmp_path: Path, bundles: Path) -> None:
    text = f"bundle: {{name: mine}}\n{COMPLETE}tools:\n  - module: tool-bash\n    conifg: {{}}\n"
    write(bundles / "mine.yaml", text)
    (problem,) = await findings(tmp_path)
    assert (problem.severity, problem.line) == ("warning", 6)
    assert problem.message == "tools[0]: 'conifg' is no key of an entry; did you mean 'config'?"


async def test_a_setting_of_the_users_own_is_told_with_the_place_in_the_settings(
    tmp_path: Path, bundles: Path
) -> None:
    write(
        bundles / "mine.yaml", f"bundle: {{name: mine}}\ntools: [{{module: tool-bash}}]\n{COMPLETE}"
    )
    own = write(
        tmp_path / ".amplifier" / "settings.yaml",
        "overrides:\n  tool-bash:\n    config:\n      timeot: 3\n"
        "modules:\n  tools:\n    - module: tool-todo\n      config: {zzz: 1}\n",
    )
    found = await findings(tmp_path)
    assert [(each.path, each.line) for each in found] == [(own, 4), (own, 8)]


async def test_a_setting_of_an_agents_tool_is_told(tmp_path: Path, bundles: Path) -> None:
    file = write(
        bundles / "agents" / "a.md",
        "---\ntools:\n  - module: tool-bash\n    config:\n      timeot: 3\n---\nYou are a.\n",
    )
    top = f"bundle: {{name: mine}}\nagents: {{include: [a]}}\n{COMPLETE}"
    write(bundles / "mine.yaml", top)
    (problem,) = await findings(tmp_path)
    assert (problem.path, problem.line) == (file, 5)


async def test_what_a_variable_stands_for_and_a_strangers_module_are_not_judged(
    tmp_path: Path, bundles: Path
) -> None:
    write(tmp_path / "m" / "pyproject.toml", "[project]\nname = 'm'\nversion = '1'\n")
    write(tmp_path / "m" / "amplifier_module_tool_todo" / "__init__.py", "")
    write(
        bundles / "mine.yaml",
        f"bundle: {{name: mine}}\n{COMPLETE}tools:\n"
        "  - {module: tool-bash, config: {timeout: '${SECONDS_OF_MINE:3}'}}\n"
        f"  - {{module: tool-todo, source: '{tmp_path}/m', config: {{zzz: 1}}}}\n",
    )
    assert await findings(tmp_path) == []


@pytest.mark.parametrize("name", ["coding", "demo", "minimal", "local", "research"])
async def test_the_shipped_bundles_give_only_settings_there_are(tmp_path: Path, name: str) -> None:
    workspace = Workspace.open(tmp_path, shipped=(shipped_bundles_dir(),))
    bundle = (await workspace.preview(name)).bundle
    assert bundle is not None
    assert list(settings_problems(bundle)) == []
    entries = [entry for entry in entries_of(bundle) if not entry.data.get("source")]
    assert all(settings_of(entry.module) is not None for entry in entries)


def same_name(folder: Path, *, agent: str = "helper", rules: str = "rules.md") -> Path:
    """Write a bundle named `extras` with a context file and an agent, both told by the folder."""
    write(folder / rules, f"Rules of {folder.name}.\n")
    write(folder / "agents" / f"{agent}.md", f"---\nmeta: {{description: d}}\n---\n{folder.name}\n")
    needs = f"context: {{include: [{rules}]}}\nagents: {{include: [{agent}]}}\n"
    return write(folder / "extras.md", f"---\nbundle:\n  name: extras\n{needs}---\n")


async def test_what_an_included_bundle_loses_to_another_one_of_its_name_is_told(
    tmp_path: Path, bundles: Path
) -> None:
    house, team = same_name(bundles / "house"), same_name(bundles / "team")
    both = "includes: [./house/extras.md, ./team/extras.md]\n"
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{both}{COMPLETE}")
    (found,) = await findings(tmp_path)
    assert (found.severity, found.path, found.line) == ("warning", house, 3)
    assert f"{team} calls itself 'extras', too: " in found.message
    assert "what this one has as the agent helper is not used" in found.message
    assert "another name" in found.remedy
    bundle = (await Workspace.open(tmp_path).preview("mine")).bundle
    assert bundle is not None
    assert bundle.agents["helper"]["instruction"] == "team"


@pytest.mark.parametrize("form", ["rules.md", "extras:rules.md", "'@extras:rules.md'"])
async def test_context_files_of_bundles_of_one_name_are_all_read_in_their_order(
    tmp_path: Path, bundles: Path, form: str
) -> None:
    parts = [same_name(bundles / each, agent=each) for each in ("house", "team", "third")]
    for part in parts:
        write(part, part.read_text().replace("[rules.md]", f"[{form}]"))
    every = "includes: [./house/extras.md, ./team/extras.md, ./third/extras.md]\n"
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{every}{COMPLETE}")
    assert await findings(tmp_path, strict=True) == []
    bundle = (await Workspace.open(tmp_path).preview("mine")).bundle
    assert bundle is not None
    house, team, third = (part.parent / "rules.md" for part in parts)
    bundle.resolve_pending_context()
    # The plain name is the last one's, as everywhere else.
    assert list(bundle.context.items()) == [
        (f"extras:{house}", house),
        (f"extras:{team}", team),
        ("extras:rules.md", third),
    ]
    assert [each.path for each in bundle.origins[f"context:extras:{house}"]] == [parts[0]]
    assert [each.path for each in bundle.origins["context:extras:rules.md"]] == [parts[2]]
    prompt = await SystemPromptFactory(bundle, mention_resolver(bundle, tmp_path))()
    assert [prompt.count(f"Rules of {part.parent.name}.") for part in parts] == [1, 1, 1]


async def test_of_two_versions_of_one_bundle_the_later_ones_context_is_read(
    tmp_path: Path, bundles: Path
) -> None:
    own = same_name(tmp_path / "repo").read_text()
    repo = GitRepo(tmp_path / "repo")
    repo.git("init", "--quiet", "--initial-branch=main")
    first = repo.commit({"extras.md": own})
    repo.commit({"rules.md": "Rules of later.\n"})
    uris = [repo.uri(ref, "extras.md") for ref in (first, "main")]
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\nincludes: {uris}\n{COMPLETE}")
    bundle = await Workspace.open(tmp_path).load("mine", trust=allow)
    assert [path.read_text() for path in bundle.context.values()] == ["Rules of later.\n"]


async def test_bundles_of_a_name_that_lose_nothing_to_each_other_are_no_finding(
    tmp_path: Path, bundles: Path
) -> None:
    same_name(bundles / "house")
    same_name(bundles / "team", agent="other", rules="more.md")
    write(bundles / "nested.yaml", "includes: [./house/extras.md]\n")
    both = "includes: [./house/extras.md, ./nested.yaml, ./team/extras.md]\n"
    write(bundles / "mine.yaml", f"bundle: {{name: mine}}\n{both}{COMPLETE}")
    assert await findings(tmp_path, strict=True) == []


@pytest.mark.parametrize("name", ["mine", "extras"])
async def test_what_a_bundle_replaces_of_what_it_includes_is_no_finding(
    tmp_path: Path, bundles: Path, name: str
) -> None:
    same_name(bundles / "house")
    same_name(bundles).unlink()
    needs = "context: {include: [rules.md]}\nagents: {include: [helper]}\n"
    top = f"bundle: {{name: {name}}}\nincludes: [./house/extras.md]\n{needs}{COMPLETE}"
    write(bundles / f"{name}.yaml", top)
    assert await findings(tmp_path, name, strict=True) == []
    write(bundles / "around.yaml", f"bundle: {{name: around}}\nincludes: [./{name}.yaml]\n")
    assert await findings(tmp_path, "around", strict=True) == []
