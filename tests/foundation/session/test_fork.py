import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.session import (
    backup,
    find_session,
    find_sessions,
    fork_session,
    get_fork_preview,
    get_session_lineage,
    list_session_forks,
    load_metadata,
    load_transcript,
    load_transcript_with_lines,
    read_jsonl,
    write_jsonl,
    write_metadata,
    write_transcript,
)
from tests.foundation.session.conversations import CUT_OFF, TWO_TURNS


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    folder = tmp_path / "parent"
    folder.mkdir()
    stamps = (f"2026-01-01T00:00:0{second}+00:00" for second in range(len(TWO_TURNS)))
    write_transcript(
        folder,
        [{**row, "timestamp": at} for row, at in zip(TWO_TURNS, stamps, strict=True)],
    )
    write_metadata(folder, {"session_id": "parent", "bundle": "b", "tags": ["x"], "turn_count": 2})
    events = [{"event": f"e{n}", "ts": f"2026-01-01T00:00:0{n}.500+00:00"} for n in range(6)]
    write_jsonl(folder / "events.jsonl", events)
    return folder


def test_a_fork_is_a_session_with_the_turns_the_card_and_the_events(parent: Path) -> None:
    fork = fork_session(parent, turn=1, new_session_id="child")
    assert fork.session_dir == parent.parent / "child"
    assert load_transcript(fork.session_dir) == load_transcript(parent)[:4]
    card = load_metadata(fork.session_dir)
    assert card["bundle"] == "b" and card["tags"] == ["x"]
    assert (card["session_id"], card["parent_id"]) == ("child", "parent")
    assert (card["forked_from_turn"], card["turn_count"]) == (1, 1)
    assert [each["event"] for each in read_jsonl(fork.session_dir / "events.jsonl")] == [
        *("e0", "e1", "e2", "e3"),
    ]
    assert fork.events_count == 4
    assert (fork.session_dir / "transcript.jsonl").stat().st_mode & 0o077 == 0


def test_a_fork_of_all_may_leave_the_events_and_go_elsewhere(parent: Path, tmp_path: Path) -> None:
    fork = fork_session(parent, target_dir=tmp_path / "other", include_events=False)
    assert fork.session_dir is not None and fork.session_dir.parent == tmp_path / "other"
    assert len(load_transcript(fork.session_dir)) == 6 and fork.forked_from_turn == 2
    assert not (fork.session_dir / "events.jsonl").exists()


def test_what_cannot_be_forked_leaves_nothing_behind(parent: Path, tmp_path: Path) -> None:
    fork_session(parent, new_session_id="there")
    before = sorted(path.name for path in tmp_path.iterdir())
    wrong: list[tuple[Path, type[Exception], dict[str, Any]]] = [
        (tmp_path / "nowhere", FileNotFoundError, {}),
        (parent, ValueError, {"turn": 3}),
        (parent, FileExistsError, {"new_session_id": "there"}),
        (parent, ValueError, {"new_session_id": "../out"}),
    ]
    for folder, error, options in wrong:
        with pytest.raises(error):
            fork_session(folder, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_preview_says_what_a_fork_would_have(parent: Path) -> None:
    write_transcript(parent, CUT_OFF)
    preview = get_fork_preview(parent, 2)
    assert (preview["parent_id"], preview["max_turns"], preview["message_count"]) == (
        *("parent", 2),
        len(CUT_OFF),
    )
    assert (preview["user_content"], preview["orphaned_tool_count"]) == ("two", 1)


def test_forks_and_ancestors_are_found_beside_a_session(parent: Path) -> None:
    child = fork_session(parent, turn=1, new_session_id="child").session_dir
    assert child is not None
    fork_session(child, new_session_id="grandchild")
    (parent.parent / "torn").mkdir()
    (parent.parent / "torn" / "metadata.json").write_text("{")
    assert [fork["session_id"] for fork in list_session_forks(parent)] == ["child"]
    lineage = get_session_lineage(parent.parent / "grandchild")
    assert (lineage["ancestors"], lineage["depth"]) == (["child", "parent"], 2)
    assert [each["session_id"] for each in get_session_lineage(child)["children"]] == ["grandchild"]
    write_metadata(parent, {"parent_id": "grandchild"})
    assert get_session_lineage(parent)["ancestors"] == ["grandchild", "child"]


def test_rows_that_cannot_be_read_are_left_out_and_the_others_keep_their_lines(
    tmp_path: Path,
) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text('{"role": "user"}\n\nnot json\n{"role": "tool"}\n')
    assert load_transcript_with_lines(tmp_path) == [(1, {"role": "user"}), (3, {"role": "tool"})]
    copied = backup(path, "before-repair")
    assert copied is not None and copied.read_text() == path.read_text()
    assert backup(tmp_path / "gone") is None
    (tmp_path / "metadata.json").write_text(json.dumps([]))
    with pytest.raises(ValueError, match="JSON object"):
        load_metadata(tmp_path)


def test_a_session_is_found_by_the_beginning_of_its_id_whatever_the_project(
    tmp_path: Path,
) -> None:
    made = [tmp_path / "projects" / f"-p{n}" / "sessions" / f"ab{n}-x" for n in (1, 2)]
    for folder in made:
        folder.mkdir(parents=True)
        write_metadata(folder, {})
    (made[0].parent / "ab3-empty").mkdir()
    assert list(find_sessions(tmp_path)) == made
    assert find_session("ab2", tmp_path) == made[1]
    assert find_session("ab1-x", tmp_path) == made[0]
    with pytest.raises(ValueError, match="Several sessions begin with 'ab': ab1-x, ab2-x"):
        find_session("ab", tmp_path)
    for unknown in ("ab3", "", "../ab1-x"):
        with pytest.raises(FileNotFoundError, match="There is no session"):
            find_session(unknown, tmp_path)
