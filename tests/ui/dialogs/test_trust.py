import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.text import clean
from amplifier_tui.host.client import TrustDecision
from amplifier_tui.host.events import Notice, SessionClosed, TrustAsked
from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog
from amplifier_tui.ui.dialogs.trust.listing import TrustList
from amplifier_tui.ui.dialogs.trust.picks import TrustPicks
from amplifier_tui.ui.dialogs.trust.rows import trust_rows
from amplifier_tui.ui.widgets.styled import pieces_width
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.trust_questions import FOLDER, answered, asked, item, many, power, source


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TrustDialog, "grace", 0.0)
    monkeypatch.setattr(TrustDialog, "alone", 0.0)


def decisions(drive: Driver) -> list[TrustDecision]:
    return [decision for _, decision in drive.client.named("answer_trust")]


def keys_of(question: TrustAsked) -> frozenset[str]:
    return frozenset(each.key for each in question.items)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("key", "decision"),
    [
        ("u", TrustDecision(accepted=keys_of(many()), remember="always")),
        ("s", TrustDecision(accepted=keys_of(many()), remember="session")),
        ("o", TrustDecision(remember="session")),
        ("escape", TrustDecision(cancelled=True)),
    ],
)
async def test_a_key_answers_for_everything(key: str, decision: TrustDecision) -> None:
    async with running() as drive:
        await drive.push(many())
        await drive.dialog(TrustDialog)
        await drive.press(key)
        await drive.closed()
        assert drive.client.named("answer_trust") == [("t1", decision)]


@pytest.mark.usefixtures("at_once")
async def test_what_needs_a_session_says_which_key_answers_the_question_it_waits_for() -> None:
    async with running() as drive:
        assert drive.app.state is not None
        drive.app.state.facts.opened = False
        await drive.write("hello")
        await drive.push(many())
        await drive.press("enter")
        assert "No session is open yet: F8 answers its question." in drive.text()
        assert drive.draft == "hello"
        drive.app.main.say("something else")
        await drive.press("ctrl+x", "f")
        assert "F8 answers its question" in drive.text()


@pytest.mark.usefixtures("at_once")
async def test_ninety_sources_are_five_lines_at_80x24() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(many())
        await drive.dialog(TrustDialog)
        text = drive.text()
        assert "90 sources · 2 settings · 1 file · 1 key" in text
        assert "▸ github.com/microsoft · 60 sources" in text
        assert "▸ github.com/kit · 4 sources" in text
        assert "with what it brings of the same publisher; all else is asked about" in text
        assert "Power  settings of what guards you" in text
        await drive.press("G")
        assert "[ ] this folder, also later: /home/u/src/app" in drive.text()


