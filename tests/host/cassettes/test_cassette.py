import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.cassettes.cassette import CassetteError, read_cassette
from amplifier_tui.host.cassettes.names import RunNames, digest, run_names, steady

HEADER = {"cassette": 1, "bundle": "demo"}
PROMPT = {"kind": "prompt", "id": "1", "text": "go"}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "a.cassette.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    call = {"kind": "call", "id": "1.1.1", "tool": "echo", "arguments": {"text": "a"}}
    cassette = read_cassette(written(tmp_path, HEADER, PROMPT, call))
    assert [(row.kind, row.id) for row in cassette.rows] == [("prompt", "1"), ("call", "1.1.1")]
    path = tmp_path / "again.jsonl"
    path.write_bytes(cassette.encoded())
    assert read_cassette(path) == cassette
    assert path.read_text().startswith('{"cassette": 1, "bundle": "demo"}\n{"kind": "prompt", ')


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "it is empty"),
        (("[]",), "line 1 does not say that it is a cassette"),
        (({"bundle": "demo"},), "line 1 does not say that it is a cassette"),
        (({"cassette": 7},), "line 1: it is of version 7, and this program plays version 1"),
        (({**HEADER, "mode": "root"},), "line 1: mode: "),
        (({**HEADER, "bundle": "git+https://evil.example/x"},), "line 1: bundle: "),
        ((HEADER, {"kind": "nothing", "id": "1"}), "line 2: "),
        ((HEADER, {**PROMPT, "more": 1}), "line 2: prompt.more: "),
        ((HEADER, PROMPT, "{torn"), "line 3: "),
        ((HEADER, PROMPT, PROMPT), "line 3: there is a prompt 1 already"),
        (({**HEADER, "providers": {"p": {"context_window": 10**400}}},), "line 1: providers."),
        ((HEADER, PROMPT, {"kind": "request", "id": "1.1", "tokens": 10**4_000}), "line 3: "),
        ((HEADER,), "it has no prompt"),
    ],
)
def test_what_is_no_cassette_is_refused_with_its_place(
    tmp_path: Path, lines: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(CassetteError) as raised:
        read_cassette(written(tmp_path, *lines))
    assert str(raised.value).startswith(words)


def test_the_names_of_a_run_are_hidden_and_put_in() -> None:
    folder = Path("/state/projects/x/sessions/0b7d")
    run = run_names("/work/project", "/home/me/project", folder)
    text = "/work/project/a.py, not /work/projects, in /home/me/project of 0b7d"
    hidden = run.hidden(text)
    assert hidden == "{{workspace}}/a.py, not /work/projects, in {{project}} of {{session}}"
    other = run_names("/tmp/copy", "/srv/project", Path("/tmp/session"))
    assert other.put_in(hidden) == "/tmp/copy/a.py, not /work/projects, in /srv/project of session"


def test_the_session_of_an_agent_goes_by_the_call_that_ran_it() -> None:
    span = "0123456789abcdef"
    now, then = RunNames({}), RunNames({})
    now.agent(f"{span}-{span}_scout", "4.1.1")
    then.agent(f"{span}-{span[::-1]}_scout", "4.1.1")
    hidden = now.hidden(f"[session_id {span}-{span}_scout]")
    assert hidden == "[session_id {{agent:4.1.1}}]"
    assert then.put_in(hidden) == f"[session_id {span}-{span[::-1]}_scout]"
    assert now.put_in("{{agent:9.9.9}} {{other}}") == "{{agent:9.9.9}} {{other}}"


def test_dates_times_and_durations_make_no_difference() -> None:
    monday = "Now: Monday 2026-11-23 19:29 +0000\n[exit code 0 · 0.1 s] at 10:11:12"
    friday = "Now: Friday 2027-01-01 08:00 +0100\n[exit code 0 · 12.5 s] at 00:00:00.5"
    assert steady(monday) == steady(friday)
    git = "Git: branch main; 1 changed file\n   M a.py\nIn a folder"
    assert steady(git) == steady("Git: branch other\nIn a folder") == "{{git}}\nIn a folder"
    assert digest([monday]) == digest([friday]) != digest([monday.replace("code 0", "code 1")])
