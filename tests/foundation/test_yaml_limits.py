from pathlib import Path

import pytest
import yaml

from amplifier_tui.foundation import io as io_yaml
from amplifier_tui.foundation.io import YamlDocument, load_yaml, read_yaml, write_yaml

BILLION_LAUGHS = "\n".join(
    ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
)


@pytest.mark.parametrize(
    "text",
    [
        BILLION_LAUGHS,
        "a: &a [*a]",
        "[" * 200_000,
        "{a: " * 5_000,
        "- " * 5_000 + "x",
        "a: 2024-13-45",
        "9" * 5_000,
        "a: !!python/object/apply:os.system [true]",
        "a: !!binary aHR0cDovL2V2aWwuZXhhbXBsZQ==",
        "a: !!set {b, c}",
        "a: !!omap [b: c]",
        "a: !!pairs [b: c]",
        f"a: 0x{'f' * 5_000}",
        "? [1]\n: 2",
        "a: \x00",
        "a: '\ud800'",
        "a: b: c",
        "x" * (io_yaml.MAX_CHARACTERS + 1),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_yaml_is_refused_as_yaml_error(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        load_yaml(text)


def test_harmless_aliases_and_merge_keys_work() -> None:
    text = "base: &b {x: 1}\none: {<<: *b, y: 2}\ntwo: *b"
    assert load_yaml(text) == {"base": {"x": 1}, "one": {"x": 1, "y": 2}, "two": {"x": 1}}


def test_many_brackets_in_a_flat_document_are_fine() -> None:
    assert len(load_yaml("\n".join("- [1]" for _ in range(500)))) == 500


def test_the_line_of_a_value_is_found_as_deep_as_it_exists() -> None:
    text = "bundle:\n  name: x\ntools:\n  - module: a\n  - module: b\n    config: 3\n"
    document = YamlDocument(text)
    assert document.line_of(("tools", 1, "config")) == 6
    assert document.line_of(("tools", 1, "missing")) == 5
    assert document.line_of(("tools", 9)) == 3
    assert YamlDocument(text, first_line=2).line_of(("bundle", "name")) == 3
    assert YamlDocument("").line_of(("a",)) is None


def test_a_value_that_overrides_a_merged_one_has_its_own_line() -> None:
    document = YamlDocument("base: &b {x: 1}\none:\n  <<: *b\n  x: 2\n")
    assert document.data["one"] == {"x": 2}
    assert document.line_of(("one", "x")) == 4
    assert document.repeated_keys() == []


def test_keys_that_are_there_twice_are_found_with_their_line() -> None:
    document = YamlDocument("a: 1\nb: {c: 1, c: 2}\na: 2\n")
    assert document.repeated_keys() == [("c", 2), ("a", 3)]


async def test_a_yaml_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.yaml"
    await write_yaml(path, {"b": 1, "a": ["ü"]})
    assert await read_yaml(path) == {"b": 1, "a": ["ü"]}
    assert path.read_text(encoding="utf-8").startswith("b:")


async def test_a_missing_yaml_file_is_none_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    assert await read_yaml(tmp_path / "no.yaml") is None
    (tmp_path / "empty.yaml").write_text("")
    assert await read_yaml(tmp_path / "empty.yaml") == {}
