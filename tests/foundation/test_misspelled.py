"""What an author wrote slightly wrong is told with file, line and the nearest name."""

from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.foundation.checks.bundle_file import Problem
from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.settings.settings import SettingsFiles, load_settings
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import write

COMPLETE = (
    "session: {orchestrator: {module: loop-streaming}, context: {module: context-simple}}\n"
    "providers: [{module: provider-mock}]\n"
)
TOP = f"bundle: {{name: mine}}\n{COMPLETE}"


def workspace(project: Path) -> Workspace:
    shipped = project / "shipped"
    write(shipped / "coding.yaml", f"bundle: {{name: coding, description: For code.}}\n{COMPLETE}")
    write(shipped / "behaviors" / "todo.yaml", "tools: [{module: tool-todo}]\n")
    return Workspace.open(project, shipped=(shipped,), environ={})


async def findings(project: Path, text: str, name: str = "mine.yaml") -> list[Problem]:
    write(project / ".amplifier" / "bundles" / name, text)
    return preview_findings(await workspace(project).preview("mine"))


def said(found: list[Problem]) -> list[tuple[int | None, str]]:
    return [(each.line, f"{each.message} {each.remedy}".strip()) for each in found]


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ("bundel: {a: 1}", 4, "'bundel' is not a section of a bundle and is ignored Did you mean"),
        ("provders: []", 4, "Did you mean 'providers'?"),
        ("spawn: {exclud_tools: [a]}", 4, "Did you mean 'exclude_tools'?"),
        ("tools: [{module: tool-bash}]\nspawn: {exclude_tools: [x, tool-bsh]}", 5, "'tool-bash'?"),
        ("agents:\n  inclde: [a]", 5, "'inclde' is no agent, but list, and is ignored Did you"),
        ("agents:\n  a: {descripton: x, instruction: y}", 5, "Did you mean 'description'?"),
        ("tools: [{module: tool-bsh}]", 4, "did you mean 'tool-bash'?"),
        ("tools: [{module: tool-bash, conifg: {}}]", 4, "did you mean 'config'?"),
        ("tools: [{module: tool-bash, config: {timeot: 1}}]", 4, "did you mean `timeout`?"),
        ("tools: [{module: a, source: 'gti+https://h.invalid/a'}]", 4, "did you mean 'git+https'?"),
        ("hooks: [{module: hooks-approval, config: {policy: standrd}}]", 4, "mean `standard`?"),
        (
            "hooks: [{module: hooks-approval, config: {deny: ['reed_file(x)']}}]",
            4,
            "write read_file(x)",
        ),
        ("hooks: [{module: hooks-approval, config: {ask: ['read(!x)']}}]", 4, "'read(!x)': a path"),
        ("hooks: [{module: hooks-approval, config: {ask: ['web(http://x/a)']}}]", 4, "`web(x)`"),
        ("hooks: [{module: hooks-approval, config: {ask: ['task(explore)']}}]", 4, "no call"),
        ("hooks: [{module: hooks-approval, config: {ask: ['own({a)']}}]", 4, "are no JSON"),
        ("includes: [codng]", 4, "did you mean 'coding'?"),
        ("includes: ['codng:behaviors/todo']", 4, "did you mean 'coding'?"),
        ("includes: ['gti+https://h.invalid/a']", 4, "did you mean 'git+https'?"),
        ("includes: ['coding:behaviors/todi']", 4, "did you mean 'behaviors/todo'?"),
    ],
)
async def test_a_misspelled_name_has_its_line_and_the_nearest_one(
    tmp_path: Path, lines: str, line: int, words: str
) -> None:
    found = said(await findings(tmp_path, f"{TOP}{lines}\n"))
    assert any(at == line and words in text for at, text in found), found


@pytest.mark.parametrize(
    ("above", "where"),
    [
        ("tools:", "tools[0]"),
        ("spawn:\n tools:", "tool-bash"),
        ("agents:\n a:\n  instruction: x\n  tools:", "tool-bash"),
    ],
)
async def test_a_setting_beside_the_module_is_told_to_belong_below_config(
    tmp_path: Path, above: str, where: str
) -> None:
    entry = "    - module: tool-bash\n      config:\n      timeout: 5\n"
    words = f"{where}: 'timeout' is no key of an entry; settings belong below `config`"
    found = said(await findings(tmp_path, f"{TOP}{above}\n{entry}"))
    assert found == [(6 + above.count("\n") + 1, words)]


async def test_a_setting_much_like_a_key_that_the_entry_has_is_not_taken_for_it(
    tmp_path: Path,
) -> None:
    text = TOP.replace("provider-mock", "provider-mock, model: swift, modules: x")
    found = said(await findings(tmp_path, text))
    assert [words.partition(" is ")[2] for _, words in found] == [
        "no key of an entry; settings belong below `config`"
    ] * 2


