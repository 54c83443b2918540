import json
from pathlib import Path

import pytest

from amplifier_tui.foundation.exceptions import (
    BundleDependencyError,
    BundleError,
    BundleNotFoundError,
)
from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
from tests.foundation.helpers import write


def bundle(folder: Path, name: str, *includes: str, more: str = "") -> Path:
    listed = "".join(f"  - {json.dumps(entry)}\n" for entry in includes)
    head = f"includes:\n{listed}" if includes else ""
    return write(folder / f"{name}.yaml", f"bundle: {{name: {name}}}\n{head}{more}")


async def test_includes_are_composed_in_the_order_they_are_written(tmp_path: Path) -> None:
    bundle(tmp_path, "a", more="session: {x: a}\ntools: [{module: t, config: {l: [1]}}]")
    bundle(tmp_path, "b", more="session: {x: b}\ntools: [{module: t, config: {l: [2]}}]")
    top = bundle(tmp_path, "top", "./b.yaml", "./a.yaml", more="tools: [{module: own}]")
    loaded = await load_bundle(top)
    assert loaded.name == "top"
    assert loaded.session == {"x": "a"}
    assert loaded.tools == [{"module": "t", "config": {"l": [2, 1]}}, {"module": "own"}]


async def test_mappings_with_bundle_count_and_others_are_ignored(tmp_path: Path) -> None:
    bundle(tmp_path, "a", more="tools: [{module: a}]")
    text = "bundle: {name: t}\nincludes: [{bundle: ./a.yaml}, {other: x}, 5, null, '']\n"
    loaded = await load_bundle(write(tmp_path / "t.yaml", text))
    assert loaded.tools == [{"module": "a"}]
    assert loaded.skipped == []


async def test_the_includes_of_a_composed_bundle_are_those_of_the_first_one(tmp_path: Path) -> None:
    bundle(tmp_path, "c")
    bundle(tmp_path, "a", "./c.yaml")
    loaded = await load_bundle(bundle(tmp_path, "top", "./a.yaml"))
    assert loaded.includes == []
    alone = await load_bundle(bundle(tmp_path, "t2", "./a.yaml"), auto_include=False)
    assert alone.includes == ["./a.yaml"]


async def test_a_relative_include_starts_at_the_including_file_then_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle(tmp_path / "deep", "near", more="tools: [{module: near}]")
    bundle(tmp_path / "cwd", "far", more="tools: [{module: far}]")
    bundle(tmp_path / "cwd", "near", more="tools: [{module: wrong}]")
    monkeypatch.chdir(tmp_path / "cwd")
    top = bundle(tmp_path / "deep", "top", "./near.yaml", "./far")
    assert [tool["module"] for tool in (await load_bundle(top)).tools] == ["near", "far"]


async def test_a_name_without_dots_is_registered_or_a_path_next_to_the_file(tmp_path: Path) -> None:
    bundle(tmp_path / "elsewhere", "known", more="tools: [{module: known}]")
    bundle(tmp_path / "behaviors", "side", more="tools: [{module: side}]")
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"known": str(tmp_path / "elsewhere" / "known.yaml")})
    top = bundle(tmp_path, "top", "known", "behaviors/side")
    loaded = await registry.load(str(top))
    assert [tool["module"] for tool in loaded.tools] == ["known", "side"]


@pytest.mark.parametrize(
    "place", ["x/exact.yaml", "x/y.yaml", "x/y.yml", "x/y.md", "x/y/bundle.yaml", "x/y/bundle.md"]
)
async def test_a_namespace_path_is_found_in_its_usual_places(tmp_path: Path, place: str) -> None:
    write(tmp_path / "ns" / "bundle.yaml", "bundle: {name: ns}")
    text = "bundle: {name: in}\ntools: [{module: found}]\n"
    write(tmp_path / "ns" / place, f"---\n{text}---\n" if place.endswith(".md") else text)
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"ns": f"file://{tmp_path / 'ns'}"})
    include = "ns:x/exact.yaml" if "exact" in place else "ns:x/y"
    loaded = await registry.load(str(bundle(tmp_path, "top", include)))
    assert loaded.tools == [{"module": "found"}]


async def test_a_namespace_that_another_include_brings_is_known(tmp_path: Path) -> None:
    write(tmp_path / "ns" / "bundle.yaml", "bundle: {name: ns}\ntools: [{module: root}]")
    bundle(tmp_path / "ns", "b", more="tools: [{module: b}]")
    top = bundle(tmp_path, "top", "ns:b", "./ns")
    loaded = await load_bundle(top)
    assert loaded.skipped == []
    assert [tool["module"] for tool in loaded.tools] == ["b", "root"]


