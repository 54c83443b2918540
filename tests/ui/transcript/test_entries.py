from dataclasses import replace

import pytest
from rich.cells import cell_len

from amplifier_tui.host.events import ProviderRetrying
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    ErrorEntry,
    LaneEntry,
    NoteEntry,
    RetryEntry,
    ShellEntry,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.transcript.entries.agents import agent_data, agent_words
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from tests.ui.transcript.conversation import ANSWER, DIFF, entries, more
from tests.ui.transcript.documents import document, lines_of, texts_of

HOSTILE = "[red]x[/red]\x1b[31m\x1b]52;c;eA==\x07\x1b]8;;http://e\x07\u202e\u200b\x9b2J\ttab"


def drawn(
    *these: ConversationEntry, width: int = 79, now: float = 0.0, opened: bool | None = None
) -> list[str]:
    made = document(width)
    made.renderer.now = now
    for entry in these:
        made.add(entry).opened = opened
    return texts_of(made)


def row(entry: ConversationEntry, width: int = 79, now: float = 0.0) -> str:
    return drawn(entry, width=width, now=now)[-1]


def tool(**fields: object) -> ToolEntry:
    settings: dict[str, object] = {"key": "c", "tool": "bash", "arguments": {"command": "ls"}}
    return ToolEntry(**{**settings, **fields})


def test_the_conversation_of_the_picture() -> None:
    assert drawn(*entries()) == [
        "",
        "  █ Why does the retry test hang? Fix it.",
        "",
        "    thinking · The user wants the hanging test fixed. I should look at the…",
        "",
        "    The test never advances the fake clock, so retry_with_backoff sleeps for",
        "    real. Let me look at both.",
        "",
        "    ✓ read    src/retry.py 1–64                                        12 ms",
        "    ✓ search  sleep( in tests/ · 3 hits                                41 ms",
        "    ✓ edit    tests/test_retry.py  +3 −1                                9 ms ▾",
        "              12   async def test_backoff(clock):",
        "              13 −     await retry_with_backoff(op)",
        "              13 +     task = asyncio.create_task(retry_with_backoff(op))",
        "              14 +     await clock.advance(3.0)",
        "              15 +     await task",
        "    ◐ bash    pytest -q tests/test_retry.py                  waiting for you",
    ]


def test_data_ends_in_one_column_through_the_whole_transcript() -> None:
    rows = drawn(
        tool(key="1", state="ok", duration_ms=3),
        tool(key="1b", state="ok", duration_ms=0.4),
        tool(key="2", state="ok", duration_ms=64_000),
        tool(key="3", state="waiting"),
        tool(key="4", state="denied"),
        tool(key="5", state="interrupted"),
        tool(key="6", state="failed", duration_ms=1500, error="exit 1"),
        tool(key="7", state="ok", duration_ms=3, agent="a_b"),
        ThinkingEntry(key="8", text="hm"),
    )
    words = ("3 ms", "1:04", "waiting for you", "denied", "stopped", "exit 1 · 1.5 s", "3 ms")
    data = [line for line in rows if line.endswith(words)]
    assert [line.split("  ")[-1].strip() for line in data] == list(words)
    assert not any("0 ms" in line for line in rows), "less than a millisecond is not said"
    assert {cell_len(line) for line in data} == {76}


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, ""), (1, "1 s"), (59.9, "59 s"), (61, "1:01"), (3725, "1:02:05")]
)
def test_a_running_tool_shows_how_long_it_runs(seconds: float, shown: str) -> None:
    line = row(tool(started=1000.0), now=1000.0 + seconds)
    assert line.startswith("    ◐ bash    ls")
    assert line[18:].strip() == shown


@pytest.mark.parametrize(("now", "shown"), [(100.0, "in 12 s"), (107.5, "in 5 s"), (200.0, "now")])
def test_a_request_that_is_sent_again_counts_down(now: float, shown: str) -> None:
    event = ProviderRetrying(
        session_id="s", provider="anthropic", status=429, delay=12.0, at=100.0, attempt=2, most=5
    )
    line = row(RetryEntry(key="r", event=event), now=now)
    assert f"trying again {shown} (2 of 5) · anthropic: HTTP 429" in line
    assert line.rstrip().endswith("esc stops")