async def test_what_names_a_module_and_says_what_it_is_for_is_no_setting_of_it(
    tmp_path: Path,
) -> None:
    keys = "id: fast, config: {}, name: Quick, description: For small things"
    text = TOP.replace("provider-mock", f"provider-mock, {keys}")
    assert await findings(tmp_path, text) == []


async def test_a_module_of_the_search_path_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more" / "amplifier-module-tool-own").mkdir(parents=True)
    text = f"{TOP}tools: [{{module: tool-own}}]\n"
    assert "No module 'tool-own'" in str(said(await findings(tmp_path, text)))
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{tmp_path / 'nowhere'}:{tmp_path / 'more'}")
    assert not await findings(tmp_path, text)


@pytest.mark.parametrize(
    ("session", "words"),
    [
        ("mode: pln", "session.mode: 'pln' is none of plan, ask, edits; did you mean 'plan'?"),
        ("mode: auto", "session.mode can't be auto: choose it in the session, with /mode"),
        ("mod: plan", "'mod' is not a key of `session` and is ignored Did you mean 'mode'?"),
        ("workspace: {templat: x}", "Did you mean 'template'?"),
        ("examples: one", "'examples' is no list, but str, and is ignored Write each example on"),
    ],
)
async def test_the_session_section_is_checked_key_by_key(
    tmp_path: Path, session: str, words: str
) -> None:
    top = "bundle: {name: mine}\nincludes: [coding]\nsession:\n"
    found = said(await findings(tmp_path, f"{top}  {session}\n"))
    assert [line for line, text in found if words in text] == [4], found


async def test_what_spawn_keeps_from_agents_may_be_what_an_agent_brings(tmp_path: Path) -> None:
    agents = "agents: {a: {instruction: x, tools: [{module: tool-bash}]}}\n"
    text = f"{TOP}tools: [{{module: tool-task}}]\n{agents}spawn: {{exclude_tools: [tool-bash]}}\n"
    assert await findings(tmp_path, text) == []
    (found,) = said(await findings(tmp_path, text.replace("[tool-bash]", "[tool-tsk]")))
    assert found == (6, "spawn.exclude_tools: there is no 'tool-tsk' Did you mean 'tool-task'?")


async def test_a_role_and_raw_of_the_wrong_type_are_told(tmp_path: Path) -> None:
    write(tmp_path / ".amplifier/bundles/agents/a.md", "---\nmodel_role: 5\n---\nHi.\n")
    write(tmp_path / ".amplifier/bundles/agents/b.md", "---\nmodel_role: [fast]\n---\nHi.\n")
    text = (
        "bundle: {name: mine}\nincludes: [coding]\nagents: {include: [a, b]}\n"
        "session: {raw: yes please}\n"
    )
    assert said(await findings(tmp_path, text)) == [
        (4, "'raw' is neither true nor false, but 'yes please'"),
        (2, "'model_role' is neither a name nor a list of names"),
    ]


async def test_keys_that_are_like_none_are_left_to_others(tmp_path: Path) -> None:
    text = f"{TOP}notes: 1\nagents: {{a: {{instruction: x, tags: [b]}}}}\n"
    assert await findings(tmp_path, text.replace("{name: mine}", "{name: mine, author: me}")) == []


async def test_a_misspelled_key_of_an_agents_file_is_told(tmp_path: Path) -> None:
    agent = tmp_path / ".amplifier" / "bundles" / "agents" / "a.md"
    write(agent, "---\nmeta:\n  name: a\n  inherit_tool: [x]\n---\nYou are a.\n")
    (problem,) = await findings(tmp_path, f"{TOP}agents: {{include: [a]}}\n")
    assert (problem.path, problem.line) == (agent, 4)
    assert problem.remedy == "Did you mean 'inherit_tools'?"


async def test_one_mistake_hides_none_of_the_others(tmp_path: Path) -> None:
    found = await findings(
        tmp_path,
        "bundle: {name: mine, version: 1, descripton: x}\nincludes: 7\ntools:\n  - 5\n"
        "  - module: tool-bsh\n  - {module: tool-bash, config: {timeot: 1}}\nhooks: no\n"
        "context: {a: 7}\nagents: 7\n",
    )
    assert sorted((each.line or 0, each.severity) for each in found) == [
        (1, "warning"),
        (2, "error"),
        (4, "error"),
        (5, "warning"),
        (6, "warning"),
        (7, "error"),
        (8, "error"),
        (9, "error"),
    ]


