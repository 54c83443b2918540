"""What a project or stranger brings is asked about once, and later only the difference."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.exceptions import TrustCancelledError
from amplifier_tui.foundation.sources.context import FetchLimits
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.trust.answers import TrustFile, TrustMemory
from amplifier_tui.paths import shipped_bundles_dir
from tests.foundation.helpers import GitRepo, write

pytestmark = pytest.mark.timeout(120)

Answer = Callable[[Sequence[TrustItem]], TrustDecision]


def use_all(items: Sequence[TrustItem]) -> TrustDecision:
    return TrustDecision(accepted=frozenset(item.key for item in items), remember="always")


def use_none(items: Sequence[TrustItem]) -> TrustDecision:
    return TrustDecision(remember="always")


class Person:
    """Answers from the file of answers, else as told; notes every question."""

    def __init__(self, answer: Answer = use_all, file: Path | None = None) -> None:
        self.memory = TrustMemory(TrustFile(file))
        self.answer = answer
        self.questions: list[Sequence[TrustItem]] = []

    @property
    def folders(self) -> tuple[Path, ...]:
        return self.memory.file.folders

    @property
    def nobody(self) -> set[str]:
        return self.memory.nobody

    def known(self, item: TrustItem) -> bool | None:
        return self.memory.known(item, "s")

    def bind(self, item: TrustItem, like: TrustItem) -> None:
        self.memory.bind(item, like, "s")

    async def ask(self, items: Sequence[TrustItem]) -> frozenset[str]:
        self.questions.append(items)
        decision = self.answer(items)
        if decision.cancelled:
            raise TrustCancelledError("no")
        self.memory.keep(items, decision, "s", Path("nowhere"))
        return decision.accepted

    @property
    def titles(self) -> list[list[str]]:
        return [[item.title for item in items] for items in self.questions]


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    (tmp_path / "clone").mkdir()
    return tmp_path / "clone"


async def opened(project: Path, person: Person, name: str = "team") -> PreparedBundle:
    workspace = Workspace.open(project, shipped=(shipped_bundles_dir(),), environ=dict(os.environ))
    return await workspace.prepare(name, trust=person, install_deps=False)


def provider_configs(prepared: PreparedBundle, module: str) -> list[dict[str, Any]]:
    found = [each for each in prepared.mount_plan["providers"] if each["module"] == module]
    return [each.get("config") or {} for each in found]


def team(project: Path, head: str, body: str = "Hello.") -> Path:
    path = project / ".amplifier" / "bundles" / "team.md"
    return write(path, f"---\nbundle: {{name: team}}\nincludes: [coding]\n{head}---\n{body}\n")


def module(folder: Path, name: str, text: str = "") -> Path:
    package = folder / f"amplifier_module_{name.replace('-', '_')}" / "__init__.py"
    write(package, f"{text}\nasync def mount(coordinator, config=None):\n    return None\n")
    return folder


async def test_a_bundle_of_many_sources_asks_one_question_and_opened_again_none(
    project: Path, tmp_path: Path
) -> None:
    entries, count = [], 3 * FetchLimits().processes
    for number in range(count):
        name = f"tool-x{number}"
        repo = GitRepo(module(tmp_path / "repos" / name, name))
        repo.git("init", "--quiet", "--initial-branch=main")
        repo.commit({"bundle.md": "x"})
        entries.append(f"  - {{module: {name}, source: '{repo.uri()}'}}\n")
    team(project, "tools:\n" + "".join(entries))
    person = Person()
    prepared = await opened(project, person)
    assert len(person.questions) == 1 and len(person.questions[0]) == count
    assert len(prepared.module_exports) == count
    again = Person(use_none)
    assert len((await opened(project, again)).module_exports) == count
    assert again.questions == []


async def test_one_changed_source_asks_about_that_one(
    project: Path, tmp_path: Path, own_home: Path
) -> None:
    repos = []
    for name in ("tool-one", "tool-two"):
        repo = GitRepo(module(tmp_path / name, name))
        repo.git("init", "--quiet", "--initial-branch=main")
        repo.commit({"bundle.md": "x"})
        repos.append(repo)
    one, two = (repo.uri() for repo in repos)
    team(
        project,
        f"tools: [{{module: tool-one, source: '{one}'}}, {{module: tool-two, source: '{two}'}}]\n",
    )
    await opened(project, Person())
    commit = repos[0].commit({"more.txt": "changed"})
    shutil.rmtree(own_home / ".amplifier" / "cache")
    person = Person(use_none)
    prepared = await opened(project, person)
    ((item,),) = person.questions
    assert item.title == "tool-one" and commit[:12] in item.detail
    assert set(prepared.module_exports) == {"tool-two"}
    (refused,) = prepared.refused
    assert refused.module_id == "tool-one" and "you refused its code" in refused.reason
    former = TrustFile().former(item)
    assert former is not None and former.accepted, "it can be said what was answered before"


async def test_what_nobody_was_asked_about_is_not_called_refused(project: Path) -> None:
    module(project / "m", "tool-m")
    team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    person = Person(lambda items: TrustDecision(unasked=True))
    for _ in range(2):
        (left_out,) = (await opened(project, person)).refused
        assert left_out.reason.startswith("it is not trusted yet, and nobody was there to be asked")
        assert "trust add" in left_out.remedy and "--trust" in left_out.remedy
    assert len(person.questions) == 1


async def test_code_in_a_folder_is_asked_about_again_when_it_changes(project: Path) -> None:
    code = module(project / "m", "tool-m")
    team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    await opened(project, Person())
    quiet = Person(use_none)
    await opened(project, quiet)
    assert quiet.questions == []
    write(code / "amplifier_module_tool_m" / "more.py", "x = 1\n")
    later = Person(use_none)
    assert (await opened(project, later)).module_exports == {}
    assert later.titles == [["tool-m"]]


async def test_code_that_a_link_leads_to_is_asked_about_again_when_it_changes(
    project: Path,
) -> None:
    real = module(project / "real", "tool-m") / "amplifier_module_tool_m"
    words = write(project / "words.py", "x = 1\n")
    write(project / "m" / "README", "m")
    (project / "m" / real.name).symlink_to(real)
    (real / "words.py").symlink_to(words)
    hidden = write(project / "m" / ".git" / "hidden.py", "h = 1\n")
    (project / "m" / "inner").symlink_to(hidden.parent)
    (real / "round").symlink_to(project / "m")
    (real / "loop").symlink_to(real / "loop")
    team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    await opened(project, Person())
    quiet = Person(use_none)
    await opened(project, quiet)
    assert quiet.questions == []
    for file in (words, real / "more.py", hidden):
        write(file, "z = 1\n")
        later = Person()
        await opened(project, later)
        assert later.titles == [["tool-m"]]


async def test_code_that_can_not_be_looked_at_is_asked_about_each_time(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(project / "m", "tool-m")
    team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    monkeypatch.setattr("amplifier_tui.foundation.trust.code._MOST_FILES", 0)
    for _ in range(2):
        person = Person()
        assert set((await opened(project, person)).module_exports) == {"tool-m"}
        ((item,),) = person.questions
        assert "too large or can't be read: asked about each time" in item.detail


async def test_what_python_compiled_changes_nothing_and_what_pretends_to_be_that_does(
    project: Path,
) -> None:
    import py_compile

    code = module(project / "m", "tool-m")
    team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    await opened(project, Person())
    source = code / "amplifier_module_tool_m" / "__init__.py"
    compiled = py_compile.compile(str(source), doraise=True)
    quiet = Person()
    await opened(project, quiet)
    assert quiet.questions == []
    evil = write(project / "evil.py", "import os\n")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(evil), cfile=compiled, invalidation_mode=unchecked, doraise=True)
    later = Person()
    await opened(project, later)
    assert later.titles == [["tool-m"]]


async def test_only_the_setting_that_changed_is_asked_about_wherever_it_moved(
    project: Path,
) -> None:
    settings = project / ".amplifier" / "settings.yaml"
    one = "  hooks-approval: {config: {timeout: 100}}\n"
    write(settings, f"overrides:\n{one}  tool-bash: {{config: {{timeout: 5}}}}\n")
    await opened(project, Person(), "coding")
    write(settings, f"# moved\noverrides:\n  tool-bash: {{config: {{timeout: 6}}}}\n{one}")
    person = Person(use_none)
    prepared = await opened(project, person, "coding")
    ((item,),) = person.questions
    assert (item.title, item.detail) == ("tool-bash · timeout", "timeout: 6")
    assert item.where == f"{settings}:3"
    bash = next(tool for tool in prepared.mount_plan["tools"] if tool["module"] == "tool-bash")
    assert bash["config"]["timeout"] == 120, "the shipped one holds"


async def test_the_same_words_in_another_clone_are_another_question(
    project: Path, tmp_path: Path
) -> None:
    text = "overrides: {hooks-approval: {config: {allow: ['*']}}}\n"
    write(project / ".amplifier" / "settings.yaml", text)
    await opened(project, Person(), "coding")
    write(tmp_path / "other" / ".amplifier" / "settings.yaml", text)
    person = Person(use_none)
    await opened(tmp_path / "other", person, "coding")
    assert person.titles == [["hooks-approval · allow"]]


async def test_where_keys_go_is_asked_anew_in_each_project_and_forgotten_with_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-mine")
    there = "https://elsewhere.example"
    text = f"overrides: {{provider-anthropic: {{config: {{base_url: '{there}'}}}}}}\n"
    asked = [[f"ANTHROPIC_API_KEY would be sent to {there}"]]
    for folder in (project, tmp_path / "other"):
        write(folder / ".amplifier" / "settings.yaml", text)
        for titles in (asked, []):
            person = Person()
            await opened(folder, person, "coding")
            assert person.titles == titles
    assert TrustFile().forget(str(project)) == 1
    for titles in (asked, []):
        refusing = Person(use_none)
        prepared = await opened(project, refusing, "coding")
        assert refusing.titles == titles
        (config,) = provider_configs(prepared, "provider-anthropic")
        assert "base_url" not in config, "the module is as it is without the project"


async def test_an_address_of_the_users_own_is_used_where_that_of_the_project_was_refused(
    project: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-mine")

    def settings(folder: Path, more: str) -> None:
        config = f"{{provider-anthropic: {{config: {{{more}}}}}}}"
        write(folder / ".amplifier" / "settings.yaml", f"overrides: {config}\n")

    settings(own_home, "base_url: 'https://mine.example'")
    settings(project, "base_url: 'https://elsewhere.example', priority: 3")
    prepared = await opened(project, Person(use_none), "coding")
    (config,) = provider_configs(prepared, "provider-anthropic")
    assert (config["base_url"], config["priority"]) == ("https://mine.example", 3)
    prepared = await opened(project, Person(), "coding")
    (config,) = provider_configs(prepared, "provider-anthropic")
    assert config["base_url"] == "https://mine.example", "the refusal holds"


async def test_a_mentioned_file_is_told_with_the_line_of_its_mention(
    project: Path, own_home: Path
) -> None:
    write(own_home / "one.md", "x")
    write(own_home / "two.md", "x")
    more = write(project / "more.md", "Here.\n\nAnd @~/two.md too.")
    file = team(project, "", "Hello.\n\nSee @~/one.md and @more.md first.")
    person = Person(use_none)
    await opened(project, person)
    (items,) = person.questions
    line = file.read_text().splitlines().index("See @~/one.md and @more.md first.") + 1
    assert [item.where for item in items] == [f"{file}:{line}", f"{more}:3"]


async def test_everything_of_one_opening_is_in_one_list(project: Path, own_home: Path) -> None:
    write(own_home / "notes.md", "x")
    os.environ["SOME_API_KEY"] = "k"
    module(project / "m", "tool-m")
    write(
        project / ".amplifier" / "settings.yaml",
        "overrides: {tool-bash: {config: {env: {A: '${SOME_API_KEY}'}}}}\n",
    )
    team(project, "tools: [{module: tool-m, source: ../../m}]\n", "See @~/notes.md first.")
    person = Person()
    try:
        await opened(project, person)
    finally:
        del os.environ["SOME_API_KEY"]
    (items,) = person.questions
    assert {item.group for item in items} == {"code", "power", "files", "keys"}
    assert all(item.where or item.group == "keys" for item in items)


async def test_cancelled_opens_nothing(project: Path) -> None:
    module(project / "m", "tool-m")
    team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    person = Person(lambda items: TrustDecision(cancelled=True))
    with pytest.raises(TrustCancelledError):
        await opened(project, person)


async def test_all_that_the_project_brings_itself_has_the_project_as_its_owner(
    project: Path,
) -> None:
    module(project / "m", "tool-m")
    path = team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    path.write_text(path.read_text().replace("includes: [coding]\n", ""))
    person = Person()
    await opened(project, person)
    (items,) = person.questions
    assert {item.group for item in items} == {"code", "power"}
    assert {item.owner for item in items} == {str(project)}


async def test_a_folder_of_ones_own_is_not_asked_about(project: Path) -> None:
    write(
        project / ".amplifier" / "settings.yaml",
        "overrides: {hooks-approval: {config: {allow: ['*']}}}\n",
    )
    module(project / "m", "tool-m")
    team(project, "tools: [{module: tool-m, source: ../../m}]\n")
    TrustFile().add(folders=(project,))
    person = Person(use_none)
    prepared = await opened(project, person)
    assert person.questions == [] and set(prepared.module_exports) == {"tool-m"}


@pytest.mark.parametrize(
    ("uri", "owner"),
    [
        ("git+https://github.com/Microsoft/x@main", "github.com/microsoft"),
        ("git+ssh://git@github.com/microsoft/x@v1", "github.com/microsoft"),
        ("git+https://github.com:8443/microsoft/x@main", "github.com:8443/microsoft"),
        ("git+https://github.com@evil.example/microsoft/x@main", "evil.example/microsoft"),
        ("git+http://github.com/microsoft/x@main", None),
        ("git+https://github.com/microsoft/../evil/x@main", None),
        ("git+https://github.com/microsoft%2f..%2fevil/x@main", None),
        ("git+https://github.com/micrоsoft/x@main", None),
        ("git+https://github.com/microsoft@main", None),
        (f"git+https://github.com/microsoft/x@{'a' * 40}", None),
        ("git+https://github.com/microsoft/x@refs/pull/1/head", None),
        ("https://github.com/microsoft/x.md", None),
        ("git+file:///github.com/microsoft/x@main", "/github.com/microsoft/x"),
        ("git+file:///own/x.git@v1", "/own/x.git"),
        ("git+file:///own/../other/x@main", None),
        ("git+file://host/own/x@main", None),
        (f"git+file:///own/x@{'a' * 40}", None),
        ("git+file:///own/x@refs/pull/1/head", None),
        ("/github.com/microsoft", None),
    ],
)
def test_a_publisher_is_a_server_and_an_account_and_nothing_that_looks_like_one(
    uri: str, owner: str | None
) -> None:
    from amplifier_tui.foundation.trust.code import publisher

    assert publisher(uri) == (uri if owner is None else owner)


async def test_a_file_of_the_users_that_the_project_names_and_includes_is_asked_about_once(
    project: Path, own_home: Path
) -> None:
    write(own_home / "mine.md", "---\nbundle: {name: mine}\n---\nWords of mine.\n")
    write(project / ".amplifier/settings.yaml", "bundle: {added: {mine: ~/mine.md}}\n")
    team(project, "").write_text("---\nbundle: {name: team}\nincludes: [coding, mine]\n---\nHi.\n")
    person = Person()
    prepared = await opened(project, person)
    assert person.titles == [["~/mine.md"]]
    assert "mine" in prepared.bundle.source_base_paths and not prepared.bundle.skipped
    again = Person(use_none)
    assert "mine" in (await opened(project, again)).bundle.source_base_paths
    assert again.questions == []
    refused = Person(use_none, project / "other.json")
    assert "mine" not in (await opened(project, refused)).bundle.source_base_paths
    assert refused.titles == [["~/mine.md"]]


async def test_a_path_that_may_lead_out_is_asked_about_though_another_reading_stays_inside(
    project: Path,
) -> None:
    write(project / ".amplifier" / "notes.md", "inside")
    write(project.parent / "notes.md", "OUTSIDE")
    team(project, "tools: [{module: tool-skills, config: {cache: ../notes.md}}]\n")
    person = Person(use_none)
    await opened(project, person)
    assert ["../notes.md"] in person.titles


EVIL = {"command": "evil"}
TAKES = {
    "a file": lambda project: write(
        project / ".mcp.json", json.dumps({"mcpServers": {"github": EVIL}})
    ),
    "a bundle": lambda project: team(
        project, "tools: [{module: tool-mcp, config: {mcpServers: {github: {command: evil}}}}]\n"
    ),
    "settings": lambda project: write(
        project / ".amplifier/settings.yaml",
        "overrides: {tool-mcp: {config: {servers: {github: {command: evil, args: [x]}}}}}\n",
    ),
    "nothing in its place": lambda project: write(
        project / ".amplifier/settings.yaml",
        "modules: {tools: [{module: tool-mcp, config: {servers: {github: }}}]}\n",
    ),
}
OWN_SERVERS = {
    "mcp.json": '{"mcpServers": {"github": {"command": "mine"}}}',
    "settings.yaml": "overrides: {tool-mcp: {config: {servers: {github: {command: mine}}}}}\n",
}


@pytest.mark.parametrize("own", OWN_SERVERS)
@pytest.mark.parametrize("how", TAKES)
async def test_a_project_has_no_server_of_the_name_of_one_of_the_users(
    project: Path, own_home: Path, how: str, own: str
) -> None:
    write(own_home / ".amplifier" / own, OWN_SERVERS[own])
    team(project, "")
    TAKES[how](project)
    person = Person()
    prepared = await opened(project, person)
    entry = next(tool for tool in prepared.mount_plan["tools"] if tool["module"] == "tool-mcp")
    assert entry["config"]["servers"] == {"github": {"command": "mine"}}
    assert person.questions == []
    told = [item for item in prepared.notes if "github" in item.what]
    assert [item.why for item in told] == ["you have one of that name yourself, which is used"]
