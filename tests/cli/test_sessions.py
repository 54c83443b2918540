import json
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.paths import sessions_dir


def store(cwd: Path, session_id: str, **metadata: object) -> None:
    folder = sessions_dir(cwd) / session_id
    folder.mkdir(parents=True)
    row = {"role": "user", "content": "Why [red]so[/] slow\x1b[31m?"}
    (folder / "transcript.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "metadata.json").write_text(json.dumps({"session_id": session_id, **metadata}))


def test_stored_sessions_are_listed_as_harmless_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, "aaaa-1", name="Fix [b]it\x1b]0;x\x07", bundle="coding", turn_count=3)
    assert run(["sessions", "--cwd", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "aaaa-1" in text and "Resume one with" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("known", "unpriced", "cost"),
    [("0.02", 0, "$0.02"), ("0.002", 7, "<$0.01 + ?"), ("", 7, "no price")],
)
def test_a_part_without_a_price_is_said_of_the_cost_of_a_session(
    known: str, unpriced: int, cost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, "aaaa-1", name="Fix it", cost=known, unpriced_tokens=unpriced)
    assert run(["sessions", "show", "aaaa-1", "--cwd", str(tmp_path)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["cost", *cost.split()] in lines


def test_of_sessions_with_one_name_the_list_says_what_tells_them_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, "aaaa-1-and-more", name="Fix it", bundle="bundle:coding")
    store(tmp_path, "bbbb-2", name="Fix it", bundle="bundle:mine", parent_id="aaaa-1-and-more")
    store(tmp_path, "cccc-3", name="Else", bundle="bundle:mine", parent_id="aaaa-1-and-more")
    assert run(["sessions", "--cwd", str(tmp_path)]) == 0
    lines = {line[:4]: line for line in capsys.readouterr().out.splitlines()}
    assert ", coding)" in lines["aaaa"] and ", mine, from aaaa-1-a)" in lines["bbbb"]
    assert ", mine)" in lines["cccc"] and "from" not in lines["cccc"]


def test_the_list_names_the_bundle_of_every_session_or_of_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("aaaa-1", "bbbb-2"):
        store(tmp_path, name, name="Fix it", bundle="bundle:coding")
    store(tmp_path, "cccc-3", name="Else", bundle="bundle:coding")
    assert run(["sessions", "--cwd", str(tmp_path)]) == 0
    assert "coding" not in capsys.readouterr().out, "it tells none from the others"
    store(tmp_path, "dddd-4", name="More", bundle="bundle:mine")
    assert run(["sessions", "--cwd", str(tmp_path)]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "turn" in line]
    assert [", coding)" in row or ", mine)" in row for row in rows] == [True] * 4


def test_json_has_one_object_per_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, "aaaa-1")
    store(tmp_path, "bbbb-2", bundle="odd \ud800\x9b31m")
    assert run(["sessions", "--cwd", str(tmp_path), "--json"]) == 0
    printed = capsys.readouterr().out
    assert "\x9b" not in printed
    rows = [json.loads(line) for line in printed.splitlines()]
    assert {row["session_id"] for row in rows} == {"aaaa-1", "bbbb-2"}


def test_an_empty_directory_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sessions", "--cwd", str(tmp_path)]) == 0
    assert "No session" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bundel:demo"], "bundel: is no filter; bundle: is"),
        (["before:foo", "a"], "before: takes a date"),
        (["--deleted", "demo"], "takes no WORDS"),
    ],
)
def test_words_that_filter_nothing_list_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    store(tmp_path, "aaaa-1")
    assert run(["sessions", "list", "--cwd", str(tmp_path), *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in " ".join(err.split())


def test_a_directory_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sessions", "--cwd", "/nowhere/at/all"]) == 2
    assert "no directory" in capsys.readouterr().err


def test_words_are_searched_in_every_directory_or_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path / "a", "aaaa-1", name="Fix \x1b]0;x\x07it", project_dir=str(tmp_path / "a"))
    store(tmp_path / "b", "bbbb-2")
    assert run(["sessions", "search", "slow", "why", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(row["card"]["session_id"], row["kind"], row["row"]) for row in rows} == {
        ("aaaa-1", "prompt", 0),
        ("bbbb-2", "prompt", 0),
    }
    (tmp_path / "b").mkdir(exist_ok=True)
    assert run(["sessions", "search", "slow", "--here", "--cwd", str(tmp_path / "b")]) == 0
    text = capsys.readouterr().out
    assert "bbbb-2" in text and "aaaa-1" not in text and "prompt: Why [red]so[/] slow" in text
    assert "\x1b" not in text
    assert run(["sessions", "search", "nowhere"]) == 0
    assert "Nothing was found." in capsys.readouterr().out


def test_an_export_ends_without_a_word_when_its_reader_has_enough(tmp_path: Path) -> None:
    store(tmp_path, "aaaa-1")
    row = json.dumps({"role": "assistant", "content": "long " * 100_000})
    with (sessions_dir(tmp_path) / "aaaa-1" / "transcript.jsonl").open("a") as file:
        file.write(f"{row}\n")
    command = [sys.executable, "-m", "amplifier_tui", "sessions", "export", "aaaa-1"]
    with subprocess.Popen(
        [*command, "--cwd", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read(2) == b"# "
        process.stdout.close()
        assert process.stderr.read() == b""
