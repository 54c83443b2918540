import json
from pathlib import Path

import pytest

from amplifier_tui.foundation.exceptions import BundleDependencyError
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import GitRepo, allow, write

SHIPPED_BUNDLE = (
    "---\nbundle: {name: good, version: 1.0.0}\nincludes: [./parts/extra.yaml]\n"
    "tools: [{module: tool-good}]\n---\nGood.\n"
)


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    (tmp_path / "proj").mkdir()
    write(tmp_path / "shipped" / "good.md", SHIPPED_BUNDLE)
    write(
        tmp_path / "shipped" / "parts" / "extra.yaml",
        "bundle: {name: extra}\nhooks: [{module: hooks-extra}]\n",
    )
    return tmp_path / "proj"


def bundle(project: Path, name: str, text: str) -> Path:
    path = project / ".amplifier" / "bundles" / f"{name}.md"
    return write(path, f"---\nbundle: {{name: {name}}}\n{text}---\n")


def workspace(project: Path) -> Workspace:
    return Workspace.open(project, shipped=(project.parent / "shipped",), environ={})


def modules(entries: list[dict[str, object]]) -> list[object]:
    return [entry["module"] for entry in entries]


async def test_a_shipped_bundle_is_included_by_its_name(project: Path, own_home: Path) -> None:
    bundle(project, "mine", "includes: [good]\ntools: [{module: tool-mine}]\n")
    found = await workspace(project).load("mine", trust=allow)
    assert found.skipped == []
    assert modules(found.tools) == ["tool-good", "tool-mine"]
    assert modules(found.hooks) == ["hooks-extra"]
    assert found.instruction == "Good."
    assert [(o.bundle, o.via_behavior) for o in found.origins["tool:tool-good"]] == [
        ("good", "good")
    ]


async def test_that_writes_nothing_about_it_into_the_registry(
    project: Path, own_home: Path
) -> None:
    mine = own_home / ".amplifier" / "bundles" / "mine.yaml"
    write(mine, "bundle: {name: mine}\nincludes: [good, 'good:parts/extra']\n")
    await workspace(project).load("mine")
    registry = json.loads((own_home / ".amplifier" / "registry.json").read_text())
    assert list(registry["bundles"]) == ["mine"]
    assert str(project.parent / "shipped") not in json.dumps(registry)


async def test_a_part_of_a_shipped_bundle_is_included_by_its_path(project: Path) -> None:
    bundle(project, "mine", "includes: ['good:parts/extra']\n")
    found = await workspace(project).load("mine")
    assert modules(found.hooks) == ["hooks-extra"] and found.tools == []
    by_uri = await workspace(project).load("good:parts/extra")
    assert modules(by_uri.hooks) == ["hooks-extra"]


async def test_a_part_that_is_not_there_is_told(project: Path) -> None:
    bundle(project, "mine", "includes: ['good:parts/nope']\n")
    with pytest.raises(BundleDependencyError, match="the bundle 'good' has no 'parts/nope'"):
        await workspace(project).load("mine")
    bundle(project, "other", "includes: ['bad:parts/extra']\n")
    found = await workspace(project).load("other")
    assert "No bundle named 'bad'" in found.skipped[0].reason


@pytest.mark.parametrize(("part", "near"), [("extr", "; did you mean 'parts/extra'"), ("ex", "")])
async def test_a_part_that_is_not_there_is_told_with_one_that_may_be_meant(
    project: Path, part: str, near: str
) -> None:
    bundle(project, "mine", f"includes: ['good:parts/{part}']\n")
    with pytest.raises(BundleDependencyError) as caught:
        await workspace(project).load("mine")
    assert caught.value.message.endswith(f"has no 'parts/{part}'{near}{'?' if near else ''}")


async def test_a_path_below_a_shipped_bundle_does_not_leave_it(project: Path) -> None:
    write(project.parent / "outside.yaml", "bundle: {name: outside}\n")
    bundle(project, "mine", "includes: ['good:../outside']\n")
    with pytest.raises(BundleDependencyError, match="outside"):
        await workspace(project).load("mine")


async def test_ones_own_bundle_of_the_same_name_extends_the_shipped_one(project: Path) -> None:
    bundle(project, "good", "includes: [good]\ntools: [{module: tool-mine}]\n")
    found = await workspace(project).load("good")
    assert found.skipped == []
    assert modules(found.tools) == ["tool-good", "tool-mine"]


async def test_a_file_beside_the_bundle_comes_before_the_shipped_one(project: Path) -> None:
    bundle(project, "good", "tools: [{module: tool-own}]\n")
    bundle(project, "mine", "includes: [good]\n")
    found = await workspace(project).load("mine")
    assert modules(found.tools) == ["tool-own"]


async def test_a_registered_bundle_comes_before_the_shipped_one(
    project: Path, own_home: Path, tmp_path: Path
) -> None:
    repo = GitRepo.create(
        tmp_path / "repo",
        {"bundle.md": "---\nbundle: {name: good}\ntools: [{module: tool-theirs}]\n---\n"},
    )
    write(own_home / ".amplifier" / "settings.yaml", f"bundle: {{added: {{good: '{repo.uri()}'}}}}")
    bundle(project, "mine", "includes: [good]\n")
    found = await workspace(project).load("mine", trust=allow)
    assert modules(found.tools) == ["tool-theirs"]


@pytest.mark.parametrize("name", ["good", "mine"])
async def test_what_was_fetched_is_not_registered_under_a_shipped_or_a_users_name(
    project: Path, own_home: Path, tmp_path: Path, name: str
) -> None:
    theirs = f"bundle: {{name: {name}}}\ntools: [{{module: tool-theirs}}]\n"
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": theirs})
    write(own_home / ".amplifier" / "bundles" / "mine.yaml", "bundle: {name: mine}\n")
    write(own_home / ".amplifier" / "bundles" / "top.yaml", "includes: [good, mine]\n")
    found = await workspace(project).load(repo.uri(), trust=allow)
    assert modules(found.tools) == ["tool-theirs"]
    assert repo.uri() not in (own_home / ".amplifier" / "registry.json").read_text()
    assert modules((await workspace(project).load("top", trust=allow)).tools) == ["tool-good"]


async def test_a_preview_knows_the_names_too(project: Path) -> None:
    bundle(project, "mine", "includes: [good]\n")
    preview = await workspace(project).preview("mine")
    assert preview.skipped == () and preview.to_fetch == ()
