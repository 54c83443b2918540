"""What fetched sources bring: with the answer that let them in, or in one second question."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.checks.opening_report import report_prepared
from amplifier_tui.foundation.sources.lockfile import LockEntry, LockFile
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.foundation.trust.review import OnlyLooking
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.trust.answers import TrustFile
from tests.foundation.helpers import GitRepo, write
from tests.trust.test_one_question import Person, opened, use_all, use_none

SERVER = "https://git.example"
APPROVAL = "hooks: [{module: hooks-approval, config: {timeout: 7}}]\n"
Publish = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    (tmp_path / "clone").mkdir()
    return tmp_path / "clone"


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Publishes a bundle, or the files given, under an account and a name; returns its address."""
    folder = tmp_path / "published"
    rule = f'[url "file://{folder}/"]\n\tinsteadOf = {SERVER}/\n'
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(write(tmp_path / "gitconfig", rule)))

    def publish(where: str, head: str = "", body: str = "Hello.", **files: str) -> str:
        name = where.partition("/")[2]
        text = f"---\nbundle: {{name: {name}}}\n{head}---\n{body}\n"
        GitRepo.create(folder / where, {"bundle.md": text, **files})
        return f"git+{SERVER}/{where}@main"

    return publish


def including(*uris: str) -> str:
    return f"includes: [{', '.join(map(repr, uris))}]\n"


def team(project: Path, *uris: str) -> None:
    text = f"---\nbundle: {{name: team}}\n{including('coding', *uris)}---\nHello.\n"
    write(project / ".amplifier/bundles/team.md", text)


def titles(person: Person) -> list[list[str]]:
    return [sorted(each) for each in person.titles]


def names(prepared: PreparedBundle) -> set[str]:
    return set(prepared.bundle.source_base_paths)


async def test_what_the_same_publisher_brings_comes_with_the_answer_and_is_remembered(
    project: Path, publish: Publish
) -> None:
    last = publish("acme/last")
    team(project, publish("acme/first", including(publish("acme/next", including(last)))))
    person = Person()
    assert names(await opened(project, person)) >= {"first", "next", "last"}
    assert titles(person) == [["bundle first"]]
    again = Person(use_none)
    assert names(await opened(project, again)) >= {"first", "next", "last"}
    assert again.questions == []


async def test_for_this_session_it_comes_along_for_this_session(
    project: Path, publish: Publish
) -> None:
    team(project, publish("acme/first", including(publish("acme/next"))))
    person = Person(lambda items: replace(use_all(items), remember="session"))
    await opened(project, person)
    assert titles(person) == [["bundle first"]]
    assert TrustFile().answers() == []


async def test_what_others_bring_is_asked_about_in_one_list_and_not_fetched_before(
    project: Path, publish: Publish, own_home: Path
) -> None:
    near = publish("acme/near", including(publish("other/x")) + APPROVAL)
    deep = publish("acme/deep", including(publish("third/y")))
    team(project, near, publish("acme/far", including(deep)))
    cache, there = own_home / ".amplifier" / "cache", list[set[str]]()

    def answer(items: Sequence[TrustItem]) -> TrustDecision:
        there.append({each.name.rpartition("-")[0] for each in cache.glob("*-*")})
        return use_all(items)

    person = Person(answer)
    prepared = await opened(project, person)
    assert titles(person) == [
        ["bundle far", "bundle near"],
        ["bundle x", "bundle y", "hooks-approval · timeout"],
    ]
    assert there == [set(), {"near", "far", "deep"}]
    assert names(prepared) >= {"near", "far", "deep", "x", "y"}


async def test_what_comes_after_the_second_list_is_left_out_reported_and_asked_the_next_time(
    project: Path, publish: Publish
) -> None:
    entry = publish("deep/tool")
    tool = f"tools: [{{module: tool-deep, source: '{entry}'}}]\n"
    second = publish("second/b", including(publish("third/c")) + APPROVAL + tool)
    team(project, publish("acme/a", including(second)))
    person = Person()
    prepared = await opened(project, person)
    assert titles(person) == [["bundle a"], ["bundle b"]]
    assert "c" not in names(prepared)
    assert prepared.mount_plan["hooks"][0].get("config", {}).get("timeout") != 7
    (module,) = prepared.refused
    assert module.module_id == "tool-deep" and "too late to be asked" in module.reason
    report = {item.what: item for item in await report_prepared(prepared, project)}
    for what in (f"git+{SERVER}/third/c@main", "tool-deep", "hooks-approval · timeout"):
        assert "asked" in report[what].why and report[what].remedy
        assert "you refused" not in report[what].why
    later = Person()
    assert "c" in names(await opened(project, later))
    assert titles(later) == [["bundle c", "hooks-approval · timeout", "tool-deep"]]


