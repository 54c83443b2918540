import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amplifier_tui.host.events import Segment
from amplifier_tui.host.gate.risk import CHANGES_FILE, MAKES_FILE
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.approval_words import (
    RISK,
    facts,
    head,
    outcome_words,
    payload_lines,
    why,
)
from amplifier_tui.ui.dialogs.parts.scope_row import ScopeRow
from amplifier_tui.ui.widgets.text_lines import TextLine, fold, visible
from tests.ui.driving import running
from tests.ui.requests import ask, resolved

HOSTILE = st.text(
    st.sampled_from("ab \t\r\x00\x1b[]\u202e\u200b\u00a0\u2028\ufeff漢🙂é\ud800'\"\\"), max_size=60
)


@given(HOSTILE)
def test_nothing_that_hides_or_controls_is_left_in_a_visible_line(text: str) -> None:
    shown, marks = visible(text)
    for bad in "\t\r\x00\x1b\u202e\u200b\u00a0\u2028\ufeff\ud800":
        assert bad not in shown
    for start, end in marks:
        assert shown[start:end].startswith("‹U+") and shown[start:end].endswith("›")


@given(HOSTILE)
def test_a_visible_line_tells_its_original(text: str) -> None:
    import re

    shown, _ = visible(text)
    back = re.sub(r"‹U\+([0-9A-F]+)›", lambda m: chr(int(m[1], 16)), shown)
    assert back.replace("→   ", "\t") == text


def test_title_and_touched_files_name_the_file_that_is_written_and_no_other() -> None:
    name = "ctl\x1b[31mred\x07\u202enew.txt"
    request = ask(tool="write_file", action=f"write_file wants to write {name}", paths=(name,))
    shown = "ctl‹U+001B›[31mred‹U+0007›‹U+202E›new.txt"
    assert shown in head(request).plain
    assert f"touches {shown}" in " ".join(facts(request).plain.split())


def test_a_rule_that_nearly_covers_a_call_is_in_the_long_form_of_its_question() -> None:
    near = "the rule bash(pytest *) does not cover -v; bash(pytest -v *) would cover it"
    assert near in " ".join(why(ask(near=near), (0, 0), held=False).plain.split())


@given(st.text(max_size=300), st.integers(1, 50), st.text("xyz ", max_size=20))
def test_folding_loses_no_character_and_no_row_is_too_wide(text: str, room: int, note: str) -> None:
    shown, _ = visible(text.replace("\n", ""))
    line = TextLine(shown, note=note)
    parts = fold(line, room)
    assert "".join(part.text for part in parts) == shown
    for part in parts:
        assert cell_len(part.text) + cell_len(part.note) <= max(room, 2)
    assert "".join(part.note for part in parts).replace(" ", "") == note.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('    raise TooHeavy(f"{weight} kg")', ["    raise ", 'TooHeavy(f"{weight} kg")']),
        ("go https://example.org/a/long/way", ["go https://example.org/a/", "long/way"]),
        ("        an_indented_name_of_a_thing", ["        an_indented_name_", "of_a_thing"]),
    ],
)
def test_a_row_ends_inside_a_word_only_where_no_row_would_hold_it(
    text: str, rows: list[str]
) -> None:
    assert [row.text for row in fold(TextLine(text), 25, 1)] == rows


def test_the_rows_of_a_here_document_stand_below_their_command() -> None:
    written = "cat > x.sh <<'EOF'\necho hi\nEOF"
    parts = (Segment(text=written), Segment(text="bash x.sh"))
    shown = payload_lines(ask(payload=f"{written}\nbash x.sh", segments=parts))[-4:]
    assert [line.lead for line in shown] == [" 1  ", "    ", "    ", " 2  "]


def test_json_is_indented_but_never_at_the_price_of_a_key() -> None:
    lines = payload_lines(ask(payload='{"a": {"b": [1, 2]}}', payload_kind="json", segments=()))
    assert json.loads("\n".join(line.text for line in lines)) == {"a": {"b": [1, 2]}}
    assert len(lines) > 3
    twice = '{"path": "/etc/passwd", "path": "ok.txt"}'
    assert [x.text for x in payload_lines(ask(payload=twice, payload_kind="json"))] == [twice]


@pytest.mark.parametrize("payload", ["{", "[" * 100_000, "nul", '"\\ud800"'])
def test_what_is_no_json_is_shown_as_it_is(payload: str) -> None:
    assert payload_lines(ask(payload=payload, payload_kind="json", segments=()))


def test_a_single_command_is_one_line_with_its_note() -> None:
    lines = payload_lines(ask())
    assert [(line.text, line.note) for line in lines] == [
        ("rm -rf build", "no rule · deletes files")
    ]


def test_a_segment_that_says_something_else_does_not_hide_the_command() -> None:
    request = ask(payload="rm -rf / # ls", segments=(Segment(text="ls", allowed=True),))
    assert [line.text for line in payload_lines(request)] == ["rm -rf / # ls", "ls"]


# --- words -----------------------------------------------------------------------------------


