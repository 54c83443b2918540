import copy
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.composing import tag_container_provenance
from amplifier_tui.foundation.bundle.definitions import mode_files
from amplifier_tui.foundation.bundle.model import Origin
from amplifier_tui.foundation.bundle.preparing import package_folders
from amplifier_tui.foundation.bundle.prompt import mention_resolver
from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.registry.registry import load_bundle
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import write


def bundle(name: str = "", **parts: Any) -> Bundle:
    return Bundle.from_dict({"bundle": {"name": name}, **parts})


def test_later_overrides_earlier_in_every_section() -> None:
    base = bundle(
        "base",
        session={"orchestrator": "loop-basic", "context": {"config": {"max": 1}}},
        tools=[{"module": "a", "config": {"x": 1}}, {"module": "b"}],
        spawn={"exclude_tools": ["a"]},
        agents={"helper": {"description": "old", "tools": []}},
    )
    top = bundle(
        "top",
        session={"orchestrator": "loop-streaming"},
        tools=[{"module": "a", "config": {"y": 2}}, {"module": "c"}],
        spawn={"exclude_tools": ["b"]},
        agents={"helper": {"description": "new"}},
    )
    base.instruction, top.instruction = "old", "new"
    result = base.compose(top)
    assert result.session == {"orchestrator": "loop-streaming", "context": {"config": {"max": 1}}}
    assert result.tools == [
        {"module": "a", "config": {"x": 1, "y": 2}},
        {"module": "b"},
        {"module": "c"},
    ]
    assert result.spawn == {"exclude_tools": ["a", "b"]}
    assert result.agents == {"helper": {"description": "new"}}
    assert (result.name, result.instruction) == ("top", "new")


def test_null_leaves_out_the_settings_of_a_module_of_the_session_that_is_replaced() -> None:
    base = bundle("base", session={"context": {"module": "x", "config": {"a": 1}}})
    deep = base.compose(bundle("deep", session={"context": {"module": "y"}}))
    assert deep.session == {"context": {"module": "y", "config": {"a": 1}}}
    none = base.compose(bundle("none", session={"context": {"module": "y", "config": None}}))
    assert none.session == {"context": {"module": "y", "config": None}}
    anew = none.compose(bundle("anew", session={"context": {"config": {"b": 2}}}))
    assert anew.session == {"context": {"module": "y", "config": {"b": 2}}}


def test_a_nameless_overlay_keeps_name_and_instruction() -> None:
    base = bundle("base")
    base.instruction = "keep"
    result = base.compose(Bundle.from_dict({"tools": [{"module": "a"}]}))
    assert (result.name, result.instruction) == ("base", "keep")


def test_a_later_bundle_without_a_version_resets_it() -> None:
    base = Bundle.from_dict({"bundle": {"name": "a", "version": "2.0"}})
    assert base.compose(bundle("b")).version == "1.0.0"


def test_a_description_is_replaced_when_there_is_one() -> None:
    base = Bundle(name="a", description="old")
    assert base.compose(Bundle(name="b")).description == "old"
    assert base.compose(Bundle(name="b", description="new")).description == "new"


def test_includes_and_namespace_root_come_from_the_first_only() -> None:
    base = Bundle(name="a", includes=["x"], namespace_root="..")
    result = base.compose(Bundle(name="b", includes=["y"], namespace_root="z"))
    assert (result.includes, result.namespace_root) == (["x"], "..")


def test_modules_merge_even_when_both_lists_are_the_same() -> None:
    entry = {"module": "a", "config": {"l": [1]}}
    duplicated = Bundle(name="a", tools=[entry, dict(entry)])
    assert len(duplicated.to_mount_plan()["tools"]) == 2
    assert duplicated.compose(duplicated).tools == [entry]


def test_context_accumulates_under_the_names_of_its_owners() -> None:
    one = Bundle(name="one", context={"a.md": Path("/1/a.md"), "x:b.md": Path("/x/b.md")})
    two = Bundle(name="two", context={"a.md": Path("/2/a.md")}, _pending_context={"n:p": "n:p"})
    nameless = Bundle(name="", context={"c.md": Path("/3/c.md")})
    result = one.compose(two, nameless)
    assert result.context == {
        "one:a.md": Path("/1/a.md"),
        "x:b.md": Path("/x/b.md"),
        "two:a.md": Path("/2/a.md"),
        "c.md": Path("/3/c.md"),
    }
    assert result._pending_context == {"n:p": "n:p"}
    assert list(one.compose().context) == ["one:a.md", "x:b.md"]