async def test_a_wrong_type_hides_no_source_that_is_misspelled(tmp_path: Path) -> None:
    found = await findings(
        tmp_path,
        "bundle: {name: mine}\nincludes: ['gti+https://x/y']\nagents: 5\ntools:\n"
        "  - {module: tool-mine, source: 'gti+https://x/z'}\n",
    )
    near = {(each.line, "'git+https'" in each.message) for each in found}
    assert near == {(2, True), (3, False), (5, True)}


async def test_a_wrong_type_hides_no_include_that_is_misspelled(tmp_path: Path) -> None:
    includes = "includes: [{bundle: codng}, coding, {bundle: somebodys}]\n"
    found = await findings(tmp_path, f"bundle: {{name: mine}}\n{includes}agents: 5\n")
    warned = [each for each in found if each.severity == "warning" and each.line == 2]
    assert [each.message for each in warned] == [
        "No bundle named 'codng' is known; did you mean 'coding'?"
    ]


async def test_a_part_of_the_session_may_be_configured_where_an_include_names_its_module(
    tmp_path: Path,
) -> None:
    top = "bundle: {name: mine}\nsession: {context: {config: {max_tokens: 5000}}}\n"
    assert await findings(tmp_path, f"{top}includes: [coding]\n") == []
    (problem, *_) = await findings(tmp_path, top)
    assert problem.message.startswith("session.context: Missing required 'module'")


async def test_a_file_that_the_instruction_mentions_and_is_not_there_is_told(
    tmp_path: Path,
) -> None:
    write(tmp_path / ".amplifier" / "bundles" / "there.md", "Here.")
    write(tmp_path / "notes.md", "Here.")
    text = (
        "Read @there.md, @notes.md, @AGENTS.md and `@gone.md`, @mine:there.md\nand @gone.md\n"
        "and @mine:gone.md\nand @codng:x.md\nand @notes.md.\nMail me@example.com or `@no.md`.\n"
    )
    head = "---\nbundle: {name: mine}\nincludes: [coding]\n---\n"
    found = said(await findings(tmp_path, f"{head}{text}", "mine.md"))
    assert found == [
        (6, "The mentioned file @gone.md can't be found Write the file, or correct the mention."),
        (
            7,
            "The mentioned file @mine:gone.md can't be found "
            "Write the file, or correct the mention.",
        ),
        (
            8,
            "The mentioned file @codng:x.md can't be found: no bundle named 'codng' is part of "
            "this one; did you mean 'coding'? Correct the mention, or include that bundle.",
        ),
    ]


async def test_a_file_that_an_agent_mentions_and_is_not_there_is_told(tmp_path: Path) -> None:
    agents = tmp_path / ".amplifier" / "bundles" / "agents"
    write(agents / "helper.md", "---\nmeta: {name: helper}\n---\nHelp.\nSee @gone.md and @a@b.\n")
    text = "bundle: {name: mine}\nincludes: [coding]\nagents: {include: [helper]}\n"
    (found,) = await findings(tmp_path, text)
    assert (found.severity, found.path, found.line) == ("warning", agents / "helper.md", 5)
    assert found.message == "The mentioned file @gone.md can't be found"


async def test_two_bundles_of_one_name_in_a_folder_are_told(tmp_path: Path) -> None:
    bundles = tmp_path / ".amplifier" / "bundles"
    write(bundles / "mine.md", f"---\n{TOP}---\n")
    write(bundles / "other.yaml", f"bundle:\n  name: mine\n{COMPLETE}")
    found = await findings(tmp_path, TOP)
    assert {(each.path, each.line) for each in found} == {
        (bundles / "mine.yaml", None),
        (bundles / "other.yaml", 2),
    }
    assert any(f"{bundles / 'mine.md'} is not" in each.message for each in found)


async def test_a_bundle_without_a_description_has_not_that_of_its_include(tmp_path: Path) -> None:
    text = "bundle: {name: mine}\nincludes: [coding]\n"
    write(tmp_path / ".amplifier" / "bundles" / "mine.yaml", text)
    assert (await workspace(tmp_path).preview("mine")).description == ""
    assert (await workspace(tmp_path).preview("coding")).description == "For code."


def test_a_bundle_that_is_asked_for_by_a_misspelled_name_offers_the_nearest(
    tmp_path: Path,
) -> None:
    with pytest.raises(BundleNotFoundError, match="'codng'; did you mean 'coding'"):
        workspace(tmp_path).choose(requested="codng")


