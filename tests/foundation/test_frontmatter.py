import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.foundation.io import frontmatter_fault, parse_frontmatter


def test_yaml_between_the_fences_is_parsed_and_the_rest_is_the_body() -> None:
    assert parse_frontmatter("---\na: 1\n---\nbody\n") == ({"a": 1}, "body\n")


def test_a_text_without_fences_has_no_frontmatter() -> None:
    assert parse_frontmatter("# Title\n\ntext") == ({}, "# Title\n\ntext")


def test_windows_line_ends_are_accepted() -> None:
    assert parse_frontmatter("---\r\na: 1\r\nb: 2\r\n---\r\nbody\r\n") == (
        {"a": 1, "b": 2},
        "body\r\n",
    )


def test_a_byte_order_mark_before_the_fence_is_ignored() -> None:
    assert parse_frontmatter("\ufeff---\na: 1\n---\nx") == ({"a": 1}, "x")


def test_a_blank_line_before_the_fence_means_no_frontmatter() -> None:
    text = "\n---\na: 1\n---\n"
    assert parse_frontmatter(text) == ({}, text)


def test_fences_with_nothing_between_mean_no_frontmatter() -> None:
    assert parse_frontmatter("---\n---") == ({}, "---\n---")
    assert parse_frontmatter("---\n---\nbody\n---\n") == ({}, "---\n---\nbody\n---\n")


def test_fences_around_a_blank_line_are_an_empty_mapping() -> None:
    assert parse_frontmatter("---\n\n---") == ({}, "")


def test_a_missing_closing_fence_means_no_frontmatter() -> None:
    assert parse_frontmatter("---\na: 1\n") == ({}, "---\na: 1\n")


def test_a_longer_rule_is_no_fence() -> None:
    assert parse_frontmatter("----\na: 1\n----\n")[0] == {}


def test_fences_inside_the_body_stay_in_the_body() -> None:
    assert parse_frontmatter("---\na: 1\n---\none\n---\ntwo") == ({"a": 1}, "one\n---\ntwo")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\na: 1\n--\nbody", 1),
        ("---\na: 1\n", 1),
        ("---\na: 1\n ---\nbody", 1),
        ("\n \n---\na: 1\n---\nbody", 3),
        (" ---\na: 1\n---\nbody", 1),
        ("\n\ufeff---\n# why\na: 1\n---\nbody", 2),
        ("--- # agent\n'a': 1\n---\nbody", 1),
        ("----\na: 1\n----\nbody", 1),
        ("--\na: 1\n--\nbody", 1),
        ("\u2014-\na: 1\n---\nbody", 1),
        ("---\ra: 1\r---\rbody", 1),
    ],
)
def test_what_was_meant_as_frontmatter_and_is_read_as_text_is_told(text: str, line: int) -> None:
    assert parse_frontmatter(text) == ({}, text)
    fault = frontmatter_fault(text)
    assert fault is not None and fault.line == line
    assert frontmatter_fault(f"---\nb: 1\n---\n{text}") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "Read.\n\n---\na: 1\n",
        "---\n---\nbody",
        "---",
        "\n---\n\n# Read\n\nAll of it: all.",
    ],
)
def test_a_text_without_frontmatter_has_none_that_is_told(text: str) -> None:
    assert frontmatter_fault(text) is None


def test_broken_yaml_is_reported_as_yaml_error() -> None:
    with pytest.raises(yaml.YAMLError):
        parse_frontmatter("---\na: [1\n---\n")


def test_a_list_is_returned_as_a_list() -> None:
    assert parse_frontmatter("---\n- a\n---\n") == (["a"], "")


@given(st.text())
def test_any_text_is_split_or_refused_as_yaml(text: str) -> None:
    try:
        data, body = parse_frontmatter(text)
    except yaml.YAMLError:
        return
    assert text.endswith(body)
    assert data is not None


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.integers() | st.booleans()),
    st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_was_written_as_frontmatter_comes_back(
    data: dict[str, int], body: str, end: str
) -> None:
    inner = yaml.safe_dump(data).replace("\n", end)
    assert parse_frontmatter(f"---{end}{inner}---{end}{body}") == (data, body)
