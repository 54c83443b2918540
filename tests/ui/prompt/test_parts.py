import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base import jsonl
from amplifier_tui.host.events import CommandCard
from amplifier_tui.ui.fuzzy import match, rank
from amplifier_tui.ui.keys.actions import BY_SLASH
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.keys.module_commands import is_command
from amplifier_tui.ui.prompt.completion import (
    complete_commands,
    complete_files,
    find_query,
    list_files,
)
from amplifier_tui.ui.prompt.completion_popup import candidate_rows
from amplifier_tui.ui.prompt.history import KEEP, History
from amplifier_tui.ui.prompt.prompt import RUNNING, fit_hints
from amplifier_tui.ui.prompt.prompt_input import Chips, is_large

TEXT = st.text(max_size=40)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, RUNNING),
        (36, "enter steers  tab queues  esc stops"),
        (32, "enter steers  tab queues  …"),
        (20, "enter steers  …"),
        (8, "enter s…"),
    ],
)
def test_hints_without_room_leave_a_mark(width: int, shown: str) -> None:
    assert fit_hints(RUNNING, width) == shown


# --- chips -----------------------------------------------------------------------------------


@given(st.lists(st.tuples(TEXT, st.text(min_size=1, max_size=30)), max_size=6), TEXT)
def test_a_draft_of_words_and_chips_expands_to_words_and_texts(
    parts: list[tuple[str, str]], end: str
) -> None:
    chips = Chips()
    draft = full = ""
    for words, pasted in parts:
        words = words.replace("[Pasted", "")
        draft += words + chips.add(pasted)
        full += words + pasted
    end = end.replace("[Pasted", "")
    assert chips.expand(draft + end) == full + end


def test_a_label_inside_a_pasted_text_is_left_alone() -> None:
    chips = Chips()
    label = chips.add("a\nb")
    other = chips.add(f"see {label}!!")
    assert chips.expand(other) == f"see {label}!!"


def test_equal_sizes_get_different_labels_and_equal_texts_share_one() -> None:
    chips = Chips()
    first, second, again = chips.add("a\nb"), chips.add("c\nd"), chips.add("a\nb")
    assert first != second and first == again
    assert chips.expand(f"{first}|{second}") == "a\nb|c\nd"


@pytest.mark.parametrize(
    ("text", "large"),
    [("x" * 1_000, False), ("x" * 1_001, True), ("a\n" * 7, False), ("a\n" * 8, True)],
)
def test_a_paste_is_large_by_lines_or_by_characters(text: str, large: bool) -> None:
    assert is_large(text) is large


# --- fuzzy -----------------------------------------------------------------------------------


def test_letters_are_sought_in_a_long_text_in_linear_time() -> None:
    begun = time.process_time()
    # Each of the many words that begin with the first letter is tried.
    assert match("abc", "a " * 20_000 + "xb" * 2_000 + "c") is None
    assert time.process_time() - begun < 2


@given(TEXT, TEXT)
def test_matched_positions_spell_the_query(query: str, text: str) -> None:
    found = match(query, text)
    if found is None:
        return
    positions = found[1]
    assert list(positions) == sorted(set(positions))
    assert all(0 <= at < len(text) for at in positions)
    if len(query.split()) == 1 and query.isascii() and text.isascii():
        assert "".join(text[at] for at in positions).lower() == query.strip().lower()


def test_the_file_name_beats_the_folder_and_a_run_beats_scattered_letters() -> None:
    files = ["retry/other/x.py", "src/r_e_t_r_y.py", "src/retry.py", "docs/nothing.md"]
    assert rank("retry", files, str)[:2] == ["src/retry.py", "retry/other/x.py"]
    assert "docs/nothing.md" not in rank("retry", files, str)


def test_an_empty_query_keeps_the_order() -> None:
    assert rank("", ["b", "a", "c"], str, limit=2) == ["b", "a"]


def test_long_words_and_far_letters_are_found_as_they_are_or_not_at_all() -> None:
    # Letters that may stand anywhere made a list of such texts wait for seconds at each key.
    assert match("a" * 500, "a " * 3_000) is None
    assert match("ab" + "c" * 500, "x ab" + "c" * 500) is not None
    assert match("abc", "z " * 1_000 + "a_b_c") is None
    assert match("a_b", "z " * 1_000 + "a_b_c") is not None