def test_the_folder_is_the_last_ones_and_namespaces_keep_the_first() -> None:
    one = Bundle(name="one", base_path=Path("/1"))
    again = Bundle(name="one", base_path=Path("/other"))
    nested = Bundle(name="in", base_path=Path("/n/b"), source_base_paths={"in": Path("/n")})
    plain = Bundle(name="two", base_path=Path("/2"))
    result = one.compose(again, plain, nested, Bundle(name="x"))
    assert result.base_path == Path("/n/b")
    assert result.source_base_paths == {
        "one": Path("/1"),
        "two": Path("/2"),
        "in": Path("/n"),
    }


def test_composing_changes_and_shares_nothing() -> None:
    one = bundle("one", tools=[{"module": "a", "config": {"l": [1]}}], session={"s": {"t": 1}})
    two = bundle("two", tools=[{"module": "b", "config": {"m": {"n": 1}}}])
    before = copy.deepcopy((one, two))
    result = one.compose(two)
    result.tools[0]["config"]["l"].append(2)
    result.tools[1]["config"]["m"]["n"] = 2
    result.session["s"]["t"] = 2
    assert (one, two) == before


def test_a_module_section_built_by_hand_with_wrong_entries_is_a_type_error() -> None:
    broken = Bundle(name="a", tools=["x"])  # a caller without type checks
    with pytest.raises(TypeError, match="Malformed"):
        broken.to_mount_plan() and Bundle(name="b").compose(broken)


def test_the_mount_plan_has_only_what_is_not_empty_in_a_fixed_order() -> None:
    full = bundle(
        "x",
        spawn={"tools": []},
        agents={"a": {"d": 1}},
        hooks=[{"module": "h"}],
        tools=[{"module": "t"}],
        providers=[{"module": "p"}],
        session={"orchestrator": "o"},
        context={"include": ["ns:a"]},
    )
    assert list(full.to_mount_plan()) == [
        "session",
        "providers",
        "tools",
        "hooks",
        "agents",
        "spawn",
    ]
    assert bundle("x", tools=[]).to_mount_plan() == {}


def test_the_sections_of_a_mount_plan_are_new_and_their_entries_are_the_bundles() -> None:
    source = bundle("x", tools=[{"module": "t"}])
    plan = source.to_mount_plan()
    plan["tools"].append({"module": "u"})
    plan["tools"][0]["config"] = {"a": 1}
    assert source.tools == [{"module": "t", "config": {"a": 1}}]


def test_every_entry_names_its_contributors_in_order() -> None:
    one = bundle("one", tools=[{"module": "t"}], session={"orchestrator": "o"})
    two = bundle("two", tools=[{"module": "t", "config": {}}], hooks=[{"module": "h", "id": "i"}])
    two.instruction = "hi"
    origins = one.compose(two).origins
    assert origins["tool:t"] == [Origin("one"), Origin("two")]
    assert origins["hook:i"] == [Origin("two")]
    assert origins["session:orchestrator"] == [Origin("one")]
    assert origins["session.orchestrator:o"] == [Origin("one")]
    assert origins["instruction:"] == [Origin("two")]


def test_everything_in_a_bundle_can_be_marked_as_come_through_an_include() -> None:
    inner = bundle("inner", tools=[{"module": "t"}])
    tag_container_provenance(inner, "behaviors/inner")
    tag_container_provenance(inner, "outer")
    (origin,) = inner.origins["tool:t"]
    assert (origin.via_behavior, origin.chain) == ("behaviors/inner", ("outer", "behaviors/inner"))


async def test_origins_tell_through_which_include_a_bundle_came(tmp_path: Path) -> None:
    write(
        tmp_path / "b" / "c.yaml", "bundle: {name: c}\nagents: {include: [x]}\nspawn: {tools: []}"
    )
    write(
        tmp_path / "b" / "a.yaml",
        "bundle: {name: a}\nincludes: [./c.yaml]\nproviders: [{module: p}]\n"
        "context: {include: [n.md]}",
    )
    write(
        tmp_path / "root.md",
        "---\nbundle: {name: r}\nincludes: [{bundle: ./b/a.yaml}]\nproviders: [{module: p}]\n---\n",
    )
    origins = (await load_bundle(tmp_path / "root.md")).origins
    assert origins["provider:p"] == [Origin("a", "./b/a.yaml"), Origin("r")]
    assert origins["agent:x"] == [Origin("c", "./c.yaml")]
    assert origins["spawn:tools"] == [Origin("c", "./c.yaml")]
    assert origins["context:a:n.md"] == [Origin("a", "./b/a.yaml")]