@pytest.mark.usefixtures("at_once")
async def test_an_owner_opens_and_shows_source_commit_asker_and_line() -> None:
    async with running(size=(100, 30)) as drive:
        await drive.push(many())
        await drive.dialog(TrustDialog)
        await drive.press("j", "enter")
        text = drive.text()
        assert "▾ github.com/acme · 17 sources" in text
        assert "git+https://github.com/acme/tool-0@main · at 1a2b3c4d5e6f · asked for by" in text
        assert ".amplifier/bundles/demo.md:10" in text
        await drive.press("j", "j", "enter")
        assert "▸ github.com/acme · 17 sources" in drive.text()


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("size", [(40, 12), (24, 14), (80, 24), (200, 50)])
async def test_everything_can_be_read_and_the_keys_stay_at_any_size(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        question = asked(power(detail="allow: [" + "x" * 500 + "END]"), source())
        await drive.push(question)
        dialog = await drive.dialog(TrustDialog)
        seen = drive.text()
        assert "Cancel" in seen
        for _ in range(60):
            await drive.press("j")
            seen += drive.text()
        assert "END]" in seen
        await drive.press("k")
        assert drive.app.screen is dialog


@pytest.mark.usefixtures("at_once")
async def test_only_what_is_ticked_is_used_by_line_or_by_owner() -> None:
    question = asked(source(1), source(2), source(1, "github.com/other"), power())
    async with running() as drive:
        await drive.push(question)
        await drive.dialog(TrustDialog)
        await drive.press("c")
        assert "Refuse all of it" in drive.text()
        await drive.press("j", "space", "j", "j", "space")
        text = drive.text()
        assert "[-] github.com/acme" in text
        assert "[✓] github.com/other" in text
        assert "Use 2 of 4" in text
        await drive.press("u")
        await drive.closed()
        keys = {"code-github.com/acme-1", "code-github.com/other-1"}
        assert decisions(drive) == [TrustDecision(accepted=frozenset(keys), remember="always")]


@pytest.mark.usefixtures("at_once")
async def test_a_space_begins_to_choose_and_c_goes_back_to_everything() -> None:
    question = asked(source(1), power())
    async with running() as drive:
        await drive.push(question)
        await drive.dialog(TrustDialog)
        await drive.press("space")
        assert "Use 1 of 2" in drive.text()
        await drive.press("c")
        assert "Use it" in drive.text()
        await drive.press("u")
        assert decisions(drive)[0].accepted == keys_of(question)


@pytest.mark.usefixtures("at_once")
async def test_a_publisher_and_the_folder_can_be_trusted_for_good() -> None:
    question = asked(source(1), power(), item("x", owner="git+https://example.com/x", title="x"))
    async with running() as drive:
        await drive.push(question)
        await drive.dialog(TrustDialog)
        await drive.press("c", "G", "space", "k", "space")
        text = drive.text()
        assert "[✓] all of github.com/acme, also later" in text
        assert "all of git+https" not in text
        assert "Use 2 of 3" in text
        await drive.press("s")
        assert decisions(drive) == [
            TrustDecision(
                accepted=frozenset({"code-github.com/acme-1", "power"}),
                remember="session",
                owners=("github.com/acme",),
                folder=True,
            )
        ]


@pytest.mark.usefixtures("at_once")
async def test_refusing_trusts_nobody_for_good_whatever_was_ticked() -> None:
    async with running() as drive:
        await drive.push(asked(source(1), power()))
        await drive.dialog(TrustDialog)
        await drive.press("G", "space", "o")
        assert decisions(drive) == [TrustDecision(remember="session")]


@pytest.mark.usefixtures("at_once")
async def test_what_changed_is_marked_and_never_folded() -> None:
    changed = [source(n, was=f"used: at {n}00000000000") for n in range(6)]
    async with running(size=(80, 40)) as drive:
        await drive.push(asked(*changed, power(was='refused: policy: "careful"')))
        await drive.dialog(TrustDialog)
        text = drive.text()
        assert "changed" in text
        assert "was  used: at 300000000000" in text
        assert "now  git+https://github.com/acme/tool-3@main · at 1a2b3c4d5e6f" in text


@pytest.mark.usefixtures("at_once")
async def test_a_file_that_changed_while_its_description_did_not_is_said_to_have() -> None:
    changed = item("tidy", group="skills", detail="Tidy the code", was="used: Tidy the code")
    async with running(size=(120, 36)) as drive:
        await drive.push(asked(changed))
        await drive.dialog(TrustDialog)
        assert "was  used: Tidy the code" in drive.text()
        assert "now  Tidy the code · its content is another" in drive.text()


async def test_it_goes_away_when_it_was_answered_elsewhere_or_the_session_closed() -> None:
    async with running() as drive:
        await drive.push(many())
        await drive.dialog(TrustDialog)
        await drive.push(answered())
        await drive.closed()
        await drive.push(replace(many(), request_id="t2"))
        await drive.dialog(TrustDialog)
        await drive.push(SessionClosed(session_id=SESSION, reason="closed"))
        await drive.closed()
        assert decisions(drive) == []


@pytest.mark.usefixtures("at_once")
async def test_a_second_question_of_the_same_opening_follows_the_first() -> None:
    async with running() as drive:
        await drive.push(asked(source(1)))
        await drive.dialog(TrustDialog)
        await drive.press("u")
        await drive.push(answered(), asked(source(2), request_id="t2"))
        dialog = await drive.dialog(TrustDialog)
        assert dialog.asked.request_id == "t2"
        await drive.press("o")
        assert [name for name, _ in drive.client.named("answer_trust")] == ["t1", "t2"]


@pytest.mark.usefixtures("at_once")
async def test_what_was_ticked_and_opened_is_there_again_after_typing() -> None:
    async with running() as drive:
        await drive.push(many())
        await drive.dialog(TrustDialog)
        await drive.press("space", "j", "enter", "x")
        await drive.closed()
        assert drive.draft == "x"
        await drive.press("f8")
        await drive.dialog(TrustDialog)
        text = drive.text()
        assert "Use 60 of 94" in text
        assert "[✓] github.com/microsoft" in text
        assert "▾ [ ] github.com/acme" in text


@pytest.mark.usefixtures("at_once")
async def test_the_conversation_goes_on_behind_it() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(asked(source(1)))
        await drive.dialog(TrustDialog)
        await drive.push(Notice(session_id=SESSION, level="info", text="fetching something"))
        await drive.until(lambda: "fetching something" in drive.text())


def test_thousands_of_sources_are_laid_out_in_time() -> None:
    question = asked(*(source(n, f"github.com/o{n % 50}") for n in range(2000)))
    picks = TrustPicks(question)
    picks.folded.clear()
    began = time.process_time()
    rows = trust_rows(question, picks, 80)
    assert len(rows) > 6000
    assert time.process_time() - began < 2


async def test_typing_that_goes_on_does_not_answer() -> None:
    async with running() as drive:
        await drive.push(many())
        dialog = await drive.dialog(TrustDialog)
        await drive.until(lambda: dialog.armed)
        await drive.write("use it, so to say")
        await drive.closed()
        assert decisions(drive) == [] and drive.draft == "use it, so to say"
        await drive.press("f8")
        dialog = await drive.dialog(TrustDialog)
        await drive.until(lambda: dialog.armed)
        await drive.press("o")
        await drive.closed()
        assert decisions(drive) == [TrustDecision(remember="session")]


async def test_it_waits_for_a_pause_in_the_draft_and_f8_shows_it_at_once() -> None:
    async with running() as drive:
        await drive.write("what does")
        await drive.push(many())
        assert drive.app.screen is drive.app.main
        assert "! trust" in drive.text() and "F8  answer" in drive.text()
        await drive.press("f8")
        await drive.dialog(TrustDialog)
        assert drive.draft == "what does"


HOSTILE = st.text(
    st.sampled_from("ab [red]/\x1b\x07\x9b\u202e\u200b\n\t漢👍\ud800\u0301\\$"), max_size=60
)


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE, st.integers(17, 120))
def test_text_of_bundles_is_shown_whole_and_does_nothing(
    owner: str, title: str, detail: str, was: str, width: int
) -> None:
    question = asked(
        item("a", owner=owner, title=title, detail=detail, where=title, was=was),
        item("b", group="power", owner=owner, title=title, detail=detail),
    )
    picks = TrustPicks(question)
    picks.toggle(("item", "a"))
    rows = trust_rows(question, picks, width)
    assert all(pieces_width(row.row) <= width for row in rows)
    text = "".join(part for row in rows for part, _ in row.row)
    assert clean(text) == text
    assert "\n" not in text
    for character in set(title) - set(" \n\t"):
        assert character in text or f"U+{ord(character):04X}" in text.replace(" ", "")


