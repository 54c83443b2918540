"""A stored session as a file: what is in it, and that no secret is."""

import base64
import csv
import json
import re
import resource
import tracemalloc
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from amplifier_tui.base.text import clean
from amplifier_tui.host.cards import ExportedFile
from amplifier_tui.host.events import Failed, HostEvent, ShellEnded, ToolEnded, TurnEnded
from amplifier_tui.host.messages import STEER_HOOK
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.requests import EXPORT_SUFFIXES, ExportForm, ExportRequest, form_of
from amplifier_tui.host.store.export import headings
from amplifier_tui.host.store.export.conversation import StoredSession
from amplifier_tui.host.store.export.saving import save_export
from amplifier_tui.host.store.turns.outcomes import DISPLAY
from tests.base.test_secrets import SECRETS
from tests.pixels import plain

FORMS: tuple[ExportForm, ...] = tuple(EXPORT_SUFFIXES)


class Shown(HTMLParser):
    """Notes what a reader of the page sees."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


def stored(
    folder: Path, rows: list[Any], events: list[Any] | None = None, **metadata: object
) -> StoredSession:
    folder.mkdir(parents=True, exist_ok=True)
    for name, kept in (("transcript", rows), ("events", events or [])):
        lines = (each if isinstance(each, str) else json.dumps(each) for each in kept)
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "metadata.json").write_text(json.dumps({"session_id": folder.name, **metadata}))
    return StoredSession(folder)


def save(session: StoredSession, path: Path, **asked: Any) -> ExportedFile:
    request = ExportRequest(path=str(path), **{"form": form_of(str(path)), **asked})
    return save_export(session, request, Redactor({}), path.parent)


def event(seq: int, name: str, data: Any, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "ts": "2026-01-02T03:04:05+00:00", "event": name, "data": data, **more}


def disguised(before: str, secret: str, after: str) -> list[str]:
    """Return texts that show a secret to whoever reads them, plain or in a disguise."""
    half = len(secret) // 2
    ways = (
        secret,
        f"{secret[:half]}\u200b{secret[half:]}",
        f"{secret[:half]}\ufe0f{secret[half:]}",
        f"{secret[:half]}\x1b[m\x1b[K{secret[half:]}",
        "".join(f"\\{c}" if c in "_-.+" else c for c in secret),
        secret.replace("-", "&#45;").replace("_", "&#x5f;"),
    )
    return [f"{before}{way}{after}" for way in ways]


@pytest.mark.parametrize("form", FORMS)
def test_no_secret_of_any_shape_is_in_any_form_however_it_is_disguised(
    tmp_path: Path, form: ExportForm
) -> None:
    assert len(SECRETS) >= 35
    rows: list[Any] = []
    events: list[Any] = []
    for number, (_, before, secret, after) in enumerate(SECRETS.values()):
        for text in disguised(before, secret, after):
            call = {"id": f"c{number}", "tool": text, "arguments": {"text": text, text: 1}}
            thought = {"type": "thinking", "thinking": text}
            said = {"type": "text", "text": f"{text}\n\n`{text}`\n```python\nx = '{text}'\n```"}
            rows += [
                {"role": "user", "content": text},
                {"role": "assistant", "content": [thought, said], "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": text},
            ]
            data = {"command": text, text: [text]}
            handlers = [{"name": text, "verdict": "deny", "reason": text}]
            events.append(event(number, text, data, handlers=handlers, changed=data))
    named = next(iter(SECRETS.values()))[2]
    session = stored(tmp_path / "s", rows, events, name=named, tags=[named], description=named)
    out = tmp_path / f"out{EXPORT_SUFFIXES[form]}"
    done = save(session, out, thinking=True)
    text = out.read_text()
    shown = Shown()
    shown.feed(text if form == "html" else "")
    readings = (text, shown.text, unescape(text).replace("\\", ""), clean(text))
    found = [name for name, (_, _, secret, _) in SECRETS.items() if secret in "\n".join(readings)]
    assert found == [] and not done.problem
    assert done.secrets >= 5 * len(SECRETS)


def test_words_and_signs_keep_what_joins_them(tmp_path: Path) -> None:
    text = "می\u200cخواهم 👩\u200d👧"
    session = stored(tmp_path / "s", [{"role": "user", "content": text}], [])
    save(session, tmp_path / "out.md")
    assert text in (tmp_path / "out.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMS)
def test_values_of_an_environment_file_go_whoever_printed_them(
    tmp_path: Path, form: ExportForm
) -> None:
    file = "DB_PASSWORD=hunter-tulip\nPORT=80\nSESSION_SECRET=tulip9tulip\n"
    rows = [{"role": "user", "content": f"see\n```\n{file}```"}]
    session = stored(tmp_path / "s", rows, [event(1, "prompt:submit", {"prompt": file})])
    ran = ShellEnded(session_id="s", command_id="c", command="cat .env", output=file)
    note(session.folder, [(1, ran)])
    done = save(session, tmp_path / "out", form=form)
    text = (tmp_path / "out").read_text()
    assert "tulip" not in text and "PORT=80" in text
    assert done.secrets == {"markdown": 4, "html": 4}.get(form, 2)


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_keys_of_the_environment_and_what_is_named_a_secret_go_too(
    tmp_path: Path, form: ExportForm
) -> None:
    hidden = {"password": "tulip", "api_key": ["tulip"], "secret": {"first": "tulip"}}
    call = {"id": "c", "tool": "login", "arguments": {"user": "ann", **hidden}}
    rows = [
        {"role": "user", "content": "my-own-key-123"},
        {"role": "assistant", "tool_calls": [call]},
    ]
    request = ExportRequest(path="out", form=form)
    done = save_export(
        stored(tmp_path / "s", rows), request, Redactor({"MY_KEY": "my-own-key-123"}), tmp_path
    )
    text = (tmp_path / "out").read_text()
    assert done.secrets == 4 and "my-own-key" not in text and "tulip" not in text and "ann" in text


def test_a_folded_call_of_a_page_says_what_it_was_given_and_the_head_when_it_began(
    tmp_path: Path,
) -> None:
    call = {"id": "1", "name": "bash", "arguments": {"timeout": 5, "command": "make <b>\nall"}}
    rows = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}]
    session = stored(tmp_path / "s", rows, created="2026-01-02T03:04:05.678901+00:00")
    save(session, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "<summary>calls <code>bash</code> make &lt;b&gt; all</summary>" in page
    assert "<dd>2026-01-02 03:04 UTC</dd>" in page


def test_images_are_in_a_page_up_to_a_bound_and_nothing_that_is_none(tmp_path: Path) -> None:
    red = base64.b64encode(plain(2, 2)).decode()
    large = red[:64] + "A" * 6_000_000
    data = [red, large, 'x" onerror="alert(1)', "A", "QUtJQTEyMzQ1Njc4"]
    kinds = ["image/png", "image/png", "image/png", "image/png", "image/jpeg"]
    images: list[dict[str, Any]] = [
        {"type": "image", "source": {"type": "base64", "media_type": kind, "data": each}}
        for kind, each in [*zip(kinds, data, strict=True), ("image/svg+xml", red)]
    ]
    call = {"id": "1", "name": "look", "arguments": {}}
    rows = [
        {"role": "user", "content": [{"type": "text", "text": "see"}, *images]},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": images[:1]},
    ]
    session = stored(tmp_path / "s", rows)
    save(session, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert page.count("<img ") == 2
    assert page.count(f'<img src="data:image/png;base64,{red}" alt="image">') == 2
    assert (
        "[an image of 4,500,048 bytes is left out]" in page
        and "onerror" not in page
        and data[-1] not in page
    )
    save(session, tmp_path / "b.html", tools=False)
    assert (tmp_path / "b.html").read_text().count("<img ") == 1


def test_a_page_does_not_say_where_a_photo_of_an_older_session_was_taken(tmp_path: Path) -> None:
    photo = base64.b64encode(plain(2, 2) + b"47.3769N").decode()
    source = {"type": "base64", "media_type": "image/png", "data": photo}
    session = stored(
        tmp_path / "s", [{"role": "user", "content": [{"type": "image", "source": source}]}]
    )
    save(session, tmp_path / "a.html")
    clean = base64.b64encode(plain(2, 2)).decode()
    assert f'<img src="data:image/png;base64,{clean}"' in (tmp_path / "a.html").read_text()


def test_an_export_begins_with_the_turn_that_was_asked_for(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": f"prompt {n}"} for n in (1, 2, 3)]
    session = stored(tmp_path / "s", rows)
    assert save(session, tmp_path / "a.md", from_turn=2).count == 2
    assert "prompt 1" not in (tmp_path / "a.md").read_text()
    named = stored(tmp_path / "n", rows, first_prompt="prompt 1")
    for name in ("a.json", "a.html"):
        save(named, tmp_path / name, from_turn=2)
        assert "prompt 1" not in (tmp_path / name).read_text()
    # A prompt that only steered the second turn is no turn of its own.
    steered = StoredSession(session.folder, {1: 0, 2: 1, 3: 3})
    assert save(steered, tmp_path / "b.md", from_turn=2).count == 2
    none = save(session, tmp_path / "c.md", from_turn=9)
    assert none.problem == "Nothing was written: This session has no turn 9"
    empty = save(stored(tmp_path / "e", []), tmp_path / "c.md")
    assert empty.problem == "Nothing was written: Nothing was said in this session"
    assert not (tmp_path / "c.md").exists()


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_rows_that_cannot_be_read_are_counted_and_the_rest_is_there(
    tmp_path: Path, form: ExportForm
) -> None:
    deep = '{"role": "user", "content": ' + "[" * 100_000 + "]" * 100_000 + "}"
    rows = [
        {"role": "user", "content": "first"},
        "{torn",
        deep,
        {"role": "user", "content": "last"},
    ]
    out = tmp_path / "out"
    done = save(stored(tmp_path / "s", rows), out, form=form)
    assert done.unreadable == 2 and done.count == 2
    assert "first" in out.read_text() and "last" in out.read_text()


def test_events_are_filtered_and_whole(tmp_path: Path) -> None:
    long = "x" * 50_000
    events = [
        event(1, "tool:pre", {"tool_name": "bash", "text": long}, ms=120.5, lane="main"),
        event(2, "tool:post", {"tool_name": "=cmd"}, handlers=[{"name": "@h", "verdict": "deny"}]),
        event(3, "prompt:submit", {}, ts="never"),
        {"event": "of another program"},
        "{torn",
    ]
    session = stored(tmp_path / "s", [], events)
    done = save(session, tmp_path / "all.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert (done.count, done.unreadable) == (3, 2) and [row["seq"] for row in rows] == [1, 2, 3]
    assert rows[0]["data"]["text"] == long and rows[0]["ms"] == 120.5
    assert save(session, tmp_path / "some.csv", events="tool:* -data:xxx").count == 1
    (row,) = csv.DictReader((tmp_path / "some.csv").read_text().splitlines())
    # A program that opens the table must not take a text for a formula.
    assert row["seq"] == "2" and row["source"] == "'=cmd" and row["handlers"] == "'@h deny"
    wrong = save(session, tmp_path / "no.csv", events=">soon")
    assert "is no duration" in wrong.problem and not (tmp_path / "no.csv").exists()


def test_nothing_is_replaced_unasked_and_a_refusal_is_said(tmp_path: Path) -> None:
    session = stored(tmp_path / "s", [{"role": "user", "content": "new"}])
    out = tmp_path / "out.md"
    out.write_text("mine")
    (tmp_path / "link.md").symlink_to(out)
    for path in (out, tmp_path / "link.md"):
        assert save(session, path).exists and out.read_text() == "mine"
    for path in (tmp_path / "s", out / "under", Path("~nobody-of-that-name/x"), Path("a\0b")):
        refused = save(session, path, replace=True)
        assert refused.problem and not refused.exists
    done = save(session, tmp_path / "link.md", replace=True)
    assert not done.problem and "new" in out.read_text() and (tmp_path / "link.md").is_symlink()
    made = save(session, tmp_path / "new" / "folder" / "x.html")
    assert Path(made.path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["x.html", "x.md", "x.json"])
def test_no_folder_is_made_where_nothing_was_said(tmp_path: Path, name: str) -> None:
    done = save(stored(tmp_path / "s", []), tmp_path / "new" / "folder" / name)
    assert done.problem == "Nothing was written: Nothing was said in this session"
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_disk_that_gets_full_leaves_nothing_behind(tmp_path: Path) -> None:
    session = stored(tmp_path / "s", [{"role": "user", "content": "x" * 1_000_000}] * 3)
    out = tmp_path / "out"
    out.mkdir()
    (out / "old.md").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # What is larger can't be written; Python ignores the signal for it.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, before[1]))
    try:
        fresh, old = save(session, out / "a.md"), save(session, out / "old.md", replace=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    for done in (fresh, old):
        assert done.problem == "Nothing was written: File too large"
    assert [path.name for path in out.iterdir()] == ["old.md"]
    assert (out / "old.md").read_text() == "old"


def test_an_export_that_is_given_up_leaves_nothing_behind(tmp_path: Path) -> None:
    session = stored(tmp_path / "s", [{"role": "user", "content": "x"}] * 9)
    asked = iter([False, False, False, True])
    request = ExportRequest(path="out.md")
    done = save_export(session, request, Redactor({}), tmp_path, lambda: next(asked))
    assert done.problem == "Nothing was written: it was given up"
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


@pytest.mark.parametrize("form", ["html", "json", "csv"])
def test_a_session_of_any_size_takes_the_memory_of_its_largest_row(
    tmp_path: Path, form: ExportForm
) -> None:
    text = "word " * 4_000
    rows = [{"role": "user", "content": text}] * 60
    session = stored(tmp_path / "s", rows, [event(n, "e", text) for n in range(60)])
    save(session, tmp_path / "warm", form=form)
    tracemalloc.start()
    save(session, tmp_path / "out", form=form)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "out").stat().st_size > 60 * len(text) and peak < 800_000


def _with_events(folder: Path) -> StoredSession:
    said = ["one", "first answer", "two", "half an ans", "three", "four", "last answer"]
    roles = ("user", "assistant", "user", "assistant", "user", "user", "assistant")
    rows = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    session = stored(folder, rows)
    key = f"sk-ant-api03-{'x1Y2' * 20}"
    common = {"session_id": "s"}
    shell = {"command_id": "1", "command": "ls", "output": "printed.txt\n"}
    noted: list[tuple[int, HostEvent]] = [
        (2, TurnEnded(**common, turn=1, status="success")),
        (2, ShellEnded(**common, **shell)),
        (4, TurnEnded(**common, turn=2, status="cancelled")),
        (5, Failed(**common, kind="authentication", message=f"No key {key}.", remedy="Check it.")),
        (5, TurnEnded(**common, turn=3, status="error")),
        (7, TurnEnded(**common, turn=4, status="incomplete")),
    ]
    note(folder, noted)
    return session


def note(folder: Path, noted: list[tuple[int, HostEvent]]) -> None:
    """Have the screen know of events, each with how many rows there were."""
    lines = (json.dumps({"row": row, "event": event.to_json()}) for row, event in noted)
    (folder / DISPLAY).write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_what_failed_was_stopped_or_run_by_the_user_stands_where_it_happened(
    tmp_path: Path, form: ExportForm
) -> None:
    session = _with_events(tmp_path / "s")
    save(session, tmp_path / "out", form=form)
    text = (tmp_path / "out").read_text()
    at = [
        *(text.index("first answer"), text.index("$ ls\nprinted.txt"), text.index("half an ans")),
        *(text.index("Stopped by the user."), text.index("three"), text.index("No key ")),
        *(text.index("Check it."), text.index("last answer"), text.index("Ended before")),
    ]
    assert at == sorted(at) and "sk-ant" not in text and "Failed." not in text
    save(session, tmp_path / "later", form=form, from_turn=4, tools=False)
    later = (tmp_path / "later").read_text()
    assert "Ended before" in later and "No key" not in later and "$ ls" not in later
    save(session, tmp_path / "short", form=form, tools=False)
    short = (tmp_path / "short").read_text()
    assert "$ ls" in short and "printed.txt" not in short


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_what_was_said_while_the_agent_worked_stands_where_it_was_said(
    tmp_path: Path, form: ExportForm
) -> None:
    steered = {"source": "hook", "hook_name": STEER_HOOK}
    rows = [
        {"role": "user", "content": "Begin"},
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "use the redkite", "metadata": steered},
        {"role": "assistant", "content": "as you asked"},
    ]
    save(stored(tmp_path / "s", rows), tmp_path / "out", form=form)
    text = (tmp_path / "out").read_text()
    at = [text.index(each) for each in ("first", "use the redkite", "as you asked")]
    assert at == sorted(at)


def test_calls_results_and_reasoning_stand_below_the_heading_of_the_assistant(
    tmp_path: Path,
) -> None:
    call = {"id": "c1", "name": "read_file", "arguments": {"path": "a"}}
    thought = {"type": "thinking", "thinking": "Let me think"}
    rows = [
        {"role": "user", "content": "Read it"},
        {"role": "assistant", "content": [thought], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "assistant", "content": "Done"},
        {"role": "user", "content": "Thanks"},
    ]
    save(stored(tmp_path / "s", rows), tmp_path / "out.md", thinking=True)
    lines = [line for line in (tmp_path / "out.md").read_text().splitlines() if line]
    said = [each for each in lines if each.startswith(("## ", "Calls", "Result", "> ", "Done"))]
    assert said == [
        *("## You", "## Assistant", "> Let me think", "Calls `read_file`:"),
        *("Result of `read_file`:", "Done", "## You"),
    ]


@pytest.mark.parametrize(
    ("form", "marked", "plain"),
    [
        ("html", 'ls a <b class="denied">denied</b></summary>', "ls b</summary>"),
        ("markdown", "Calls `bash`, denied:", "Calls `bash`:"),
    ],
)
def test_a_call_that_was_denied_is_marked_and_one_that_ran_is_not(
    tmp_path: Path, form: ExportForm, marked: str, plain: str
) -> None:
    rows: list[Any] = [{"role": "user", "content": "Look"}]
    for word in "ab":
        # Some models count anew in every answer.
        call = {"id": "c1", "name": "bash", "arguments": {"command": f"ls {word}"}}
        rows.append({"role": "assistant", "content": "", "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": "c1", "content": "given back"})
    session = stored(tmp_path / "s", rows)
    common = {"session_id": "s", "call_id": "c1", "tool": "bash"}
    ends = [ToolEnded(**common, ok=not denied, denied=denied) for denied in (True, False)]
    note(tmp_path / "s", [(3, ends[0]), (5, ends[1])])
    save(session, tmp_path / "out", form=form, tools=False)
    text = (tmp_path / "out").read_text()
    assert (text.count(marked), text.count(plain)) == (1, 1)


@pytest.mark.parametrize(
    ("said", "exported"),
    [
        ("# One\n\n## Two #2\nText", "### One\n\n#### Two #2\nText"),
        ("##### Five\n###### Six", "###### Five\n###### Six"),
        ("One\n===\n\nTwo\nand more\n---\nText", "### One\n\n#### Two and more\nText"),
        ("```sh\n# a comment\n```\n    # code", "```sh\n# a comment\n```\n    # code"),
        ("- ```\n  # code\n  ```\n- # In a list", "- ```\n  # code\n  ```\n- ### In a list"),
        ("- item\ngoes on\n---\n> # Said", "- item\ngoes on\n---\n> ### Said"),
        ("1) > Said\n   > ===", "1) > ### Said"),
        ("- One\n\t-", "- #### One"),
        ("#hash #1\n\n---\n| a |\n|---|", "#hash #1\n\n---\n| a |\n|---|"),
    ],
)
def test_headings_of_an_answer_stand_below_those_of_the_export(
    tmp_path: Path, said: str, exported: str
) -> None:
    rows = [{"role": "user", "content": "Ask"}, {"role": "assistant", "content": said}]
    save(stored(tmp_path / "s", rows), tmp_path / "out.md")
    assert (tmp_path / "out.md").read_text().endswith(f"## Assistant\n\n{exported}\n")


@given(st.text("#=-> \t\n1.)a*+", max_size=30))
def test_every_heading_is_found_in_what_is_not_read_to_its_end(text: str) -> None:
    found = headings.lowered(text, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(headings, "_MAY_BE_ONE", re.compile(""))
        assert headings.lowered(text, 2) == found


def test_a_long_list_without_headings_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(headings, "_parser")
    items = "- of #1 -- as said\n  - a=b\n1. none\n" * 10
    assert headings.lowered(items, 2) == items


@pytest.mark.parametrize(
    "broken_off",
    ["Do this:\n\n```python\nrun()", "~~~\nx", "- a\n\n  ```\n  x\n<!-- and", "<!-- hidden"],
)
def test_an_answer_that_broke_off_in_a_block_does_not_take_what_follows_into_it(
    tmp_path: Path, broken_off: str
) -> None:
    rows = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": broken_off},
        {"role": "user", "content": "and then?"},
        {"role": "assistant", "content": "This:\n\n```\nall\n```"},
    ]
    path = tmp_path / "out.md"
    save(stored(tmp_path / "s", rows), path)
    text = path.read_text()
    assert broken_off in text
    tokens = MarkdownIt("commonmark").parse(text)
    heads = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert heads[-4:] == ["You", "Assistant", "You", "Assistant"]
    assert [token.content for token in tokens if token.type == "fence"][-1] == "all\n"