def test_what_runs_shows_its_last_rows_and_what_is_done_shows_none() -> None:
    output = "".join(f"row {number}\n" for number in range(20))
    running = drawn(tool(tool="bash", arguments={"command": "seq"}, output=output, state="running"))
    assert [line.strip() for line in running[-6:]] == [
        "… 15 more lines · ctrl+o",
        *(f"row {number}" for number in range(15, 20)),
    ]
    done = drawn(tool(tool="bash", arguments={"command": "seq"}, output=output, state="ok"))
    assert not any("row" in line for line in done)


def test_what_the_users_own_command_came_to_stands_at_the_right_however_long_it_is() -> None:
    arguments = {"command": "make " + "x" * 200}
    entry = ShellEntry(
        key="s", tool="!", arguments=arguments, state="failed", summary="exit code 2"
    )
    entry.duration_ms = 54.0
    assert row(entry).rstrip().endswith("… exit code 2 · 54 ms")


def test_a_failed_tool_says_why_on_its_line() -> None:
    line = row(tool(state="failed", error="no such file\nand more", duration_ms=5))
    assert line.startswith("    ✗ bash    ls · no such file and more")


def test_the_path_of_a_failed_call_is_not_cut_for_the_length_of_its_reason() -> None:
    path = "parcels/rates/of/this/year.py"
    failed = tool(tool="read_file", arguments={"file_path": path}, state="failed")
    line = row(replace(failed, error="it went wrong " * 9))
    assert path in line and "it went wrong" in line and line.rstrip().endswith("…")


def test_of_an_output_that_was_cut_the_lines_above_are_not_counted_as_all() -> None:
    entry = tool(state="running", output="row\n" * 30, output_size=120)
    assert "… 25 more lines" in "\n".join(drawn(entry))
    assert "… at least 25 more lines" in "\n".join(drawn(replace(entry, output_size=9_000)))


def test_a_plan_is_counted_in_items_alone() -> None:
    entry = tool(tool="todo", arguments={"todos": [1, 2]}, state="ok", summary="21 lines")
    assert "2 items" in row(entry) and "lines" not in row(entry)


def test_what_a_rule_or_a_mode_let_through_says_so_on_its_line_or_below_it() -> None:
    entry = tool(state="ok", summary="3 lines", allowed_by="rule bash(ls *)", output="a\nb\nc")
    assert drawn(entry) == ["", "    ✓ bash    ls · 3 lines · rule bash(ls *)"]
    cut = tool(state="ok", allowed_by=f"rule bash({'x' * 20} *)", output="a")
    narrow = drawn(cut, width=40, opened=True)
    assert "let through" in " ".join(narrow)


def test_a_call_nobody_answered_about_timed_out() -> None:
    assert row(tool(state="denied", timed_out=True, error="nobody came")).endswith("timed out")


def test_the_line_of_an_agent_says_its_answer_without_the_marks_of_markdown() -> None:
    entry = LaneEntry(key="a", lane="a", state="success", result="All of **that** is in `x.py`")
    assert agent_words(entry) == ("All of that is in x.py", "muted")


def test_the_line_of_an_agent_says_no_time_below_one_second() -> None:
    entry = LaneEntry(key="a", lane="a", calls=2, began=1_000.0, state="running")
    assert agent_data(entry, 1_000.9) == "2 calls"
    assert agent_data(entry, 1_001.2) == "2 calls · 1 s"
    ended = LaneEntry(key="a", lane="a", calls=2, began=1_000.0, ended=1_000.4, state="success")
    assert agent_data(ended, 1_009.0) == "2 calls"


def test_a_reason_that_the_line_of_a_failed_call_cuts_stands_whole_below_it_when_it_is_opened() -> (
    None
):
    reason = "/etc/hostname is outside of the workspace: ask the user to add it to what may be read"
    entry = tool(tool="read_file", state="failed", error=reason, output=f"{reason}\n")
    line, *below = drawn(entry, opened=True)[1:]
    assert "…" in line and " ".join(" ".join(below).split()) == reason
    short = replace(entry, error="no such file", output="no such file")
    assert len(drawn(short, opened=True)[1:]) == 1


def test_a_denied_call_says_the_reason_that_was_given_and_not_the_question_again() -> None:
    asked = row(tool(state="denied", error="User denied: bash wants to run a command"))
    assert "wants to" not in asked and "User denied" not in asked
    assert " · not here " in row(tool(state="denied", error="User denied: not here"))


