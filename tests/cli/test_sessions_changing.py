"""Naming, tagging, deleting, restoring and exporting stored sessions from the command line."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.files import FileLock
from amplifier_tui.cli.group import run
from amplifier_tui.paths import sessions_dir
from tests.base.test_secrets import SECRETS

CHILD = "0000000000000000-0123456789abcdef_explorer"
GRANDCHILD = "0123456789abcdef-fedcba9876543210_explorer"
KEY = "sk-ant-api03-" + "a1" * 20
CALL = {"id": "c1", "tool": "task", "arguments": {"instruction": "```look```"}}
CALLED = {"tool_calls": [CALL]}
ROWS: list[dict[str, Any]] = [
    {"role": "user", "content": "Why [red]so[/] slow\x1b[31m?"},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I ask."}],
        "tool_calls": [CALL],
    },
    {"role": "tool", "tool_call_id": "c1", "content": f"a ``` fence, key {KEY}"},
    {"role": "assistant", "content": "It waits."},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": "Now it does not."},
]


class Page(HTMLParser):
    """Notes the tags of a page, what they are given, and whether each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.given: list[tuple[str, str, str | None]] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.given += [(tag, *given) for given in attrs]
        self.depth += tag not in ("meta", "br", "hr")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1


def put(folder: Path, card: dict[str, Any], rows: list[dict[str, Any]] = ROWS) -> Path:
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "metadata.json").write_text(json.dumps({"session_id": folder.name, **card}))
    return folder


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session with an agent, which asked another one, in the project the command runs in."""
    monkeypatch.chdir(tmp_path)
    folder = sessions_dir(tmp_path)
    put(folder / CHILD, {"parent_id": "aaaa-1"})
    put(folder / GRANDCHILD, {"parent_id": CHILD})
    put(folder / "bbbb-2", {})
    return put(folder / "aaaa-1", {"name": "Old", "tags": ["x"], "config": {"a": [1]}})


def card(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "metadata.json").read_text())
    return found


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(["sessions", *arguments]) == code
    out = capsys.readouterr()
    return out.out if code == 0 else out.err


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(capsys, *arguments, "--json"))
    return found


def test_a_session_is_named_and_tagged_and_keeps_what_others_wrote(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "New title  #x" in said(capsys, "rename", "aaaa", " New  title ")
    assert answered(capsys, "tag", "aaaa", "y", "x", "y z")["tags"] == ["y", "x", "y z"]
    assert card(stored)["name"] == "New title" and card(stored)["config"] == {"a": [1]}
    assert answered(capsys, "tag", "aaaa", "x", "--remove")["tags"] == ["y", "y z"]
    said(capsys, "rename", "aaaa", "")
    assert answered(capsys, "show", "aaaa")["title"] == ""


def test_a_session_is_shown_with_what_was_said_last(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = answered(capsys, "show", "aaaa")
    assert (shown["prompt"], shown["answer"]) == ("And now?", "Now it does not.")
    assert shown["agents"] == [CHILD, GRANDCHILD]
    text = said(capsys, "show", "aaaa")
    assert text.startswith("Old\n") and "› And now?" in text and "\x1b" not in text


def test_a_deleted_session_lies_in_the_bin_with_its_agents_until_it_is_taken_out(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, "delete", "aaaa", "bbbb")
    assert "`amplifier-tui sessions restore aaaa-1` takes it out" in text
    assert list(stored.parent.iterdir()) == []
    assert "No session" in said(capsys)
    listed = [json.loads(line) for line in said(capsys, "list", "--deleted", "--json").splitlines()]
    assert [each["session_id"] for each in listed] == ["bbbb-2", "aaaa-1"]
    assert answered(capsys, "restore", "aaaa")["title"] == "Old"
    assert {path.name for path in stored.parent.iterdir()} == {"aaaa-1", CHILD, GRANDCHILD}
    assert answered(capsys, "restore", "last")["session_id"] == "bbbb-2"
    assert "The bin is empty" in said(capsys, "list", "--deleted")


def test_a_deletion_that_was_cut_short_goes_on_and_so_does_its_undoing(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = stored.parent.parent / "bin" / "aaaa-1"
    place.mkdir(parents=True)
    (stored.parent / CHILD).rename(place / CHILD)
    assert "The bin is empty" in said(capsys, "list", "--deleted"), "the session is not there yet"
    said(capsys, "delete", "aaaa")
    (place / CHILD).rename(stored.parent / CHILD)
    said(capsys, "restore", "aaaa")
    assert {CHILD, "aaaa-1"} <= {path.name for path in stored.parent.iterdir()}
    assert not place.exists()


def test_what_is_open_is_not_deleted_and_what_is_there_not_written_over(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = FileLock(stored / "session.lock")
    lock.acquire()
    assert "open in another window" in said(capsys, "delete", "aaaa", code=1)
    lock.release()
    said(capsys, "delete", "aaaa")
    put(stored, {"name": "Another"})
    assert "There is a session aaaa-1 again" in said(capsys, "restore", "aaaa", code=1)
    assert card(stored)["name"] == "Another"


def test_the_bin_is_emptied_only_when_asked_twice(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said(capsys, "delete", "aaaa")
    monkeypatch.setattr("click.confirm", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run(["sessions", "empty-bin"]) != 0
    capsys.readouterr()
    assert answered(capsys, "empty-bin", "--yes") == {"removed": 1}
    assert "No session 'aaaa'" in said(capsys, "restore", "aaaa", code=1)


@pytest.mark.parametrize("wanted", ["", "zzzz", "../x", "aa\0"])
def test_a_session_that_is_not_there_is_said(
    stored: Path, capsys: pytest.CaptureFixture[str], wanted: str
) -> None:
    for command in (["show"], ["rename", "--"], ["delete"], ["export"]):
        more = ["t"] if "rename" in command else []
        assert said(capsys, *command, wanted, *more, code=1).startswith("Error: ")


def test_an_export_reads_as_the_conversation_did_and_holds_no_secret(
    stored: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said(capsys, "export", "aaaa", "--output", str(tmp_path / "out.md"))
    text = (tmp_path / "out.md").read_text()
    assert text.startswith("# Old\n") and "## You\n\nWhy [red]so[/] slow" in text
    assert "Calls `task`" in text and "\n````\na ``` fence, key [REDACTED]\n````" in text
    assert "sk-ant" not in text and "Hm." not in text and "\x1b" not in text
    assert run(["sessions", "export", "aaaa", "--thinking", "--no-tools", "--from", "1"]) == 0
    out = capsys.readouterr()
    assert "\n> Hm." in out.out and "fence" not in out.out
    later = said(capsys, "export", "aaaa", "--from", "2")
    assert "And now?" in later and "slow" not in later


@pytest.mark.parametrize("form", ["markdown", "json", "html"])
def test_an_export_holds_no_secret_of_any_shape(
    stored: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    rows = [
        {"role": role, "tool_call_id": "c1", "content": f"{before}{secret}{after}"}
        for _, before, secret, after in SECRETS.values()
        for role in ("user", "assistant", "tool")
    ]
    put(stored.parent / "cccc-3", {}, rows)
    text = said(capsys, "export", "cccc", "--form", form)
    assert [name for name, (_, _, secret, _) in SECRETS.items() if secret in text] == []
    assert text.count("[REDACTED]") >= 3 * len(SECRETS)


def test_an_export_for_programs_has_every_row_and_says_what_was_taken_out(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sessions", "export", "aaaa", "--json"]) == 0
    out = capsys.readouterr()
    assert "1 secret taken out" in out.err
    data = json.loads(out.out)
    assert data["session"]["name"] == "Old"
    assert [row["role"] for row in data["messages"]] == [row["role"] for row in ROWS]
    assert "Hm." not in out.out


EVIL = "<script>x</script>[a](javascript:x) ![i](https://x/y.png) <b onclick=x>"


def test_a_page_is_one_file_that_runs_nothing_and_folds_what_was_called(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"role": "user", "content": EVIL},
        {"role": "assistant", "content": f"{EVIL}\n```python\ndef f(): ...\n```", **CALLED},
        {"role": "tool", "tool_call_id": "c1", "content": "</pre></details><script>"},
    ]
    put(stored.parent / "cccc-3", {"name": "<title>", "tags": ["</dd>"]}, rows)
    text = said(capsys, "export", "cccc", "--form", "html")
    page = Page()
    page.feed(text)
    assert not {"script", "img", "link", "iframe", "b"} & set(page.tags)
    assert [value for _, name, value in page.given if name == "href"] == ["https://x/y.png"]
    assert page.tags.count("details") == 2 and page.depth == 0
    assert all(name in ("class", "href") or tag == "meta" for tag, name, _ in page.given)
    assert '<span class="k">def</span>' in text
    assert "default-src 'none'" in text
    assert "<title>&lt;title&gt;</title>" in text