async def test_the_own_namespace_of_a_bundle_comes_before_a_registered_one(tmp_path: Path) -> None:
    for folder, module in (("official", "old"), ("fork", "new")):
        write(tmp_path / folder / "bundle.yaml", "bundle: {name: ns}\nincludes: ['ns:b']")
        bundle(tmp_path / folder, "b", more=f"tools: [{{module: {module}}}]")
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"ns": str(tmp_path / "official")})
    await registry.load("ns")
    loaded = await registry.load(str(tmp_path / "fork"))
    assert loaded.tools == [{"module": "new"}]


async def test_a_missing_path_in_a_known_namespace_is_an_error_even_when_lenient(
    tmp_path: Path,
) -> None:
    write(tmp_path / "ns" / "bundle.yaml", "bundle: {name: ns}")
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"ns": str(tmp_path / "ns")})
    top = bundle(tmp_path, "top", "ns:gone")
    with pytest.raises(BundleDependencyError, match="no 'gone'") as caught:
        await registry.load(str(top))
    assert (caught.value.path, caught.value.line) == (top, 3)


async def test_a_known_namespace_that_cannot_be_loaded_is_an_error(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"ns": str(tmp_path / "gone")})
    with pytest.raises(BundleDependencyError, match="File not found"):
        await registry.load(str(bundle(tmp_path, "top", "ns:x")))


async def test_what_cannot_be_included_is_skipped_and_reported_with_its_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "broken.yaml", "a: [")
    top = bundle(
        tmp_path, "top", "nobody:x", "./gone.yaml", "./broken.yaml", "noname",
        more="tools: [{module: t}]",
    )  # fmt: skip
    loaded = await load_bundle(top)
    assert loaded.tools == [{"module": "t"}]
    skipped = {entry.source: entry for entry in loaded.skipped}
    assert set(skipped) == {"nobody:x", "./gone.yaml", "./broken.yaml", "noname"}
    assert "No bundle named 'nobody' is known" in skipped["nobody:x"].reason
    assert "broken.yaml:1" in skipped["./broken.yaml"].reason
    for line, entry in enumerate(loaded.skipped, start=3):
        assert (entry.included_by, entry.path, entry.kind) == ("top", top, "failed")
        assert entry.source in top.read_text().splitlines()[(entry.line or 0) - 1], line
    assert "goes without" in caplog.text


async def test_what_is_missing_deep_inside_is_reported_at_the_top(tmp_path: Path) -> None:
    bundle(tmp_path, "inner", "./gone.yaml")
    loaded = await load_bundle(bundle(tmp_path, "top", "./inner.yaml"))
    assert [(entry.source, entry.included_by) for entry in loaded.skipped] == [
        ("./gone.yaml", "inner")
    ]


@pytest.mark.parametrize("include", ["nobody:x", "./gone.yaml", "./broken.yaml", "./deep.yaml"])
async def test_a_strict_load_raises_with_the_line(tmp_path: Path, include: str) -> None:
    write(tmp_path / "broken.yaml", "a: [")
    bundle(tmp_path, "deep", "./gone.yaml")
    top = bundle(tmp_path, "top", include)
    with pytest.raises(BundleDependencyError) as caught:
        await load_bundle(top, strict=True)
    assert (caught.value.path, caught.value.line) == (top, 3)
    assert caught.value.__cause__ is not None
    assert "in strict mode" in str(caught.value)