def test_a_misspelled_key_of_the_settings_is_told_with_its_line(tmp_path: Path) -> None:
    text = (
        "bundel: {}\nbundle:\n  actve: x\nmodules:\n  tools:\n    - module: tool-bash\n"
        "      conifg: {}\noverrides:\n  tool-bash: {confg: {}}\nrouting: {a: 1}\nothers: 1\n"
    )
    write(tmp_path / ".amplifier" / "settings.yaml", text)
    settings = load_settings(SettingsFiles(tmp_path / "home", tmp_path))
    assert [(each.line, each.message) for each in settings.problems] == [
        (1, "'bundel' is no setting; did you mean 'bundle'?"),
        (3, "'actve' is no setting; did you mean 'active'?"),
        (7, "'conifg' is no setting; did you mean 'config'?"),
        (9, "'confg' is no setting; did you mean 'config'?"),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("permissions: {allow: ['bash(make *)']}", "rules.yaml"),
        ("hooks: {PreToolUse: []}", "modules.hooks"),
        ("mcpServers: {docs: {command: docs}}", ".mcp.json"),
    ],
)
def test_a_setting_of_other_terminals_for_agents_is_told_with_where_it_belongs(
    tmp_path: Path, text: str, place: str
) -> None:
    write(tmp_path / ".amplifier" / "settings.yaml", f"modules: {{hooks: []}}\n{text}\n")
    (told,) = load_settings(SettingsFiles(tmp_path / "home", tmp_path)).problems
    assert (told.line, told.message.split(";")[0]) == (2, f"'{text.split(':')[0]}' is no setting")
    assert place in told.message


@pytest.mark.parametrize(
    ("module", "meant"),
    [
        ("tool-bsh", "tool-bash"),
        ("hooks-aproval", "hooks-approval"),
        ("tool-acme-jria", "tool-acme-jira"),
        ("tool-bash", ""),
        ("tool-acme-jira", ""),
        ("tool-web-search", ""),
        ("provider-openrouter", ""),
    ],
)
async def test_a_misspelled_module_of_an_override_is_told_and_that_of_another_bundle_is_not(
    own_home: Path, tmp_path: Path, module: str, meant: str
) -> None:
    settings = own_home / ".amplifier" / "settings.yaml"
    write(settings, f"overrides:\n  {module}: {{config: {{a: 1}}}}\n")
    tool = "tools: [{module: tool-acme-jira, source: ./jira}]\n"
    found = await findings(tmp_path, TOP + tool)
    found = [each for each in found if "override" in each.message]
    words = f"The override of '{module}' does not count: no such module is here; did you mean"
    assert said(found) == ([(2, f"{words} '{meant}'? Correct its id.")] if meant else [])


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ("hooks: [{module: own, config: {a: '${MY_KEYY}'}}]", 4, "own: MY_KEYY is not set, and"),
        ("tools:\n- module: own\n  config:\n    a: 1\n    b: ['x', 'at ${HERE}']", 8, "config.b.1"),
        ("tools: [{module: own, id: mine, config: {a: '${HERE}${HERE}'}}]", 4, "mine: HERE is"),
        ("agents:\n  a:\n    tools:\n    - module: own\n      config: {a: '${NO}'}", 5, "own: NO"),
        ("providers: [{module: provider-anthropic, config: {api_key: '${MY}'}}]", 3, "MY is not"),
    ],
)
async def test_a_variable_that_is_not_set_is_told_with_the_module_and_the_line_of_the_setting(
    tmp_path: Path, lines: str, line: int, words: str
) -> None:
    top = TOP.rpartition("providers")[0] if lines.startswith("providers") else TOP
    found = await findings(tmp_path, top + lines)
    (told,) = [each for each in found if "is not set" in each.message]
    assert (told.severity, told.line) == ("warning", line)
    assert words in told.message and "keys.env" in told.remedy


@pytest.mark.parametrize(
    "lines",
    [
        "tools: [{module: own, config: {a: '${HERE:}', b: '${HERE:there}', c: '${EMPTY}${SET}'}}]",
        "tools: [{module: tool-mcp, config: {servers: {one: {command: x, args: ['${HERE}']}}}}]",
        "providers: [{module: provider-openai, config: {api_key: '${OPENAI_API_KEY}'}}]",
        "providers:\n- {module: p, config: {api_key: '${A_KEY}', base_url: 'http://localhost/v1'}}",
    ],
)
async def test_a_variable_that_may_be_empty_or_is_told_elsewhere_is_no_mistake(
    tmp_path: Path, lines: str
) -> None:
    top = TOP.rpartition("providers")[0] if lines.startswith("providers") else TOP
    write(tmp_path / ".amplifier/bundles/mine.yaml", top + lines)
    here = replace(workspace(tmp_path), environ={"EMPTY": "", "SET": "x"})
    found = preview_findings(await here.preview("mine"))
    assert not [each for each in found if "is not set" in each.message]
