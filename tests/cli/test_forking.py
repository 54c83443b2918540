import json
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.paths import sessions_dir


def store(cwd: Path, turns: int) -> Path:
    folder = sessions_dir(cwd) / "aaaa-1"
    folder.mkdir(parents=True)
    rows = [
        {"role": role, "content": f"{role} {turn}", "timestamp": "2026-01-01T00:00:00+00:00"}
        for turn in range(1, turns + 1)
        for role in ("user", "assistant")
    ]
    (folder / "transcript.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    card = {"session_id": "aaaa-1", "bundle": "coding", "name": "Mine", "turn_count": turns}
    (folder / "metadata.json").write_text(json.dumps(card))
    return folder


@pytest.mark.parametrize(("options", "rows"), [([], 6), (["--at", "2"], 2)])
def test_a_stored_session_is_copied_whole_or_up_to_a_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], rows: int
) -> None:
    folder = store(tmp_path, 3)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run(["sessions", "fork", "aaaa", *options, "--cwd", str(tmp_path), "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    new = Path(card["directory"])
    assert new != folder and new.parent == folder.parent
    lines = (folder / "transcript.jsonl").read_text().splitlines()[:rows]
    assert (new / "transcript.jsonl").read_text().splitlines() == lines
    found = json.loads((new / "metadata.json").read_text())
    assert (found["parent_id"], found["forked_from_turn"]) == ("aaaa-1", rows // 2)
    assert (card["title"], card["bundle"], card["turns"]) == ("Mine (fork)", "coding", rows // 2)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(("turn", "said"), [("7", "no turn 7"), ("1", "nothing to copy")])
def test_a_turn_that_is_not_there_or_has_nothing_before_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], turn: str, said: str
) -> None:
    store(tmp_path, 1)
    assert run(["sessions", "fork", "last", "--at", turn, "--cwd", str(tmp_path)]) == 1
    assert said in capsys.readouterr().err
    assert len(list(sessions_dir(tmp_path).iterdir())) == 1