@pytest.mark.parametrize(
    ("head", "body", "asked"),
    [
        (APPROVAL, "", "hooks-approval · timeout"),
        ("session: {mode: edits}\n", "", "session · mode"),
        ("tools: [{module: tool-x, id: tool-bash}]\n", "", "tool-x in the place of tool-bash"),
        ("agents: {spy: {exclude_hooks: [hooks-approval]}}\n", "", "agent spy · exclude_hooks"),
        ("tools: [{module: tool-x, config: {a: '${SOME_API_KEY}'}}]\n", "", "SOME_API_KEY into"),
        ("", "See @~/notes.md", "notes.md"),
        ("session: {context: {module: c, config: {memory_files: [~/notes.md]}}}\n", "", "notes.md"),
    ],
)
async def test_power_files_and_keys_never_come_along(
    project: Path,
    publish: Publish,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    head: str,
    body: str,
    asked: str,
) -> None:
    write(own_home / "notes.md", "x")
    monkeypatch.setenv("SOME_API_KEY", "k")
    team(project, publish("acme/first", including(publish("acme/next", head, body))))
    person = Person()
    await opened(project, person)
    (first,), (second,) = titles(person)
    assert first == "bundle first" and asked in second


async def test_beside_a_refused_source_nothing_of_its_publisher_comes_along(
    project: Path, publish: Publish
) -> None:
    team(project, publish("acme/a", including(publish("acme/more"))), publish("acme/b"))

    def choose(items: Sequence[TrustItem]) -> TrustDecision:
        return TrustDecision(accepted=frozenset(i.key for i in items if i.title != "bundle b"))

    person = Person(choose)
    await opened(project, person)
    assert titles(person) == [["bundle a", "bundle b"], ["bundle more"]]


async def test_what_the_project_names_does_not_come_with_a_publisher(
    project: Path, publish: Publish
) -> None:
    first, own = publish("acme/first"), publish("acme/own")
    write(project / ".amplifier/settings.yaml", f"bundle: {{app: ['{own}']}}\n")
    # Where the opened bundle itself is fetched, what the project adds to it is only met later.
    person = Person()
    await opened(project, person, first)
    assert titles(person) == [["bundle first"], ["bundle own"]]


@pytest.mark.parametrize("kind", ["a commit", "a repository of no publisher"])
async def test_what_only_looks_like_the_publishers_is_asked_about(
    project: Path, publish: Publish, tmp_path: Path, kind: str
) -> None:
    uri = publish("acme/next")
    repo = GitRepo(tmp_path / "published" / "acme" / "next")
    commit = repo.git("rev-parse", "HEAD")
    uri = uri.replace("@main", f"@{commit}") if kind == "a commit" else repo.uri()
    team(project, publish("acme/first", including(uri)))
    person = Person()
    await opened(project, person)
    assert titles(person) == [["bundle first"], ["bundle next"]]


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_commit_that_the_projects_lock_chose_is_no_publishers(
    project: Path, publish: Publish, tmp_path: Path, trusted: bool
) -> None:
    uri = publish("acme/next")
    repo = GitRepo(tmp_path / "published" / "acme" / "next")
    fork = repo.commit({"fork.txt": "Servers give it out under this address, too."})
    repo.git("reset", "--quiet", "--hard", "HEAD~")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    lock = LockFile(project / ".amplifier" / "bundle.lock")
    lock.replace({uri: LockEntry(commit=fork)})
    team(project, publish("acme/first", including(uri)))
    lock.save()
    if trusted:
        TrustFile().add(owners=("git.example/acme",))
    person = Person()
    await opened(project, person)
    assert titles(person) == [["bundle first"], ["bundle next"]][trusted:]
    (item,) = person.questions[-1]
    assert fork[:12] in item.detail and not item.is_published


async def test_what_a_package_gets_for_uv_is_asked_about_in_the_same_second_list(
    project: Path, publish: Publish
) -> None:
    words = publish("words/zz-words")
    facts = (
        "[project]\nname = 'zz-tool'\nversion = '1'\ndependencies = ['zz-words']\n"
        f"[tool.uv.sources]\nzz-words = {{ git = '{words[4:-5]}', branch = 'main' }}\n"
    )
    tool = publish("acme/zz-tool", **{"pyproject.toml": facts})
    head = f"tools: [{{module: tool-zz, source: '{tool}'}}]\n"
    team(project, publish("acme/first", including(publish("other/x")) + head))
    person = Person()
    await opened(project, person)
    assert titles(person) == [["bundle first"], ["bundle x", "zz-words"]]


async def test_what_others_fetch_meanwhile_does_not_disturb(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = Workspace.open(project).review(OnlyLooking())
    roots = iter(project / str(number) for number in range(10))

    def fetch(path: Path = project, folder: Path = project) -> bool:
        root = next(roots)
        review.allows_source(f"git+{SERVER}/acme/{root.name}@main", {}, root)
        return False

    fetch()
    fetch()
    monkeypatch.setattr("amplifier_tui.foundation.trust.review.is_within", fetch)
    assert review.allows_source(str(project), {})
