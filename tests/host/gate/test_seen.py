"""What the agent has seen of files."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate import seen
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.host.gate.seen import SeenFiles


def test_of_many_files_the_latest_two_thousand_are_known(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(2_010)]
    files = SeenFiles()
    for path in paths:
        path.touch()
        files.note(path)
    for path in paths:
        path.write_text("changed")
    assert [files.changed(path) for path in paths] == [False] * 10 + [True] * 2_000


class SilentEditor:
    """Gives no file, and takes some seconds to say so."""

    reads, writes = True, True

    def __init__(self, root: Path, clock: list[float], takes: float) -> None:
        self.root = root
        self.takes = takes
        self.asked: list[str] = []
        self._clock = clock

    async def read(self, path: Path) -> str:
        self.asked.append(path.name)
        self._clock[0] += self.takes
        raise OSError("the editor gave no answer in 30 s")

    async def write(self, path: Path, text: str) -> None:
        raise AssertionError


def test_an_editor_that_gives_no_answer_is_not_waited_for_with_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_000.0]
    monkeypatch.setattr(seen, "monotonic", lambda: clock[0])
    editor = SilentEditor(tmp_path, clock, 30)
    files = SeenFiles(editor)
    for name in "abc":
        assert not files.now(tmp_path / name).exists
    assert editor.asked == ["a"]
    clock[0] += 30
    editor.takes = 0.1
    for name in "de":
        files.now(tmp_path / name)
    assert editor.asked == ["a", "d", "e"]


def test_a_file_is_not_looked_at_past_a_link_that_came_since_its_path_was_resolved(
    tmp_path: Path,
) -> None:
    for name in ("outside", "moved"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "keys").write_text(name)
    (tmp_path / "d").symlink_to("outside")
    assert SeenFiles().now(tmp_path / "moved/keys").text == "moved"
    found = SeenFiles().now(tmp_path / "d/keys")
    assert (found.text, found.note) == (None, "unreadable")


@pytest.mark.parametrize("rules", [(), ("write_file(**)",)])
@pytest.mark.parametrize("mode", ["edits", "auto"])
def test_what_somebody_saved_since_it_was_read_is_not_written_over_unasked(
    tmp_path: Path, mode: Mode, rules: tuple[str, ...]
) -> None:
    book = RuleBook([parse_rule(rule, "allow") for rule in rules])
    gate = Gate(tmp_path, lambda: book, mode, sandbox=lambda: "")
    (tmp_path / "a.js").write_text("one\n")
    whole = ("write_file", {"file_path": "a.js", "content": "two\n"})
    passage = ("edit_file", {"file_path": "a.js", "old_string": "one", "new_string": "two"})
    gate.ran("read_file", {"file_path": "a.js"})
    assert gate.decide(*whole).verdict == "allow"
    (tmp_path / "a.js").write_text("one\nan hour of work\n")
    decision = gate.decide(*whole)
    assert decision.verdict == "ask"
    assert decision.reason.startswith("a.js has changed since the agent read it")
    # It goes on with what is there.
    assert gate.decide(*passage).verdict == "allow" or rules
    gate.ran("read_file", {"file_path": "a.js"})
    assert gate.decide(*whole).verdict == "allow"