def test_the_exit_code_of_a_command_is_said_once() -> None:
    entry = tool(state="failed", error="exit code 1", output="oops", expanded=True)
    assert "\n".join(drawn(entry)).count("exit code") == 1
    entry = tool(arguments={"command": "x" * 70}, state="failed", error="exit code 1", output="o")
    assert "\n".join(drawn(entry)).count("exit code") == 1, "at the end of its line, uncut"


def test_a_command_that_failed_or_was_stopped_shows_the_end_of_its_output() -> None:
    output = "".join(f"row {number}\n" for number in range(20))
    failed = tool(state="failed", error="exit code 1", output=output)
    assert [line.strip() for line in drawn(failed)[-4:]] == [
        "… 17 more lines · ctrl+o",
        *(f"row {number}" for number in range(17, 20)),
    ]
    stopped = replace(failed, state="interrupted", error="Interrupted")
    assert [line.strip() for line in drawn(stopped)[-4:]] == [
        "… 17 more lines · ctrl+o",
        *(f"row {number}" for number in range(17, 20)),
    ]
    # Of a long output only the beginning is kept, which does not say why.
    failed.output_size = 100_000
    assert not any("row" in line for line in drawn(failed))
    assert len(drawn(tool(tool="grep", state="failed", error="bad", output=output))) == 2


def test_what_a_command_printed_is_shown_of_one_that_failed_and_not_the_notes_below_it() -> None:
    notes = "[exit code 3 · 0.1 s]\n[It ran in a sandbox and could not write]"
    failed = tool(state="failed", error="exit code 3", output=f"one\ntwo\nthree\nfour\n{notes}")
    assert [line.strip() for line in drawn(failed)[-4:]] == [
        "… 3 more lines · ctrl+o",
        *("two", "three", "four"),
    ]
    assert len(drawn(replace(failed, output=notes))) == 2


def test_a_long_object_is_cut_and_a_path_keeps_its_end() -> None:
    path = "/".join(["directory"] * 20) + "/file.py"
    line = row(tool(tool="read_file", arguments={"path": path}, state="ok", duration_ms=9))
    assert "…" in line and "directory/file.py" in line and line.endswith("9 ms")
    line = row(tool(arguments={"command": "x" * 300}, state="ok", duration_ms=9))
    assert "x…" in line and line.endswith("9 ms") and cell_len(line) == 76


def test_output_belongs_ten_cells_in_and_a_long_one_is_cut_in_the_middle() -> None:
    rows = drawn(tool(state="ok", output="\n".join(f"line {n}" for n in range(500)), expanded=True))
    assert rows[2] == "              line 0"
    assert rows[-1] == "              line 499"
    assert "              … 300 more lines · ctrl+x ;" in rows
    assert len(rows) == 2 + 201


def test_output_that_was_cut_says_how_much_there_was() -> None:
    entry = tool(state="ok", output="x" * 1000, output_size=2_500_000, expanded=True)
    assert drawn(entry)[-1].strip() == "… the first 1 kB of 2.5 MB"


def test_a_diff_that_cannot_be_read_is_shown_as_it_is() -> None:
    assert drawn(tool(state="ok", diff="not a diff", expanded=True))[-1].strip() == "not a diff"


def test_a_multi_line_command_is_shown_whole_when_expanded() -> None:
    rows = drawn(tool(arguments={"command": "cd x\nmake"}, state="ok", expanded=True))
    assert rows[-2:] == ["              cd x", "              make"]


def test_an_unknown_tool_lists_its_arguments_when_expanded() -> None:
    rows = drawn(tool(tool="query", arguments={"sql": "select\n1"}, state="ok", expanded=True))
    assert [line.strip() for line in rows[-2:]] == ["sql: select", "1"]


def test_thinking_is_one_line_until_it_is_opened() -> None:
    entry = ThinkingEntry(key="k", text="First *words*.\n\nThen more.")
    assert drawn(entry)[1:] == ["    thinking · First words. Then more."]
    assert drawn(entry, opened=True)[1:] == [
        "    thinking" + " " * 65 + "▾",
        "    First words.",
        "",
        "    Then more.",
    ]


def test_thinking_that_was_watched_says_how_long_it_took() -> None:
    made = document()
    item: DrawnEntry = made.add(ThinkingEntry(key="k", text="hm", streaming=True))
    item.since, made.renderer.now = 100.0, 103.5
    assert texts_of(made)[-1].endswith(" 3 s")
    item.entry.streaming, item.entry.duration_ms = False, 3240
    made.refresh(item)
    assert texts_of(made)[-1].endswith(" 3.2 s")


