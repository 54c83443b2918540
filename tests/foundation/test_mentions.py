from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.messages.mentions import mention_of, parse_mentions
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.mentions import loading
from amplifier_tui.foundation.mentions.loading import (
    ContentDeduplicator,
    expand_mentions_in_instruction,
    format_context_block,
    load_mentions,
)
from amplifier_tui.foundation.mentions.resolver import BaseMentionResolver
from tests.foundation.helpers import write


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see @a:b/c.md now", ["@a:b/c.md"]),
        ("see @a:b/c.md.", ["@a:b/c.md."]),
        ("(@x), @y; @~/z @./w @../v", ["@x", "@y", "@~/z", "@./w", "@../v"]),
        ("@a @b @a", ["@a", "@b"]),
        ("me@example.com", ["@example.com"]),
        ("@x@y.z", ["@y.z"]),
        ("`@code` @text", ["@text"]),
        ("``@double``", ["@double"]),
        ("@a`code`b", ["@a"]),
        ("```\n@fenced\n```\n@after", ["@after"]),
        ("```py\r\n@fenced\r\n```\r\n@after", ["@after"]),
        ("```\n@open", ["@open"]),
        ("@core:docs/", ["@core:docs/"]),
        ("@", []),
        ("", []),
        ("@ a", []),
        ("@ä", ["@ä"]),
        ("@über/größe.md und", ["@über/größe.md"]),
        ("@docs/日本語 ファイル", ["@docs/日本語"]),
        ("見@README.md中的", ["@README.md"]),
        ('read @"a b/😀.md", then', ["@a b/😀.md"]),
        ('@"a.md"@b.md', ["@a.md", "@b.md"]),
        ('@"open', []),
        ('@""', []),
        ('@"two\nlines"', []),
    ],
)
def test_mentions_are_found_in_prose(text: str, expected: list[str]) -> None:
    assert parse_mentions(text) == expected


@given(st.text(alphabet="@`ab:/.~-\n \r", max_size=60) | st.text())
def test_every_mention_is_a_part_of_the_text_and_unique(text: str) -> None:
    mentions = parse_mentions(text)
    assert len(set(mentions)) == len(mentions)
    for mention in mentions:
        written = mention in text or f'@"{mention[1:]}"' in text
        assert written and mention.startswith("@") and len(mention) > 1


@given(st.text(min_size=1, max_size=30))
def test_a_mention_that_is_written_for_a_path_names_that_path(path: str) -> None:
    written = mention_of(path)
    assert not written or parse_mentions(f"see {written} now") == [f"@{path}"]


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("a/b-c_d.py", "@a/b-c_d.py"),
        ("größe.md", "@größe.md"),
        ("a b.py", '@"a b.py"'),
        ("uni/日本語ファイル.txt", "@uni/日本語ファイル.txt"),
        ("src/a中b.md", '@"src/a中b.md"'),
        ('say "hi".md', ""),
    ],
)
def test_every_path_without_quotes_can_be_mentioned(path: str, written: str) -> None:
    assert mention_of(path) == written


@given(st.lists(st.from_regex(r"[A-Za-z0-9_/.~-]{1,10}", fullmatch=True), unique=True, max_size=5))
def test_mentions_between_spaces_come_back_in_order(names: list[str]) -> None:
    text = "".join(f"word @{name} " for name in names)
    assert parse_mentions(text) == [f"@{name}" for name in names]


@pytest.fixture
def resolver(tmp_path: Path) -> BaseMentionResolver:
    write(tmp_path / "ns" / "a.md", "text of a")
    write(tmp_path / "work" / "b.md", "text of b")
    bundle = Bundle(name="ns", base_path=tmp_path / "ns")
    return BaseMentionResolver({"ns": bundle}, tmp_path / "work")


def test_a_mention_is_resolved_in_its_namespace_home_or_folder(
    tmp_path: Path, resolver: BaseMentionResolver, own_home: Path
) -> None:
    write(own_home / "h.md", "")
    assert resolver.resolve("@ns:a.md") == tmp_path / "ns" / "a.md"
    assert resolver.resolve("@ns:") == tmp_path / "ns"
    assert resolver.resolve("@b.md") == tmp_path / "work" / "b.md"
    assert resolver.resolve("@b") == tmp_path / "work" / "b.md"
    assert resolver.resolve("@b.md.") == tmp_path / "work" / "b.md", "the end of a sentence"
    assert resolver.resolve_confined("@ns:a.md...") == tmp_path / "ns" / "a.md"
    write(tmp_path / "work" / "odd.md.", "")
    assert resolver.resolve("@odd.md.") == tmp_path / "work" / "odd.md."
    assert resolver.resolve("@..") == (tmp_path / "work" / "..")
    assert resolver.resolve("@~/h") == own_home / "h.md"
    assert resolver.resolve(f"@{tmp_path}/ns/a.md") == tmp_path / "ns" / "a.md"


@pytest.mark.parametrize(
    "mention",
    ["@no", "@ns:no.md", "@other:a.md", "b.md", "@", "@a\0b", "@~nobody/x", "@" + "x/" * 3000],
)
def test_what_is_nowhere_is_none(resolver: BaseMentionResolver, mention: str) -> None:
    assert resolver.resolve(mention) is None


def test_a_namespace_can_be_added(tmp_path: Path, resolver: BaseMentionResolver) -> None:
    resolver.register_bundle("more", Bundle(name="more", base_path=tmp_path / "work"))
    assert resolver.resolve("@more:b.md") == tmp_path / "work" / "b.md"