async def test_a_skipped_include_is_tried_again_by_the_next_load(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    top = str(bundle(tmp_path, "top", "./later.yaml"))
    assert len((await registry.load(top)).skipped) == 1
    bundle(tmp_path, "later", more="tools: [{module: t}]")
    loaded = await registry.load(top)
    assert (loaded.skipped, loaded.tools) == ([], [{"module": "t"}])


async def test_a_resolver_may_redirect_any_include(tmp_path: Path) -> None:
    bundle(tmp_path, "other", more="tools: [{module: redirected}]")
    asked: list[str] = []

    def redirect(source: str) -> str | None:
        asked.append(source)
        return str(tmp_path / "other.yaml") if source == "git+https://h/x@main" else None

    registry = BundleRegistry(tmp_path / "home", include_source_resolver=redirect)
    top = str(bundle(tmp_path, "top", "git+https://h/x@main", "plain", "ns:x"))
    loaded = await registry.load(top)
    assert loaded.tools == [{"module": "redirected"}]
    assert {"git+https://h/x@main", "plain", "ns:x"} <= set(asked)
    registry.set_include_source_resolver(None)
    assert registry._resolve_include_source("git+https://h/x@main") == "git+https://h/x@main"


async def test_relations_are_kept_and_follow_changes(tmp_path: Path) -> None:
    bundle(tmp_path, "a")
    bundle(tmp_path, "b")
    top = bundle(tmp_path, "top", "./a.yaml", "./b.yaml")
    registry = BundleRegistry(tmp_path / "home")
    await registry.load(str(top))
    assert registry.states["top"].includes == ["a", "b"]
    assert registry.states["a"].included_by == ["top"]
    saved = json.loads((tmp_path / "home" / "registry.json").read_text())["bundles"]
    assert (saved["top"]["includes"], saved["a"]["included_by"]) == (["a", "b"], ["top"])
    assert "includes" not in saved["a"] and "included_by" not in saved["top"]
    bundle(tmp_path, "top", "./b.yaml")
    await registry.update("top")
    assert registry.states["top"].includes == ["b"]
    assert registry.states["a"].included_by == []
    assert registry.states["b"].included_by == ["top"]


async def test_a_bundle_that_includes_itself_still_loads(tmp_path: Path) -> None:
    top = bundle(tmp_path, "top", "./top.yaml", more="tools: [{module: t}]")
    for strict in (False, True):
        loaded = await load_bundle(top, strict=strict)
        assert loaded.tools == [{"module": "t"}]
        assert [entry.kind for entry in loaded.skipped] == ["circular"]
        assert "Circular dependency detected: top" in loaded.skipped[0].reason


async def test_a_circle_of_several_is_cut_where_it_closes(tmp_path: Path) -> None:
    bundle(tmp_path, "a", "./b.yaml", more="tools: [{module: a}]")
    bundle(tmp_path, "b", "./c.yaml", more="tools: [{module: b}]")
    bundle(tmp_path, "c", "./a.yaml", more="tools: [{module: c}]")
    loaded = await load_bundle(tmp_path / "a.yaml")
    assert [tool["module"] for tool in loaded.tools] == ["c", "b", "a"]
    assert [(entry.included_by, entry.kind) for entry in loaded.skipped] == [("c", "circular")]


async def test_siblings_that_include_each_other_do_not_wait_for_each_other(tmp_path: Path) -> None:
    bundle(tmp_path, "b", "./c.yaml", more="tools: [{module: b}]")
    bundle(tmp_path, "c", "./b.yaml", more="tools: [{module: c}]")
    loaded = await load_bundle(bundle(tmp_path, "a", "./b.yaml", "./c.yaml"))
    assert {tool["module"] for tool in loaded.tools} == {"b", "c"}
    assert {entry.kind for entry in loaded.skipped} == {"circular"}


async def test_the_error_of_the_one_bundle_asked_for_is_its_own(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"x\.yaml:1"):
        await load_bundle(write(tmp_path / "x.yaml", "a: ["))


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("git+https://h/o/r@main", "behaviors/x"),
        ("git+https://h/o/r@main#subdirectory=packs/p", "packs/p/behaviors/x"),
        ("git+https://h/o/r@main#subdirectory=packs/p/bundle.md", "packs/p/behaviors/x"),
    ],
)
def test_a_path_in_a_repository_that_is_not_here_yet_is_a_part_of_it(
    tmp_path: Path, uri: str, path: str
) -> None:
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"ns": uri, "site": "https://h/x.md"})
    expected = f"git+https://h/o/r@main#subdirectory={path}"
    assert registry._resolve_include_source("ns:/behaviors/x/") == expected
    assert registry.uri_of("ns:behaviors/x") == expected
    assert registry._resolve_include_source("site:behaviors/x") is None


def test_what_is_no_namespace_is_not_taken_for_one(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"git+ssh": "/x", "C": "/c", "~": "/h", "zip+https": "/z"})
    for source in ("git+ssh://h/r", "git+x:y", "https://h:1/x"):
        assert registry._resolve_include_source(source) == source
    assert registry._resolve_include_source("./a:b") is None
    for source in ("~:x", "C:/x"):
        with pytest.raises(BundleNotFoundError):
            registry._resolve_include_source(source)