def test_a_name_that_only_looks_like_a_publisher_cannot_be_trusted_for_good() -> None:
    owners = ["github.com/acme", "bundle github.com/acme", "github.com/acme\n", "GITHUB.com/a", ""]
    owners += ["/home/u", "git+https://github.com/acme/x", "github.com/acme/x", "gіthub.com/acme"]
    question = asked(*(item(str(n), owner=owner) for n, owner in enumerate(owners)))
    assert TrustPicks(question).publishers == ("github.com/acme",)
    assert not TrustPicks(replace(question, folder="")).offers_folder
    assert FOLDER not in owners


@pytest.mark.usefixtures("at_once")
async def test_the_head_says_how_much_of_it_is_still_to_be_seen() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(asked(*(power(f"p{n}", title=f"tool-web · {n}") for n in range(8))))
        await drive.dialog(TrustDialog)
        above = "tool-web · 0"
        assert above in drive.text() and " more below" in drive.text()
        for _ in range(20):
            await drive.press("j")
        assert "tool-web · 7" in drive.text() and "more below" not in drive.text()
        await drive.pilot.resize_terminal(120, 60)
        await drive.settle()
        assert above in drive.text() and "more below" not in drive.text()


def cursor_in_view(drive: Driver) -> bool:
    rows = drive.app.screen.query_one(TrustList)
    top = int(rows.scroll_offset.y)
    return top <= rows.cursor_row < top + rows.scrollable_content_region.height


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
@pytest.mark.parametrize("opened", [False, True])
async def test_the_cursor_is_in_view_after_the_list_was_laid_out_anew(
    size: tuple[int, int], opened: bool
) -> None:
    long = "read the rules of this project before anything else " * 3
    settings = (power(f"p{n}", title=f"tool-web · {n}", detail=long) for n in range(12))
    async with running(size=size) as drive:
        await drive.push(asked(*(source(n) for n in range(8)), *settings))
        await drive.dialog(TrustDialog)
        if opened:
            await drive.press("enter")
        await drive.press("end")
        assert cursor_in_view(drive)
        await drive.press("c")
        assert cursor_in_view(drive)
        assert "this folder, also later" in " ".join(drive.text().split())
        await drive.press("c")
        assert cursor_in_view(drive)
        for other in ((30, 20), (100, 14), size):
            await drive.pilot.resize_terminal(*other)
            await drive.settle()
            assert cursor_in_view(drive), other


