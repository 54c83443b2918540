from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.catalog import BundleCatalog, BundleEntry
from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.registry.state import BundleState
from amplifier_tui.foundation.settings.settings import Settings, SettingsFiles
from tests.foundation.helpers import write


def catalog(
    tmp_path: Path, states: dict[str, BundleState] | None = None, **bundle: Any
) -> BundleCatalog:
    settings = Settings(SettingsFiles(tmp_path / "home"), {"bundle": bundle})
    return BundleCatalog(
        tmp_path / "home", tmp_path / "proj", settings, states or {}, (tmp_path / "shipped",)
    )


def test_bundles_are_found_in_every_place_and_form(tmp_path: Path) -> None:
    write(tmp_path / "proj" / ".amplifier" / "bundles" / "a" / "bundle.md", "")
    write(tmp_path / "home" / "bundles" / "b" / "bundle.yaml", "")
    write(tmp_path / "shipped" / "c.md", "\ufeff---\n")
    write(tmp_path / "shipped" / "d.yaml", "")
    write(tmp_path / "shipped" / "e.yml", "")
    for ignored in ("README.md", ".hidden.md", "notes.txt", "behaviors/x.yaml", "empty/x.txt"):
        write(tmp_path / "shipped" / ignored, "---\n")
    write(tmp_path / "shipped" / "style.md", "a text for prompts")
    write(tmp_path / "shipped" / "e2.md", "\n---\nbundle: {name: e2}\n---\n")
    states = {
        "f": BundleState(uri="git+https://me:pw@h/f", name="f", explicitly_requested=True),
        "dependency": BundleState(uri="git+https://h/dep", name="dependency"),
        "stale": BundleState(uri=str(tmp_path / "gone"), name="stale", explicitly_requested=True),
    }
    found = catalog(tmp_path, states, added={"g": "./g.md", "h": "git+https://h/h"}).entries()
    assert [(entry.name, entry.origin) for entry in found] == [
        ("a", "project"),
        ("b", "user"),
        ("c", "shipped"),
        ("d", "shipped"),
        ("e", "shipped"),
        ("e2", "shipped"),
        ("f", "git+https://…@h/f"),
        ("g", "added"),
        ("h", "added"),
    ]
    sources = {entry.name: entry.source for entry in found}
    assert sources["a"] == str(tmp_path / "proj" / ".amplifier" / "bundles" / "a")
    assert sources["g"] == str(tmp_path / "proj" / "g.md")


def test_a_name_in_several_places_means_the_first(tmp_path: Path) -> None:
    places = [
        tmp_path / "shipped" / "x.md",
        tmp_path / "home" / "bundles" / "x.md",
        tmp_path / "proj" / ".amplifier" / "bundles" / "x.md",
    ]
    states = {"x": BundleState(uri="git+https://h/x", name="x", explicitly_requested=True)}
    added = {"x": "git+https://h/added"}
    write(places[0], "---\n")

    def origin(**more: Any) -> str:
        entry = catalog(tmp_path, **more).find("x")
        assert entry is not None
        return entry.origin

    assert origin(states={"x": BundleState(uri="git+https://h/x", name="x")}) == "shipped"
    assert origin(states=states) == "git+https://h/x"
    assert origin(states=states, added=added) == "added"
    write(places[1], "---\n")
    assert origin(states=states, added=added) == "user"
    write(places[2], "---\n")
    assert origin(states=states, added=added) == "project"
    write(places[2].parent / "x" / "bundle.md", "")
    entry = catalog(tmp_path).find("x")
    assert entry is not None and entry.source == str(places[2].parent / "x")


def test_what_other_bundles_brought_is_found_by_name_and_not_listed(tmp_path: Path) -> None:
    states = {"dep": BundleState(uri="git+https://h/dep", name="dep")}
    assert catalog(tmp_path, states).entries() == []
    found = catalog(tmp_path, states).find("dep")
    assert found is not None and found.source == "git+https://h/dep"


@pytest.mark.parametrize(
    "name",
    [
        "git+https://h/r@main",
        "file:///a/b",
        "http://h/x.md",
        "https://h/x",
        "zip+file:///a",
        "ns:p",
    ],
)
def test_a_uri_is_taken_directly(tmp_path: Path, name: str) -> None:
    assert catalog(tmp_path).find(name) == BundleEntry(name, name, name)


def test_a_text_among_the_bundles_is_not_listed_and_found_by_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "proj" / ".amplifier" / "bundles" / "notes.md", "No frontmatter.")
    found = catalog(tmp_path)
    assert found.entries() == []
    assert found.find("notes") == BundleEntry("notes", str(path), "project")
    assert found.find("../bundles/notes") is None
    assert found.find("other") is None