async def test_files_are_loaded_with_what_they_mention(
    tmp_path: Path, resolver: BaseMentionResolver
) -> None:
    write(tmp_path / "work" / "top.md", "top @b.md @missing.md")
    files = ContentDeduplicator()
    (result,) = await load_mentions("read @top.md", resolver, files)
    assert (result.mention, result.resolved_path) == ("@top.md", tmp_path / "work" / "top.md")
    assert result.content == "top @b.md @missing.md" and result.found
    assert [file.content for file in files.get_unique_files()] == [result.content, "text of b"]


async def test_mentions_are_followed_four_levels_of_files(
    tmp_path: Path, resolver: BaseMentionResolver
) -> None:
    for level in range(7):
        write(tmp_path / "work" / f"l{level}.md", f"level {level} @l{level + 1}.md")
    files = ContentDeduplicator()
    await load_mentions("@l0.md", resolver, files)
    assert [file.content[:7] for file in files.get_unique_files()] == [
        f"level {level}" for level in range(4)
    ]
    shallow = ContentDeduplicator()
    await load_mentions("@l0.md", resolver, shallow, max_depth=0)
    assert len(shallow.get_unique_files()) == 1


async def test_files_that_mention_each_other_are_loaded_once(
    tmp_path: Path, resolver: BaseMentionResolver
) -> None:
    write(tmp_path / "work" / "x.md", "x @y.md")
    write(tmp_path / "work" / "y.md", "y @x.md")
    files = ContentDeduplicator()
    await load_mentions("@x.md @y.md", resolver, files)
    assert len(files.get_unique_files()) == 2


async def test_a_known_content_has_no_content_in_the_result_and_is_not_followed(
    tmp_path: Path, resolver: BaseMentionResolver
) -> None:
    write(tmp_path / "work" / "one.md", "same @b.md")
    write(tmp_path / "work" / "two.md", "same @b.md")
    files = ContentDeduplicator()
    files.add_file(tmp_path / "work" / "one.md", "same @b.md")
    (result,) = await load_mentions("@two.md", resolver, files)
    assert (result.content, result.error) == (None, None)
    (file,) = files.get_unique_files()
    assert file.paths == [tmp_path / "work" / "one.md", tmp_path / "work" / "two.md"]


async def test_a_folder_is_listed_folders_first(
    tmp_path: Path, resolver: BaseMentionResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Zed.md", "a.md", "sub/x", "Dir/y"):
        write(tmp_path / "work" / "d" / name, "@b.md")
    (result,) = await load_mentions("@d/", resolver)
    assert result.is_directory
    folder = tmp_path / "work" / "d"
    assert result.content == (
        f"Directory: {folder}\n\n  DIR  Dir\n  DIR  sub\n  FILE a.md\n  FILE Zed.md"
    )
    monkeypatch.setattr(loading, "MAX_ENTRIES", 2)
    (result,) = await load_mentions("@d/", resolver)
    assert (result.content or "").endswith("… and 2 more")


async def test_what_cannot_be_loaded_has_a_reason_and_nothing_is_raised(
    tmp_path: Path, resolver: BaseMentionResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    write(tmp_path / "work" / "big.md", "x" * 100)
    (tmp_path / "work" / "binary.bin").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "work" / "pipe")
    monkeypatch.setattr(loading, "MAX_BYTES", 50)
    found = await load_mentions("@no.md @big.md @binary.bin @pipe", resolver)
    assert [result.failure_reason for result in found] == [
        "not_found",
        "too_large",
        "not_text",
        "not_a_file",
    ]
    assert all(result.error and not result.found for result in found)


async def test_a_file_without_permission_says_so(
    resolver: BaseMentionResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(self: Path, *args: object, **more: object) -> str:
        raise PermissionError(13, "denied")

    monkeypatch.setattr(Path, "read_text", denied)
    (result,) = await load_mentions("@b.md", resolver)
    assert result.failure_reason == "permission_error"


def test_the_deduplicator_knows_contents_by_their_hash(tmp_path: Path) -> None:
    files = ContentDeduplicator()
    assert files.add_file(tmp_path / "a", "one")
    assert not files.add_file(tmp_path / "b", "one")
    assert files.add_file(tmp_path / "c", "two\ud800")
    assert files.is_seen("one") and not files.is_seen("three")
    assert len(files.get_known_hashes()) == 2


def test_blocks_name_mentions_and_bare_paths(tmp_path: Path) -> None:
    files = ContentDeduplicator()
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    files.add_file(one, "same")
    files.add_file(two, "same")
    files.add_file(tmp_path / 'q"uo\nte.md', "other")
    block = format_context_block(files, {"@one.md": one})
    assert block == (
        f'<context_file paths="@one.md → {one}, {two}">\nsame\n</context_file>\n\n'
        f'<context_file paths="{tmp_path}/q\'uo te.md">\nother\n</context_file>'
    )
    assert format_context_block(ContentDeduplicator()) == ""


async def test_an_instruction_gets_the_files_it_mentions_before_it(
    tmp_path: Path, resolver: BaseMentionResolver
) -> None:
    path = tmp_path / "ns" / "a.md"
    text = "Read @ns:a.md and act"
    expanded = await expand_mentions_in_instruction(text, resolver=resolver)
    assert expanded == (
        f'<context_file paths="@ns:a.md → {path}">\ntext of a\n</context_file>\n\n{text}'
    )
    assert await expand_mentions_in_instruction("no @x", resolver=resolver) == "no @x"


async def test_an_instruction_gets_only_what_the_session_has_not_seen(
    resolver: BaseMentionResolver,
) -> None:
    files = ContentDeduplicator()
    first = await expand_mentions_in_instruction("@b.md", resolver=resolver, deduplicator=files)
    assert "text of b" in first
    text = "again @b.md and @ns:a.md"
    second = await expand_mentions_in_instruction(text, resolver=resolver, deduplicator=files)
    assert "text of b" not in second and "text of a" in second