def test_a_word_with_a_letter_left_out_comes_before_beginnings_of_several_words() -> None:
    assert rank("thme", ["To the first message", "Choose the model", "Theme"], str)[0] == "Theme"


def test_letters_that_only_happen_to_be_in_a_sentence_are_no_match() -> None:
    bundles = [
        "demo A scripted agent in a sample project; no key, nothing is sent anywhere",
        "research Reads the web broadly and answers with sources",
        "local A bundle for Ollama, running on this machine",
        "broken",
    ]
    assert rank("bro", bundles, str) == ["broken", bundles[1]]
    assert match("rtry", "src/parcels/retry.py") is not None
    assert match("cmplt", "completion") is not None
    assert match("spt", "src/parcels/tests") is not None
    assert match("zzz", "az bz cz") is None


# --- completion ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "column", "row", "kind", "word"),
    [
        ("/th", 3, 0, "command", "th"),
        ("/", 1, 0, "command", ""),
        ("/th", 3, 1, None, ""),
        ("/th x", 3, 0, None, ""),
        ("a /th", 5, 0, None, ""),
        ("@", 1, 0, "file", ""),
        ("see @src/a", 10, 3, "file", "src/a"),
        ("(@src", 5, 0, "file", "src"),
        ("me@host", 7, 0, None, ""),
        ("@a b", 4, 0, None, ""),
        ('see @"a b', 9, 0, "file", "a b"),
        ('@"a b" c', 8, 0, None, ""),
        ("", 0, 0, None, ""),
    ],
)
def test_what_is_completed_depends_on_where_the_cursor_is(
    line: str, column: int, row: int, kind: str | None, word: str
) -> None:
    query = find_query(line, column, row)
    assert (query.kind if query else None) == kind
    if query is not None:
        assert query.word == word
        assert line[query.start] in "@/"


def test_every_command_is_offered_once_and_found_by_its_name() -> None:
    offered = complete_commands("", Keymap())
    assert len({c.text for c in offered}) == len(offered)
    for name in BY_SLASH:
        assert complete_commands(name, Keymap())[0].insert.strip() == f"/{name}"


@pytest.mark.parametrize("word", ["xx", "zzzz", "deployx"])
def test_what_is_in_no_name_offers_no_command(word: str) -> None:
    cards = (CommandCard(group="skill", name="deploy"),)
    assert complete_commands(word, Keymap(), cards) == []