@pytest.mark.parametrize("content", [b"", b" \n", "---\nbundle:".encode("utf-16")])
def test_what_can_be_read_neither_as_a_bundle_nor_as_a_text_is_listed(
    tmp_path: Path, content: bytes
) -> None:
    path = write(tmp_path / "proj" / ".amplifier" / "bundles" / "mine.md", "")
    path.write_bytes(content)
    assert catalog(tmp_path).entries() == [BundleEntry("mine", str(path), "project")]


def test_a_letter_that_is_cut_where_the_look_ends_makes_no_bundle_of_a_text(tmp_path: Path) -> None:
    write(tmp_path / "proj" / ".amplifier" / "bundles" / "notes.md", "x" * 511 + "ä")
    assert catalog(tmp_path).entries() == []


def test_a_path_is_taken_when_it_exists(tmp_path: Path, own_home: Path) -> None:
    write(tmp_path / "proj" / "my.bundle" / "bundle.md", "")
    write(own_home / "h.md", "")
    write(tmp_path / "proj" / "drafts" / "d.yaml", "")
    found = catalog(tmp_path)
    for name in ("./my.bundle", "./my.bundle/bundle.md"):
        entry = found.find(name)
        assert entry is not None and entry.name == "my.bundle"
    entry = found.find("~/h.md")
    assert entry is not None and (entry.name, entry.source) == ("h", str(own_home / "h.md"))
    entry = found.find("drafts/d.yaml")
    assert entry is not None and entry.name == "d"
    assert found.find("./gone") is None
    assert found.find("drafts/gone.yaml") is None
    assert found.find("nobody") is None


def test_without_project_or_folders_there_is_nothing(tmp_path: Path) -> None:
    settings = Settings(SettingsFiles(tmp_path))
    assert BundleCatalog(tmp_path, None, settings, {}).entries() == []


def test_a_bundle_of_the_project_hides_another_of_its_name(tmp_path: Path) -> None:
    for name in ("shipped", "yours", "own"):
        write(tmp_path / "proj" / ".amplifier" / "bundles" / f"{name}.md", "---\n")
    for place in ("shipped/shipped.md", "shipped/other.md", "home/bundles/yours.md"):
        write(tmp_path / place, "---\n")
    found = catalog(tmp_path)
    hiding = [entry.name for entry in found.entries() if found.hides_another(entry)]
    assert hiding == ["shipped", "yours"]


def test_a_bundle_is_in_the_place_of_the_next_one_of_its_name_that_would_be_shown(
    tmp_path: Path,
) -> None:
    for place in ("shipped/x.md", "shipped/y.md", "proj/.amplifier/bundles/y.md", "else/x.md"):
        write(tmp_path / place, "---\n")
    own = str(tmp_path / "proj" / ".amplifier" / "bundles" / "y.md")
    states = {"x": BundleState(uri="git+https://h/dep", name="x")}
    found = catalog(tmp_path, states, added={"x": "git+https://h/x", "y": own, "z": "./z.md"})
    others = [found.in_place_of(entry) for entry in found.entries()]
    assert [other and (other.name, other.origin) for other in others] == [
        ("x", "shipped"),
        ("y", "shipped"),
        None,
    ]
    named = found.find(str(tmp_path / "else" / "x.md"))
    assert named is not None and found.in_place_of(named) is None
    (shipped,) = catalog(tmp_path, states).entries()[:1]
    assert catalog(tmp_path, states).in_place_of(shipped) is None


def test_the_choice_is_requested_then_resumed_then_active_then_default(tmp_path: Path) -> None:
    for name in ("r", "s", "a", "d"):
        write(tmp_path / "shipped" / f"{name}.md", "---\n")
    found = catalog(tmp_path, active="a")
    assert found.choose("r", "s", "d").entry.name == "r"
    assert found.choose("", "bundle:s", "d").entry.name == "s"
    assert found.choose("", "s", "d").entry.name == "s"
    assert found.choose("", "", "d").entry.name == "a"
    choice = catalog(tmp_path).choose(default="d")
    assert (choice.entry.name, choice.notice) == ("d", "")


def test_a_configured_bundle_that_is_gone_gives_the_default_and_a_notice(tmp_path: Path) -> None:
    write(tmp_path / "shipped" / "d.md", "---\n")
    choice = catalog(tmp_path, active="gone").choose(default="d")
    assert choice.entry.name == "d"
    assert choice.notice == "There is no bundle 'gone' any more; using 'd'"
    assert choice.gone == ""
    assert catalog(tmp_path).choose(resumed="bundle:own", default="d").gone == "own"


def test_a_requested_bundle_that_is_not_there_is_an_error_with_those_that_are(
    tmp_path: Path,
) -> None:
    write(tmp_path / "shipped" / "d.md", "---\n")
    with pytest.raises(BundleNotFoundError, match="no bundle 'x'") as caught:
        catalog(tmp_path).choose("x", default="d")
    assert "d" in caught.value.remedy
    with pytest.raises(BundleNotFoundError, match="No bundle is configured"):
        catalog(tmp_path).choose()
