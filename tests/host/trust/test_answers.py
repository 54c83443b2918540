"""What was answered about trust holds for as long as was said, and for exactly what was shown."""

import json
import threading
from pathlib import Path

import pytest

from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem, make_item
from amplifier_tui.host.trust.answers import TrustFile, TrustMemory


def item(name: str, content: str = "c1", owner: str = "github.com/x") -> TrustItem:
    return make_item("code", name, subject=(name,), content=content, owner=owner)


def always(*items: TrustItem) -> TrustDecision:
    return TrustDecision(accepted=frozenset(each.key for each in items), remember="always")


def test_two_windows_do_not_lose_each_others_answers(tmp_path: Path) -> None:
    path = tmp_path / "state" / "trust.json"
    one, two = TrustFile(path), TrustFile(path)
    assert one.answer(item("x").key) is None and two.answer(item("y").key) is None
    one.add({item("x"): True})
    two.add({item("y"): False})
    later = TrustFile(path)
    assert later.answer(item("x").key) is True and later.answer(item("y").key) is False
    assert one.answer(item("y").key) is False, "another window's answer counts at once"


def test_answers_given_at_the_same_moment_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    threads = [
        threading.Thread(target=TrustFile(path).add, args=({item(str(number)): True},))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    later = TrustFile(path)
    assert all(later.answer(item(str(number)).key) for number in range(20))
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_changed_content_is_another_question_and_tells_what_was_answered(tmp_path: Path) -> None:
    file = TrustFile(tmp_path / "t.json")
    file.add({item("x", "c1"): True})
    assert file.answer(item("x", "c2").key) is None
    former = file.former(item("x", "c2"))
    assert former is not None and former.accepted and former.key == item("x", "c1").key


def test_an_answer_for_a_session_or_a_run_is_not_written_down(tmp_path: Path) -> None:
    memory = TrustMemory(TrustFile(tmp_path / "t.json"))
    x, y = item("x"), item("y")
    session = TrustDecision(accepted=frozenset({x.key}), remember="session")
    memory.keep((x,), session, "s1", tmp_path)
    memory.keep((y,), TrustDecision(remember="run"), "s1", tmp_path)
    assert memory.known(x, "s1") is True and memory.known(x, "s2") is None
    assert memory.known(y, "s2") is False
    assert not (tmp_path / "t.json").exists()


def test_what_was_answered_for_a_session_holds_for_its_fork(tmp_path: Path) -> None:
    memory = TrustMemory(TrustFile(tmp_path / "t.json"))
    x, y = item("x"), item("y")
    session = TrustDecision(accepted=frozenset({x.key}), remember="session")
    memory.keep((x, y), session, "s1", tmp_path)
    memory.carry("s1", "s2")
    assert memory.known(x, "s2") is True and memory.known(y, "s2") is False
    assert memory.known(x, "s3") is None


def test_a_publisher_and_a_folder_count_from_then_on(tmp_path: Path) -> None:
    memory = TrustMemory(TrustFile(tmp_path / "t.json"))
    decision = TrustDecision(remember="run", owners=("github.com/x",), folder=True)
    memory.keep((), decision, "s1", tmp_path / "mine")
    later = TrustMemory(TrustFile(tmp_path / "t.json"))
    assert later.known(item("any"), "s2") is True
    assert later.known(item("any", owner="github.com/xy"), "s2") is None
    assert later.file.folders == ((tmp_path / "mine").resolve(),)


def test_what_is_in_a_folder_of_ones_own_counts_at_once_unless_it_leads_out(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine / "tool", other):
        folder.mkdir(parents=True)
    (mine / "link").symlink_to(other)
    memory = TrustMemory(TrustFile(tmp_path / "t.json"))
    inside = [item(name, owner=str(mine / name)) for name in ("tool", "link", "../other")]
    assert [memory.known(each, "s1") for each in inside] == [None, None, None]
    memory.keep((), TrustDecision(remember="run", folder=True), "s1", mine)
    assert [memory.known(each, "s1") for each in inside] == [True, None, None]
    assert memory.known(item("x", owner=f"{mine}-not"), "s1") is None


def test_what_came_of_an_answer_before_the_fetch_is_kept_as_long(tmp_path: Path) -> None:
    memory = TrustMemory(TrustFile(tmp_path / "t.json"))
    unfetched = item("x", "")
    assert unfetched.key == unfetched.subject
    memory.keep((unfetched,), always(unfetched), "s1", tmp_path)
    memory.bind(item("x", "c1"), item("x", "c1"), "s1")
    later = TrustFile(tmp_path / "t.json")
    assert later.answer(item("x", "c1").key) is True
    assert later.answer(item("x", "c2").key) is None


def test_forgotten_is_asked_again(tmp_path: Path) -> None:
    file = TrustFile(tmp_path / "t.json")
    file.add({item("x"): True, item("y", owner="b"): True}, owners=("github.com/x",))
    assert file.forget(item("y", owner="b").key[:10]) == 1
    assert file.forget("github.com/x") == 2, "the publisher, and what was answered about it"
    assert file.forget("nobody") == 0
    assert file.answers() == [] and file.owners == ()


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '{"version": 3, "answers": []}',
        '{"version": 2, "answers": [{"key": 1, "accepted": true}]}',
        '{"version": 2, "answers": [{"key": "a", "accepted": "yes"}]}',
        '{"version": 2, "owners": "github.com/x"}',
        '{"version": 2, "answers": {"a": true}}',
        '{"answers": []}',
    ],
)
def test_a_file_that_makes_no_sense_trusts_nothing_and_is_left_alone(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    file = TrustFile(path)
    assert file.answers() == [] and file.owners == ()
    assert str(path) in file.notice() and "Remove it" in file.notice()
    with pytest.raises(OSError, match="Remove it"):
        file.add({item("x"): True})
    assert path.read_text() == text


def test_a_link_is_no_file_of_answers(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    TrustFile(elsewhere).add({item("x"): True})
    (tmp_path / "t.json").symlink_to(elsewhere)
    file = TrustFile(tmp_path / "t.json")
    assert file.answer(item("x").key) is None and "link" in file.notice()


def test_answers_of_an_older_version_are_not_carried_over_silently(tmp_path: Path) -> None:
    (tmp_path / "trusted-sources.json").write_text(
        json.dumps({"version": 1, "trusted": [item("x").key]})
    )
    file = TrustFile(tmp_path / "trust.json")
    assert file.answer(item("x").key) is None
    assert "older version" in file.notice()
    file.add({item("x"): True})
    assert file.notice() == "", "said once, until something is answered anew"