def test_a_prompt_of_which_only_the_end_of_a_line_would_be_hidden_is_shown_whole() -> None:
    lines = ["x" * 150] * 9 + ["y" * 60] * 3
    rows = drawn(UserEntry(key="u", text="\n".join(lines)))
    assert "".join(rows).count("y") == 180 and not any("…" in row for row in rows)


def test_a_long_prompt_is_folded_until_it_is_opened() -> None:
    entry = UserEntry(key="u", text="\n".join(map(str, range(100))))
    rows = drawn(entry)
    assert rows[-5:] == ["  █ 8", "  █ … 88 more lines · ctrl+o", "  █ 97", "  █ 98", "  █ 99"]
    assert drawn(entry, opened=True)[-1] == "  █ 99"
    pasted = UserEntry(key="u", text="log line\n" * 50 + "x" * 400 + " what is wrong here?")
    assert drawn(pasted)[-1] == "  █ what is wrong here?"
    wide = UserEntry(key="u", text="漢" * 1_000_000)
    assert "  █ … 998 kB · ctrl+o" in drawn(wide) and drawn(wide)[-1].endswith("漢")
    assert drawn(wide, opened=True)[-1] == "  █ … 900 kB · ctrl+x ;"


def test_a_prompt_keeps_its_lines_and_names_what_was_attached() -> None:
    entry = UserEntry(
        key="u", text="one\n  two **three**", attachments=("a.png", "b.py"), files=("c.py:3-9",)
    )
    rows = drawn(entry)
    assert rows[1:] == ["  █ one", "  █   two **three**", "  █ with a.png, b.py, c.py:3-9"]


def test_an_error_says_what_happened_what_was_kept_and_which_key_helps() -> None:
    entry = ErrorEntry(
        key="e",
        kind="auth",
        message="The key was refused.",
        remedy="Set another one.",
        missing=("API_KEY",),
        retryable=True,
        prompt="hi",
        detail="HTTP 401",
    )
    assert drawn(entry)[1:] == [
        "  █ ✗ The key was refused.",
        "  █ missing: API_KEY",
        "  █ Set another one.",
        "  █ Your prompt is kept. In the draft, right edits it and typing replaces it.",
        "  █ ctrl+x r try again   ctrl+x # paste a key   ctrl+o details",
    ]
    assert drawn(entry, opened=True)[-1] == "  █ HTTP 401"


@pytest.mark.parametrize(
    ("kind", "ways"),
    [
        ("cancelled", "ctrl+x n open again   ctrl+x b choose a bundle"),
        ("bundle", "ctrl+x b choose a bundle"),
    ],
)
def test_a_session_that_did_not_open_says_the_ways_to_one(kind: str, ways: str) -> None:
    assert drawn(ErrorEntry(key="e", kind=kind, message="No."))[-1] == f"  █ {ways}"


def test_notes_are_quiet_and_warnings_have_a_glyph() -> None:
    rows = drawn(
        NoteEntry(key="1", text="Stopped"),
        NoteEntry(key="2", text="careful " * 12, level="warning"),
        NoteEntry(key="3", text="broken", level="error"),
    )
    assert rows[1:3] == ["    Stopped", "    ! " + ("careful " * 9).rstrip()]
    assert rows[3].startswith("      careful") and rows[-1] == "    ✗ broken"


def test_the_welcome_says_of_a_bundle_that_it_is_the_projects() -> None:
    entry = WelcomeEntry(key="w", bundle="coding", of_project=True, model="sonnet")
    assert "bundle coding, of this project   model sonnet" in drawn(entry)[1]


def test_the_welcome_says_what_is_active_what_to_try_and_what_is_missing() -> None:
    entry = WelcomeEntry(
        key="w",
        bundle="coding",
        model="sonnet",
        mode="ask",
        examples=("One", "Two " * 20),
        missing=("API_KEY",),
    )
    assert drawn(entry)[1:] == [
        "    bundle coding   model sonnet   mode ask",
        "    ! API_KEY is not set",
        "",
        "    try  One",
        "         " + ("Two " * 17).strip(),
        "         Two Two Two",
        "",
        "    @ file   / command   ! shell   F1 keys",
    ]


def test_an_interrupted_answer_is_marked() -> None:
    assert drawn(TextEntry(key="t", text="half an", interrupted=True))[1:] == [
        "    half an",
        "    … interrupted",
    ]


