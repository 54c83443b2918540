from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.mentions.resolver import BaseMentionResolver
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.mentions import JudgedMentions, users_mentions
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from tests.foundation.helpers import write


@pytest.fixture
def mentions(tmp_path: Path) -> JudgedMentions:
    work = tmp_path / "work"
    for name in ("work/ok.md", "work/kept.md", "far.md", "bundle/page.md", "bundle/kept.md"):
        write(tmp_path / name, "words")
    bundle = Bundle(name="ns", base_path=tmp_path / "bundle")
    rules = (
        parse_rule("read_file(kept.md)", "deny"),
        parse_rule(f"read_file({tmp_path}/bundle/kept.md)", "ask"),
    )
    gate = Gate(work, lambda: RuleBook(rules), mode="plan")
    return JudgedMentions(BaseMentionResolver({"ns": bundle}, work), gate)


def test_modules_and_agents_mention_what_may_be_read_unasked(
    mentions: JudgedMentions, tmp_path: Path
) -> None:
    assert mentions.resolve("@ok.md") == tmp_path / "work" / "ok.md"
    assert mentions.resolve("@ns:page.md") == tmp_path / "bundle" / "page.md"
    for far in (
        "@../far.md",
        f"@{tmp_path}/far.md",
        "@ns:../far.md",
        "@nothing",
        "@kept.md",
        "@ns:kept.md",
    ):
        assert mentions.resolve(far) is None
        assert mentions.resolve_confined(far) is None


def test_the_user_mentions_any_file_and_its_text_no_more_than_others(
    mentions: JudgedMentions, tmp_path: Path
) -> None:
    users = users_mentions(mentions)
    for place in ("far.md", "work/kept.md", "bundle/kept.md"):
        assert users.resolve(f"@{tmp_path}/{place}") == tmp_path / place
    assert users.resolve("@ok.md.") == tmp_path / "work" / "ok.md", "a sentence ends there"
    write(tmp_path / "work" / "ok.md.", "other words")
    assert users.resolve("@ok.md.") == tmp_path / "work" / "ok.md."
    assert users.resolve_confined("@ok.md") == tmp_path / "work" / "ok.md"
    assert users.resolve_confined("@kept.md") is None
    other = users._other
    assert users_mentions(other) is other and users_mentions(None) is None
