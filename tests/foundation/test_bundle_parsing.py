import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.exceptions import BundleValidationError

SECTIONS = ["providers", "tools", "hooks"]


def test_an_empty_mapping_is_a_nameless_bundle_with_defaults() -> None:
    bundle = Bundle.from_dict({})
    assert (bundle.name, bundle.version, bundle.description) == ("", "1.0.0", "")
    assert bundle.to_mount_plan() == {}
    assert bundle.instruction is None


@pytest.mark.parametrize(
    "key", ["bundle", "includes", "session", *SECTIONS, "agents", "context", "spawn"]
)
def test_null_means_absent_everywhere(key: str) -> None:
    bundle = Bundle.from_dict({key: None})
    assert bundle == Bundle.from_dict({})
    assert bundle.compose(Bundle.from_dict({"session": {"a": 1}})).session == {"a": 1}


def test_null_fields_of_the_class_become_empty() -> None:
    bundle = Bundle(
        name="x",
        context=None,  # a caller without type checks
        source_base_paths=None,
        _pending_context=None,
        origins=None,
    )
    assert (bundle.context, bundle.source_base_paths, bundle.origins) == ({}, {}, {})


def test_the_fields_are_in_the_published_order() -> None:
    names = list(Bundle.__dataclass_fields__)
    assert names[:17] == [
        "name",
        "version",
        "description",
        "includes",
        "namespace_root",
        "session",
        "providers",
        "tools",
        "hooks",
        "spawn",
        "agents",
        "context",
        "instruction",
        "base_path",
        "source_base_paths",
        "_pending_context",
        "origins",
    ]


def test_an_unquoted_version_stays_a_number() -> None:
    assert Bundle.from_dict({"bundle": {"name": "x", "version": 0.1}}).version == 0.1


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_that_is_no_list_is_refused_with_the_right_format(section: str) -> None:
    with pytest.raises(BundleValidationError) as caught:
        Bundle.from_dict({"bundle": {"name": "b"}, section: "x"})
    assert f"Bundle 'b' has malformed {section}: expected list, got str." in str(caught.value)
    assert "Correct format:" in str(caught.value)


def test_an_entry_that_is_no_mapping_is_refused_with_its_place() -> None:
    with pytest.raises(BundleValidationError) as caught:
        Bundle.from_dict({"tools": [{"module": "a"}, {}, "x"]}, Path("/base"))
    expected = "tools[2]: expected dict with 'module' and 'source' keys, got str 'x'"
    assert expected in str(caught.value)
    assert "'/base'" in str(caught.value)


def test_a_missing_module_is_no_error_while_loading() -> None:
    assert Bundle.from_dict({"tools": [{"source": "x"}]}).tools == [{"source": "x"}]


def test_sources_in_the_home_become_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    tools = [{"module": "a", "source": source} for source in ("~", "~/mods", "~mods", "a~/b")]
    bundle = Bundle.from_dict({"tools": tools}, base_path=Path("/base"))
    assert [tool["source"] for tool in bundle.tools] == [
        *("/home/me", "/home/me/mods", "~mods", "a~/b")
    ]


def test_relative_sources_become_absolute_on_copies() -> None:
    data: dict[str, Any] = {
        "tools": [{"module": "a", "source": "./m/a", "extra": 1}],
        "hooks": [{"module": "h", "source": "../h"}, {"module": "g", "source": "git+https://h/r"}],
        "session": {"orchestrator": {"module": "o", "source": "./o"}, "context_source": "./c"},
        "agents": {"helper": {"tools": [{"module": "t", "source": "./t"}]}},
    }
    before = copy.deepcopy(data)
    bundle = Bundle.from_dict(data, Path("/base/dir"))
    assert bundle.tools == [{"module": "a", "source": "/base/dir/m/a", "extra": 1}]
    assert [hook["source"] for hook in bundle.hooks] == ["/base/h", "git+https://h/r"]
    assert bundle.session["orchestrator"]["source"] == "/base/dir/o"
    assert bundle.session["context_source"] == "/base/dir/c"
    assert bundle.agents["helper"]["tools"][0]["source"] == "/base/dir/t"
    assert data == before


def test_agents_are_names_and_inline_definitions() -> None:
    bundle = Bundle.from_dict(
        {"agents": {"include": ["ns:a", "b"], "inline": {"description": "d"}, "dirs": ["./x"]}}
    )
    assert bundle.agents == {
        "ns:a": {"name": "ns:a"},
        "b": {"name": "b"},
        "inline": {"description": "d"},
    }


@pytest.mark.parametrize("value", ["all", "none", ["a", "b"]])
def test_a_text_or_list_of_agents_is_access_control_and_no_roster(value: Any) -> None:
    assert Bundle.from_dict({"agents": value}).agents == {}


def test_context_files_are_found_next_to_the_bundle_or_wait_for_their_namespace() -> None:
    bundle = Bundle.from_dict(
        {"context": {"include": ["docs/a.md", "/b.md", "ns:c.md"], "d": "e.md", "f": "@ns:g.md"}},
        Path("/base"),
    )
    assert bundle.context == {
        "docs/a.md": Path("/base/docs/a.md"),
        "b.md": Path("/base/b.md"),
        "d": Path("/base/e.md"),
    }
    assert bundle._pending_context == {"ns:c.md": "ns:c.md", "f": "ns:g.md"}


def test_a_list_of_context_and_a_leading_at_sign_are_accepted() -> None:
    bundle = Bundle.from_dict({"context": ["@foundation:a.md", "@b.md"]}, Path("/base"))
    assert bundle._pending_context == {"foundation:a.md": "foundation:a.md"}
    assert bundle.context == {"b.md": Path("/base/b.md")}


def test_without_a_folder_plain_context_entries_are_dropped() -> None:
    bundle = Bundle.from_dict({"context": {"include": ["a.md", "ns:b.md"]}})
    assert bundle.context == {}
    assert bundle._pending_context == {"ns:b.md": "ns:b.md"}


@pytest.mark.parametrize(
    "data",
    [
        {"bundle": "x"},
        {"bundle": {"name": 5}},
        {"bundle": {"name": "x", "namespace_root": []}},
        {"includes": "foundation"},
        {"session": []},
        {"spawn": "x"},
        {"agents": 5},
        {"agents": {"include": "x"}},
        {"agents": {"include": [1]}},
        {"context": "a.md"},
        {"context": {"include": {"a": 1}}},
        {"context": {"x": 3}},
        {"tools": {"module": "a"}},
    ],
)
def test_wrong_types_are_refused_with_their_name(data: dict[str, Any]) -> None:
    with pytest.raises(BundleValidationError, match="malformed"):
        Bundle.from_dict(data, Path("/base"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["include", "module", "name", "source", "bundle", "config"])
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["bundle", "includes", "session", *SECTIONS, "agents", "context", "spawn", "other"]
        ),
        json_values,
    )
)
def test_any_mapping_is_a_bundle_or_refused_as_invalid(data: dict[str, Any]) -> None:
    try:
        bundle = Bundle.from_dict(data, Path("/base"))
    except BundleValidationError:
        return
    composed = bundle.compose(bundle)
    assert set(composed.to_mount_plan()) <= {"session", *SECTIONS, "agents", "spawn"}