@pytest.mark.parametrize("width", [200, 80, 40])
def test_what_commands_do_stands_in_one_column_beside_them_and_their_arguments_are_muted(
    width: int,
) -> None:
    offered = complete_commands("", Keymap())
    rows = candidate_rows(offered, width)
    columns = {row.left.plain.index(c.about) for row, c in zip(rows, offered, strict=True)}
    in_line = min(columns)
    assert in_line <= max(16, min(32, width * 2 // 5 + 2))
    beside = [
        row.left.plain[in_line:].startswith(c.about) for row, c in zip(rows, offered, strict=True)
    ]
    assert sum(beside) > len(rows) * 0.8
    assert max(columns) <= max(in_line, width // 2 + 2)
    [resume] = [row for row, c in zip(rows, offered, strict=True) if c.text == "/resume"]
    muted = [resume.left.plain[s.start : s.end] for s in resume.left.spans]
    assert muted == [" id", "  Resume a session"]
    assert not resume.right.plain


def test_commands_of_modules_are_offered_after_the_programs_own() -> None:
    cards = (
        CommandCard(group="skill", name="deploy", description="A\x1b[2J B", takes="where"),
        CommandCard(group="skill", name="plan", description="Not the program's plan"),
        CommandCard(group="server", name="deploy"),
    )
    offered = {c.text: c for c in complete_commands("", Keymap(), cards)}
    assert list(offered)[-3:] == ["/deploy", "/skill:plan", "/server:deploy"]
    assert offered["/deploy"].insert == "/deploy "
    assert offered["/deploy"].about == "A B"
    assert offered["/deploy"].takes == "where"
    assert complete_commands("dep", Keymap(), cards)[0].insert == "/deploy "
    assert complete_commands("skill:p", Keymap(), cards)[0].insert == "/skill:plan"
    assert is_command("skill:deploy", cards)
    assert not is_command("deploy:skill", cards)
    query = find_query("/skill:pl", 9, 0)
    assert query is not None and query.word == "skill:pl"


def test_files_keep_their_mention_form() -> None:
    assert complete_files("", ["a/b-c_d.py"])[0].insert == "@a/b-c_d.py "
    assert complete_files("", ["a b.py"])[0].insert == '@"a b.py" '
    assert complete_files("", ["日本/語.txt"])[0].insert == "@日本/語.txt "


def test_a_file_that_no_mention_can_hold_says_that_it_goes_by_its_name_only() -> None:
    [found] = complete_files("", ['a"b.py'])
    assert found.insert == 'a"b.py ' and "only its name" in found.data


# --- files -----------------------------------------------------------------------------------


def test_files_of_a_repository_are_what_git_knows_or_would_add(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("*.log\nsecret/\n")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    for name in ("a.py", "b.log", "deep/er/c.py", "secret/key", "über.txt"):
        (tmp_path / name).touch()
    assert list_files(tmp_path) == [".gitignore", "a.py", "über.txt", "deep/er/c.py"]


def test_a_deleted_file_is_none_of_a_repository_though_git_knows_it_still(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name in ("a.py", "gone.py", "über.txt"):
        (tmp_path / name).touch()
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    for name in ("gone.py", "über.txt"):
        (tmp_path / name).unlink()
    assert list_files(tmp_path) == ["a.py"]


def test_listing_files_runs_no_program_that_the_repository_names(tmp_path: Path) -> None:
    root, mark = tmp_path / "r", tmp_path / "ran"
    monitor = tmp_path / "monitor"
    monitor.write_text(f"#!/bin/sh\ntouch {mark}\n")
    monitor.chmod(0o755)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "a.py").touch()
    for command in (["config", "core.fsmonitor", str(monitor)], ["add", "a.py"], ["status"]):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    assert mark.exists()
    mark.unlink()
    assert list_files(root) == ["a.py"]
    assert not mark.exists()


def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    assert list_files(tmp_path / "gone") == []


# --- history ---------------------------------------------------------------------------------


def test_a_repeated_prompt_is_remembered_once(tmp_path: Path) -> None:
    history = History(tmp_path / "h")
    assert [history.add(text) for text in ("a", "a", "  ", "b", "a")] == [
        True, False, False, True, True,
    ]  # fmt: skip
    assert history.items == ("a", "b", "a")


def test_the_file_is_shortened_when_it_has_grown_to_twice_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "h"
    path.write_text("".join(f'{{"text": "p{n}"}}\n' for n in range(KEEP * 2 + 1)))
    found = History(path).load()
    assert len(found) == KEEP and found[-1] == f"p{KEEP * 2}"
    assert len(path.read_text().splitlines()) == KEEP


def test_a_prompt_of_another_window_outlives_the_shortening_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h"
    path.write_text("".join(f'{{"text": "p{n}"}}\n' for n in range(KEEP * 2 + 1)))
    write = jsonl.write_rows
    with ThreadPoolExecutor() as other_window:

        def meanwhile(target: Path, rows: list[jsonl.Row]) -> None:
            stored = other_window.submit(History(path).store, "theirs", "/x")
            wait([stored], timeout=0.1)
            write(target, rows)

        monkeypatch.setattr(jsonl, "write_rows", meanwhile)
        assert len(History(path).load()) == KEEP
    assert History(path).load()[-1] == "theirs"


def test_a_long_paste_comes_back_whole_and_the_file_stays_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paste = "".join(f"line {n}\n" for n in range(10_000))
    assert len(paste) > 93_000
    history = History(tmp_path / "h")
    history.add(paste)
    history.store(paste, "/x")
    assert history.previous("") == paste
    assert History(tmp_path / "h").load() == [paste]
    monkeypatch.setattr("amplifier_tui.ui.prompt.history.LARGEST", 150_000)
    for n in range(5):
        history.store(f"{n}{paste}", "/x")
    assert History(tmp_path / "h").load() == [f"4{paste}"[: len(paste) + 1]]
    assert (tmp_path / "h").stat().st_size < 300_000


def test_prompts_written_by_two_programs_are_all_there(tmp_path: Path) -> None:
    one, two = History(tmp_path / "h"), History(tmp_path / "h")
    for n in range(5):
        one.store(f"one {n}\nline", "/x")
        two.store(f"two {n} \ud800", "/y")
    assert len(History(tmp_path / "h").load()) == 10