@pytest.mark.usefixtures("at_once")
async def test_escape_leaves_the_choosing_before_it_cancels() -> None:
    async with running() as drive:
        await drive.push(asked(source(1), source(2)))
        dialog = await drive.dialog(TrustDialog)
        await drive.press("c")
        assert "esc  Back" in drive.text() and "Cancel" not in drive.text()
        await drive.press("escape")
        assert not dialog.picks.choosing and drive.app.screen is dialog
        assert "esc  Cancel" in drive.text()
        await drive.press("escape")
        await drive.closed()
        assert decisions(drive) == [TrustDecision(cancelled=True)]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("key", ["u", "s"])
@pytest.mark.parametrize("size", [(24, 14), (40, 12), (80, 24)])
async def test_what_was_not_shown_is_shown_before_it_counts(
    size: tuple[int, int], key: str
) -> None:
    long = "read the rules of this project before anything else " * 3
    settings = [power(f"p{n}", title=f"tool-web · {n}", detail=long) for n in range(12)]
    last = item("key", group="keys", title="TEAM_KEY", detail="goes to evil.example END")
    async with running(size=size) as drive:
        await drive.push(asked(source(1), *settings, last))
        await drive.dialog(TrustDialog)
        assert "END" not in drive.text()
        seen = ""
        for _ in range(200):
            seen += drive.text()
            if decisions(drive):
                break
            await drive.press(key)
        assert "END" in seen and all(f"tool-web · {n}" in seen for n in range(12))
        (decision,) = decisions(drive)
        assert len(decision.accepted) == 14


@pytest.mark.usefixtures("at_once")
async def test_what_was_jumped_over_is_gone_back_to_and_said() -> None:
    settings = [power(f"p{n}", title=f"tool-web · {n}") for n in range(40)]
    async with running(size=(80, 24)) as drive:
        await drive.push(asked(*settings))
        await drive.dialog(TrustDialog)
        await drive.press("G")
        assert "tool-web · 39" in drive.text() and "tool-web · 5" not in drive.text()
        await drive.press("u")
        assert "tool-web · 5" in drive.text() and not decisions(drive)
        await drive.until(lambda: "Not all of it was shown yet: read on" in drive.text())
        await drive.press("o")
        await drive.closed()


@pytest.mark.usefixtures("at_once")
async def test_what_was_unfolded_and_is_all_on_the_screen_was_shown() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.push(asked(*(source(number) for number in range(4))))
        await drive.dialog(TrustDialog)
        await drive.press("enter")
        assert all(f"tool-{number}" in drive.text() for number in range(4))
        await drive.press("u")
        await drive.closed()
        (decision,) = decisions(drive)
        assert len(decision.accepted) == 4
