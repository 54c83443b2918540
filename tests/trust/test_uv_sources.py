"""Packages whose `pyproject.toml` says for uv alone where their dependencies come from."""

from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.modules.project import read_project
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import GitRepo, Recorder, allow, write
from tests.foundation.packages import project_files
from tests.trust.test_modules_apart import folders, said, tool_files

pytestmark = pytest.mark.usefixtures("process")


def library(name: str, word: str, *, needs: str = "", sources: str = "") -> dict[str, str]:
    """The files of a package with one word in it, or that of another package."""
    code = f"from {needs.replace('-', '_')} import WORD" if needs else f"WORD = '{word}'"
    package = name.replace("-", "_")
    files = project_files(name, package, code, requires=[needs] if needs else [])
    return with_sources(files, sources)


def with_sources(files: dict[str, str], sources: str) -> dict[str, str]:
    table = f"[tool.uv.sources]\n{sources}\n" if sources else ""
    return {**files, "pyproject.toml": files["pyproject.toml"] + table}


def needing(folder: Path, sources: str, requires: str = "zz-word") -> GitRepo:
    files = tool_files("wordy", dependency="zz_word", requires=requires)
    return GitRepo.create(folder, with_sources(files, sources))


def bundle(source: str) -> Bundle:
    plan = {"bundle": {"name": "b"}, "tools": [{"module": "tool-wordy", "source": source}]}
    session = {
        "orchestrator": {"module": "loop-streaming"},
        "context": {"module": "context-simple"},
    }
    return Bundle.from_dict({**plan, "session": session})


async def test_a_dependency_comes_from_the_repository_that_is_named_for_uv(
    tmp_path: Path, own_home: Path, wheels: Path, either: str
) -> None:
    word = GitRepo.create(tmp_path / "word", library("zz-word", "from git"))
    source = needing(
        tmp_path / "tool", f'zz-word = {{ git = "file://{word.path}", branch = "main" }}'
    )
    recorder = Recorder()
    prepared = await bundle(source.uri()).prepare(trust=recorder)
    assert prepared.activation_failures == {}
    assert await said(prepared) == {"wordy": "1 from git"}
    fetched = [each.uri for each in recorder.requests if each.action == "fetch"]
    assert fetched == [source.uri(), word.uri()]
    # Another commit of it is another folder.
    word.commit(library("zz-word", "later"))
    assert len(folders(own_home)) == 1


async def test_what_a_source_needs_comes_from_its_own_sources(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    deep = GitRepo.create(tmp_path / "deep", library("zz-deep", "from far below"))
    below = f'zz-deep = {{ git = "file://{deep.path}", rev = "main" }}'
    files = library("zz-word", "", needs="zz-deep", sources=below)
    word = GitRepo.create(
        tmp_path / "many", {f"libs/word/{name}": text for name, text in files.items()}
    )
    given = f'{{ git = "file://{word.path}", subdirectory = "libs/word", branch = "main" }}'
    here = f"{given[:-2]}, marker = \"sys_platform != 'none'\" }}"
    marked = f"[{{ path = '../gone', marker = \"sys_platform == 'none'\" }}, {here}]"
    source = needing(tmp_path / "tool", f"ZZ_Word = {marked}", requires="zz-word>=1")
    prepared = await bundle(source.uri()).prepare(trust=allow)
    assert prepared.activation_failures == {}
    assert await said(prepared) == {"wordy": "1 from far below"}


async def test_members_of_a_workspace_and_folders_beside_are_found_in_what_was_fetched(
    tmp_path: Path, own_home: Path, wheels: Path, uv: None
) -> None:
    files = {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['libs/*']\n"}
    inner = library("zz-inner", "of a workspace")
    files |= {f"beside/{name}": text for name, text in inner.items()}
    word = library("zz-word", "", needs="zz-inner", sources='zz-inner = { path = "../../beside" }')
    files |= {f"libs/word/{name}": text for name, text in word.items()}
    tool = with_sources(
        tool_files("wordy", dependency="zz_word", requires="zz-word"),
        "zz-word = { workspace = true }",
    )
    files |= {f"modules/wordy/{name}": text for name, text in tool.items()}
    repo = GitRepo.create(tmp_path / "repo", files)
    prepared = await bundle(repo.uri(subdirectory="modules/wordy")).prepare(trust=allow)
    assert prepared.activation_failures == {}
    assert await said(prepared) == {"wordy": "1 of a workspace"}


async def test_a_source_that_is_refused_is_not_fetched_and_the_module_says_why(
    tmp_path: Path, own_home: Path
) -> None:
    word = GitRepo.create(tmp_path / "word", library("zz-word", "never"))
    source = needing(tmp_path / "tool", f'zz-word = {{ git = "file://{word.path}" }}')
    prepared = await bundle(source.uri()).prepare(
        trust=lambda request: str(word.path) not in request.uri
    )
    reason = prepared.activation_failures["tool-wordy"]
    assert "Not allowed to fetch zz-word" in reason and str(word.path) in reason
    assert folders(own_home) == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ('{ index = "private" }', "(index) is none that is read here"),
        ('{ url = "https://host.invalid/x.whl" }', "(url) is none that is read here"),
        ("{ workspace = true }", "the workspace that has it is not there"),
        ('"main"', "is no table"),
        ('[{ git = "x", marker = "no marker" }]', "nothing for this platform"),
    ],
)
async def test_a_source_that_is_not_read_is_named_with_its_kind(
    tmp_path: Path, own_home: Path, given: str, why: str
) -> None:
    source = needing(tmp_path / "tool", f"zz-word = {given}")
    prepared = await bundle(source.uri()).prepare(trust=allow)
    reason = prepared.activation_failures["tool-wordy"]
    assert "needs zz-word" in reason and why in reason and "pyproject.toml" in reason


