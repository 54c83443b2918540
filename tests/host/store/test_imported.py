"""Sessions of other programs: listed, read and forked, and never written."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.messages import is_from_hook, text_of
from amplifier_tui.host.store.imported.forking import NothingToForkError, fork_imported
from amplifier_tui.host.store.imported.origins import ImportedFile, imported_files
from amplifier_tui.host.store.imported.reading import (
    find_imported,
    imported_rows,
    list_imported,
)
from amplifier_tui.host.store.metadata import read_metadata
from amplifier_tui.host.store.sessions import SessionNotFoundError
from amplifier_tui.paths import amplifier_home
from tests.host.store.imports import (
    CLAUDE_ID,
    CODEX_ID,
    KEY,
    claude_rows,
    codex_rows,
    write_claude,
    write_codex,
)

SAID = [
    ("user", "Why is it slow?"),
    ("assistant", "I read it."),
    ("tool", "1"),
    ("assistant", "It waits for the disk."),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "me"


def conversation(file: ImportedFile) -> list[dict[str, Any]]:
    return [row for row in imported_rows(file) if not is_from_hook(row)]


def notes(file: ImportedFile) -> str:
    return "\n".join(str(row["content"]) for row in imported_rows(file) if is_from_hook(row))


def test_sessions_of_both_programs_are_listed_with_their_origin(home: Path) -> None:
    assert list_imported() == ()
    os.utime(write_claude(home), (100, 100))
    os.utime(write_codex(home), (200, 200))
    write_claude(home, name="agent-1234")
    (home / ".codex" / "sessions" / "2026" / "01" / "02" / "notes.jsonl").write_text("{}\n")
    codex, claude = list_imported()
    assert (claude.key, claude.origin) == (f"claude-code:{CLAUDE_ID}", "claude-code")
    assert (claude.title, claude.cwd) == ("Mend the parser", "/work/app")
    assert claude.first_prompt == "Why is it slow? [REDACTED]"
    assert (codex.key, codex.first_prompt) == (f"codex:{CODEX_ID}", "List the files")
    assert list_imported(Path("/work/app"), "codex") == (codex,)
    assert list_imported(Path("/work/other")) == ()


def test_what_claude_code_stored_reads_as_it_was_said(home: Path) -> None:
    write_claude(home)
    file = find_imported("claude-code:0f5c")
    rows = conversation(file)
    assert [(row["role"], text_of(row["content"]).split("\x1b")[0][:22]) for row in rows] == [
        (role, text[:22]) if role != "user" else (role, f"Why is it slow? {KEY}"[:22])
        for role, text in SAID
    ]
    assert rows[1]["content"][0] == {"type": "thinking", "thinking": "I look."}
    assert rows[1]["tool_calls"] == [
        {"id": "t1", "tool": "Read", "arguments": {"file_path": "a.py"}}
    ]
    assert rows[2]["tool_call_id"] == "t1" and rows[0]["timestamp"].startswith("2026-01-02")
    assert "Caveat" in notes(file) and "of a later version" in notes(file)
    assert "sub-agent" not in notes(file)


def test_what_codex_stored_reads_as_it_was_said_also_by_its_first_versions(home: Path) -> None:
    rows = codex_rows()
    first = [{"id": CODEX_ID, "timestamp": "2025"}, {"record_type": "state"}]
    first += [row["payload"] for row in rows if row["type"] == "response_item"]
    for stored in (rows, first):
        write_codex(home, stored)
        file = find_imported("codex:")
        said = conversation(file)
        assert [row["role"] for row in said] == ["user", "assistant", "tool", "assistant"]
        assert said[1]["tool_calls"][0]["arguments"] == {"command": ["ls"]}
        assert said[2]["content"] == "a.py" and text_of(said[3]["content"]) == "There is one."
        assert "environment_context" in notes(file) and "token_count" not in notes(file)
    assert "of a later version" not in notes(file)


FAILED = {"is_error": True}
DENIED = {"is_error": True, "denied": True}


def result(file: ImportedFile) -> dict[str, Any]:
    (row,) = (row for row in imported_rows(file) if row["role"] == "tool")
    return row


@pytest.mark.parametrize(
    ("content", "metadata"),
    [
        ("The user doesn't want to proceed with this tool use. Stop.", DENIED),
        ([{"type": "text", "text": "Permission to use Edit has been denied."}], DENIED),
        ("<tool_use_error>String to replace not found</tool_use_error>", FAILED),
    ],
)
def test_a_call_of_claude_code_that_failed_or_was_refused_is_one(
    home: Path, content: Any, metadata: dict[str, bool]
) -> None:
    rows = claude_rows()
    (block,) = rows[7]["message"]["content"]
    block.update(is_error=True, content=content)
    write_claude(home, rows)
    row = result(find_imported("claude-code:"))
    assert row["metadata"] == metadata and row["content"]
    block.update(is_error=False)
    write_claude(home, rows)
    assert "metadata" not in result(find_imported("claude-code:"))


@pytest.mark.parametrize(
    ("output", "metadata", "text"),
    [
        ('{"output": "no", "metadata": {"exit_code": 2}}', FAILED, "no"),
        ('{"output": "yes", "metadata": {"exit_code": 0}}', None, "yes"),
        ('{"a": 1}', None, '{"a": 1}'),
        ('{"', None, '{"'),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", FAILED, None),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1", None, None),
        ("Chunk ID: a\nWall time: 0 s\nProcess exited with code -1\nOutput:\n", FAILED, None),
        ("Chunk ID: a\nWall time: 0 s\nProcess exited with code 0\nOutput:\n", None, None),
        ("exec command rejected by user", DENIED, None),
        ("apply_patch verification failed: no such file", FAILED, None),
        ({"content": "no", "success": False}, FAILED, "no"),
        ({"content": "yes", "success": True}, None, "yes"),
    ],
)
def test_a_call_of_codex_that_failed_or_was_refused_is_one(
    home: Path, output: Any, metadata: dict[str, bool] | None, text: str | None
) -> None:
    rows = codex_rows()
    rows[7]["payload"]["output"] = output
    write_codex(home, rows)
    row = result(find_imported("codex:"))
    assert row.get("metadata") == metadata
    assert row["content"] == (output if text is None else text)


def test_a_fork_is_a_session_of_ours_and_the_origin_is_as_it_was(
    home: Path, tmp_path: Path
) -> None:
    path = write_claude(home)
    before = {each: each.stat() for each in home.rglob("*")}
    folder = fork_imported(find_imported("claude-code:"), tmp_path)
    text = (folder / "transcript.jsonl").read_text()
    assert KEY not in text and "\x1b" not in text and "[REDACTED]" in text
    roles = [json.loads(line)["role"] for line in text.splitlines()]
    assert roles == ["user", "user", "assistant", "tool", "assistant", "user"]
    card = read_metadata(folder)
    assert (card.name, card.turn_count, card.working_dir) == ("Mend the parser", 1, str(tmp_path))
    assert card.other["imported_from"] == f"claude-code:{CLAUDE_ID}"
    assert {each: each.stat() for each in home.rglob("*")}.keys() == before.keys()
    assert path.stat().st_mtime_ns == before[path].st_mtime_ns


def test_nothing_to_fork_leaves_nothing_behind(home: Path, tmp_path: Path) -> None:
    write_claude(home, ["", ""])
    with pytest.raises(NothingToForkError):
        fork_imported(find_imported("claude-code:"), tmp_path)
    assert [*amplifier_home().rglob("transcript.jsonl")] == []


@pytest.mark.parametrize("value", ["off", "false", "[claude]"])
def test_the_user_switches_it_off_in_the_settings(home: Path, value: str) -> None:
    write_claude(home)
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text(f"import: {value}\n")
    assert imported_files() == []


def test_an_id_that_fits_none_or_two_is_said(home: Path) -> None:
    write_claude(home)
    write_claude(home, name="0f5c-other")
    for wanted, said in (("claude-code:0f5c", "fits 2 sessions"), ("codex:", "There is no")):
        with pytest.raises(SessionNotFoundError, match=said):
            find_imported(wanted)


def test_what_is_no_file_is_no_session(home: Path) -> None:
    path = write_claude(home)
    os.mkfifo(path.with_name("pipe.jsonl"))
    path.with_name("folder.jsonl").mkdir()
    path.with_name("gone.jsonl").symlink_to("/nowhere")
    assert [file.path for file in imported_files()] == [path]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("\x1b]0;x\x07t"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@st.composite
def hostile(draw: st.DrawFn) -> list[Any]:
    """Return rows of one of the programs with values of others in their places, or torn."""
    rows = draw(st.sampled_from([claude_rows(), codex_rows()]))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(rows) - 1))
        target = rows[at]
        while isinstance(target, dict) and target:
            key = draw(st.sampled_from(sorted(target)))
            inner = target[key]
            if not isinstance(inner, dict) or draw(st.booleans()):
                target[key] = draw(values)
                break
            target = inner
        if draw(st.integers(0, 5)) == 0:
            line = json.dumps(rows[at])
            rows[at] = line[: draw(st.integers(0, len(line)))].replace("\n", "")
    return rows


@given(rows=hostile())
def test_rows_of_any_content_are_read_and_are_harmless(
    rows: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    for path, origin in (
        (write_claude(folder, rows), "claude-code"),
        (write_codex(folder, rows), "codex"),
    ):
        found = list(imported_rows(ImportedFile(origin, path, 0.0)))
        text = json.dumps(found)
        assert "\\u001b" not in text and "\\u0007" not in text
        assert all(row["role"] in ("user", "assistant", "tool") for row in found)
        calls = [call["id"] for row in found for call in row.get("tool_calls", ())]
        assert all(row["tool_call_id"] in calls for row in found if row["role"] == "tool")


def test_rows_that_are_nested_deeply_or_very_long_are_noted(home: Path) -> None:
    deep = '{"type": "user", "message": {"content": ' + "[" * 100_000 + "]" * 100_000 + "}}"
    nested: Any = "leaf"
    for _ in range(300):
        nested = {"a": nested}
    call = {"type": "tool_use", "id": "t9", "name": "Read", "input": nested}
    message = {"type": "assistant", "message": {"id": "m9", "content": [call]}}
    write_claude(home, [*claude_rows(), deep, message, '{"type": "us'])
    file = find_imported("claude-code:")
    assert notes(file).count("a row that can't be read") == 2
    assert json.dumps(conversation(file)[-1]["tool_calls"]).count("{") < 400


def test_a_note_is_cut_beside_a_secret_and_a_title_hides_none(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "a-long-value-that-is-secret" * 3
    monkeypatch.setenv("SOME_API_KEY", secret)
    said = f"{'x' * 1_960} {secret}"
    rows = [
        {"type": "summary", "summary": f"About {KEY[:9]}\u200b\x1b[0m{KEY[9:]}"},
        {"type": "system", "content": said},
        {"type": "user", "message": {"content": [{"type": 5, "data": said}]}},
    ]
    write_claude(home, rows)
    (card,) = list_imported()
    assert card.title == "About [REDACTED]"
    texts = [str(row["content"]) for row in imported_rows(find_imported(card.key))]
    assert [text[-3:] for text in texts] == ["x …", "x …"]


def test_an_entry_that_can_not_be_looked_at_hides_no_other(home: Path) -> None:
    path = write_claude(home)
    for name in ("0", "z"):
        loop = path.with_name(f"{name}.jsonl")
        loop.symlink_to(loop.name)
        (path.parent.parent / name).symlink_to(name)
    assert [card.key for card in list_imported()] == [f"claude-code:{CLAUDE_ID}"]
