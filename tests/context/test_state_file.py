import json
import os
from pathlib import Path

import pytest

from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.state_file import read_state, write_state


def test_a_state_is_written_and_read(tmp_path: Path) -> None:
    session = AgentSession(session_id="s")
    session.state["a"] = {"text": "漢字 \ud83d"}
    assert write_state(tmp_path / "deep" / "state.json", session.to_dict()) == []
    data, problem = read_state(tmp_path / "deep" / "state.json")
    assert problem == ""
    assert data is not None
    assert AgentSession.from_dict(data).state == session.state


def test_what_has_no_json_form_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    circular: dict = {}
    circular["self"] = circular
    state = {"good": {"n": 1}, "odd": {"o": object()}, "nan": {"n": float("nan")}, "loop": circular}
    problems = write_state(path, {"session_id": "s", "state": state})
    assert json.loads(path.read_text())["state"] == {"good": {"n": 1}}
    assert [problem.split("'")[1] for problem in problems] == ["odd", "nan", "loop"]
    assert all("can't be saved" in problem for problem in problems)


def test_a_part_that_can_not_be_encoded_does_not_cost_the_others(tmp_path: Path) -> None:
    class Stubborn:
        def to_dict(self) -> dict:
            raise OSError("index is down")

    path, session = tmp_path / "state.json", AgentSession(session_id="s")
    session.state = {"good": {"n": 1}, "loop": {}, "odd": {"o": Stubborn()}}
    session.state["loop"]["self"] = session.state["loop"]
    with pytest.warns(RuntimeWarning) as told:
        data = session.to_dict()
    assert [str(warning.message).split("'")[1] for warning in told] == ["loop", "odd"]
    problems = write_state(path, data)
    assert [problem.split("'")[1] for problem in problems] == ["loop", "odd"]
    assert json.loads(path.read_text())["state"] == {"good": {"n": 1}}


def test_no_state_is_no_problem(tmp_path: Path) -> None:
    assert read_state(tmp_path / "state.json") == (None, "")


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_a_spoiled_state_is_moved_aside_and_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)
    data, problem = read_state(path)
    assert data is None
    (aside,) = tmp_path.iterdir()
    assert aside.name in problem
    assert aside.read_bytes() == content


def test_what_is_no_file_is_not_read_and_does_not_hold_up_the_session(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"state\.json"):
        read_state(path)
    assert path.is_fifo()