def test_one_empty_row_separates_what_does_not_belong_together() -> None:
    rows = drawn(
        UserEntry(key="1", text="u"),
        tool(key="2", state="ok"),
        ThinkingEntry(key="3", text="hm"),
        tool(key="4", state="ok"),
        TextEntry(key="5", text="text"),
        TextEntry(key="6", text="more"),
        tool(key="7", state="ok"),
    )
    blanks = [not line for line in rows]
    assert blanks == [1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0]


def test_entries_of_a_sub_agent_are_indented_under_its_name() -> None:
    rows = drawn(
        tool(key="1", tool="task", arguments={"agent": "x", "instruction": "y"}, state="ok"),
        tool(key="2", agent="1-2_reviewer", state="ok"),
        tool(key="3", agent="1-2_reviewer", state="ok"),
        TextEntry(key="4", agent="1-2_reviewer", text="found it"),
        tool(key="5", state="ok"),
    )
    assert rows[1:] == [
        "    ✓ task    x y",
        "    └ reviewer",
        "      ✓ bash    ls",
        "      ✓ bash    ls",
        "",
        "      found it",
        "",
        "    ✓ bash    ls",
    ]


@pytest.mark.parametrize("width", [1, 2, 3, 8, 20, 40, 80, 120, 200])
def test_every_kind_of_entry_fits_every_width(width: int) -> None:
    made = document(width)
    for entry in [*entries(), *more()]:
        made.add(entry).opened = True
    for line in lines_of(made):
        assert cell_len(line.text) <= max(width, 20)
        if width >= 20:
            assert cell_len(line.text) <= width


def test_text_is_never_wider_than_the_measure_and_begins_where_the_prompt_does() -> None:
    rows = drawn(TextEntry(key="t", text="word " * 200), width=200)
    assert cell_len(rows[1]) - cell_len(rows[1].lstrip()) == 4
    assert max(map(cell_len, rows)) == 4 + len("word " * 22) - 1


@pytest.mark.parametrize(
    "entry",
    [
        UserEntry(key="1", text=HOSTILE, attachments=(HOSTILE,)),
        TextEntry(
            key="1", text=f"{HOSTILE}\n\n`{HOSTILE}`\n\n```{HOSTILE}\n{HOSTILE}\n```\n\n- {HOSTILE}"
        ),
        ThinkingEntry(key="1", text=HOSTILE),
        ToolEntry(
            key="1",
            tool=HOSTILE,
            arguments={HOSTILE: HOSTILE},
            output=HOSTILE,
            error=HOSTILE,
            summary=HOSTILE,
            state="failed",
        ),
        ToolEntry(
            key="1",
            tool="read_file",
            arguments={"path": f"{HOSTILE}[red]x[/red]"},
            diff=DIFF + HOSTILE,
        ),
        ToolEntry(
            key="1", tool="bash", arguments={"command": f"{HOSTILE}\n{HOSTILE}"}, diff=HOSTILE
        ),
        ErrorEntry(
            key="1",
            kind=HOSTILE,
            message=HOSTILE,
            remedy=HOSTILE,
            detail=HOSTILE,
            missing=(HOSTILE,),
        ),
        NoteEntry(key="1", text=HOSTILE),
        ShellEntry(key="1", tool="!", arguments={"command": HOSTILE}, output=HOSTILE * 9),
        RetryEntry(
            key="1", event=ProviderRetrying(session_id="s", provider=HOSTILE, problem=HOSTILE)
        ),
        WelcomeEntry(
            key="1", bundle=HOSTILE, model=HOSTILE, examples=(HOSTILE,), missing=(HOSTILE,)
        ),
        ToolEntry(key="1", agent=HOSTILE, tool="bash"),
    ],
)
def test_hostile_text_is_drawn_as_harmless_text(entry: ConversationEntry) -> None:
    text = "\n".join(drawn(entry, opened=True))
    assert not any(character in text for character in "\x1b\x07\x9b\u202e\u200b\t")
    # What was called is spelled out; of all other text it is left out.
    assert "52;c" not in text.replace("‹U+001B›]52;c", "")
    assert "[red]x[/red]" in text


def test_the_markdown_answer_is_drawn_whole() -> None:
    rows = drawn(TextEntry(key="t", text=ANSWER))
    assert "    test_backoff   3.02 s   8 ms" in rows
    assert "     2. the fake clock is moved by three seconds" in rows
    assert "    > Anything that waits should take a clock." in rows
