from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle import loading
from amplifier_tui.foundation.bundle.loading import load_bundle_path
from amplifier_tui.foundation.checks.validator import BundleValidator
from amplifier_tui.foundation.exceptions import (
    BundleLoadError,
    BundleNotFoundError,
    BundleValidationError,
)
from tests.foundation.helpers import write


def test_markdown_gives_configuration_and_instruction(tmp_path: Path) -> None:
    path = write(tmp_path / "x.md", "---\nbundle: {name: x}\n---\n\n  Do this.\n")
    bundle = load_bundle_path(path)
    assert (bundle.name, bundle.instruction, bundle.base_path) == ("x", "Do this.", tmp_path)
    assert bundle.source_file == path


def test_an_empty_body_is_no_instruction(tmp_path: Path) -> None:
    assert load_bundle_path(write(tmp_path / "x.md", "---\na: 1\n---\n \n")).instruction is None


@pytest.mark.parametrize("suffix", ["yaml", "yml"])
def test_yaml_gives_configuration_only(tmp_path: Path, suffix: str) -> None:
    bundle = load_bundle_path(write(tmp_path / f"x.{suffix}", "bundle: {name: y}\ninstruction: z"))
    assert (bundle.name, bundle.instruction) == ("y", None)


def test_of_a_folder_markdown_comes_before_yaml(tmp_path: Path) -> None:
    write(tmp_path / "bundle.yaml", "bundle: {name: from-yaml}")
    assert load_bundle_path(tmp_path).name == "from-yaml"
    write(tmp_path / "bundle.md", "---\nbundle: {name: from-md}\n---\n")
    assert load_bundle_path(tmp_path).name == "from-md"


def test_a_folder_without_a_bundle_file_says_what_is_missing(tmp_path: Path) -> None:
    expected = f"Not a valid bundle: missing bundle.md or bundle.yaml in {tmp_path}"
    with pytest.raises(BundleLoadError, match=expected):
        load_bundle_path(tmp_path)


def test_another_suffix_is_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(BundleLoadError, match="Unknown bundle format"):
        load_bundle_path(write(tmp_path / "x.txt", ""))


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(BundleNotFoundError, match="File not found"):
        load_bundle_path(tmp_path / "no.md")


@pytest.mark.parametrize(
    ("name", "text"), [("x.yaml", ""), ("x.yaml", "# note"), ("x.md", "plain text")]
)
def test_a_file_without_configuration_is_a_nameless_bundle(
    tmp_path: Path, name: str, text: str
) -> None:
    bundle = load_bundle_path(write(tmp_path / name, text))
    assert bundle.name == ""
    assert BundleValidator().validate(bundle).errors == ["Bundle must have a name"]


def test_windows_line_ends_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    text = "\ufeff---\r\nbundle:\r\n  name: w\r\n---\r\nBody\r\n"
    bundle = load_bundle_path(write(tmp_path / "x.md", text))
    assert (bundle.name, bundle.instruction) == ("w", "Body")
    yaml_bundle = load_bundle_path(write(tmp_path / "x.yaml", "\ufeffbundle:\r\n  name: v\r\n"))
    assert yaml_bundle.name == "v"


def test_broken_yaml_names_file_line_and_remedy(tmp_path: Path) -> None:
    path = write(tmp_path / "x.md", "---\nbundle:\n  name: x\ntools: [a\n---\nbody")
    with pytest.raises(BundleLoadError) as caught:
        load_bundle_path(path)
    assert caught.value.path == path
    assert caught.value.line in (4, 5)
    assert caught.value.remedy
    assert str(caught.value).startswith(f"{path}:{caught.value.line}: ")


@pytest.mark.parametrize("text", ["---\nbundle: {name: x}\n", "\ufeff---\r\nbundle:\r\nHello."])
def test_a_frontmatter_that_does_not_end_is_told(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "x.md", text)
    with pytest.raises(BundleLoadError, match="does not end") as caught:
        load_bundle_path(path)
    assert (caught.value.path, caught.value.line) == (path, 1)
    for plain in ("---", "---\n", "---\n---\n"):
        assert load_bundle_path(write(path, plain)).name == ""


def test_a_wrong_section_names_file_and_line(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.md", "---\nbundle: {name: x}\ntools:\n  - module: a\n  - oops\n---\n"
    )
    with pytest.raises(BundleValidationError) as caught:
        load_bundle_path(path)
    assert (caught.value.path, caught.value.line) == (path, 5)


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text\n", "5"])
def test_yaml_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BundleLoadError, match="Expected a mapping"):
        load_bundle_path(write(tmp_path / "x.yaml", text))
    with pytest.raises(BundleLoadError, match="Expected a mapping"):
        load_bundle_path(write(tmp_path / "x.md", f"---\n{text}\n---\n"))


def test_bytes_that_are_no_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"---\nname: \xff\xfe\n---\n")
    with pytest.raises(BundleLoadError, match="UTF-8"):
        load_bundle_path(path)


def test_a_file_that_is_too_large_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "MAX_BYTES", 10)
    with pytest.raises(BundleLoadError, match="larger than"):
        load_bundle_path(write(tmp_path / "x.md", "x" * 11))


def test_a_yaml_bomb_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(BundleLoadError, match="aliases expand"):
        load_bundle_path(write(tmp_path / "x.yaml", "\n".join(lines)))


def test_an_agent_file_is_a_bundle_too(tmp_path: Path) -> None:
    text = "---\nmeta: {name: a}\ntools: [{module: t}]\n---\nYou are a.\n"
    bundle = load_bundle_path(write(tmp_path / "agents" / "a.md", text))
    assert (bundle.name, bundle.tools, bundle.instruction) == ("a", [{"module": "t"}], "You are a.")


@pytest.mark.parametrize(
    ("file", "frontmatter", "name"),
    [
        ("agents/helper.md", "tools: []", "helper"),
        ("elsewhere/helper.md", "meta: {description: d}", "helper"),
        ("agents/helper.md", "meta: {name: assistant}", "assistant"),
        ("agents/helper.md", "bundle: {name: own}", "own"),
        ("behaviors/helper.md", "tools: []", ""),
        ("agents/bundle.md", "tools: []", ""),
        ("agents/helper.yaml", "tools: []", ""),
    ],
)
def test_an_agent_file_without_a_name_has_that_of_the_agent(
    tmp_path: Path, file: str, frontmatter: str, name: str
) -> None:
    text = frontmatter if file.endswith(".yaml") else f"---\n{frontmatter}\n---\nYou help."
    bundle = load_bundle_path(write(tmp_path / file, text))
    assert bundle.name == name
    assert BundleValidator().validate(bundle).valid is bool(name)


def test_modules_in_a_mapping_are_refused_with_the_form_that_is_expected(tmp_path: Path) -> None:
    file = write(tmp_path / "x.yaml", "bundle: {name: x}\ntools:\n  tool-bash: {}\n")
    with pytest.raises(BundleValidationError) as error:
        load_bundle_path(file)
    assert str(error.value) == (
        f"{file}:2: Bundle 'x' has malformed tools: expected list, got dict.\n"
        "Correct format: tools: [{module: <id>, source: <uri>}]"
    )


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "x.yaml")
    with pytest.raises(BundleLoadError, match="Not a regular file"):
        load_bundle_path(tmp_path / "x.yaml")