def test_sources_of_what_the_program_has_itself_are_not_looked_at(tmp_path: Path) -> None:
    from amplifier_tui.foundation.modules.needs import wanted_sources

    git = '{ git = "https://host.invalid/x" }'
    files = project_files(
        "p", "p", "", requires=["pydantic>=2", "amplifier-core", "zz-a @ file:///a"]
    )
    text = with_sources(files, f"pydantic = {git}\namplifier-core = {git}\nzz-a = {git}")
    write(tmp_path / "pyproject.toml", text["pyproject.toml"])
    project = read_project(tmp_path)
    assert [source.name for source in project.sources] == ["pydantic", "amplifier-core", "zz-a"]
    assert wanted_sources(project.dependencies, project.sources) == []


async def test_the_one_question_lists_the_sources_of_a_module_as_code(
    tmp_path: Path, own_home: Path
) -> None:
    uri = "git+https://host.invalid/acme/word@v1"
    place = tmp_path / "project" / "modules" / "wordy"
    sources = 'zz-word = { git = "https://host.invalid/acme/word", tag = "v1" }'
    files = with_sources(tool_files("wordy", dependency="zz_word", requires="zz-word"), sources)
    for name, text in files.items():
        write(place / name, text)
    path = tmp_path / "project" / ".amplifier" / "bundles" / "b.yaml"
    write(path, f"bundle: {{name: b}}\ntools: [{{module: tool-wordy, source: '{place}'}}]\n")
    space = Workspace.open(tmp_path / "project", environ={})
    asked = {item.title: item for item in (await space.preview("b")).asked}
    assert asked["zz-word"].group == "code" and uri in asked["zz-word"].detail
    assert "asked for by amplifier-module-tool-wordy" in asked["zz-word"].detail
    assert asked["zz-word"].where == str(place / "pyproject.toml")


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ("[tool]\nuv = 3", "workspace that has it is not there"),
        ("[tool.uv.workspace]\nmembers = 3", "workspace that has it is not there"),
        ("[tool.uv.workspace]\nmembers = ['/srv/*', '', '../*', 3]", "is not there"),
    ],
)
def test_a_workspace_that_makes_no_sense_has_no_members(
    tmp_path: Path, tables: str, problem: str
) -> None:
    write(tmp_path / "zz" / "pyproject.toml", "[project]\nname = 'zz-word'\n")
    write(tmp_path / "all" / "pyproject.toml", tables)
    sources = "[tool.uv.sources]\nzz-word = { workspace = true }\n"
    write(tmp_path / "all" / "one" / "pyproject.toml", sources)
    (source,) = read_project(tmp_path / "all" / "one").sources
    assert problem in source.problem


@pytest.mark.parametrize(
    "given",
    [
        r'{ path = "a\u0000b" }',
        "[{ path = 'a', marker = \"os_name ~= 'x'\" }]",
        "[{ path = 'a', marker = \"nothing == 'x'\" }]",
    ],
)
def test_a_source_that_makes_no_sense_has_a_problem_and_no_place(
    tmp_path: Path, given: str
) -> None:
    write(tmp_path / "pyproject.toml", f"[tool.uv.sources]\nzz-word = {given}\n")
    (source,) = read_project(tmp_path).sources
    assert not source.uri and source.problem
