"""What the agent has seen of files."""

from pathlib import Path

from amplifier_tui.host.gate.seen import SeenFiles


def test_of_many_files_the_latest_two_thousand_are_known(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(2_010)]
    seen = SeenFiles()
    for path in paths:
        path.touch()
        seen.note(path)
    for path in paths:
        path.write_text("changed")
    assert [seen.changed(path) for path in paths] == [False] * 10 + [True] * 2_000
