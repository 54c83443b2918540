import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.paths import (
    ParsedURI,
    ResolvedSource,
    describe_cross_platform_path_mismatch,
    get_amplifier_home,
    normalize_path,
    parse_uri,
    redact_uri,
    strip_uri_drive_prefix,
)
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustGate
from tests.foundation.helpers import allow

TABLE = [
    (
        "git+https://github.com/o/r@feat/x#subdirectory=a/b",
        ("git+https", "github.com", "/o/r", "feat/x", "a/b"),
    ),
    ("git+https://github.com/o/r", ("git+https", "github.com", "/o/r", "main", "")),
    ("git+ssh://git@github.com/o/r@v1", ("git+ssh", "git@github.com", "/o/r", "v1", "")),
    ("git+file:///srv/r@main", ("git+file", "", "/srv/r", "main", "")),
    (
        "git+https://h/o/r@main#egg=foo&subdirectory=q",
        ("git+https", "h", "/o/r", "main", "q"),
    ),
    ("git+https://h/@scope/r", ("git+https", "h", "/@scope/r", "main", "")),
    ("git+https://h/o/r@", ("git+https", "h", "/o/r", "main", "")),
    ("zip+https://x/b.zip#subdirectory=a", ("zip+https", "x", "/b.zip", "", "a")),
    ("zip+file:///a/b@c.zip", ("zip+file", "", "/a/b@c.zip", "", "")),
    ("file:///a/b#subdirectory=c", ("file", "", "/a/b", "", "c")),
    ("/abs/p#subdirectory=x", ("file", "", "/abs/p#subdirectory=x", "", "")),
    ("./rel", ("file", "", "./rel", "", "")),
    ("../rel", ("file", "", "../rel", "", "")),
    ("C:\\x", ("file", "", "C:\\x", "", "")),
    ("C:/x", ("file", "", "C:/x", "", "")),
    ("\\\\srv\\share", ("file", "", "\\\\srv\\share", "", "")),
    ("https://x/p#subdirectory=z", ("https", "x", "/p", "", "z")),
    ("https://x/p?raw=1", ("https", "x", "/p?raw=1", "", "")),
    ("name", ("", "", "name", "", "")),
    ("name/sub/path", ("", "", "name", "", "sub/path")),
    ("ns:path/x", ("", "", "ns:path", "", "x")),
    ("~/x", ("", "", "~", "", "x")),
    ("", ("", "", "", "", "")),
]


@pytest.mark.parametrize(("text", "parts"), TABLE, ids=[row[0] or "empty" for row in TABLE])
def test_a_uri_is_taken_apart(text: str, parts: tuple[str, str, str, str, str]) -> None:
    assert parse_uri(text) == ParsedURI(*parts)


def test_the_kind_of_a_uri_is_told() -> None:
    kinds = {
        "git+https://h/o/r": "is_git",
        "file:///a": "is_file",
        "./a": "is_file",
        "https://h/a": "is_http",
        "zip+file:///a.zip": "is_zip",
        "name": "is_package",
    }
    flags = ("is_git", "is_file", "is_http", "is_zip", "is_package")
    for text, kind in kinds.items():
        assert [flag for flag in flags if getattr(parse_uri(text), flag)] == [kind]
    assert not any(getattr(parse_uri(""), flag) for flag in flags)


@given(st.text())
@example("git+://@#")
@example("://")
@example("git+https://[::1")
def test_any_text_is_exactly_one_kind_of_uri_or_none(text: str) -> None:
    parsed = parse_uri(text)
    flags = [parsed.is_git, parsed.is_file, parsed.is_http, parsed.is_zip, parsed.is_package]
    assert sum(flags) <= 1
    assert not parsed.subpath.startswith("/") or parsed.is_package
    assert not parsed.is_git or parsed.ref


@given(
    st.from_regex(r"[a-z][a-z0-9.-]{0,10}", fullmatch=True),
    st.lists(st.from_regex(r"[A-Za-z0-9_.-]{1,6}", fullmatch=True), min_size=1, max_size=4),
    st.from_regex(r"[A-Za-z0-9_.-]{1,8}(/[A-Za-z0-9]{1,4})?", fullmatch=True),
    st.from_regex(r"[a-z]{1,5}(/[a-z]{1,5})?", fullmatch=True),
)
def test_the_parts_of_a_git_uri_come_back(
    host: str, path: list[str], ref: str, subpath: str
) -> None:
    parsed = parse_uri(f"git+https://{host}/{'/'.join(path)}@{ref}#subdirectory={subpath}")
    assert parsed == ParsedURI("git+https", host, "/" + "/".join(path), ref, subpath)


def test_the_home_is_the_variable_or_a_folder_in_the_users_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "x"))
    assert get_amplifier_home() == tmp_path / "x"
    monkeypatch.setenv("AMPLIFIER_HOME", "~/y")
    assert get_amplifier_home() == Path.home() / "y"
    monkeypatch.delenv("AMPLIFIER_HOME")
    assert get_amplifier_home() == Path.home() / ".amplifier"


def test_paths_become_absolute(tmp_path: Path) -> None:
    assert normalize_path("a/../b", tmp_path) == tmp_path / "b"
    assert normalize_path("~/x") == Path.home() / "x"
    assert normalize_path(str(tmp_path / "c"), Path("/elsewhere")) == tmp_path / "c"


@pytest.mark.skipif(os.name == "nt", reason="the other direction")
def test_a_path_of_another_operating_system_is_refused_with_the_reason() -> None:
    with pytest.raises(BundleNotFoundError, match="Windows path"):
        normalize_path("C:\\Users\\x")
    assert describe_cross_platform_path_mismatch("/usr") is None


@pytest.mark.skipif(os.name == "nt", reason="the other direction")
@pytest.mark.parametrize(
    "uri", ["C:\\x", "file:///C:/x", "zip+file:///C:/x.zip", "git+file:///C:/x@main"]
)
async def test_a_source_of_another_operating_system_is_named_as_such(
    uri: str, tmp_path: Path
) -> None:
    sources = SimpleSourceResolver(tmp_path, context=FetchContext(TrustGate(allow)))
    with pytest.raises(BundleNotFoundError, match="Windows path, and this machine does not run"):
        await sources.resolve(uri)


def test_the_drive_of_a_file_uri_loses_its_slash() -> None:
    assert strip_uri_drive_prefix("/C:/x") == "C:/x"
    assert strip_uri_drive_prefix("/usr/x") == "/usr/x"


def test_a_resolved_source_knows_whether_it_is_a_part() -> None:
    assert ResolvedSource(Path("/a/b"), Path("/a")).is_subdirectory
    assert not ResolvedSource(Path("/a"), Path("/a")).is_subdirectory


def test_credentials_are_taken_out_of_shown_uris() -> None:
    assert redact_uri("git+https://me:secret@h/r and x") == "git+https://…@h/r and x"
    assert redact_uri("git+ssh://git@h/r") == "git+ssh://git@h/r"