def test_pending_context_moves_when_its_namespace_is_known(tmp_path: Path) -> None:
    source = Bundle(
        name="me",
        base_path=tmp_path / "me",
        source_base_paths={"ns": tmp_path / "ns"},
        _pending_context={"ns:a.md": "ns:a.md", "me:b.md": "me:b.md", "no:c.md": "no:c.md"},
    )
    source.resolve_pending_context()
    assert source.context == {"ns:a.md": tmp_path / "ns/a.md", "me:b.md": tmp_path / "me/b.md"}
    assert source._pending_context == {"no:c.md": "no:c.md"}


def test_a_context_name_is_looked_up_before_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "")
    source = Bundle(name="x", base_path=tmp_path, context={"k": Path("/k.md")})
    assert source.resolve_context_path("k") == Path("/k.md")
    assert source.resolve_context_path("a.md") == tmp_path / "a.md"
    assert source.resolve_context_path("no.md") is None
    assert source.resolve_context_path("") == tmp_path
    assert source.resolve_context_path("/") == tmp_path
    assert Bundle(name="x").resolve_context_path("a.md") is None


@pytest.fixture
def of_one_name(tmp_path: Path) -> Path:
    """The folder of a bundle that is named as the part it includes, which is in `part` there."""
    own = tmp_path / ".amplifier/bundles"
    for folder, name in ((own / "part", "part"), (own, "own")):
        for file in (f"{name}.md", "both.md", f"modes/{name}.md", f"scripts/{name}.yaml"):
            write(folder / file, "turns: []\n")
        head = "---\nmeta: {description: d}\n---\n"
        for file in ("agents/part-agent.md", f"agents/{name}-agent.md", "told-part.md"):
            write(folder / file, f"{head}As @search:{name}.md says.\n")
    write(own / "told-own.md", "")
    needs = (
        "context: {include: ['search:told-part.md']}\nagents: {include: ['search:part-agent']}\n"
    )
    write(own / "part/search.yaml", f"bundle: {{name: search}}\n{needs}")
    write(
        own / "search.md",
        "---\nbundle: {name: search}\nincludes: [./part/search.yaml]\n"
        f"{needs.replace('part', 'own')}"
        "session: {orchestrator: {module: loop-streaming}, context: {module: context-simple}}\n"
        "providers: [{module: provider-mock, config: {script: scripts/own.yaml}}]\n"
        "---\nRead @search:both.md and @search:own.md and @search:part.md\n",
    )
    return own


async def test_a_bundle_named_as_a_part_of_it_finds_its_own_files_and_the_part_its_own(
    tmp_path: Path, of_one_name: Path
) -> None:
    found = await Workspace.open(tmp_path).preview("search")
    assert preview_findings(found, strict=True) == []
    own, part = of_one_name, of_one_name / "part"
    bundle = await load_bundle(own / "search.md")
    bundle.resolve_pending_context()
    assert list(bundle.context.values()) == [part / "told-part.md", own / "told-own.md"]
    for name, folder in (("own", own), ("part", part)):
        path = folder / f"agents/{name}-agent.md"
        assert bundle.resolve_agent_path(f"search:{name}-agent") == path
        assert bundle.folder_of("search", f"{name}.md") == folder
    assert bundle.folder_of("search") == own
    assert {file.name for file in mode_files(bundle)} == {"own.md", "part.md"}
    assert set(package_folders(bundle)) == {own, part}
    mentions = mention_resolver(bundle, tmp_path)
    assert mentions.resolve("@search:both.md") == own / "both.md"
    assert mentions.resolve_confined("@search:part.md") == part / "part.md"
    write(part.parent.parent / "outside.md", "")
    assert mentions.resolve_confined("@search:../outside.md") is None


async def test_what_includes_a_bundle_named_as_a_part_of_it_finds_the_files_of_both(
    tmp_path: Path, of_one_name: Path
) -> None:
    text = f"bundle: {{name: top}}\nincludes: [{of_one_name}/search.md]\n"
    mentions = mention_resolver(await load_bundle(write(tmp_path / "top.yaml", text)), tmp_path)
    assert mentions.resolve("@search:both.md") == of_one_name / "both.md"
    assert mentions.resolve("@search:part.md") == of_one_name / "part/part.md"
