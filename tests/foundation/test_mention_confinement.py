from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.mentions.loading import ContentDeduplicator, load_mentions
from amplifier_tui.foundation.mentions.resolver import BaseMentionResolver
from tests.foundation.helpers import write


@pytest.fixture
def resolver(tmp_path: Path, own_home: Path) -> BaseMentionResolver:
    write(tmp_path / "secret.md", "secret")
    write(own_home / ".ssh" / "id_rsa", "secret")
    write(own_home / "notes.txt", "secret")
    write(own_home / ".amplifier" / "AGENTS.md", "fine")
    write(own_home / ".amplifier" / "other.md", "secret")
    write(own_home / ".amplifier" / "settings.yaml", "secret")
    write(own_home / ".amplifier" / "keys.env", "secret")
    write(tmp_path / "work" / "ok.md", "fine")
    write(tmp_path / "work" / ".env", "secret")
    write(tmp_path / "ns" / ".netrc", "secret")
    write(tmp_path / "ns" / "ok.md", "fine")
    (tmp_path / "work" / "link.md").symlink_to(tmp_path / "secret.md")
    bundle = Bundle(name="ns", base_path=tmp_path / "ns", context={"far": tmp_path / "secret.md"})
    return BaseMentionResolver({"ns": bundle}, tmp_path / "work")


ESCAPES = [
    "@../secret.md",
    "@../secret",
    "@link.md",
    "@~/.ssh/id_rsa",
    "@~/.amplifier/settings.yaml",
    "@~/.amplifier/other.md",
    "@~/.amplifier/../.ssh/id_rsa",
    "@/etc/passwd",
    "@.env",
    "@ns:.netrc",
    "@ns:../secret.md",
    "@ns:../../etc/passwd",
]


@pytest.mark.parametrize("mention", ESCAPES)
def test_a_strangers_text_cannot_reach_what_is_not_its_own(
    resolver: BaseMentionResolver, mention: str
) -> None:
    assert resolver.resolve_confined(mention) is None


@pytest.mark.parametrize("mention", ["@ok.md", "@ns:ok.md", "@~/.amplifier/AGENTS.md", "@ns:far"])
def test_a_strangers_text_reaches_what_it_may(resolver: BaseMentionResolver, mention: str) -> None:
    assert resolver.resolve_confined(mention) is not None


@pytest.mark.parametrize("mention", ["@../secret.md", "@~/notes.txt", "@ns:../secret.md"])
def test_the_user_may_mention_any_file(resolver: BaseMentionResolver, mention: str) -> None:
    assert resolver.resolve(mention) is not None


@pytest.mark.parametrize(
    "place",
    [
        *(".ssh/id_rsa", ".gnupg/x", ".aws/credentials", ".mozilla/firefox/p/logins.json"),
        *(".local/state/amplifier-tui/trust.json", ".config/amplifier-tui/rules.yaml"),
    ],
)
def test_nobody_mentions_where_keys_and_answers_are_kept(
    resolver: BaseMentionResolver, own_home: Path, place: str
) -> None:
    path = write(own_home / place, "secret")
    (own_home / "link").symlink_to(path.parent)
    for mention in (f"@~/{place}", f"@{path}", f"@~/link/{path.name}", f"@{path.parent}"):
        assert resolver.resolve(mention) is None
        assert resolver.resolve_confined(mention) is None


def test_nobody_reads_the_keys_into_a_prompt(resolver: BaseMentionResolver, own_home: Path) -> None:
    alias = own_home / "notes.md"
    alias.symlink_to(own_home / ".amplifier" / "keys.env")
    for mention in ("@~/.amplifier/keys.env", f"@{own_home}/.amplifier/keys.env", "@~/notes.md"):
        assert resolver.resolve(mention) is None


async def test_a_file_the_user_mentions_cannot_pull_in_others_from_elsewhere(
    tmp_path: Path, resolver: BaseMentionResolver
) -> None:
    write(tmp_path / "work" / "readme.md", " ".join([*ESCAPES, "@ok.md"]))
    files = ContentDeduplicator()
    await load_mentions("@readme.md", resolver, files)
    assert [file.content for file in files.get_unique_files()][1:] == ["fine"]


async def test_a_strangers_own_text_is_confined_when_asked_for(
    resolver: BaseMentionResolver,
) -> None:
    found = await load_mentions("@../secret.md @ok.md", resolver, confined=True)
    assert [result.found for result in found] == [False, True]


def test_a_fetched_bundle_is_confined_even_for_its_own_namespace(tmp_path: Path) -> None:
    write(tmp_path / "secret.md", "secret")
    root = tmp_path / "cache" / "clone"
    write(root / "ok.md", "fine")
    bundle = Bundle(name="ns", base_path=root, confined_roots=(root,))
    resolver = BaseMentionResolver({"ns": bundle}, tmp_path)
    assert resolver.resolve("@ns:../../secret.md") is None
    assert resolver.resolve("@ns:ok.md") == root / "ok.md"