def test_a_rule_gets_a_row_of_its_own_where_it_does_not_fit() -> None:
    request = ask(rule="rm -rf " + "x" * 80)
    assert ScopeRow(request, "once", "r").rows(80) > 1
    assert ScopeRow(ask(rule="rm x"), "once", "r").rows(140) == 1


def test_a_rule_that_gives_a_command_the_network_says_so() -> None:
    for network in (True, False):
        row = ScopeRow(ask(rule="bash(npm ci)", network=network), "once", "r")
        shown = row._content_for(False, 140, None, False).plain
        assert ("rule bash(npm ci) · with the network" in shown) == network


@pytest.mark.parametrize(
    ("values", "words", "level"),
    [
        ({"outcome": "timed_out", "by": "timeout"}, "timed out, denied", "warning"),
        ({"outcome": "cancelled", "by": "stop"}, "the turn was stopped", "info"),
        ({"outcome": "allowed", "by": "rule", "rule": "rm *"}, "allowed by rule rm *", "info"),
        ({"outcome": "denied", "by": "user"}, "denied", "info"),
    ],
)
def test_an_outcome_is_named_for_what_it_was(values: dict, words: str, level: str) -> None:
    said, how = outcome_words(ask(), resolved(**values))
    assert words in said and how == level
    assert "you denied" not in said.lower()


def test_a_request_that_allows_itself_is_said_to_have_been_allowed() -> None:
    answer = resolved(outcome="timed_out", by="timeout")
    assert outcome_words(ask(default="allow"), answer)[0].endswith("timed out, allowed")


def test_red_is_for_what_is_dangerous_and_each_risk_has_a_glyph_of_its_own() -> None:
    parts = (
        Segment(text="ls", note="no rule · only reads", risk="low"),
        Segment(text="make", note="no rule", risk="medium"),
        Segment(text="rm -rf build", note="no rule · deletes", risk="high"),
        Segment(text="git add", note="allowed by rule git add", risk="high", allowed=True),
    )
    shown = payload_lines(ask(payload="ls && make", segments=parts))
    styles = [line.note_style for line in shown if line.note]
    assert styles == ["$text-muted", "$text-warning", "$text-error", "$text-success"]
    assert len({glyph for glyph, _ in RISK.values()}) == len(RISK)


def test_of_several_reasons_only_those_that_are_dangerous_are_red() -> None:
    reasons = ("deletes whole folders", MAKES_FILE, CHANGES_FILE)
    shown = facts(ask(risk="high", reasons=reasons), brief=True)
    styles = {shown.plain[span.start : span.end]: span.style for span in shown.spans}
    assert [styles[reason] for reason in reasons] == ["$text-error", "$text-muted", "$text-muted"]
    alone = facts(ask(risk="medium", reasons=(CHANGES_FILE,)), brief=True)
    assert [span.style for span in alone.spans] == ["$text-warning"]


@pytest.mark.parametrize(("size", "column"), [((80, 24), 43), ((120, 36), 66)])
async def test_the_notes_of_single_commands_stand_in_one_column(
    size: tuple[int, int], column: int
) -> None:
    parts = (
        Segment(text="cd src", note="no rule", risk="low"),
        Segment(text="python3 -m pytest tests/unit -q", note="no rule · runs code"),
        Segment(text="rm -rf build", note="no rule · deletes files", risk="high"),
        Segment(
            text="git commit -m 'a long message about all that was done'",
            note="allowed by rule git commit *",
            allowed=True,
        ),
    )
    async with running(size=size) as drive:
        await drive.push(ask(payload=" && ".join(x.text for x in parts), segments=parts))
        await drive.dialog(ApprovalDialog)
        lines = drive.text().splitlines()
        found = [line.index(part.note) for part in parts for line in lines if part.note in line]
        assert set(found) == {column}


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
@pytest.mark.parametrize("risk", ["medium", "critical"])
@pytest.mark.usefixtures("no_grace")
async def test_a_yes_that_leaves_the_sandbox_says_so_in_the_head(
    size: tuple[int, int], risk: str
) -> None:
    asked = ask(unconfined=True, risk=risk, why="mode auto: asks before commands that are critical")
    async with running(size=size) as drive:
        await drive.push(asked)
        await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "wants to run a command outside the sandbox " in drive.text())
        await drive.press("question_mark")
        await drive.until(lambda: "a yes runs it outside of the sandbox: with the" in drive.text())


async def test_no_word_of_a_reason_is_lost_while_there_are_rows() -> None:
    reason = (
        "a yes runs the command without the sandbox: git makes a repository, and in the sandbox "
        "what makes one of its folder is moved aside"
    )
    command = "mkdir -p x/y && cd x && git init -q . ; ls -a"
    parts = tuple(Segment(text=part, risk="medium") for part in ("mkdir -p x/y", "cd x", "git"))
    asked = ask(payload=command, segments=parts, reasons=(reason,), why="", paths=("x/y",))
    async with running(size=(80, 24)) as drive:
        await drive.push(asked)
        await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "touches" in drive.text())
        said = " ".join(drive.text().replace("█", " ").replace("▌", " ").split())
        assert reason in said
