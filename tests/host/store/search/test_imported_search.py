"""Words in the sessions of other programs are found with those in ours."""

import json
import os
import time
from pathlib import Path

import pytest

from amplifier_tui.host.store.listing.listing import list_now
from amplifier_tui.host.store.search.finding import search_now
from amplifier_tui.paths import amplifier_home
from tests.host.store.imports import (
    CLAUDE_ID,
    CODEX_ID,
    KEY,
    claude_rows,
    write_claude,
    write_codex,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "me"


def found(typed: str, cwd: Path | None = None) -> list[tuple[str, str, int]]:
    return [(hit.card.key, hit.kind, hit.row) for hit in search_now(typed, cwd).hits]


def test_what_was_said_to_other_programs_is_found_marked_and_not_listed_as_ours(home: Path) -> None:
    write_claude(home)
    write_codex(home)
    claude, codex = f"claude-code:{CLAUDE_ID}", f"codex:{CODEX_ID}"
    assert found("why slow") == [(claude, "prompt", 1)]
    assert found("list files") == [(codex, "prompt", 1)]
    assert found("mend parser") == [(claude, "title", -1)]
    assert (claude, "call", 2) in found("read file_path") and found(KEY[:20]) == []
    assert {hit.card.origin for hit in search_now("it").hits} <= {"claude-code", "codex"}
    assert found("why slow", Path("/work/app")) and not found("why slow", Path("/work/other"))
    for typed in ("", "parser"):
        assert list_now(typed, Path("/work/app"), here=False, most=9).cards == ()


def test_a_long_one_is_read_again_only_when_it_grew_by_much_or_rests(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.host.store.search.indexing._SMALL", 0)
    path = write_claude(home)
    assert len(found("slow")) == 1
    more = {"type": "user", "message": {"role": "user", "content": "Still slow?"}}
    with path.open("a") as file:
        file.write(f"{json.dumps(more)}\n")
    assert len(found("slow")) == 1
    minute = time.time() - 61
    os.utime(path, (minute, minute))
    assert len(found("slow")) == 2
    with path.open("a") as file:
        file.write(f"{json.dumps(more)}\n" * 40)
    assert found("slow")[0][2] > 40


def test_what_was_added_is_found_once_and_what_was_switched_off_no_more(home: Path) -> None:
    write_claude(home)
    assert len(found("slow")) == 1
    more = {"type": "user", "message": {"role": "user", "content": "Is it still slow now?"}}
    write_claude(home, [*claude_rows(), more])
    assert len(found("slow")) == 2 and len(found("still slow")) == 1
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text("import: off\n")
    assert found("slow") == []
