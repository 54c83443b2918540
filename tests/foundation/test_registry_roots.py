from pathlib import Path

import pytest

from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
from tests.foundation.helpers import GitRepo, allow, write

ROOT = "---\nbundle: {name: root, version: 2}\n---\nroot text\n"


def tree(base: Path) -> dict[str, str]:
    return {
        "bundle.md": ROOT,
        "context/c.md": "shared",
        "behaviors/x.yaml": "bundle: {name: x}\ncontext: {include: ['root:context/c.md']}\n",
        "parts/y/bundle.yaml": "bundle: {name: y, namespace_root: ../..}\n",
        "parts/same.yaml": "bundle: {name: root}\n",
        "parts/nameless.yaml": "tools: [{module: t}]\n",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in tree(tmp_path).items():
        write(tmp_path / "r" / name, text)
    return tmp_path / "r"


async def test_a_bundle_below_another_is_nested_and_brings_both_namespaces(folder: Path) -> None:
    registry = BundleRegistry()
    loaded = await registry.load(str(folder / "behaviors" / "x.yaml"))
    assert loaded.source_base_paths == {"root": folder, "x": folder / "behaviors"}
    nested, root = registry.states["x"], registry.states["root"]
    assert (nested.is_root, nested.root_name) == (False, "root")
    assert (root.is_root, root.uri, root.local_path) == (True, f"file://{folder}", str(folder))
    assert root.version == 2
    loaded.resolve_pending_context()
    assert loaded.context == {"root:context/c.md": folder / "context" / "c.md"}


async def test_namespace_root_moves_the_resources_of_a_nested_bundle(folder: Path) -> None:
    loaded = await load_bundle(f"file://{folder}#subdirectory=parts/y")
    assert loaded.source_base_paths == {"root": folder, "y": folder}


async def test_namespace_root_of_a_root_bundle_is_ignored(tmp_path: Path) -> None:
    write(tmp_path / "bundle.yaml", "bundle: {name: a, namespace_root: ..}")
    loaded = await load_bundle(tmp_path)
    assert loaded.source_base_paths == {}
    assert loaded.compose().source_base_paths == {"a": tmp_path}


async def test_a_bundle_of_the_roots_name_is_no_nested_bundle(folder: Path) -> None:
    registry = BundleRegistry()
    loaded = await registry.load(str(folder / "parts" / "same.yaml"))
    assert loaded.source_base_paths == {"root": folder}
    assert registry.states["root"].is_root


async def test_a_nameless_bundle_is_not_registered(folder: Path) -> None:
    registry = BundleRegistry()
    await registry.load(str(folder / "parts" / "nameless.yaml"))
    assert registry.list_registered() == ["root"]


async def test_a_bundle_beside_the_root_file_is_a_root(folder: Path) -> None:
    write(folder / "other.yaml", "bundle: {name: other}")
    registry = BundleRegistry()
    loaded = await registry.load(str(folder / "other.yaml"))
    assert loaded.source_base_paths == {}
    assert registry.states["other"].is_root


async def test_a_broken_root_file_does_not_cost_the_nested_bundle(folder: Path) -> None:
    write(folder / "bundle.md", "---\na: [\n---\n")
    loaded = await load_bundle(folder / "behaviors" / "x.yaml")
    assert (loaded.name, loaded.source_base_paths) == ("x", {})


async def test_a_changed_root_file_is_read_again(folder: Path) -> None:
    import os

    registry = BundleRegistry()
    nested = str(folder / "behaviors" / "x.yaml")
    await registry.load(nested)
    write(folder / "bundle.md", ROOT.replace("root,", "renamed,"))
    os.utime(folder / "bundle.md", ns=(1, 1))
    loaded = await registry._load_single(nested, refresh=True)
    assert "renamed" in loaded.source_base_paths


async def test_a_part_of_a_repository_is_nested_in_the_repository(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", tree(tmp_path))
    registry = BundleRegistry(trust=allow)
    loaded = await registry.load(repo.uri(subdirectory="behaviors/x.yaml"))
    clone = loaded.source_base_paths["root"]
    assert clone.parent == registry.cache_dir
    assert registry.states["root"].uri == repo.uri()
    assert registry.states["x"].root_name == "root"
    assert loaded.confined_roots == (clone,)


async def test_a_namespace_in_a_repository_leads_to_a_part_of_that_repository(
    tmp_path: Path,
) -> None:
    repo = GitRepo.create(tmp_path / "repo", tree(tmp_path))
    top = write(tmp_path / "top.yaml", "bundle: {name: top}\nincludes: ['root:behaviors/x']\n")
    registry = BundleRegistry(trust=allow)
    registry.register({"root": repo.uri()})
    await registry.load(str(top))
    assert registry.states["x"].uri == repo.uri(subdirectory="behaviors/x.yaml")


async def test_a_bundle_in_a_part_of_a_repository_finds_its_own_parts(tmp_path: Path) -> None:
    files = {
        "packs/p/bundle.yaml": "bundle: {name: p}\nincludes: ['p:inner']\n",
        "packs/p/inner.yaml": "bundle: {name: inner}\ntools: [{module: t}]\n",
    }
    repo = GitRepo.create(tmp_path / "repo", files)
    registry = BundleRegistry(trust=allow)
    loaded = await registry.load(repo.uri(subdirectory="packs/p"))
    assert loaded.tools == [{"module": "t"}]
    assert registry.states["inner"].uri == repo.uri(subdirectory="packs/p/inner.yaml")


async def test_a_nested_bundle_may_include_its_own_root(tmp_path: Path) -> None:
    files = {
        "bundle.yaml": "bundle: {name: root}\ntools: [{module: root}]\n",
        "x.yaml": "bundle: {name: x}\ntools: [{module: x}]\n",
    }
    repo = GitRepo.create(tmp_path / "repo", files)
    repo.commit({"deep/x.yaml": f"bundle: {{name: x}}\nincludes: ['{repo.uri()}']\n"})
    loaded = await load_bundle(repo.uri(subdirectory="deep/x.yaml"), trust=allow)
    assert (loaded.skipped, loaded.tools) == ([], [{"module": "root"}])


async def test_parts_of_one_repository_that_include_each_other_are_a_circle(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: root}"})
    one, two = repo.uri(subdirectory="a.yaml"), repo.uri(subdirectory="b.yaml")
    repo.commit(
        {
            "a.yaml": f"bundle: {{name: a}}\nincludes: ['{two}']\n",
            "b.yaml": f"bundle: {{name: b}}\nincludes: ['{one}']\n",
        }
    )
    loaded = await load_bundle(one, trust=allow)
    assert [entry.kind for entry in loaded.skipped] == ["circular"]


async def test_an_include_does_not_take_over_a_registered_name(tmp_path: Path) -> None:
    write(tmp_path / "good" / "bundle.yaml", "bundle: {name: ns}")
    write(tmp_path / "evil" / "bundle.yaml", "bundle: {name: ns}")
    top = write(tmp_path / "top.yaml", "bundle: {name: top}\nincludes: [./evil]\n")
    registry = BundleRegistry()
    await registry.load(str(tmp_path / "good"))
    await registry.load(str(top))
    assert registry.states["ns"].local_path == str(tmp_path / "good")
    await registry.load(str(tmp_path / "evil"))
    assert registry.states["ns"].local_path == str(tmp_path / "evil")


async def test_a_namespace_known_before_is_composed_with_its_own_includes(tmp_path: Path) -> None:
    write(tmp_path / "ns" / "bundle.yaml", "bundle: {name: ns}\nincludes: ['ns:inner']")
    write(tmp_path / "ns" / "inner.yaml", "bundle: {name: inner}\ntools: [{module: inner}]")
    write(tmp_path / "ns" / "p.yaml", "bundle: {name: p}\nproviders: [{module: p}]")
    top = write(tmp_path / "top.yaml", "bundle: {name: top}\nincludes: [ns, 'ns:p']\n")
    registry = BundleRegistry()
    registry.register({"ns": str(tmp_path / "ns")})
    loaded = await registry.load(str(top))
    assert loaded.tools == [{"module": "inner"}]
    assert loaded.providers == [{"module": "p"}]


async def test_a_fetched_bundle_cannot_reach_files_outside_of_what_was_fetched(
    tmp_path: Path,
) -> None:
    write(tmp_path / "secret.md", "top secret")
    write(tmp_path / "other.yaml", "bundle: {name: other}\ntools: [{module: stolen}]")
    repo = GitRepo.create(
        tmp_path / "repo",
        {
            "bundle.yaml": "bundle: {name: evil}\nincludes:\n"
            f"  - ../../../../../../..{tmp_path}/other.yaml\n  - file://{tmp_path}/other.yaml\n"
            f"  - {tmp_path}/other.yaml\n"
            f"context: {{include: [../../secret.md, ok.md], up: ../../secret.md}}\n",
            "ok.md": "fine",
            "deep/bundle.yaml": "bundle: {name: deep, namespace_root: ../../..}\n",
        },
    )
    (repo.path / "link.md").symlink_to(tmp_path / "secret.md")
    repo.commit({"more.yaml": "bundle: {name: more}\ncontext: {include: [link.md]}\n"})
    registry = BundleRegistry(trust=allow)
    evil = await registry.load(repo.uri())
    assert list(evil.compose().context) == ["evil:ok.md"]
    assert evil.tools == []
    assert all("outside" in entry.reason for entry in evil.skipped) and len(evil.skipped) == 3
    more = await registry.load(repo.uri(subdirectory="more.yaml"))
    assert more.context == {}
    assert more.resolve_context_path("link.md") is None
    deep = await registry.load(repo.uri(subdirectory="deep"))
    assert deep.source_base_paths["deep"] == deep.base_path
